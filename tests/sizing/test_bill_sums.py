"""The bill's sums on random designs: recomputed from the file, line by line, by nothing but multiplication and addition."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from catalogs import load_catalog
from rules.advisor import advise
from rules.answers import AnswerError
from tests.wizard.test_random_answers import NAMED
from tests.wizard.valid import answers
from wizard.files import design_text


@pytest.fixture(scope="module")
def catalog():
    return load_catalog()


def dollars(text):
    return float(text.split(" ")[0])


@settings(max_examples=12, deadline=None, derandomize=True, phases=[Phase.generate], suppress_health_check=[HealthCheck.too_slow])
@given(given_answers=answers())
def test_totals_are_the_sums_of_their_lines(catalog, given_answers):
    for key in (*NAMED, "budget.purchase", "parallelism.mode"):
        given_answers = given_answers.without(key)
    try:
        design = advise(given_answers, catalog)
    except AnswerError:
        return
    document = tomllib.loads(design_text(design, {"name": "a"}))
    lines, cost = document.get("bom", []), document["design"].get("cost", {})
    priced = [line for line in lines if "unit_low" in line]
    for line in priced:
        assert line["unit_low"] <= line["unit_high"]
        assert line.get("source"), line
        assert line.get("date") or line["source"] == "you", line
    if not isinstance(cost.get("purchase"), dict):
        return
    low, high = (sum(line["quantity"] * line[f"unit_{end}"] for line in priced) for end in ("low", "high"))
    assert dollars(cost["purchase"]["low"]) == pytest.approx(low, rel=1e-3)
    assert dollars(cost["purchase"]["high"]) == pytest.approx(high, rel=1e-3)
    parts = {name: dollars(amount) for name, amount in cost["part"].items()}
    assert sum(parts.values()) == pytest.approx(dollars(cost["ownership"]["expected"]), rel=1e-3)
    covered = [line for line in lines if line.get("note") == "included in the servers' price"]
    assert len(cost["missing"]) == len([line for line in lines if "unit_low" not in line and line not in covered])
