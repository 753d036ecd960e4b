"""Stage money: the fact is complete, the budget judges by the low and the expected price, and the section says what is missing."""

import math

import pytest

from catalogs import load_catalog
from catalogs.quantities import quantity
from rules.answers import Answers
from rules.candidate import Candidate, Context
from rules.engine import compile_rules, evaluate
from rules.findings import Kind, Stage
from rules.judging import limits
from rules.sizing.results import BomLine
from rules.sizing.workload import describe_workload
from rules.stages import money, power

MODEL = {"model.preset": "llama-3.1-8b"}


@pytest.fixture(scope="module")
def catalog():
    return load_catalog()


def judged(catalog, node, units, answers=None, bom=()):
    given = Answers.of({**MODEL, **(answers or {})})
    record = catalog.nodes[node]
    made = Candidate("c", record, catalog.gpus[record.gpu], units, units * record.trays, units * record.gpu_count)
    context = Context(given, catalog, describe_workload(given, catalog))
    power.assess(made, context)
    made.bom = list(bom)
    fact = {**money.assess(made, context), **limits(money.RULES, catalog)}
    made.said = list(evaluate(compile_rules(tuple(money.RULES)).stage(Stage.MONEY), fact, strict=True).said)
    return made, context, fact


def rules_of(made):
    return {found.rule for found in made.findings}


@pytest.mark.parametrize("node", ["nvidia-dgx-b200", "nvidia-dgx-b300", "nvidia-gb300-nvl72", "dell-poweredge-xe9680-h100"])
def test_every_field_is_stated_and_can_be_compared(catalog, node):
    _, _, fact = judged(catalog, node, 2)
    assert {field.name for field in money.FACTS} <= set(fact)
    assert all(math.isfinite(fact[field.name]) for field in money.FACTS if isinstance(fact[field.name], float))


@pytest.mark.parametrize(
    ("budget", "rule", "rejected"),
    [
        # four complete H200 servers for 320,000 to 420,000 USD each: 1.28 to 1.68 million, 1.48 expected
        ("1.2M USD", "money.budget_exceeded", True),
        ("1.4M USD", "money.budget_overrun", False),
        ("1.5M USD", "money.budget_close", False),
        ("1.7M USD", "money.budget_held", False),
    ],
)
def test_the_budget_rejects_by_the_low_price_and_warns_by_the_expected_one(catalog, budget, rule, rejected):
    made, _, _ = judged(catalog, "nvidia-dgx-h200", 4, {"budget.purchase": budget})
    budget_rules = {found for found in rules_of(made) if found.startswith("money.budget_")}
    assert budget_rules == {rule}
    assert bool(made.rejections) is rejected


@pytest.mark.parametrize(
    ("node", "budget", "rule"),
    [
        # ten servers of eight B300, whose list price is 45,000 USD each: 3.6 million for the GPUs alone
        ("nvidia-dgx-b300", "500 USD", "money.budget_floor_exceeded"),
        ("nvidia-dgx-b300", "3M USD", "money.budget_floor_exceeded"),
        ("nvidia-dgx-b300", "3.7M USD", "money.budget_unpriced"),
        # of the MI325X no price is known at all
        ("supermicro-as-8125gs-tnmr2-mi325x", "500 USD", "money.budget_unpriced"),
    ],
)
def test_an_unknown_price_is_measured_by_its_floor_and_never_proves_a_budget(catalog, node, budget, rule):
    made, _, fact = judged(catalog, node, 10, {"budget.purchase": budget})
    assert {found for found in rules_of(made) if found.startswith("money.budget_")} == {rule}
    assert bool(made.rejections) is (rule == "money.budget_floor_exceeded")
    unproven = next((found for found in made.findings if found.rule == "money.budget_unpriced"), None)
    assert unproven is None or (unproven.kind, unproven.strength) == (Kind.WARNING, "strong")
    assert fact["purchase_floor_usd"] == (3_600_000 if node == "nvidia-dgx-b300" else 0)


def test_the_floor_counts_spares_and_what_else_has_a_price(catalog):
    """Ten DGX B300 and a spare at 45,000 USD per GPU, with two QM9700 at their lowest price."""
    bom = [
        BomLine("nvidia-dgx-b300", "DGX B300", "compute", 10),
        BomLine("nvidia-dgx-b300", "DGX B300 (spare)", "spares", 1),
        BomLine("nvidia-qm9700", "QM9700", "switch", 2),
    ]
    switches = next(row.low for row in catalog.prices if row.item == "nvidia-qm9700")
    _, _, fact = judged(catalog, "nvidia-dgx-b300", 10, bom=bom)
    assert fact["purchase_floor_usd"] == 11 * 8 * 45_000 + 2 * switches


def test_a_server_that_has_a_price_is_judged_by_it(catalog):
    made, _, fact = judged(catalog, "nvidia-dgx-b200", 2, {"budget.purchase": "900000 USD"})
    assert fact["purchase_floor_usd"] == fact["purchase_low_usd"] == 1_030_000
    assert "money.budget_exceeded" in rules_of(made)


def test_parts_without_a_price_become_a_question(catalog):
    made, _, fact = judged(catalog, "nvidia-dgx-b200", 4, bom=[BomLine("weka-prime-2118", "Prime 2118", "storage", 2)])
    asked = next(found for found in made.findings if found.rule == "money.storage_unpriced")
    assert "2 × Prime 2118" in asked.ask
    assert asked.because.startswith("1 kind of part has no price")
    assert fact["missing_count"] == 1


@pytest.mark.parametrize(
    ("category", "to"),
    [
        ("switch", "network vendor"),
        ("transceiver", "network vendor"),
        ("storage", "storage vendor"),
        ("rack", "datacenter"),
        ("power", "datacenter"),
        ("cooling", "datacenter"),
        ("spares", "server vendor"),
        ("management", "server vendor"),
    ],
)
def test_prices_are_asked_of_those_who_sell_the_part(catalog, category, to):
    made, _, _ = judged(catalog, "nvidia-dgx-b200", 4, bom=[BomLine("nothing-known", "a part", category, 2)])
    assert [found.to for found in made.findings if "a part" in found.ask] == [to]


def test_a_cloud_is_measured_by_what_the_run_costs(catalog):
    """A run of a day is not worth the purchase of the cluster: the answer is far below 1.4 million USD, and per GPU-hour."""
    from rules.sizing.results import Range, ReliabilityEstimate

    given = Answers.of({**MODEL, "training.tokens": "1B"})
    node = catalog.nodes["nvidia-dgx-h100"]
    made = Candidate("c", node, catalog.gpus[node.gpu], 4, 4, 32)
    day, hour = quantity(1.0, "day"), quantity(100.0, "hour")
    made.reliability = ReliabilityEstimate(Range(hour, hour, hour), 0.9, 0.95, 0.99, 1, quantity(600, "s"), Range(day, day, day))
    context = Context(given, catalog, describe_workload(given, catalog))
    power.assess(made, context)
    fact = {**money.assess(made, context), **limits(money.RULES, catalog)}
    found = evaluate(compile_rules(tuple(money.RULES)).stage(Stage.MONEY), fact, strict=True).findings
    rent = next(each for each in found if each.rule == "money.rent_instead")
    assert fact["run_usd"] < 5000  # 768 GPU-hours
    assert rent.good_answer.startswith(f"at most {fact['run_usd']:,.0f} USD for the run")
    assert f"{fact['ownership_usd']:,.0f}" not in rent.good_answer


def test_the_rented_band_is_of_h100_and_scales(catalog):
    """ML Engineering: 20 to 50 million USD for 64 nodes and three years, 1.5 to 3.7 USD per GPU-hour of H100."""
    _, _, fact = judged(catalog, "nvidia-dgx-h100", 32, {"budget.years": "4 years"})
    assert (fact["rental_band_low_usd"], fact["rental_band_high_usd"]) == pytest.approx((20e6 * 2 / 3, 50e6 * 2 / 3))
    hours = 32 * 8 * 4 * 8766
    assert fact["rental_band_low_usd"] / hours == pytest.approx(1.5, rel=0.02)
    for other in ("nvidia-dgx-h200", "nvidia-dgx-b200", "hpe-proliant-dl380a-gen12-l40s"):
        assert "money.rented_magnitude" not in rules_of(judged(catalog, other, 64)[0])


@pytest.mark.parametrize(
    ("region", "rules"),
    [
        (None, set()),
        ("Texas", set()),
        ("United Kingdom", {"money.electricity_tariff"}),
        ("Atlantis", {"money.electricity_tariff", "money.region_unknown"}),
    ],
)
def test_a_place_without_a_price_is_asked_about(catalog, region, rules):
    made, context, _ = judged(catalog, "nvidia-dgx-b200", 2, {"facility.region": region} if region else {})
    assert rules_of(made) & {"money.electricity_tariff", "money.region_unknown"} == rules
    assert "budget.electricity_price" not in context.answers.assumptions()
    assumed = next(found for found in made.findings if found.rule == "money.electricity_assumed")
    assert ("0.0725 USD/kWh" in assumed.because) is (region == "Texas")


@pytest.mark.parametrize(("kind", "rule"), [("pretraining", "money.run_cost"), ("fine_tuning_lora", "money.run_cost_in_part")])
def test_six_flop_per_parameter_are_said_of_full_training_alone(catalog, kind, rule):
    _, _, fact = judged(catalog, "nvidia-dgx-b200", 2, {"workload.kind": kind})
    assert fact["full_training"] is (rule == "money.run_cost")
    by_id = {each.id: each for each in money.RULES}
    assert ("FLOP per active parameter" in by_id[rule].because) is (rule == "money.run_cost")


def test_the_network_in_the_price_per_gpu_is_said(catalog):
    made, _, _ = judged(catalog, "dell-poweredge-xe9680-h100", 4)
    assert {"money.network_in_price", "money.low_confidence"} <= rules_of(made)


@pytest.mark.parametrize(("node", "rule"), [("nvidia-dgx-a100-640gb", "money.end_of_life"), ("nvidia-vera-rubin-nvl72", "money.announced")])
def test_status_of_products(catalog, node, rule):
    made, _, _ = judged(catalog, node, 1, {"facility.cooling": "liquid"})
    assert rule in rules_of(made)


def test_old_prices_are_old_beside_the_newest_one(catalog):
    """The DGX B200 slide is of March 2026, the newest price rows of the catalog of October 2026."""
    made, _, fact = judged(catalog, "nvidia-dgx-b200", 1)
    assert fact["price_age_months"] >= 6
    assert "money.price_stale" in rules_of(made)


@pytest.mark.parametrize(("objective", "rule"), [("fastest", "money.performance_first"), ("cheapest", "money.cheapest_decided")])
def test_objectives(catalog, objective, rule):
    made, _, _ = judged(catalog, "nvidia-dgx-h200", 4, {"budget.objective": objective})
    assert rule in rules_of(made)
    assert all(found.guidance for found in made.findings)


def test_section_shows_unknown_as_unknown(catalog):
    made, context, _ = judged(catalog, "nvidia-dgx-b300", 2)
    section = money.describe(made, context)["cost"]
    assert section["purchase"] == "unknown"
    assert section["missing"] == ["2 × NVIDIA DGX B300"]
    assert "staff" in section["notes"][0]


def test_more_money_never_makes_a_design_infeasible(catalog):
    verdicts = [
        bool(judged(catalog, "nvidia-dgx-h200", 4, {"budget.purchase": f"{million}M USD"})[0].rejections)
        for million in (0.5, 1.0, 1.3, 1.5, 9)
    ]
    assert verdicts == sorted(verdicts, reverse=True)
    assert (verdicts[0], verdicts[-1]) == (True, False)


def test_findings_carry_their_kind_of_way_out(catalog):
    """Four H200 servers of 320,000 to 420,000 USD: 1.48 million are expected. Without a deadline that binds, time does not help."""
    made, _, _ = judged(catalog, "nvidia-dgx-h200", 4, {"budget.purchase": "1M USD", "scale.nodes": 4})
    rejected = next(found for found in made.findings if found.kind is Kind.REJECT)
    assert {remedy.key for remedy in rejected.remedies} == {"budget.purchase", "scale.nodes", "preferences.gpus"}
    assert next(remedy.value for remedy in rejected.remedies if remedy.key == "budget.purchase") == "1480000 USD"


@pytest.mark.parametrize(("days", "helps"), [(58.0, True), (2.4, False)])
def test_more_time_is_advised_where_the_deadline_sets_the_size(catalog, days, helps):
    """A run of 58 of 60 days would be late with fewer nodes; one of 2.4 days is as large as it is for its memory."""
    from rules.sizing.results import Range, ReliabilityEstimate

    given = Answers.of({**MODEL, "scale.deadline": "60 days", "budget.purchase": "1M USD"})
    node = catalog.nodes["nvidia-dgx-h200"]
    made = Candidate("c", node, catalog.gpus[node.gpu], 26, 26, 208)
    run, hour = quantity(days, "day"), quantity(100.0, "hour")
    made.reliability = ReliabilityEstimate(Range(hour, hour, hour), 0.9, 0.95, 0.99, 1, quantity(600, "s"), Range(run, run, run))
    context = Context(given, catalog, describe_workload(given, catalog))
    fact = {**money.assess(made, context), **limits(money.RULES, catalog)}
    found = evaluate(compile_rules(tuple(money.RULES)).stage(Stage.MONEY), fact, strict=True).findings
    rejected = next(each for each in found if each.rule == "money.budget_exceeded")
    assert ("scale.deadline" in {remedy.key for remedy in rejected.remedies}) is helps
