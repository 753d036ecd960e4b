"""Where only candidates without a price are left beside a budget: which larger budget buys one whose price is known."""

from __future__ import annotations

from types import SimpleNamespace

from rules.assembly import _cheapest_above
from rules.choice import Ranking
from rules.findings import Remedy


def dear(name: str, usd: float | None, *rules: str):
    """Return a candidate that stands aside for these rules, the first of which asks for the budget that it takes."""
    asked = (Remedy("scale.nodes", "", "fewer nodes"), Remedy("budget.purchase", f"{usd:.0f} USD" if usd else "", "raise it"))
    rejections = [SimpleNamespace(rule=rule, remedies=asked) for rule in rules]
    figures = SimpleNamespace(purchase_usd=usd)
    return SimpleNamespace(candidate=SimpleNamespace(name=name, rejections=rejections), figures=figures)


OVER = "money.budget_exceeded"


def test_the_cheapest_that_only_costs_too_much_is_named_with_the_budget_that_it_takes():
    bad = (dear("B200", 515_000, OVER), dear("L40S", 85_280, OVER), dear("small", 20_000, OVER, "vram.state_does_not_fit"))
    found = _cheapest_above(Ranking((), (), bad))
    assert found is not None
    candidate, larger = found
    assert candidate.name == "L40S"
    assert (larger.key, larger.value) == ("budget.purchase", "85280 USD")


def test_what_fails_otherwise_or_has_no_price_is_no_way_out():
    bad = (dear("no price", None, OVER), dear("hot", 20_000, "power.rack_limit"))
    assert _cheapest_above(Ranking((), (), bad)) is None
