"""A second evaluator of declared rules, without an engine and without `Comparison.holds`: what the engine must agree with."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

from rules.guidance.declare import CANDIDATE, Comparison, Rule, Scaled

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rules.findings import Scalar

_OPERATORS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne}


def _plain(value: Scalar) -> Scalar:
    """Numbers as doubles, everything else as it is."""
    return float(value) if type(value) in (int, float) else value


def _true(comparison: Comparison, fact: Mapping[str, Scalar]) -> bool:
    if any(name not in fact for name in comparison.reads):
        return False
    right = comparison.right
    if isinstance(right, Scaled):
        value = _plain(fact[right.field])
        right = value * right.factor if right.factor != 1.0 else value  # type: ignore[operator]
    return bool(_OPERATORS[comparison.operator](_plain(fact[comparison.left]), _plain(right)))


def judge(rules: Iterable[Rule], fact: Mapping[str, Scalar]) -> tuple[list[tuple[str, str]], set[str]]:
    """Return (rule id, premise) in the order of firing and the flags written: the lowest (priority, id) that can fire goes next."""
    waiting = sorted(rules, key=lambda rule: (rule.priority, rule.id))
    known, flags, fired = {CANDIDATE}, set[str](), list[tuple[str, str]]()
    while True:
        ready = next((rule for rule in waiting if rule.premise in known and all(_true(c, fact) for c in rule.when)), None)
        if ready is None:
            return fired, flags
        waiting.remove(ready)
        fired.append((ready.id, ready.premise))
        flags.update(ready.writes)
        known.update(ready.writes)
