"""A doubt: something unknown that could change the choice, what was tried in its place, and what is meant by the choice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from catalogs.quantities import grouped, magnitude
from rules.findings import Stage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rules.advisor import Considered
    from rules.choice import Ranked
    from rules.sizing.results import Range, StepEstimate


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


@dataclass(frozen=True)
class Total:
    """A figure of the choice with its range, as it follows from the ranges of prices, rates and the model's error.

    `at_least`: parts without a price are not in it.
    """

    name: str
    unit: str
    low: float
    expected: float
    high: float
    at_least: bool = False

    @property
    def text(self) -> str:
        """Return the total as text: "purchase 2,540,000 USD (2,100,000 to 3,050,000)"."""
        ends = f" ({grouped(self.low, 3)} to {grouped(self.high, 3)})" if self.low != self.high else ""
        return f"{self.name} {'at least ' if self.at_least else ''}{grouped(self.expected, 3)} {self.unit}{ends}"


def totals_of(chosen: Ranked) -> tuple[Total, ...]:
    """Return the totals of the choice whose range is known: a step, the run with failures, progress, purchase, owning it, the work."""
    candidate = chosen.candidate
    step, cost, reliability = candidate.choice.step if candidate.choice else None, candidate.cost, candidate.reliability
    run = reliability.run_time if reliability is not None else None
    rows: list[tuple[str, str, Range | StepEstimate | None]] = [("a step", "s", step), ("the run", "day", run)]
    if cost is not None:
        rows += [("purchase", "USD", cost.outlay), ("owning it", "USD", cost.ownership)]
    open_ = cost is not None and bool(cost.missing)
    found = []
    for name, unit, each in rows:
        if each is not None:
            low, expected, high = (magnitude(end, unit) for end in (each.low, each.expected, each.high))
            found.append(Total(name, unit if unit != "day" else "days", low, expected, high, open_ and unit == "USD"))
    if reliability is not None:
        low, expected, high = (100.0 * share for share in (reliability.goodput_low, reliability.goodput, reliability.goodput_high))
        found.insert(min(2, len(found)), Total("time that makes progress", "%", low, expected, high))
    return tuple(found)


WEIGHTS = {"fits": 5, "GPU": 4, "server": 3, "fabric": 2}
"""What may change, and how much it weighs: whether anything fits at all, then the GPU, the server, the technology of the fabric."""


def traits_of(considered: Considered) -> dict[str, object]:
    """Return what is meant by the choice; sizes and figures are not part of it."""
    chosen = considered.ranking.chosen
    if chosen is None:
        return dict.fromkeys(WEIGHTS)
    candidate = chosen.candidate
    technology = candidate.facts.get(Stage.FABRIC, {}).get("technology")
    return {"fits": bool(considered.ranking.good), "GPU": candidate.gpu.id, "server": candidate.node.id, "fabric": technology}


def name_of(considered: Considered) -> str:
    """Return the choice as number and server."""
    chosen = considered.ranking.chosen
    return "nothing" if chosen is None else f"{chosen.candidate.units:,} × {chosen.candidate.node.name}"


def network_of(considered: Considered) -> str:
    """Return the network of the choice in words: what to say where nothing else is another."""
    chosen = considered.ranking.chosen
    fact = chosen.candidate.facts.get(Stage.FABRIC, {}) if chosen is not None else {}
    return "" if fact.get("technology") == "none" else f" on {fact.get('technology_name')}"


def weight_of(trials: Sequence[Trial]) -> int:
    """Return how much the weightiest change of trials weighs."""
    return max(WEIGHTS[name] for each in trials for name in each.changed)


def trial_of(value: str, base: Considered, other: Considered) -> Trial | None:
    """Return what another value leads to, None where the choice stays."""
    before, after = traits_of(base), traits_of(other)
    changed = tuple(name for name, trait in after.items() if trait != before[name])
    if not changed:
        return None
    name = f"{name_of(other)}{network_of(other) if changed == ('fabric',) else ''}"
    return Trial(value, name, bool(other.ranking.good), changed)


def sentence_of(trials: Sequence[Trial]) -> str:
    """Return what trials lead to: "with 10 kW nothing fits; nearest is …"."""
    return "; ".join(f"with {each.value} {_outcome(each)} {each.chosen}" for each in trials)


def _outcome(trial: Trial) -> str:
    if not trial.fits:
        return "nothing fits; nearest is"
    return "every answer is met, by" if "fits" in trial.changed else "it is"
