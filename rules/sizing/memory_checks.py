"""Memory questions beside the steady peak: usable capacity, first guesses of the field, peaks at start and at a checkpoint."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from catalogs.quantities import quantity
from catalogs.schema import Kind
from rules.sizing.lookup import threshold_number
from rules.sizing.memory import MemoryModel
from rules.sizing.results import Plan

if TYPE_CHECKING:
    from catalogs import Catalog
    from catalogs.quantities import Quantity
    from catalogs.schema import Gpu
    from rules.sizing.results import Workload

GB = 1e9
SAME_SIZE_WITHIN = 0.02
"""Two printed sizes within two percent are the same product."""
ONE_STATE_OPTIMIZERS = ("lion", "sgd", "adafactor", "muon", "adagrad")
"""Optimizers that keep one state per parameter."""

THRESHOLDS_IN_FORMULAS = {
    "vram-gpu-mem-table": "rules.sizing.memory_checks.published_capacity_gb",
    "vram-units": "rules.sizing.memory_checks.device_capacity",
    "vram-quick-gpus": "rules.sizing.memory_checks.quick_gpus",
    "vram-lion-total": "rules.sizing.memory_checks.one_state_total_gb",
    "vram-init-peak": "rules.sizing.memory_checks.initialisation_peak",
    "vram-save-peak": "rules.sizing.memory_checks.gathered_checkpoint",
}
"""Thresholds of the catalog that these formulas apply: id -> where."""


class MinimumMemory(NamedTuple):
    """The plan that needs the least memory per GPU, and its need in bytes: low, expected, high."""

    plan: Plan
    low: float
    expected: float
    high: float


def device_capacity(gpu: Gpu) -> Quantity:
    """Return the memory of one device as software sees it: what the driver reports, else the printed size read as GiB less a reserve.

    A package of several devices gives each its share. The catalog stores bytes, so a capacity printed in GB is never compared
    with a need in GiB.
    """
    return quantity(gpu.memory.capacity.to("GiB") / gpu.devices, "GiB")


def capacity_measured(gpu: Gpu) -> bool:
    """Return whether the catalog's capacity is what a driver reported."""
    return gpu.memory.capacity.kind is Kind.MEASURED


def published_capacity_gb(gpu: Gpu, catalog: Catalog) -> float | None:
    """Return the capacity in GB that the field's table of accelerators gives for this GPU, None where it has none.

    The longest key of the table that stands in the GPU's name counts, so that GB200 is not taken for B200. A row of another
    variant (80 GB for an H100 of 94 GB) is none of this GPU's: the row must agree with the printed size.
    """
    table = catalog.thresholds["vram-gpu-mem-table"].values
    words = gpu.name.lower().replace("-", " ").split()
    found = [key for key in table if key in words or key.replace("_", " ") in " ".join(words)]
    if not found:
        return None
    listed = threshold_number(catalog.thresholds, "vram-gpu-mem-table", max(found, key=len))
    return listed if abs(listed / gpu.memory.printed.to("GB") - 1.0) < SAME_SIZE_WITHIN else None


def quick_gpus(parameters: float, gpu_memory_gb: float, catalog: Catalog) -> int:
    """Return the first guess of the field for full training: parameters × 18 B × 1.25 over the memory of a GPU, in GPUs."""
    each = threshold_number(catalog.thresholds, "vram-quick-gpus", "bytes_per_parameter")
    return math.ceil(parameters * each * threshold_number(catalog.thresholds, "vram-quick-gpus") / (gpu_memory_gb * GB))


def one_state_total_gb(parameters: float, catalog: Catalog) -> float:
    """Return the GPU memory in GB, all GPUs together, that full sharding with a one-state optimizer takes by the field's rule."""
    return threshold_number(catalog.thresholds, "vram-lion-total") * parameters / 1e9


def initialisation_peak(workload: Workload, catalog: Catalog) -> float:
    """Return the bytes that every rank holds when it builds the whole model in fp32 before sharding it."""
    return threshold_number(catalog.thresholds, "vram-init-peak") * workload.parameters.total


def gathered_checkpoint(workload: Workload, catalog: Catalog) -> float:
    """Return the bytes that one rank gathers for an unsharded checkpoint.

    Full training gathers weights, master weights and moments; adapters are small, but a framework that saves the merged model
    gathers the base's weights too.
    """
    weights = threshold_number(catalog.thresholds, "vram-save-peak", "weights")
    full = threshold_number(catalog.thresholds, "vram-save-peak", "full")
    if workload.kind in ("fine_tuning_lora", "fine_tuning_qlora"):
        return weights * workload.parameters.total
    return full * workload.parameters.total


def minimum_memory(workload: Workload, gpus: int, domain: int, model: MemoryModel | None = None) -> MinimumMemory:
    """Return the least that any plan of `gpus` devices needs on its fullest one: everything sharded, everything recomputed.

    Tensor and expert parallelism stay inside the scale-up `domain` (experts may leave it), one sample per micro-batch, full
    sharding of states. Not every such plan divides heads and layers; it is a floor, for saying how far a rejection is off.
    """
    kernel = model or MemoryModel(workload)
    best: MinimumMemory | None = None
    shape = workload.model
    for tensor in _powers(min(domain, gpus) if kernel.transformer else 1):
        for pipeline in _powers(min(gpus // tensor, max(1, shape.layers))) if kernel.transformer else (1,):
            data = max(1, gpus // (tensor * pipeline))
            expert = _widest(shape.experts, tensor * data) if shape.experts else 1
            plan = Plan(tensor=tensor, pipeline=pipeline, expert=expert, data=data, zero_stage=1 if pipeline > 1 else 3, recompute="full")
            found = MinimumMemory(plan, *kernel.peak_bytes(plan))
            if best is None or found.low < best.low:
                best = found
    assert best is not None, "one GPU always makes a plan"
    return best


def _powers(largest: int) -> tuple[int, ...]:
    return tuple(1 << shift for shift in range(max(1, largest).bit_length()))


def _widest(experts: int, ranks: int) -> int:
    return next(width for width in range(min(experts, ranks), 0, -1) if experts % width == 0 and ranks % width == 0)
