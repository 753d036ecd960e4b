"""Large halls: leaves and management switches stand near their nodes, spines and cores in the middle."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import pairwise

import pytest

from catalogs import load_catalog
from rules.advisor import consider
from rules.answers import Answers
from rules.sizing.fabric.floor import Floor, far_hall
from rules.sizing.fabric.networks import networks_of
from rules.sizing.fabric.schedule import schedule_of
from rules.sizing.placed import placed_racks

SHORT_REACH_M, COPPER_M = 50.0, 100.0
"""Reach of SR4 modules of 100G lanes on OM4 [NVIDIA MMA4Z00-NS]; longest channel of twisted-pair Ethernet [IEEE 802.3]."""
HALLS = {
    "three tiers": {"scale.nodes": 2048, "preferences.nodes": ["nvidia-dgx-h100"], "preferences.fabric": "infiniband"},
    "two planes": {"scale.nodes": 1024, "preferences.nodes": ["nvidia-dgx-b300"], "preferences.fabric": "ethernet"},
}


@pytest.fixture(scope="module", params=HALLS)
def hall(request):
    answers = {"model.preset": "llama-3.1-405b", "scale.mode": "fixed", **HALLS[request.param]}
    considered = consider(Answers.of(answers), load_catalog())
    return considered, considered.ranking.chosen.candidate


def test_a_hall_is_far_where_the_middle_is_beyond_short_reach():
    """Rows of 20 racks 0.6 m wide, 3.6 m apart, 7 m up and down: twelve rows from the first rack in a row are 7 + 12 × 3.6 = 50.2 m."""
    assert not far_hall(2 * 11 * 20)
    assert far_hall(2 * 12 * 20)


def test_the_places_of_a_hall_are_each_taken_once():
    """Ten racks of nodes, three in the middle, one near the first and one near the last half of the nodes."""
    floor = Floor(10, 4, 3, near=(2, 8))
    assert [floor.rack_place(rack) for rack in range(10)] == [1, 2, 4, 5, 6, 10, 11, 12, 14, 15]
    assert floor.other_places == (3, 13, 7, 8, 9)
    assert (floor.middle, floor.places) == (7, 15)


def test_short_links_to_nodes_and_copper_that_reaches(hall):
    considered, candidate = hall
    runs, ports = defaultdict(list), Counter()
    for row in schedule_of(candidate, considered.context):
        runs[row.link.network, row.link.tier].append(row.run_m)
        ports.update(((row.link.lower.device, row.link.lower.port), (row.link.upper.device, row.link.upper.port)))
        assert row.link.lower.device != row.link.upper.device
        if row.medium == "sr":
            assert row.run_m <= SHORT_REACH_M
    assert max(ports.values()) == 1
    assert max(runs["compute", "node_leaf"]) <= SHORT_REACH_M
    assert max(runs["out-of-band", "managed"]) <= COPPER_M
    assert len(runs["out-of-band", "managed"]) == candidate.fabric.out_of_band.endpoints


def test_every_rack_has_a_place_of_its_own_and_every_switch_a_rack_unit(hall):
    considered, candidate = hall
    racks = placed_racks(candidate, considered.context)
    places = [rack.place for rack in racks]
    assert places == list(range(1, len(racks) + 1))
    near = [rack for rack in racks if {slot.role for slot in rack.slots} <= {"compute leaf", "out-of-band leaf"}]
    assert len(near) == len(candidate.floor.near) > 10
    assert all(second.place - first.place > 10 for first, second in pairwise(near))
    slots = Counter(slot.role for rack in racks for slot in rack.slots for _ in range(slot.holds))
    devices = Counter(
        f"{network.name} {device.tier}"
        for network in networks_of(candidate, considered.context)
        for device in network.devices()
        if device.kind == "switch"
    )
    assert {role: slots[role] for role in devices} == dict(devices)


def test_cages_of_front_end_leaves_have_the_optics_of_their_own_links(hall):
    """Front-end leaves stand in the middle of the hall: SR4 where the links of a cage reach in 50 m, single mode for the others alone."""
    considered, candidate = hall
    runs, media = defaultdict(float), defaultdict(set)
    for row in schedule_of(candidate, considered.context):
        if (row.link.network, row.link.tier) == ("storage and in-band", "node_leaf"):
            cage = row.link.upper.device, row.link.upper.cage
            runs[cage] = max(runs[cage], row.run_m)
            media[cage].add(row.medium)
    assert all(len(each) == 1 for each in media.values())
    optics = {cage: next(iter(each)) for cage, each in media.items() if not each & {"dac", "aec"}}
    assert set(optics.values()) == {"sr", "dr"}
    assert all((medium == "dr") == (runs[cage] > SHORT_REACH_M) for cage, medium in optics.items())
