"""Declared rules of one stage, translated into the text that durable-rules reads. Knows durable's format, never imports it.

A stage of more rules than a ruleset takes is written as several, its chapters; rules that build on each other's flags share one.

Each rule becomes one pattern over one message: the kind of fact it builds on first (all rules of a premise share that test), then
its comparisons in order. Nothing else is ever produced: no pattern over two facts, no disjunction, no negation, no arithmetic
on the left, because durable answers those wrongly or crashes on them.

Field names are replaced by short keys (`k0`, `k1`, …). durable tells names apart by a 32-bit hash, reads a dot as nesting and gives
`id` and `sid` a meaning of their own; with keys a fact may use any name. Numbers are always written as decimals with a point and
without exponent, so that durable compares doubles with doubles; the text is the shortest that reads back as the same double, so
nothing is rounded (whole numbers beyond 2**53 become the nearest double).
"""

from __future__ import annotations

import json
import math
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING

from rules.guidance.declare import CANDIDATE, OPERATORS, Comparison, Rule, RuleError, Scaled
from rules.render import template_fields

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rules.findings import Scalar, Stage

MAXIMUM_RULES = 40
"""Rules per ruleset. durable fails when one fact activates more than 64 and hangs while it builds several hundred."""
MAXIMUM_FIELDS = 240
"""Fields that the rules of a ruleset may read together; durable holds at most 254 per fact, four of which the engine uses."""
MAXIMUM_TEXT = 1_000
"""Longest text of a field or constant in characters: durable cuts lengths to 16 bits, after which texts silently do not match."""

CHECK, END = "check", "end"
"""Names of the two rules that every ruleset carries: the first proves that numbers are read right, the last that the chain ended."""
CANARY = '"n":0.5'
"""A number in every candidate fact. Under a locale with a decimal comma durable reads it as 0, and the check rule stays silent."""
NOTHING = "[]"
"""What an absent field is sent as: durable compares a list with nothing, while an absent right side gives a random answer."""

_DURABLE_OPERATORS = {"<": "$lt", "<=": "$lte", ">": "$gt", ">=": "$gte", "!=": "$neq"}


class FieldClass(StrEnum):
    """What values a field holds; durable compares a text with a number by their digits, so classes are never mixed."""

    NUMBER = "a number"
    TEXT = "text"
    FLAG = "yes or no"


class FactError(ValueError):
    """A fact states a value that cannot be compared."""


def class_of(value: object) -> FieldClass | None:
    """Return the class of `value`, None where it is neither text nor a number nor a boolean."""
    if isinstance(value, bool):
        return FieldClass.FLAG
    if isinstance(value, (int, float)):
        return FieldClass.NUMBER
    return FieldClass.TEXT if isinstance(value, str) else None


def encode(value: Scalar) -> str:
    """Return `value` as durable reads it; raises FactError for NaN, infinity, and text longer than `MAXIMUM_TEXT`."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        if len(value) > MAXIMUM_TEXT:
            raise FactError(f"is a text of {len(value)} characters; at most {MAXIMUM_TEXT} can be compared")
        return json.dumps(value)
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise FactError(f"is {number}, which cannot be compared; state only finite numbers, or leave the field out")
    text = repr(number)
    if "e" not in text:
        return text
    text = format(Decimal(text), "f")
    return text if "." in text else text + ".0"


@dataclass(frozen=True)
class Ruleset:
    """Compiled rules that durable holds together. `rules` are in firing order; `definition` is what durable reads.

    `fields` gives for each premise the fields that its rules read with their keys; `classes` what they hold (None where only
    fields are compared with each other, then all fields of one `groups` value hold the same); `readers` the rules that read them.
    """

    stage: Stage
    rules: tuple[Rule, ...]
    definition: str
    fields: Mapping[str, tuple[tuple[str, str], ...]]
    premises: Mapping[str, str]
    classes: Mapping[str, FieldClass | None]
    groups: Mapping[str, str]
    readers: Mapping[str, tuple[str, ...]]

    @cached_property
    def printed(self) -> Mapping[str, frozenset[str]]:
        """Return the fields that the texts of a rule print, by its id; not of a rule whose texts take more than fields to write."""
        found = {}
        for rule in self.rules:
            with suppress(RuleError):
                if not any(fix.when for fix in rule.fix):
                    found[rule.id] = frozenset(template_fields(rule))
        return found


@dataclass(frozen=True)
class StageProgram:
    """The compiled rules of one stage, in firing order, in as many chapters as they need."""

    stage: Stage
    chapters: tuple[Ruleset, ...]

    @property
    def rules(self) -> tuple[Rule, ...]:
        """Return all rules of the stage, chapter by chapter."""
        return tuple(rule for chapter in self.chapters for rule in chapter.rules)


@dataclass
class _Classes:
    """Which fields must hold the same class because rules compare them, and which class that is."""

    parent: dict[str, str] = field(default_factory=dict)
    known: dict[str, tuple[FieldClass, str]] = field(default_factory=dict)

    def root(self, name: str) -> str:
        self.parent.setdefault(name, name)
        while self.parent[name] != name:
            name = self.parent[name]
        return name

    def declare(self, name: str, held: FieldClass, rule: Rule) -> None:
        root = self.root(name)
        before, by = self.known.setdefault(root, (held, rule.id))
        if before is not held:
            raise RuleError(rule.id, f"compares {name} as {held.value}, but rule {by} compares it as {before.value}; one of them is wrong")

    def join(self, left: str, right: str, rule: Rule) -> None:
        one, other = self.root(left), self.root(right)
        if one == other:
            return
        if other in self.known:
            self.declare(one, self.known[other][0], rule)
        self.parent[other] = one

    def add(self, comparison: Comparison, rule: Rule) -> None:
        right = comparison.right
        ordered = comparison.operator not in ("==", "!=")
        if isinstance(right, Scaled):
            if ordered or right.factor != 1.0:
                self.declare(comparison.left, FieldClass.NUMBER, rule)
                self.declare(right.field, FieldClass.NUMBER, rule)
            self.join(comparison.left, right.field, rule)
            return
        held = class_of(right)
        if held is None:
            raise RuleError(rule.id, f"compares {comparison.left} with {right!r}; compare with a number, a text, True, False or a field")
        if ordered and held is not FieldClass.NUMBER:
            raise RuleError(rule.id, f"asks whether {comparison.left} {comparison.operator} {right!r}; only numbers have an order")
        self.declare(comparison.left, held, rule)


def _condition(comparison: Comparison, keys: Mapping[str, str], rule: Rule) -> str:
    """Return one comparison in durable's form: {"$gt": {"k0": {"$mul": {"$l": {"$m": "k1"}, "$r": 0.9}}}}."""
    try:
        if isinstance(comparison.right, Scaled):
            right = f'{{"$m":"{keys[comparison.right.field]}"}}'
            if comparison.right.factor != 1.0:
                right = f'{{"$mul":{{"$l":{right},"$r":{encode(comparison.right.factor)}}}}}'
        else:
            right = encode(comparison.right)
    except FactError as error:
        raise RuleError(rule.id, f"the right side of its comparison of {comparison.left} {error}") from error
    test = f'{{"{keys[comparison.left]}":{right}}}'
    return test if comparison.operator == "==" else f'{{"{_DURABLE_OPERATORS[comparison.operator]}":{test}}}'


def _definition(rules: tuple[Rule, ...], keys: Mapping[str, str], premises: Mapping[str, str]) -> str:
    """Return the ruleset as JSON; rule number n is named by n, and its rank makes the order of firing explicit."""

    def entry(name: str, conditions: list[str], rank: int) -> str:
        return f'"{name}":{{"all":[{{"m":{{"$and":[{",".join(conditions)}]}}}}],"pri":{rank}}}'

    start = f'{{"p":"{premises[CANDIDATE]}"}}'
    entries = [entry(CHECK, [start, '{"$gt":{"n":0.25}}', '{"n":0.5}'], 1)]
    for number, rule in enumerate(rules):
        conditions = [f'{{"p":"{premises[rule.premise]}"}}', *(_condition(comparison, keys, rule) for comparison in rule.when)]
        entries.append(entry(str(number), conditions, number + 2))
    entries.append(entry(END, [start], len(rules) + 2))
    return "{" + ",".join(entries) + "}"


def _check_form(rule: Rule) -> None:
    """Raise RuleError where the rule has a form that the engine does not run."""
    if not rule.when and rule.premise == CANDIDATE:
        raise RuleError(rule.id, "has no conditions; give `when` at least one comparison, or build on a flag with `premise`")
    if CANDIDATE in rule.writes:
        raise RuleError(rule.id, f"writes the flag {CANDIDATE!r}, the name of the fact that starts every stage; choose another")
    for comparison in rule.when:
        if comparison.operator not in OPERATORS:
            raise RuleError(rule.id, f"uses the operator {comparison.operator!r}; use one of {', '.join(OPERATORS)}")


def compile_stage(stage: Stage, rules: Iterable[Rule]) -> StageProgram:
    """Translate the rules of one stage; raises RuleError, with the rule's id, for one that cannot be run."""
    ordered = tuple(sorted(rules, key=lambda rule: (rule.priority, rule.id)))
    classes = _Classes()
    seen: set[str] = set()
    for rule in ordered:
        if rule.id in seen:
            raise RuleError(rule.id, f"stage {stage} has two rules of this id; rename one")
        seen.add(rule.id)
        _check_form(rule)
        for comparison in rule.when:
            classes.add(comparison, rule)
    return StageProgram(stage, tuple(_ruleset(stage, chapter, classes) for chapter in _chapters(stage, ordered)))


def _chapters(stage: Stage, ordered: tuple[Rule, ...]) -> tuple[tuple[Rule, ...], ...]:
    """Return the rules in chapters of at most MAXIMUM_RULES and MAXIMUM_FIELDS; rules that build on each other are not parted.

    A chapter is filled in firing order: fewer rules than a ruleset takes are one chapter, and a further rule moves few others.
    """
    chapters: list[list[Rule]] = []
    for group in _chains(ordered):
        fields = _fields_of(group)
        if len(group) > MAXIMUM_RULES:
            raise RuleError(
                group[MAXIMUM_RULES].id,
                f"stage {stage} has {len(group)} rules that build on each other's flags; at most {MAXIMUM_RULES} fit in one ruleset",
            )
        if len(fields) > MAXIMUM_FIELDS:
            raise RuleError(
                group[-1].id,
                f"the rules of stage {stage} that build on each other read {len(fields)} fields; at most {MAXIMUM_FIELDS} fit in one fact",
            )
        last = chapters[-1] if chapters else []
        if not chapters or len(last) + len(group) > MAXIMUM_RULES or len(_fields_of(last) | fields) > MAXIMUM_FIELDS:
            chapters.append([])
        chapters[-1].extend(group)
    rank = {rule.id: number for number, rule in enumerate(ordered)}
    return tuple(tuple(sorted(chapter, key=lambda rule: rank[rule.id])) for chapter in chapters)


def _chains(ordered: tuple[Rule, ...]) -> list[list[Rule]]:
    """Return the rules in groups that share flags, as writers or as premises, in the order of each group's first rule."""
    chains: list[tuple[set[str], list[Rule]]] = []
    for rule in ordered:
        flags = {*rule.writes, rule.premise} - {CANDIDATE}
        joined = [chain for chain in chains if chain[0] & flags]
        if not joined:
            chains.append((flags, [rule]))
            continue
        names, members = joined[0]
        for other in joined[1:]:
            names |= other[0]
            members += other[1]
            chains.remove(other)
        names |= flags
        members.append(rule)
    return [members for _, members in chains]


def _fields_of(rules: Iterable[Rule]) -> set[str]:
    return {name for rule in rules for name in rule.reads}


def _ruleset(stage: Stage, rules: tuple[Rule, ...], classes: _Classes) -> Ruleset:
    """Translate the rules of one chapter; `classes` says what the fields of the whole stage hold."""
    by_premise, readers = {CANDIDATE: dict[str, None]()}, dict[str, list[str]]()
    for rule in rules:
        for name in rule.reads:
            by_premise.setdefault(rule.premise, {})[name] = None
            readers.setdefault(name, []).append(rule.id)
        by_premise.setdefault(rule.premise, {})
    keys = {name: f"k{number}" for number, name in enumerate(readers)}
    premises = {premise: f"p{number}" for number, premise in enumerate(by_premise)}
    known = classes.known
    roots = {name: classes.root(name) for name in readers}
    return Ruleset(
        stage=stage,
        rules=rules,
        definition=_definition(rules, keys, premises),
        fields={premise: tuple((name, keys[name]) for name in names) for premise, names in by_premise.items()},
        premises=premises,
        classes={name: known[root][0] if root in known else None for name, root in roots.items()},
        groups=roots,
        readers={name: tuple(ids) for name, ids in readers.items()},
    )
