"""How far estimates are from measured runs: errors of memory and of time by group, beside a null model, and a calibration.

The null model says that a run reaches the median FLOP/s of the other runs of its source, GPU and precision. A model of the
machine earns its keep where it beats that.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, replace
from statistics import fmean, median
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence

    from catalogs.schema import ValidatedRegime
    from rules.regimes import Regime

NINTH_DECILE = 0.9
NOISY = ("playbook",)
"""Sources whose rates are no measure of a machine: each configuration of the playbook's plot ran once, and 43 % of them reach less than
5 % of the peak, in a framework's pathologies [Hugging Face Ultra-Scale Playbook]. Their memory counts, their time is printed only."""
FEWEST_FOR_CALIBRATION = 3
"""Runs from which a factor is worth applying; fewer cannot show how much they scatter."""
WORTH_CALIBRATING = 0.02
"""A factor nearer to one than this is lost in how much a run's own steps vary (assumed)."""
Group = TypeVar("Group", bound="Hashable")


@dataclass(frozen=True)
class Outcome:
    """One run, measured and estimated. Memory in GiB on the fullest GPU; rates in tokens, images or samples per second and GPU.

    Values are None where the run states none or no estimate can be made. `rate_basis` says what was measured: "step", "rate", or
    "flops" where only FLOP/s are printed, whose counting differs between sources. `flops` is the estimate in TFLOP/s per GPU.
    `table` is the place in the source. `worked` is False for a run that died for lack of memory. `step_range` is the range of the step's
    time, as multiples of the estimate.
    """

    id: str
    source: str
    table: str
    model: str
    regime: Regime
    plan: str
    sequence_length: int
    memory_measured: float | None
    memory: tuple[float, float, float] | None
    rate_measured: float | None
    rate: float | None
    rate_basis: str
    flops: float | None
    verdict: str
    worked: bool
    notes: tuple[str, ...] = ()
    step_range: tuple[float, float] | None = None

    @property
    def gpus(self) -> int:
        """Return the number of GPUs."""
        return self.regime.gpus

    @property
    def memory_error(self) -> float | None:
        """Return (expected − measured) / measured of the memory peak."""
        if self.memory is None or not self.memory_measured:
            return None
        return self.memory[1] / self.memory_measured - 1

    @property
    def time_error(self) -> float | None:
        """Return (estimated − measured) / measured of the rate: above zero where the estimate is too fast."""
        if not self.rate or not self.rate_measured:
            return None
        return self.rate / self.rate_measured - 1

    @property
    def time_inside(self) -> bool | None:
        """Return whether the measured time lies inside the range of the estimated one."""
        error = self.time_error
        return None if error is None or self.step_range is None else self.step_range[0] <= 1 + error <= self.step_range[1]


@dataclass(frozen=True)
class MemoryScore:
    """Errors of memory over `runs`: mean and worst absolute, bias, share inside [low, high], median width (high − low)/expected."""

    runs: int
    mean: float
    worst: float
    bias: float
    inside: float
    width: float


@dataclass(frozen=True)
class TimeScore:
    """Errors of the rate over `runs`: mean, median, 90th percentile and worst absolute, bias; and the mean of the null model.

    `null_mean` is None where no run has another to learn from; `own_mean` is ours over the runs that the null model answers.
    """

    runs: int
    mean: float
    median: float
    p90: float
    worst: float
    bias: float
    null_mean: float | None
    own_mean: float | None

    @property
    def beats_null(self) -> bool | None:
        """Return whether ours is the smaller mean error; None where there is no null model."""
        if self.null_mean is None or self.own_mean is None:
            return None
        return self.own_mean < self.null_mean


@dataclass(frozen=True)
class Calibration:
    """Measured over estimated for one GPU and precision: the factors for step time and memory, and the range of each."""

    gpu: str
    precision: str
    time_runs: int
    time_factor: float | None
    time_range: tuple[float, float] | None
    memory_runs: int
    memory_factor: float | None
    memory_range: tuple[float, float] | None


def grouped(outcomes: Iterable[Outcome], key: Callable[[Outcome], Group]) -> dict[Group, list[Outcome]]:
    """Return the outcomes by group, in the order in which the groups first come."""
    found: dict[Group, list[Outcome]] = defaultdict(list)
    for each in outcomes:
        found[key(each)].append(each)
    return dict(found)


def ninth_decile(values: Sequence[float]) -> float:
    """Return the smallest value that nine tenths of `values` do not exceed (nearest rank); raises IndexError for none."""
    return sorted(values)[math.ceil(NINTH_DECILE * len(values)) - 1]


def memory_score(outcomes: Iterable[Outcome]) -> MemoryScore | None:
    """Return the errors of memory, None where nothing was measured and estimated."""
    found = [(each.memory_error, each.memory, each.memory_measured) for each in outcomes]
    known = [(error, memory, measured) for error, memory, measured in found if error is not None and memory and measured]
    if not known:
        return None
    errors = [error for error, _, _ in known]
    return MemoryScore(
        runs=len(known),
        mean=fmean(map(abs, errors)),
        worst=max(map(abs, errors)),
        bias=fmean(errors),
        inside=fmean(memory[0] <= measured <= memory[2] for _, memory, measured in known),
        width=median((memory[2] - memory[0]) / memory[1] for _, memory, _ in known),
    )


def time_score(outcomes: Iterable[Outcome], null: Mapping[str, float]) -> TimeScore | None:
    """Return the errors of the rate, None where nothing was measured and estimated. `null` has the null model's error by id."""
    known = {each.id: each.time_error for each in outcomes if each.time_error is not None}
    if not known:
        return None
    errors = list(known.values())
    answered = [id_ for id_ in known if id_ in null]
    return TimeScore(
        runs=len(errors),
        mean=fmean(map(abs, errors)),
        median=median(map(abs, errors)),
        p90=ninth_decile([abs(error) for error in errors]),
        worst=max(map(abs, errors)),
        bias=fmean(errors),
        null_mean=fmean(abs(null[id_]) for id_ in answered) if answered else None,
        own_mean=fmean(abs(known[id_]) for id_ in answered) if answered else None,
    )


def null_errors(outcomes: Iterable[Outcome]) -> dict[str, float]:
    """Return the null model's relative error of the rate by id: the median FLOP/s of the others of its source, GPU and precision.

    The FLOP/s that a run reached follow from its measured rate with our count of FLOPs; a run alone in its group has no null model.
    """
    errors: dict[str, float] = {}
    timed = [each for each in outcomes if each.time_error is not None and each.flops]
    for group in grouped(timed, lambda each: (each.source, each.regime.gpu, each.regime.precision)).values():
        reached = [(each.flops or 0.0) / (1 + (each.time_error or 0.0)) for each in group]
        for number, each in enumerate(group):
            others = reached[:number] + reached[number + 1 :]
            if others:
                errors[each.id] = median(others) / reached[number] - 1
    return errors


def validated_regimes(outcomes: Iterable[Outcome]) -> list[ValidatedRegime]:
    """Return the errors by regime, for the catalog: rounded to whole percent, sorted.

    The rates of noisy sources and printed FLOP/s validate no time.
    """
    groups = grouped(outcomes, lambda each: replace(each.regime, gpus=each.regime.band[1]))
    made = [_validated(regime, group) for regime, group in groups.items()]
    return sorted((each for each in made if each is not None), key=lambda each: each.id)


def _validated(regime: Regime, group: list[Outcome]) -> ValidatedRegime | None:
    from catalogs.schema import ValidatedRegime

    timed = [each for each in group if each.source not in NOISY and each.rate_basis != "flops" and each.time_error is not None]
    sized = [each for each in group if each.memory_error is not None]
    time, memory = time_score(timed, {}), memory_score(sized)
    if time is None and memory is None:
        return None
    low, high = regime.band
    values: dict[str, object] = {}
    if time is not None:
        values |= {"time_runs": time.runs, "time_mean": round(time.mean, 2), "time_p90": round(time.p90, 2)}
        values["time_source"] = _sources(timed)
    if memory is not None:
        values |= {"memory_runs": memory.runs, "memory_mean": round(memory.mean, 2), "memory_worst": round(memory.worst, 2)}
        values |= {"memory_inside": round(memory.inside, 2), "memory_source": _sources(sized)}
    about = {key: getattr(regime, key) for key in ("model_kind", "gpu", "architecture", "vendor", "precision", "parallelism")}
    id_ = ".".join((regime.model_kind, regime.gpu, regime.precision, regime.parallelism or "dp", str(high)))
    return ValidatedRegime.model_validate({"id": id_, **about, "gpus_from": low, "gpus_to": high, **values})


def _sources(outcomes: Iterable[Outcome]) -> tuple[str, ...]:
    return tuple(sorted({each.source for each in outcomes}))


def verdicts(outcomes: Iterable[Outcome]) -> dict[str, int]:
    """Return how many runs worked, were refused all the same, died for lack of memory, and were foreseen to die."""
    judged = [each for each in outcomes if each.verdict != "unknown"]
    worked = [each for each in judged if each.worked and (each.rate_measured or each.memory_measured)]
    died = [each for each in judged if not each.worked]
    return {
        "worked": len(worked),
        "refused": sum(each.verdict == "does_not_fit" for each in worked),
        "died": len(died),
        "foreseen": sum(each.verdict != "fits" for each in died),
    }


def calibrations(outcomes: Iterable[Outcome]) -> list[Calibration]:
    """Return, by GPU and precision, what our step times and memory would have to be multiplied with to meet the measured ones."""
    made = []
    for (gpu, precision), group in grouped(outcomes, lambda each: (each.regime.gpu, each.regime.precision)).items():
        times = [1 + each.time_error for each in group if each.time_error is not None]
        memories = [1 / (1 + each.memory_error) for each in group if each.memory_error is not None]
        if times or memories:
            made.append(Calibration(gpu, precision, *_factor(times), *_factor(memories)))
    return made


def _factor(ratios: list[float]) -> tuple[int, float | None, tuple[float, float] | None]:
    if not ratios:
        return 0, None, None
    return len(ratios), median(ratios), (min(ratios), max(ratios))


def worth_applying(runs: int, factor: float | None, range_: tuple[float, float] | None) -> bool:
    """Return whether a factor says more than chance: enough runs, all off to the same side, and by more than steps vary."""
    if factor is None or range_ is None or runs < FEWEST_FOR_CALIBRATION or abs(factor - 1) < WORTH_CALIBRATING:
        return False
    return (range_[0] - 1) * (range_[1] - 1) > 0
