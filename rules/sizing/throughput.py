"""Step time of models without transformer layers: convolutional vision models and recommendation models, data parallel.

They are limited by bytes, not by FLOPs: a convolution's activations pass through memory several times; a recommendation model gathers
embedding rows and exchanges them. Anchors: NVIDIA DeepLearningExamples (ConvNets; DLRM and DCNv2) on A100 and V100.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from catalogs.quantities import quantity
from catalogs.sums import plain_sum
from rules.sizing.collectives import all_reduce_seconds, exchange_seconds, group
from rules.sizing.results import StepEstimate

if TYPE_CHECKING:
    from rules.sizing.hardware import Hardware
    from rules.sizing.results import ModelShape, Plan, Workload

MEMORY_EFFICIENCY = 0.75
"""Share of the memory's bandwidth that streaming kernels reach, as in `rules.sizing.compute`."""
CONVOLUTION_BYTES_PER_MAC = 0.165
"""Bytes through memory per forward multiply-add of a trained image at 16 bit: ResNet-50 at 2,470 (A100) and 1,200 (V100) images/s,
ResNeXt-101 at 908 [NVIDIA DeepLearningExamples ConvNets]."""
DEPTHWISE_BYTES_PER_MAC = 1.05
"""The same for nets of depthwise convolutions: EfficientNet-b4 at 331 images/s on A100 [as above]."""
DEPTHWISE_NAMES = ("efficientnet", "mobilenet", "convnext", "xception", "mnasnet", "regnet-y")
CONVOLUTION_EFFICIENCY = 0.5
"""Share of the sustained matrix rate that convolutions reach where they are not limited by bytes (assumed)."""
GATHER_EFFICIENCY = 0.30
"""Share of the memory's bandwidth that embedding look-ups reach [AMD Primus performance projection]."""
GATHER_PASSES = 3.0
"""Forward gather and about twice that for the sparse update [DLRM, arXiv:1906.00091]."""
TABLE_BYTES = 4.0
EXCHANGED_BYTES = 2.0
WIDE_BYTES = 4.0
DENSE_FAN_IN = 800.0
"""Weights for each output of a dense layer, for models of which only the weights are known: 2.4 million on 3,700 outputs (650) in DLRM,
16 million on 15,600 (1,030) in DCNv2 with its three cross layers [their widths, as above; counted]."""
DENSE_PASSES = 9.0
"""How often an element between dense layers, the pooled embeddings among them, passes through memory: forward it is written, biased and
activated, and read; backward the same twice, for the gradients of inputs and of weights (counted). Counted before compared: DLRM is off by
12 % and DCNv2 by 10 % on average. Both numbers fitted to DLRM alone would leave DCNv2 off by 16 %, fitted to DCNv2 alone DLRM by 15 %;
without these bytes it is 18 and 64 %. Only NVIDIA's two models are published with all that this takes."""
RECOMMENDATION_STEP_S = 3e-3
"""Fixed time of a step, kernels and input: DLRM on 8 A100 takes 4.75 ms for 65,536 samples, on one 14.4 ms [as above]."""
MOST_CROSSINGS = 2
"""Times that an all-reduce moves a buffer between three or more domains; between two it moves it once [rules.sizing.collectives]."""
LOW_SHARE, HIGH_SHARE = 0.8, 1.4
"""Range of the estimate: the input pipeline of light models loses up to 30 % [DeepLearningExamples, 1 to 8 GPUs: 6.7 times]."""


class ThroughputTime(NamedTuple):
    """The seconds of one step by part."""

    arithmetic: float
    memory: float
    exchange: float
    data_parallel: float
    overhead: float


def time(workload: Workload, plan: Plan, hardware: Hardware) -> ThroughputTime:
    """Return the seconds of one step of a convolutional or recommendation model."""
    local = workload.global_batch / plan.gpus
    made = (_recommendation if workload.model.kind == "recommendation" else _convolution)(workload, plan, hardware, local)
    return ThroughputTime(*(hardware.time_factor * each for each in made))


def _convolution(workload: Workload, plan: Plan, hardware: Hardware, local: float) -> ThroughputTime:
    shape, rate = workload.model, hardware.rate(workload.precision)
    arithmetic = local * workload.flops_per_unit / (rate.sustained * CONVOLUTION_EFFICIENCY)
    per_mac = DEPTHWISE_BYTES_PER_MAC if any(name in shape.name.lower() for name in DEPTHWISE_NAMES) else CONVOLUTION_BYTES_PER_MAC
    wide = 2.0 if workload.precision in ("fp32", "tf32") else 1.0
    memory = local * shape.forward_gmacs * 1e9 * per_mac * wide / (hardware.hbm_bytes_per_s * MEMORY_EFFICIENCY)
    bound = max(arithmetic, memory)
    reduced = all_reduce_seconds(hardware, group(plan.gpus, 1, hardware.domain), 4.0 * workload.parameters.total)
    exposed = max(0.1 * reduced, reduced - 0.6 * bound)
    return ThroughputTime(arithmetic if bound == arithmetic else 0.0, memory if bound != arithmetic else 0.0, 0.0, exposed, 0.0)


def exchanged_bytes(shape: ModelShape, local: float) -> float:
    """Return the bytes of pooled embeddings that a GPU sends in one direction of one exchange, for `local` samples."""
    return local * max(1, shape.tables) * max(1, shape.embedding_dim) * EXCHANGED_BYTES


def _recommendation(workload: Workload, plan: Plan, hardware: Hardware, local: float) -> ThroughputTime:
    shape, rate = workload.model, hardware.rate(workload.precision)
    arithmetic = local * workload.flops_per_unit / rate.sustained
    looked_up = local * max(1, shape.tables) * max(1, shape.embedding_dim)
    width = WIDE_BYTES if workload.precision in ("fp32", "tf32") else EXCHANGED_BYTES
    between = DENSE_PASSES * width * (local * shape.dense_parameters / DENSE_FAN_IN + looked_up)
    gathered = looked_up * TABLE_BYTES * GATHER_PASSES
    memory = gathered / (hardware.hbm_bytes_per_s * GATHER_EFFICIENCY) + between / (hardware.hbm_bytes_per_s * MEMORY_EFFICIENCY)
    who = group(plan.gpus, 1, hardware.domain)
    exchange = 2 * exchange_seconds(hardware, who, exchanged_bytes(shape, local))
    dense = all_reduce_seconds(hardware, who, 4.0 * max(shape.dense_parameters, 0.0))
    return ThroughputTime(arithmetic, memory, exchange, dense, RECOMMENDATION_STEP_S)


def estimate(workload: Workload, plan: Plan, hardware: Hardware) -> StepEstimate:
    """Return the time of one step of a convolutional or recommendation model, as a range with its parts."""
    parts, rate = time(workload, plan, hardware), hardware.rate(workload.precision)
    total = plain_sum(parts)
    per_second = workload.global_batch / total
    flops = per_second * workload.flops_per_unit / plan.gpus
    local = workload.global_batch / plan.gpus
    who = group(plan.gpus, 1, hardware.domain)
    dense = 4.0 * (workload.model.dense_parameters if workload.model.kind == "recommendation" else workload.parameters.total)
    sent = min(who.domains - 1, MOST_CROSSINGS) * dense / who.local
    message = dense
    if workload.model.kind == "recommendation":
        message = exchanged_bytes(workload.model, local)
        sent += 2 * message * (who.ranks - who.local) / who.ranks
    exposed = (parts.exchange + parts.data_parallel) / total
    return StepEstimate(
        low=quantity(total * LOW_SHARE, "s"),
        expected=quantity(total, "s"),
        high=quantity(total * HIGH_SHARE, "s"),
        terms={name: quantity(value, "s") for name, value in zip(parts._fields, parts, strict=True) if value > 0},
        units_per_second=per_second,
        tflops_per_gpu=flops / 1e12,
        model_flops_utilization=flops / rate.peak,
        inter_node_bytes_per_gpu=quantity(sent, "B"),
        largest_message=quantity(message, "B"),
        exposed_share=exposed,
        hidden_budget=quantity(total * (1 - exposed), "s"),
        notes=("limited by bytes, not by FLOPs; the input pipeline may limit it further",),
    )
