"""Clusters that were published: their counts come out of ours, and what they teach is said."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from catalogs import load_catalog
from catalogs.loading import OWN_FOLDER
from catalogs.quantities import magnitude
from rules.advisor import consider
from rules.answers import Answers
from rules.sizing.cooling import rack_limit_kw
from rules.sizing.fabric import FabricInput, count_fabric
from rules.sizing.racks import RackLimits, fill_rack
from tests.published.asking import Asked, asked, asks_for, case, catalog


def fabric(nodes: int, ports: int, speed: int = 400, **more: object):
    return count_fabric(FabricInput.of({"nodes": nodes, "nics_per_node": 8, "switch_ports": ports, "port_speed_gbps": speed, **more}))


B200 = "https://docs.nvidia.com/dgx-superpod/reference-architecture-scalable-infrastructure-b200/latest/dgx-superpod-architecture.html"
XDR = "https://docs.nvidia.com/dgx-superpod/reference-architecture/scalable-infrastructure-b300-xdr/latest/dgx-superpod-architecture.html"


@case("ref-superpod-b200-table", B200)
@pytest.mark.parametrize(
    ("nodes", "leaf", "spine", "core"),
    [(64, 16, 8, 0), (128, 32, 16, 0), (256, 64, 32, 0), (512, 128, 128, 64), (1024, 256, 256, 128), (2048, 512, 512, 256)],
)
def test_the_b200_table(nodes, leaf, spine, core):
    """64-port switches, eight adapters per node; three tiers above 2,048 endpoints; as many cables per tier as endpoints."""
    counts = fabric(nodes, 64)
    assert (counts.leaf, counts.spine, counts.core) == (leaf, spine, core)
    assert counts.tiers == (3 if core else 2)
    for tier in ("node_leaf", "leaf_spine", *(("spine_core",) if core else ())):
        assert counts.links[tier] == 8 * nodes


@case("ref-superpod-xdr-table", XDR)
@pytest.mark.parametrize(("nodes", "leaf", "spine"), [(72, 8, 4), (144, 16, 8), (288, 32, 18), (576, 64, 36), (1296, 144, 72)])
def test_the_b300_xdr_table(nodes, leaf, spine):
    """144-port switches: 18 and 36 spines where 16 and 32 would have the ports, since 72 uplinks do not divide by those."""
    counts = fabric(nodes, 144, 800)
    assert (counts.leaf, counts.spine, counts.core) == (leaf, spine, 0)
    assert counts.links["node_leaf"] == 8 * nodes != 9216, "the table's last row prints 9,216 GPUs for 1,296 nodes of eight"


@case("ref-imbue-511", "https://imbue.com/research/70b-infrastructure/")
def test_511_hosts_leave_ports_for_the_fabric_managers():
    """4,088 H100 in 511 hosts: three tiers of 64-port switches, one host fewer than the leaves would take."""
    answers: dict[str, object] = {"model.preset": "llama-3.1-70b", "preferences.nodes": ["nvidia-dgx-h100"]}
    built = asked(answers, preferences__fabric="infiniband", scale__nodes=511)
    network = built.candidate.fabric.compute
    assert built.candidate.gpus == 4088
    assert network.tiers == 3
    assert network.manager_links > 0
    assert built.finding("fabric.managers_no_port") is None
    full = asked(answers, preferences__fabric="infiniband", scale__nodes=512)
    warned = full.finding("fabric.managers_no_port")
    assert warned is not None
    assert full.fact("nodes_with_managers") == 511
    assert warned.remedies


@case("ref-rail-2048", "https://github.com/Amit33-design/Network-Automation")
def test_an_independent_check_value():
    """2,048 GPUs, eight per node, 64 × 400G: eight rails of eight leaves and 32 spines."""
    counts = fabric(256, 64)
    assert (counts.leaf, counts.spine) == (64, 32)
    assert counts.leaf % 8 == 0


@case("ref-alibaba-hpn", "https://wuql20.bearblog.dev/paper-notes-alibaba-hpn-a-data-center-network-for-large-language-model-training")
def test_a_single_top_of_rack_switch_is_named_from_1000_gpus_up():
    """HPN ties each adapter to two switches of two planes; a lost switch then halves a rate instead of stopping a job."""
    answers: dict[str, object] = {
        "model.preset": "llama-3.1-70b", "preferences.nodes": ["nvidia-dgx-h100"], "preferences.fabric": "ethernet",
    }  # fmt: skip
    large = asked(answers, scale__gpus=15_360)
    assert large.candidate.gpus == 15 * 1024
    warned = large.finding("fabric.top_of_rack_single")
    assert warned is not None
    assert "two leaves" in warned.ask
    assert asked(answers, scale__gpus=512).finding("fabric.top_of_rack_single") is None
    planes = asked(answers, scale__gpus=2048, preferences__nodes=["nvidia-dgx-b300"])
    assert planes.candidate.fabric.compute.planes == 2
    assert planes.finding("fabric.top_of_rack_single") is None


@case("ref-fireflyer-pcie", "https://arxiv.org/abs/2408.14158")
def test_pcie_alone_will_do_without_tensor_parallelism():
    """10,000 A100 PCIe, one 200G adapter per node of eight: 83 % of the speed of DGX A100 at half its cost."""
    zone = {"nics_per_node": 1, "switch_ports": 40, "port_speed_gbps": 200, "layout": "tree"}
    assert count_fabric(FabricInput.of({**zone, "nodes": 800})).tiers == 2
    assert count_fabric(FabricInput.of({**zone, "nodes": 801})).tiers == 3
    server: dict[str, object] = {
        "model.preset": "llama-2-7b", "training.sequence_length": 2048, "training.global_batch": 2048, "scale.nodes": 16,
        "own_server.gpu": "nvidia-a100-pcie-40gb", "own_server.gpus": 8, "own_server.nics": 1, "own_server.nic_speed": "200 Gb/s",
        "own_server.topology": "pcie",
    }  # fmt: skip
    design = asked(server, parallelism__tensor=1)
    assert design.accepted
    accepted = design.finding("interconnect.pcie_accepted")
    assert accepted is not None
    assert "0.83" in accepted.because
    assert "0.5" in accepted.because
    assert asked(server, parallelism__tensor=8).finding("interconnect.pcie_tensor") is not None


@case("ref-leonardo", "https://leonardo-supercomputer.cineca.eu/hpc-system")
def test_a_custom_gpu_needs_only_a_file(tmp_path):
    """3,456 nodes of four custom A100 with 64 GB, 32 cores, 512 GB and 400 Gb/s: a person's own catalog folder holds the card."""
    original = (OWN_FOLDER / "gpus" / "nvidia-a100-sxm-40gb.toml").read_text()
    parsed = tomllib.loads(original)
    custom = original.replace(parsed["name"], "NVIDIA A100 custom 64 GB").replace(
        'id = "nvidia-a100-sxm-40gb"', 'id = "nvidia-a100-custom"'
    )
    for key in ("capacity", "printed"):
        custom = custom.replace(f'"{parsed["memory"][key]["value"]}"', '"64 GB"')
    custom = "\n".join(line for line in custom.splitlines() if not line.startswith("aliases"))
    (tmp_path / "gpus").mkdir()
    (tmp_path / "gpus" / "nvidia-a100-custom.toml").write_text(custom)
    answers = Answers.of({
        "model.preset": "llama-2-70b", "scale.nodes": 3456, "own_server.gpu": "nvidia-a100-custom", "own_server.gpus": 4,
        "own_server.nics": 4, "own_server.nic_speed": "100 Gb/s", "own_server.cpu_cores": 32, "own_server.memory": "512 GB",
        "training.global_batch": 13_824,
    })  # fmt: skip
    design = Asked(consider(answers, load_catalog([tmp_path]), strict=True))
    assert design.candidate.gpus == 13_824
    assert magnitude(design.candidate.choice.memory.capacity, "GB") == pytest.approx(64)
    assert magnitude(f"{design.fact('network_per_gpu_gbps')} Gb/s", "GB/s") == 12.5
    assert design.fact("memory_offered_gb") / design.fact("gpu_memory_gb") == pytest.approx(2.0)
    assert design.fact("cores_offered") == 32
    assert Path(catalog().gpus.file("nvidia-a100-sxm-40gb") or "").exists()


@case("ref-jupiter", "https://apps.fz-juelich.de/jsc/hps/jupiter/configuration.html")
def test_48_nodes_of_four_superchips_in_a_rack_take_liquid():
    """48 × 4 × 680 W are 130.6 kW of superchips alone: no air takes that from a rack, cold plates do."""
    node_kw = 4 * 0.680
    by_air = fill_rack(node_kw, 1.0, None, RackLimits(48, None, rack_limit_kw("air", catalog())))
    by_liquid = fill_rack(node_kw, 1.0, None, RackLimits(48, None, rack_limit_kw("liquid", catalog())))
    assert (by_air.binding, by_air.per_rack < 48) == ("cooling", True)
    assert by_liquid.per_rack == 48
    in_air = asked({
        "model.preset": "llama-3.1-8b", "scale.nodes": 240, "own_server.gpu": "nvidia-gh200-96gb", "own_server.gpus": 4,
        "own_server.power": "2.72 kW", "own_server.height": "1 U", "facility.rack_units": "48 U", "facility.cooling": "air",
    })  # fmt: skip
    assert in_air.fact("nodes_per_rack") == by_air.per_rack
    assert in_air.fact("rack_count") > 5 + 8, "five racks hold 240 nodes in the real machine"


@case("rel-lemon-nodes", "https://www.zhuanzhiai.com/paper/14b6ff8603bc72545c30906f0da370b7")
def test_bad_nodes_are_excluded_and_jobs_restart():
    """63 nodes of B200: three of them made more than half of the exclusions; restarts by themselves took 11 minutes."""
    design = asked({"model.preset": "llama-3.1-70b", "scale.nodes": 63, "preferences.nodes": ["nvidia-dgx-b200"]})
    lemons = design.finding("reliability.lemon_nodes")
    assert lemons is not None
    assert "3 of 63" in lemons.because
    restart = design.finding("reliability.restart")
    assert restart is not None
    assert "33 %" in restart.because
    assert 10 <= magnitude(design.candidate.reliability.restart_time, "minute") <= 15
    assert asks_for(design, "replac")


@case("rel-llama3-54days", "https://arxiv.org/abs/2407.21783")
@pytest.mark.parametrize(("gpus", "low", "high"), [(16_384, 2, 5), (1024, 35, 80)])
def test_time_between_interruptions(gpus, low, high):
    """419 unplanned interruptions in 54 days on 16,384 H100: one in 3.1 hours; on 1,024 one in two days."""
    design = asked({"model.preset": "llama-3.1-405b", "scale.gpus": gpus, "preferences.nodes": ["nvidia-dgx-h100"]})
    assert low <= design.fact("mtbf_h") <= high
    if gpus == 16_384:
        assert design.fact("mtbf_h") == pytest.approx(3.09, rel=0.01)
        assert design.fact("goodput_percent") > 90


@case(
    "rel-llama3-54days",
    "https://direct.datacenterdynamics.com/en/news/meta-report-details-hundreds-of-gpu-and-hbm3-related-interruptions-to-llama-3-training-run",
)
def test_the_printed_share_of_faulty_gpus_is_not_copied():
    """The table prints 148 of 419 as 30.1 %; it is 35.3."""
    numbers = [value for name, value in _numbers(catalog().facts["llama3-interruptions"].values)]
    assert 419 in numbers
    assert 30.1 not in numbers
    shares = [value for record in catalog().thresholds if record.id.startswith("rel-") for value in record.values.values()]
    assert 30.1 not in shares


def _numbers(values):
    for name, value in values.items():
        text = str(value.value).split()[0]
        yield name, float(text) if text.replace(".", "", 1).isdigit() else text
