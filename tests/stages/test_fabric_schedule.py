"""The cable schedule: the same cables, modules and lengths as the bill, between the racks as planned."""

from __future__ import annotations

import csv
import io
from collections import Counter, defaultdict

import pytest

from catalogs import load_catalog
from rules.advisor import consider
from rules.answers import Answers
from rules.sizing.fabric.floor import run_m, sold_m, tray_path
from rules.sizing.fabric.networks import networks_of
from rules.sizing.fabric.schedule import schedule_of
from rules.sizing.placed import placed_racks

DGX = {"model.preset": "llama-3.1-70b", "preferences.nodes": ["nvidia-dgx-h100"], "facility.rack_power": "45 kW"}
DESIGNS = {
    "four units": {**DGX, "scale.nodes": 127, "preferences.fabric": "infiniband"},
    "three nodes": {**DGX, "scale.nodes": 3},
    "eight nodes": {**DGX, "scale.nodes": 8},
    "thin racks": {**DGX, "scale.nodes": 256, "facility.rack_power": "12 kW"},
    "racks of 72": {
        "model.preset": "llama-3.1-70b", "preferences.nodes": ["nvidia-gb200-nvl72"], "scale.gpus": 576, "facility.cooling": "liquid",
    },
    "two planes": {
        "model.preset": "llama-3.1-70b", "preferences.nodes": ["nvidia-dgx-b300"], "scale.nodes": 64, "preferences.fabric": "ethernet",
    },
    "split cages": {"model.preset": "llama-3.1-70b", "preferences.vendors": ["AMD"], "scale.nodes": 40},
    "oversubscribed": {**DGX, "scale.nodes": 100, "preferences.oversubscription": 2.5, "preferences.fabric": "infiniband"},
    "shared splitters": {
        "model.preset": "llama-3.1-405b", "preferences.nodes": ["nvidia-dgx-b300"], "scale.nodes": 1024, "preferences.fabric": "ethernet",
    },
    "one rack": {**DGX, "scale.nodes": 2, "facility.rack_power": "60 kW"},
    "a100": {"model.preset": "llama-3.1-8b", "preferences.nodes": ["nvidia-dgx-a100-640gb"], "scale.nodes": 20},
}  # fmt: skip

SIDES = {"node_leaf": "node", ("node_leaf", "storage"): "storage", "management_leaf": "management", "manager_leaf": "manager"}
"""What the longest runs of links are called, by tier, or by tier and the kind of the lower device."""


def designed(answers):
    considered = consider(Answers.of(answers), load_catalog())
    return considered, considered.ranking.chosen.candidate


@pytest.mark.parametrize("name", DESIGNS)
def test_the_schedule_counts_what_the_bill_counts(name):
    considered, candidate = designed(DESIGNS[name])
    labels, modules, media, lengths = defaultdict(set), defaultdict(set), defaultdict(Counter), {}
    longest: dict[tuple[str, str], float] = defaultdict(float)
    for row in schedule_of(candidate, considered.context):
        labels[row.link.network, row.cable].add(row.label)
        assert lengths.setdefault((row.link.network, row.label), row.length_m) == row.length_m, "a splitter or a fan has one length"
        media[row.link.network][row.medium] += 1
        side = SIDES.get((row.link.tier, row.link.lower.device.split("-")[0]), SIDES.get(row.link.tier, row.link.tier))
        longest[row.link.network, side] = max(longest[row.link.network, side], row.run_m)
        for end, optic in ((row.link.lower, row.lower_optic), (row.link.upper, row.upper_optic)):
            if optic:
                modules[row.link.network, optic].add((end.device, end.cage))
    counted = {key: len(each) for key, each in (*labels.items(), *modules.items())}
    for network in (candidate.fabric.compute, candidate.fabric.storage, candidate.fabric.out_of_band):
        scheduled = {item: number for (role, item), number in counted.items() if role == network.role}
        assert scheduled == {item: number for item, number in network.cables.items() if number}, network.role
        if network is not candidate.fabric.out_of_band:
            assert network.longest == {side: pytest.approx(run) for (role, side), run in longest.items() if role == network.role}
        if network.media:
            assert media[network.role] == network.media


@pytest.mark.parametrize("name", DESIGNS)
def test_every_end_stands_where_the_racks_are_planned(name):
    considered, candidate = designed(DESIGNS[name])
    racks = {rack.name: rack for rack in placed_racks(candidate, considered.context)}
    units = {rack.name: {slot.unit for slot in rack.slots} for rack in racks.values()}
    seen = set()
    for row in schedule_of(candidate, considered.context):
        for end, stand in ((row.link.lower, row.lower), (row.link.upper, row.upper)):
            assert stand.rack in racks, end
            assert stand.place == racks[stand.rack].place
            assert not stand.unit or stand.unit in units[stand.rack]
            if not end.device.startswith(("site", "rack-", "storage-")):
                assert stand.unit, end
            seen.add(end.device)
        assert row.run_m == run_m(row.lower.place, row.upper.place)
        assert row.length_m >= row.run_m
        assert row.bundle == f"{row.lower.rack}–{row.upper.rack}"
    assert len(seen) > candidate.nodes


@pytest.mark.parametrize("name", DESIGNS)
def test_modules_at_both_ends_agree_and_reach(name):
    considered, candidate = designed(DESIGNS[name])
    catalog = load_catalog()
    cages = {}
    for row in schedule_of(candidate, considered.context):
        cable = catalog.cables.get(row.cable)
        if cable is not None and cable.reach is not None:
            assert cable.reach.to("m") >= row.run_m, row
        optics = [catalog.cables.get(item) for item in (row.lower_optic, row.upper_optic)]
        assert len({each.medium for each in optics if each is not None}) <= 1
        assert all(each.reach is None or each.reach.to("m") >= row.run_m for each in optics if each is not None)
        for end, optic in ((row.link.lower, row.lower_optic or row.cable), (row.link.upper, row.upper_optic or row.cable)):
            if end.lanes > 1:
                assert cages.setdefault((end.device, end.cage), optic) == optic, "one module or plug in a cage"


@pytest.mark.parametrize("name", DESIGNS)
def test_power_units_are_managed_where_the_bill_buys_them(name):
    """One truth on metered power units: those of the bill stand in racks and hang on the out-of-band network."""
    considered, candidate = designed(DESIGNS[name])
    devices = [each for network in networks_of(candidate, considered.context) for each in network.devices() if each.kind == "power"]
    bought = sum(line.quantity for line in candidate.bom if line.name.startswith("power distribution unit"))
    assert len(devices) == bought
    racks = Counter(row.lower.rack for row in schedule_of(candidate, considered.context) if "-pdu-" in row.link.lower.device)
    assert sum(racks.values()) == bought


def test_fans_of_management_switches_say_how_their_cage_is_split():
    """A cage of 2 × 400G DR4 has eight lanes of 100G, a fan of four on each of its two optical ports [NVIDIA MMS4X00-NM, SN2201]."""
    considered, candidate = designed(DESIGNS["four units"])
    uplinks = [row.link for row in schedule_of(candidate, considered.context) if row.link.tier == "management_leaf"]
    assert {link.breakout for link in uplinks} == {"8 × 100G"}
    assert [(link.upper.port, link.upper.lane) for link in uplinks[:10:2]] == [
        ("1/1:1", 1), ("1/1:2", 2), ("1/1:3", 3), ("1/1:4", 4), ("1/2:1", 5),
    ]  # fmt: skip


def test_cables_run_between_the_racks_of_the_final_plan():
    """Racks of 12 kW have power units of their own, so more management switches than were counted before racks were planned."""
    considered, candidate = designed(DESIGNS["thin racks"])
    roles = ("compute leaf", "storage and in-band leaf", "out-of-band leaf", "management", "file server", "storage")
    placed = {(slot.role, slot.number): rack.place for rack in placed_racks(candidate, considered.context) for slot in rack.slots}
    floor = candidate.floor
    assert {key: place for key, place in placed.items() if key[0] in roles} == {
        (role, number): floor.place(role, number) for role, number in placed if role in roles
    }


def test_denser_racks_shorten_runs():
    def longest(**answers):
        considered, candidate = designed({**DESIGNS["thin racks"], "scale.nodes": 700, **answers})
        rows = [row for row in schedule_of(candidate, considered.context) if row.link.network == "compute"]
        bought = {line.item: line.quantity for line in candidate.bom}
        return max(row.run_m for row in rows), {row.medium for row in rows}, candidate.facility.rack_count, bought

    thin, dense = longest(), longest(**{"facility.rack_power": "45 kW"})
    assert thin[0] > 50 > dense[0]
    assert "dr" in thin[1]
    assert "dr" not in dense[1]
    assert thin[2] > 700 > 350 > dense[2], "one node to a rack, then four"
    long, short = (each[3]["nvidia-mms4x00-ns-800"] for each in (thin, dense))
    assert long > 1000 > 100 > short, "twin single-mode modules for runs beyond 50 m are hardly bought any more"
    assert dense[3]["nvidia-mma4z00-ns-800"] > thin[3]["nvidia-mma4z00-ns-800"], "multimode ones take their place"


def test_a_single_rack_needs_no_optics_but_to_the_site():
    """All ends stand within 2 m of each other, which 100 and 400 Gb/s passive copper reaches; the site's router stands elsewhere."""
    considered, candidate = designed(DESIGNS["one rack"])
    rows = list(schedule_of(candidate, considered.context))
    assert {row.medium for row in rows if row.link.lower.device != "site"} == {"dac", "copper"}
    assert {(row.medium, row.run_m, row.length_m) for row in rows if row.link.lower.device == "site"} == {("aoc", 2.0, 10.0)}
    assert candidate.fabric.storage.longest["node"] == 2.0


def test_runs_by_hand():
    """Racks of 0.6 m, twenty in a row, rows 3.6 m apart; 7 m up, down and slack."""
    assert run_m(3, 3) == 2
    assert run_m(3, 4) == 5
    assert run_m(3, 5) == pytest.approx(7 + 2 * 0.6)
    assert run_m(20, 21) == pytest.approx(7 + 10 * 0.6 * 2 + 3.6 - 2 * 0.6 + 0.6), "from the end of a row to the start of the next"
    assert run_m(1, 41) == pytest.approx(7 + 2 * 3.6), "over the cross tray at the start of the rows"
    assert tray_path(1, 41) == "row 1, cross tray 1, row 3"
    assert [sold_m(length) for length in (2, 5, 8.2, 16, 30.1, 58)] == [2, 5, 10, 20, 40, 60]


def test_the_csv_has_a_row_per_link():
    from wizard.exports.cables_csv import HEAD, write

    considered, candidate = designed(DESIGNS["eight nodes"])
    stream = io.StringIO()
    write(considered, stream)
    rows = list(csv.DictReader(io.StringIO(stream.getvalue())))
    assert tuple(rows[0]) == HEAD
    assert len(rows) == sum(1 for _ in schedule_of(candidate, considered.context))
    first = rows[0]
    assert (first["a device"], first["a port"], first["b device"]) == ("node-0001", "nic1", "compute-leaf-01")
    assert first["speed (Gb/s)"] == "400.0"


@pytest.mark.parametrize("name", DESIGNS)
def test_every_link_has_the_medium_of_its_own_length(name):
    """Passive copper ends at 2 m, linear active copper at 5 m, SR4 of 100G lanes at 50 m [NVIDIA LinkX]; a plug joins two cages."""
    considered, candidate = designed(DESIGNS[name])
    plugs, near = defaultdict(set), Counter()
    for row in schedule_of(candidate, considered.context):
        assert row.run_m <= {"dac": 2.0, "acc": 5.0, "aec": 7.0, "sr": 50.0, "dr": 500.0, "aoc": 100.0, "copper": 100.0}[row.medium], row
        link = row.link
        between = link.tier in ("leaf_spine", "spine_core", "leaf_leaf")
        if between and row.medium in ("dac", "acc", "aec"):
            plugs[row.label].add((link.lower.device, link.lower.cage, link.upper.device, link.upper.cage))
        if between and link.network == "compute" and row.run_m <= 2.0:
            near[row.medium] += 1
    assert all(len(each) == 1 for each in plugs.values())
    if name in ("two planes", "four units"):  # whole cages join a leaf and a spine, so those in one rack are passive copper
        assert set(near) == {"dac"}, near
