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
def test_every_price_has_a_date_and_a_source_and_the_total_says_what_it_leaves_out():
    """A claim of 450,000 to 650,000 USD over three years includes colocation; ours names it as left out (the rest of the case is open)."""
    design = asked({
        "model.preset": "llama-3.1-8b", "scale.nodes": 1, "preferences.nodes": ["nvidia-dgx-h100"], "budget.years": "3 years",
    })  # fmt: skip
    priced = [line for line in design.candidate.cost.bom if line.unit_low is not None]
    assert priced
    assert all(line.date and line.source for line in priced)
    assert magnitude(design.candidate.cost.ownership.expected, "USD") == pytest.approx(400_000, rel=0.2)
    scope = design.finding("money.ownership_scope")
    assert "colocation" in scope.because
    assert design.candidate.cost.missing
