"""Costs that people published: sums that are wrong, and a run whose price is known."""

from __future__ import annotations

import pytest

from catalogs.quantities import magnitude
from rules.sizing.cost import purchase_of
from rules.sizing.results import BomLine
from tests.published.asking import asked, case


@case("calc-cluster-200k-blog", "https://counter.news/from-budget-to-beast-building-a-200k-deep-learning-cluster-optimized-for-llms")
def test_a_bill_is_added_up_again():
    """The page's lines come to 188,500 USD; its own total says 198,500."""
    page = [("node", 4, 38_000), ("head", 1, 7_500), ("switch", 1, 12_000), ("cables", 1, 3_000), ("rack", 1, 6_000), ("misc", 1, 8_000)]
    lines = [BomLine(name, name, "other", count, unit_low=float(price), unit_high=float(price)) for name, count, price in page]
    total = purchase_of(lines)
    assert magnitude(total.expected, "USD") == 188_500
    assert total.low == total.high


@case("ask-gpt2-1558m-cost", "https://vuink.com/post/tvguho-d-dpbz/karpathy/llm-d-dc/discussions/677")
def test_gpt_2_in_a_day_on_one_node():
    """1.558B on 33.6 billion tokens: 24 hours and 672 USD on one rented node of eight H100, without any network."""
    design = asked({"model.preset": "gpt2-xl", "training.tokens": "33.6B", "scale.nodes": 1, "preferences.nodes": ["nvidia-dgx-h100"]})
    assert design.accepted
    assert 18 <= 24 * design.days() <= 36
    assert 500 <= 3.5 * design.fact("run_gpu_hours") <= 1000
    assert design.candidate.fabric.compute is None
    assert design.finding("fabric.none_needed") is not None
    assert not [line for line in design.candidate.bom if line.category in ("switch", "cable", "transceiver")]
    renting = design.finding("money.rent_instead")
    assert renting is not None
    assert design.fact("rent_run_low_usd") <= 672 <= design.fact("rent_high_usd") * design.fact("run_gpu_hours")


@case("cost-8xh100-3y", "https://v2-pseo-ai.pages.dev/tools/gpu-tco-analysis")
def test_three_years_of_eight_h100_with_colocation():
    """325,000 USD, 10.2 kW at 200 USD per kW and month over 36 months: 73,440 USD of colocation, 400,000 to 650,000 USD in all."""
    design = asked({
        "model.preset": "llama-3.1-8b", "scale.nodes": 1, "preferences.nodes": ["nvidia-dgx-h100"], "budget.years": "3 years",
        "budget.own_prices": ["nvidia-dgx-h100 = 325k USD"], "budget.colocation": "200 USD/kW/month",
        "budget.electricity_price": "0.09 USD/kWh",
    })  # fmt: skip
    cost, kilowatts = design.candidate.cost, magnitude(design.candidate.facility.it_power_maximum, "kW")
    colocation = 3 * magnitude(cost.yearly["colocation"].expected, "USD")
    assert colocation == pytest.approx(200 * 36 * kilowatts)
    assert 70_000 <= colocation * 10.2 / kilowatts <= 77_000
    assert 400_000 <= magnitude(cost.ownership.expected, "USD") <= 650_000
    priced = [line for line in cost.bom if line.unit_low is not None]
    assert priced
    assert all(line.source == "you" or (line.date and line.source) for line in priced)
    assert "staff" in design.finding("money.ownership_scope").because
    assert cost.missing
