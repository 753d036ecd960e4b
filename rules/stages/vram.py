"""Stage vram: does the training state fit, with how much room, and how fast are memory and arithmetic in practice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalogs.quantities import format_quantity, magnitude
from catalogs.sums import plain_sum
from rules.facts import FactField
from rules.findings import Scalar, Stage
from rules.guidance.vram import RULES
from rules.regimes import Estimate
from rules.sizing.hardware import hardware_of
from rules.sizing.memory_checks import (
    ADAPTER_KINDS,
    ONE_STATE_OPTIMIZERS,
    capacity_measured,
    device_capacity,
    gathered_checkpoint,
    gathers_weights,
    initialisation_peak,
    least_total_gb,
    minimum_memory,
    one_state_total_gb,
    published_capacity_gb,
    quick_gpus,
    shares_states,
)
from rules.sizing.memory_post_training import ROLLOUT_WORDS, other_models
from rules.sizing.parameters import counted_total
from rules.sizing.plan_space import fixed_by
from rules.sizing.plans import search
from rules.sizing.power_cap import capped_hardware
from rules.sizing.results import BomLine
from rules.sizing.sampling import SAMPLING
from rules.sizing.software import precision_hardware
from rules.sizing.undivided import undivided
from rules.stages.validated import validated_by
from rules.stages.vram_sections import memory_tables, remedy_tables

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalogs.quantities import Quantity
    from rules.candidate import Candidate, Context
    from rules.sizing.memory_estimate import MemoryEstimate
    from rules.sizing.results import Plan, Workload

STAGE = Stage.VRAM
__all__ = ["FACTS", "RULES", "STAGE", "assess", "bill", "describe"]

GIB, TERA = 2.0**30, 1e12
PLAN_KEYS = tuple(
    f"parallelism.{name}"
    for name in (
        "tensor",
        "pipeline",
        "context",
        "expert",
        "zero_stage",
        "micro_batch",
        "recompute",
        "recompute_modules",
        "recompute_layers",
        "schedule",
        "offload",
    )
)
SHOWN_DIGITS = 3

FACTS: tuple[FactField, ...] = (
    FactField("gpu", "the GPU"),
    FactField("gpu_vendor", "who makes the GPU"),
    FactField("server_vendor", "who makes the server"),
    FactField("gpu_count", "GPUs that train"),
    FactField("plan", "the parallel plan, or the most frugal one where none fits"),
    FactField("has_plan", "whether a plan was found"),
    FactField("memory_verdict", "fits, at_risk or does_not_fit; no_plan where memory would do and no plan divides"),
    FactField("memory_needed_low_gib", "low end of the peak on the fullest GPU"),
    FactField("memory_needed_gib", "expected peak on the fullest GPU"),
    FactField("memory_needed_high_gib", "high end of that peak"),
    FactField("least_needed_gib", "expected peak of the most frugal plan that was looked at"),
    FactField(
        "memory_to_ask_gib", "what the plan must find free: the high end of its peak, the expected one where the high end exceeds the GPU"
    ),
    FactField("plan_given", "whether parts of the plan were given"),
    FactField("undivided", "what keeps every plan from dividing, in words"),
    FactField("memory_capacity_gib", "memory of one device as software sees it"),
    FactField("memory_package_gib", "memory of the GPU as software sees it, all its devices together"),
    FactField("memory_printed_gb", "the size that the vendor prints"),
    FactField("in_memory_table", "whether the field's table of accelerators gives that size too"),
    FactField("memory_measured", "whether the capacity is what a driver reported"),
    FactField("headroom_gib", "capacity less the expected peak"),
    FactField("headroom_percent", "the same over the expected peak"),
    FactField("largest_term", "the largest part of the expected peak"),
    FactField("largest_term_gib", "its size"),
    FactField("state_gib", "weights, gradients and optimizer on the fullest GPU"),
    FactField("activations_gib", "activations on the fullest GPU"),
    FactField("zero_stage", "sharding of states: ZeRO stage of the plan"),
    FactField("shard_ranks", "ranks that share the sharded states"),
    FactField("weights_gathered", "whether the trained weights are sharded over data-parallel ranks, so that whole ones must be gathered"),
    FactField("state_gathered", "whether saving unsharded gathers anything: shared state in full training, shared weights with adapters"),
    FactField("recompute", "what is recomputed in the backward pass"),
    FactField("micro_batch", "samples per micro-batch"),
    FactField("model", "the model"),
    FactField("model_kind", "dense, moe, vision_transformer, cnn or recommendation"),
    FactField("workload_kind", "what is trained, as answered"),
    FactField("shape_assumed", "whether the model's shape was not given"),
    FactField("language_model", "whether tokens are trained"),
    FactField("parameters_billion", "parameters of the model"),
    FactField("active_billion", "parameters that a token uses"),
    FactField("trainable_billion", "parameters that are trained"),
    FactField("post_training", "how the model is post-trained: none, dpo, grpo or ppo"),
    FactField("other_model_count", "models of the same size beside the trained one"),
    FactField("other_models_gib", "what they take of the fullest GPU"),
    FactField("samples", "whether the method samples answers from the model"),
    FactField("rollout", "where the engine that samples is: separate, sleeping or awake"),
    FactField("adapters", "whether only adapters are trained"),
    FactField("full_training", "whether all parameters are trained"),
    FactField("optimizer", "the optimizer"),
    FactField("one_state_optimizer", "whether it keeps one state per parameter"),
    FactField("one_state_total_gb", "GPU memory in all that such an optimizer takes by the field's rule"),
    FactField("total_memory_gb", "memory of all GPUs"),
    FactField("printed_total_gb", "memory of all GPUs as printed"),
    FactField("least_total_gb", "what all GPUs keep at least: the state of the whole model once, and their contexts"),
    FactField("quick_gpus", "GPUs by the field's first guess"),
    FactField("initialisation_gib", "a whole copy of the model as a rank builds it, in fp32"),
    FactField("gathered_gib", "an unsharded checkpoint on one rank"),
    FactField("precision", "the training precision"),
    FactField("precision_in_gpu", "whether the matrix units compute in it"),
    FactField("gpu_precisions", "the formats of the matrix units"),
    FactField("peak_tflops", "dense peak in the precision that the matrix units use"),
    FactField("sustained_tflops", "what large matrix products sustain"),
    FactField("sustained_percent", "the same over the peak"),
    FactField("sustained_measured", "whether that was measured on this GPU"),
    FactField("achieved_tflops", "model FLOP/s per GPU that the plan expects, 0 without a plan"),
    FactField("achieved_percent", "the same over the dense peak"),
    FactField("memory_kind", "the kind of memory"),
    FactField("memory_bandwidth_gb_per_s", "its bandwidth"),
    FactField("operations_per_byte", "sustained 16-bit operations per byte of memory traffic"),
)


def assess(candidate: Candidate, context: Context) -> dict[str, Scalar]:
    """State whether the plan's memory fits the GPU, by how much, and what the GPU's memory and matrix units sustain."""
    workload, gpu, catalog = context.workload, candidate.gpu, context.catalog
    capacity_gb = gpu.memory.capacity.to("GB")
    return {
        "gpu": gpu.name,
        "gpu_vendor": gpu.vendor,
        "server_vendor": candidate.node.vendor,
        "gpu_count": candidate.gpus,
        **_need_facts(candidate, context),
        "plan_given": any(context.answers.given(key) for key in PLAN_KEYS),
        "memory_printed_gb": gpu.memory.printed.to("GB"),
        "memory_package_gib": gpu.memory.capacity.to("GiB"),
        "in_memory_table": published_capacity_gb(gpu, catalog) is not None,
        "memory_measured": capacity_measured(gpu),
        **_workload_facts(workload),
        "one_state_total_gb": one_state_total_gb(workload.parameters.total, catalog),
        "total_memory_gb": capacity_gb * candidate.gpus,
        "printed_total_gb": gpu.memory.printed.to("GB") * candidate.gpus,
        "least_total_gb": least_total_gb(workload, candidate.gpus, catalog),
        "quick_gpus": quick_gpus(workload.parameters.total, capacity_gb, catalog),
        "initialisation_gib": initialisation_peak(workload, catalog) / GIB,
        "gathered_gib": gathered_checkpoint(workload, catalog) / GIB,
        **_rate_facts(candidate, context),
    }


def _need_facts(candidate: Candidate, context: Context) -> dict[str, Scalar]:
    """State the peak of the chosen plan, or of the plan that needs the least where none fits."""
    capacity = device_capacity(candidate.gpu).magnitude
    choice = candidate.choice
    if choice is None:
        return _missing_facts(candidate, context, capacity)
    memory, plan = choice.memory, choice.plan
    expected, terms = _gib(memory.expected), memory.terms
    state = plain_sum(_gib(terms[name]) for name in ("parameters", "gradients", "optimizer") if name in terms)
    return {
        "plan": plan.label,
        "has_plan": True,
        "memory_verdict": memory.verdict,
        "undivided": "",
        "least_needed_gib": _least(candidate, context, expected),
        **_peak_facts(_gib(memory.low), expected, _gib(memory.high), capacity),
        "largest_term": memory.largest_term.replace("_", " "),
        "largest_term_gib": _gib(terms[memory.largest_term]),
        "state_gib": state,
        "activations_gib": _gib(terms["activations"]) if "activations" in terms else 0.0,
        "other_models_gib": _gib(terms["other_models"]) if "other_models" in terms else 0.0,
        "zero_stage": plan.zero_stage,
        **_sharing_facts(plan, context.workload),
        "recompute": plan.recompute,
        "micro_batch": plan.micro_batch,
    }


def _least(candidate: Candidate, context: Context, expected: float) -> float:
    """Return the expected GiB of the most frugal plan: the chosen one where it surely fits, else the least that the search saw."""
    if candidate.choice is None or candidate.choice.memory.verdict == "fits":
        return expected
    hardware = capped_hardware(hardware_of(candidate.node, candidate.gpu, context.catalog), candidate.node, candidate.gpu, context.answers)
    nearest = search(context.workload, hardware, candidate.gpus, context.answers).nearest
    return expected if nearest is None else min(expected, nearest.memory[1] / GIB)


def _missing_facts(candidate: Candidate, context: Context, capacity: float) -> dict[str, Scalar]:
    """State the least that any plan of this size needs, as the search found it, or as a floor where no plan divides."""
    hardware = capped_hardware(hardware_of(candidate.node, candidate.gpu, context.catalog), candidate.node, candidate.gpu, context.answers)
    nearest = search(context.workload, hardware, candidate.gpus, context.answers).nearest
    if nearest is not None:
        plan, (low, expected, high) = nearest.plan, nearest.memory
    else:
        plan, low, expected, high = minimum_memory(context.workload, candidate.gpus * hardware.devices, hardware.domain)
    peak = _peak_facts(low / GIB, expected / GIB, high / GIB, capacity)
    return {
        "plan": plan.label,
        "has_plan": False,
        "memory_verdict": "does_not_fit" if low / GIB > capacity else "no_plan",
        "undivided": undivided(context.workload, candidate.gpus * hardware.devices, fixed_by(context.answers)),
        "least_needed_gib": expected / GIB,
        **peak,
        "largest_term": "unknown",
        "largest_term_gib": 0.0,
        "state_gib": 0.0,
        "activations_gib": 0.0,
        "other_models_gib": 0.0,
        "zero_stage": plan.zero_stage,
        **_sharing_facts(plan, context.workload),
        "recompute": plan.recompute,
        "micro_batch": plan.micro_batch,
    }


def _peak_facts(low: float, expected: float, high: float, capacity: float) -> dict[str, Scalar]:
    return {
        "memory_needed_low_gib": low,
        "memory_needed_gib": expected,
        "memory_needed_high_gib": high,
        "memory_capacity_gib": capacity,
        "memory_to_ask_gib": high if high <= capacity else expected,
        "headroom_gib": capacity - expected,
        "headroom_percent": 100.0 * (capacity / expected - 1.0),
    }


def _sharing_facts(plan: Plan, workload: Workload) -> dict[str, Scalar]:
    """State over how many ranks the plan shares states, and whether whole weights or states are ever gathered."""
    return {
        "shard_ranks": plan.shard_group or plan.data * plan.context,
        "weights_gathered": gathers_weights(plan),
        "state_gathered": gathers_weights(plan) or (workload.kind not in ADAPTER_KINDS and shares_states(plan)),
    }


def _workload_facts(workload: Workload) -> dict[str, Scalar]:
    adapters = workload.kind in ADAPTER_KINDS
    return {
        "model": workload.model.name,
        "model_kind": workload.model.kind,
        "workload_kind": workload.kind,
        "shape_assumed": workload.model.assumed,
        "language_model": workload.unit == "token",
        "parameters_billion": workload.parameters.total / 1e9,
        "active_billion": workload.parameters.active / 1e9,
        "trainable_billion": workload.trainable_parameters / 1e9,
        "post_training": workload.post_training.upper() if workload.post_training != "none" else "none",
        "other_model_count": sum(other_models(workload)),
        "samples": workload.post_training in SAMPLING,
        "rollout": ROLLOUT_WORDS[workload.rollout],
        "adapters": adapters,
        "full_training": not adapters,
        "optimizer": workload.optimizer,
        "one_state_optimizer": workload.optimizer in ONE_STATE_OPTIMIZERS,
        "precision": workload.precision,
    }


def _rate_facts(candidate: Candidate, context: Context) -> dict[str, Scalar]:
    """State peak and sustained arithmetic of one device, what the plan reaches, and the memory's bandwidth."""
    gpu, precision = candidate.gpu, context.workload.precision
    hardware = hardware_of(candidate.node, gpu, context.catalog)
    rate, choice = hardware.rate(precision), candidate.choice
    return {
        "precision_in_gpu": precision_hardware(precision, gpu),
        "gpu_precisions": ", ".join(gpu.precisions),
        "peak_tflops": rate.peak / TERA,
        "sustained_tflops": rate.sustained / TERA,
        "sustained_percent": 100.0 * rate.sustained / rate.peak,
        "sustained_measured": rate.measured,
        "achieved_tflops": choice.step.tflops_per_gpu if choice else 0.0,
        "achieved_percent": 100.0 * choice.step.model_flops_utilization if choice else 0.0,
        "memory_kind": gpu.memory.kind,
        "memory_bandwidth_gb_per_s": hardware.hbm_bytes_per_s / 1e9,
        "operations_per_byte": hardware.rate("bf16").sustained / hardware.hbm_bytes_per_s,
    }


def _gib(value: Quantity) -> float:
    return magnitude(value, "GiB")


def _shown(value: Quantity) -> str:
    return format_quantity(value, "GiB", SHOWN_DIGITS)


def describe(candidate: Candidate, context: Context) -> dict[str, dict[str, object]]:
    """Return the sections "workload" and "memory" of the design."""
    sections = {"workload": _workload_section(context.workload)}
    if candidate.choice is not None:
        sections["memory"] = _memory_section(candidate.choice.memory, candidate)
        sections["memory"] |= memory_tables(candidate, context)
        sections["memory"]["validated_by"] = validated_by(candidate, context, Estimate.MEMORY)
    else:
        capacity = device_capacity(candidate.gpu)
        need = _missing_facts(candidate, context, _gib(capacity))
        sections["memory"] = {
            "verdict": str(need["memory_verdict"]),
            "least": format_quantity(float(need["memory_needed_low_gib"]), "GiB", SHOWN_DIGITS),
            "least_plan": str(need["plan"]),
            "capacity": _shown(capacity),
            "kind": "estimated",
            **remedy_tables(candidate, context),
        }
    return sections


def _memory_section(memory: MemoryEstimate, candidate: Candidate) -> dict[str, object]:
    measured = "measured" if capacity_measured(candidate.gpu) else candidate.gpu.memory.capacity.kind.value
    totals = [plain_sum(_gib(value) for value in stage.values()) for stage in memory.stages]
    section: dict[str, object] = {
        "expected": _shown(memory.expected),
        "low": _shown(memory.low),
        "high": _shown(memory.high),
        "capacity": _shown(memory.capacity),
        "capacity_kind": measured,
        "verdict": memory.verdict,
        "kind": "estimated",
        "largest_term": memory.largest_term,
        "terms": _terms(memory.terms),
        "fullest_stage": totals.index(max(totals)) + 1,
        "stage_totals": [_gib_shown(total) for total in totals],
        "notes": list(memory.notes),
    }
    if memory.allocated is not None:
        section["allocator_peak"] = _shown(memory.allocated.expected)
        section["allocator_range"] = [_shown(memory.allocated.low), _shown(memory.allocated.high)]
    return section


def _terms(terms: Mapping[str, Quantity]) -> dict[str, str]:
    return {name: _shown(value) for name, value in terms.items()}


def _gib_shown(gib: float) -> str:
    return format_quantity(gib, "GiB", SHOWN_DIGITS)


def _workload_section(workload: Workload) -> dict[str, object]:
    shape, counted = workload.model, workload.parameters
    section: dict[str, object] = {
        "kind": workload.kind,
        "model": shape.name,
        "parameters": round(counted.total),
        "active_parameters": round(counted.active),
        "trainable_parameters": round(workload.trainable_parameters),
        "precision": workload.precision,
        "optimizer": workload.optimizer,
        "unit": workload.unit,
        "units_total": round(workload.units_total),
        "global_batch": workload.global_batch,
        "sequence_length": workload.sequence_length,
        "flops_per_unit": format_quantity(workload.flops_per_unit / 1e9, "GFLOP"),
        "checkpoint": format_quantity(workload.checkpoint, "GB"),
        "data_kind": workload.data_kind,
    }
    if workload.dataset is not None:
        section["dataset"] = format_quantity(workload.dataset, "TB")
    if shape.layers and round(counted_total(shape)) != round(counted.total):
        section["note"] = "layers that the shape cannot describe are scaled to the published total"
    return section


def bill(candidate: Candidate, context: Context) -> list[BomLine]:
    """Return the line of the servers or racks themselves."""
    del context
    note = f"{candidate.node.gpu_count} × {candidate.gpu.name} each"
    return [BomLine(item=candidate.node.id, name=candidate.node.name, category="compute", quantity=candidate.units, note=note)]
