"""Results of sizing that no fact carries, with where each is read and where it comes from.

They are what several stages build on: the size of the cluster, the workload, the rates of the machine, the plan, its step and its memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rules.origins import Origin, arithmetic, computed, taken
from rules.scale import size_given
from rules.sizing.site_measured import site_hardware

if TYPE_CHECKING:
    from collections.abc import Callable

    from rules.answers import Answers
    from rules.candidate import Candidate, Context
    from rules.sizing.hardware import Hardware

    Read = Callable[[Candidate, Context], Any]

GIGA, TERA = 1e9, 1e12
BITS_PER_BYTE = 8


@dataclass(frozen=True)
class Result:
    """One result: what it means, its unit where it is a plain number, how it is read, and where it comes from."""

    meaning: str
    read: Read
    origin: Origin
    unit: str = ""


def _hardware(candidate: Candidate, context: Context) -> Hardware:
    return site_hardware(candidate.node, candidate.gpu, context)


def _step(name: str) -> Read:
    return lambda candidate, _: getattr(candidate.choice.step, name) if candidate.choice else None


def _peak(name: str) -> Read:
    return lambda candidate, _: getattr(candidate.choice.memory, name) if candidate.choice else None


def _plan(name: str) -> Read:
    return lambda candidate, _: getattr(candidate.choice.plan, name) if candidate.choice else None


def _work(name: str) -> Read:
    return lambda _, context: getattr(context.workload, name)


_DESCRIBED = "sizing.workload.describe_workload"
SIZE = "size.units"
"""The result whose inputs depend on how the size was asked for."""
_SIZED_BY = {
    "fixed": ("scale.nodes", "scale.gpus"),
    "budget": ("budget.purchase", "money:server_price_usd"),
    "deadline": ("scale.deadline", "work.units_total", "work.flops_per_unit", "machine.sustained"),
}
"""By the answer `scale.mode`, what decides the size."""
_MODEL = tuple(
    f"model.{name}"
    for name in (
        "preset",
        "parameters",
        "active_parameters",
        "layers",
        "hidden_size",
        "ffn_size",
        "attention_heads",
        "key_value_heads",
        "vocabulary_size",
        "experts",
        "experts_per_token",
        "expert_ffn_size",
        "embedding_parameters",
        "gmacs_per_sample",
    )
)
_PARALLELISM = tuple(
    f"parallelism.{name}" for name in ("tensor", "pipeline", "context", "expert", "zero_stage", "micro_batch", "recompute")
)
_MACHINE = ("machine.sustained", "machine.memory_rate", "machine.domain", "machine.scale_up", "machine.network")
_SEARCHED = ("size.gpus", "work.parameters", "work.global_batch", "work.sequence_length", *_MACHINE, "gpu.memory.capacity", *_PARALLELISM)
_STEP = computed("sizing.step.estimate_step", "plan.label", "work.flops_per_unit", "work.global_batch", "work.sequence_length", *_MACHINE)
_PEAK = computed(
    "sizing.memory.estimate_memory",
    "plan.label",
    "work.parameters",
    "work.trainable",
    "work.sequence_length",
    "training.precision",
    "training.optimizer",
)
_RATE = computed("sizing.hardware.hardware_of", "gpu.peak_dense", "gpu.sustained", "training.precision")

RESULTS: dict[str, Result] = {
    "size.how": Result("how the size was found", lambda candidate, _: candidate.sized_by, taken("scale.mode")),
    "size.units": Result(
        "servers or racks that are bought",
        lambda candidate, _: candidate.units,
        computed(
            "proposals.propose",
            "scale.mode",
            "scale.deadline",
            "scale.nodes",
            "scale.gpus",
            "budget.purchase",
            "size.how",
            "node.gpu_count",
        ),
    ),
    "size.nodes": Result("scale-out nodes", lambda candidate, _: candidate.nodes, arithmetic("size.units * node.trays")),
    "size.gpus": Result("GPUs that train", lambda candidate, _: candidate.gpus, arithmetic("size.units * node.gpu_count")),
    # the workload
    "work.model": Result(
        "the model", lambda _, context: context.workload.model.name, computed("sizing.model.shape_from_answers", *_MODEL, "preset.name")
    ),
    "work.model_kind": Result(
        "the kind of model",
        lambda _, context: context.workload.model.kind,
        computed("sizing.model.shape_from_answers", *_MODEL, "preset.kind"),
    ),
    "work.shape": Result(
        "the model's shape",
        lambda _, context: {name: value for name, value in vars(context.workload.model).items() if _is_size(name, value)},
        computed("sizing.model.shape_from_answers", *_MODEL, "preset.shape"),
    ),
    "work.parameters": Result(
        "parameters of the model",
        lambda _, context: context.workload.parameters.total,
        computed("sizing.parameters.count_parameters", "work.model", "work.shape", "work.sequence_length"),
    ),
    "work.active": Result(
        "parameters that a token uses",
        lambda _, context: context.workload.parameters.active,
        computed("sizing.parameters.count_parameters", "work.model", "work.shape"),
    ),
    "work.trainable": Result(
        "parameters that are trained",
        _work("trainable_parameters"),
        computed(_DESCRIBED, "workload.kind", "training.lora_rank", "work.parameters", "work.shape"),
    ),
    "work.precision": Result("training precision", _work("precision"), taken("training.precision")),
    "work.optimizer": Result("the optimizer", _work("optimizer"), taken("training.optimizer")),
    "work.unit": Result("what is counted: tokens, images or samples", _work("unit"), computed(_DESCRIBED, "workload.kind")),
    "work.units_total": Result(
        "tokens, images or samples of the whole run",
        _work("units_total"),
        computed(_DESCRIBED, "workload.kind", "training.tokens", "training.samples", "work.active"),
    ),
    "work.global_batch": Result(
        "sequences, images or samples per step", _work("global_batch"), computed(_DESCRIBED, "training.global_batch", "work.parameters")
    ),
    "work.sequence_length": Result(
        "tokens per sequence, 1 where there are none",
        _work("sequence_length"),
        computed(_DESCRIBED, "training.sequence_length", "work.shape"),
    ),
    "work.flops_per_unit": Result(
        "floating-point operations per token, image or sample",
        lambda _, context: context.workload.flops_per_unit / GIGA,
        computed(_DESCRIBED, "workload.kind", "work.active", "work.sequence_length"),
        "GFLOP",
    ),
    "work.dataset": Result(
        "size of the dataset", _work("dataset"), computed(_DESCRIBED, "data.size", "work.units_total", "workload.kind", "work.shape")
    ),
    "work.sample_bytes": Result(
        "stored size of one token, image or sample", _work("sample_bytes"), computed(_DESCRIBED, "workload.kind", "work.shape")
    ),
    "work.checkpoint": Result(
        "size of a full checkpoint",
        _work("checkpoint"),
        computed(_DESCRIBED, "work.trainable", "training.precision", "training.optimizer"),
    ),
    "work.data_kind": Result("kind of data", _work("data_kind"), computed(_DESCRIBED, "data.kind", "workload.kind")),
    # the machine: one device and its links
    "machine.peak": Result(
        "dense peak of a device at the training precision",
        lambda candidate, context: _hardware(candidate, context).rate(context.workload.precision).peak / TERA,
        _RATE,
        "TFLOP/s",
    ),
    "machine.sustained": Result(
        "what a device sustains in large matrix products",
        lambda candidate, context: _hardware(candidate, context).rate(context.workload.precision).sustained / TERA,
        _RATE,
        "TFLOP/s",
    ),
    "machine.native": Result(
        "the format in which the matrix units compute",
        lambda candidate, context: _hardware(candidate, context).rate(context.workload.precision).native,
        computed("sizing.hardware.hardware_of", "gpu.peak_dense", "training.precision"),
    ),
    "machine.devices": Result("devices that software sees in one GPU", lambda candidate, _: candidate.gpu.devices, taken("gpu.devices")),
    "machine.domain": Result(
        "devices joined by the fast links",
        lambda candidate, context: _hardware(candidate, context).domain,
        computed("sizing.hardware.hardware_of", "node.scale_up_domain", "node.topology", "gpu.scale_up.technology", "gpu.devices"),
    ),
    "machine.scale_up": Result(
        "rate of those links per GPU, one direction",
        lambda candidate, context: _hardware(candidate, context).scale_up_bytes_per_s / GIGA,
        computed("sizing.hardware.hardware_of", "gpu.scale_up.per_direction", "gpu.scale_up.technology", "node.topology"),
        "GB/s",
    ),
    "machine.network": Result(
        "a GPU's share of the node's network adapters",
        lambda candidate, context: _hardware(candidate, context).nic_bytes_per_s * BITS_PER_BYTE / GIGA,
        computed("sizing.hardware.hardware_of", "node.nics.compute", "node.nics.compute_speed", "nic.speed", "node.gpu_count"),
        "Gb/s",
    ),
    "machine.memory_rate": Result(
        "bandwidth of a device's memory",
        lambda candidate, context: _hardware(candidate, context).hbm_bytes_per_s / GIGA,
        computed("sizing.hardware.hardware_of", "gpu.memory.bandwidth", "gpu.devices"),
        "GB/s",
    ),
    "machine.pcie": Result(
        "usable rate of an x16 slot, one direction",
        lambda candidate, context: _hardware(candidate, context).pcie_bytes_per_s / GIGA,
        computed("sizing.hardware.hardware_of", "node.pcie_generation", "gpu.host_link.generation"),
        "GB/s",
    ),
    "machine.assumed": Result(
        "what is assumed about the machine",
        lambda candidate, context: "; ".join(_hardware(candidate, context).assumed) or "nothing",
        computed("sizing.hardware.hardware_of", "node.nics.compute", "node.nics.compute_speed", "node.pcie_generation"),
    ),
    # the plan, its step, its memory
    "plan.label": Result("the parallel plan", _plan("label"), computed("sizing.plans.search_plans", *_SEARCHED)),
    "plan.gpus": Result("devices that the plan uses", _plan("gpus"), computed("sizing.plans.search_plans", "plan.label")),
    "plan.considered": Result(
        "plans that the search looked at",
        lambda candidate, _: candidate.choice.enumerated if candidate.choice else None,
        computed("sizing.plans.search_plans", *_SEARCHED),
    ),
    "step.expected": Result("time of one step", _step("expected"), _STEP),
    "step.low": Result("its lower end", _step("low"), _STEP),
    "step.high": Result("its upper end", _step("high"), _STEP),
    "step.terms": Result("the parts of a step's time", _step("terms"), _STEP),
    "step.rate": Result("tokens, images or samples per second of the whole cluster", _step("units_per_second"), _STEP),
    "step.flops": Result("model FLOP/s per device that the plan reaches", _step("tflops_per_gpu"), _STEP, "TFLOP/s"),
    "step.utilization": Result("model FLOPs utilisation of the dense peak", _step("model_flops_utilization"), _STEP),
    "step.exposed": Result("share of a step that waits for communication", _step("exposed_share"), _STEP),
    "step.sent": Result("what one GPU sends to other scale-up domains in a step", _step("inter_node_bytes_per_gpu"), _STEP),
    "step.message": Result("largest message of a collective", _step("largest_message"), _STEP),
    "peak.terms": Result("the parts of the expected peak on the fullest GPU", _peak("terms"), _PEAK),
    "peak.low": Result("low end of the peak on the fullest GPU", _peak("low"), _PEAK),
    "peak.expected": Result(
        "expected peak on the fullest GPU", _peak("expected"), arithmetic("sum(peak.terms)", formula="sizing.memory.estimate_memory")
    ),
    "peak.high": Result("high end of the peak on the fullest GPU", _peak("high"), _PEAK),
    "peak.allocated": Result("what a framework's allocator would report as its peak", _peak("allocated"), _PEAK),
    "peak.stages": Result(
        "the parts on each pipeline stage", lambda candidate, _: len(candidate.choice.memory.stages) if candidate.choice else None, _PEAK
    ),
    "bill.lines": Result(
        "kinds of parts on the bill of materials",
        lambda candidate, _: len(candidate.cost.bom if candidate.cost else candidate.bom),
        computed(
            "sizing.cost.bill_with_servers",
            "size.units",
            "reliability:spare_nodes",
            "fabric:switches",
            "storage_cpu:system_units",
            "power:rack_count",
        ),
    ),
    "choice.objective": Result(
        "what the candidates are ranked by", lambda _, context: context.answers.text("budget.objective"), taken("budget.objective")
    ),
    "choice.name": Result(
        "the candidate",
        lambda candidate, _: f"{candidate.units:,} × {candidate.node.name}",
        computed("choice.rank", "choice.objective", "size.units", "node.name"),
    ),
}
"""By name, `root.name`; the roots are those of `rules.origins.RESULT_ROOTS`."""


def sizing_inputs(answers: Answers) -> tuple[str, ...]:
    """Return the inputs of the size: what was asked for, and no others."""
    mode = "fixed" if size_given(answers) else answers.text("scale.mode")
    return ("scale.mode", "size.how", *_SIZED_BY[mode], "node.gpu_count")


def _is_size(name: str, value: object) -> bool:
    """Return whether a field of a shape says something: a number that is not zero, and not what is kept for speed alone."""
    return not name.startswith("_") and isinstance(value, (int, float)) and not isinstance(value, bool) and value != 0
