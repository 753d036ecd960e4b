"""The engine against a naive evaluator, on the declared rules and random facts at and around their edges, each rule both ways."""

from __future__ import annotations

import random
import re
import sys
from collections import Counter, defaultdict
from typing import TYPE_CHECKING

import pytest

from catalogs import load_catalog
from rules.compile import FieldClass
from rules.engine import compile_rules, evaluate
from rules.findings import Scalar, Stage
from rules.guidance.declare import Rule, Scaled
from rules.judging import limits
from rules.render import template_fields
from rules.stages import stage_module
from tests.edges.edges import edges
from tests.rules.naive import judge

if TYPE_CHECKING:
    from collections.abc import Mapping

ALL = 20_000
SAMPLE = 2_400
OVERLAID = 3
"""Rules of whose edges a fact is made up, beside what is random."""
EDGES: dict[str, list[Mapping[str, Scalar]]] = defaultdict(list)
for edge in edges():
    EDGES[edge.rule].append(edge.facts)
TEXTS = ("another", "none", "")


def kinds_of(rules: tuple[Rule, ...]) -> dict[str, FieldClass]:
    """What each field holds, from the program; a field that is compared with fields alone is a number."""
    classes = {name: kind for chapter in compile_rules(rules).stage(rules[0].stage).chapters for name, kind in chapter.classes.items()}
    return {name: kind or FieldClass.NUMBER for name, kind in classes.items()}


def constants_of(rules: tuple[Rule, ...]) -> dict[str, list[Scalar]]:
    """The constants that each field is compared with."""
    found: dict[str, list[Scalar]] = {}
    for rule in rules:
        for each in rule.when:
            if not isinstance(each.right, Scaled):
                found.setdefault(each.left, []).append(each.right)
    return found


class Facts:
    """Makes random facts of a stage: at, just beside and far from the constants, limits and edges of its rules."""

    def __init__(self, stage: Stage, source: random.Random) -> None:
        self.rules = tuple(stage_module(stage).RULES)
        self.source, self.kinds, self.constants = source, kinds_of(self.rules), constants_of(self.rules)
        self.limits = dict(limits(self.rules, load_catalog()))
        self.printed: dict[str, Scalar] = dict.fromkeys((name for rule in self.rules for name in template_fields(rule)), 1)
        numbers = [each for each in self.limits.values() if isinstance(each, (int, float)) and not isinstance(each, bool)]
        self.numbers = [*numbers, 0, 1, 2, 8, 100, 1000.0, 0.5]
        self.edges = {rule.id: EDGES[rule.id] for rule in self.rules}

    def value(self, name: str) -> Scalar:
        kind, source = self.kinds[name], self.source
        own = self.constants.get(name, [])
        if kind is FieldClass.FLAG:
            return source.random() < 0.5
        if kind is FieldClass.TEXT:
            return source.choice([*own, *own, *TEXTS])
        near = float(source.choice([*own, *own, *self.numbers]))  # type: ignore[arg-type]
        return near * source.choice((1.0, 1.0, 0.999, 1.001, 0.5, 2.0))

    def fact(self) -> dict[str, Scalar]:
        made = {name: self.value(name) for name in self.kinds if name not in self.limits}
        for rule in self.source.sample(self.rules, min(OVERLAID, len(self.rules))):
            for other in self.chain(rule):
                made |= self.source.choice(self.edges[other.id])
            for each in rule.when:
                if isinstance(each.right, Scaled) and each.left in made and self.source.random() < 0.2:
                    value = {**made, **self.limits}[each.right.field]
                    made[each.left] = value if isinstance(value, (str, bool)) else float(value) * each.right.factor
        return {**self.printed, **made, **self.limits}

    def chain(self, rule: Rule) -> list[Rule]:
        """Return the rules that write what a rule builds on, and the rule."""
        writers = [other for other in self.rules if rule.premise in other.writes]
        return [*(self.chain(self.source.choice(writers)) if writers else []), rule]


def hammer(count: int, seed: int) -> tuple[Counter[str], Counter[str]]:
    """Compare on `count` facts; return how often each rule fired and how often it stayed silent."""
    fired, asked = Counter[str](), Counter[str]()
    for stage in Stage:
        facts = Facts(stage, random.Random(f"{seed} {stage.value}"))
        program = compile_rules(facts.rules).stage(stage)
        for _ in range(count // len(Stage)):
            fact = facts.fact()
            result = evaluate(program, fact, strict=False)
            expected, flags = [], set()
            for chapter in program.chapters:
                trace, wrote = judge(chapter.rules, fact)
                expected += trace
                flags |= wrote
            assert result.failures == (), fact
            assert [(step.rule_id, step.premise) for step in result.trace] == expected, fact
            assert result.flags == flags, fact
            fired.update(name for name, _ in expected)
            asked.update(rule.id for rule in facts.rules)
    return fired, asked - fired


def check_coverage(fired: Counter[str], silent: Counter[str], least: int) -> None:
    """Every rule fired and stayed silent; `pytest -s` prints how often."""
    rules = [rule.id for stage in Stage for rule in stage_module(stage).RULES]
    rarest = {"fired": min(rules, key=lambda name: fired[name]), "silent": min(rules, key=lambda name: silent[name])}
    for word, seen in (("fired", fired), ("silent", silent)):
        covered, fewest = sum(seen[name] >= least for name in rules), rarest[word]
        sys.stdout.write(f"\n{word} {least} times and more: {covered} of {len(rules)} rules; fewest: {fewest}, {seen[fewest]} times")
    assert [name for name in rules if fired[name] < least or silent[name] < least] == []


def test_a_sample():
    check_coverage(*hammer(SAMPLE, seed=1), least=1)


@pytest.mark.slow
def test_twenty_thousand():
    check_coverage(*hammer(ALL, seed=2), least=30)


def test_what_never_fires_is_not_covered():
    rules = [rule.id for stage in Stage for rule in stage_module(stage).RULES]
    often = Counter(dict.fromkeys(rules, 9))
    check_coverage(often, often, least=9)
    with pytest.raises(AssertionError, match=re.escape(f"['{rules[7]}'] == []")):
        check_coverage(often - Counter({rules[7]: 1}), often, least=9)
