"""From a rule that fired and its fact to a finding: templates filled in, figures shown with their units.

A template is a text with `{field}` in it and nothing more: no format, no conversion, no attribute. `{{` and `}}` stand for braces.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property, lru_cache, partial
from string import Formatter
from typing import TYPE_CHECKING

from catalogs.quantities import format_number
from rules.facts import show, unit_of
from rules.findings import Finding, Remedy
from rules.guidance.declare import RuleError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rules.findings import Kind, Scalar, Stage, Strength
    from rules.guidance.declare import Rule

Part = tuple[str, str | None]
"""A literal text and the field that follows it, None at the end."""

VALUE_DIGITS = 4
"""Significant digits of a number in a value that is written back as an answer: as many as are shown."""

_COUNTED = re.compile(r"(\d[\d,.]*) ((?:[\w-]+ )?[\w-]+)\((e?s)\)")
"""A number and a noun whose plural it decides, as templates write it: "{gpus} GPU(s)", "{switches} Ethernet switch(es)"."""


@lru_cache(maxsize=4096)
def parse_template(template: str) -> tuple[Part, ...]:
    """Split a template into literal texts and field names; raises ValueError, saying what is wrong, for anything else."""
    parts: list[Part] = []
    try:
        pieces = list(Formatter().parse(template))
    except ValueError as error:
        raise ValueError(f"the template {template!r} has a brace without its partner ({error}); write a brace as {{{{ or }}}}") from error
    for literal, name, specification, conversion in pieces:
        if name is not None and (specification or conversion or not name.isidentifier()):
            raise ValueError(f"the template {template!r} must name a field between braces, as in {{memory_needed_gib}}; found {{{name}}}")
        parts.append((literal, name))
    return tuple(parts)


def templates(rule: Rule) -> tuple[str, ...]:
    """Return every template of a rule."""
    found = [rule.because]
    if rule.decides:
        found.append(rule.decides[1])
    for fix in rule.fix:
        found += [fix.text, fix.value]
    if rule.ask:
        found += [rule.ask.to, rule.ask.ask, rule.ask.good_answer]
    return tuple(found)


def template_fields(rule: Rule) -> tuple[str, ...]:
    """Return the fields that the rule's templates print, sorted; raises RuleError for a template that does not parse."""
    try:
        return tuple(sorted({name for template in templates(rule) for _, name in parse_template(template) if name}))
    except ValueError as error:
        raise RuleError(rule.id, str(error)) from error


def value_text(name: str, value: Scalar, *, lower: bool = False) -> str:
    """Return a field as the text of an answer: "412000000 USD", "88.6 days", "true"; without separators of thousands.

    A limit that is to be raised must not end below what is needed, so a number is rounded up, or down with `lower`. Counts stay exact.
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value
    text = str(value) if isinstance(value, int) else _rounded(value, lower=lower)
    return f"{text} {unit_of(name)}".strip()


def _rounded(number: float, *, lower: bool) -> str:
    """Return a number with VALUE_DIGITS significant digits that is never below it, or never above it with `lower`."""
    if number == 0 or not math.isfinite(number):
        return format_number(number)
    exact = Decimal(number)
    place = Decimal(1).scaleb(exact.adjusted() - VALUE_DIGITS + 1)
    nearest = (exact / place).to_integral_value() * place
    if float(nearest) > number if lower else float(nearest) < number:
        nearest += -place if lower else place
    return f"{nearest.normalize():f}"


class Shown(dict[str, str]):
    """The values of a fact as text, by field: each is written once, however many rules print it; KeyError for one not stated."""

    def __init__(self, fact: Mapping[str, Scalar], write: Callable[[str, Scalar], str] = show) -> None:
        super().__init__()
        self.fact, self.write = fact, write

    def __missing__(self, name: str) -> str:
        text = self[name] = self.write(name, self.fact[name])
        return text


def fill(template: str, rule: Rule, shown: Shown) -> str:
    """Fill a template of `rule` with the values of a fact; raises RuleError naming a field that the fact does not state."""
    try:
        parts = parse_template(template)
    except ValueError as error:
        raise RuleError(rule.id, str(error)) from error
    try:
        text = "".join([literal if name is None else literal + shown[name] for literal, name in parts])
    except KeyError as error:
        raise RuleError(rule.id, f"its text prints the field {error}, which stage {rule.stage} does not state") from error
    return _COUNTED.sub(_in_number, text) if "s)" in template else text


def _in_number(found: re.Match[str]) -> str:
    return f"{found[1]} {found[2]}" if found[1] == "1" else f"{found[1]} {found[2]}{found[3]}"


def numbers_of(rule: Rule, shown: Shown) -> dict[str, str]:
    """Return the figures that a finding rests on, as shown: the fields that the rule compares, then those that its sentence prints."""
    printed = [name for _, name in parse_template(rule.because) if name]
    compared = [name for comparison in rule.when for name in comparison.reads]
    return {name: shown[name] for name in [*compared, *printed]}


def finding(rule: Rule, shown: Shown) -> Finding:
    """Build the finding of a rule that fired on the fact of `shown`; raises RuleError for a template that cannot be filled."""
    decision, value = rule.decides if rule.decides else ("", "")
    values, lowered = Shown(shown.fact, value_text), Shown(shown.fact, partial(value_text, lower=True))
    ask = rule.ask
    return Finding(
        rule=rule.id,
        stage=rule.stage,
        kind=rule.kind,
        strength=rule.strength,
        because=fill(rule.because, rule, shown),
        guidance=rule.guidance,
        thresholds=rule.thresholds,
        numbers=numbers_of(rule, shown),
        decision=decision,
        value=fill(value, rule, shown),
        remedies=tuple(
            [
                Remedy(fix.key, fill(fix.value, rule, lowered if fix.lower else values), fill(fix.text, rule, shown))
                for fix in rule.fix
                if all(each.holds(shown.fact) for each in fix.when)
            ]
        ),
        ask=fill(ask.ask, rule, shown) if ask else "",
        to=fill(ask.to, rule, shown) if ask else "",
        good_answer=fill(ask.good_answer, rule, shown) if ask else "",
    )


@dataclass(frozen=True)
class Said:
    """What a rule said; its texts are written when they are read. Most candidates are counted and never shown."""

    rule: Rule
    shown: Shown

    @property
    def stage(self) -> Stage:
        """Return the stage of the rule."""
        return self.rule.stage

    @property
    def kind(self) -> Kind:
        """Return what it does."""
        return self.rule.kind

    @property
    def strength(self) -> Strength:
        """Return how binding it is."""
        return self.rule.strength

    @cached_property
    def finding(self) -> Finding:
        """Return it in words."""
        return finding(self.rule, self.shown)
