"""Stage money: the fact is complete, the budget judges by the low and the expected price, and the section says what is missing."""

import math

import pytest

from catalogs import load_catalog
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
    made.findings = list(evaluate(compile_rules(tuple(money.RULES)).stage(Stage.MONEY), fact, strict=True).findings)
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


def test_an_unknown_price_neither_fits_nor_breaks_a_budget(catalog):
    made, _, _ = judged(catalog, "nvidia-dgx-b300", 4, {"budget.purchase": "100 USD"})
    assert made.rejections == []
    assert {"money.price_unknown", "money.budget_unpriced"} <= rules_of(made)


def test_parts_without_a_price_become_a_question(catalog):
    made, _, fact = judged(catalog, "nvidia-dgx-b200", 4, bom=[BomLine("ddn-ai400x2t", "AI400X2T", "storage", 2)])
    asked = next(found for found in made.findings if found.rule == "money.parts_unpriced")
    assert "2 × AI400X2T" in asked.ask
    assert fact["missing_count"] == 1


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
    made, _, _ = judged(catalog, "nvidia-dgx-h200", 4, {"budget.purchase": "1M USD"})
    rejected = next(found for found in made.findings if found.kind is Kind.REJECT)
    assert {remedy.key for remedy in rejected.remedies} >= {"budget.purchase", "scale.deadline"}
    assert next(remedy.value for remedy in rejected.remedies if remedy.key == "budget.purchase") == "1280000 USD"
