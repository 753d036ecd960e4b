"""Which unknown answers and which uncertain prices and rates could change the choice, and so what is worth asking first.

Every unknown answer is tried at other values: the other choices, published ends, half and twice what is assumed, a limit somewhat below
what the design needs. What changes the choice is worth a question; what only moves figures is not listed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalogs.quantities import magnitude
from rules.advisor import Considered, consider
from rules.answer_fields import COOLING
from rules.answers import AnswerError, field_of
from rules.doubts import Doubt, sentence_of, trial_of, weight_of
from rules.render import value_text
from rules.scale import size_given, sized_by_deadline
from rules.sizing.electricity import electricity_price
from rules.sizing.lookup import fact_value
from rules.uncertain_rates import price_doubts, rate_doubts
from rules.whatif import with_changes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from catalogs import Catalog
    from rules.choice import Ranked

HALF_AND_TWICE = (0.5, 2.0)
"""What is assumed of a number is tried at half and at twice: wider than any two sources of one assumption differ."""
BELOW_NEED = 0.75
"""A limit that nobody stated is tried a quarter below what the design needs: does the choice survive that?"""
MOST_TRIALS = 48
"""Designs that are made; one takes a tenth of a second."""
MOST_BEYOND = 2
"""Designs that are made for prices and rates: failures at both ends."""
WORTH_ASKING = 5
_LIMITS = {"budget.purchase": "purchase_usd", "facility.total_power": "total_power_kw", "facility.racks": "racks"}
_RACK = "facility.rack_power"
_ENDS = {
    "facility.inlet_temperature": (("ashrae-recommended", "inlet_low"), ("ashrae-a2", "inlet_high")),
    "facility.pue": (("pue-google", "average"), ("pue-legacy", "average")),
}
"""Numbers of which half and twice mean nothing: the published ends, as fact and value: what halls are kept at, what halls reach."""
_ELECTRICITY = "budget.electricity_price"
"""Tried at both ends of the range of the place, which nobody assumes as one number."""
_TRIED = (
    "training.tokens", "training.samples", "training.global_batch", "training.sequence_length", "scale.deadline",
    "budget.purchase", "budget.objective", "budget.years", "budget.electricity_price", "facility.total_power", "facility.racks",
    "facility.rack_power", "facility.cooling", "facility.pue", "facility.inlet_temperature", "data.size",
    "preferences.oversubscription", "preferences.unverified_products", "preferences.announced_products",
)  # fmt: skip
"""Answers that are tried where nobody gave them, in the order of the questions."""


def doubts(considered: Considered) -> tuple[Doubt, ...]:
    """Return what is unknown and could change the choice, the weightiest first; `[:WORTH_ASKING]` are the questions to ask first."""
    chosen = considered.ranking.chosen
    if chosen is None:
        return ()
    found = [*_answers(considered, chosen), *beyond_answers(considered)]
    return tuple(sorted(found, key=lambda each: -each.weight))


def beyond_answers(considered: Considered) -> tuple[Doubt, ...]:
    """Return the prices and rates that could change the choice, the weightiest first; it takes MOST_BEYOND designs at most."""
    chosen = considered.ranking.chosen
    if chosen is None:
        return ()
    return tuple(sorted((*price_doubts(considered, chosen), *rate_doubts(considered, chosen)), key=lambda each: -each.weight))


def published_ends(key: str, catalog: Catalog) -> tuple[str, ...]:
    """Return the published ends of a number of which half and twice mean nothing, as answers; empty for any other."""
    unit = field_of(key).unit
    return tuple(str(_number(key, fact_value(catalog.facts, *each).to(unit))) for each in _ENDS.get(key, ()))


def most_designs(considered: Considered) -> int:
    """Return how many designs are made at most: one for each value that is tried, and two for the failure rate."""
    chosen = considered.ranking.chosen
    if chosen is None:
        return 0
    return min(MOST_TRIALS, sum(sum(1 for _ in _values(key, considered, chosen)) for key in _tried(considered))) + MOST_BEYOND


def _tried(considered: Considered) -> list[str]:
    return [key for key in _TRIED if not considered.context.answers.given(key) and _matters(key, considered)]


def _answers(considered: Considered, chosen: Ranked) -> Iterator[Doubt]:
    answers, spent = considered.context.answers, 0
    for key in _tried(considered):
        trials = []
        for value in _values(key, considered, chosen):
            if spent >= MOST_TRIALS:
                return
            spent += 1
            try:
                other = consider(with_changes(answers, {key: value}, "what-if"), considered.context.catalog)
            except AnswerError:
                continue
            trial = trial_of(_shown(value), considered, other)
            trials += [trial] if trial is not None else []
        if trials:
            yield Doubt(
                key, "answer", _assumed(key, considered), tuple(trials), weight_of(trials), f"{key} is unknown: {sentence_of(trials)}"
            )


def _matters(key: str, considered: Considered) -> bool:
    """Return whether an answer plays a part beside the others."""
    answers, work = considered.context.answers, considered.context.workload
    if key == "scale.deadline":
        return sized_by_deadline(answers)
    if key in ("training.tokens", "training.samples"):
        return (work.unit == "token") is (key == "training.tokens")
    return key != "budget.objective" or not size_given(answers)


def _assumed(key: str, considered: Considered) -> str:
    if key in considered.context.workload.assumed:
        return considered.context.workload.assumed[key].partition(": ")[0]
    if key == _ELECTRICITY:
        price = electricity_price(considered.context.answers, considered.context.catalog).price
        return str(_number(key, magnitude(price.expected, field_of(key).unit)))
    return considered.context.answers.text(key) or "no limit"


def _values(key: str, considered: Considered, chosen: Ranked) -> Iterator[object]:
    """Yield the values at which an unknown answer is tried."""
    declared, answers = field_of(key), considered.context.answers
    if declared.choices:
        if declared.kind == "names":
            yield COOLING
            return
        yield from (choice for choice in declared.choices if choice not in (answers.text(key), "any"))
        return
    if key in _LIMITS or key == _RACK:
        need = _fullest_rack_kw(chosen) if key == _RACK else getattr(chosen.figures, _LIMITS[key])
        if need and need > 1:
            yield _number(key, need * BELOW_NEED)
        return
    if key in _ENDS:
        yield from (
            each for each in published_ends(key, considered.context.catalog) if each != str(_number(key, answers.number(key) or 0.0))
        )
        return
    if key == _ELECTRICITY:
        price = electricity_price(answers, considered.context.catalog).price
        yield from (_number(key, magnitude(each, declared.unit)) for each in (price.low, price.high))
        return
    start = answers.number(key) or _resolved(key, considered)
    for factor in HALF_AND_TWICE if start else ():
        number = min(max(start * factor, declared.minimum or 0.0), declared.maximum or float("inf"))
        if number != start:
            yield _number(key, number)


def _fullest_rack_kw(chosen: Ranked) -> float | None:
    facility = chosen.candidate.facility
    return magnitude(facility.fullest_rack, "kW") if facility is not None and facility.fullest_rack is not None else None


def _resolved(key: str, considered: Considered) -> float:
    """Return the number that stands in for an answer of what is trained, 0 where none does."""
    text = considered.context.workload.assumed.get(key, "").partition(": ")[0]
    try:
        return magnitude(text.replace(",", ""), field_of(key).unit) if text else 0.0
    except ValueError:
        return 0.0


def _number(key: str, number: float) -> object:
    declared = field_of(key)
    return max(1, round(number)) if declared.kind == "count" else f"{value_text('', number)} {declared.shown_unit}".strip()


def _shown(value: object) -> str:
    return ", ".join(value) if isinstance(value, tuple) else str(value)
