"""Runs that were measured several times with one plan, by successive releases of a framework: how far they lie apart.

An estimate that knows plan, GPU and precision but not the release cannot be nearer to all of them than their own middle. That is the error
that no model of the machine can go below, and it stands beside ours.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

from rules.validation import NOISY, grouped, ninth_decile

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rules.validation import Outcome

FEWEST = 2
FAR_APART = 0.15
"""Spread of a plan's runs from which it is listed: more than the model promises to be off on average."""


@dataclass(frozen=True)
class Repeat:
    """One plan that was measured several times: its slowest and fastest rate, and ours, per second and GPU."""

    source: str
    model: str
    gpu: str
    precision: str
    gpus: int
    plan: str
    runs: int
    slowest: float
    fastest: float
    ours: float

    @property
    def spread(self) -> float:
        """Return how much faster the fastest is than the slowest, as a share."""
        return self.fastest / self.slowest - 1


@dataclass(frozen=True)
class Floor:
    """The error that is left to the best constant of each plan, over `runs` runs of `plans` plans: mean, and what 90 % are within."""

    plans: int
    runs: int
    mean: float
    p90: float


def repeats(outcomes: Iterable[Outcome]) -> list[Repeat]:
    """Return the plans that were measured more than once, those farthest apart first."""
    found = []
    for group in _groups(outcomes):
        first, rates = group[0], [each.rate_measured or 0.0 for each in group]
        regime = first.regime
        found.append(
            Repeat(
                first.source, first.model, regime.gpu, regime.precision, regime.gpus, first.plan, len(group), min(rates), max(rates),
                fmean(each.rate or 0.0 for each in group),
            )
        )  # fmt: skip
    return sorted(found, key=lambda each: (-each.spread, each.source, each.model, each.gpu, each.plan))


def floor_of(outcomes: Iterable[Outcome]) -> Floor | None:
    """Return the error of the best constant of each plan; None where no plan was measured twice."""
    groups = _groups(outcomes)
    errors = [error for group in groups for error in _least([each.rate_measured or 1.0 for each in group])]
    return Floor(len(groups), len(errors), fmean(errors), ninth_decile(errors)) if errors else None


def _groups(outcomes: Iterable[Outcome]) -> list[list[Outcome]]:
    timed = [each for each in outcomes if each.rate and each.rate_measured and each.source not in NOISY]
    alike = grouped(timed, lambda each: (each.source, each.model, each.regime, each.plan, each.sequence_length))
    return [group for group in alike.values() if len(group) >= FEWEST]


def _least(rates: Sequence[float]) -> list[float]:
    """Return the errors of that one of the rates from which all are nearest on average."""
    return min(([abs(one / each - 1) for each in rates] for one in rates), key=sum)
