"""The stage fabric: the four networks of real node types, the choice of technology, sections and bill."""

from __future__ import annotations

import pytest

from catalogs import load_catalog
from rules.answers import Answers
from rules.own_server import own_server
from rules.sizing.fabric.adapters import compute_adapters
from rules.sizing.fabric.switching import ports_at, switch_options
from rules.stages import fabric as stage
from rules.stages.fabric_facts import message_share
from tests.stages.fabric_designs import counts, designed, made


@pytest.fixture(scope="module")
def catalog():
    return load_catalog()


# ------------------------------------------------------------------------------------------------------------- compute


@pytest.mark.parametrize(
    ("node", "units", "switch", "leaf", "spine", "managers"),
    [
        ("nvidia-dgx-h100", 31, "nvidia-qm9700", 8, 4, 4),  # SuperPOD H100 and B200, table 4
        ("nvidia-dgx-h100", 127, "nvidia-qm9700", 32, 16, 4),
        ("nvidia-dgx-b200", 95, "nvidia-qm9700", 24, 16, 4),
        ("nvidia-dgx-b200", 64, "nvidia-qm9700", 16, 8, 0),  # no port is left for managers
        ("nvidia-dgx-h100", 40, "nvidia-qm9700", 16, 5, 4),  # 20 nodes and 20 uplinks to a leaf, whose other ports are free
        ("nvidia-dgx-b300", 72, "nvidia-q3400-ra", 8, 4, 0),  # the switch has a port of its own for them
        ("nvidia-dgx-b300", 288, "nvidia-q3400-ra", 32, 18, 0),
    ],
)
def test_infiniband_networks_are_those_of_the_superpods(catalog, node, units, switch, leaf, spine, managers):
    network = designed(catalog, node, units, preferences__fabric="infiniband").compute
    assert network.switches == {switch: leaf + spine}
    assert counts(network) == (leaf, spine, 0)
    assert network.manager_links == managers
    assert network.layout == "rail"


def test_two_planes_of_spectrum_are_those_of_the_b300_superpod(catalog):
    """DGX SuperPOD B300 with Spectrum-X: 128 nodes have 32 leaves and 16 spines in two planes; ConnectX-8 runs 2 × 400GbE."""
    network = designed(catalog, "nvidia-dgx-b300", 128, preferences__fabric="ethernet").compute
    assert counts(network) == (32, 16, 0)
    assert (network.planes, network.technology) == (2, "RoCEv2 over 400 GbE")
    assert network.modules["node"] == 1024, "both planes of an adapter leave through one cage"
    assert network.links["node_leaf"] == 2048


def test_four_units_of_h100_have_the_printed_transceivers(catalog):
    """RA-11333-001 V11, appendix A: 508 twin-port modules in 127 nodes; every node-side and leaf-side cage of the 1,016 links."""
    network = designed(catalog, "nvidia-dgx-h100", 127, preferences__fabric="infiniband").compute
    assert network.modules["node"] == 508
    assert network.cages["leaf_node"] == network.cages["leaf_spine"] == network.cages["spine_leaf"] == 512


def test_trays_of_an_nvl72_are_the_nodes(catalog):
    network = designed(catalog, "nvidia-gb200-nvl72", 8).compute
    assert network.endpoints == 8 * 18 * 4
    assert network.links["node_leaf"] == 576


@pytest.mark.parametrize(("node", "units"), [("nvidia-dgx-h100", 1), ("nvidia-gb200-nvl72", 1)])
def test_one_server_or_one_scale_up_domain_needs_no_compute_network(catalog, node, units):
    """A 1.6B model trained in a day on one node of eight H100 must not get InfiniBand."""
    assert designed(catalog, node, units).compute is None


def test_a_single_server_needs_no_switch_at_all(catalog):
    candidate, context = made(catalog, "nvidia-dgx-h100", 1)
    fact = stage.assess(candidate, context)
    assert (fact["technology"], fact["multi_node"], fact["switches"]) == ("none", False, 0)
    assert stage.bill(candidate, context) == []
    assert candidate.fabric.out_of_band is None


def test_small_clusters_take_one_switch(catalog):
    for nodes in (2, 8):
        network = designed(catalog, "nvidia-dgx-h100", nodes, preferences__fabric="infiniband").compute
        assert (counts(network), network.layout, network.tiers) == ((1, 0, 0), "single", 1)
    assert designed(catalog, "nvidia-dgx-h100", 9, preferences__fabric="infiniband").compute.tiers == 2


def test_asked_ratio_is_wired(catalog):
    network = designed(catalog, "nvidia-dgx-h100", 96, preferences__fabric="infiniband", preferences__oversubscription=3).compute
    assert network.oversubscription == pytest.approx(3.0, rel=0.01)
    assert counts(network) == (16, 4, 0)


# ------------------------------------------------------------------------------------------------- adapters and switches


def test_adapters_are_what_the_catalog_or_the_answers_state(catalog):
    none = Answers.of({})
    h100 = catalog.nodes["nvidia-dgx-h100"]
    adapters = compute_adapters(h100, catalog.gpus[h100.gpu], catalog, none)
    assert (adapters.count, adapters.speed_gbps, adapters.per_cage, adapters.assumed) == (8, 400.0, 2, "")
    rack = catalog.nodes["nvidia-gb200-nvl72"]
    assert compute_adapters(rack, catalog.gpus[rack.gpu], catalog, none).count == 4
    said = Answers.of({"own_server.gpu": "nvidia-rtx-4090", "own_server.gpus": 8, "own_server.nics": 2, "own_server.nic_speed": "100 Gb/s"})
    own = own_server(said, catalog)
    adapters = compute_adapters(own, catalog.gpus[own.gpu], catalog, said)
    assert (adapters.count, adapters.node_gbps, adapters.assumed) == (2, 200.0, "")


def test_a_narrow_slot_limits_an_adapter(catalog):
    """The kernel reports 252 Gb/s for a 400G adapter on half of its lanes [imbue-ai cluster-health]; PCIe Gen4 x16 gives the same."""
    said = Answers.of({"own_server.gpu": "nvidia-rtx-4090", "own_server.gpus": 8, "own_server.nics": 1, "own_server.nic_speed": "400 Gb/s"})
    own = own_server(said, catalog)
    adapters = compute_adapters(own, catalog.gpus[own.gpu], catalog, said)
    assert (adapters.slot_gbps, adapters.offered_gbps) == (252.0, 252.0)


def test_servers_that_state_no_adapters_say_so(catalog):
    candidate, context = made(catalog, "supermicro-sys-422ga-nrt", 4)
    fact = stage.assess(candidate, context)
    assert fact["nics_assumed"] is True
    assert "states no adapters" in fact["nics_assumption"]


@pytest.mark.parametrize(
    ("switch", "speed", "ports"),
    [
        ("nvidia-qm9700", 400, 64),
        ("nvidia-qm9700", 200, 128),
        ("nvidia-sn5600", 400, 128),
        ("nvidia-sn5600", 100, 256),
        ("nvidia-q3400-ra", 800, 144),
        ("cisco-n9364e-sg2", 400, 128),
        ("nvidia-sn4600c", 100, 64),
    ],
)
def test_ports_at_a_speed_follow_the_printed_breakouts(catalog, switch, speed, ports):
    assert ports_at(catalog.switches[switch], speed)[0] == ports


def test_a_switch_that_is_too_slow_or_has_other_lanes_is_not_offered(catalog):
    assert ports_at(catalog.switches["nvidia-sn4600c"], 400) is None
    assert ports_at(catalog.switches["nvidia-sn5400"], 400) is None, "QSFP-DD at 50 Gb/s per lane"
    offered = {each.switch.id for each in switch_options(catalog, Answers.of({}), "ethernet", 400)}
    assert not offered & {"nvidia-sn6800", "arista-7800r4", "drivenets-5300r", "nvidia-sn2201"}


# ------------------------------------------------------------------------------------------------------ facts and sections


@pytest.mark.parametrize(
    ("answers", "technology", "reason"),
    [
        ({"preferences__fabric": "ethernet"}, "ethernet", "asked"),
        ({"budget__objective": "fastest", "model__preset": "llama-3.1-8b"}, "infiniband", "fastest"),
        ({"model__preset": "llama-3.1-8b", "workload__kind": "fine_tuning_lora"}, "ethernet", "light"),
        ({"parallelism__mode": "given", "parallelism__tensor": 16}, "infiniband", "latency"),
    ],
)
def test_the_traffic_decides_unless_the_answers_do(catalog, answers, technology, reason):
    fact = stage.assess(*made(catalog, "nvidia-dgx-h100", 16, **answers))
    assert (fact["technology"], fact["reason"]) == (technology, reason)


def test_two_planes_are_two_switches_of_which_one_may_fail(catalog):
    fact = stage.assess(*made(catalog, "nvidia-dgx-b300", 8, preferences__fabric="ethernet"))
    assert (fact["planes"], fact["switches"], fact["layout_words"]) == (2, 2, "one switch in each plane")
    assert fact["in_each_plane"] == " in each of 2 planes"
    assert fact["switch_loss"] == "a failed switch takes 50 % of every node's rate and stops none"
    one = stage.assess(*made(catalog, "nvidia-dgx-h100", 8))
    assert one["switch_loss"].startswith("it is also a single point of failure")
    assert (one["tiers_asked"], one["tiers_good"]) == ("", ""), "one switch has no tiers to ask about"


@pytest.mark.parametrize(
    ("node", "units", "fabric", "low", "high"),
    [
        ("nvidia-gb200-nvl72", 8, "infiniband", 250, 346),  # CoreWeave: 346 GB/s at 4 GiB over 1,440 GB200
        ("nvidia-dgx-h100", 8, "infiniband", 280, 383),  # CoreWeave: 383 GB/s at 4 GiB over 64 H100
    ],
)
def test_all_reduce_that_passes_is_below_what_was_measured(catalog, node, units, fabric, low, high):
    """70 % of an adapter per GPU is 280 GB/s; racks of 72 bring the adapters of all their trays, not four."""
    fact = stage.assess(*made(catalog, node, units, preferences__fabric=fabric))
    assert low < fact["bus_gb_per_s"] < high


@pytest.mark.parametrize(
    ("answers", "base"),
    [
        ({"model__preset": "llama-3.1-8b"}, 1),
        ({"model__preset": "llama-3.1-70b"}, 3),  # 70.6 × 18 × 1.25 / 85 GB: 19 GPUs
        ({"model__preset": "llama-3.1-405b"}, 14),
        ({"model__preset": "llama-3.1-405b", "workload__kind": "fine_tuning_lora"}, 1),
    ],
)
def test_scaling_is_asked_against_what_holds_the_model(catalog, answers, base):
    assert stage.assess(*made(catalog, "nvidia-dgx-h100", 32, **answers))["base_nodes"] == base


@pytest.mark.parametrize(
    ("node", "direct", "joins"),
    [
        ("workstation-4x-rtx-4090", False, False),
        ("nvidia-dgx-spark", False, False),
        ("workstation-4x-rtx-pro-6000", True, False),
        ("nvidia-dgx-h100", True, True),
    ],
)
def test_only_servers_are_asked_about_a_network_among_gpus(catalog, node, direct, joins):
    """GPUDirect RDMA is for data-centre and professional GPUs [NVIDIA]."""
    fact = stage.assess(*made(catalog, node, 1, workload__kind="fine_tuning_qlora", model__preset="llama-3.1-8b"))
    assert (fact["gpu_direct"], fact["joins_fabric"]) == (direct, joins)


def test_own_adapters_are_ethernet_unless_infiniband_is_asked_for(catalog):
    own = {"own_server__gpu": "nvidia-a100-sxm-80gb", "own_server__gpus": 8, "own_server__nics": 8, "own_server__nic_speed": "200 Gb/s"}
    fact = stage.assess(*made(catalog, "", 8, **own))
    assert (fact["technology"], fact["reason"]) == ("ethernet", "only")
    fact = stage.assess(*made(catalog, "", 8, **own, preferences__fabric="infiniband"))
    assert (fact["technology"], fact["reason"]) == ("infiniband", "asked")


def test_amd_servers_get_ethernet(catalog):
    fact = stage.assess(*made(catalog, "supermicro-as-8125gs-tnmr2-mi300x", 32))
    assert (fact["technology"], fact["reason"]) == ("ethernet", "platform")


def test_a_slower_network_never_looks_better(catalog):
    fact = stage.assess(*made(catalog, "nvidia-dgx-h100", 64))
    assert fact["baseline_slower_percent"] > fact["half_rate_longer_percent"] > 0
    assert fact["offered_gbps"] == 400.0
    assert fact["effective_gbps"] == 320.0, "80 % of the adapter's rate [ml-engineering]"


def test_what_cannot_be_built_is_refused_with_a_reason(catalog):
    own = {"own_server__gpu": "nvidia-a100-sxm-80gb", "own_server__gpus": 8, "own_server__nics": 0}
    candidate, context = made(catalog, "", 4, **own)
    fact = stage.assess(candidate, context)
    assert fact["buildable"] is False
    assert "no adapter" in fact["refused"]
    assert candidate.fabric.compute is None


@pytest.mark.parametrize(("nodes", "missing"), [(8192, False), (8193, True)])
def test_what_is_asked_for_ends_at_its_largest_size(catalog, nodes, missing):
    """Three tiers of 64 ports carry 64 cubed / 4 = 65,536 adapters of InfiniBand NDR, which is 8,192 DGX H100."""
    fact = stage.assess(*made(catalog, "nvidia-dgx-h100", nodes, preferences__fabric="infiniband"))
    assert (fact["asked_for_missing"], fact["technology"]) == (missing, "ethernet" if missing else "infiniband")
    words = ("8,192 nodes of 8 adapters", "8,193 nodes", "RoCEv2 over 400 GbE") if missing else ()
    assert all(each in fact["asked_missing_words"] for each in words)
    assert bool(fact["asked_missing_words"]) is missing


def test_slow_adapters_find_a_switch(catalog):
    own = {"own_server__gpu": "nvidia-a100-sxm-80gb", "own_server__gpus": 8, "own_server__nics": 1, "own_server__nic_speed": "10 Gb/s"}
    fact = stage.assess(*made(catalog, "", 2, **own))
    assert fact["buildable"] is True
    assert fact["node_gbps"] == 10.0


def test_messages_reach_the_measured_share_of_the_rate(catalog):
    """Four nodes of eight B200: 12.5 % of the adapter at 16 MiB, 44 % at 256 MiB, 70 % at 1 GiB, 74 % at 16 GiB [ml-engineering]."""
    shares = [message_share(mib, catalog) for mib in (16, 256, 1024, 16_384, 100_000)]
    assert shares == pytest.approx([0.125, 0.44, 0.70, 0.74, 0.74])
    assert 0.125 < message_share(64, catalog) < 0.44


@pytest.mark.parametrize(("node", "units"), [("nvidia-dgx-h100", 64), ("nvidia-dgx-h100", 1), ("nvidia-gb300-nvl72", 4)])
def test_every_declared_fact_is_stated(catalog, node, units):
    fact = stage.assess(*made(catalog, node, units))
    assert set(fact) == {field.name for field in stage.FACTS}
    assert all(isinstance(value, (str, int, float, bool)) for value in fact.values())


def test_sections_are_ready_for_toml(catalog):
    import tomli_w

    candidate, context = made(catalog, "nvidia-dgx-h100", 64, preferences__fabric="infiniband")
    stage.assess(candidate, context)
    sections = stage.describe(candidate, context)
    assert set(sections) == {"fabric.compute", "fabric.storage", "fabric.management", "fabric.growth", "fabric.failures"}
    assert (sections["fabric.compute"]["leaf"], sections["fabric.compute"]["spine"]) == (16, 8)
    assert sections["fabric.compute"]["oversubscription"] == "1:1"
    assert tomli_w.dumps(sections)


def test_growth_and_failures_stand_in_the_design(catalog):
    """Four units of DGX H100: eight units are 64 leaves and 32 spines, so half of 1,024 uplinks move; a spine is a sixteenth."""
    candidate, context = made(catalog, "nvidia-dgx-h100", 128, preferences__fabric="infiniband")
    stage.assess(candidate, context)
    sections = stage.describe(candidate, context)
    assert sections["fabric.growth"]["no_link_moves_up_to"] == "128 nodes (1,024 GPUs)"
    assert sections["fabric.growth"]["two_tiers_up_to"] == "256 nodes (2,048 GPUs)"
    assert sections["fabric.growth"]["doubled"].startswith("256 nodes: 64 leaf + 32 spine; 512 links move, 48 switches")
    assert "1 link from each leaf to each" in sections["fabric.growth"]["doubled"]
    assert sections["fabric.failures"]["leaf"] == "32 nodes keep 87.5 % of their rate, all nodes together 96.88 %"
    assert sections["fabric.failures"]["spine"] == "128 nodes keep 93.8 % of what passes between leaves, all nodes together 93.75 %"
    growing, context = made(catalog, "nvidia-dgx-h100", 32, preferences__fabric="infiniband", scale__later_nodes=64)
    stage.assess(growing, context)
    assert stage.describe(growing, context)["fabric.growth"]["target"].startswith("64 nodes: 16 leaf + 8 spine; 128 links move")
    shrinking, context = made(catalog, "nvidia-dgx-h100", 32, preferences__fabric="infiniband", scale__later_nodes=8)
    stage.assess(shrinking, context)
    assert stage.describe(shrinking, context)["fabric.growth"]["target"] == "8 nodes: this design has 32"
    single, context = made(catalog, "nvidia-dgx-h100", 1)
    stage.assess(single, context)
    assert "fabric.growth" not in stage.describe(single, context)
