"""All plans of a candidate's GPUs: the account, the best of time and memory, the design's own plan among them, and what limits the best.

The search is free: what the answers fix about the plan binds the design, and shows here as its own plan beside all others.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from catalogs.sums import plain_sum
from rules.sizing.memory import MemoryModel
from rules.sizing.plan_kept import Remembered
from rules.sizing.plan_results import Found, PlanSearch
from rules.sizing.plan_space import Fixed
from rules.sizing.step import is_transformer, step_model

if TYPE_CHECKING:
    from rules.sizing.hardware import Hardware
    from rules.sizing.results import Plan, Workload
    from rules.sizing.step import StepModel
    from rules.sizing.step_parts import StepTime

GIB = 2.0**30
TOLD = 0.005
"""Parts that differ by less than half a percent of the step are not told."""
MOST_TOLD = 4
NARROWER = ("bf16", "fp8", "mxfp8", "nvfp4")
"""Training precisions that are compared, widest first; FP16 runs on the units of BF16."""
ARITHMETIC = ("products", "attention", "elementwise", "head")
WORDS = {
    "products": "matrix products",
    "attention": "attention",
    "elementwise": "norms and activations",
    "head": "output head and loss",
    "recompute": "recomputation",
    "tensor_parallel": "tensor-parallel communication",
    "expert_parallel": "expert exchange",
    "context_parallel": "context-parallel communication",
    "pipeline_bubble": "pipeline bubble",
    "pipeline_transfer": "transfers between stages",
    "data_parallel": "exchange of gradients and weights",
    "optimizer": "optimizer",
    "stragglers": "stragglers",
}
"""The parts of a step in words."""


@dataclass(frozen=True)
class PlanReport:
    """The exhaustive search and what follows from it.

    `own` is the design's plan, `rank` its place among the ranked (None where it may run out of memory), `difference` what the best does
    otherwise, `limits` what keeps the best from being faster; `capacity` is a device's memory in bytes; `precisions` has the best plan at
    each other precision of the GPU.
    """

    search: PlanSearch
    own: Found
    rank: int | None
    limits: tuple[str, ...]
    difference: tuple[str, ...]
    capacity: float
    precisions: tuple[tuple[str, Found], ...] = ()

    @property
    def listed(self) -> tuple[tuple[str, Found], ...]:
        """Return the plans that are listed, each with what it is: the best, the rest of the front, the design's own."""
        best = self.search.found[:1]
        rows = [("fastest", each) for each in best]
        rows += [("front", each) for each in self.search.pareto if each.plan not in {one.plan for one in best}]
        known = {each.plan for _, each in rows}
        if self.own.plan in known:
            return tuple((f"{what}, own" if each.plan == self.own.plan else what, each) for what, each in rows)
        return tuple(sorted([*rows, ("own", self.own)], key=lambda row: row[1].seconds))


def report_plans(workload: Workload, hardware: Hardware, own: Plan, precisions: tuple[str, ...] = NARROWER) -> PlanReport | None:
    """Return the report on all plans of as many devices as `own` uses, kept; None for models that train data parallel only.

    `precisions` are those that training software has kernels for on this GPU.
    """
    if not is_transformer(workload.model):
        return None
    return _report(Remembered(workload, own.offload), replace(hardware.anonymous, per_domain=own.per_domain), own, precisions)


@lru_cache(maxsize=16)
def _report(question: Remembered, hardware: Hardware, own: Plan, precisions: tuple[str, ...]) -> PlanReport:
    from rules.sizing.plan_arrays.ranking import rank_all

    workload = question.workload
    gpus = own.gpus // hardware.devices
    model, kernel = step_model(workload, hardware), MemoryModel(workload)
    peak = kernel.peak_bytes(own)
    mine = Found(own, model.time(own).total, peak, peak[2] <= hardware.memory_bytes)
    search = rank_all(workload, hardware, gpus, Fixed(offload=own.offload), model, kernel, than=mine.seconds)
    best = search.found[0] if search.found else mine
    return PlanReport(
        search=search,
        own=mine,
        rank=search.faster + 1 if mine.fits else next((at for at, each in enumerate(search.found, 1) if each.plan == own), None),
        limits=limits_of(model, best, search.unlimited, hardware.memory_bytes),
        difference=difference_of(model, mine, best),
        capacity=hardware.memory_bytes,
        precisions=tuple(_other_precisions(workload, hardware, gpus, own.offload, precisions)),
    )


def _other_precisions(
    workload: Workload, hardware: Hardware, gpus: int, offload: str, precisions: tuple[str, ...]
) -> list[tuple[str, Found]]:
    """Return the best plan at each other of `precisions` for which the GPU has matrix units of its own."""
    from rules.sizing.plan_arrays.ranking import rank_all

    made, known = [], {hardware.rate(workload.precision).native}
    for rate in hardware.rates:
        if rate.native in known or rate.precision not in precisions:
            continue
        known.add(rate.native)
        other = replace(workload, precision=rate.precision)
        found = rank_all(other, hardware, gpus, Fixed(offload=offload), step_model(other, hardware), MemoryModel(other)).found
        made += [(rate.precision, found[0])] if found else []
    return made


def limits_of(model: StepModel, best: Found, unlimited: Found | None, capacity: float) -> tuple[str, ...]:
    """Return in words what the best plan spends its step on and what memory keeps it from."""
    time = model.time(best.plan)
    arithmetic = plain_sum(getattr(time, name) for name in ARITHMETIC) / time.total
    rest = sorted(((value, name) for name, value in zip(time._fields, time, strict=True) if name not in ARITHMETIC), reverse=True)
    told = [f"{WORDS[name]} {value / time.total:.0%}" for value, name in rest[:3] if value >= TOLD * time.total]
    lines = [f"arithmetic {arithmetic:.0%} of its step" + (f"; beside it {', '.join(told)}" if told else "")]
    if unlimited is not None and unlimited.seconds < (1 - TOLD) * best.seconds:
        gain = best.seconds / unlimited.seconds - 1
        needs = f"{unlimited.memory[2] / GIB:,.1f} GiB a GPU instead of the {capacity / GIB:,.1f} there are"
        lines.append(f"memory: {unlimited.plan.label} would be {gain:.0%} faster and needs up to {needs}")
    else:
        lines.append("not memory: no plan would be faster with more of it")
    return tuple(lines)


def difference_of(model: StepModel, own: Found, best: Found) -> tuple[str, ...]:
    """Return in words which parts of the step make the best plan faster than the own one, largest first."""
    if own.plan == best.plan:
        return ()
    mine, theirs = model.time(own.plan), model.time(best.plan)
    lines = [f"{best.plan.label} takes {best.seconds:.4g} s, {own.plan.label} {own.seconds:.4g} s ({own.seconds / best.seconds - 1:+.1%})"]
    return (*lines, *(_told(name, mine, theirs) for name in _largest(mine, theirs)))


def _largest(mine: StepTime, theirs: StepTime) -> list[str]:
    gaps = {name: abs(one - other) for name, one, other in zip(mine._fields, mine, theirs, strict=True)}
    kept = [name for name in gaps if gaps[name] >= TOLD * mine.total]
    return sorted(kept, key=lambda name: -gaps[name])[:MOST_TOLD]


def _told(name: str, mine: StepTime, theirs: StepTime) -> str:
    return f"{WORDS[name]}: {getattr(theirs, name):.3g} s instead of {getattr(mine, name):.3g} s"
