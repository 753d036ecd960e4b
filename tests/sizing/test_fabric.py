"""Counting fabrics: what cannot be built, what every fabric keeps to, and the small cases."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rules.sizing.fabric import FabricImpossible, FabricInput, FabricInputError, count_fabric

NDR = {"nics_per_node": 8, "switch_ports": 64, "port_speed_gbps": 400}


def count(**table):
    return count_fabric(FabricInput.of({**NDR, **table}))


# ------------------------------------------------------------------------------------------- known sizes and small clusters


@pytest.mark.parametrize(
    ("nodes", "manager", "leaf", "spine", "tiers"),
    [
        (32, 0, 8, 4, 2),
        (32, 4, 16, 8, 2),  # with managers attached 32 nodes no longer fit one unit
        (31, 4, 8, 4, 2),
        (256, 0, 64, 32, 2),
        (257, 0, 72, 80, 3),  # one node above the limit of two tiers; pods of two units need the fewest spines
        (255, 4, 64, 32, 2),
        (256, 4, 72, 80, 3),
        (511, 4, 128, 128, 3),  # Imbue: 511 hosts of eight on 4,096 ports
        (512, 0, 128, 128, 3),
    ],
)
def test_sizes_around_the_limits(nodes, manager, leaf, spine, tiers):
    counts = count(nodes=nodes, manager_ports=manager)
    assert (counts.leaf, counts.spine, counts.tiers) == (leaf, spine, tiers)


@pytest.mark.parametrize(("switch_ports", "endpoints"), [(40, 800), (64, 2048), (128, 8192), (144, 10_368), (512, 131_072)])
def test_two_tier_limit_is_half_the_square_of_the_radix(switch_ports, endpoints):
    table = {"nics_per_node": 1, "switch_ports": switch_ports, "port_speed_gbps": 400, "layout": "tree"}
    assert count_fabric(FabricInput.of({**table, "nodes": endpoints})).tiers == 2
    assert count_fabric(FabricInput.of({**table, "nodes": endpoints + 1})).tiers == 3


@pytest.mark.parametrize(("switch_ports", "endpoints"), [(40, 16_000), (64, 65_536), (128, 524_288)])
def test_three_tier_limit_is_a_quarter_of_the_cube_of_the_radix(switch_ports, endpoints):
    table = {"nics_per_node": 8, "switch_ports": switch_ports, "port_speed_gbps": 400}
    counts = count_fabric(FabricInput.of({**table, "nodes": endpoints // 8}))
    assert counts.tiers == 3
    assert counts.links["spine_core"] == counts.links["leaf_spine"] == endpoints
    with pytest.raises(FabricImpossible, match="fourth tier"):
        count_fabric(FabricInput.of({**table, "nodes": endpoints // 8 + 1}))


@pytest.mark.parametrize(("nodes", "cores"), [(384, 64), (512, 64), (768, 128), (1024, 128), (2048, 256), (8192, 1024)])
def test_cores_leave_no_uplink_of_a_spine_unused(nodes, cores):
    """12 and 24 units need 64 and 128 cores, not the 48 and 96 of a plain division."""
    counts = count(nodes=nodes)
    assert counts.core == cores
    assert counts.links["spine_core"] == counts.spine * 32


def test_one_switch_and_its_limit():
    counts = count(nodes=8, layout="single")
    assert (counts.leaf, counts.spine, counts.tiers, counts.free["leaf"]) == (1, 0, 1, 0)
    with pytest.raises(FabricImpossible, match="8 nodes on one switch") as refused:
        count(nodes=9, layout="single")
    assert "exceed the 64 ports" in refused.value.reason
    assert count(nodes=8, layout="tree").leaf == 1, "a tree of one leaf needs no spine"
    assert count(nodes=9, layout="tree").spine == 2


def test_back_to_back_pair_has_as_many_links_between_its_switches_as_nodes_on_one():
    """NVIDIA BasePOD: eight nodes on two 64-port switches, 32 links to each and 32 between them; four nodes use 16."""
    assert count(nodes=8, layout="pair").inter_switch_links == 32
    assert count(nodes=4, layout="pair").inter_switch_links == 16
    assert count(nodes=8, layout="pair").tiers == 1
    with pytest.raises(FabricImpossible, match="8 nodes on a pair"):
        count(nodes=9, layout="pair")
    with pytest.raises(FabricImpossible, match="7 nodes on a pair"):
        count(nodes=8, layout="pair", manager_ports=4)


def test_rail_only_fabrics_have_no_spine_between_rails():
    assert (count(nodes=64, layout="rail_only").leaf, count(nodes=64, layout="rail_only").spine) == (8, 0)
    larger = count(nodes=128, layout="rail_only")
    assert (larger.leaf, larger.spine) == (8 * 4, 8 * 2)
    assert count(nodes=2048, layout="rail_only").tiers == 2, "each rail is a fabric of its own with 2,048 endpoints"


def test_trays_of_a_rack_are_the_nodes():
    """GB200 NVL72: a unit of eight racks is 144 trays with four adapters each, hence four leaves per 32 trays."""
    counts = count(nodes=144, nics_per_node=4)
    assert (counts.leaf, counts.units, counts.links["node_leaf"]) == (20, 5, 576)


@pytest.mark.parametrize(
    ("change", "reason", "nearest"),
    [
        (
            {"nodes": 65_536},
            "65,536 endpoints per rail need",
            "8,192 endpoints per rail in three tiers at this ratio, or switches with 128",
        ),
        ({"nodes": 128, "manager_ports": 1_000_000}, "and 1,000,000 manager links need", "64,512 manager links"),
        ({"nodes": 128, "nics_per_node": 1000}, "per rail, with 1000 rails, need", "at most 64 adapters per node, layout = 'rail_only'"),
        ({"nodes": 128, "switch_ports": 3}, "of 3-port switches", "switches with 16 ports"),
        ({"nodes": 4, "nics_per_node": 1, "switch_ports": 3, "layout": "tree"}, "^4 endpoints need", "3 endpoints in three tiers"),
    ],
)
def test_what_cannot_be_built_says_which_number_is_too_large_and_what_is_nearest(change, reason, nearest):
    """k³/4 ends on three tiers: 65,536 with 64 ports, of which 1,024 are nodes'; 8 rails × 128 nodes = 1,024 ends with 16 ports."""
    with pytest.raises(FabricImpossible) as raised:
        count(**{"nodes": 128, "nics_per_node": 8, **change})
    assert re.search(reason, raised.value.reason)
    assert nearest in raised.value.nearest
    assert str(raised.value) == f"{raised.value.reason}; nearest that can be built: {raised.value.nearest}"


def test_the_nearest_that_is_named_can_be_built():
    count(nodes=128, switch_ports=16)
    count(nodes=128, manager_ports=64_512)
    count(nodes=128, nics_per_node=1000, layout="rail_only")
    with pytest.raises(FabricImpossible):
        count(nodes=128, switch_ports=8)


def test_ratios_that_buy_nothing_or_cannot_be_had_are_said():
    assert any("1:1 is non-blocking already" in note for note in count(nodes=32, down_to_up=0.5).notes)
    assert any(note.startswith("100:1 was asked for") and note.endswith("63:1") for note in count(nodes=128, down_to_up=100).notes)
    assert not any(":1" in note for note in count(nodes=128, down_to_up=3).notes)


def test_as_many_spines_as_are_asked_for():
    """Juniper's validated design wants four spines at least; three leaves have 32 uplinks each, 96 / 64 = 2 spines."""
    table = {"nodes": 65, "nics_per_node": 1, "switch_ports": 64, "port_speed_gbps": 400, "layout": "tree"}
    assert count_fabric(FabricInput.of({**table, "least_spines": 4})).spine == 4
    with pytest.raises(FabricImpossible, match="too few for 64 spines; nearest that can be built: least_spines = "):
        count_fabric(FabricInput.of({**table, "least_spines": 64}))


def test_planes_double_the_switches_and_keep_the_limit_of_one_plane():
    """51.2 Tb/s switches as 128 × 400G in two planes: 8,192 GPUs of 2 × 400G still fit two tiers."""
    table = {"nics_per_node": 8, "nic_speed_gbps": 800, "switch_ports": 128, "port_speed_gbps": 400, "planes": 2}
    counts = count_fabric(FabricInput.of({**table, "nodes": 1024}))
    assert (counts.leaf, counts.spine, counts.tiers) == (256, 128, 2)
    assert count_fabric(FabricInput.of({**table, "nodes": 1025})).tiers == 3


def test_an_adapter_is_never_silently_slowed_down():
    """ConnectX-8 has no 800GbE port: two planes of 400G carry it."""
    with pytest.raises(FabricImpossible, match="planes = 2"):
        count(nodes=8, nic_speed_gbps=800)
    slower = count(nodes=32, nic_speed_gbps=200)
    assert any("200 Gb/s of ports of 400" in note for note in slower.notes)


def test_uplinks_of_another_speed_share_the_bandwidth_of_the_switch():
    """ByteDance MegaScale: 64 × 400G switches with downlinks split to 2 × 200G: 64 down, 32 up."""
    counts = count_fabric(
        FabricInput.of({"nodes": 64, "nics_per_node": 8, "switch_ports": 128, "port_speed_gbps": 200, "uplink_speed_gbps": 400})
    )
    assert (counts.plane.leaf_down, counts.plane.leaf_up) == (64, 32)
    assert (counts.leaf, counts.spine, counts.oversubscription) == (8, 4, 1.0)


@pytest.mark.parametrize(("ratio", "down", "up", "spine"), [(2, 42, 21, 3), (3, 48, 16, 2), (7, 56, 8, 1), (5 / 3, 40, 24, 3)])
def test_other_ratios(ratio, down, up, spine):
    counts = count(nodes=down, down_to_up=ratio)
    assert (counts.plane.leaf_down, counts.plane.leaf_up, counts.spine, counts.leaf) == (down, up, spine, 8)
    assert counts.oversubscription == pytest.approx(ratio, rel=0.001)


def test_ratio_is_that_of_the_wired_links():
    assert count(nodes=24, down_to_up=3).oversubscription == 1.5, "24 nodes on a leaf that has 16 uplinks"
    assert count(nodes=8, down_to_up=1).oversubscription == 1.0


@pytest.mark.parametrize(
    ("table", "leaf", "most_spines", "node_leaf", "most_links"),
    [
        # 8 × GB200 NVL72: 144 trays of four adapters; 12 leaves of 48 nodes, where whole units would have 8 spines and 768 links
        ({"nodes": 144, "nics_per_node": 4, "switch_ports": 128}, 12, 6, 576, 600),
        # 64 nodes of eight on 144 ports: a leaf with 64 nodes needs 64 uplinks, not 72
        ({"nodes": 64, "switch_ports": 144, "port_speed_gbps": 800}, 8, 4, 512, 512),
        # 16 × GB200 NVL72: ten spines have the ports; whole units would take 16
        ({"nodes": 288, "nics_per_node": 4, "switch_ports": 128}, 20, 10, 1152, 1200),
    ],
)
def test_wired_for_its_nodes_a_fabric_has_no_uplinks_for_empty_ports(table, leaf, most_spines, node_leaf, most_links):
    counts = count(**table, wired_for="nodes")
    assert (counts.leaf, counts.links["node_leaf"]) == (leaf, node_leaf)
    assert counts.spine <= most_spines
    assert node_leaf <= counts.links["leaf_spine"] <= most_links
    assert counts.oversubscription == 1.0
    assert any("wired for the nodes there are" in note for note in counts.notes)


@pytest.mark.parametrize(("nodes", "manager"), [(31, 4), (63, 4), (127, 4), (32, 0), (64, 0), (256, 0)])
def test_full_units_are_the_same_however_they_are_wired(nodes, manager):
    """The sizes of NVIDIA's SuperPODs fill their units, with the ports of the managers."""
    table = {"nodes": nodes, "manager_ports": manager}
    whole, used = count(**table), count(**table, wired_for="nodes")
    assert (used.leaf, used.spine, used.links) == (whole.leaf, whole.spine, whole.links)


# ----------------------------------------------------------------------------------------------------------------- input


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"nodes": 0}, "nodes: expected a whole number from 1"),
        ({"nodes": -3}, "nodes"),
        ({"nodes": 1.5}, "nodes"),
        ({"nodes": float("nan")}, "nodes"),
        ({"nodes": True}, "nodes"),
        ({"nodes": "eight"}, "nodes"),
        ({"port_speed_gbps": 0}, "port_speed_gbps"),
        ({"port_speed_gbps": float("inf")}, "port_speed_gbps"),
        ({"down_to_up": -1}, "down_to_up"),
        ({"layout": "ring"}, "layout: expected one of rail, rail_only, tree, single, pair"),
        ({"planes": 0}, "planes"),
        ({"wired_for": "racks"}, "wired_for: expected one of units, nodes"),
        ({"nic_per_node": 8}, "did you mean 'nics_per_node'"),
        ({"layout": "rail-only"}, "did you mean 'rail_only'"),
        ({"oversubscription": 3}, "write down_to_up, downlink to uplink bandwidth: 3 for 3:1"),
        ({"gpus": 256}, "write nodes and nics_per_node"),
        ({"pods": 4}, "pods follow from them"),
        ({"colour": 4}, "the keys are nodes, nics_per_node, nic_speed_gbps"),
        ({"port_speed_gbps": 333}, "port_speed_gbps: no port runs at 333 Gb/s; the nearest that do run at 200 Gb/s or 400 Gb/s"),
        ({"uplink_speed_gbps": 300}, "uplink_speed_gbps: no port runs at 300 Gb/s"),
        ({"nic_speed_gbps": 123}, "nic_speed_gbps: no port runs at 123 Gb/s; the nearest that do run at 100 Gb/s or 200 Gb/s"),
        ({"nic_speed_gbps": 400, "planes": 3}, "over 3 planes has links of 133.333 Gb/s, as no port has; nearest: planes = 2 or 4"),
        ({"nic_speed_gbps": 1234, "planes": 3}, "nearest: adapters of 1200 Gb/s or 2400 Gb/s"),
        ({"switch_ports": None}, "switch_ports: expected a whole number from 2"),
    ],
)
def test_wrong_input_names_the_key_and_what_was_expected(change, says):
    with pytest.raises(FabricInputError, match=says):
        FabricInput.of({"nodes": 4, **NDR, **change})


# ------------------------------------------------------------------------------------------------------------ invariants

SPECS = st.builds(
    lambda **given: FabricInput.of(given),
    nodes=st.one_of(st.integers(1, 300), st.integers(1, 5000)),
    nics_per_node=st.sampled_from([1, 2, 4, 8]),
    switch_ports=st.sampled_from([32, 36, 40, 64, 128, 144]),
    port_speed_gbps=st.just(400),
    uplink_speed_gbps=st.sampled_from([400, 400, 800]),
    layout=st.sampled_from(["rail", "rail", "tree", "rail_only", "pair", "single"]),
    planes=st.sampled_from([1, 1, 2, 4]),
    down_to_up=st.sampled_from([1, 1, 1, 1.5, 2, 3, 5, 0.8]),
    manager_ports=st.sampled_from([0, 0, 4]),
    wired_for=st.sampled_from(["units", "nodes"]),
)


def counted(spec):
    try:
        return count_fabric(spec)
    except FabricImpossible:
        return None


@settings(max_examples=300, deadline=None)
@given(SPECS)
def test_no_switch_has_more_links_than_ports_and_both_ends_of_every_link_exist(spec):
    counts = counted(spec)
    if counts is None:
        return
    plane = counts.plane
    for group in plane.leaves:
        assert group.down * 400 + group.up * spec.uplink_speed_gbps <= spec.switch_ports * 400
    for group in (*plane.spines, *plane.cores):
        assert group.down + group.up <= spec.spine_ports
    assert sum(group.switches * group.down for group in plane.leaves) * spec.planes == counts.links["node_leaf"]
    assert counts.links["node_leaf"] == spec.nodes * spec.nics_per_node * spec.planes, "every adapter is used"
    up = sum(group.switches * group.up for group in plane.leaves) if plane.spines else 0
    assert up == sum(group.switches * group.down for group in plane.spines)
    assert sum(group.switches * group.up for group in plane.spines) == sum(group.switches * group.down for group in plane.cores)
    assert min(counts.free.values()) >= 0
    assert counts.free["leaf"] + sum(group.switches * group.down for group in plane.leaves) * spec.planes >= 0


@settings(max_examples=300, deadline=None)
@given(SPECS)
def test_ratio_holds_and_uplinks_stripe_evenly(spec):
    counts = counted(spec)
    if counts is None:
        return
    assert counts.oversubscription <= max(1.0, spec.down_to_up) * 1.001
    plane = counts.plane
    if plane.tiers == 2:
        spines = plane.spine // (spec.nics_per_node if spec.layout == "rail_only" else 1)
        assert plane.leaf_up == spines * plane.leaf_spine_pair
    if plane.tiers == 3:
        assert plane.leaf_up == plane.pod_spines * plane.leaf_spine_pair
        assert plane.cores[0].down <= spec.spine_ports


@settings(max_examples=150, deadline=None)
@given(SPECS.filter(lambda spec: spec.layout in ("rail", "tree") and spec.nodes <= 2000))
def test_the_fabric_can_be_wired_link_by_link_into_one_network(spec):
    """Wire one plane by the stated rule: no port is used twice and everything is connected."""
    counts = counted(spec)
    if counts is None or counts.tiers < 2:
        return
    plane, rails = counts.plane, spec.nics_per_node if spec.layout == "rail" else 1
    pod_units = max(1, -(-plane.units // plane.pods))
    if plane.tiers == 3:
        pod_units = plane.pod_spines * (spec.spine_ports // 2) // plane.leaf_up
    used: Counter[tuple] = Counter()
    joined = Groups()
    for unit in range(plane.units):
        for rail in range(rails):
            spines = [("spine", s) for s in range(plane.spine)]
            if plane.tiers == 3:
                spines = [("spine", unit // pod_units, rail, s) for s in range(plane.pod_spines)]
            for spine in spines:
                used[spine] += plane.leaf_spine_pair
                used["leaf", unit, rail] += plane.leaf_spine_pair
                joined.join(("leaf", unit, rail), spine)
    if plane.tiers == 3:
        per_group = plane.core // plane.pod_spines
        for spine in [each for each in used if each[0] == "spine"]:
            for core in range(per_group):
                used[spine] += plane.spine_core_pair
                used["core", spine[3], core] += plane.spine_core_pair
                joined.join(spine, ("core", spine[3], core))
    assert all(number <= spec.spine_ports for switch, number in used.items() if switch[0] != "leaf")
    assert all(number == plane.leaf_up for switch, number in used.items() if switch[0] == "leaf")
    tiers = Counter(switch[0] for switch in used)
    assert (tiers["leaf"], tiers["spine"], tiers["core"]) == (plane.leaf, plane.spine, plane.core), "no dark switch"
    if plane.tiers == 2 or plane.pods > 1 or rails == 1 or plane.core:
        roots = {joined.root(switch) for switch in used}
        groups = plane.pod_spines if plane.tiers == 3 else 1
        assert len(roots) <= groups, "core groups meet in the leaves"
        assert len({joined.root(switch) for switch in used if switch[0] == "leaf"}) == 1


class Groups:
    """A union of sets."""

    def __init__(self):
        self.parent = {}

    def root(self, item):
        while self.parent.setdefault(item, item) != item:
            item = self.parent[item]
        return item

    def join(self, first, second):
        self.parent[self.root(first)] = self.root(second)


@settings(max_examples=150, deadline=None)
@given(SPECS, st.integers(1, 500))
def test_more_nodes_never_need_fewer_leaves_or_links(spec, more):
    fewer, larger = counted(spec), counted(replace(spec, nodes=spec.nodes + more))
    if larger is None:
        return
    assert fewer is not None, "what fits for more nodes fits for fewer"
    assert fewer.leaf <= larger.leaf
    assert fewer.tiers <= larger.tiers
    assert fewer.links["node_leaf"] < larger.links["node_leaf"]


@settings(max_examples=100, deadline=None)
@given(SPECS)
def test_cages_hold_all_links_and_waste_less_than_one_cage_per_switch(spec):
    counts = counted(spec)
    if counts is None:
        return
    per_cage = 2 if spec.switch_ports * 400 >= 25_600 else 1
    assert counts.cages["leaf_node"] * per_cage >= counts.links["node_leaf"]
    assert counts.cages["leaf_node"] * per_cage < counts.links["node_leaf"] + counts.leaf * per_cage


def test_the_printed_row_has_the_keys_of_its_schema():
    schema = json.loads((Path(__file__).parents[2] / "wizard" / "schemas" / "fabric.schema.json").read_text())
    for table in ({"nodes": 512}, {"nodes": 8, "layout": "pair"}, {"nodes": 31, "manager_ports": 4}):
        jsonschema.validate([{"id": "x", **count(**table).row()}], schema)
