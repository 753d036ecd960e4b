"""Growth and failures of fabrics, counted from wired links and against what designs print."""

from __future__ import annotations

from collections import Counter, defaultdict

import pytest
from hypothesis import given, settings

from rules.sizing.fabric import FabricImpossible, FabricInput, count_fabric
from rules.sizing.fabric.failures import losses
from rules.sizing.fabric.growth import grow, without_recabling
from rules.sizing.fabric.links import Wiring
from rules.stages.fabric_outlook import growth_words
from tests.sizing.test_links import SPECS

NDR = {"nics_per_node": 8, "switch_ports": 64, "port_speed_gbps": 400}


def counted(nodes, **more):
    spec = FabricInput.of({**NDR, "nodes": nodes, **more})
    return spec, count_fabric(spec)


def test_from_one_unit_to_two_half_of_the_uplinks_move():
    """Eight leaves have eight links to each of four spines; with eight spines four to each: 8 × 16 links move."""
    growth = grow(*counted(32), 64)
    assert growth.moved == 128
    assert (growth.leaf, growth.spine, growth.tiers) == (16, 8, 2)
    assert growth.first_day == "all 8 spines, 4 spines more than now, with 4 links from each leaf to each"
    assert growth.moved_prepared == 0
    assert growth.added_switches == 8 + 4
    assert growth.added_links == 512


def test_from_two_tiers_to_three_every_spine_is_cabled_again():
    """H100: above 8 units, 2,048 GPUs, the fabric gets a third tier."""
    growth = grow(*counted(256), 512)
    assert (growth.tiers, growth.leaf, growth.spine, growth.core) == (3, 128, 128, 64)
    assert growth.moved == 2048
    assert growth.moved_prepared == 0
    assert "pods of 4 spines per rail" in growth.first_day


def test_with_two_planes_a_leaf_meets_the_spines_of_its_own():
    """64 nodes of eight 2 × 400G adapters have 8 leaves and 4 spines of 128 ports in each plane, 128 nodes 16 and 8: a leaf's 64 uplinks go
    from 16 to 8 for each spine, so 2 × 8 leaves move 32."""
    growth = grow(*counted(64, switch_ports=128, nic_speed_gbps=800, planes=2), 128)
    assert growth.first_day == "all 16 spines, 8 spines more than now, with 8 links from each leaf to each of its plane"
    assert growth.moved == 2 * 8 * 32


def test_three_tiers_from_the_start_need_all_pods_of_the_first_day():
    """Four spines per rail take the 32 uplinks of four leaves each, so a pod is 128 nodes: 256 nodes are two pods of 8 × 4 spines."""
    assert grow(*counted(256), 512).first_day.endswith("2 pods of 32 spines, joined by cores")
    assert grow(*counted(128), 512).first_day.endswith("32 spines in the first pod")


def test_whole_units_may_take_more_spines_than_these_nodes_need():
    """112 nodes are 28 on each leaf of four units: 32 × 28 uplinks fill 14 spines of 64; whole units have 32 × 32 and 16 spines."""
    growth = grow(*counted(56), 112)
    assert (growth.spine, growth.least_spines) == (16, 14)
    assert "32 leaf + 16 spine (14 spines would do for these nodes alone)" in growth_words(growth)
    assert "would do" not in growth_words(grow(*counted(32), 64))


def test_racks_that_fill_part_of_a_unit_grow_with_the_spines_that_they_need():
    """14 racks of 18 trays are five units of 54: in each plane 20 leaves with 54 uplinks, 6 to each of 9 spines (120 of 128 ports), where
    whole units of 64 take 16 spines. Seven racks have 24 leaves with 9 links to each of 6 spines: each moves 54 - 6 × 6, or none where
    all 18 spines are there on the first day."""
    trays = {"nics_per_node": 4, "nic_speed_gbps": 800, "switch_ports": 128, "planes": 2, "rack_nodes": 18, "wired_for": "nodes"}
    growth = grow(*counted(126, **trays), 252)
    assert (growth.leaf, growth.spine, growth.moved_prepared) == (40, 18, 0)
    assert growth.moved == 24 * (54 - 6 * 6)


@pytest.mark.parametrize(("nodes", "free"), [(32, 32), (64, 64), (96, 128), (128, 128), (200, 256), (256, 256), (288, 320)])
def test_sizes_that_need_no_new_cables_between_what_is_there(nodes, free):
    """95 nodes have 16 spines because 12 do not divide 32 uplinks: the fourth unit then needs leaves only.

    In three tiers pods are filled up: 288 nodes are nine units, in five pods of two.
    """
    spec, counts = counted(nodes)
    assert without_recabling(spec, counts) == free
    assert grow(spec, counts, free).moved == 0


def test_three_tiers_that_grow_are_wired_for_their_cores_and_pods():
    """SuperPOD B200, 16 units: 64 cores in 4 groups of 16, two links from a spine to each. 32 units have 128 cores with one link, so 16 of
    the 32 uplinks of each of 128 spines move. 64 units need pods of eight units: then all links between switches move, unless 2 pods of 8
    spines per rail, and all 256 cores of the larger size, are there on the first day.
    """
    spec, counts = counted(512)
    growth = grow(spec, counts, 1024)
    assert (growth.moved, growth.moved_prepared) == (16 * 128, 0)
    assert growth.first_day == "all 128 cores, 64 more than now, with 1 link from a spine to each core of its group"
    growth = grow(spec, counts, 2048)
    assert (growth.moved, growth.moved_prepared) == (2 * 4096, 0)
    assert growth.first_day.startswith("2 pods of 8 spines per rail, 128 spines in all, and all 256 cores, 192 more than now")


def test_what_cannot_be_built_is_said():
    assert "fourth tier" in grow(*counted(256), 100_000).refused


@pytest.mark.parametrize(
    ("nodes", "more", "what", "hit", "left"),
    [
        (127, {"manager_ports": 4}, "a leaf", 32, 7 / 8),
        (127, {"manager_ports": 4}, "a spine", 127, 15 / 16),
        (127, {"manager_ports": 4}, "a link of a node", 1, 7 / 8),
        (512, {}, "a core", 512, 63 / 64),
        (512, {}, "a spine", 128, 1 - 1 / 8 / 4),
        (64, {"planes": 2, "switch_ports": 128}, "a plane", 64, 1 / 2),
        (64, {"planes": 2, "switch_ports": 128}, "a leaf", 64, 15 / 16),
        (20, {"layout": "tree", "switch_ports": 128}, "a leaf", 8, 0.0),
        (8, {"layout": "pair"}, "a leaf", 8, 1 / 2),
    ],
)
def test_losses_by_hand(nodes, more, what, hit, left):
    spec, counts = counted(nodes, **more)
    found = {loss.what: loss for loss in losses(spec, counts)}[what]
    assert found.hit == hit
    assert found.left == pytest.approx(left)
    assert found.whole == pytest.approx(1 - hit * (1 - left) / nodes)


@settings(max_examples=120, deadline=None)
@given(SPECS)
def test_a_lost_switch_leaves_what_the_links_that_are_left_carry(spec):
    """Take a switch out of the list of links and count what the nodes that used it have left."""
    try:
        counts = count_fabric(spec)
    except FabricImpossible:
        return
    wiring = Wiring.of("fabric", spec, counts.plane)
    found = {loss.what: loss for loss in losses(spec, counts)}
    links = list(wiring.links())
    first = {tier: next((d.name for d in wiring.devices() if d.kind == "switch" and d.tier == tier), None) for tier in ("leaf", "spine")}
    ends, lost = Counter(), Counter()
    up = defaultdict(Counter)
    for link in links:
        if link.tier == "node_leaf":
            ends[link.lower.device] += 1
            lost[link.lower.device] += link.upper.device == first["leaf"]
        if link.tier == "leaf_spine":
            up[link.lower.device][link.upper.device] += 1
    hit = {node: lost[node] / ends[node] for node in lost if lost[node]}
    assert found["a leaf"].whole == pytest.approx(1 - sum(hit.values()) / spec.nodes)
    assert found["a leaf"].hit == len(hit)
    assert spec.layout == "pair" or found["a leaf"].left == pytest.approx(1 - max(hit.values()))
    if first["spine"]:
        shares = [used[first["spine"]] / used.total() for used in up.values() if first["spine"] in used]
        rails = spec.nics_per_node if wiring.is_rail and (spec.layout == "rail_only" or counts.tiers == 3) else 1
        assert found["a spine"].left == pytest.approx(1 - max(shares) / rails / spec.planes)


def test_one_switch_that_grows_becomes_the_first_leaf():
    """Eight nodes of eight adapters fill a switch of 64 ports; 32 need eight leaves, of which it keeps one rail: 64 - 8 links move."""
    growth = grow(*counted(8, layout="single"), 32)
    assert (growth.leaf, growth.spine, growth.tiers) == (8, 4, 2)
    assert growth.moved == 56
    assert growth.moved_prepared == 0
    assert "leaf and spine from the start" in growth.first_day
    assert grow(*counted(4, layout="single"), 8).moved == 0, "there are ports for four more"


def test_a_pair_that_grows_keeps_a_rail_on_each_switch():
    """Seven nodes on two switches: 56 links to nodes and 28 between the switches; as leaves each keeps one rail of seven."""
    growth = grow(*counted(7, layout="pair"), 32)
    assert (growth.leaf, growth.spine) == (8, 4)
    assert growth.moved == 56 + 28 - 2 * 7
