"""Racks that stay whole: the trays of a rack with one scale-up domain hang on the leaves of one unit."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rules.sizing.fabric import FabricImpossible, FabricInput, count_fabric
from rules.sizing.fabric.counts import two_tier_nodes
from rules.sizing.fabric.links import NODE_LEAF, Wiring

TRAYS = 18
NVL72 = {"nics_per_node": 4, "port_speed_gbps": 400, "rack_nodes": TRAYS}


@pytest.mark.parametrize(
    ("racks", "ports", "wired_for", "managers", "leaf", "spine", "core", "unit"),
    [
        (4, 64, "nodes", 0, 16, 5, 0, 18),  # one rack to a unit; 16 leaves × 20 uplinks fill 5 spines of 64
        (8, 64, "nodes", 4, 32, 9, 0, 18),  # managers take a nineteenth port, and no uplink; 32 × 18 / 64 = 9
        (14, 64, "nodes", 4, 56, 18, 0, 18),  # 56 × 18 / 64 = 15.75, and 18 divides 18; with managers as without
        (9, 64, "units", 0, 36, 32, 0, 18),  # 36 × 32 / 64 = 18, and 32 divides a leaf's 32 uplinks
        (8, 128, "nodes", 0, 12, 6, 0, 54),  # three racks to a unit of 64 downlinks; 12 × 54 / 128 = 5.06, and 6 divides 54
        (64, 64, "nodes", 0, 256, 144, 72, 18),  # 4 pods of 16 units: 9 spines per rail and pod, 9 groups of 8 cores
    ],
)
def test_units_are_whole_racks(racks, ports, wired_for, managers, leaf, spine, core, unit):
    table = {"nodes": racks * TRAYS, "switch_ports": ports, "wired_for": wired_for, "manager_ports": managers}
    counts = count_fabric(FabricInput.of({**NVL72, **table}))
    assert (counts.leaf, counts.spine, counts.core, counts.unit_nodes) == (leaf, spine, core, unit)
    assert counts.oversubscription == pytest.approx(1.0)


def test_one_unit_of_the_published_design_has_a_leaf_per_rack_and_rail():
    """DGX SuperPOD GB200 RA, network fabrics: four groups per unit of eight racks, each with eight leaves, "one for each compute rack". Its
    24 spines are wired for the growth to 16 units, with six core groups; two tiers alone need 576 uplinks / 64 ports = 9.
    """
    counts = count_fabric(FabricInput.of({**NVL72, "nodes": 8 * TRAYS, "switch_ports": 64, "wired_for": "nodes"}))
    assert (counts.leaf, counts.spine) == (4 * 8, 9)
    assert counts.plane.leaves[0].down == TRAYS, "18 trays of one rack"


def test_what_whole_racks_cost_is_said():
    """Ten racks: 4 × 10 leaves and 18 spines; with cut racks 4 × ceil(180 / 32) = 24 leaves of 30 uplinks, and 15 spines divide those."""
    spec = FabricInput.of({**NVL72, "nodes": 10 * TRAYS, "switch_ports": 64, "wired_for": "nodes"})
    (note,) = [each for each in count_fabric(spec).notes if each.startswith("units are whole racks")]
    assert "39 switches instead of 58 would do where units cut racks" in note
    (note,) = [each for each in count_fabric(FabricInput.of({**NVL72, "nodes": 36, "switch_ports": 64})).notes if "whole racks" in each]
    assert "would do" not in note, "two racks need two units either way"


def test_two_tiers_carry_so_many_whole_racks():
    """64 ports of a spine reach the four leaves of 16 racks; 128 ports those of 32 units of three racks."""
    for ports, racks in ((64, 16), (128, 96)):
        spec = FabricInput.of({**NVL72, "nodes": racks * TRAYS, "switch_ports": ports})
        assert two_tier_nodes(spec) == racks * TRAYS
        assert count_fabric(spec).tiers == 2
        assert count_fabric(FabricInput.of({**NVL72, "nodes": (racks + 1) * TRAYS, "switch_ports": ports})).tiers == 3


def test_a_rack_with_more_links_than_a_leaf_takes_is_said_to_lie_over_several():
    spec = FabricInput.of({**NVL72, "nodes": 8 * TRAYS, "switch_ports": 64, "layout": "tree"})
    counts = count_fabric(spec)
    assert counts.leaf == 18  # 576 links on leaves of 32
    assert any("racks lie over several units" in note for note in counts.notes)


@settings(max_examples=60, deadline=None)
@given(
    st.integers(2, 40), st.sampled_from((9, 16, 18)), st.sampled_from((2, 4)), st.sampled_from((64, 128, 144)),
    st.sampled_from(("rail", "rail_only", "tree")), st.sampled_from(("units", "nodes")), st.integers(0, 4), st.sampled_from((1.0, 2.0)),
)  # fmt: skip
def test_no_unit_cuts_a_rack_and_no_port_is_used_twice(racks, trays, nics, ports, layout, wired_for, managers, ratio):
    table = {
        "nodes": racks * trays, "nics_per_node": nics, "switch_ports": ports, "port_speed_gbps": 400, "layout": layout,
        "wired_for": wired_for, "manager_ports": managers, "down_to_up": ratio, "rack_nodes": trays,
    }  # fmt: skip
    spec = FabricInput.of(table)
    try:
        counts = count_fabric(spec)
    except FabricImpossible:
        return
    wiring = Wiring.of("fabric", spec, counts.plane)
    links = list(wiring.links())
    ends = Counter((end.device, end.number) for link in links for end in (link.lower, link.upper))
    assert max(ends.values()) == 1
    assert len(links) == sum(counts.links.values()) + counts.manager_links + counts.inter_switch_links
    per_leaf = Counter(link.upper.device for link in links if link.tier == NODE_LEAF)
    downs = sorted(group.down for group in counts.plane.leaves for _ in range(group.switches) if group.down)
    assert sorted(per_leaf.values()) == downs
    if counts.tiers > 1 and counts.unit_nodes % trays == 0:
        units = [wiring.unit_of_node(node) for node in range(spec.nodes)]
        assert all(len(set(units[first : first + trays])) == 1 for first in range(0, spec.nodes, trays))
