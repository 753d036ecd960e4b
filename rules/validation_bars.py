"""What the estimates promise on published runs, whether they keep it, and where not, by how much and because of which runs."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

from catalogs.sums import plain_sum
from rules.validation import (
    NINTH_DECILE,
    NOISY,
    Outcome,
    grouped,
    memory_score,
    ninth_decile,
    time_score,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

TUNED = ("mbridge", "dgxc", "nemo2407", "nemo-longseq")
"""NVIDIA's tables of tuned recipes."""
SHARDED = ("llm-foundry", "torchtitan", "fms-fsdp")
SWEEPS = ("vtrain",)
"""Sources that vary the plan of one model on the same GPUs, bad plans included."""
SCALING = ("megatron2021", "megatron-readme-h100", "dgxc")
"""Sources that grow one model's run over more GPUs, or the model with the GPUs."""
FEWEST_PLANS = 5
"""Plans of one model on the same GPUs from which it can be asked which is the fastest."""
RANGED = (*TUNED, *SHARDED, *SWEEPS)
"""Sources whose measured times should lie inside the range: that of the step was set by the first four, by none of the others."""
TIME_LIMITS: tuple[tuple[tuple[str, ...], tuple[tuple[str, float], ...]], ...] = (
    (("korthikanti2022",), (("mean", 0.04), ("worst", 0.09))),
    (TUNED, (("mean", 0.10), ("p90", 0.20))),
    (SWEEPS, (("mean", 0.15),)),
    (SHARDED, (("mean", 0.12),)),
)
"""Errors of the rate that are promised of each source: which of its errors, and at most how much."""
KNOWN = {
    "torchtitan": "PyTorch's context parallelism, four and eight ways, takes longer than its kernels and volumes explain; its ranks are "
    "balanced by default [torch.distributed.tensor.experimental, _ContextParallelOptions]. In FP8 scaled by rows, the source notes that "
    "its own baseline is at fault [pytorch/torchtitan issue 1207]",
    "fms-fsdp": "A later table of the source states 400 Gb/s between servers of A100, 50 Gb/s for each GPU; the server that is taken for "
    "its GPUs has 200 Gb/s for each, which hides more of what small batches exchange",
}
"""What is known of why a source's runs are missed, beside which of them weigh most."""
ERRORS = {"mean": "mean error", "worst": "worst error", "p90": f"{NINTH_DECILE:.0%} of errors within"}
LEAST_INSIDE = 0.80
"""Share of measured step times that a range has to hold to be worth stating (a promise)."""
GROWTH_OF = "llama3-70b"
GROWTH_FROM, GROWTH_TO = 64, 2048


@dataclass(frozen=True)
class Bar:
    """A promise: `value` of a measure must be at most `limit` (at least, where `at_least`). Shares; None where nothing tells.

    `null`: the same measure of the null model, where it has one. `cause` says for a missed bar which runs weigh most and what is known
    of why.
    """

    name: str
    value: float | None
    limit: float
    runs: int
    at_least: bool = False
    cause: str = ""
    null: float | None = None

    @property
    def met(self) -> bool | None:
        """Return whether the promise is kept; None where there is nothing to measure it on."""
        if self.value is None:
            return None
        return self.value >= self.limit if self.at_least else self.value <= self.limit


class Choice(NamedTuple):
    """Throughput lost by running the plan that the estimate rates fastest, over groups of one model on the same GPUs: shares."""

    groups: int
    median: float
    p90: float


@dataclass(frozen=True)
class Growth:
    """One model on more GPUs: throughput per GPU on the most over that on the fewest, measured and estimated. One is perfect."""

    source: str
    table: str
    model: str
    gpu: str
    precision: str
    gpus_from: int
    gpus_to: int
    measured: float
    estimated: float

    @property
    def error(self) -> float:
        """Return (estimated − measured) / measured."""
        return self.estimated / self.measured - 1

    @property
    def null_error(self) -> float:
        """Return the same of the null model, which expects the same FLOP/s at any size."""
        return 1 / self.measured - 1


def choice_of(outcomes: Iterable[Outcome]) -> Choice | None:
    """Return what trusting the estimate's fastest plan costs; None where no model ran with five plans on the same GPUs."""
    timed = [each for each in outcomes if each.rate and each.rate_measured and each.rate_basis != "flops"]
    groups = grouped(timed, lambda each: (each.source, each.model, each.regime.gpu, each.gpus, each.sequence_length, each.regime.precision))
    lost = []
    for group in groups.values():
        if len(group) >= FEWEST_PLANS:
            taken = max(group, key=lambda each: each.rate or 0.0)
            lost.append(1 - (taken.rate_measured or 0.0) / max(each.rate_measured or 0.0 for each in group))
    return Choice(len(lost), median(lost), ninth_decile(lost)) if lost else None


def growths(outcomes: Iterable[Outcome]) -> list[Growth]:
    """Return the growth of every model that ran with one plan inside its data-parallel ranks on several numbers of GPUs."""
    timed = [each for each in outcomes if each.rate and each.rate_measured and each.source not in NOISY]
    found = []
    for group in grouped(timed, _growing).values():
        sizes = sorted(group, key=lambda each: each.gpus)
        small, large = sizes[0], sizes[-1]
        if large.gpus > small.gpus:
            measured = (large.rate_measured or 0.0) / (small.rate_measured or 1.0)
            estimated = (large.rate or 0.0) / (small.rate or 1.0)
            names = (small.source, small.table, small.model, small.regime.gpu, small.regime.precision)
            found.append(Growth(*names, small.gpus, large.gpus, measured, estimated))
    return found


def _growing(each: Outcome) -> tuple[object, ...]:
    inside = tuple(part for part in each.plan.split() if not part.startswith("DP"))
    return each.source, each.table, each.model, each.regime.gpu, each.regime.precision, each.sequence_length, inside


def bars(outcomes: Sequence[Outcome], null: Mapping[str, float]) -> list[Bar]:
    """Return all promises with what was measured, memory first."""
    return [*_memory_bars(outcomes), *_time_bars(outcomes, null)]


def _memory_bars(outcomes: Sequence[Outcome]) -> list[Bar]:
    simumax, playbook = _of(outcomes, "simumax"), _of(outcomes, *NOISY)
    others = [each for each in outcomes if each.source not in ("simumax", *NOISY)]
    made: list[Bar] = []
    score = memory_score(simumax)
    if score:
        made.append(Bar("memory, simumax: mean error", score.mean, 0.03, score.runs, cause=_memory_cause(simumax)))
        made.append(Bar("memory, simumax: worst error", score.worst, 0.08, score.runs, cause=_memory_cause(simumax)))
    score = memory_score(others)
    if score:
        made.append(Bar("memory, other sources: inside the range", score.inside, 0.90, score.runs, True, _memory_cause(others)))
        made.append(Bar("memory, other sources: median width of the range", score.width, 0.35, score.runs, cause=_width_cause(others)))
    score = memory_score(playbook)
    if score:
        made.append(Bar("memory, playbook: inside the range", score.inside, 0.65, score.runs, True, _memory_cause(playbook)))
        made.append(_refused("memory, playbook: runs that worked but are refused", playbook, 0.05))
    made.append(_refused("memory, other sources: runs that worked but are refused", [*simumax, *others], 0.0))
    died = [each for each in outcomes if not each.worked]
    if died:
        foreseen = sum(each.verdict in ("does_not_fit", "at_risk") for each in died) / len(died)
        made.append(Bar("memory: runs that died are foreseen", foreseen, 0.95, len(died), at_least=True))
    return made


def _refused(name: str, outcomes: Iterable[Outcome], limit: float) -> Bar:
    ran = [each for each in outcomes if each.worked and each.verdict != "unknown"]
    refused = [each.id for each in ran if each.verdict == "does_not_fit"]
    return Bar(name, len(refused) / len(ran) if ran else None, limit, len(ran), cause=f"refused: {', '.join(refused[:3])}")


def _time_bars(outcomes: Sequence[Outcome], null: Mapping[str, float]) -> list[Bar]:
    made = [
        bar for sources, limits in TIME_LIMITS for source in sources for bar in _error_bars(source, limits, _of(outcomes, source), null)
    ]
    made += [each for each in (_inside(source, _of(outcomes, source)) for source in RANGED) if each.runs]
    made += _growth_bars(outcomes)
    for source in (*SWEEPS, *SCALING):
        score = time_score(_of(outcomes, source), null)
        if score and score.own_mean is not None and score.null_mean is not None:
            name = f"time, {source}: mean error beside the null model's"
            why = _why(source, _of(outcomes, source))
            made.append(Bar(name, score.own_mean, score.null_mean, score.runs, cause=why, null=score.null_mean))
    choice = choice_of(_of(outcomes, *SWEEPS))
    if choice:
        made.append(Bar("choice, sweeps: throughput lost, median", choice.median, 0.03, choice.groups))
        made.append(Bar("choice, sweeps: throughput lost, 90% within", choice.p90, 0.12, choice.groups))
    return made


def _error_bars(source: str, limits: Iterable[tuple[str, float]], those: Sequence[Outcome], null: Mapping[str, float]) -> list[Bar]:
    """Return the promises on one source's rate, each beside the same error of the null model over the runs that it answers."""
    score = time_score(those, null)
    if score is None:
        return []
    answered = sorted(abs(null[each.id]) for each in those if each.time_error is not None and each.id in null)
    theirs = {"mean": score.null_mean, "worst": max(answered, default=None), "p90": ninth_decile(answered) if answered else None}
    why = _why(source, those)
    return [
        Bar(f"time, {source}: {ERRORS[key]}", getattr(score, key), limit, score.runs, cause=why, null=theirs[key]) for key, limit in limits
    ]


def _inside(source: str, outcomes: Sequence[Outcome]) -> Bar:
    found = [each.time_inside for each in outcomes if each.time_inside is not None]
    share = plain_sum(found) / len(found) if found else None
    return Bar(f"time, {source}: inside the range", share, LEAST_INSIDE, len(found), at_least=True, cause=_why(source, outcomes))


def _why(source: str, outcomes: Iterable[Outcome]) -> str:
    """Return which runs of a source weigh most, and what is known of why."""
    return ". ".join(part for part in (time_cause(outcomes), KNOWN.get(source, "")) if part)


def _growth_bars(outcomes: Iterable[Outcome]) -> list[Bar]:
    return [
        Bar(f"time, {each.table} {each.precision}, {each.gpus_from:,} to {each.gpus_to:,}: growth", abs(each.error), 0.03, 2, null=null)
        for each in growths(outcomes)
        if (each.model, each.gpus_from, each.gpus_to, each.source) == (GROWTH_OF, GROWTH_FROM, GROWTH_TO, "dgxc")
        for null in (abs(each.null_error),)
    ]


def _of(outcomes: Iterable[Outcome], *sources: str) -> list[Outcome]:
    return [each for each in outcomes if each.source in sources]


def time_cause(outcomes: Iterable[Outcome]) -> str:
    """Return which kind of run makes most of the error of the rate, "" where nothing was measured."""
    return _cause([each for each in outcomes if each.time_error is not None], lambda each: each.time_error or 0.0, ("fast", "slow"))


def _memory_cause(outcomes: Iterable[Outcome]) -> str:
    return _cause([each for each in outcomes if each.memory_error is not None], lambda each: each.memory_error or 0.0, ("high", "low"))


def _width_cause(outcomes: Iterable[Outcome]) -> str:
    wide = [each for each in outcomes if each.memory and each.memory_measured]
    sources = grouped(wide, lambda each: each.source)
    widths = {name: median(_width(each) for each in group) for name, group in sources.items()}
    if not widths:
        return ""
    name = max(widths, key=lambda each: widths[each])
    return f"widest: {name}, {len(sources[name])} runs, {widths[name]:.0%}, whose tables do not say what decides memory"


def _width(each: Outcome) -> float:
    low, expected, high = each.memory or (0.0, 1.0, 0.0)
    return (high - low) / expected


def _cause(outcomes: list[Outcome], error: Callable[[Outcome], float], words: tuple[str, str]) -> str:
    whole = plain_sum(abs(error(each)) for each in outcomes)
    if not whole:
        return ""
    groups = grouped(outcomes, lambda each: (each.source, each.model, each.regime.gpu, each.regime.precision))
    weights = {key: plain_sum(abs(error(each)) for each in group) for key, group in groups.items()}
    key = max(weights, key=lambda each: weights[each])
    mean = plain_sum(error(each) for each in groups[key]) / len(groups[key])
    count = f"{len(groups[key])} of {len(outcomes)} runs"
    return (
        f"{key[1]} on {key[2]} in {key[3]} ({key[0]}, {count}) makes {weights[key] / whole:.0%} of the error: "
        f"ours is {abs(mean):.0%} too {words[0] if mean > 0 else words[1]}"
    )
