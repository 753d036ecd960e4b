"""Limits and prices as sliders: their range, their steps, and the next value up or down. No screen."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

from catalogs.quantities import QuantityError, format_number, magnitude
from rules.answers import AnswerError, field_of
from wizard.shown import number_text

if TYPE_CHECKING:
    from catalogs import Catalog
    from rules.answers import Answers
    from rules.design import Design

_PREFERRED = (1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0)
"""Steps of a decade: round numbers about a fifth apart, in the manner of Renard's series."""

OWN_PRICES = "budget.own_prices"
_PRICE_SHARES = (0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 1.0, 1.05, 1.1, 1.15, 1.2, 1.25, 1.3, 1.4, 1.5, 1.75, 2.0)
"""Stops of a price, as shares of the known one: half to double, fine where quotes of one product differ."""
_ON_A_LIMIT = {"budget.purchase": "purchase_usd", "facility.total_power": "total_power_kw"}
"""By limit: the figure of a design that it would have to hold."""


@dataclass(frozen=True)
class Slider:
    """An answer that slides between two ends, in its own unit. `start` is where it begins when nothing is answered or assumed.

    With `item` it is the price of that product, called `name`, among the person's own prices; `start` is the price without one.
    """

    key: str
    low: float
    high: float
    start: float
    item: str = ""
    name: str = ""

    @property
    def id(self) -> str:
        """Return what tells it from other sliders."""
        return f"{self.key}:{self.item}" if self.item else self.key

    @property
    def stops(self) -> tuple[float, ...]:
        """Return the values that it stops at, the least first."""
        if self.item:
            return tuple(float(f"{self.start * share:.3g}") for share in _PRICE_SHARES)
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


def price_slider(design: Design | None, catalog: Catalog | None) -> Slider | None:
    """Return the slider for the price of the chosen server, None where no price of it is known."""
    line = next((each for each in design.bom if each.category == "compute"), None) if design is not None else None
    if design is None or catalog is None or line is None or line.unit_low is None or line.unit_high is None:
        return None
    from rules.sizing.own_prices import canonical, own_prices

    middle = (line.unit_low + line.unit_high) / 2
    item = next((name for name in own_prices(design.answers) if canonical(name, catalog) == line.item), line.item)
    return Slider(OWN_PRICES, middle * _PRICE_SHARES[0], middle * _PRICE_SHARES[-1], middle, item, line.name)


def value_of(slider: Slider, answers: Answers) -> float | None:
    """Return where the slider stands: the answer, else what is assumed, else None; None too for money whose rate is not known yet."""
    if slider.item:
        return _own(slider, answers) or slider.start
    try:
        return answers.number(slider.key)
    except AnswerError:
        return None


def given(slider: Slider, answers: Answers) -> bool:
    """Return whether the person has said where the slider stands."""
    return _own(slider, answers) is not None if slider.item else answers.given(slider.key)


def _own(slider: Slider, answers: Answers) -> float | None:
    from rules.sizing.own_prices import own_prices

    try:
        found = own_prices(answers).get(slider.item)
    except AnswerError:
        return None
    return found.usd if found is not None else None


def answer_at(slider: Slider, answers: Answers, value: str | None) -> object:
    """Return what the slider's answer is with the slider at `value`; None where nothing is left of it."""
    if not slider.item:
        return value
    others = [each for each in answers.names(slider.key) if each.partition("=")[0].strip() != slider.item]
    return ", ".join([*others, *([f"{slider.item} = {value}"] if value is not None else [])]) or None


def moved(slider: Slider, answers: Answers, step: int, design: Design | None = None) -> str:
    """Return the answer one stop up or down from where the slider stands; from nowhere, the least stop that the design keeps."""
    here, stops = value_of(slider, answers), slider.stops
    if here is None:
        needed = _needed(slider, design) or slider.start
        return as_text(slider, next((stop for stop in stops if stop >= needed), stops[-1]))
    above, below = bisect_right(stops, here * (1 + 1e-9)), bisect_left(stops, here * (1 - 1e-9)) - 1
    return as_text(slider, stops[min(above, len(stops) - 1) if step > 0 else max(below, 0)])


def _needed(slider: Slider, design: Design | None) -> float | None:
    """Return how much of a limit the design takes, None where that is not known."""
    if design is None or design.figures is None:
        return None
    if slider.key == "facility.rack_power":
        try:
            return magnitude(str(design.sections["facility"]["fullest_rack"]), "kW")
        except (KeyError, QuantityError):
            return None
    figure = _ON_A_LIMIT.get(slider.key)
    return None if figure is None else getattr(design.figures, figure)


def as_text(slider: Slider, value: float) -> str:
    """Return a value as the text of an answer, with its unit."""
    unit = "USD" if slider.item else field_of(slider.key).shown_unit
    number = number_text(value) if unit == "USD" else format_number(value)
    return f"{number} {unit}"


def share(slider: Slider, value: float) -> float:
    """Return where a value stands between the ends (0 to 1), by its place among the stops."""
    stops = slider.stops
    return bisect_left(stops, value * (1 - 1e-9)) / (len(stops) - 1) if value < stops[-1] else 1.0
