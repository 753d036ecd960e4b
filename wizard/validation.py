"""The validation of the estimates as one document: errors by source, GPU and regime, promises kept and missed, calibration.

`Validation` holds what was computed; `as_json` is what `validate --json` prints. `wizard.validation_tables` shows it.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from rules.regimes import Estimate, band_text, nearest, nearest_text, parallelism_text
from rules.validation import (
    NOISY,
    Calibration,
    MemoryScore,
    Outcome,
    TimeScore,
    calibrations,
    grouped,
    memory_score,
    null_errors,
    time_score,
    validated_regimes,
    verdicts,
    worth_applying,
)
from rules.validation_bars import TUNED, Bar, bars, choice_of, growths
from rules.validation_repeats import repeats

if TYPE_CHECKING:
    from collections.abc import Callable

    from catalogs.schema import ValidatedRegime
    from rules.validation_bars import Choice, Growth
    from rules.validation_repeats import Repeat

DIGITS = 4
"""Significant digits of what is printed as JSON."""
BEST = "{} (best of each size)"
ORDER: dict[str, Callable[[Outcome], tuple[object, ...]]] = {
    "source": lambda each: (each.source,),
    "gpu": lambda each: (each.regime.gpu, each.regime.precision),
    "regime": lambda each: (each.regime.model_kind, each.regime.parallelism, each.regime.band),
}
GROUPINGS: dict[str, Callable[[Outcome], str]] = {
    "source": lambda each: each.source,
    "gpu": lambda each: f"{each.regime.gpu}, {each.regime.precision}",
    "regime": lambda each: f"{each.regime.model_kind}, {parallelism_text(each.regime.parallelism)}, {band_text(each.regime.band)}",
}
"""How errors are grouped: the text names the group in the tables, which stand in `ORDER`."""


@dataclass(frozen=True)
class Validation:
    """Outcomes of runs and what they say. `own` marks a person's own runs, `regimes` the validated ones of the catalog."""

    outcomes: tuple[Outcome, ...]
    own: bool
    regimes: tuple[ValidatedRegime, ...] = ()

    @cached_property
    def null(self) -> dict[str, float]:
        """Return the null model's error by id."""
        return null_errors(self.outcomes)

    @cached_property
    def counted(self) -> list[Outcome]:
        """Return the runs whose rates count: not those of noisy sources."""
        return [each for each in self.outcomes if each.source not in NOISY]

    def memory(self, grouping: str) -> dict[str, MemoryScore]:
        """Return the errors of memory by group; groups without a measured peak are left out."""
        groups = grouped(sorted(self.outcomes, key=ORDER[grouping]), GROUPINGS[grouping])
        return {name: score for name, group in groups.items() if (score := memory_score(group)) is not None}

    def time(self, grouping: str) -> dict[str, TimeScore]:
        """Return the errors of the rate by group. By source all are listed, and of noisy ones the best runs too; else they are left out."""
        outcomes = self._with_best() if grouping == "source" else self.counted
        groups = grouped(sorted(outcomes, key=ORDER[grouping]), GROUPINGS[grouping])
        return {name: score for name, group in groups.items() if (score := time_score(group, self.null)) is not None}

    def _with_best(self) -> list[Outcome]:
        noisy = [each for each in self.outcomes if each.source in NOISY and each.rate and each.rate_measured]
        sizes = grouped(noisy, lambda each: (each.source, each.model, each.gpus))
        best = [max(group, key=lambda each: each.rate_measured or 0.0) for group in sizes.values()]
        return [*self.outcomes, *(replace(each, source=BEST.format(each.source)) for each in best)]

    @cached_property
    def bars(self) -> list[Bar]:
        """Return the promises; none for a person's own runs."""
        return [] if self.own else bars(self.outcomes, self.null)

    @cached_property
    def growths(self) -> list[Growth]:
        """Return how rates per GPU change with the number of GPUs."""
        return growths(self.outcomes)

    @cached_property
    def choices(self) -> dict[str, Choice]:
        """Return what trusting the fastest plan costs, by source."""
        groups = sorted(grouped(self.outcomes, GROUPINGS["source"]).items())
        return {name: found for name, group in groups if (found := choice_of(group)) is not None}

    @cached_property
    def repeats(self) -> list[Repeat]:
        """Return the plans of NVIDIA's tables that were measured several times, by several releases of a framework."""
        return repeats(each for each in self.outcomes if each.source in TUNED)

    @cached_property
    def calibrations(self) -> list[Calibration]:
        """Return measured over estimated by GPU and precision; none for published runs, which set nothing."""
        return calibrations(self.outcomes) if self.own else []

    @cached_property
    def unanswered(self) -> list[Outcome]:
        """Return the runs with a measured value but no estimate of it."""
        return [
            each
            for each in self.outcomes
            if (each.rate_measured is None and each.memory_measured is None and each.worked)
            or (each.rate_measured and not each.rate)
            or (each.memory_measured and not each.memory)
        ]

    def nearest(self) -> dict[str, dict[str, str]]:
        """Return, by GPU and precision of a person's own runs, the nearest published regime for time and memory."""
        if not self.own:
            return {}
        found = grouped(self.outcomes, lambda each: each.regime)
        return {
            f"{regime.model_kind}, {regime.gpu}, {regime.precision}, {parallelism_text(regime.parallelism)}, {regime.gpus:,} GPUs": {
                what.value: nearest_text(nearest(self.regimes, regime, what), what) for what in Estimate
            }
            for regime in found
        }

    def to_regimes(self) -> list[ValidatedRegime]:
        """Return the regimes that these runs validate, for the catalog."""
        return validated_regimes(self.outcomes)


def as_json(validation: Validation) -> dict[str, Any]:
    """Return the validation as the schema `validate` describes it; shares are plain numbers, 0.05 being 5 %."""
    return {
        "runs": len(validation.outcomes),
        "verdicts": verdicts(validation.outcomes),
        "memory": {name: _scores(validation.memory(name)) for name in GROUPINGS},
        "time": {name: _timed(validation.time(name)) for name in GROUPINGS},
        "growth": [rounded(asdict(each) | {"error": each.error, "null_error": each.null_error}) for each in validation.growths],
        "choice": [rounded({"source": name, **found._asdict()}) for name, found in validation.choices.items()],
        "repeats": [rounded(asdict(each) | {"spread": each.spread}) for each in validation.repeats],
        "bars": [_bar(each) for each in validation.bars],
        "calibration": [_calibration(each) for each in validation.calibrations],
        "nearest": [{"regime": name, **texts} for name, texts in validation.nearest().items()],
        "results": [_result(each, validation.null) for each in validation.outcomes] if validation.own else [],
        "unanswered": [{"id": each.id, "why": why(each)} for each in validation.unanswered],
    }


def why(outcome: Outcome) -> str:
    """Return why a run validates nothing."""
    if outcome.rate_measured is None and outcome.memory_measured is None and not outcome.notes:
        return "nothing measured"
    return outcome.notes[0] if outcome.notes and outcome.memory is None and outcome.rate is None else "no measured value to compare with"


def _scores(scores: dict[str, MemoryScore]) -> list[dict[str, Any]]:
    return [rounded({"group": name, **asdict(score)}) for name, score in scores.items()]


def _timed(scores: dict[str, TimeScore]) -> list[dict[str, Any]]:
    return [rounded({"group": name, **asdict(score), "beats_null": score.beats_null}) for name, score in scores.items()]


def _bar(bar: Bar) -> dict[str, Any]:
    return rounded(asdict(bar) | {"met": bar.met, "cause": "" if bar.met else bar.cause})


def _calibration(found: Calibration) -> dict[str, Any]:
    apply_time = worth_applying(found.time_runs, found.time_factor, found.time_range)
    apply_memory = worth_applying(found.memory_runs, found.memory_factor, found.memory_range)
    return rounded(asdict(found) | {"apply_time": apply_time, "apply_memory": apply_memory})


def _result(each: Outcome, null: dict[str, float]) -> dict[str, Any]:
    low, expected, high = each.memory or (None, None, None)
    return rounded(
        {
            "id": each.id,
            "source": each.source,
            "rate_measured": each.rate_measured,
            "rate_estimated": each.rate,
            "rate_error": each.time_error,
            "null_error": null.get(each.id),
            "memory_measured_gib": each.memory_measured,
            "memory_estimated_gib": expected,
            "memory_low_gib": low,
            "memory_high_gib": high,
            "memory_error": each.memory_error,
            "verdict": each.verdict,
        }
    )


def rounded(values: dict[str, Any]) -> dict[str, Any]:
    """Return the table with every number in the digits that are worth printing."""
    return {key: _rounded(value) for key, value in values.items()}


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}")
    return [_rounded(each) for each in value] if isinstance(value, (tuple, list)) else value
