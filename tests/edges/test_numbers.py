"""The numbers at the edges of rules, held to what their sources print instead of to the rules: see sources/numbers.toml."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from catalogs import load_catalog
from rules.cases import all_rules
from rules.guidance.declare import Scaled
from rules.judging import limits
from tests.edges.edges import Edge, edges
from tests.rules.mutants import speaks

ROWS = tomllib.loads((Path(__file__).parent / "sources" / "numbers.toml").read_text("utf-8"))["number"]
KINDS = {"published", "definition", "judgement"}
NEAR = 0.05
SIDES = {
    "below": (True, False, False),
    "to": (True, True, False),
    "at": (False, True, False),
    "from": (False, True, True),
    "above": (False, False, True),
}
"""Whether a rule speaks just below its number, at it and just above."""
COUNTED = (0, 1)
"""There is one, there are several: what the words say."""


def known():
    return limits(tuple(all_rules().values()), load_catalog())


def name_of(row) -> str:
    return f"{row['rule']}: {row['field']} {row['speaks']} {row['number']}"


def of_catalog(row) -> float:
    """Return the number that the catalog holds for a row."""
    id_, _, value = row["threshold"].partition(".")
    record = load_catalog().thresholds[id_]
    return record.values[value] if value else record.value


def test_every_number_of_a_rule_has_its_row():
    fields = known()
    needed = set()
    for rule in all_rules().values():
        for each in rule.when:
            right = each.right
            if isinstance(right, Scaled):
                if right.field in fields or right.factor != 1.0:
                    needed.add((rule.id, each.left))
                elif each.left in fields:
                    needed.add((rule.id, right.field))
            elif isinstance(right, (int, float)) and not isinstance(right, bool) and right not in COUNTED:
                needed.add((rule.id, each.left))
    assert {(row["rule"], row["field"]) for row in ROWS} == needed


def test_every_row_says_what_its_number_is():
    assert {row["kind"] for row in ROWS} == KINDS
    assert [name_of(row) for row in ROWS if len(row["says"].split()) < 1] == []


def test_the_reference_page_says_what_a_number_rests_on():
    """Published: the rule names a source. Judgement: the rule says why it was taken, and the page prints it as the project's own."""
    rules = all_rules()
    assert [name_of(row) for row in ROWS if row["kind"] == "published" and not named_sources(rules[row["rule"]])] == []
    judged = {row["rule"] for row in ROWS if row["kind"] == "judgement"}
    assert judged == {rule.id for rule in rules.values() if rule.judgement}


def named_sources(rule) -> set[str]:
    catalog = load_catalog()
    found = {*rule.sources, *(catalog.thresholds[id_].source for id_ in rule.thresholds)}
    assert all(source in catalog.sources for source in found), rule.id
    return found


@pytest.mark.parametrize("row", [row for row in ROWS if "threshold" in row], ids=name_of)
def test_the_catalog_holds_what_the_source_prints(row):
    assert of_catalog(row) * row.get("times", 1) == pytest.approx(row["number"])
    id_ = row["threshold"].partition(".")[0]
    assert id_ in all_rules()[row["rule"]].thresholds
    assert load_catalog().thresholds[id_].source in load_catalog().sources


@pytest.mark.parametrize("row", ROWS, ids=name_of)
def test_the_rule_speaks_on_the_side_that_its_source_names(row):
    """The other facts are those of the rule's edge; this one lies at the number and just beside it."""
    rule = all_rules()[row["rule"]]
    start = next(each.facts for each in edges() if each.rule == rule.id and each.speaks)
    number = row["number"] * (start[row["per"]] if "per" in row else 1)
    step = row.get("step", number * NEAR)
    found = tuple(
        speaks(rule, Edge(rule.id, {**start, row["field"]: value}, True), known()) for value in (number - step, number, number + step)
    )
    assert found == SIDES[row["speaks"]]
