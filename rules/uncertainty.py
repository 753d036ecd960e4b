"""Which unknown answers and which uncertain prices and rates could change the choice, and so what is worth asking first.

Every unknown answer is tried at other values: the other choices, half and twice what is assumed, a limit somewhat below what the design
needs. What changes the choice is worth a question; what only moves figures is not listed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from catalogs.quantities import grouped, magnitude
from rules.advisor import Considered, consider
from rules.answer_fields import COOLING
from rules.answers import AnswerError, field_of
from rules.findings import Stage
from rules.render import value_text
from rules.scale import size_given, sized_by_deadline
from rules.sizing.electricity import electricity_price
from rules.whatif import with_changes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rules.choice import Ranked

HALF_AND_TWICE = (0.5, 2.0)
"""What is assumed of a number is tried at half and at twice: wider than any two sources of one assumption differ."""
BELOW_NEED = 0.75
"""A limit that nobody stated is tried a quarter below what the design needs: does the choice survive that?"""
MOST_TRIALS = 48
"""Designs that are made; one takes a tenth of a second."""
WORTH_ASKING = 5
_LIMITS = {"budget.purchase": "purchase_usd", "facility.total_power": "total_power_kw", "facility.racks": "racks"}
_ELECTRICITY = "budget.electricity_price"
"""Tried at both ends of the range of the place, which nobody assumes as one number."""
_TRIED = (
    "training.tokens", "training.samples", "training.global_batch", "training.sequence_length", "scale.deadline",
    "budget.purchase", "budget.objective", "budget.years", "budget.electricity_price", "facility.total_power", "facility.racks",
    "facility.rack_power", "facility.cooling", "facility.pue", "facility.inlet_temperature", "data.size",
    "preferences.oversubscription", "preferences.unverified_products", "preferences.announced_products",
)  # fmt: skip
"""Answers that are tried where nobody gave them, in the order of the questions."""


@dataclass(frozen=True)
class Trial:
    """An unknown answer at one value: what is chosen then, and whether that meets every answer."""

    value: str
    chosen: str
    fits: bool
    changed: tuple[str, ...]


@dataclass(frozen=True)
class Doubt:
    """Something unknown that could change the choice. `kind` is answer, price or rate; `weight` ranks it, the larger the earlier."""

    key: str
    kind: str
    assumed: str
    trials: tuple[Trial, ...]
    weight: int
    text: str

    def document(self) -> dict[str, Any]:
        """Return the doubt as plain data."""
        trials = [{**vars(each), "changed": list(each.changed)} for each in self.trials]
        return {"key": self.key, "kind": self.kind, "assumed": self.assumed, "text": self.text, "trials": trials}


def doubts(considered: Considered) -> tuple[Doubt, ...]:
    """Return what is unknown and could change the choice, the weightiest first; `[:WORTH_ASKING]` are the questions to ask first."""
    chosen = considered.ranking.chosen
    if chosen is None:
        return ()
    found = [*_answers(considered, chosen), *_prices(considered, chosen), *_rates(considered, chosen)]
    return tuple(sorted(found, key=lambda each: -each.weight))


def _answers(considered: Considered, chosen: Ranked) -> Iterator[Doubt]:
    answers, spent = considered.context.answers, 0
    base = _traits(considered)
    for key in _TRIED:
        if answers.given(key) or not _matters(key, considered):
            continue
        trials = []
        for value in _values(key, considered, chosen):
            if spent >= MOST_TRIALS:
                return
            spent += 1
            try:
                other = consider(with_changes(answers, {key: value}, "what-if"), considered.context.catalog)
            except AnswerError:
                continue
            changed = tuple(name for name, trait in _traits(other).items() if trait != base[name])
            if changed:
                name = f"{_name(other)}{_network(other) if changed == ('fabric',) else ''}"
                trials.append(Trial(_shown(value), name, bool(other.ranking.good), changed))
        if trials:
            weight = max(_WEIGHTS[name] for each in trials for name in each.changed)
            yield Doubt(key, "answer", _assumed(key, considered), tuple(trials), weight, _sentence(key, trials))


_WEIGHTS = {"fits": 5, "GPU": 4, "server": 3, "fabric": 2}
"""What may change, and how much it weighs: whether anything fits at all, then the GPU, the server, the technology of the fabric."""


def _traits(considered: Considered) -> dict[str, object]:
    """Return what is meant by the choice; sizes and figures are not part of it."""
    chosen = considered.ranking.chosen
    if chosen is None:
        return dict.fromkeys(_WEIGHTS)
    candidate = chosen.candidate
    technology = candidate.facts.get(Stage.FABRIC, {}).get("technology")
    return {"fits": bool(considered.ranking.good), "GPU": candidate.gpu.id, "server": candidate.node.id, "fabric": technology}


def _name(considered: Considered) -> str:
    chosen = considered.ranking.chosen
    return "nothing" if chosen is None else f"{chosen.candidate.units:,} × {chosen.candidate.node.name}"


def _network(considered: Considered) -> str:
    """Return the network of the choice in words: what to say where nothing else is another."""
    chosen = considered.ranking.chosen
    fact = chosen.candidate.facts.get(Stage.FABRIC, {}) if chosen is not None else {}
    return "" if fact.get("technology") == "none" else f" on {fact.get('technology_name')}"


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
    if key in _LIMITS:
        need = getattr(chosen.figures, _LIMITS[key])
        if need and need > 1:
            yield _number(key, need * BELOW_NEED)
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


def _sentence(key: str, trials: list[Trial]) -> str:
    parts = [f"with {each.value} {'it is' if each.fits else 'nothing fits; nearest is'} {each.chosen}" for each in trials]
    return f"{key} is unknown: {'; '.join(parts)}"


def _prices(considered: Considered, chosen: Ranked) -> Iterator[Doubt]:
    """Yield the candidates that could come first within the ranges of prices, and those of unknown price; the first of each GPU."""
    if "cost" not in chosen.measure or not considered.ranking.good:
        return
    high = chosen.figures.purchase_high_usd
    seen = {(chosen.candidate.gpu.id, False)}
    for other in considered.ranking.good:
        low = other.figures.purchase_low_usd
        kind = (other.candidate.gpu.id, low is None)
        if kind in seen:
            continue
        seen.add(kind)
        name = f"{other.candidate.units:,} × {other.candidate.node.name}"
        if low is None and chosen.figures.purchase_usd is not None:
            text = f"nobody has named a price of {name}: below {grouped(chosen.figures.purchase_usd, 3)} USD in all it could come first"
            yield Doubt(other.candidate.node.id, "price", "unknown", (), 1, text)
        elif low is not None and high is not None and _worth_at(other, low) < _worth_at(chosen, high):
            prices = f"{name} could cost {grouped(low, 3)} USD and the choice {grouped(high, 3)} USD"
            text = f"{prices}, then it comes first by {chosen.measure}: quotes of both would settle it"
            trial = Trial(f"{grouped(low, 3)} USD", name, True, ("server",))
            yield Doubt(other.candidate.node.id, "price", f"{grouped(other.figures.purchase_usd or low, 3)} USD", (trial,), 3, text)


def _worth_at(each: Ranked, purchase_usd: float) -> float:
    """Return what a candidate is ranked by, were its purchase `purchase_usd`: owning it and the work cost so much more or less."""
    expected, ownership = each.figures.purchase_usd, each.figures.ownership_usd
    return each.worth * (ownership + purchase_usd - expected) / ownership if expected and ownership else each.worth


def _rates(considered: Considered, chosen: Ranked) -> Iterator[Doubt]:
    """Yield the candidates that could be faster within the ranges of step times, where time decides."""
    if "time" not in chosen.measure or chosen.candidate.choice is None:
        return
    slowest = magnitude(chosen.candidate.choice.step.high, "s")
    seen = {chosen.candidate.gpu.id}
    for other in considered.ranking.good:
        if other.candidate.choice is None or other.candidate.gpu.id in seen:
            continue
        seen.add(other.candidate.gpu.id)
        fastest = magnitude(other.candidate.choice.step.low, "s")
        if fastest < slowest:
            name = f"{other.candidate.units:,} × {other.candidate.node.name}"
            steps = f"a step of {name} could take {grouped(fastest, 3)} s and one of the choice {grouped(slowest, 3)} s"
            text = f"{steps}: a test run would settle it"
            yield Doubt(other.candidate.node.id, "rate", "", (Trial(f"{grouped(fastest, 3)} s", name, True, ("GPU",)),), 2, text)
