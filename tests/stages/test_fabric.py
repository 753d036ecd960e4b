"""The stage fabric: the four networks of real node types, the choice of technology, sections and bill."""

from __future__ import annotations

import pytest

from catalogs import load_catalog
from catalogs.quantities import magnitude
from rules.answers import Answers
from rules.candidate import Candidate, Context
from rules.own_server import own_server
from rules.sizing.fabric.adapters import compute_adapters
from rules.sizing.fabric.cabling import longest_run_m
from rules.sizing.fabric.design import design_fabric
from rules.sizing.fabric.switching import ports_at, switch_options
from rules.sizing.hardware import hardware_of
from rules.sizing.plans import search_plans
from rules.sizing.workload import describe_workload
from rules.stages import fabric as stage
from rules.stages import reliability, storage_cpu
from rules.stages.fabric_facts import message_share


@pytest.fixture(scope="module")
def catalog():
    return load_catalog()


def made(catalog, node_id, units, **answers):
    given = Answers.of({"model.preset": "llama-3.1-70b", **{key.replace("__", "."): value for key, value in answers.items()}})
    context = Context(given, catalog, describe_workload(given, catalog))
    node = own_server(given, catalog) or catalog.nodes[node_id]
    gpu = catalog.gpus[node.gpu]
    gpus = units * node.gpu_count
    choice = search_plans(context.workload, hardware_of(node, gpu, catalog), gpus, given)
    return Candidate(f"{units}x-{node.id}", node, gpu, units, units * node.trays, gpus, choice), context


def designed(catalog, node_id, units, **answers):
    return design_fabric(*made(catalog, node_id, units, **answers)).design


def counts(network):
    return network.leaf, network.spine, network.core


# ------------------------------------------------------------------------------------------------------------- compute


@pytest.mark.parametrize(
    ("node", "units", "switch", "leaf", "spine", "managers"),
    [
        ("nvidia-dgx-h100", 31, "nvidia-qm9700", 8, 4, 4),  # SuperPOD H100 and B200, table 4
        ("nvidia-dgx-h100", 127, "nvidia-qm9700", 32, 16, 4),
        ("nvidia-dgx-b200", 95, "nvidia-qm9700", 24, 16, 4),
        ("nvidia-dgx-b200", 64, "nvidia-qm9700", 16, 8, 0),  # no port is left for managers
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


# -------------------------------------------------------------------------------------------------- the other networks


def test_storage_and_in_band_share_one_network_that_survives_a_leaf(catalog):
    design = designed(catalog, "nvidia-dgx-h100", 127, preferences__fabric="infiniband")
    assert design.storage is design.in_band
    assert design.storage.leaf >= 2
    assert design.storage.oversubscription <= 5 / 3 + 0.01
    small = designed(catalog, "nvidia-dgx-h100", 8)
    assert small.storage.switches == {"nvidia-sn4600c": 2}, "as in NVIDIA's BasePOD"


@pytest.mark.parametrize(("node", "units", "printed"), [("nvidia-dgx-h100", 127, 8), ("nvidia-dgx-b200", 127, 16)])
def test_out_of_band_switches_are_near_the_printed_ones(catalog, node, units, printed):
    """H100 RA: 333 cables, which eight switches of 48 carry with their uplinks apart; B200 RA, figure 3.2: 16 SN2201."""
    network = designed(catalog, node, units, preferences__fabric="infiniband").out_of_band
    assert abs(network.leaf - printed) <= 2
    assert network.switches == {"nvidia-sn2201": network.leaf}


def test_switches_that_manage_are_managed_too(catalog):
    """64 nodes, a spare, switches, five management servers, WEKA boxes and a file server; three power units in each rack."""
    candidate, context = made(catalog, "nvidia-dgx-h100", 64, preferences__fabric="infiniband")
    sized = design_fabric(candidate, context)
    network, storage = sized.design.out_of_band, sized.front.storage
    switches = sum(sized.design.compute.switches.values()) + sum(sized.design.storage.switches.values()) + network.leaf
    devices = (64 + storage.spares) * 2 + switches + 5 + storage.boxes + storage.file_servers
    assert network.endpoints == devices + (16 + 1) * 3, "16 racks of nodes and one of network and storage"
    assert network.endpoints <= network.leaf * 48


@pytest.mark.parametrize(
    ("node", "units", "answers"),
    [
        ("nvidia-dgx-b200", 16, {}),
        ("nvidia-dgx-h100", 2, {"model__preset": "llama-3.1-8b"}),
        ("nvidia-gb200-nvl72", 4, {}),
        ("nvidia-dgx-h100", 3, {"preferences__storage": "object_store"}),
        ("nvidia-dgx-h100", 64, {"preferences__vendors": ["DDN"]}),
    ],
)
def test_the_network_carries_the_storage_that_is_bought(catalog, node, units, answers):
    """Its links are those of the boxes that the stage of storage puts into the bill."""
    candidate, context = made(catalog, node, units, **answers)
    side = design_fabric(candidate, context).front.storage
    stage.assess(candidate, context)
    storage_cpu.assess(candidate, context)
    assert side.boxes == (sum(candidate.storage.systems.values()) or side.open_product)
    written = candidate.storage.write_offered
    if written is not None:
        assert side.links * side.link_gbps / 8 >= written.to("GB/s").magnitude
    reliability.assess(candidate, context)
    assert side.spares == candidate.reliability.spare_nodes


def test_every_port_of_the_storage_boxes_is_connected(catalog):
    """Eight WEKApods with two 400G ports each have 16 links; their cages are OSFP, those of the nodes' two-port cards QSFP112."""
    candidate, context = made(catalog, "nvidia-dgx-b200", 16)
    sized = design_fabric(candidate, context)
    assert (sized.front.storage.boxes, sized.front.storage.links, sized.front.storage.link_gbps) == (8, 16, 400.0)
    network = sized.design.storage
    assert network.cables["nvidia-mma4z00-ns400-400"] == 16
    nodes, servers, file_server, site = 2 * (16 + sized.front.storage.spares), 10, 2, 2
    assert network.cables["nvidia-mma1z00-ns400-400"] == nodes + servers + file_server + site


def test_uplinks_of_management_switches_are_100g(catalog):
    """SN2201: four QSFP28 uplinks of 100G; a port of 400G serves four of them, a lane each."""
    candidate, context = made(catalog, "nvidia-dgx-b200", 16)
    sized = design_fabric(candidate, context)
    uplinks = sized.front.uplinks
    assert uplinks == 2 * sized.front.management.switches
    assert sized.design.storage.cables["100G DR1 module, QSFP28, for the management switch"] == uplinks
    small = designed(catalog, "nvidia-dgx-h100", 8).storage
    assert not any("DR1" in item for item in small.cables), "ports of 100G take them as they are"


def test_management_servers_are_bought(catalog):
    """Five in NVIDIA's BasePOD; their power is not published, and the notes say so."""
    candidate, context = made(catalog, "nvidia-dgx-h100", 31, preferences__fabric="infiniband")
    stage.assess(candidate, context)
    assert {line.item: line.quantity for line in stage.bill(candidate, context)}["management-server"] == 5
    assert any("power of the management servers is not published" in note for note in candidate.fabric.storage.notes)


def test_spare_nodes_have_ports_where_ports_are_free(catalog):
    fifty = design_fabric(*made(catalog, "nvidia-dgx-h100", 50, preferences__fabric="infiniband"))
    assert fifty.choice.spares_wired == fifty.front.storage.spares > 0
    assert fifty.design.compute.links["node_leaf"] == (50 + fifty.front.storage.spares) * 8
    full = design_fabric(*made(catalog, "nvidia-dgx-h100", 64, preferences__fabric="infiniband"))
    assert full.choice.spares_wired == 0, "64 nodes fill 16 leaves"


# --------------------------------------------------------------------------------------------------- cables and power


def test_media_follow_the_length(catalog):
    assert longest_run_m(1) <= 2 < longest_run_m(2) <= 5 < longest_run_m(3) < longest_run_m(40) < 50 < longest_run_m(400)
    near = designed(catalog, "nvidia-dgx-h100", 2, preferences__fabric="infiniband").compute
    assert set(near.cables) == {"nvidia-mcp4y10-800"}, "copper inside one rack"
    assert near.modules == {}
    row = designed(catalog, "nvidia-dgx-h100", 64, preferences__fabric="infiniband").compute
    assert row.cables["nvidia-mfp7e10-fibre"] == row.links["node_leaf"], "a multimode fibre per link"
    hall = designed(catalog, "nvidia-dgx-h100", 1024, preferences__fabric="infiniband").compute
    assert "nvidia-mms4x00-ns-800" in hall.cables, "single mode beyond 50 m"


def test_both_ends_of_a_link_have_lanes_that_agree(catalog):
    """Q3400 has 2x800G DR4 modules, four lanes of 200 Gb/s; a DR8 module of eight lanes of 100 Gb/s gets no light from them."""
    network = designed(catalog, "nvidia-dgx-b300", 64, preferences__fabric="infiniband").compute
    cables = network.cables
    assert cables["nvidia-mms4a00-1600"] == sum(network.cages[side] for side in ("leaf_node", "leaf_spine", "spine_leaf"))
    assert cables["800G DR4 module, 4 lanes of 200 Gb/s, OSFP flat, for the adapter"] == network.links["node_leaf"]
    assert "fs-lpo-dr8-800" not in cables
    own = {"own_server__gpu": "nvidia-h100-sxm-80gb", "own_server__gpus": 8, "own_server__nics": 8, "own_server__nic_speed": "200 Gb/s"}
    split = designed(catalog, "", 32, **own).compute
    assert split.cables["nvidia-mma4z00-ns-800"] > 0
    assert split.cables["nvidia-mma4z00-ns400-400"] == split.links["node_leaf"], "400G modules run two of their lanes"
    assert any("1:2 splitter fibre" in item for item in split.cables)


def test_copper_between_racks_is_as_long_as_the_way(catalog):
    """12 Q3400 of 4U are 48U, two racks: passive copper of 2 m does not reach, linear active copper of 5 m is not sold for 1.6T."""
    network = designed(catalog, "nvidia-dgx-b300", 64, preferences__fabric="infiniband").compute
    assert network.switches == {"nvidia-q3400-ra": 12}
    assert not any("copper" in item or "acc" in item for item in network.cables)
    assert network.modules["leaf_spine"] == network.cages["leaf_spine"], "the links among switches are optical"


def test_denser_racks_shorten_cables(catalog):
    candidate, context = made(catalog, "nvidia-dgx-h100", 8, preferences__fabric="infiniband")
    assert design_fabric(candidate, context).design.compute.modules
    candidate.placed_density = 8
    assert design_fabric(candidate, context).design.compute.modules == {}


def test_power_is_that_of_the_switches_with_their_modules(catalog):
    """QM9700: 747 W with passive cables, 1,720 W at most with modules [NVIDIA user manual]; a manager appliance draws 689 W."""
    network = designed(catalog, "nvidia-dgx-h100", 31, preferences__fabric="infiniband").compute
    assert magnitude(network.power_maximum, "W") == pytest.approx(12 * 1720 + 2 * 689)
    assert 12 * 747 < magnitude(network.power_typical, "W") < 12 * 1720


def test_the_bill_counts_a_shared_network_once(catalog):
    candidate, context = made(catalog, "nvidia-dgx-h100", 31, preferences__fabric="infiniband")
    stage.assess(candidate, context)
    lines = {line.item: line for line in stage.bill(candidate, context)}
    assert lines["nvidia-qm9700"].quantity == 12
    assert lines["nvidia-ufm-appliance"].quantity == 2
    assert sum(line.quantity for line in lines.values() if line.category == "switch") == sum(
        number
        for network in (candidate.fabric.compute, candidate.fabric.storage, candidate.fabric.out_of_band)
        for number in network.switches.values()
    )
    assert {line.category for line in lines.values()} == {"switch", "cable", "transceiver", "fabric manager", "management"}
    assert all(line.unit_low is None for line in lines.values())


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
    assert set(sections) == {"fabric.compute", "fabric.storage", "fabric.management"}
    assert (sections["fabric.compute"]["leaf"], sections["fabric.compute"]["spine"]) == (16, 8)
    assert sections["fabric.compute"]["oversubscription"] == "1:1"
    assert tomli_w.dumps(sections)
