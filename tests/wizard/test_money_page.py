"""The page on prices: its example of answers is read as it stands."""

from __future__ import annotations

import tomllib
from pathlib import Path

from catalogs import load_catalog
from rules.answers import Answers
from rules.sizing.own_prices import exchange_rates, own_prices

PAGE = Path(__file__).parents[2] / "docs" / "money.md"


def test_the_example_is_read_and_prices_what_it_names():
    example = PAGE.read_text(encoding="utf-8").split("```toml\n")[1].split("```")[0]
    budget = tomllib.loads(example)["answers"]["budget"]
    answers = Answers.of({f"budget.{key}": value for key, value in budget.items()})
    assert len(own_prices(answers)) == len(budget["own_prices"]) == 2
    assert exchange_rates(answers)["EUR"] == 1.08
    assert "nvidia-dgx-h100" in load_catalog().nodes
