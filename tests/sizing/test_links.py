"""Fabrics link by link: what a technician would find wrong at the first glance must not be there."""

from __future__ import annotations

import tomllib
from collections import Counter, defaultdict
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rules.sizing.fabric import Cages, FabricImpossible, FabricInput, count_fabric
from rules.sizing.fabric.links import Wiring

ROWS = tomllib.loads((Path(__file__).parents[1] / "published" / "fabrics.toml").read_text())["fabric"]
NDR = {"nics_per_node": 8, "switch_ports": 64, "port_speed_gbps": 400}

SPECS = st.builds(
    lambda **given: FabricInput.of(given),
    nodes=st.one_of(st.integers(1, 40), st.integers(1, 400)),
    nics_per_node=st.sampled_from([1, 2, 3, 4, 8]),
    switch_ports=st.sampled_from([16, 32, 36, 40, 64, 128, 144]),
    port_speed_gbps=st.just(400),
    uplink_speed_gbps=st.sampled_from([400, 400, 800]),
    layout=st.sampled_from(["rail", "rail", "tree", "rail_only", "pair", "single"]),
    planes=st.sampled_from([1, 1, 2, 4]),
    down_to_up=st.sampled_from([1, 1, 1, 1.16, 1.5, 2, 3, 5, 0.8]),
    manager_ports=st.sampled_from([0, 0, 4, 9]),
    wired_for=st.sampled_from(["units", "nodes"]),
)


def wired(spec: FabricInput, cages: Cages | None = None) -> tuple[Wiring, list]:
    wiring = Wiring.of("fabric", spec, count_fabric(spec, cages).plane, cages)
    return wiring, list(wiring.links())


@settings(max_examples=300, deadline=None)
@given(SPECS)
def test_every_link_of_the_counts_is_told_once_and_no_port_twice(spec):
    try:
        counts = count_fabric(spec)
    except FabricImpossible:
        return
    wiring, links = wired(spec)
    tiers = Counter(link.tier for link in links)
    assert {name: tiers[name] for name in counts.links} == dict(counts.links)
    assert tiers["leaf_leaf"] == counts.inter_switch_links
    assert tiers["manager_leaf"] == counts.manager_links
    ports = Counter((end.device, end.port) for link in links for end in (link.lower, link.upper))
    numbers = Counter((end.device, end.number) for link in links for end in (link.lower, link.upper))
    holes = Counter((end.device, end.cage, end.lane) for link in links for end in (link.lower, link.upper))
    assert max(ports.values()) == max(numbers.values()) == max(holes.values()) == 1
    devices = {device.name: device for device in wiring.devices()}
    assert {device for device, _ in ports} <= set(devices)
    kinds = Counter(device.tier for device in devices.values())
    assert (kinds["leaf"], kinds["spine"], kinds["core"]) == (counts.leaf, counts.spine, counts.core)
    for device, number in numbers:
        if devices[device].tier in ("spine", "core"):
            assert 1 <= number <= spec.spine_ports
    for link in links:
        for end in (link.lower, link.upper):
            if devices[end.device].kind == "switch":
                assert end.cage <= 72 if spec.switch_ports == 144 else end.cage <= max(spec.switch_ports, 64)
                assert 1 <= end.lane <= end.lanes


@settings(max_examples=200, deadline=None)
@given(SPECS)
def test_striping_is_even_adapters_keep_to_their_rail_and_the_fabric_is_one(spec):
    try:
        counts = count_fabric(spec)
    except FabricImpossible:
        return
    wiring, links = wired(spec)
    devices = {device.name: device for device in wiring.devices()}
    pairs, above, leaves = Counter(), defaultdict(Counter), defaultdict(list)
    for link in links:
        pairs[link.tier, link.lower.device, link.upper.device] += 1
        if link.tier in ("leaf_spine", "spine_core"):
            above[link.tier, link.lower.device][link.upper.device] += 1
            assert link.speed_gbps == spec.uplink_speed_gbps
        if link.tier == "node_leaf":
            leaves[link.plane, link.lower.device].append(link.upper.device)
            assert link.speed_gbps == spec.nic_speed_gbps / spec.planes, "no link is slower than its adapter's share"
    for reached in above.values():
        assert len(set(reached.values())) == 1, "equally many links to each switch above"
    assert len(leaves) == spec.nodes * spec.planes
    for used in leaves.values():
        assert len(used) == spec.nics_per_node
        if wiring.is_rail:
            assert len(set(used)) == spec.nics_per_node, "adapters of a node on distinct leaves"
    parent: dict[str, str] = {}

    def root(item):
        while parent.setdefault(item, item) != item:
            parent[item] = parent[parent[item]]
            item = parent[item]
        return item

    for link in links:
        parent[root(link.lower.device)] = root(link.upper.device)
    if wiring.plane.units > 1 or counts.leaf == 1 or spec.layout == "pair":
        assert len({root(name) for name, device in devices.items() if device.tier != "core"}) == 1
    planes = defaultdict(set)
    for link in links:
        planes[link.upper.device].add(link.plane)
        if link.tier in ("leaf_spine", "spine_core"):
            planes[link.lower.device].add(link.plane)
    assert all(len(used) == 1 for used in planes.values()), "planes share no switch"


@pytest.mark.parametrize("row", [row for row in ROWS if row["input"]["nodes"] <= 512], ids=lambda row: row["id"])
def test_published_fabrics_can_be_wired_as_printed(row):
    spec = FabricInput.of(row["input"])
    counts = count_fabric(spec)
    _, links = wired(spec)
    assert len(links) == sum(counts.links.values()) + counts.inter_switch_links + counts.manager_links
    used = {(end.device, end.cage) for link in links for end in (link.lower, link.upper) if not end.device.startswith(("node", "manager"))}
    assert len(used) == sum(number for side, number in counts.cages.items() if side != "node")


def test_four_units_of_h100_as_their_reference_architecture_wires_them():
    """127 nodes, 4 manager links: adapter i on leaf i of the unit of 32, two links from each leaf to each of 16 spines."""
    spec = FabricInput.of({**NDR, "nodes": 127, "manager_ports": 4})
    _, links = wired(spec, Cages(2, 2, 2))
    by_node = {(link.lower.device, link.lower.port): link for link in links if link.tier == "node_leaf"}
    assert by_node["node-0001", "nic1"].upper[:3] == ("leaf-01", "1/1", 1)
    assert by_node["node-0001", "nic8"].upper[:3] == ("leaf-08", "1/1", 1)
    assert by_node["node-0002", "nic1"].upper[:3] == ("leaf-01", "1/2", 2)
    assert by_node["node-0033", "nic3"].upper[:3] == ("leaf-11", "1/1", 1)
    assert by_node["node-0127", "nic8"].upper[:3] == ("leaf-32", "16/1", 31)
    assert by_node["node-0001", "nic2"].lower[3:] == (1, 2, 2), "two adapters to a twin-port cage of a DGX"
    pairs = Counter((link.lower.device, link.upper.device) for link in links if link.tier == "leaf_spine")
    assert len(pairs) == 32 * 16
    assert set(pairs.values()) == {2}
    managers = [link for link in links if link.tier == "manager_leaf"]
    assert [link.upper.device for link in managers] == ["leaf-25", "leaf-26", "leaf-27", "leaf-28"]
    assert {link.upper.number for link in managers} == {32}, "the port of the node that is not there"
    assert Counter(link.lower.device for link in managers) == {"manager-01": 2, "manager-02": 2}
    cages = {(end.device, end.cage) for link in links for end in (link.lower, link.upper) if end.device.startswith(("leaf", "spine"))}
    assert len(cages) == 1536, "RA-11333-001 V11, appendix A: 1,536 twin-port transceivers in 48 switches"
    assert len({(link.lower.device, link.lower.cage) for link in by_node.values()}) == 508


def test_rails_of_pods_meet_in_the_cores_only():
    """ApeTops, 512 H100 nodes: 4 pods of 32 leaves, 32 spines; a rail group has 4 leaves and 4 spines; 64 cores."""
    wiring, links = wired(FabricInput.of({**NDR, "nodes": 512}))
    devices = {device.name: device for device in wiring.devices()}
    for link in links:
        lower, upper = devices[link.lower.device], devices[link.upper.device]
        if link.tier == "leaf_spine":
            assert (lower.pod, lower.rail) == (upper.pod, upper.rail)
    groups = Counter((device.pod, device.rail) for device in devices.values() if device.tier == "spine")
    assert set(groups.values()) == {4}
    assert len(groups) == 4 * 8
    reached = defaultdict(set)
    for link in links:
        if link.tier == "spine_core":
            reached[link.lower.device].add(link.upper.device)
    assert {len(cores) for cores in reached.values()} == {16}
    assert len(set().union(*reached.values())) == 64


def test_links_are_told_in_the_same_order_every_time_and_without_a_list_of_them():
    spec = FabricInput.of({**NDR, "nodes": 2048})
    first, second = (Wiring.of("fabric", spec, count_fabric(spec).plane).links() for _ in range(2))
    assert not hasattr(first, "__len__")
    assert all(one == other for one, other in zip(first, second, strict=True))


def test_ends_in_two_halves_never_meet_on_one_leaf():
    """Two links per node, to two leaves: an even share of leaves, and no pair of neighbouring ends on the same one."""
    for ends in (6, 40, 130, 258, 1001):
        spec = FabricInput.of({
            "nodes": ends, "nics_per_node": 1, "switch_ports": 64, "port_speed_gbps": 200, "layout": "tree", "wired_for": "nodes",
        })  # fmt: skip
        counts = count_fabric(spec)
        if counts.leaf < 2:
            continue
        wiring = Wiring.of("front end", spec, counts.plane, halves=True)
        leaves = [link.upper.device for link in wiring.links() if link.tier == "node_leaf"]
        assert all(leaves[first] != leaves[first + 1] for first in range(0, ends - 1, 2))


@settings(max_examples=200, deadline=None)
@given(SPECS.filter(lambda spec: spec.manager_ports == 0))
def test_cages_are_those_that_the_counts_say(spec):
    """A module sits in every cage that a link leaves through, and in no other; equal halves of odd ports share one cage."""
    try:
        counts = count_fabric(spec)
    except FabricImpossible:
        return
    _, links = wired(spec)
    used = {(end.device, end.cage) for link in links for end in (link.lower, link.upper) if not end.device.startswith("node")}
    assert len(used) == sum(number for side, number in counts.cages.items() if side != "node")


@pytest.mark.parametrize(
    ("what", "table", "counts"),
    [
        # ByteDance MegaScale: half of a 64 × 400G switch split into 64 × 200G downlinks, 32 uplinks of 400G, twice a downlink
        (
            "split downlinks",
            {"nodes": 64, "nics_per_node": 8, "switch_ports": 128, "port_speed_gbps": 200, "uplink_speed_gbps": 400},
            (8, 4, 0),
        ),
        # DGX SuperPOD GB200: 144 trays of four adapters; five units of 32 trays, 4 leaves each; 10 spines do not divide 32 uplinks
        ("trays", {"nodes": 144, "nics_per_node": 4, "switch_ports": 64, "port_speed_gbps": 400}, (20, 16, 0)),
        # OpenAI's multi-plane paper at a thirty-second of its size: 128 leaves and 64 spines in each of 8 planes
        (
            "eight planes",
            {"nodes": 32_768, "nics_per_node": 1, "switch_ports": 512, "port_speed_gbps": 100, "planes": 8, "nic_speed_gbps": 800},
            (8 * 128, 8 * 64, 0),
        ),
    ],
)
def test_designs_that_are_in_no_table_of_counts(what, table, counts):
    spec = FabricInput.of(table)
    found = count_fabric(spec)
    assert (found.leaf, found.spine, found.core) == counts, what
    if spec.nodes < 1000:
        _, links = wired(spec)
        assert len(links) == sum(found.links.values())
