"""Fabrics at random, link by link: what every one of them keeps to, read off its cables and not off the counts."""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from itertools import groupby

from hypothesis import given, settings
from hypothesis import strategies as st

from rules.sizing.fabric import FabricImpossible, FabricInput, count_fabric
from rules.sizing.fabric.links import LEAF_LEAF, LEAF_SPINE, MANAGER, NODE_LEAF, SPINE_CORE, Wiring, node_names

SPECS = st.builds(
    lambda **given: FabricInput.of(given),
    nodes=st.one_of(st.integers(1, 40), st.integers(1, 400)),
    nics_per_node=st.sampled_from([1, 2, 4, 8]),
    switch_ports=st.sampled_from([16, 32, 36, 40, 64, 144]),
    port_speed_gbps=st.just(400),
    nic_speed_gbps=st.sampled_from([400, 400, 200]),
    uplink_speed_gbps=st.sampled_from([400, 400, 800]),
    layout=st.sampled_from(["rail", "rail", "tree", "rail_only", "pair", "single"]),
    planes=st.sampled_from([1, 1, 2]),
    down_to_up=st.sampled_from([1, 1, 1, 1.5, 3, 0.8]),
    manager_ports=st.sampled_from([0, 0, 4]),
    wired_for=st.sampled_from(["units", "nodes"]),
    least_spines=st.sampled_from([1, 1, 2, 4]),
)


def wired(spec):
    """Return (the counts, every link), or None where the fabric cannot be built."""
    try:
        counts = count_fabric(spec)
    except FabricImpossible:
        return None
    return counts, list(Wiring.of("compute", spec, counts.plane).links())


@settings(max_examples=80, deadline=None)
@given(SPECS)
def test_every_adapter_is_used_once_per_plane_and_rails_are_on_distinct_leaves(spec):
    found = wired(spec)
    if found is None:
        return
    ends = [link for link in found[1] if link.tier == NODE_LEAF]
    assert max(Counter((link.lower.device, link.lower.port) for link in ends).values()) == 1
    assert len(ends) == spec.nodes * spec.nics_per_node * spec.planes
    leaves, rails = defaultdict(set), defaultdict(set)
    for link in ends:
        nic = link.lower.port.split("/")[0]
        leaves[link.lower.device, link.plane].add(link.upper.device)
        rails[link.upper.device].add(nic)
    if spec.layout in ("rail", "rail_only") and spec.nics_per_node > 1:
        assert {len(each) for each in leaves.values()} == {spec.nics_per_node}, "an adapter of every node on a leaf of its own"
        assert {len(each) for each in rails.values()} == {1}, "a leaf serves one rail"


@settings(max_examples=80, deadline=None)
@given(SPECS)
def test_no_port_is_used_twice_and_no_switch_carries_more_than_it_has(spec):
    found = wired(spec)
    if found is None:
        return
    ports, carried = Counter(), Counter()
    for link in found[1]:
        for end in (link.lower, link.upper):
            ports[end.device, end.port] += 1
            carried[end.device] += link.speed_gbps if link.tier not in (NODE_LEAF, MANAGER) else spec.port_speed_gbps
    assert max(ports.values()) == 1
    switches = {device: gbps for device, gbps in carried.items() if "leaf" in device or "spine" in device or "core" in device}
    assert max(switches.values()) <= spec.switch_ports * spec.port_speed_gbps
    assert sum(ports.values()) == 2 * len(found[1])


@settings(max_examples=80, deadline=None)
@given(SPECS)
def test_a_leaf_stripes_evenly_and_its_ratio_is_that_of_its_cables(spec):
    found = wired(spec)
    if found is None:
        return
    counts, links = found
    pairs, below, above = defaultdict(Counter), Counter(), Counter()
    for link in links:
        if link.tier == NODE_LEAF:
            below[link.upper.device] += link.speed_gbps
        elif link.tier in (LEAF_SPINE, LEAF_LEAF):
            pairs[link.lower.device][link.upper.device] += 1
            above[link.lower.device] += link.speed_gbps
    assert all(len(set(spines.values())) == 1 for spines in pairs.values()), "as many links to each spine as to any other"
    if counts.tiers == 2:
        reached = {leaf: set(spines) for leaf, spines in pairs.items()}
        spines = {spine for each in reached.values() for spine in each}
        assert len(spines) == counts.spine, "no dark spine"
        assert counts.spine >= spec.least_spines * spec.planes
        assert all(ratio <= max(1.0, spec.down_to_up) * 1.001 for ratio in (below[leaf] / above[leaf] for leaf in above))
    if counts.tiers == 2 or counts.inter_switch_links:
        printed = max(1.0, *(below[leaf] / above[leaf] for leaf in above))
        assert abs(counts.oversubscription - printed) < 1e-9
    upward = Counter(link.lower.device for link in links if link.tier == SPINE_CORE)
    assert len(set(upward.values())) <= 1, "every spine uses all its uplinks"


@settings(max_examples=80, deadline=None)
@given(SPECS)
def test_everything_that_must_meet_is_one_component(spec):
    """A plane is one network; with rails alone, each rail of a plane is one, and rails meet inside the nodes."""
    found = wired(spec)
    if found is None:
        return
    parent = {}

    def root(item):
        while parent.setdefault(item, item) != item:
            item = parent[item]
        return item

    ends = set()
    for link in found[1]:
        if link.tier == MANAGER:
            continue
        lower = (link.lower.device, link.lower.port) if link.tier == NODE_LEAF else link.lower.device
        parent[root(lower)] = root(link.upper.device)
        if link.tier == NODE_LEAF:
            ends.add((link.plane, link.lower.port.split("/")[0], lower))
    by = (lambda each: each[:2]) if spec.layout == "rail_only" else (lambda each: each[:1])
    networks = [{root(end) for _, _, end in group} for _, group in groupby(sorted(ends), key=by)]
    assert all(len(each) == 1 for each in networks)
    assert len(set.union(*networks)) == len(networks), "planes and lone rails share no switch"


@settings(max_examples=80, deadline=None)
@given(SPECS)
def test_no_link_is_slower_than_the_adapter_behind_it_without_a_note(spec):
    found = wired(spec)
    if found is None:
        return
    counts, links = found
    share = spec.nic_speed_gbps / spec.planes
    assert {link.speed_gbps for link in links if link.tier == NODE_LEAF} == {share}
    slower = [link for link in links if link.tier in (LEAF_SPINE, SPINE_CORE, LEAF_LEAF) and link.speed_gbps < share]
    assert not slower or any("slower than an adapter's link" in note for note in counts.notes)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.integers(300, 30_000), st.sampled_from([1, 4, 8]), st.sampled_from([32, 64]), st.sampled_from([1, 2]), st.randoms())
def test_counts_depend_neither_on_pods_nor_on_the_order_of_the_input(nodes, rails, radix, planes, random):
    """At 1:1 a plane has ⌈N / (k/2)⌉ · R leaves, in two tiers or in three, and every uplink of a leaf and of a spine is wired: pods are
    how they are joined. Oversubscription stays 1:1, and the order of the keys says nothing.
    """
    table = {"nodes": nodes, "nics_per_node": rails, "switch_ports": radix, "port_speed_gbps": 400, "planes": planes}
    keys = list(table)
    random.shuffle(keys)
    try:
        counts = count_fabric(FabricInput.of(table))
    except FabricImpossible:
        assert nodes * rails > radix**3 // 4 // 2, "half of what three tiers carry can be built"
        return
    assert counts == count_fabric.__wrapped__(FabricInput.of({key: table[key] for key in keys}))
    units = -(-nodes // (radix // 2))
    assert counts.leaf == planes * units * rails
    assert counts.links["leaf_spine"] == counts.leaf * radix // 2
    assert counts.links["spine_core"] == (counts.spine * radix // 2 if counts.tiers == 3 else 0)
    assert counts.spine * radix >= counts.links["leaf_spine"] + counts.links["spine_core"]
    assert counts.core * radix >= counts.links["spine_core"]
    assert counts.oversubscription == 1.0


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 300), st.sampled_from([1, 2, 4, 8]))
def test_two_tiers_reach_half_the_square_of_any_even_radix(half, rails):
    """A tree carries k²/2 endpoints in two tiers; R rails as many as whole units of R leaves allow: ⌊k / R⌋ · k/2 nodes."""
    radix = 2 * half
    table = {"switch_ports": radix, "port_speed_gbps": 400}
    tree = {**table, "nics_per_node": 1, "layout": "tree"}
    assert count_fabric(FabricInput.of({**tree, "nodes": radix * half})).tiers == 2
    assert count_fabric(FabricInput.of({**tree, "nodes": radix * half + 1})).tiers == 3
    most = radix // rails * half
    if most and rails > 1:
        assert count_fabric(FabricInput.of({**table, "nics_per_node": rails, "nodes": most})).tiers == 2
        larger = wired_tiers({**table, "nics_per_node": rails, "nodes": most + 1})
        assert larger in (3, None), "None where even three tiers cannot join so many rails of so small switches"


def wired_tiers(table):
    try:
        return count_fabric(FabricInput.of(table)).tiers
    except FabricImpossible:
        return None


def test_names_of_nodes_are_made_when_they_are_asked_for():
    """Ten million nodes have names of eight digits; a list of them would take 600 MB before the first link is told."""
    found = node_names(10_000_000)
    assert (len(found), found[0], found[-1]) == (10_000_000, "node-00000001", "node-10000000")
    assert found[7:9] == ["node-00000008", "node-00000009"]
    assert list(node_names(2)) == ["node-0001", "node-0002"]
    assert sys.getsizeof(found) < 100
