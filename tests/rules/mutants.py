"""Mutants of declared rules: one threshold moved, one operator turned, one comparison left out; and which the corpus tells apart."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rules.guidance.declare import Comparison, Rule, Scaled

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rules.findings import Scalar
    from tests.edges.edges import Edge
    from tests.rules.corpus import Run

MOVED = (0.9, 1.1)
"""A threshold is moved by a tenth of itself each way: cases and edges must lie as near to it."""
_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "!=", "!=": "=="}
_CLOSED = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}


@dataclass(frozen=True)
class Mutant:
    """A rule with one thing changed."""

    rule: Rule
    kind: str
    what: str


def mutants_of(rule: Rule) -> Iterator[Mutant]:
    """Yield every mutant of a rule."""
    for number, each in enumerate(rule.when):
        for changed, kind, what in _mutations(each):
            when = (*rule.when[:number], *((changed,) if changed else ()), *rule.when[number + 1 :])
            yield Mutant(replace(rule, when=when), kind, f"{rule.id}: {_text(each)}: {what or kind}")


def _text(each: Comparison) -> str:
    right = each.right
    return f"{each.left} {each.operator} {f'{right.field} × {right.factor:g}' if isinstance(right, Scaled) else right}"


def _mutations(each: Comparison) -> Iterator[tuple[Comparison | None, str, str]]:
    yield None, "comparison left out", ""
    yield replace(each, operator=_TURNED[each.operator]), "operator turned", ""
    if each.operator in _CLOSED:
        yield replace(each, operator=_CLOSED[each.operator]), "edge opened or closed", ""
    right = each.right
    if isinstance(right, Scaled):
        for factor in MOVED if each.operator in _CLOSED else ():
            yield replace(each, right=Scaled(right.field, right.factor * factor)), "threshold moved", f"moved to {factor} of it"
    elif isinstance(right, (int, float)) and not isinstance(right, bool) and each.operator in _CLOSED:
        steps = [right - 1, right + 1] if isinstance(right, int) or not right else [right * factor for factor in MOVED]
        for moved in steps:
            yield replace(each, right=moved), "threshold moved", f"moved to {moved:g}"


def speaks(rule: Rule, edge: Edge, limits: Mapping[str, Scalar]) -> bool:
    """Return whether a rule speaks at an edge, its premise granted."""
    facts = {**limits, **edge.facts}
    return all(each.holds(facts) for each in rule.when)


def survivors(rules: Sequence[Rule], runs: Sequence[Run], edges: Sequence[Edge], limits: Mapping[str, Scalar]) -> tuple[int, list[Mutant]]:
    """Return how many mutants there are, and those that no case and no edge tells apart from the rule."""
    at: dict[str, list[Edge]] = {}
    for edge in edges:
        at.setdefault(edge.rule, []).append(edge)
    by_rule: dict[str, list[Run]] = {}
    for run in runs:
        by_rule.setdefault(run.case["rule"], []).append(run)
    total, left = 0, []
    for rule in rules:
        for mutant in mutants_of(rule):
            total += 1
            cases = all(run.fires(mutant.rule) == run.case["fires"] for run in by_rule.get(rule.id, ()))
            if cases and all(speaks(mutant.rule, edge, limits) == edge.speaks for edge in at.get(rule.id, ())):
                left.append(mutant)
    return total, left
