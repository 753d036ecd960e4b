"""Estimates of training runs: memory, step time and verdict of each row of a table, as the rows that `estimate --json` prints."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from catalogs.quantities import quantity
from catalogs.sums import plain_sum
from rules.sizing.memory import MemoryModel, estimate_memory
from rules.sizing.memory_overheads import TERMS
from rules.sizing.memory_report import stage_reports
from rules.sizing.memory_software import MemoryOptions, between
from rules.sizing.step import StepModel, estimate_step, is_transformer, step_model
from wizard.imports.run_machines import Machines
from wizard.imports.run_memory import variants
from wizard.imports.run_models import Unanswerable
from wizard.imports.run_recompute import offloads, partial
from wizard.imports.run_table import RunCase, interpret

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from catalogs import Catalog
    from rules.sizing.memory_estimate import MemoryEstimate
    from rules.sizing.results import Plan, StepEstimate, Workload
    from wizard.imports.run_rows import RunRow

GIB = 2.0**30
LIMITLESS_GIB = 1e9
"""Stands for a capacity that is not known: no estimate comes near, and the verdict that would follow is not used."""
DIGITS = 6
"""Significant digits of what is printed; the estimates are far less exact."""
LEAST_SHOWN = 0.0005
"""Share of a peak below which a term is the rounding of the others."""
MOST_REMEDIES = 3
"""Remedies that a row's notes name."""
RATES = {"token": "tokens_per_s_per_gpu", "image": "images_per_s", "sample": "samples_per_s"}
"""Under which key the rate of a workload stands, by what it counts: of each GPU, or of the whole job, as published tables have it."""
REMEDY, TOGETHER = "remedy: ", "together: "
"""How notes begin that say what would lower the memory."""
WORTH_IT = 1.03
"""Nobody interleaves, shards or recomputes for less than three percent: of plans so near the fastest, the simplest is taken (assumed)."""
_FITS, _AT_RISK, _TOO_LARGE = range(3)


class _Rated(NamedTuple):
    """A plan by what decides among several: whether it fits, its seconds, its bytes."""

    fit: int
    seconds: float
    size: float
    order: int
    plan: Plan


def estimate_rows(rows: Sequence[RunRow], models: Mapping[str, Mapping[str, Any]], catalog: Catalog) -> list[dict[str, Any]]:
    """Return one object per row, in order, as the schema `estimate` describes."""
    machines = Machines(catalog)
    return [_estimate(row, models, catalog, machines) for row in rows]


def _estimate(row: RunRow, models: Mapping[str, Mapping[str, Any]], catalog: Catalog, machines: Machines) -> dict[str, Any]:
    try:
        case = interpret(row, models, catalog, machines)
    except Unanswerable as reason:
        return _printed(row.id, notes=[str(reason)])
    kernel = _memory_kernel(_Key(case.workload), case.options)
    plan = _likeliest(case, kernel)
    notes = [*case.notes, *_choice_notes(case, plan, kernel)]
    memory = _memory(row, case, plan, notes)
    made = _printed(row.id, notes=notes)
    if memory is not None:
        made |= _memory_fields(memory, plan, case.workload.model.layers, case.memory_bytes > 0, notes)
    if case.hardware is not None:
        made |= _time_fields(case, plan, kernel, notes)
    if made["verdict"] in ("does_not_fit", "at_risk") and case.hardware is not None:
        made["remedies"] = _remedies(case, plan, notes)
    return made


def _remedies(case: RunCase, plan: Plan, notes: list[str]) -> list[dict[str, Any]]:
    """Return what would lower the memory, the cheapest in step time first, each with what it saves and costs; note the first of them."""
    from rules.sizing.memory_remedies import remedies, together

    assert case.hardware is not None, "without hardware nothing is too large"
    single = remedies(case.workload, plan, case.hardware, case.options)
    notes += [f"{REMEDY}{each.words}" for each in single[:MOST_REMEDIES]]
    if not any(each.verdict == "fits" for each in single):
        steps = together(case.workload, plan, case.hardware, case.options)
        notes += [f"{TOGETHER}{'; then '.join(each.words for each in steps)}"] if len(steps) > 1 else []
    return [
        {
            "key": each.key,
            "value": each.value,
            "text": each.text,
            "saved_gib": rounded(each.saved_gib),
            "expected_gib": rounded(each.expected_gib),
            "verdict": each.verdict,
            "step_s": rounded(each.step_seconds),
            "step_longer_by": rounded(each.slower),
            "host_gib_per_gpu": rounded(each.host_gib),
        }
        for each in single
    ]


def _printed(id_: str, notes: list[str]) -> dict[str, Any]:
    unknown = dict.fromkeys(("iteration_s", "step_range", "step_terms", *RATES.values(), "tflops_per_gpu", "mfu", "memory_gib"))
    return {"id": id_, **unknown, "verdict": "unknown", "device": None, "remedies": [], "notes": notes}


class _Key:
    """A workload by what its memory depends on, so that kernels are built once for all rows that differ in their plan only."""

    def __init__(self, workload: Workload) -> None:
        self.workload = workload
        self.key = (
            workload.kind, workload.model, workload.precision, workload.optimizer, workload.global_batch, workload.sequence_length,
            workload.post_training,
        )  # fmt: skip

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Key) and self.key == other.key


@lru_cache(maxsize=256)
def _memory_kernel(key: _Key, options: MemoryOptions) -> MemoryModel:
    return MemoryModel(key.workload, options)


def _likeliest(case: RunCase, kernel: MemoryModel) -> Plan:
    """Return the plan to estimate: where the row leaves some of it open, the fastest that is expected to fit.

    Where none is, the one that needs the least memory.
    """
    if len(case.plans) == 1 or not case.memory_bytes:
        return case.plans[0]
    model: StepModel | None = None
    if case.hardware is not None and is_transformer(case.workload.model):
        model = step_model(case.workload, case.hardware, techniques=case.techniques)
    capacity = case.memory_bytes
    rated = []
    for order, plan in enumerate(case.plans):
        low, expected, _ = kernel.peak_bytes(plan)
        fit = _FITS if expected <= capacity else _AT_RISK if low <= capacity else _TOO_LARGE
        rated.append(_Rated(fit, _seconds(case, plan, model, kernel) if model else 0.0, expected, order, plan))
    best = min(rated, key=lambda each: (each.fit, each.seconds if each.fit == _FITS else each.size, each.order))
    if best.fit != _FITS:
        return best.plan
    return next(each.plan for each in rated if each.fit == best.fit and each.seconds <= WORTH_IT * best.seconds)


def _seconds(case: RunCase, plan: Plan, model: StepModel, kernel: MemoryModel) -> float:
    """Return the seconds of a step; where recomputation is open, whole layers are recomputed only as far as memory asks for it."""
    whole = model.time(plan).total
    chosen = any(each.recompute != plan.recompute for each in case.plans)
    if not chosen or "recompute" not in case.open or plan.recompute != "full" or case.hardware is None:
        return whole
    lighter, share = partial(plan, kernel, case.hardware.memory_bytes)
    if offloads(plan, case.hardware):
        share = 0.0
    return share * whole + (1 - share) * model.time(lighter).total


def _choice_notes(case: RunCase, plan: Plan, kernel: MemoryModel) -> list[str]:
    values = {
        "recompute": plan.recompute,
        "vpp": plan.virtual_stages,
        "micro_batch": plan.micro_batch,
        "zero_stage": plan.zero_stage,
    }
    if not case.open:
        return []
    chosen = ", ".join(f"{key} {values[key]}" for key in case.open)
    if len(case.plans) == 1 or case.hardware is None:
        return [f"not stated: {chosen} is assumed"]
    if kernel.peak_bytes(plan)[1] > case.hardware.memory_bytes:
        return [f"not stated: {chosen} needs the least memory; nothing is expected to fit"]
    return [f"not stated: {chosen} is the fastest that is expected to fit, within {WORTH_IT - 1:.0%}"]


def _memory(row: RunRow, case: RunCase, plan: Plan, notes: list[str]) -> MemoryEstimate | None:
    """Return the memory of the fullest GPU, over all that the run can have been; None where it hangs on a batch that nobody stated."""
    if not case.batch_stated and not is_transformer(case.workload.model):
        return None
    bytes_ = case.memory_bytes / GIB or LIMITLESS_GIB
    capacity = quantity(bytes_, "GiB")
    found, told = variants(row, case.workload, plan, case.options)
    notes.extend(told)
    return between([estimate_memory(load, each, capacity, _memory_kernel(_Key(load), options)) for load, each, options in found])


def _memory_fields(memory: MemoryEstimate, plan: Plan, layers: int, capacity_known: bool, notes: list[str]) -> dict[str, Any]:
    """Return the allocator's peak, which is what training code reports, and the verdict on the whole device."""
    allocated = memory.allocated
    assert allocated is not None, "the memory model states what the allocator holds"
    low, expected, high = (rounded(each.to("GiB").magnitude) for each in (allocated.low, allocated.expected, allocated.high))
    terms = {name: rounded(memory.terms[name].to("GiB").magnitude) for name in TERMS if name in memory.terms}
    held_back = expected - plain_sum(terms.values())
    if held_back >= LEAST_SHOWN * expected:
        terms["fragmentation"] = rounded(held_back)
    on_device = f"{memory.expected.magnitude:.1f} GiB ({memory.low.magnitude:.1f} to {memory.high.magnitude:.1f})"
    notes.append(
        f"memory_gib is the allocator's peak; with context, communicators and fragmentation the device holds {on_device}"
        + (f" of {memory.capacity.magnitude:.1f} GiB" if capacity_known else "")
    )
    notes.extend(memory.notes)
    return {
        "memory_gib": {"low": low, "expected": expected, "high": high, "terms": terms},
        "verdict": memory.verdict if capacity_known else "unknown",
        "device": _device(memory, plan, layers, capacity_known),
    }


def _device(memory: MemoryEstimate, plan: Plan, layers: int, capacity_known: bool) -> dict[str, Any]:
    """Return the whole device's memory in GiB: its ends, every term of the fullest stage with its ends, and each stage with its verdict."""
    stages = stage_reports(memory, plan, layers)
    return {
        "capacity": rounded(memory.capacity.magnitude) if capacity_known else None,
        **_ends((memory.low.magnitude, memory.expected.magnitude, memory.high.magnitude)),
        "terms": {name: _ends(ends) for name, ends in stages[memory.fullest].terms.items()},
        "stages": [
            {
                "number": each.number,
                "layers": each.layers,
                **_ends(each.total),
                "verdict": each.verdict if capacity_known else "unknown",
                "binding": each.binding,
            }
            for each in stages
        ],
    }


def _ends(ends: tuple[float, float, float]) -> dict[str, float]:
    return dict(zip(("low", "expected", "high"), map(rounded, ends), strict=True))


def _time_fields(case: RunCase, plan: Plan, kernel: MemoryModel, notes: list[str]) -> dict[str, Any]:
    workload, hardware = case.workload, case.hardware
    assert hardware is not None, "without hardware there is no time"
    step = estimate_step(workload, plan, hardware, techniques=case.techniques)
    notes.extend(step.notes)
    if is_transformer(workload.model) and len(case.plans) > 1:
        whole = step.expected.to("s").magnitude
        seconds = _seconds(case, plan, step_model(workload, hardware, techniques=case.techniques), kernel)
        if seconds < whole:
            notes.append(f"layers are recomputed, or kept on the host, only as far as memory asks for it: {1 - seconds / whole:.0%} faster")
            step = _scaled(step, seconds / whole)
    rates: dict[str, float | None] = dict.fromkeys(RATES.values())
    rates[RATES[workload.unit]] = rounded(step.units_per_second / (plan.gpus if workload.unit == "token" else 1))
    if step.model_flops_utilization > 1:
        notes.append("the estimate exceeds the GPU's peak: no utilization is printed")
    expected = step.expected.to("s").magnitude
    return {
        "iteration_s": rounded(expected) if case.batch_stated else None,
        "step_range": {"low": rounded(step.low.to("s").magnitude / expected), "high": rounded(step.high.to("s").magnitude / expected)},
        "step_terms": {name: rounded(each.to("s").magnitude) for name, each in step.terms.items()} if case.batch_stated else None,
        **rates,
        "tflops_per_gpu": rounded(step.tflops_per_gpu),
        "mfu": rounded(step.model_flops_utilization) if step.model_flops_utilization <= 1 else None,
    }


def _scaled(step: StepEstimate, share: float) -> StepEstimate:
    """Return the step in `share` of its time, with what hangs on the time; what falls away is recomputation, as far as there is any."""
    saved, repeated = step.expected * (1 - share), step.terms.get("recompute", 0 * step.expected)
    shorter = (
        {**step.terms, "recompute": repeated - saved} if saved < repeated else {name: each * share for name, each in step.terms.items()}
    )
    return replace(
        step,
        terms=shorter,
        low=step.low * share,
        expected=step.expected * share,
        high=step.high * share,
        units_per_second=step.units_per_second / share,
        tflops_per_gpu=step.tflops_per_gpu / share,
        model_flops_utilization=step.model_flops_utilization / share,
    )


def rounded(value: float) -> float:
    """Return a number with the digits that are worth printing."""
    return float(f"{value:.{DIGITS}g}")
