"""Faults of fabrics that were found in other tools of this trade: each is a test of ours, against what vendors and papers print.

Tools: AutoLink (github.com/bangbang8000-cell/AutoLink), AIDC-Studio (github.com/haanjack/AIDC-Studio), NetDesign AI
(github.com/Amit33-design/Network-Automation), DIET (github.com/hedgehog, open network fabric). The cases of `test_cases_*.py` hold
further ones: units, calculators of memory, racks, bills. What needs ports, addresses or exports waits for those features.
"""

from __future__ import annotations

import math
from collections import Counter

import pytest

from rules.answers import Answers
from rules.sizing.fabric import FabricImpossible, FabricInput, FabricInputError, count_fabric
from rules.sizing.workload import describe_workload
from tests.published.asking import asked, catalog

DGX: dict[str, object] = {"model.preset": "llama-3.1-70b", "preferences.nodes": ["nvidia-dgx-h100"]}
NDR = {"nics_per_node": 8, "switch_ports": 64, "port_speed_gbps": 400}


def fabric(nodes: int, **more: object):
    return count_fabric(FabricInput.of({**NDR, "nodes": nodes, **more}))


def workload(preset: str, **more: object):
    answers = {"model.preset": preset, **{key.replace("__", "."): value for key, value in more.items()}}
    return describe_workload(Answers.of(answers), catalog())


@pytest.mark.parametrize(("nodes", "tiers"), [(32, 1), (33, 2), (128, 2), (129, 2), (256, 2), (257, 3)])
def test_two_tiers_of_64_ports_carry_2048_endpoints(nodes, tiers):
    """AutoLink goes to three tiers at 129 nodes (k²/4) and asserts it in its tests; NVIDIA's tables use two up to 256 (k²/2)."""
    if nodes > 32:
        assert fabric(nodes).tiers == tiers
    assert fabric(nodes, nics_per_node=1, layout="tree").tiers == (1 if nodes <= 64 else 2)


def test_uplinks_divide_evenly_over_the_spines():
    """AutoLink wires 95 nodes with a hidden 1.33:1; sixteen spines divide a leaf's 32 uplinks and nothing blocks."""
    counts = fabric(95)
    assert counts.spine == 16
    assert counts.plane.leaf_up % counts.spine == 0
    assert counts.oversubscription == 1.0


@pytest.mark.parametrize("nodes", [3, 17, 33, 64, 95, 100, 128, 200, 256, 300, 511, 1000])
def test_every_adapter_has_a_link_and_every_link_a_port(nodes):
    """AutoLink wires one adapter of eight; NetDesign AI hangs 200 cables on 144 ports, and counts a mesh of leaf × server."""
    counts = fabric(nodes)
    assert counts.links["node_leaf"] == 8 * nodes
    assert counts.leaf % 8 == 0 or counts.tiers == 1, "one leaf per rail and unit"
    assert counts.links["node_leaf"] + counts.links["leaf_spine"] <= 64 * counts.leaf
    assert counts.links["leaf_spine"] + counts.links["spine_core"] <= 64 * counts.spine
    assert counts.links["spine_core"] <= 64 * counts.core
    assert all(ports >= 0 for ports in counts.free.values())


@pytest.mark.parametrize("nodes", [64, 95, 200, 256])
def test_every_leaf_reaches_every_spine(nodes):
    """A switch graph of one component, with equally many links between each leaf and each spine."""
    counts = fabric(nodes)
    assert counts.plane.leaf_spine_pair >= 1
    assert counts.plane.leaf_spine_pair * counts.spine == counts.plane.leaf_up


@pytest.mark.parametrize("nodes", [0, -1, 2.5, "many", None])
def test_impossible_numbers_of_nodes_are_refused_by_name(nodes):
    with pytest.raises(FabricInputError, match="nodes"):
        fabric(nodes)


def test_small_numbers_work():
    """One node, one switch: no spine, no division by zero."""
    assert (fabric(1, nics_per_node=1, layout="tree").leaf, fabric(1, nics_per_node=1, layout="tree").spine) == (1, 0)
    with pytest.raises(FabricImpossible, match="nearest"):
        fabric(100_000)


def test_counts_do_not_depend_on_the_room():
    """AIDC-Studio's counts change with the chunks of its room layout: here racks change, with those of spares; switches do not."""
    small = asked(DGX, scale__nodes=128, facility__rack_power="12 kW").candidate
    large = asked(DGX, scale__nodes=128, facility__rack_power="45 kW").candidate
    spares = small.reliability.spare_nodes
    assert spares == large.reliability.spare_nodes
    assert small.facility.racks[0].racks == 128 + spares, "one node of 10.2 kW in a rack of 12 kW"
    assert large.facility.racks[0].racks == 128 / 4 + math.ceil(spares / 4), "four in one of 45 kW"
    assert small.fabric.compute.switches == large.fabric.compute.switches
    assert small.fabric.compute.links == large.fabric.compute.links


def test_counts_do_not_depend_on_the_order_of_the_input():
    table = {"nodes": 95, **NDR, "manager_ports": 4}
    assert count_fabric(FabricInput.of(table)) == count_fabric(FabricInput.of(dict(reversed(table.items()))))


def test_no_link_is_slower_than_its_adapter_without_saying_so():
    """AutoLink links 400G adapters at 200G in silence."""
    with pytest.raises((FabricImpossible, FabricInputError)):
        fabric(64, nic_speed_gbps=400, port_speed_gbps=200)
    network = asked(DGX, scale__nodes=64).candidate.fabric.compute
    assert network.speed_gbps == 400
    mixed = asked({
        "model.preset": "llama-3.1-8b", "scale.nodes": 4, "own_server.gpu": "nvidia-a100-pcie-40gb", "own_server.gpus": 4,
        "own_server.nics": 1, "own_server.nic_speed": "400 Gb/s",
    })  # fmt: skip
    assert mixed.finding("fabric.adapter_slot_narrow") is not None


def test_every_end_of_a_link_has_the_module_of_its_speed_and_fibre():
    """NetDesign AI puts 400G optics into 100G cages and mixes fibre types; AutoLink gives 1G copper ports 1.6T optics."""
    candidate = asked(DGX, scale__nodes=128).candidate
    network = candidate.fabric.compute
    records = {name: catalog().cables[name] for name in network.cables}
    modules = {name: count for name, count in network.cables.items() if records[name].is_transceiver}
    copper = {name: count for name, count in network.cables.items() if records[name].medium in ("dac", "acc")}
    fibres = {name: count for name, count in network.cables.items() if name not in {**modules, **copper}}
    assert sum(modules.values()) == sum(network.modules.values())
    assert sum(modules.values()) + 2 * sum(copper.values()) == sum(network.cages.values()), "a module or a plug in every cage"
    assert sum(fibres.values()) + 2 * sum(copper.values()) == sum(network.links.values()), "a fibre per link, copper for two links"
    for name in (*modules, *copper):
        assert records[name].speed.to("Gb/s") == 400 * records[name].links, "an 800G twin-port module carries two links of 400G"
    kinds = {records[name].medium for name in (*modules, *fibres)}
    assert kinds in ({"sr", "mmf"}, {"dr", "smf"}, {"fr", "smf"}), "short-reach optics on multimode fibre, the others on single mode"
    management = candidate.fabric.out_of_band
    assert management.speed_gbps == 1
    assert management.modules == {}
    assert set(management.cables) == {"generic-cat6a-10"}


def test_longer_runs_take_what_reaches_them():
    """Constant or zero cable lengths: copper where racks are near, fibre that is long enough where they are not."""
    for nodes in (4, 64, 1024):
        candidate = asked(DGX, scale__nodes=nodes, preferences__fabric="infiniband").candidate
        for name in candidate.fabric.compute.cables:
            record = catalog().cables[name]
            assert record.reach is None or record.reach.to("m") > 0
    near, far = (asked(DGX, scale__nodes=nodes).candidate.fabric.compute for nodes in (2, 2048))
    assert set(near.cables) != set(far.cables)


def test_links_between_a_pair_of_switches_are_billed():
    """NetDesign AI configures peer links that nobody bought, and buys others that nobody configured."""
    pair = count_fabric(FabricInput.of({**NDR, "nodes": 7, "layout": "pair"}))
    assert pair.inter_switch_links > 0
    assert pair.cages["leaf_leaf"] >= 1
    network = asked(DGX, scale__nodes=128).candidate
    configured: Counter[str] = Counter()
    for each in (network.fabric.compute, network.fabric.in_band, network.fabric.out_of_band):
        configured.update(each.switches)
        configured.update(each.cables)
    known = {record.id for shelf in (catalog().switches, catalog().cables) for record in shelf}
    sold = [line for line in network.bom if line.category in ("switch", "transceiver", "cable")]
    billed = {line.item if line.item in known else line.name: line.quantity for line in sold}  # parts without a record by what they are
    assert billed == dict(configured)


def test_management_counts_its_own_switches_and_their_uplinks():
    """AIDC-Studio leaves out the management ports of the management switches (75 where 79 are needed). Each has two uplinks of 100G."""
    candidate = asked(DGX, scale__nodes=128).candidate
    management = candidate.fabric.out_of_band
    boxes = sum(candidate.fabric.compute.switches.values()) + sum(candidate.fabric.in_band.switches.values())
    assert management.endpoints >= 128 + boxes + management.leaf
    assert management.notes[0].startswith(f"{2 * management.leaf} uplinks of 100G to the front-end network")
    uplink_modules = {name: number for name, number in candidate.fabric.in_band.cables.items() if name.startswith("100G")}
    assert sum(uplink_modules.values()) == candidate.fabric.in_band.modules["management"] == 2 * management.leaf
    without_uplinks = management.leaf * 48
    assert management.endpoints <= without_uplinks


def test_two_ports_of_one_storage_adapter_are_wired_once_each():
    """AutoLink wires the two ports of a storage adapter twice."""
    candidate = asked(DGX, scale__nodes=128).candidate
    assert candidate.fabric.storage is candidate.fabric.in_band
    assert 2 * 128 <= candidate.fabric.storage.links["node_leaf"] <= 2.5 * 128
