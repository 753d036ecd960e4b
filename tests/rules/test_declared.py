"""The engine against a naive evaluator, on the declared rules and random facts around their thresholds."""

from __future__ import annotations

import random

import pytest

from catalogs import load_catalog
from rules.compile import FieldClass
from rules.engine import compile_rules, evaluate
from rules.findings import Scalar, Stage
from rules.guidance.declare import Rule, Scaled
from rules.judging import limits
from rules.render import template_fields
from rules.stages import stage_module
from tests.rules.naive import judge

ALL = 20_000
SAMPLE = 1_600
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
    """Makes random facts of a stage: at, just beside and far from the constants and limits that its rules compare with."""

    def __init__(self, stage: Stage, source: random.Random) -> None:
        self.rules = tuple(stage_module(stage).RULES)
        self.source, self.kinds, self.constants = source, kinds_of(self.rules), constants_of(self.rules)
        self.limits = dict(limits(self.rules, load_catalog()))
        self.printed: dict[str, Scalar] = dict.fromkeys((name for rule in self.rules for name in template_fields(rule)), 1)
        numbers = [each for each in self.limits.values() if isinstance(each, (int, float)) and not isinstance(each, bool)]
        self.numbers = [*numbers, 0, 1, 2, 8, 100, 1000.0, 0.5]

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
        for rule in self.source.sample(self.rules, min(4, len(self.rules))):
            for each in rule.when:
                if isinstance(each.right, Scaled) and each.left in made and self.source.random() < 0.5:
                    other = {**made, **self.limits}[each.right.field]
                    made[each.left] = other if isinstance(other, (str, bool)) else float(other) * each.right.factor
                elif self.source.random() < 0.6 and each.operator == "==" and not isinstance(each.right, Scaled):
                    made[each.left] = each.right
        return {**self.printed, **made, **self.limits}


def hammer(count: int, seed: int) -> None:
    fired: dict[str, int] = {}
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
            for name, _ in expected:
                fired[name] = fired.get(name, 0) + 1
    assert len(fired) > 0.7 * sum(len(stage_module(stage).RULES) for stage in Stage)


def test_a_sample():
    hammer(SAMPLE, seed=1)


@pytest.mark.slow
def test_twenty_thousand():
    hammer(ALL, seed=2)
