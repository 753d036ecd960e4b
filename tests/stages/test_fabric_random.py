"""Designs at random: whatever the server, its adapters and the ratio, the schedule has the cables of the bill and no port twice, and both
ends of every cable fit.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalogs import load_catalog
from rules.advisor import consider
from rules.answers import Answers
from rules.sizing.fabric.addresses import address_plan
from rules.sizing.fabric.design import design_fabric
from rules.sizing.fabric.networks import networks_of
from rules.sizing.fabric.schedule import schedule_of
from tests.stages.fabric_designs import made

NODES = ("nvidia-dgx-h100", "nvidia-dgx-b200", "nvidia-dgx-b300", "nvidia-gb200-nvl72", "nvidia-dgx-a100-640gb", "", "")
SPEEDS = ("10 Gb/s", "25 Gb/s", "100 Gb/s", "200 Gb/s", "400 Gb/s")
ROOMS = st.fixed_dictionaries(
    {},
    optional={
        "facility__rack_units": st.integers(24, 58),
        "facility__rack_power": st.sampled_from(["9 kW", "17 kW", "45 kW", "150 kW"]),
        "facility__racks": st.integers(1, 500),
    },
)
FEW, MANY = 14, 150


def at_random(seed):
    """Return a candidate of any kind with its context: an own server where no product is drawn, in racks of any density."""
    draw = random.Random(seed)
    node = draw.choice(NODES)
    answers = {
        "preferences__fabric": draw.choice(["any", "infiniband", "ethernet"]),
        "preferences__oversubscription": draw.choice([1, 1, 2, 3, 1.16]),
    }
    if not node:
        answers |= {
            "own_server__gpu": "nvidia-h100-sxm-80gb", "own_server__gpus": 8,
            "own_server__nics": draw.randint(1, 9), "own_server__nic_speed": draw.choice(SPEEDS),
        }  # fmt: skip
    units = draw.randint(1, 10) if node.endswith("nvl72") else draw.choice([draw.randint(2, 12), draw.randint(2, 150)])
    candidate, context = made(load_catalog(), node, units, **answers)
    if draw.random() < 0.6:  # as if racks were planned
        floor = design_fabric(candidate, context).floor
        density = floor.per_rack if candidate.node.is_rack else draw.choice([1, 2, 3, 4, 8])
        racks = -(-(candidate.nodes + 20) // density)
        candidate.floor = replace(floor, estimated=False, per_rack=density, racks=racks, power_units=(2,) * (racks + floor.others))
    return candidate, context


@settings(max_examples=6, derandomize=True, deadline=None)
@given(
    st.sampled_from(NODES[:5]), st.integers(2, 90), st.sampled_from(["any", "infiniband", "ethernet"]), st.sampled_from([1, 2, 1.16]),
    ROOMS, st.integers(1, 40), st.randoms(use_true_random=False),
)  # fmt: skip
def test_the_network_among_gpus_is_the_same_in_any_room_and_for_any_order_of_answers(node, units, fabric, ratio, room, density, random):
    """Nothing about racks, rows and the building, nor the order in which answers are given, changes a switch or a link of it."""
    units = min(units, 12) if node.endswith("nvl72") else units
    asked = {"preferences__fabric": fabric, "preferences__oversubscription": ratio, "training__global_batch": 1024}
    both = list({**asked, **room}.items())
    random.shuffle(both)
    found = []
    for answers, dense in ((asked, 0), (dict(both), density)):
        candidate, context = made(load_catalog(), node, units, **answers)
        candidate.placed_density = dense
        network = networks_of(candidate, context)[0]
        found.append((design_fabric(candidate, context).design.compute, [(each.lower, each.upper) for each in network.links()]))
    (one, links), (other, same) = found
    shape = [each and (each.switches, each.links, each.leaf, each.spine, each.core, each.cages) for each in (one, other)]
    assert shape[0] == shape[1]
    assert links == same


def fits(row, cables, cages):
    """Both ends are optics of one medium that reaches, or plugs of one cable; a cage has one of them; no module is faster or slower than
    the links that share it can be.
    """
    optics = [cables.get(item) for item in (row.lower_optic, row.upper_optic)]
    assert bool(row.lower_optic) is bool(row.upper_optic), "optics at both ends, or at none"
    assert len({each.medium for each in optics if each is not None}) <= 1, row
    for each in (*optics, cables.get(row.cable)):
        assert each is None or each.reach is None or each.reach.to("m") >= row.run_m, row
    for end, optic in ((row.link.lower, row.lower_optic or row.cable), (row.link.upper, row.upper_optic or row.cable)):
        assert cages.setdefault((end.device, end.cage), optic) == optic or end.lanes == 1, "one module or plug in a cage"
        module = cables.get(optic)
        if module is not None and module.is_transceiver:
            assert module.speed.to("Gb/s") >= row.link.speed_gbps, row


def wired_out_of_band(candidate, context):
    return networks_of(candidate, context)[-1].links()


def checked(seed):
    candidate, context = at_random(seed)
    pieces, ports, cages = defaultdict(set), Counter(), {}
    for row in schedule_of(candidate, context):
        pieces[row.link.network, row.cable].add(row.label)
        if candidate.floor is None:  # else the racks are only made up, and devices stand elsewhere
            fits(row, context.catalog.cables, cages)
        for end, optic in ((row.link.lower, row.lower_optic), (row.link.upper, row.upper_optic)):
            ports[end.device, end.port] += 1
            if optic:
                pieces[row.link.network, optic].add((end.device, end.cage))
    design = design_fabric(candidate, context).design
    for network in filter(None, (design.compute, design.storage, design.out_of_band)):
        scheduled = {item: len(found) for (role, item), found in pieces.items() if role == network.role}
        assert scheduled == {item: count for item, count in network.cables.items() if count}, network.role
    assert not ports or max(ports.values()) == 1
    if design.out_of_band is not None:
        managed = {row.lower.device for row in wired_out_of_band(candidate, context)}
        switches = {each.name for network in networks_of(candidate, context) for each in network.devices() if each.kind == "switch"}
        assert switches <= managed, "switches that manage are managed too"
    addresses = [entry.address for entry in address_plan(candidate, context) if entry.address]
    assert len(addresses) == len(set(addresses))


@pytest.mark.parametrize("seed", range(FEW))
def test_any_design_has_one_truth_on_its_cables(seed):
    checked(seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(FEW, MANY))
def test_many_designs_have_one_truth_on_their_cables(seed):
    checked(seed)


def planned_at_random(seed):
    """Return a candidate whose racks are planned, with its context: through the whole pipeline, at any rack power that takes a server."""
    draw = random.Random(seed)
    node = draw.choice([each for each in NODES if each])
    answers = {
        "model.preset": "llama-3.1-70b", "scale.mode": "fixed", "preferences.nodes": [node], "facility.cooling": ["air", "liquid"],
        "preferences.fabric": draw.choice(["any", "infiniband", "ethernet"]), "preferences.oversubscription": draw.choice([1, 1, 2]),
        "facility.rack_power": draw.choice(["17 kW", "25 kW", "45 kW", "80 kW", "150 kW"]),
    }  # fmt: skip
    answers["scale.gpus" if node.endswith("nvl72") else "scale.nodes"] = (
        72 * draw.randint(2, 12) if node.endswith("nvl72") else draw.choice([draw.randint(2, 12), draw.randint(2, 120)])
    )
    considered = consider(Answers.of(answers), load_catalog())
    return considered.ranking.chosen.candidate, considered.context


@pytest.mark.parametrize("seed", range(6))
def test_cables_of_planned_racks_fit_at_both_ends(seed):
    candidate, context = planned_at_random(seed)
    cages, rows = {}, 0
    for row in schedule_of(candidate, context):
        fits(row, context.catalog.cables, cages)
        for end, stand in ((row.link.lower, row.lower), (row.link.upper, row.upper)):
            assert stand.unit or end.device.startswith(("site", "rack-", "storage-")), "what stands in a rack has a unit"
        rows += 1
    assert rows > candidate.nodes
