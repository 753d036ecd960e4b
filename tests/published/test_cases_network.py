"""Networks that went wrong in public, and what a design must say so that it does not happen again."""

from __future__ import annotations

import pytest

from catalogs.quantities import magnitude
from tests.published.asking import SHARDED, Asked, asked, asks_for, case

SIXTEEN_DGX: dict[str, object] = {"model.preset": "llama-3.1-70b", "scale.nodes": 16, "preferences.nodes": ["nvidia-dgx-h100"]}


def a100_nodes(nodes: int, adapters: int, speed: str, **more: object) -> Asked:
    server: dict[str, object] = {
        "scale.nodes": nodes, "own_server.gpu": "nvidia-a100-sxm-80gb", "own_server.gpus": 8, "own_server.nics": adapters,
        "own_server.nic_speed": speed, "model.preset": "llama-3.1-8b", "training.global_batch": 16,
    }  # fmt: skip
    return asked(server, **more)


@case("net-8b-zero3-10gbe", "https://github.com/hiyouga/LlamaFactory/issues/5014")
def test_zero_3_over_10_gbe_is_rejected():
    """Two nodes of eight A800: 90 s per iteration against 4 s on one node; plain data parallelism of adapters was no problem."""
    slow = a100_nodes(2, 1, "10 Gb/s", workload__kind="fine_tuning_full", **SHARDED)
    assert slow.fact("zero3_s") >= 35
    assert 35 <= slow.fact("step_s") <= 100
    assert slow.hard_rejections == {"fabric.zero3_over_network"}
    refused = slow.finding("fabric.zero3_over_network")
    assert "parallelism.zero_stage" in {remedy.key for remedy in refused.remedies}
    adapters = a100_nodes(2, 1, "10 Gb/s", workload__kind="fine_tuning_lora", **{**SHARDED, "parallelism.zero_stage": 0})
    assert adapters.accepted
    assert adapters.fact("step_s") < 4
    alone = a100_nodes(1, 1, "10 Gb/s", workload__kind="fine_tuning_full", **SHARDED)
    assert alone.accepted
    assert alone.fact("step_s") < 10


@case("net-acs-enabled", "https://github.com/NVIDIA/nccl-tests/issues/112")
def test_access_control_services_are_on_the_list():
    """200G adapters reached 9.84 GB/s with PCIe ACS on; 80 % of 25 GB/s is the least that passes."""
    design = a100_nodes(2, 4, "200 Gb/s")
    assert asks_for(design, "access control services", "off")
    (adapter,) = [found for found in design.questions if found.rule == "fabric.ask_rdma"]
    assert "80 %" in adapter.good_answer
    assert "200 Gb/s" in adapter.good_answer
    assert "ACS off" in adapter.good_answer
    assert 0.8 * magnitude("200 Gb/s", "GB/s") == 20 > 9.84


@case("net-pcie-switch-bios", "https://github.com/NVIDIA/nccl/issues/820")
def test_the_full_topology_is_asked_for():
    """Some nodes had two GPUs on one adapter by a fault of their firmware: only a question finds it before delivery."""
    design = asked(SIXTEEN_DGX)
    assert asks_for(design, "topo -m", "which gpu", "adapter")
    assert asks_for(design, "every gpu reaches its adapter")
    assert not asks_for(asked(SIXTEEN_DGX, scale__nodes=1), "which gpu and which network adapter")


@case("net-roce-no-pfc", "https://github.com/NVIDIA/nccl/issues/378")
def test_every_roce_design_has_flow_control():
    """RoCE without flow control fell to fractions of a GB/s; flow control, ECN and a watchdog belong to the design."""
    ethernet = asked(SIXTEEN_DGX, preferences__fabric="ethernet")
    assert ethernet.fact("technology") == "ethernet"
    decided = ethernet.finding("fabric.roce_lossless")
    assert decided is not None
    for word in ("PFC", "ECN", "watchdog"):
        assert word in decided.value
    assert asked(SIXTEEN_DGX, preferences__fabric="infiniband").finding("fabric.roce_lossless") is None


@case("net-16xh100-partial-nics", "https://github.com/NVIDIA/nccl/issues/1600")
def test_10_gb_per_s_on_128_h100_fail_acceptance():
    """16 nodes used a part of their adapters: 10 GB/s where 70 % of 50 GB/s per GPU is the least."""
    design = asked(SIXTEEN_DGX, preferences__fabric="infiniband", scale__nodes=64)
    acceptance = design.finding("software.acceptance_all_nodes")
    assert "at least 70 % of the adapter's 400 Gb/s" in acceptance.good_answer
    assert design.fact("bus_gb_per_s") > 10 * 10
    assert asks_for(design, "bus bandwidth", "all-reduce of 4 gib")
    assert "NCCL_CROSS_NIC" in design.finding("software.rail_order").because
    assert "goes to leaf i" in design.finding("fabric.rails").because


@case("net-perftest-not-enough", "https://github.com/NVIDIA/nccl/issues/2409")
def test_acceptance_includes_collectives():
    """Point-to-point RDMA ran at 392 Gb/s while collectives stayed at 13 GB/s: they are tested on one node, on 4 to 16, on all."""
    sizes = {
        2: "one node and on all 2 nodes",
        16: "one node, on 4 and on all 16 nodes",
        64: "one node, on 4 to 16 nodes and on all 64 nodes",
    }
    for nodes, words in sizes.items():
        acceptance = asked(SIXTEEN_DGX, scale__nodes=nodes).finding("software.acceptance_all_nodes")
        assert f"NCCL all-reduce of 4 to 16 GiB on {words} before" in acceptance.ask


@case("net-two-node-switchless", "https://github.com/NVIDIA/nccl/issues/1095")
def test_two_nodes_may_do_without_a_switch():
    """Two DGX H100 back to back work for all-reduce; all-to-all and growth do not."""
    two = asked(SIXTEEN_DGX, scale__nodes=2, model__preset="mixtral-8x7b")
    direct = two.finding("fabric.direct_cabling")
    assert direct is not None
    assert "no all-to-all across rails" in direct.because
    assert "no third node" in direct.because
    assert asked(SIXTEEN_DGX, scale__nodes=4).finding("fabric.direct_cabling") is None


@case("net-nic-gen5-x8", "https://github.com/imbue-ai/cluster-health/blob/main/health_checks/health_checks.py")
@pytest.mark.parametrize(("gpu", "narrow"), [("nvidia-a100-pcie-40gb", True), ("nvidia-h100-pcie-80gb", False)])
def test_a_400g_adapter_needs_a_gen5_x16_slot(gpu, narrow):
    """A kernel reports 252 Gb/s for Gen5 x8 (as for Gen4 x16) and 504 Gb/s for Gen5 x16."""
    design = asked(
        {"model.preset": "llama-3.1-8b", "scale.nodes": 4, "own_server.gpus": 4, "own_server.nics": 1},
        own_server__gpu=gpu, own_server__nic_speed="400 Gb/s",
    )  # fmt: skip
    flagged = design.finding("fabric.adapter_slot_narrow")
    assert (flagged is not None) is narrow
    assert design.fact("slot_gbps") == pytest.approx(252.06 if narrow else 504.1, rel=0.01)
    if narrow:
        assert design.fact("offered_gbps") * 4 == pytest.approx(252, rel=0.01)
        assert "how many lanes" in flagged.ask


@case("net-nic-gen5-x8", "https://github.com/imbue-ai/cluster-health/blob/main/health_checks/health_checks.py")
@pytest.mark.parametrize(
    ("speed", "generation", "lanes", "carried", "rejected", "fed"),
    [
        ("400 Gb/s", 5, 8, 252.06, True, 200), ("400 Gb/s", 4, 16, 252.06, True, 200), ("400 Gb/s", 5, 16, 504.1, False, 400),
        ("800 Gb/s", 5, 16, 504.1, True, 400), ("800 Gb/s", 5, 32, 1008.2, False, 800), ("800 Gb/s", 6, 16, 968, False, 800),
    ],
)  # fmt: skip
def test_an_adapter_in_a_slot_that_cannot_feed_it_is_rejected(speed, generation, lanes, carried, rejected, fed):
    """400 Gb/s need Gen5 x16; 800 Gb/s Gen6 x16 or two Gen5 x16. What is proposed instead is a rate that ports have."""
    design = asked(
        {"model.preset": "llama-3.1-8b", "scale.nodes": 4, "own_server.gpu": "nvidia-h100-pcie-80gb", "own_server.gpus": 4},
        own_server__nics=1, own_server__nic_speed=speed, own_server__nic_generation=generation, own_server__nic_lanes=lanes,
    )  # fmt: skip
    assert ("interconnect.slot_too_narrow" in design.hard_rejections) is rejected
    assert design.fact("narrowest_slot_gbps") == pytest.approx(carried, rel=0.01)
    assert design.fact("slot_port_gbps") == fed
    assert design.fact("slot_gbps") == pytest.approx(carried, rel=0.01)


@case("net-multi-fabric-topology", "https://github.com/nebius/soperator/pull/2585")
def test_separate_fabrics_are_separate_roots_for_the_scheduler():
    """Jobs were placed across unconnected fabrics that the scheduler knew as one."""
    planes = asked(SIXTEEN_DGX, scale__nodes=32, preferences__nodes=["nvidia-dgx-b300"], preferences__fabric="ethernet")
    assert planes.candidate.fabric.compute.planes == 2
    roots = planes.finding("software.scheduler_roots")
    assert "2 roots" in roots.ask
    assert asked(SIXTEEN_DGX).finding("software.scheduler_roots") is None


@case("net-consumer-p2p", "https://github.com/NVIDIA/nccl/issues/1127")
def test_cards_without_peer_to_peer_do_no_tensor_parallelism():
    """RTX 4090: no peer-to-peer in stock drivers and no NVLink, so traffic goes through host memory."""
    cards: dict[str, object] = {
        "model.preset": "llama-3.2-1b", "training.sequence_length": 2048, "scale.nodes": 1,
        "preferences.nodes": ["workstation-4x-rtx-4090"],
    }  # fmt: skip
    design = asked(cards)
    assert design.candidate.choice.plan.tensor == 1
    assert "host memory" in design.finding("interconnect.no_peer_to_peer").because
    forced = asked(cards, parallelism__tensor=4)
    assert "interconnect.no_peer_to_peer_tensor" in forced.rejections
