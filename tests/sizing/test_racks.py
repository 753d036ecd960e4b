"""Racks and cooling against NVIDIA's rack figures."""

import pytest

from catalogs import load_catalog
from catalogs.quantities import magnitude
from rules.answers import Answers
from rules.candidate import Candidate, Context
from rules.sizing import cooling, racks
from rules.sizing.facility import size_facility


@pytest.fixture(scope="module")
def catalog():
    return load_catalog()


def facility(catalog, node, units, answers=None):
    record = catalog.nodes[node]
    made = Candidate("c", record, catalog.gpus[record.gpu], units, units * record.trays, units * record.gpu_count)
    return size_facility(made, Context(Answers.of(answers or {}), catalog, None))


@pytest.mark.parametrize(
    ("node", "answers", "per_rack", "rack_kw"),
    [
        ("nvidia-dgx-b200", {}, 2, 28.6),  # NVIDIA DGX B200: two in a rack, 28.6 kW
        ("nvidia-dgx-h100", {}, 4, 40.8),  # NVIDIA DGX SuperPOD H100: four in a rack, 40.8 kW
        ("nvidia-dgx-b300", {"facility.cooling": "rear_door"}, 3, 43.5),  # 14.5 kW each under a rear door of 50 kW
        ("nvidia-gb300-nvl72", {"facility.cooling": "liquid"}, 1, 142.0),  # NVIDIA: up to 142 kW
        ("nvidia-gb200-nvl72", {"facility.cooling": "liquid"}, 1, 132.0),  # NVIDIA: 132 kW at most
    ],
)
def test_racks_of_nvidia(catalog, node, answers, per_rack, rack_kw):
    rack = facility(catalog, node, 16, answers).design.racks[0]
    assert rack.nodes_per_rack == per_rack
    assert magnitude(rack.power, "kW") == pytest.approx(rack_kw, rel=0.10)


def test_four_b200_where_the_room_is_built_for_it():
    """NVIDIA: four DGX B200 of 10U and 14.3 kW in a 52U rack draw 57.2 kW, in specialised sites."""
    fill = racks.fill_rack(14.3, 10.0, 142.4, racks.RackLimits(52, power_kw=60.0))
    assert fill.per_rack == 4
    assert fill.per_rack * 14.3 == pytest.approx(57.2)
    assert fill.binding == "power"


@pytest.mark.parametrize(
    ("limits", "per_rack", "binding"),
    [
        (racks.RackLimits(42, power_kw=42.0), 4, "power"),  # the published example: 42 kW take four DGX H100
        (racks.RackLimits(42, power_kw=100.0), 5, "units"),  # 42U take five of 8U
        (racks.RackLimits(42, power_kw=100.0, load_kg=500.0), 3, "weight"),  # 500 kg take three of 130.45 kg
        (racks.RackLimits(42, power_kw=100.0, cooling_kw=21.0), 2, "cooling"),
        (racks.RackLimits(42, power_kw=10.0), 0, "power"),
        (racks.RackLimits(42, power_kw=100.0, circuits_kw=34.5), 3, "circuits"),
        (racks.RackLimits(42, power_kw=100.0, outlets=18), 3, "outlets"),  # 18 C19 outlets take three systems of six cords
        (racks.RackLimits(42, power_kw=100.0, airflow_cfm=2500.0), 2, "airflow"),  # 2,500 CFM take two of 1,105
        (racks.RackLimits(42, power_kw=100.0, floor_kg=200.0), 1, "floor"),
    ],
)
def test_the_first_limit_binds(limits, per_rack, binding):
    fill = racks.fill_rack(10.2, 8.0, 130.45, limits, 1105.0, 6)
    assert (fill.per_rack, fill.binding) == (per_rack, binding)


def test_a_rack_filled_to_the_watt_holds_what_was_meant_for_it():
    """Four times 10.2 kW are 40.8 kW although the floats do not add up exactly."""
    assert racks.fill_rack(10.2, 8.0, None, racks.RackLimits(42, power_kw=40.8)).per_rack == 4
    assert racks.fill_rack(0.1, 1.0, None, racks.RackLimits(42, power_kw=0.3)).per_rack == 3


def test_power_must_be_positive():
    with pytest.raises(ValueError, match="must be positive"):
        racks.fill_rack(0.0, 8.0, None, racks.RackLimits(42))


def test_units_are_spread_over_whole_racks(catalog):
    """31 DGX B200 and the two spares that they are sold with, two in a rack: 17 racks."""
    sizing = facility(catalog, "nvidia-dgx-b200", 31)
    assert sizing.spare_units == 2
    assert sizing.design.rack_count == 17
    assert sizing.design.racks[0].binding == "cooling"


def test_a_desktop_machine_needs_no_rack(catalog):
    assert facility(catalog, "workstation-2x-rtx-5090", 1).design.rack_count == 0


def test_a_node_too_big_for_the_rack_is_not_placed(catalog):
    sizing = facility(catalog, "nvidia-dgx-b200", 4, {"facility.rack_power": "10 kW"})
    assert sizing.fill.per_rack == 0
    assert sizing.fill.binding == "power"
    assert sizing.design.rack_count == 0


def test_totals_of_a_scalable_unit(catalog):
    """DGX SuperPOD B200: 32 systems are 458 kW before the network; here 30 train and two of them are spare."""
    sizing = facility(catalog, "nvidia-dgx-b200", 30)
    assert sizing.spare_units == 2
    assert magnitude(sizing.design.it_power_maximum, "kW") == pytest.approx(458.0, rel=0.01)


def test_spares_draw_power_in_racks_but_not_in_the_energy_of_a_year(catalog):
    """One spare DGX H100 beside 16: 17 × 10.2 kW in 5 racks of four, and a year's energy of 16."""
    design = facility(catalog, "nvidia-dgx-h100", 16).design
    assert design.spare_units == 1
    assert magnitude(design.it_power_maximum, "kW") == pytest.approx(17 * 10.2)
    assert magnitude(design.it_power_typical, "kW") == pytest.approx(16 * 10.2 * 0.8)
    assert design.rack_count == 5


def test_spare_trays_of_a_rack_lie_on_a_shelf(catalog):
    sizing = facility(catalog, "nvidia-gb300-nvl72", 8, {"facility.cooling": "liquid"})
    assert sizing.spare_units == 0
    assert sizing.design.rack_count == 8


# -------------------------------------------------------------------------------------------------------------- cooling


def test_heat_is_the_larger_of_power_and_the_vendors_figure(catalog):
    """DGX H100 user guide: 10.2 kW electrical, 38,557 BTU/h of heat."""
    heat = cooling.node_heat_kw(catalog.nodes["nvidia-dgx-h100"], 10.2)
    assert cooling.heat_btu_per_hour(heat) == pytest.approx(38_557, rel=0.001)
    assert cooling.node_heat_kw(catalog.nodes["nvidia-dgx-b200"], 14.3) == pytest.approx(14.3)


@pytest.mark.parametrize(
    ("watts", "rise_f", "published_cfm"),
    [(14_300, 29.0, 1550), (1_000, 20.0, 158)],  # NVIDIA DGX B200: 1,550 CFM; the common 158 CFM per kW at 20 °F
)
def test_airflow(watts, rise_f, published_cfm):
    assert cooling.airflow_cfm(watts, rise_f) == pytest.approx(published_cfm, rel=0.02)


@pytest.mark.parametrize(("nodes", "published_cfm"), [(2, 4290), (4, 8580)])
def test_airflow_of_nvidias_b200_racks_within_ten_percent(nodes, published_cfm):
    """NVIDIA: racks of two and four DGX B200 need 4,290 and 8,580 CFM."""
    assert cooling.airflow_cfm(nodes * 14_300) == pytest.approx(published_cfm, rel=0.10)


def test_thin_air_needs_more_flow():
    """Air pressure at 10,000 ft is 0.69 of that at sea level."""
    assert cooling.airflow_cfm(1000, 20.0, 0.69) == pytest.approx(158 / 0.69, rel=0.01)


def test_airflow_refuses_no_rise():
    with pytest.raises(ValueError, match="must be positive"):
        cooling.airflow_cfm(1000, 0.0)


def test_coolant_flow_agrees_with_glycol_at_ten_kelvin(catalog):
    """25 % glycol at a rise of 10 K takes 1.489 L/min per kW; CoolIT rates 2,125 L/min for 2 MW less its margin."""
    glycol = catalog.facts["coolant-flow-pg25"].values["rise_10_k"].to("")
    assert cooling.water_litres_per_minute(1.0) == pytest.approx(glycol, rel=0.02)


@pytest.mark.parametrize(
    ("node", "hall", "kind", "matches"),
    [
        ("nvidia-gb200-nvl72", ("air",), "liquid", False),
        ("nvidia-gb200-nvl72", ("air", "liquid"), "liquid", True),
        ("nvidia-dgx-h100", ("air",), "air", True),
        ("nvidia-dgx-h100", ("air", "rear_door"), "rear_door", True),
        ("hpe-cray-xd670-h200", ("air",), "air", True),
        ("hpe-cray-xd670-h200", ("air", "liquid"), "liquid", True),
        ("hpe-cray-xd670-h200", ("liquid",), "liquid", True),
        ("nvidia-dgx-b200", ("rear_door",), "rear_door", True),
        ("nvidia-dgx-b200", ("liquid",), "air", False),  # 1,550 CFM each have to come from somewhere
        ("nvidia-dgx-b200", ("immersion",), "air", False),
        ("nvidia-gb200-nvl72", ("immersion",), "liquid", False),
    ],
)
def test_what_cools_a_node(catalog, node, hall, kind, matches):
    found = cooling.match_cooling(catalog.nodes[node], hall)
    assert (found.kind, found.matches) == (kind, matches)


def test_liquid_leaves_a_part_to_the_air(catalog):
    """A GB300 rack of 135 kW gives about 19 kW to the air (planning split of 85 % to liquid)."""
    sizing = facility(catalog, "nvidia-gb300-nvl72", 1, {"facility.cooling": "liquid"})
    assert sizing.fullest_air_kw == pytest.approx(19.3, rel=0.12)
    assert sizing.design.water_flow is not None


@pytest.mark.parametrize(
    ("liquid_kw", "units", "each_kw"),
    [
        (900.0, 2, 1350.0),  # eight NVL72 racks of 132 kW at 85 %: one unit of 1.35 MW carries them, one is spare
        (84.0, 2, 121.0),  # one rack of 84 kW: an in-rack unit of 121 kW carries it, one is spare
        (122.0, 2, 1350.0),  # in-rack units serve one rack, so that several do not add up
        (1900.0, 2, 2000.0),  # 2 × 2 MW are less than 3 × 1.35 MW
        (2600.0, 3, 1350.0),
    ],
)
def test_coolant_units_are_one_more_than_carry_the_heat(catalog, liquid_kw, units, each_kw):
    """Ratings of Vertiv's CoolChip CDU 121 and 1350 and of 2 MW units."""
    found = cooling.size_coolant_units(liquid_kw, catalog, racks=1)
    assert (found.count, found.each_kw) == (units, each_kw)
    assert (found.count - 1) * found.each_kw >= liquid_kw


def test_units_in_the_rack_serve_one_rack(catalog):
    """What stands in one rack has no pipes to a second one."""
    assert cooling.size_coolant_units(84.0, catalog, racks=2).each_kw == 1350.0


def test_without_liquid_there_is_no_coolant_unit(catalog):
    assert cooling.size_coolant_units(0.0, catalog) is None
    assert facility(catalog, "nvidia-dgx-b200", 4).coolant is None


def test_switches_of_a_liquid_cooled_hall_still_go_by_air(catalog):
    """A rack of direct liquid carries 132 kW, one of switches what air takes."""
    assert cooling.rack_limit_kw("liquid", catalog) == pytest.approx(132.0)
    assert cooling.equipment_limit_kw(("air", "liquid"), catalog) == pytest.approx(41.0)
    assert cooling.equipment_limit_kw(("rear_door", "liquid"), catalog) == pytest.approx(50.0)


def test_air_limit_is_the_vendors_reference_rack(catalog):
    assert cooling.rack_limit_kw("air", catalog) == pytest.approx(41.0)
    assert cooling.rack_limit_kw("rear_door", catalog) == pytest.approx(50.0)
