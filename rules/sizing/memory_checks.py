"""Memory questions beside the steady peak: usable capacity, first guesses of the field, peaks at start and at a checkpoint."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from catalogs.quantities import magnitude, quantity
from catalogs.schema import Kind
from rules.sizing.lookup import threshold_number
from rules.sizing.memory import MemoryModel
from rules.sizing.memory_states import trained_share
from rules.sizing.results import Plan
from rules.sizing.training_bytes import NF4_BYTES, state_bytes

if TYPE_CHECKING:
    from catalogs import Catalog
    from catalogs.quantities import Quantity
    from catalogs.schema import Gpu
    from rules.sizing.results import Workload

GB, GIB = 1e9, 2.0**30
SAME_SIZE_WITHIN = 0.02
"""Two printed sizes within two percent are the same product."""
ONE_STATE_OPTIMIZERS = ("lion", "sgd", "adafactor", "muon", "adagrad")
"""Optimizers that keep one state per parameter."""
ADAPTER_KINDS = ("fine_tuning_lora", "fine_tuning_qlora")
"""Workloads that train adapters on frozen weights."""

THRESHOLDS_IN_FORMULAS = {
    "vram-gpu-mem-table": "rules.sizing.memory_checks.published_capacity_gb",
    "vram-units": "rules.sizing.memory_checks.device_capacity",
    "vram-quick-gpus": "rules.sizing.memory_checks.quick_gpus",
    "vram-lion-total": "rules.sizing.memory_checks.one_state_total_gb",
    "vram-init-peak": "rules.sizing.memory_checks.initialisation_peak",
    "vram-save-peak": "rules.sizing.memory_checks.gathered_checkpoint",
    "vram-cuda-context": "rules.sizing.memory_checks.least_total_gb",
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

    Full training of a language model gathers weights, master weights and moments; other models save what their checkpoint holds
    (tables with their optimizer state). Adapters are small, but a framework that saves the merged model gathers the base's weights
    too: in 16 bits, those of QLoRA in the 4 bits that they are kept in.
    """
    weights = threshold_number(catalog.thresholds, "vram-save-peak", "weights")
    full = threshold_number(catalog.thresholds, "vram-save-peak", "full")
    if workload.kind in ADAPTER_KINDS:
        return (NF4_BYTES if workload.kind == "fine_tuning_qlora" else weights) * workload.parameters.total
    if workload.unit != "token":
        return magnitude(workload.checkpoint, "byte")
    return full * workload.parameters.total


def shares_states(plan: Plan) -> bool:
    """Return whether data-parallel ranks share any of the state: ZeRO stage 1 or more over more than one rank."""
    return plan.zero_stage >= 1 and (plan.shard_group or plan.data * plan.context) > 1


def gathers_weights(plan: Plan) -> bool:
    """Return whether weights themselves are shared (ZeRO stage 3): only then a rank builds or gathers what it does not hold.

    Tensor, pipeline and expert parallelism build each rank's own part; replicas hold everything all the time.
    """
    return plan.zero_stage >= 3 and plan.pipeline == 1 and shares_states(plan)


def least_total_gb(workload: Workload, gpus: int, catalog: Catalog) -> float:
    """Return what all GPUs together keep at least, in GB: the state of the whole model once (ZeRO-3), and each GPU's context.

    It is compared with printed sizes, as the field's rules do: what a GPU has beyond its printed GB is all that is left for
    activations and buffers. 70 billion parameters under AdamW on 8 × 141 GB ran out of memory [LlamaFactory issue 7282]; 13 billion
    under Lion on 4 × 40 GB ran [llm-foundry, scripts/train]. State per parameter: 16 bytes with AdamW, 12 with one moment; adapters
    beside the base as it is stored; models other than transformers at least what they save.
    """
    contexts = gpus * threshold_number(catalog.thresholds, "vram-cuda-context", "low") * GIB / GB
    if workload.unit != "token":
        return magnitude(workload.checkpoint, "GB") + contexts
    state = state_bytes(workload.precision, workload.optimizer)
    kept = state.total - (state.weight if state.master else 0.0)
    share = trained_share(workload.kind, workload.trainable_parameters, workload.parameters.total)
    frozen = 0.0 if share.full else workload.parameters.total * share.frozen_bytes
    return (workload.trainable_parameters * kept + frozen) / GB + contexts


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
