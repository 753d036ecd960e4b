"""Where each rule begins and ends to speak: written down as data, so that no threshold and no operator moves unseen."""

from __future__ import annotations

import sys

import pytest

from catalogs import load_catalog
from rules.cases import all_rules
from rules.judging import limits
from tests.edges.edges import edges
from tests.rules.mutants import mutants_of, speaks, survivors

RULES = list(all_rules().values())
EDGES = list(edges())
LEAST_KILLED = 0.90


@pytest.fixture(scope="module")
def known():
    return limits(tuple(RULES), load_catalog())


def test_every_rule_speaks_at_its_edge_and_is_silent_beside_it(known):
    wrong = [f"{each.rule}: {dict(each.facts)}" for each in EDGES if speaks(all_rules()[each.rule], each, known) is not each.speaks]
    assert wrong == []


def test_every_rule_has_edges_of_both_kinds():
    """Write those of a new rule with `python tests/edges/make_edges.py`, and check them against its sources."""
    for kind in (True, False):
        assert {rule.id for rule in RULES} - {each.rule for each in EDGES if each.speaks is kind} == set()
    assert {each.rule for each in EDGES} <= set(all_rules())


def test_moved_thresholds_and_turned_operators_are_seen(known):
    total, left = survivors(RULES, (), EDGES, known)
    sys.stdout.write("\n  ".join([f"{total} mutants, {len(left)} survive:", *(each.what for each in left)]))
    assert total > 1000
    assert 1 - len(left) / total >= LEAST_KILLED, [each.what for each in left]


def test_a_moved_threshold_of_the_catalog_is_seen(known):
    """Edges state no limits: they are read from the catalog, so a limit that moves by a quarter must turn an edge."""
    used = {name for rule in RULES for name in rule.reads if isinstance(known.get(name), (int, float))}
    unseen = [
        name
        for name in sorted(used)
        if all(
            speaks(all_rules()[each.rule], each, {**known, name: known[name] * factor}) is each.speaks
            for factor in (0.8, 1.25)
            for each in EDGES
            if name in all_rules()[each.rule].reads
        )
    ]
    assert len(unseen) <= len(used) * (1 - LEAST_KILLED), unseen


def test_mutants_differ_from_their_rule():
    for rule in RULES[:50]:
        assert all(each.rule.when != rule.when for each in mutants_of(rule))
