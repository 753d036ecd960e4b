"""Limits as sliders: their range, their steps, and the next value up or down. No screen."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

from catalogs.quantities import format_number
from rules.answers import AnswerError, field_of
from wizard.shown import number_text

if TYPE_CHECKING:
    from rules.answers import Answers

_PREFERRED = (1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0)
"""Steps of a decade: round numbers about a fifth apart, in the manner of Renard's series."""


@dataclass(frozen=True)
class Slider:
    """An answer that slides between two ends, in its own unit. `start` is where it begins when nothing is answered or assumed."""

    key: str
    low: float
    high: float
    start: float

    @property
    def stops(self) -> tuple[float, ...]:
        """Return the values that it stops at, the least first."""
        decade, made = 10.0 ** _exponent(self.low), list[float]()
        while decade <= self.high:
            made += [step * decade for step in _PREFERRED]
            decade *= 10
        return tuple(float(f"{value:.3g}") for value in made if self.low <= value * (1 + 1e-9) and value <= self.high * (1 + 1e-9))


SLIDERS: tuple[Slider, ...] = (
    Slider("scale.deadline", 1, 1000, 90),
    Slider("budget.purchase", 1e4, 1e10, 3e6),
    Slider("facility.rack_power", 5, 250, 40),
    Slider("facility.total_power", 5, 1e6, 1000),
    Slider("budget.electricity_price", 0.02, 0.5, 0.08),
    Slider("budget.years", 1, 8, 3),
)
"""Deadline, budget, power of a rack and of all, price of electricity, years: what people trade against each other."""


def _exponent(value: float) -> int:
    return len(str(int(value))) - 1 if value >= 1 else -2


def value_of(slider: Slider, answers: Answers) -> float | None:
    """Return where the slider stands: the answer, else what is assumed, else None; None too for money whose rate is not known yet."""
    try:
        return answers.number(slider.key)
    except AnswerError:
        return None


def moved(slider: Slider, answers: Answers, step: int) -> str:
    """Return the answer one stop up or down from where the slider stands; from nowhere, its start."""
    here = value_of(slider, answers)
    if here is None:
        return as_text(slider, slider.start)
    stops = slider.stops
    above, below = bisect_right(stops, here * (1 + 1e-9)), bisect_left(stops, here * (1 - 1e-9)) - 1
    return as_text(slider, stops[min(above, len(stops) - 1) if step > 0 else max(below, 0)])


def as_text(slider: Slider, value: float) -> str:
    """Return a value as the text of an answer, with its unit."""
    declared = field_of(slider.key)
    number = number_text(value) if declared.unit == "USD" else format_number(value)
    return f"{number} {declared.shown_unit}"


def share(slider: Slider, value: float) -> float:
    """Return where a value stands between the ends (0 to 1), by its place among the stops."""
    stops = slider.stops
    return bisect_left(stops, value * (1 - 1e-9)) / (len(stops) - 1) if value < stops[-1] else 1.0
