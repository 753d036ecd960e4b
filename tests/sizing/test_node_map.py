"""Maps of nodes against the matrices that `nvidia-smi topo -m` printed, and the cost of what is weak, by hand."""

from __future__ import annotations

import pytest

from catalogs import load_catalog
from rules.answers import Answers
from rules.sizing.node_map import PATHS, node_map, path, placement_of

CATALOG = load_catalog(["tests/rules/catalog"])


def matrix_row(node: str, gpu: int) -> dict[str, str]:
    found = node_map(CATALOG.nodes[node])
    return {each.name: path(found.gpus[gpu], each) for each in found.devices if not each.is_gpu}


def placed(node: str):
    record = CATALOG.nodes[node]
    return placement_of(record, CATALOG.gpus[record.gpu], CATALOG, Answers())


def test_dgx_a100_as_nvidia_smi_prints_it():
    """Rows of GPU 0, 2 and 4 in NVIDIA/nccl issue 1505: NICs 0 to 9, of which 4 and 5 are the ports of the card for storage."""
    rows = {
        0: "PXB PXB SYS SYS SYS SYS SYS SYS SYS",
        2: "SYS SYS PXB PXB SYS SYS SYS SYS SYS",
        4: "SYS SYS SYS SYS SYS PXB PXB SYS SYS",
    }
    names = ["mlx5_0", "mlx5_1", "mlx5_2", "mlx5_3", "mlx5_4", "mlx5_6", "mlx5_7", "mlx5_8", "mlx5_9"]
    for gpu, row in rows.items():
        assert matrix_row("nvidia-dgx-a100-640gb", gpu) == dict(zip(names, row.split(), strict=True))


def test_dgx_b200_as_nvidia_smi_prints_it():
    """Rows in NVIDIA/nccl issue 1646: one PIX per GPU, NODE to the other adapter of its memory domain, SYS beyond."""
    names = ["nic4", "nic7", "nic8", "nic9", "nic10", "nic13", "nic14", "nic15"]
    rows = {0: "PIX NODE SYS SYS SYS SYS SYS SYS", 3: "SYS SYS NODE PIX SYS SYS SYS SYS", 5: "SYS SYS SYS SYS NODE PIX SYS SYS"}
    for gpu, row in rows.items():
        assert matrix_row("nvidia-dgx-b200", gpu) == dict(zip(names, row.split(), strict=True))


def test_dgx_h100_pairs_are_those_of_the_user_guide():
    """DGX H100 user guide, table of network modules: the RDMA device of each GPU."""
    pairs = node_map(CATALOG.nodes["nvidia-dgx-h100"]).pairs()
    guide = {0: "mlx5_0", 1: "mlx5_3", 2: "mlx5_4", 3: "mlx5_5", 4: "mlx5_6", 5: "mlx5_9", 6: "mlx5_10", 7: "mlx5_11"}
    assert {int(each.gpu.name): each.adapter.name for each in pairs} == guide
    assert {each.path for each in pairs} == {"PIX"}
    assert [each.gpu.port.socket for each in pairs] == [0, 0, 0, 0, 1, 1, 1, 1]


def test_two_gpus_that_share_two_adapters_take_one_each():
    pairs = node_map(CATALOG.nodes["nvidia-dgx-a100-640gb"]).pairs()
    assert len({each.adapter.name for each in pairs}) == 8


@pytest.mark.parametrize("node", [each.id for each in CATALOG.nodes if each.pcie is not None and each.id != "test-crossed-h100"])
def test_every_server_of_the_catalog_keeps_its_gpus_on_their_own_processor(node):
    found = node_map(CATALOG.nodes[node])
    assert found.across() == []
    assert found.shared_slots() == []
    assert {found.slot_gbps(each) for each in found.adapters("compute")} <= {252.0, 504.0, 968.0}


def test_uplinks():
    """DGX A100: two GPUs on a port of PCIe 4 x16, of which NCCL counts 24 GB/s as usable; DGX H100 one GPU on 48 GB/s."""
    assert (placed("nvidia-dgx-a100-640gb").gpus_per_uplink, placed("nvidia-dgx-a100-640gb").uplink_bytes_per_s) == (2, 24e9)
    assert (placed("nvidia-dgx-h100").gpus_per_uplink, placed("nvidia-dgx-h100").uplink_bytes_per_s) == (1, 48e9)


def test_gpus_that_cross_share_what_the_processors_have_between_them():
    """Four GPUs on the second Sapphire Rapids share 22 GB/s: 5.5 GB/s each of the 50 GB/s of a 400 Gb/s adapter."""
    crossed = placed("test-crossed-h100")
    assert (crossed.path, crossed.far, crossed.across) == ("SYS", 4, 4)
    assert crossed.across_bytes_per_s == pytest.approx(5.5e9)
    assert crossed.across_loss_bytes_per_s == pytest.approx(44.5e9)


def test_a_server_without_a_map_is_unknown():
    unknown = placed("dell-poweredge-xe9680-h100")
    assert unknown.map is None
    assert unknown.path not in PATHS
    assert (unknown.far, unknown.across, unknown.slot_told) == (0, 0, False)
