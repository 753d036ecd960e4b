"""Any answers give a design whose file is valid and whose parts agree, or a message that names the answer."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from catalogs import load_catalog
from rules.advisor import advise
from rules.answers import AnswerError, field_of
from rules.findings import Kind, Strength
from tests.wizard.valid import answers
from wizard import schemas
from wizard.files import design_text, interpret, parse_toml

NAMED = (
    "model.preset", "preferences.gpus", "preferences.nodes", "preferences.vendors", "own_server.gpu", "budget.own_prices",
    "budget.exchange_rates",
)  # fmt: skip
"""Answers that name something: random letters name nothing, which is a message of its own."""


@pytest.fixture(scope="module")
def catalog():
    return load_catalog()


@settings(max_examples=25, deadline=None, derandomize=True, phases=[Phase.generate], suppress_health_check=[HealthCheck.too_slow])
@given(given_answers=answers())
def test_random_answers_keep_the_invariants(catalog, given_answers):
    for key in NAMED:
        given_answers = given_answers.without(key)
    try:
        design = advise(given_answers, catalog)
    except AnswerError as error:
        refused = error.key
    else:
        refused = ""
    if refused:
        assert field_of(refused)
        return
    text = design_text(design, {"name": "a"})
    document = tomllib.loads(text)
    assert [f"{error.json_path}: {error.message[:200]}" for error in schemas.validator("design").iter_errors(document)] == []
    assert interpret(parse_toml(text.encode(), "a.toml"), "a.toml").answers == given_answers
    assert design.failures == ()
    hard = [found for found in design.of_kind(Kind.REJECT) if found.strength is Strength.HARD]
    # Where every price is open, a budget is neither proven broken (not hard) nor known to be kept (does not fit).
    unproven = "choice.budget_unproven" in {found.rule for found in design.conflicts}
    assert design.fits == (bool(design.chosen) and not hard and not unproven)
    assert bool(design.figures) == bool(design.chosen)
    assert all(each.figures.gpus > 0 and each.rank >= 2 for each in design.alternatives)
    for line in design.bom:
        assert line.quantity > 0
        assert line.unit_low is None or line.unit_high is None or line.unit_low <= line.unit_high
