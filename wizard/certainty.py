"""What an open answer costs in certainty: the design derived again with what is assumed replaced by other plausible values. No screen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from catalogs.quantities import QuantityError, format_number, magnitude
from rules.answers import AnswerError, field_of
from wizard.interview import load_interview
from wizard.shown import assumed_value, value_text
from wizard.summary import short_days, short_money

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from rules.answers import Answers
    from rules.design import Design
    from rules.doubts import Doubt, Total

    Advise = Callable[[Answers], Design | None]
    Ends = Callable[[str], tuple[str, ...]]
    """The published ends of a number of which half and twice mean nothing, by key; empty for any other."""

FACTOR = 2.0
"""Numbers are halved and doubled: as far as a person who has not asked yet may well be off."""
MOST_CHOICES = 3
NOT_TRIED = ("scale.mode", "parallelism.mode")
"""Answers that say what is asked: with another one it would be another question."""
SAME = 0.005


@dataclass(frozen=True)
class Effect:
    """An open answer: what is assumed, what was tried in its place, and between which figures the design moves.

    `days` and `cost` are (least, most) over all that was tried, the assumption itself among it; None where unknown.
    `breaks`: values with which nothing fits any more.
    """

    key: str
    assumed: str
    tried: tuple[str, ...]
    days: tuple[float, float] | None
    cost: tuple[float, float] | None
    breaks: tuple[str, ...]
    other_choices: tuple[str, ...]

    @property
    def weight(self) -> float:
        """Return how much it matters: the largest spread as a share; what breaks the design matters most."""
        spreads = [most / least - 1 for least, most in (each for each in (self.days, self.cost) if each) if least > 0]
        return max(spreads, default=0.0) + (10.0 if self.breaks else 0.0)

    @property
    def sentence(self) -> str:
        """Return the effect in words."""
        parts = []
        for ends, write in ((self.days, short_days), (self.cost, short_money)):
            if ends and ends[1] > ends[0] * (1 + SAME):
                parts.append(f"{write(ends[0])} to {write(ends[1])}")
        if self.other_choices:
            parts.append(f"may choose {' or '.join(self.other_choices[:2])}")
        if self.breaks:
            parts.append(f"nothing fits with {' or '.join(self.breaks)}")
        return "; ".join(parts) or "hardly matters"


@dataclass(frozen=True)
class Certainty:
    """How certain a design is: its totals with their ranges, the effect of each open answer, and uncertain prices and rates."""

    effects: tuple[Effect, ...] = ()
    doubts: tuple[Doubt, ...] = ()
    totals: tuple[Total, ...] = ()

    @property
    def weighty(self) -> tuple[Effect, ...]:
        """Return the effects, the weightiest first."""
        return tuple(sorted(self.effects, key=lambda each: -each.weight))


def _no_ends(key: str) -> tuple[str, ...]:
    del key
    return ()


def open_answers(design: Design, ends: Ends = _no_ends) -> list[str]:
    """Return the keys of questions that are assumed in a design and can be tried with other values, in the order of the interview."""
    assumed = {each.key for each in design.assumptions if each.value and each.key not in NOT_TRIED}
    return [
        each.key for each in load_interview().questions if each.key in assumed and _others(each.key, assumed_value(each.key, design), ends)
    ]


def most_designs(design: Design, ends: Ends = _no_ends) -> int:
    """Return how many designs are made at most to find all effects."""
    return sum(len(_others(key, assumed_value(key, design), ends)) for key in open_answers(design, ends))


def effects(design: Design, advise: Advise, ends: Ends = _no_ends) -> Iterator[Effect]:
    """Yield the effect of each open answer, one after the other; `advise` derives a design, None where it cannot."""
    for key in open_answers(design, ends):
        found: list[tuple[str, Design]] = []
        breaks: list[str] = []
        for value in _others(key, assumed_value(key, design), ends):
            try:
                other = advise(design.answers.with_value(key, value))
            except AnswerError:
                continue
            if other is None or (design.fits and not other.fits):
                breaks.append(value_text(key, value))
            else:
                found.append((value, other))
        made = [design, *(other for _, other in found)]
        yield Effect(
            key,
            value_text(key, assumed_value(key, design)),
            tuple(value for value, _ in found),
            _ends([each.figures.days if each.figures else None for each in made]),
            _ends([_cost(each) for each in made]),
            tuple(breaks),
            tuple(dict.fromkeys(_node(each) for _, each in found if _node(each) not in ("", _node(design)))),
        )


def _cost(design: Design) -> float | None:
    figures = design.figures
    return None if figures is None else figures.ownership_usd if figures.ownership_usd is not None else figures.purchase_usd


def _node(design: Design) -> str:
    return design.name.partition(",")[0].partition(" × ")[2]


def _ends(values: Sequence[float | None]) -> tuple[float, float] | None:
    known = [value for value in values if value is not None]
    return (min(known), max(known)) if len(known) > 1 else None


def _others(key: str, assumed: str, ends: Ends) -> tuple[str, ...]:
    """Return other plausible values of an answer: half and double of a number within its bounds, published ends, other choices."""
    declared = field_of(key)
    if published := ends(key):
        return tuple(each for each in published if each != assumed)
    if declared.kind == "choice":
        return tuple(choice for choice in declared.choices if choice != assumed)[:MOST_CHOICES]
    if declared.kind not in ("quantity", "number", "count"):
        return ()
    try:
        value = magnitude(assumed, declared.unit) if declared.kind == "quantity" else float(assumed.replace(",", ""))
    except (QuantityError, ValueError):
        return ()
    made = []
    for other in (value / FACTOR, value * FACTOR):
        fits = (declared.minimum is None or other >= declared.minimum) and (declared.maximum is None or other <= declared.maximum)
        if fits and value > 0:
            number = str(max(1, round(other))) if declared.kind == "count" else format_number(other)
            made.append(f"{number} {declared.shown_unit}".strip() if declared.kind == "quantity" else number)
    return tuple(made)
