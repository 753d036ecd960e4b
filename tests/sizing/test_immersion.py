"""Tanks: what fits into one, what its fluid carries, and what stands on the floor, against data sheets and physics."""

import pytest

from catalogs import load_catalog
from catalogs.quantities import magnitude
from rules.answers import Answers
from rules.candidate import Candidate, Context
from rules.sizing import cooling, immersion
from rules.sizing.facility import size_facility

NODE = "nvidia-dgx-h100"
TANKS = {"facility.cooling": "immersion", "facility.immersion_released": NODE}


@pytest.fixture(scope="module")
def catalog():
    return load_catalog()


def sized(catalog, answers, units=12, node=NODE):
    record = catalog.nodes[node]
    made = Candidate("c", record, catalog.gpus[record.gpu], units, units * record.trays, units * record.gpu_count)
    return size_facility(made, Context(Answers.of(answers), catalog, None))


@pytest.mark.parametrize(
    ("hall", "released", "kind", "matches"),
    [
        (("immersion",), (), "air", False),  # no data sheet of the catalog releases a server for tanks
        (("immersion",), (NODE,), "immersion", True),
        (("immersion",), ("DGX H100",), "immersion", True),
        (("air",), (NODE,), "air", True),  # a letter makes no tank
        (("air", "immersion"), ("nvidia-dgx-b200",), "air", True),
    ],
)
def test_only_what_is_released_goes_into_a_tank(catalog, hall, released, kind, matches):
    found = cooling.match_cooling(catalog.nodes[NODE], hall, released)
    assert (found.kind, found.matches) == (kind, matches)


def test_no_letter_puts_a_liquid_cooled_rack_into_a_tank(catalog):
    found = cooling.match_cooling(catalog.nodes["nvidia-gb200-nvl72"], ("immersion",), ("nvidia-gb200-nvl72",))
    assert not found.matches


def test_a_litre_of_fluid_per_minute(catalog):
    """0.82 kg/l × 2.21 kJ/(kg K) × 10 K / 60 s = 302 W; a kilowatt takes 3.31 l/min where water takes 1.44."""
    assert immersion.watts_per_litre_per_minute(catalog) == pytest.approx(302.0, abs=0.1)
    assert immersion.fluid_litres_per_minute(1.0, catalog) == pytest.approx(3.311, abs=0.001)


def test_which_tank_takes_the_most(catalog):
    """8 U and 11.3 kW: SmartPodX 2 (21 U), AIC24 2 (32 kW), DataTank 6 (48 U); with 25 kW two, and the smallest tank that takes two."""
    by_id = {tank.unit.id: tank.takes(11.3, 8.0, 1e9) for tank in immersion.tanks(catalog)}
    assert by_id == {"asperitas-aic24": 2, "submer-smartpodx": 2, "liquidstack-datatank-48u": 6}
    assert immersion.choose_tank(11.3, 8.0, 1e9, catalog).unit.id == "liquidstack-datatank-48u"
    assert immersion.choose_tank(11.3, 8.0, 25.0, catalog).unit.id == "asperitas-aic24"
    assert immersion.choose_tank(120.0, 8.0, 1e9, catalog) is None
    assert immersion.choose_tank(11.3, 50.0, 1e9, catalog) is None


def test_twelve_dgx_h100_and_a_spare_in_three_tanks(catalog):
    """Six of 8 U in 48 U; 13 x 11.3 kW, 95 % of it to water: 139.6 kW, 462 l/min of fluid, 201 l/min of water; 7.3 kW stay in the room."""
    design = sized(catalog, TANKS).design
    assert (design.racks[0].racks, design.racks[0].nodes_per_rack, design.racks[0].binding) == (3, 6, "units")
    assert magnitude(design.water_heat, "kW") == pytest.approx(139.6, abs=0.1)
    assert magnitude(design.fluid_flow, "L/min") == pytest.approx(462.1, abs=0.5)
    assert magnitude(design.water_flow, "L/min") == pytest.approx(201.0, abs=0.5)
    assert magnitude(design.airflow, "CFM") == pytest.approx(158 * 7.345, rel=0.01)
    assert magnitude(design.heat, "kW") - magnitude(design.water_heat, "kW") == pytest.approx(7.3, abs=0.1)
    assert design.pue == pytest.approx(1.4)  # neither PUE nor climate was said


def test_a_tank_takes_no_more_than_its_circuits_carry(catalog):
    sizing = sized(catalog, {**TANKS, "facility.rack_power": "25 kW"})
    assert (sizing.design.racks[0].nodes_per_rack, sizing.tank.unit.id) == (2, "asperitas-aic24")


def test_load_under_a_full_tank(catalog):
    """872 kg and two servers of 130 kg on 1.2 x 0.9 m: 1,133 kg on 1.08 m² are 10.3 kPa. Of the 48U tank no weight is stated."""
    by_id = {tank.unit.id: tank for tank in immersion.tanks(catalog)}
    assert immersion.load_on_footprint_kpa(872 + 2 * 130.45, by_id["submer-smartpodx"]) == pytest.approx(10.29, abs=0.02)
    assert immersion.load_on_footprint_kpa(2000, by_id["liquidstack-datatank-48u"]) is None
