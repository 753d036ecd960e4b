"""Where each rule begins and ends to speak, written from its words and sources: rules that say one thing and compare another are seen."""

from __future__ import annotations

from collections import Counter

import pytest

from catalogs import load_catalog
from rules.cases import all_rules
from rules.guidance.declare import F
from rules.judging import limits
from tests.edges.edges import Edge, edges, evidence, rows
from tests.edges.killed import survived
from tests.edges.sheet import sheet
from tests.rules.mutants import mutants_of, speaks, survivors
from tests.rules.samples import rule

RULES = list(all_rules().values())
EDGES = list(edges())
LEAST_KILLED = 0.95
NEAR_LIMITS = (0.8, 1.25)
FEWEST_WORDS = 1
HOW = "write its row from what `python tests/edges/sheet.py RULE` prints, see tests/edges/README.md"


@pytest.fixture(scope="module")
def known():
    return limits(tuple(RULES), load_catalog())


def test_every_rule_speaks_where_its_words_say_so_and_nowhere_else(known):
    wrong = [f"{each.rule}: {dict(each.facts)}" for each in EDGES if speaks(all_rules()[each.rule], each, known) is not each.speaks]
    assert wrong == []


def test_every_rule_has_edges_of_both_kinds_that_are_evidence():
    for kind in (True, False):
        assert {each.id for each in RULES} - {each.rule for each in evidence() if each.speaks is kind} == set(), HOW
    assert {each.rule for each in EDGES} <= set(all_rules())


def test_every_row_says_from_what_it_was_written():
    assert [row["rule"] for row in rows() if len(row["says"].split()) < FEWEST_WORDS] == []
    assert [row["rule"] for row in rows() if any(not choice["why"].strip() for choice in row.get("chosen", ()))] == []


def test_a_rule_has_one_row_and_its_facts_are_the_fields_that_it_reads(known):
    assert [name for name, count in Counter(row["rule"] for row in rows()).items() if count > 1] == []
    for each in EDGES:
        assert set(each.facts) == {name for name in all_rules()[each.rule].reads if name not in known}, each.rule


def test_moved_thresholds_and_turned_operators_are_seen():
    """What was chosen for a rule, where no word and no source tells, counts as no evidence: only what was written from them does."""
    total, left = survived()
    assert total.total() > 1000
    assert 1 - len(left) / total.total() >= LEAST_KILLED, [each.what for each in left]


def test_each_kind_of_mutant_is_seen():
    """No kind hides behind the many of another: `make mutants` prints them."""
    total, left = survived()
    alive = Counter(each.kind for each in left)
    assert len(total) == 4
    assert {kind: alive[kind] for kind, count in total.items() if 1 - alive[kind] / count < 0.9} == {}


class TestMutants:
    RULE = rule("vram.sample", F.a > 10.0, F.b == "x")
    NEAR = (
        Edge(RULE.id, {"a": 10.5, "b": "x"}, True),
        Edge(RULE.id, {"a": 10.0, "b": "x"}, False),
        Edge(RULE.id, {"a": 10.5, "b": "y"}, False),
    )

    def test_all_of_a_rule(self):
        assert sorted(each.what for each in mutants_of(self.RULE)) == [
            "vram.sample: a > 10.0: comparison left out",
            "vram.sample: a > 10.0: edge opened or closed",
            "vram.sample: a > 10.0: moved to 11",
            "vram.sample: a > 10.0: moved to 9",
            "vram.sample: a > 10.0: operator turned",
            "vram.sample: b == x: comparison left out",
            "vram.sample: b == x: operator turned",
        ]

    def test_edges_that_lie_near_kill_them_all(self):
        assert survivors([self.RULE], (), self.NEAR, {}) == (7, [])

    def test_edges_that_lie_far_do_not(self):
        far = (Edge(self.RULE.id, {"a": 99.0, "b": "x"}, True), Edge(self.RULE.id, {"a": 1.0, "b": "x"}, False))
        left = {each.what.removeprefix("vram.sample: ") for each in survivors([self.RULE], (), far, {})[1]}
        assert left == {"a > 10.0: edge opened or closed", "a > 10.0: moved to 11", "a > 10.0: moved to 9", "b == x: comparison left out"}

    def test_without_edges_all_survive(self):
        assert len(survivors([self.RULE], (), (), {})[1]) == 7

    def test_they_differ_from_their_rule(self):
        for each in RULES:
            assert all(mutant.rule.when != each.when for mutant in mutants_of(each))


def test_a_moved_threshold_of_the_catalog_is_seen(known):
    """Edges state no limits: they are read from the catalog, so a limit that moves by a quarter must turn an edge."""
    used = {name for each in RULES for name in each.reads if isinstance(known.get(name), (int, float))}
    unseen = [
        name
        for name in sorted(used)
        if all(
            speaks(all_rules()[each.rule], each, {**known, name: known[name] * factor}) is each.speaks
            for factor in NEAR_LIMITS
            for each in evidence()
            if name in all_rules()[each.rule].reads
        )
    ]
    assert unseen == []


def test_a_sheet_tells_what_a_rule_says_and_not_what_it_compares():
    text = sheet("power.pue_optimistic")
    assert "is below the {limit_pow_pue_hyperscale_low} that the largest operators reach" in text
    assert "reads pue: total power over IT power" in text
    assert "hyperscale_low" in text
    for sign in (" < ", " > ", " <= ", " >= ", " == "):
        assert sign not in text
