"""Every device at its place: no two in one rack unit, nothing left out, and the same racks as sizing counts."""

import math

import pytest

from catalogs import load_catalog
from catalogs.quantities import magnitude, quantity
from rules.advisor import consider
from rules.answers import Answers
from rules.sizing.equipment import Boxes, Equipment, Load, Room, _in_turn, fewest_racks, network_equipment, pack
from rules.sizing.placed import placed_racks
from rules.sizing.racks import RackLimits, place_all
from rules.sizing.results import FabricDesign, FabricNetwork

SERVERS = {"model.preset": "llama-3.1-70b", "scale.gpus": 256, "preferences.nodes": ["nvidia-dgx-b200"], "facility.rack_power": "40 kW"}
RACKS = {"model.preset": "llama-3.1-70b", "scale.gpus": 576, "preferences.nodes": ["nvidia-gb200-nvl72"], "facility.cooling": "liquid"}
FEW = {"model.preset": "llama-3.1-8b", "scale.nodes": 2, "preferences.nodes": ["nvidia-dgx-h100"], "facility.cooling": "rear_door"}


def designed(answers):
    considered = consider(Answers.of(answers), load_catalog())
    candidate = considered.ranking.chosen.candidate
    return candidate, placed_racks(candidate, considered.context)


@pytest.mark.parametrize("answers", [SERVERS, RACKS, FEW], ids=["servers", "racks", "few"])
def test_every_device_has_a_place_of_its_own(answers):
    _, racks = designed(answers)
    for rack in racks:
        taken = []
        for slot in rack.slots:
            taken += range(slot.unit, slot.unit + math.ceil(slot.height_u))
        assert len(taken) == len(set(taken)), rack.name
        assert not taken or (min(taken) >= 1 and max(taken) <= rack.units), rack.name
    assert [rack.place for rack in racks] == list(range(1, len(racks) + 1))
    assert len({rack.name for rack in racks}) == len(racks)


@pytest.mark.parametrize("answers", [SERVERS, RACKS, FEW], ids=["servers", "racks", "few"])
def test_nothing_is_left_out_and_the_sums_are_those_of_the_design(answers):
    candidate, racks = designed(answers)
    slots = [slot for rack in racks for slot in rack.slots]
    assert sum(slot.holds for slot in slots if slot.role == "node") == candidate.nodes
    fabric = candidate.fabric
    for network in dict.fromkeys(each.role for each in (fabric.compute, fabric.storage, fabric.out_of_band)):
        record = next(each for each in (fabric.compute, fabric.storage, fabric.out_of_band) if each.role == network)
        for tier in ("leaf", "spine", "core"):
            assert sum(slot.holds for slot in slots if slot.role == f"{network} {tier}") >= getattr(record, tier)
    assert sum(slot.kind == "server" for slot in slots) == fabric.management_servers
    assert sum(rack.power_kw for rack in racks) == pytest.approx(magnitude(candidate.facility.it_power_maximum, "kW"), rel=1e-6)
    assert len(racks) == candidate.facility.rack_count
    assert max(rack.power_kw for rack in racks) == pytest.approx(magnitude(candidate.facility.fullest_rack, "kW"))


def test_eight_nvl72_racks_are_144_trays():
    """DGX SuperPOD GB200: a unit of eight racks, 18 trays of four GPUs in each."""
    _, racks = designed(RACKS)
    compute = [rack for rack in racks if rack.kind == "compute"]
    assert len(compute) == 8
    assert [slot.label for rack in compute for slot in rack.slots][:2] == ["node 1-18", "node 19-36"]
    assert {rack.binding for rack in compute} == {"pre-integrated"}
    names = [rack.kind for rack in racks]
    assert names.index("network") == 4, "the network stands in the middle of the compute racks"


def test_numbers_of_a_role_run_from_one_without_gaps():
    _, racks = designed(SERVERS)
    numbers = {}
    for slot in (slot for rack in racks for slot in rack.slots):
        numbers.setdefault(slot.role, []).append(slot.number)
    for role, found in numbers.items():
        assert sorted(found) == list(range(1, len(found) + 1)), role


def test_few_switches_stand_beside_the_nodes():
    """Two DGX H100 (20.4 kW) leave room for their switches: one rack holds all, switches at the top."""
    _, racks = designed(FEW)
    assert len(racks) == 1
    nodes = [slot for slot in racks[0].slots if slot.kind == "node"]
    others = [slot for slot in racks[0].slots if slot.kind != "node"]
    assert others
    assert min(slot.unit for slot in others) > max(slot.unit for slot in nodes)


# --------------------------------------------------------------------------------------------------------------- packing


def switches(role, count, height=1.0, kw=1.72):
    return Boxes("q", "Q", "switch", role, count, height, kw, 14.8)


def test_boxes_are_spread_evenly_over_the_fewest_racks():
    """32 leaves and 16 spines of 1.72 kW are 82.6 kW: three racks of 41 kW hold at most 23 each; 11 and 5 or 6 are even."""
    loads = pack(Equipment("network", (switches("leaf", 32), switches("spine", 16))), Room(42, 41.0))
    assert [sum(each.count for each in load.boxes) for load in loads] == [16, 16, 16]
    assert max(load.power_kw for load in loads) == pytest.approx(16 * 1.72)
    assert fewest_racks(Load((switches("leaf", 48),)), Room(42, 41.0)) == (3, "power")


@pytest.mark.parametrize(
    ("room", "racks", "binding"),
    [(Room(42, 100.0), 2, "units"), (Room(42, 20.0), 5, "power"), (Room(42, 100.0, 200.0), 4, "weight"), (Room(60, 100.0), 1, "equipment")],
)
def test_the_first_limit_of_equipment_binds(room, racks, binding):
    """48 switches of 1U, 1.72 kW and 14.8 kg: 48U, 82.56 kW, 710.4 kg."""
    assert fewest_racks(Load((switches("leaf", 48),)), room) == (racks, binding)


def test_large_boxes_that_do_not_spread_are_placed_in_turn():
    """Three boxes of 30U in racks of 42U need three racks, although 90U would be three racks by height alone too."""
    loads = pack(Equipment("storage", (switches("storage", 3, height=30.0), switches("storage b", 5, height=9.0))), Room(42))
    assert all(load.units <= 42 for load in loads)
    assert sum(each.count for load in loads for each in load.boxes) == 8


def test_an_infiniband_fabric_has_its_managers_in_the_racks():
    """Two UFM appliances of 689 W [DGX SuperPOD bill of materials] stand beside eight QM9700 of 1,720 W and are not counted twice."""
    highest = quantity(8 * 1.72 + 2 * 0.689, "kW")
    compute = FabricNetwork(
        "compute", "infiniband", "rail", 400.0, 256, 8, 0, 0, 1, 1, 1.0, {}, {}, {}, 2, {"nvidia-qm9700": 8}, {}, None, highest
    )  # fmt: skip
    boxes = network_equipment(FabricDesign(compute, None, None, None), load_catalog()).boxes
    assert {each.role: (each.count, each.power_kw) for each in boxes} == {
        "compute leaf": (8, pytest.approx(1.72)),
        "compute manager": (2, pytest.approx(0.689)),
    }


def stored(count, height=1.0):
    return Boxes("array", "array", "storage", "storage", count, height, 0.8)


@pytest.mark.parametrize(
    ("leaves", "arrays", "units", "counts"),
    [
        (10, 8, 42, [1, 0]),  # 20U of switches and 8U of storage, 17.2 + 6.4 kW: one rack of 42U and 41 kW takes both
        (10, 23, 42, [1, 1]),  # 20U and 23U do not go into 42U
        (36, 6, 42, [2, 0]),  # two racks of 18 switches, 36U each; the second takes six more units
        (36, 7, 42, [2, 1]),
        (20, 2, 42, [1, 0]),  # 20 × 1.72 = 34.4 kW and 1.6 kW are 36 of 41 kW; 40U and 2U are 42
    ],
)
def test_storage_shares_a_rack_of_the_network_where_that_saves_one(leaves, arrays, units, counts):
    wanted = (Equipment("network", (switches("leaf", leaves, 2.0),)), Equipment("storage", (stored(arrays),)))
    plans, loads, beside = place_all(wanted, RackLimits(units, power_kw=41.0), Room(0.0, 0.0, 0.0))
    assert [plan.racks for plan in plans] == counts == [len(each) for each in loads]
    assert beside == ()
    placed = [box for each in loads for load in each for box in load.boxes]
    assert sum(box.count for box in placed if box.role == "storage") == arrays
    assert all(load.units <= units and load.power_kw <= 41.0 for each in loads for load in each)
    assert [magnitude(plan.power, "kW") for plan in plans if plan.racks] == pytest.approx(
        [max(load.power_kw for load in each) for each in loads if each]
    )


@pytest.mark.parametrize("nodes", range(1, 60, 7))
def test_a_higher_rack_never_makes_for_more_racks(nodes):
    """Nodes of 4U and 4.7 kW with 20U of switches and 8U of storage, in racks of 12 to 80 units that give 100 kW."""
    wanted = (Equipment("network", (switches("leaf", 10, 2.0),)), Equipment("storage", (stored(8),)))
    counts = []
    for units in range(12, 81, 2):
        limits = RackLimits(units, power_kw=100.0)
        per_rack = units // 4
        racks = -(-nodes // per_rack)
        last = nodes - (racks - 1) * per_rack
        plans, _, _ = place_all(wanted, limits, Room(units - 4.0 * last, 100.0 - 4.7 * last))
        counts.append(racks + sum(plan.racks for plan in plans))
    assert counts == sorted(counts, reverse=True)


def test_a_hundred_thousand_boxes_are_placed_at_once():
    """Placing goes by racks, not by boxes: of 2U and 1.72 kW eight go into 15 kW, 12,500 racks."""
    loads = _in_turn((switches("leaf", 100_000, 2.0),), Room(42, 15.0))
    assert len(loads) == 12_500
    assert {load.boxes[0].count for load in loads} == {8}
    assert [load.boxes[0].first for load in loads[:3]] == [1, 9, 17]
