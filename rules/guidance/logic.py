"""Checks of what declared rules say together: a rule that can never fire, one that another makes superfluous, two that contradict.

Comparisons with constants bound a field from below and above or fix it; comparisons of two fields bound their difference. Where that
proves nothing, rules are taken to be able to hold: only what is proved is reported.
"""

# ruff: noqa: E712 - `F.flag == True` declares a comparison; it is not a truth test

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations, product
from math import inf
from typing import TYPE_CHECKING

from rules.findings import Kind, Stage
from rules.guidance.declare import CANDIDATE, Comparison, F, Rule, Scaled

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rules.findings import Scalar

NEVER_TOGETHER: tuple[tuple[Stage, tuple[Comparison, ...], str], ...] = (
    (Stage.FABRIC, (F.multi_node == False, F.reason != "none"), "without a network among GPUs there is no reason for one"),
    (Stage.FABRIC, (F.multi_node == False, F.reason_is_given == True), "without a network among GPUs none is given"),
    (Stage.INTERCONNECT, (F.fast_scale_up == True, F.pcie_only == True), "PCIe alone is no fast link"),
    (Stage.SOFTWARE, (F.shards_data_only == True, F.model_parallel == True), "who shards data only does not split the model"),
)
"""What no stage ever states together, and why: facts that follow from one another. The tests look for it in every case."""
_NEGATED = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}
_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}


@dataclass
class _Bounds:
    """What is known of one field: the least and greatest number, whether they are reached, what it is and what it is not."""

    low: float = -inf
    high: float = inf
    low_open: bool = False
    high_open: bool = False
    fixed: Scalar | None = None
    excluded: set[Scalar] = field(default_factory=set)

    def take(self, operator: str, value: Scalar) -> None:
        """Narrow the bounds by one comparison with a constant."""
        number = float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None
        if operator == "==":
            if self.fixed is not None and self.fixed != value:
                self.low, self.high = 1.0, 0.0
            self.fixed = value
            if number is not None:
                self.take(">=", number)
                self.take("<=", number)
        elif operator == "!=":
            self.excluded.add(value)
        elif number is not None and operator in (">", ">="):
            if number > self.low or (number == self.low and operator == ">"):
                self.low, self.low_open = number, operator == ">"
        elif number is not None and (number < self.high or (number == self.high and operator == "<")):
            self.high, self.high_open = number, operator == "<"

    @property
    def empty(self) -> bool:
        """Return whether nothing is left that the field could be."""
        if self.low > self.high or (self.low == self.high and (self.low_open or self.high_open)):
            return True
        if self.fixed is not None and self.fixed in self.excluded:
            return True
        if {True, False} <= {each for each in self.excluded if isinstance(each, bool)}:
            return True
        return self.low == self.high and self.low in {each for each in self.excluded if not isinstance(each, (bool, str))}


def satisfiable(comparisons: Iterable[Comparison]) -> bool:
    """Return whether the comparisons could hold together; True where it cannot be told."""
    listed = tuple(comparisons)
    bounds: dict[str, _Bounds] = {}
    pairs: dict[tuple[str, str, float], set[str]] = {}
    for each in listed:
        if isinstance(each.right, Scaled):
            _pair(each.left, each.operator, each.right, pairs)
        else:
            bounds.setdefault(each.left, _Bounds()).take(each.operator, each.right)
    if any(each.empty for each in bounds.values()):
        return False
    return not any(_opposed(signs) for signs in pairs.values())


def _pair(left: str, operator: str, right: Scaled, pairs: dict[tuple[str, str, float], set[str]]) -> None:
    if left <= right.field or right.factor <= 0:
        pairs.setdefault((left, right.field, right.factor), set()).add(operator)
    else:
        pairs.setdefault((right.field, left, 1.0 / right.factor), set()).add(_TURNED[operator])


def _opposed(signs: set[str]) -> bool:
    """Return whether comparisons of the same two fields exclude each other."""
    if any(_NEGATED[sign] in signs for sign in signs):
        return True
    return {"<", ">"} <= signs or ("==" in signs and bool(signs & {"<", ">"})) or {"<=", ">=", "!="} <= signs


def ways(rule: Rule, rules: Sequence[Rule]) -> list[tuple[Comparison, ...]]:
    """Return the conjunctions under which a rule fires: its own conditions with those of each chain of rules that writes its premise."""
    if rule.premise == CANDIDATE:
        return [rule.when]
    writers = [other for other in rules if rule.premise in other.writes and other.id != rule.id]
    return [(*rule.when, *way) for other in writers for way in ways(other, rules)]


def implies(stronger: Sequence[Comparison], weaker: Sequence[Comparison]) -> bool:
    """Return whether one conjunction proves another: each comparison of it would be broken by nothing that the first allows."""
    return all(not satisfiable((*stronger, _negated(each))) for each in weaker)


def check_logic(rules: Iterable[Rule]) -> list[str]:
    """Return what is proved to be wrong with rules as a whole, one sentence each."""
    declared = tuple(rules)
    by_stage: dict[object, list[Rule]] = {}
    for rule in declared:
        by_stage.setdefault(rule.stage, []).append(rule)
    problems = []
    for of_stage in by_stage.values():
        found = {rule.id: [way for way in ways(rule, of_stage) if satisfiable(way)] for rule in of_stage}
        problems += [f"rule {rule.id}: can never fire, its conditions exclude each other" for rule in of_stage if not found[rule.id]]
        for one, other in combinations(of_stage, 2):
            problems += _pairwise(one, other, found)
    return problems


def _can_meet(stage: Stage, both: tuple[Comparison, ...]) -> bool:
    """Return whether a conjunction could hold over a fact as the stage states it."""
    if not satisfiable(both):
        return False
    return not any(at is stage and implies(both, never) for at, never, _ in NEVER_TOGETHER)


def _pairwise(one: Rule, other: Rule, found: dict[str, list[tuple[Comparison, ...]]]) -> list[str]:
    """Return what is wrong with two rules of a stage: the same said twice, decisions, rejections or remedies that contradict each other."""
    wrong = _remedies_at_odds(one, other, found)
    if one.kind is not other.kind:
        return wrong
    if one.kind is Kind.REJECT and one.premise == other.premise and _nothing_left(one, other):
        wrong.append(f"rules {one.id} and {other.id}: whatever the one lets pass the other rejects, so that nothing is left")
    if one.kind is Kind.DECISION:
        assert one.decides is not None
        assert other.decides is not None
        if one.decides[0] != other.decides[0]:
            return wrong
        meet = any(_can_meet(one.stage, (*first, *second)) for first, second in product(found[one.id], found[other.id]))
        if meet and one.decides[1] != other.decides[1]:
            wrong.append(f"rules {one.id} and {other.id}: both decide {one.decides[0]}, can fire together and say different things")
    if set(one.when) == set(other.when) and one.premise == other.premise and one.because == other.because:
        wrong.append(f"rule {other.id}: fires whenever {one.id} does and says the same")
    return wrong


def _remedies_at_odds(one: Rule, other: Rule, found: dict[str, list[tuple[Comparison, ...]]]) -> list[str]:
    """Return the answers that two rules want changed to different values although the one never fires without the other."""
    values = [{fix.key: fix.value for fix in rule.fix if fix.value and "{" not in fix.value and not fix.when} for rule in (one, other)]
    keys = [key for key in values[0] if key in values[1] and values[0][key] != values[1][key]]
    if not keys or not (_always_with(one, other, found) or _always_with(other, one, found)):
        return []
    return [f"rules {one.id} and {other.id}: fire together and want {key} to be {values[0][key]} and {values[1][key]}" for key in keys]


def _always_with(one: Rule, other: Rule, found: dict[str, list[tuple[Comparison, ...]]]) -> bool:
    """Return whether it is proved that `other` fires wherever `one` does."""
    return bool(found[one.id]) and all(any(implies(way, weaker) for weaker in found[other.id]) for way in found[one.id])


def _nothing_left(one: Rule, other: Rule) -> bool:
    """Return whether it is proved that at least one of two rules fires whatever the fact says."""
    pairs = product((_negated(each) for each in one.when), (_negated(each) for each in other.when))
    return bool(one.when and other.when) and not any(satisfiable(pair) for pair in pairs)


def _negated(each: Comparison) -> Comparison:
    return Comparison(each.left, _NEGATED[each.operator], each.right)


def shadowed(rules: Iterable[Rule]) -> list[str]:
    """Return the rules that another makes superfluous: of the same kind, about the same, with conditions that theirs imply."""
    declared = tuple(rules)
    problems = []
    for one in declared:
        for other in declared:
            same = one.stage is other.stage and one.kind is other.kind and one.premise == other.premise
            about = one.decides == other.decides and one.because == other.because and one.ask == other.ask
            if one is not other and same and about and one.when != other.when and implies(one.when, other.when):
                problems.append(f"rule {one.id}: is shadowed by {other.id}, which fires whenever it does and says the same")
    return problems
