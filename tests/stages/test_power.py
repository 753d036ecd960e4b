"""Stage power: the fact is complete and plain, the sections read, the bill holds what the racks need."""

import math

import pytest

from catalogs import load_catalog
from catalogs.quantities import quantity
from rules.answers import Answers
from rules.candidate import Candidate, Context
from rules.engine import compile_rules, evaluate
from rules.findings import Kind, Stage
from rules.judging import limits
from rules.own_server import own_server
from rules.sizing.placed import placed_racks
from rules.sizing.results import FabricDesign, FabricNetwork, StorageDesign
from rules.stages import power


@pytest.fixture(scope="module")
def catalog():
    return load_catalog()


def candidate(catalog, node, units):
    record = catalog.nodes[node]
    return Candidate("c", record, catalog.gpus[record.gpu], units, units * record.trays, units * record.gpu_count)


def judged(catalog, node, units, answers=None, fabric=None, storage=None):
    made, context = candidate(catalog, node, units), Context(Answers.of(answers or {}), catalog, None)
    made.fabric, made.storage = fabric, storage
    fact = {**power.assess(made, context), **limits(power.RULES, catalog)}
    made.facts[Stage.POWER] = fact
    made.said = list(evaluate(compile_rules(tuple(power.RULES)).stage(Stage.POWER), fact, strict=True).said)
    return made, context


def rules_of(made, kind=None):
    return {found.rule for found in made.findings if kind is None or found.kind is kind}


def switched(switch, count, kw):
    return FabricNetwork(
        "compute", "infiniband", "rail", 400.0, 256, count, 0, 0, 1, 1, 1.0, {}, {}, {}, 0, {switch: count}, {}, None, quantity(kw, "kW")
    )


@pytest.mark.parametrize(
    "node", ["nvidia-dgx-b200", "nvidia-gb300-nvl72", "workstation-2x-rtx-5090", "supermicro-as-4126gs-nmr-lcc-mi355x"]
)
def test_every_field_is_stated_and_can_be_compared(catalog, node):
    fact = power.assess(candidate(catalog, node, 3), Context(Answers(), catalog, None))
    assert set(fact) == {field.name for field in power.FACTS}
    assert all(math.isfinite(value) for value in fact.values() if isinstance(value, float))


def test_without_a_plan_or_fabric_there_is_still_a_facility(catalog):
    made, _ = judged(catalog, "nvidia-dgx-h100", 8)
    assert made.choice is None
    assert made.facility.rack_count == 2


def test_switches_and_storage_are_in_the_it_load_once(catalog):
    """NVIDIA QM9700: 1,720 W at most. Eight of them and a 2.4 kW appliance on top of 16 × 10.2 kW."""
    fabric = FabricDesign(switched("nvidia-qm9700", 8, 8 * 1.72), None, None, None)
    zero = quantity(0.0, "GB/s")
    storage = StorageDesign(
        zero, zero, quantity(1, "TB"), quantity(1, "TB"), quantity(1, "TB"), quantity(1, "s"), quantity(1, "s"), quantity(1, "TB"),
        {"ddn-ai400x2t": 1}, None, None, None, quantity(2.4, "kW"), quantity(2, "U"),
    )  # fmt: skip
    made, _ = judged(catalog, "nvidia-dgx-h100", 16, fabric=fabric, storage=storage)
    assert made.facts[Stage.POWER]["it_power_kw"] == pytest.approx((16 + 1) * 10.2 + 8 * 1.72 + 2.4)
    names = [plan.name for plan in made.facility.racks]
    assert names == ["compute", "network", "storage"]


def test_the_fullest_rack_counts_what_stands_beside_its_nodes(catalog):
    """Two DGX H100 and two QM9700 in one rack: 2 × 10.2 + 2 × 1.72 kW, and the circuits of the rack carry it."""
    fabric = FabricDesign(switched("nvidia-qm9700", 2, 2 * 1.72), None, None, None)
    made, _ = judged(catalog, "nvidia-dgx-h100", 2, {"facility.feed": "415v_three_phase"}, fabric)
    fact = made.facts[Stage.POWER]
    assert fact["rack_count"] == 1
    assert fact["rack_nodes_kw"] == pytest.approx(2 * 10.2)
    assert fact["rack_power_kw"] == pytest.approx(2 * 10.2 + 2 * 1.72)
    assert fact["rack_air_kw"] == pytest.approx(2 * 10.2 + 2 * 1.72)
    assert fact["feed_usable_kw"] >= fact["rack_power_kw"]


@pytest.mark.parametrize(
    ("cooling", "kw", "racks"),
    [
        ("rear_door", 5.0, 0),
        ("rear_door", 6.5, 1),  # 2 × 415 V, 30 A carry 34.5 kW: 5.9 kW are left beside two DGX B200 of 28.6 kW, the door takes 50
        ("air", 1.0, 0),
        ("air", 5.0, 1),  # air takes 30 kW comfortably
    ],
)
def test_equipment_that_overloads_a_rack_takes_one_of_its_own(catalog, cooling, kw, racks):
    fabric = FabricDesign(switched("nvidia-qm9700", 4, kw), None, None, None)
    answers = {"facility.feed": "415v_three_phase", "facility.rack_power": "40 kW", "facility.cooling": cooling}
    made, _ = judged(catalog, "nvidia-dgx-b200", 2, answers, fabric)
    fact = made.facts[Stage.POWER]
    assert made.facility.racks[1].racks == racks
    assert fact["feed_usable_kw"] >= fact["rack_power_kw"] == pytest.approx(28.6 + (0.0 if racks else kw))


@pytest.mark.parametrize(
    ("node", "feed", "rule"),
    [
        ("nvidia-dgx-b300", "120v_single_phase", "power.voltage_too_low"),
        ("supermicro-sys-421ge-tnrt", "120v_single_phase", "power.voltage_too_low"),
        ("supermicro-sys-421ge-tnrt", "120v_single_phase", "power.circuit_overloaded"),  # 2 of its 4 supplies carry it, 2.88 of 4.7 kW
        ("dell-poweredge-xe9680l-b200", "120v_single_phase", "power.circuit_overloaded"),
        ("nvidia-dgx-b200", "480v_three_phase", "power.voltage_too_high"),
    ],
)
def test_feeds_that_servers_cannot_hang_on(catalog, node, feed, rule):
    """Supplies of 2.7 to 3.3 kW take 200 to 240 V (DGX user guides); 480 V are 277 V to neutral."""
    answers = {"facility.cooling": "air, liquid"}
    assert rule in rules_of(judged(catalog, node, 1, {**answers, "facility.feed": feed})[0])
    for good in ("415v_three_phase", "208v_three_phase", "230v_single_phase"):
        assert rule not in rules_of(judged(catalog, node, 1, {**answers, "facility.feed": good})[0])


@pytest.mark.parametrize("hall", ["liquid", "immersion", "liquid, immersion"])
def test_a_hall_without_air_takes_no_air_cooled_node(catalog, hall):
    made, _ = judged(catalog, "nvidia-dgx-b200", 4, {"facility.cooling": hall})
    found = next(each for each in made.findings if each.rule == "power.air_missing")
    assert found.kind is Kind.REJECT
    assert found.remedies[0].value == f"air, {hall}"
    assert "power.cooling_decided" not in rules_of(made)
    for answered in (None, f"air, {hall}", f"rear_door, {hall}"):
        assert "power.air_missing" not in rules_of(
            judged(catalog, "nvidia-dgx-b200", 4, {"facility.cooling": answered} if answered else {})[0]
        )


def test_the_set_point_of_the_factory_is_said(catalog):
    """DGX B200 user guide, power capping: 700 W by default, up to 1,000 W."""
    made, _ = judged(catalog, "nvidia-dgx-b200", 2)
    found = next(each for each in made.findings if each.rule == "power.factory_set_point")
    assert "700 W of their 1000 W" in found.because
    assert "power.factory_set_point" not in rules_of(judged(catalog, "nvidia-dgx-h200", 2)[0])


def test_what_a_lost_circuit_does(catalog):
    """A rack of 14.3 kW on 2 × 17.25 kW runs on one circuit; two DGX B200 need both."""
    alone = judged(catalog, "nvidia-dgx-b200", 1, {"facility.feed": "415v_three_phase"})[0]
    both = judged(catalog, "nvidia-dgx-b200", 3, {"facility.feed": "415v_three_phase"})[0]
    assert "power.feed_not_redundant" not in rules_of(alone)
    assert "power.feed_not_redundant" in rules_of(both)
    said = [next(each.because for each in made.findings if each.rule == "power.feed_decided") for made in (alone, both)]
    assert "the others carry the rack" in said[0]
    assert "a lost circuit stops" in said[1]


def test_nothing_is_advised_that_cannot_help(catalog):
    """Air-cooled DGX are not sold with liquid; a rack bound by height does not get denser by power."""
    strained = next(each for each in judged(catalog, "nvidia-dgx-h100", 8)[0].findings if each.rule == "power.air_density_strained")
    assert [(each.key, each.value) for each in strained.remedies] == [
        ("facility.rack_power", "30 kW"),
        ("facility.cooling", "air, rear_door"),
    ]
    either = next(each for each in judged(catalog, "hpe-cray-xd670-h200", 8)[0].findings if each.rule == "power.air_density_strained")
    assert ("facility.cooling", "air, liquid") in [(each.key, each.value) for each in either.remedies]
    few = judged(catalog, "nvidia-dgx-h100", 8, {"facility.rack_power": "100 kW", "facility.cooling": "rear_door", "facility.racks": 1})[0]
    assert few.facts[Stage.POWER]["rack_binding"] == "cooling"
    assert [each.key for each in next(each for each in few.findings if each.rule == "power.rack_count_exceeded").remedies] == [
        "facility.racks"
    ]


def test_equipment_that_fits_beside_the_nodes_takes_no_rack_of_its_own(catalog):
    """One DGX H100 leaves 34U and 30.8 kW of a rack: one switch goes there."""
    made, _ = judged(catalog, "nvidia-dgx-h100", 1, fabric=FabricDesign(switched("nvidia-qm9700", 1, 1.72), None, None, None))
    assert made.facility.rack_count == 1


def test_sixty_kilowatt_of_switches_do_not_go_into_one_rack(catalog):
    """32 QM9700 at 1.72 kW are 55 kW: 32U would fit one rack, the air does not."""
    made, _ = judged(catalog, "nvidia-dgx-b200", 64, fabric=FabricDesign(switched("nvidia-qm9700", 32, 32 * 1.72), None, None, None))
    network = made.facility.racks[1]
    assert network.racks == 2
    assert network.binding == "cooling"


def test_gb200_is_refused_by_an_air_cooled_hall_and_by_a_small_rack(catalog):
    """GB200 NVL72: liquid cooling is mandatory and a rack of 50 kW is too small (DGX SuperPOD GB200 reference architecture)."""
    made, _ = judged(catalog, "nvidia-gb200-nvl72", 8, {"facility.cooling": "air", "facility.rack_power": "50 kW"})
    assert {"power.liquid_missing", "power.rack_power_exceeded"} <= rules_of(made, Kind.REJECT)
    fits, _ = judged(catalog, "nvidia-gb200-nvl72", 8, {"facility.cooling": "air, liquid", "facility.rack_power": "160 kW"})
    assert rules_of(fits, Kind.REJECT) == set()
    assert fits.gpus == 576


def test_unknown_power_asks_and_plans_nothing(catalog):
    made, context = judged(catalog, "nvidia-dgx-h100", 1)
    gpu = catalog.gpus["amd-mi455x"]
    node = made.node.model_copy(update={"power": type(made.node.power)(), "gpu": gpu.id})
    silent = Candidate("c", node, gpu, 2, 2, 16)
    fact = {**power.assess(silent, context), **limits(power.RULES, catalog)}
    found = evaluate(compile_rules(tuple(power.RULES)).stage(Stage.POWER), fact, strict=True).findings
    assert silent.facility is None
    assert [each.rule for each in found if each.kind is Kind.QUESTION and each.strength == "hard"] == ["power.unknown"]
    assert "facility" not in power.describe(silent, context)


def test_a_cap_is_offered_where_a_circuit_binds(catalog):
    made, _ = judged(catalog, "workstation-2x-rtx-5090", 1, {"facility.feed": "120v_single_phase"})
    assert {"power.circuit_overloaded", "power.power_cap"} <= rules_of(made)


def test_sections_are_plain_and_their_quantities_read_back(catalog):
    from catalogs.quantities import magnitude

    made, context = judged(catalog, "nvidia-gb300-nvl72", 2, {"facility.cooling": "liquid", "facility.region": "Texas"})
    sections = power.describe(made, context)
    assert magnitude(sections["power"]["it_maximum"], "kW") == pytest.approx(284.0)
    assert magnitude(sections["facility"]["airflow"], "CFM") > 0
    assert magnitude(sections["facility"]["water_flow"], "L/min") > 0
    assert magnitude(sections["power"]["carbon_per_year"], "t") > 0


def test_bill_has_cabinets_and_circuits(catalog):
    """30 DGX B200 and two spares, two in a rack with two circuits: 16 cabinets, 32 distribution units."""
    made, context = judged(catalog, "nvidia-dgx-b200", 30)
    assert {line.category: line.quantity for line in power.bill(made, context)} == {"rack": 16, "power": 32}


def test_bill_of_liquid_cooling(catalog):
    """Eight GB200 racks of 132 kW at 85 % to liquid are 898 kW: two units of 1.35 MW; the racks bring their manifolds."""
    made, context = judged(catalog, "nvidia-gb200-nvl72", 8, {"facility.cooling": "air, liquid"})
    bill = {line.item: line.quantity for line in power.bill(made, context) if line.category == "cooling"}
    assert bill == {"vertiv-cdu-1350": 2, "leak-detection": 8, "facility-water-piping": 1}
    asked = next(each for each in made.findings if each.rule == "power.facility_water")
    assert "897.6 kW" in asked.because
    assert "2 × Vertiv" in asked.because
    assert "17 to 65 °C" in asked.because
    servers, context = judged(catalog, "supermicro-as-4126gs-nmr-lcc-mi355x", 8, {"facility.cooling": "air, liquid"})
    assert {line.item: line.quantity for line in power.bill(servers, context)}["coolant-manifold"] == servers.facility.racks[0].racks


def test_where_no_rack_takes_a_server_nothing_of_a_rack_is_billed(catalog):
    """15 CFM carry off no server's heat: no rack holds one, so there are no manifolds and no leak detection to buy."""
    made, context = judged(catalog, "hpe-proliant-dl380a-gen12-l40s", 2, {"facility.cooling": "liquid", "facility.rack_airflow": "15 CFM"})
    assert made.facility.racks[0].racks == 0
    assert {line.item for line in power.bill(made, context)}.isdisjoint({"coolant-manifold", "leak-detection"})


def own(catalog, answers):
    given = Answers.of({"own_server.gpu": "nvidia-rtx-4090", "own_server.gpus": 4, "own_server.power": "2.4 kW", **answers})
    node = own_server(given, catalog)
    made, context = Candidate("c", node, catalog.gpus[node.gpu], 1, 1, 4), Context(given, catalog, None)
    power.assess(made, context)
    return {line.category for line in power.bill(made, context)}


def test_a_machine_of_ones_own_at_home_is_asked_neither_for_a_second_path_nor_for_its_own_power(catalog):
    given = {"own_server.gpu": "nvidia-rtx-4090", "own_server.gpus": 4, "own_server.power": "2.4 kW", "facility.feed": "230v_single_phase"}
    node = own_server(Answers.of(given), catalog)
    made, context = Candidate("c", node, catalog.gpus[node.gpu], 1, 1, 4), Context(Answers.of(given), catalog, None)
    fact = {**power.assess(made, context), **limits(power.RULES, catalog)}
    found = {each.rule for each in evaluate(compile_rules(tuple(power.RULES)).stage(Stage.POWER), fact, strict=True).findings}
    assert found.isdisjoint({"power.feed_not_redundant", "power.full_load"})


def test_a_machine_of_ones_own_at_home_needs_no_cabinet(catalog):
    assert own(catalog, {"facility.feed": "230v_single_phase"}) == set()
    assert "rack" in own(catalog, {"own_server.height": "4 U"})
    assert "rack" in own(catalog, {"facility.rack_power": "8 kW"})
    assert "rack" in own(catalog, {"own_server.gpu": "nvidia-h100-sxm-80gb", "own_server.gpus": 8, "own_server.power": "10.2 kW"})


def test_an_own_server_of_eight_gaudi_stands_in_a_rack_and_draws_like_other_boxes_of_eight(catalog):
    """Eight modules of 900 W linked all to all by Ethernet: a box of eight like HGX, 1.53 to 1.78 times its GPUs and processors."""
    given = Answers.of({"own_server.gpu": "intel-gaudi-3", "own_server.gpus": 8})
    node = own_server(given, catalog)
    made, context = Candidate("c", node, catalog.gpus[node.gpu], 1, 1, 8), Context(given, catalog, None)
    fact = power.assess(made, context)
    assert fact["in_racks"]
    assert 1.53 * 7.9 <= fact["node_power_kw"] <= 1.78 * 7.9


def test_a_machine_at_home_hangs_on_an_outlet_and_pays_for_no_hall(catalog):
    """Four cards of 450 W and 280 W of processor at a desk: one outlet, no rack, and no cooling plant beside it."""
    given = Answers.of(
        {"own_server.gpu": "nvidia-rtx-4090", "own_server.gpus": 4, "own_server.power": "2.4 kW", "facility.region": "Germany"}
    )
    node = own_server(given, catalog)
    made, context = Candidate("c", node, catalog.gpus[node.gpu], 1, 1, 4), Context(given, catalog, None)
    fact = power.assess(made, context)
    assert (fact["rack_count"], fact["pue"], fact["total_power_kw"]) == (0, 1.0, 2.4)
    assert fact["feed"] == "1 × 230 V, single-phase, 16 A outlet (IEC)"
    assert (fact["place_word"], fact["fullest_word"]) == ("machine", "machine")
    assert placed_racks(made, context) == ()


@pytest.mark.parametrize(("node", "answers"), [("nvidia-gb300-nvl72", {"facility.cooling": "liquid"}), ("workstation-2x-rtx-5090", {})])
def test_what_brings_its_own_cabinet_or_needs_none_bills_none(catalog, node, answers):
    made, context = judged(catalog, node, 2, answers)
    assert [line for line in power.bill(made, context) if line.category in ("rack", "power")] == []


def test_more_power_never_makes_a_design_infeasible(catalog):
    limits_kw = [10, 15, 30, 45, 60, 200]
    verdicts = [
        bool(
            rules_of(
                judged(catalog, "nvidia-dgx-b200", 4, {"facility.rack_power": f"{kw} kW", "facility.total_power": f"{kw} kW"})[0],
                Kind.REJECT,
            )
        )
        for kw in limits_kw
    ]
    assert verdicts == sorted(verdicts, reverse=True)
    assert verdicts[0]
    assert not verdicts[-1]


@pytest.mark.parametrize(
    ("node", "feed", "rejected"),
    [
        ("dell-poweredge-xe9680l-b200", "208v_single_phase", False),  # a server of several kW has more than one cord
        ("supermicro-gb300-nvl72", "415v_three_phase", False),  # eight power shelves, each with its own feed
        ("workstation-2x-rtx-5090", "120v_single_phase", True),  # 1.6 kW on an outlet that carries 1.44 kW
        ("workstation-2x-rtx-5090", "230v_single_phase", False),
    ],
)
def test_circuits_bind_where_a_machine_hangs_on_one(catalog, node, feed, rejected):
    made, _ = judged(catalog, node, 1, {"facility.feed": feed, "facility.cooling": "air, liquid"})
    assert ("power.circuit_overloaded" in rules_of(made)) is rejected


def test_a_pue_that_is_worked_out_is_not_assumed_beside(catalog):
    """Where the climate was said, the PUE is estimated from it and 1.4 stands in for nothing; a limit that nobody gave is neither kind."""
    from rules.advisor import advise

    answers = {"model.preset": "llama-3.1-8b", "scale.nodes": 2, "preferences.nodes": ["nvidia-dgx-h100"]}
    keys = {each.key for each in advise(Answers.of(answers), catalog).assumptions}
    assert "facility.pue" in keys
    assert "facility.power_limit" not in keys
    told = {
        each.key
        for each in advise(Answers.of({**answers, "facility.climate": "cold", "facility.total_power": "1 MW"}), catalog).assumptions
    }
    assert "facility.pue" not in told
    assert {"power.pue_modelled", "facility.power_limit"} <= told
