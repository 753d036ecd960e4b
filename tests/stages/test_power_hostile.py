"""Extreme and contradictory halls: whatever is answered, power and heat are conserved, more of a limit never means more racks."""

from __future__ import annotations

import math

import pytest

from catalogs import load_catalog
from catalogs.quantities import magnitude, quantity
from rules.answers import Answers
from rules.candidate import Candidate, Context
from rules.engine import compile_rules, evaluate
from rules.findings import Stage
from rules.judging import limits
from rules.sizing.facility import size_facility
from rules.sizing.placed import placed_racks
from rules.sizing.results import FabricDesign, FabricNetwork
from rules.stages import power

NODES = (
    "nvidia-dgx-h100", "nvidia-dgx-b300", "dell-poweredge-xe9680-mi300x", "supermicro-as-4126gs-nmr-lcc-mi355x", "hpe-cray-xd670-h200",
    "nvidia-gb300-nvl72", "workstation-2x-rtx-5090", "nvidia-dgx-spark", "lenovo-thinksystem-sr675-v3-l40s", "asus-esc-a8a-e12u",
)  # fmt: skip
FEED = {"facility.feed": "415v_three_phase", "facility.circuit_current": "60 A"}
HALLS: tuple[dict[str, object], ...] = (
    {}, {"facility.rack_power": "0.5 kW"}, {"facility.racks": 1}, {"facility.rack_power": "1 MW"}, {"facility.rack_units": "1 U"},
    {"facility.altitude": "5000 m", "facility.inlet_temperature": "60 °C"}, {"facility.feed": "100v_single_phase"}, {"facility.pue": 1.0},
    {"facility.cooling": "liquid", "facility.water_temperature": "70 °C"}, {"facility.floor_load": "100 kg/m²"},
    {"facility.delivery_height": "1.5 m", "facility.delivery_weight": "500 kg"}, {"facility.outlets_per_rack": 1},
    {"facility.cooling": "immersion", "facility.immersion_released": ["nvidia-gb300-nvl72", "nvidia-dgx-h100"]},
    {"facility.cooling": "rear_door", "facility.water_temperature": "45 °C"}, {"facility.gpu_power_cap": "350 W"},
    {"facility.gpu_power_cap": "20 W"}, {"facility.total_power": "0.1 kW", "facility.power_limit": "soft"},
    {**FEED, "facility.circuits_per_rack": 1, "facility.feed_redundancy": "2n"}, {"facility.rack_airflow": "10 CFM"},
    {"facility.ups": "2n", "facility.generator": "n_plus_1", "facility.altitude": "6000 m"},
)  # fmt: skip


@pytest.fixture(scope="module")
def catalog():
    return load_catalog()


def with_switches(catalog, node, units):
    record = catalog.nodes[node]
    made = Candidate("c", record, catalog.gpus[record.gpu], units, units * record.trays, units * record.gpu_count)
    if not record.desktop:
        drawn = quantity(17.2, "kW")
        made.fabric = FabricDesign(
            FabricNetwork(
                "compute", "infiniband", "rail", 400.0, 256, 8, 2, 0, 1, 1, 1.0, {}, {}, {}, 0, {"nvidia-qm9700": 10}, {}, drawn, drawn
            ),
            None, None, None,
        )  # fmt: skip
    return made


@pytest.mark.parametrize("hall", HALLS, ids=lambda hall: " ".join(map(str, hall.values())) or "nothing said")
def test_power_and_heat_are_conserved(catalog, hall):
    """The racks, one by one, draw what is drawn in all; no heat is lost between water and room; every figure is a number."""
    answers = Answers.of(hall)
    for node in NODES:
        made, context = with_switches(catalog, node, 9), Context(answers, catalog, None)
        fact = power.assess(made, context)
        assert all(math.isfinite(value) for value in fact.values() if isinstance(value, float)), node
        racks, design = placed_racks(made, context), made.facility
        if design.racks[0].racks:
            assert sum(rack.power_kw for rack in racks) == pytest.approx(magnitude(design.it_power_maximum, "kW")), node
            assert max(rack.power_kw for rack in racks) == pytest.approx(fact["rack_power_kw"]), node
            assert len(racks) == design.rack_count
        assert fact["water_heat_kw"] + fact["room_heat_kw"] == pytest.approx(fact["heat_kw"], abs=0.01), node
        assert fact["heat_kw"] >= fact["it_power_kw"] - 1e-9, node
        assert fact["total_power_kw"] == pytest.approx(fact["it_power_kw"] * fact["pue"], rel=0.001), node


MORE: tuple[tuple[str, tuple[object, ...]], ...] = (
    ("facility.rack_power", tuple(f"{kw} kW" for kw in (11, 16, 20, 31, 41, 60, 150, 5000))),
    ("facility.circuits_per_rack", (1, 2, 3, 4, 8)),
    ("facility.outlets_per_rack", (6, 12, 24, 100)),
    ("facility.rack_airflow", tuple(f"{cfm} CFM" for cfm in (1500, 3000, 6000, 20000))),
    ("facility.floor_load", tuple(f"{kpa} kPa" for kpa in (3, 4, 6, 12))),
    ("facility.altitude", tuple(f"{metres} m" for metres in (6000, 3000, 1500, 900, 0))),
)


@pytest.mark.parametrize(("key", "values"), MORE, ids=[key for key, _ in MORE])
@pytest.mark.parametrize("node", ["nvidia-dgx-h100", "dell-poweredge-xe9680-mi300x", "lenovo-thinksystem-sr675-v3-l40s"])
def test_more_of_a_limit_never_takes_more_racks(catalog, node, key, values):
    counts = []
    for value in values:
        answers = Answers.of({**FEED, key: value} if key == "facility.circuits_per_rack" else {key: value})
        sizing = size_facility(with_switches(catalog, node, 40), Context(answers, catalog, None))
        counts.append((-sizing.fill.per_rack, sizing.design.rack_count if sizing.fill.per_rack else math.inf))
    assert counts == sorted(counts, reverse=True)
    assert [racks for _, racks in counts] == sorted((racks for _, racks in counts), reverse=True)


def test_a_lower_cap_never_draws_more(catalog):
    drawn = [
        magnitude(
            size_facility(
                with_switches(catalog, "nvidia-dgx-h100", 4), Context(Answers.of({"facility.gpu_power_cap": f"{watts} W"}), catalog, None)
            ).design.it_power_maximum,
            "kW",
        )
        for watts in (700, 600, 500, 350, 200)
    ]
    assert drawn == sorted(drawn, reverse=True)
    assert drawn[0] - drawn[1] == pytest.approx(4 * 8 * 0.1)


CIRCUITS: tuple[dict[str, object], ...] = tuple(
    {"facility.feed": feed, "facility.circuits_per_rack": count, **({"facility.circuit_current": current} if current else {}), **more}
    for feed, currents in (
        ("120v_single_phase", ("20 A", "")), ("230v_single_phase", ("16 A", "32 A")), ("208v_three_phase", ("", "30 A")),
        ("415v_three_phase", ("", "60 A")),
    )
    for current in currents
    for count in (1, 2, 4)
    for more in ({}, {"facility.feed_redundancy": "2n"})
)  # fmt: skip


@pytest.mark.parametrize("node", [*NODES, "workstation-4x-rtx-pro-6000", "nvidia-gb200-nvl72"])
def test_what_hangs_on_the_circuits_that_were_given_is_carried_by_them(catalog, node):
    """Circuits whose number was given are never loaded above what they carry, by a rack as by one machine in a room, unless refused."""
    for hall in CIRCUITS:
        made, context = (
            with_switches(catalog, node, 9),
            Context(Answers.of({**hall, "facility.cooling": ["rear_door", "liquid"]}), catalog, None),
        )
        fact = power.assess(made, context)
        if fact["rack_refuses"] or fact["circuits_per_unit"] > fact["cords_per_unit"]:
            continue
        assert fact["rack_power_kw"] <= fact["feed_usable_kw"] + 1e-6, (node, hall)
        assert f"{hall['facility.circuits_per_rack']} × " in fact["feed"]


def test_an_office_circuit_of_16_a_carries_no_workstation_of_4_kw(catalog):
    """230 V · 16 A is 3.68 kVA, 2.94 kW of it continuous: a workstation of 4 kW needs two such circuits, which its two supplies take."""
    office = {"facility.feed": "230v_single_phase", "facility.circuit_current": "16 A"}
    cords = []
    for circuits in (1, 2):
        answers = Answers.of({**office, "facility.circuits_per_rack": circuits})
        fact = power.assess(with_switches(catalog, "workstation-4x-rtx-pro-6000", 1), Context(answers, catalog, None))
        cords.append((fact["circuits_per_unit"], fact["cords_per_unit"]))
    assert cords == [(2, 1), (2, 2)]


def test_a_machine_on_too_few_circuits_is_offered_one_more_or_a_cap(catalog):
    """4 kW on 2.94 kW: 1,060 W less on four GPUs is 265 W each, 600 - 265 = 335 W."""
    answers = {"facility.feed": "230v_single_phase", "facility.circuit_current": "16 A", "facility.circuits_per_rack": 1}
    made, context = with_switches(catalog, "workstation-4x-rtx-pro-6000", 1), Context(Answers.of(answers), catalog, None)
    fact = {**power.assess(made, context), **limits(power.RULES, catalog)}
    assert fact["fitting_cap_w"] == 335.0
    made.facts[Stage.POWER] = fact
    made.said = list(evaluate(compile_rules(tuple(power.RULES)).stage(Stage.POWER), fact, strict=True).said)
    (refused,) = (each for each in made.findings if each.rule == "power.circuit_overloaded")
    remedies = {fix.key: fix.value for fix in refused.remedies}
    assert remedies["facility.gpu_power_cap"] == "335 W"
    assert remedies["facility.circuits_per_rack"] == "2"
