"""Failures of a training job and what they cost: rates from published runs, mean time between failures, goodput, spares, run time.

A rate here is of *job interruptions that nobody planned*. Most end with a restart on the same or another node; few end with a
replaced part. Neither stands for the other, so a warranty's replacement rate is never derived from it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from catalogs.quantities import magnitude, quantity
from catalogs.schema import Kind
from rules.sizing.checkpoint import daly_goodput, plan_checkpoints
from rules.sizing.completion import SWANSON, Interrupted
from rules.sizing.lookup import fact_value, threshold_number
from rules.sizing.results import Range

if TYPE_CHECKING:
    from catalogs import Catalog
    from catalogs.loading import Shelf
    from catalogs.schema import Fact, Gpu, Threshold
    from rules.candidate import Candidate
    from rules.sizing.checkpoint import CheckpointPlan
    from rules.sizing.results import Workload

SECONDS_PER_DAY = 86_400.0
HOURS_PER_DAY = 24.0
GPUS_PER_NODE = 8
"""GPUs of the nodes whose failures were counted: HGX and DGX servers in every published run that is used here."""
MID_SIZE_GPUS, LARGE_GPUS = 1024, 16_384
"""Job sizes for which arXiv:2410.21680 prints a measured and a projected time to failure; between them it is interpolated."""
MEASURED_MTTF_1024_HOURS = 7.9
"""Time to failure measured for jobs of 1,024 A100 on Meta's research cluster [arXiv:2410.21680]; its rate per node says 28.8 h."""
SLOW_RESTART_S = 900.0
"""Detection, diagnosis and catching up in a run of more than 10,000 GPUs took at most this [MegaScale, arXiv:2402.15627]."""
REPAIR_DAYS = 3.0
"""Assumed days until a failed node is back: diagnosis, a part on the next working day, and a test. A vendor's answer replaces it."""
LARGEST_POISSON_MEAN, NORMAL_TAIL = 500.0, 3.9
"""Above this mean the Poisson distribution is taken as normal, with the tail of one in 20,000 nodes."""
LEAST_NODES_WITH_SPARES = 2
"""Fewest nodes for which a spare is kept: a single server waits for its repair."""
TYPICAL_STATE_BYTES_PER_GPU = 1e9
"""State to save per GPU where no model is known; any value below 10 GB changes goodput by less than a tenth of a percent."""


@dataclass(frozen=True)
class FailureRate:
    """Unplanned interruptions of a job per GPU and day: few, expected and many, with where the expected one comes from."""

    few: float
    expected: float
    many: float
    basis: str
    kind: Kind
    sources: tuple[str, ...]


@dataclass(frozen=True)
class Goodput:
    """Share of time that makes progress, 0 to 1, with the mean time between failures in seconds and the restart that it rests on."""

    low: float
    expected: float
    high: float
    mtbf_low: float
    mtbf: float
    mtbf_high: float
    restart: float
    checkpoints: CheckpointPlan


@dataclass(frozen=True)
class _Published:
    """Published rates per GPU and day, restart times in seconds."""

    llama3: float
    research: tuple[float, float, float]
    best: float
    gb200: tuple[float, float, float]
    worst: float
    restart: tuple[float, float, float]


@lru_cache(maxsize=8)
def _published(facts: Shelf[Fact], thresholds: Shelf[Threshold]) -> _Published:
    llama = "llama3-interruptions"
    gpu_days = fact_value(facts, llama, "gpus").to("") * fact_value(facts, llama, "duration").to("day")
    research_days = fact_value(facts, "meta-rsc", "mean_time_16384_gpus").to("day") * LARGE_GPUS
    per_thousand_servers = fact_value(facts, "server-interruptions-ftshdp", "interruptions").to("")
    few, middle, many = fact_value(facts, "gpu-mean-time-gb200", "mean_time_between_interruptions").ends("day")
    usual = threshold_number(thresholds, "rel-auto-retry", "median_minutes") * 60.0
    return _Published(
        llama3=fact_value(facts, llama, "unexpected").to("") / gpu_days,
        research=(
            fact_value(facts, "meta-rsc", "failures_low").to("") / 1000.0 / GPUS_PER_NODE,
            1.0 / research_days,
            fact_value(facts, "meta-rsc", "failures_high").to("") / 1000.0 / GPUS_PER_NODE,
        ),
        best=per_thousand_servers / 1000.0 / GPUS_PER_NODE,
        gb200=(1.0 / many, 1.0 / middle, 1.0 / few),
        worst=1.0 / fact_value(facts, "neocloud-gpu-time", "mean_time_between_failures").to("day"),
        restart=(fact_value(facts, "recovery-time", "median").to("s"), usual, SLOW_RESTART_S),
    )


def failure_rate(gpu: Gpu | None, gpus: int, catalog: Catalog) -> FailureRate:
    """Return the rate of unplanned job interruptions per GPU and day for a job on `gpus` GPUs (of the kind `gpu`, else H100).

    Expected is what was counted on the same kind of GPU, else on H100, then marked assumed. Few is the best published rate. Many is
    that of a shared research cluster, which at mid size fails more often than its rate per node says: the band narrows with scale.
    """
    published = _published(catalog.facts, catalog.thresholds)
    least, research, worst_month = published.research
    many = research * _excess_at_mid_size(gpus, research)
    anchor = _anchor(gpu)
    if anchor == "rsc":
        basis = "a research cluster with A100 (Meta, 150 million GPU-hours)"
        return FailureRate(least, research, max(many, worst_month), basis, Kind.MEASURED, ("meta-rsc",))
    if anchor == "gb200":
        few, expected, most = published.gb200
        return FailureRate(few, expected, max(many, most), "what operators of GB200 NVL72 report", Kind.ESTIMATED, ("gpu-mean-time-gb200",))
    if anchor == "llama3":
        return FailureRate(published.best, published.llama3, many, "the 16,384 H100 of Llama 3", Kind.MEASURED, ("llama3-interruptions",))
    basis = "the 16,384 H100 of Llama 3"
    return FailureRate(published.best, published.llama3, max(many, published.worst), basis, Kind.ASSUMED, ("llama3-interruptions",))


def _anchor(gpu: Gpu | None) -> str:
    """Return which published record a GPU is rated by, "" where none was published for its kind."""
    if gpu is None or gpu.architecture.startswith("Hopper"):
        return "llama3"
    if gpu.architecture == "Ampere":
        return "rsc"
    in_rack = gpu.architecture.startswith("Blackwell") and gpu.scale_up.domain.to("") > GPUS_PER_NODE
    return "gb200" if in_rack else ""


RECORDS = {
    "rsc": ("meta-rsc", "mean_time_16384_gpus", True),
    "gb200": ("gpu-mean-time-gb200", "mean_time_between_interruptions", True),
    "llama3": ("llama3-interruptions", "unexpected", False),
}
"""By published record: the fact and the value that the expected rate comes from, and whether that is a time between failures."""


def record_of(gpu: Gpu | None) -> tuple[str, str, bool]:
    """Return the fact, the name of the value and whether it is a time, from which the expected failure rate of a GPU follows."""
    return RECORDS[_anchor(gpu) or "llama3"]


def _excess_at_mid_size(gpus: int, rate: float) -> float:
    """Return how many times more often a job of `gpus` was seen to fail than the rate per node says; 1 from LARGE_GPUS up."""
    excess = HOURS_PER_DAY / (MID_SIZE_GPUS * rate) / MEASURED_MTTF_1024_HOURS
    place = math.log(min(max(gpus, MID_SIZE_GPUS), LARGE_GPUS) / MID_SIZE_GPUS) / math.log(LARGE_GPUS / MID_SIZE_GPUS)
    return float(excess ** (1.0 - place))


def job_mtbf(gpu: Gpu | None, gpus: int, catalog: Catalog) -> Range:
    """Return the mean time between unplanned interruptions of a job that uses all `gpus` GPUs, as a band in hours."""
    rate = failure_rate(gpu, gpus, catalog)
    low, expected, high = (quantity(HOURS_PER_DAY / (gpus * each), "hour") for each in (rate.many, rate.expected, rate.few))
    return Range(low, expected, high, rate.kind)


def restart_seconds(catalog: Catalog) -> tuple[float, float, float]:
    """Return how long a job takes from failure to training again, in seconds: quick, usual, slow."""
    return _published(catalog.facts, catalog.thresholds).restart


def goodput_of(
    gpu: Gpu | None,
    gpus: int,
    catalog: Catalog,
    checkpoint_bytes: float | None = None,
    *,
    usual_write: float = 0.0,
    offered_write: float | None = None,
    run_s: float | None = None,
    mode: str = "any",
) -> Goodput:
    """Return the share of time that makes progress on `gpus` GPUs, with checkpoints of `checkpoint_bytes`.

    The checkpoint interval is chosen for the expected failure rate and kept for the ends of the band, as operators do.
    """
    rate = failure_rate(gpu, gpus, catalog)
    quick, usual, slow = restart_seconds(catalog)
    size = TYPICAL_STATE_BYTES_PER_GPU * gpus if checkpoint_bytes is None else max(checkpoint_bytes, 1.0)
    mtbf_low, mtbf, mtbf_high = (SECONDS_PER_DAY / (gpus * each) for each in (rate.many, rate.expected, rate.few))
    plan = plan_checkpoints(size, gpus, mtbf, catalog, usual_write=usual_write, offered_write=offered_write, run_s=run_s, mode=mode)
    background = plan.lost - plan.interval / 2.0
    low, expected, high = (
        daly_goodput(plan.interval, plan.pause, restart + background, between)
        for restart, between in ((slow, mtbf_low), (usual, mtbf), (quick, mtbf_high))
    )
    return Goodput(low, expected, high, mtbf_low, mtbf, mtbf_high, usual, plan)


def run_seconds(candidate: Candidate, workload: Workload) -> float | None:
    """Return the seconds of undisturbed training, None without a plan or where the length of the run is unknown."""
    choice = candidate.choice
    if choice is None or workload.units_total <= 0.0 or choice.step.units_per_second <= 0.0:
        return None
    return workload.units_total / choice.step.units_per_second


def goodput_at(
    nodes: int, catalog: Catalog, *, gpus: int | None = None, gpu: Gpu | None = None, checkpoint_bytes: float | None = None
) -> float:
    """Return the expected share of time that makes progress, 0 to 1; without `gpus`, nodes of eight are meant."""
    return goodput_of(gpu, max(1, gpus if gpus is not None else nodes * GPUS_PER_NODE), catalog, checkpoint_bytes).expected


def effective_days(working_days: Range, goodput: Goodput) -> Range:
    """Return the days that a run takes with failures: `working_days` of undisturbed training divided by the goodput."""
    low, expected, high = (magnitude(each, "day") for each in (working_days.low, working_days.expected, working_days.high))
    return Range(
        quantity(low / goodput.high, "day"),
        quantity(expected / goodput.expected, "day"),
        quantity(high / max(goodput.low, 1e-6), "day"),
    )  # fmt: skip


def interrupted_cases(goodput: Goodput, working_days: Range, catalog: Catalog) -> tuple[tuple[float, Interrupted], ...]:
    """Return nine runs with their weights: the speed slow, expected and fast, the failures many, expected and few.

    The low and high ends of both bands are taken as 10th and 90th percentile, independent of each other; with many failures restarts are
    slow, as in the band of goodput.
    """
    plan = goodput.checkpoints
    background = plan.lost - plan.interval / 2.0
    quick, usual, slow = restart_seconds(catalog)
    speeds = [magnitude(each, "s") for each in (working_days.high, working_days.expected, working_days.low)]
    failures = ((goodput.mtbf_low, slow), (goodput.mtbf, usual), (goodput.mtbf_high, quick))
    return tuple(
        (slow_weight * many_weight, Interrupted(work, plan.interval, plan.pause, restart + background, between))
        for slow_weight, work in zip(SWANSON, speeds, strict=True)
        for many_weight, (between, restart) in zip(SWANSON, failures, strict=True)
    )


def expected_case(cases: tuple[tuple[float, Interrupted], ...]) -> Interrupted:
    """Return the run with the expected speed and failure rate: the middle one of nine."""
    return cases[len(cases) // 2][1]


def spares_needed(failures_per_day: float, nodes: int, repair_days: float = REPAIR_DAYS) -> int:
    """Return how many spare nodes are worth having beside `nodes` nodes.

    Nodes out for repair are Poisson with mean failures_per_day · repair_days. One more spare costs 1/nodes of the cluster and saves the
    share of time in which it is the one that is missing, for then the whole job stands: spares are added while that share is larger.
    """
    mean = failures_per_day * repair_days
    if mean > LARGEST_POISSON_MEAN:
        return math.ceil(mean + NORMAL_TAIL * math.sqrt(mean))
    term = enough = math.exp(-mean)
    count = 0
    while 1.0 - enough > 1.0 / nodes:
        count += 1
        term *= mean / count
        enough += term
    return count


def spare_nodes(gpu: Gpu | None, gpus: int, nodes: int, catalog: Catalog) -> int:
    """Return how many spare nodes are kept beside `nodes` nodes with `gpus` GPUs of the kind `gpu`; none beside a single node."""
    if nodes < LEAST_NODES_WITH_SPARES:
        return 0
    return spares_needed(failure_rate(gpu, gpus, catalog).expected * gpus, nodes)
