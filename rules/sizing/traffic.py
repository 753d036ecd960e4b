"""What a plan sends: the communication of one layer, and the bytes that leave a GPU for other scale-up domains in a step.

Volumes are those of bandwidth-optimal algorithms, per GPU, in bytes. Sources: Korthikanti 2022 for tensor with sequence parallelism;
Rajbhandari 2020 for sharding; arXiv:2411.01783 for context parallelism; arXiv:2603.07685 for experts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from catalogs.sums import plain_sum
from rules.sizing.collectives import all_reduce_seconds, exchange_seconds, gather_seconds, group, point_to_point_seconds, routed_seconds
from rules.sizing.compute import BYTES_16
from rules.sizing.pipeline import chunks, recomputed_share
from rules.sizing.placement import placed_domain

if TYPE_CHECKING:
    from rules.sizing.collectives import Group
    from rules.sizing.exposure import Exposure
    from rules.sizing.hardware import Hardware
    from rules.sizing.results import ModelShape, Plan
    from rules.sizing.step import StepModel

TENSOR_COLLECTIVES = 4
"""Pairs of all-gather and reduce-scatter per layer and micro-batch: two blocks, forward and backward [Korthikanti 2022 §4.2.2]."""
RECOMPUTED_TENSOR = 1.5
"""Full recomputation repeats the forward half of a layer's collectives: three halves for two (counted)."""
EXCHANGES = 4
"""All-to-alls per expert layer and micro-batch: dispatch and combine, forward and backward [arXiv:2603.07685]."""

RINGS = 2
"""Times that keys and values go round a context-parallel ring in a layer, forward and backward; each of its steps has the latency of a
message [arXiv:2310.01889 §3; counted]."""


class LayerTraffic(NamedTuple):
    """Exposed seconds of communication per average layer and micro-batch."""

    tensor: float
    expert: float
    context: float


def layer_traffic(
    shape: ModelShape, hardware: Hardware, exposure: Exposure, plan: Plan, tokens: float, moe_share: float, attention: float
) -> LayerTraffic:
    """Return what one layer's communication adds. `tokens` per micro-batch and context rank; `attention` in seconds hides a ring.

    Tensor-parallel collectives are overlapped by splitting the products of dense layers, not of layers with experts
    [Megatron Core, --tp-comm-overlap].
    """
    tensor = expert = context = 0.0
    domain = placed_domain(plan, hardware.domain)
    if plan.tensor > 1:
        size = BYTES_16 * tokens * shape.hidden_size
        who = group(plan.tensor, 1, domain)
        pairs = tensor_pairs(shape, moe_share)
        if plan.sequence_parallel:
            visible = exposure.tensor if who.domains == 1 and not shape.experts else max(exposure.tensor, 1.0 / exposure.in_training)
            tensor = pairs * 2 * gather_seconds(hardware, who, size) * visible
        else:
            tensor = pairs * all_reduce_seconds(hardware, who, size) * max(1.0, exposure.tensor)
    if moe_share and plan.expert > 1:
        who = group(plan.expert * plan.expert_tensor, 1, domain)
        sent, each, crossing = tokens / plan.tensor, BYTES_16 * _routed_width(shape), who.domains > 1
        if exposure.plain_exchange:
            once = exchange_seconds(hardware, who, sent * each * shape.experts_per_token)
        else:
            once = routed_seconds(hardware, who, sent, each, shape.experts_per_token)
        expert = moe_share * EXCHANGES * once * (exposure.expert if crossing else exposure.expert_inside)
    if plan.context > 1:
        ring = context_bytes(shape, plan, tokens) * 3
        who = group(plan.context, plan.tensor, domain)
        handed_on = RINGS * (plan.context - 1) * point_to_point_seconds(hardware, who.domains == 1, 0.0)
        once = gather_seconds(hardware, who, ring * plan.context / max(1, plan.context - 1)) + handed_on
        context = max(exposure.context * once, once - attention)
    return LayerTraffic(tensor, expert, context)


def tensor_pairs(shape: ModelShape, moe_share: float) -> float:
    """Return the pairs of collectives of an average layer and micro-batch; routed experts alone need none for tensor parallelism."""
    return TENSOR_COLLECTIVES - 2 * moe_share * (0 if shape.shared_expert_ffn_size else 1)


def _routed_width(shape: ModelShape) -> int:
    """Return the width of a token on its way to an expert."""
    return shape.latent_size or shape.hidden_size


def context_bytes(shape: ModelShape, plan: Plan, tokens: float) -> float:
    """Return the bytes of keys and values that a rank sends forward in one layer's ring: (c−1)·tokens/c … of two tensors in 16 bit."""
    if shape.attention == "mla":
        width = shape.attention_heads / plan.tensor * (shape.qk_nope_head_dim + shape.qk_rope_head_dim + shape.v_head_dim)
    else:
        width = 2 * max(1.0, shape.key_value_heads / plan.tensor) * shape.head_dim
    return BYTES_16 * (plan.context - 1) * tokens * width


def inter_domain_bytes(model: StepModel, plan: Plan) -> float:
    """Return the bytes that one GPU sends to other scale-up domains in a step, over all kinds of parallelism: what the step's time counts.

    Where groups straddle domains, it is the GPU whose adapter carries the most.
    """
    hardware, shape = model.hardware, model.shape
    if plan.gpus <= hardware.domain:
        return 0.0
    count, block, domain = model.micro_batches(plan), model.block(plan), placed_domain(plan, hardware.domain)
    layers = model.layers / plan.pipeline
    total = _data_bytes(model, plan, count)
    if plan.pipeline > 1:
        total += 2 * count * chunks(plan) * BYTES_16 * block.tokens * shape.hidden_size / plan.tensor
    who = group(plan.tensor, 1, domain)
    if who.domains > 1:
        pairs = tensor_pairs(shape, model.moe_share) * (1 + recomputed_share(plan, layers) * (RECOMPUTED_TENSOR - 1))
        total += count * layers * pairs * 2 * BYTES_16 * block.tokens * shape.hidden_size / who.local
    if plan.expert > 1:
        who = group(plan.expert * plan.expert_tensor, 1, domain)
        remote = (who.domains - 1) * (1 - (1 - 1 / who.domains) ** shape.experts_per_token)
        each = block.tokens / plan.tensor * BYTES_16 * _routed_width(shape) * remote
        total += count * layers * model.moe_share * EXCHANGES * each
    if plan.context > 1 and group(plan.context, plan.tensor, domain).domains > 1:
        total += 3 * count * layers * context_bytes(shape, plan, block.tokens)
    return total


def _data_bytes(model: StepModel, plan: Plan, count: float) -> float:
    """Return the share of gradient and parameter exchange that crosses domains, per GPU and step: a ring's edge spread over its members.

    `count` micro-batches: stage 3 gathers weights twice and scatters gradients in each, but in a pipeline once a step; stage 2 scatters
    gradients in each and gathers once; with a shard group these stay inside it, and gradients are reduced among the groups once.
    """
    total = 0.0
    for exchange in model.exchanges(plan):
        gradients, parameters = exchange.gradients, exchange.parameters
        if plan.zero_stage == 3:
            times, again = (1.0, 1.0) if plan.pipeline > 1 else (count, 2.0)
            total += times * _edge_share(model.shard_ranks(plan, exchange)) * (again * parameters + gradients)
            outer = model.replica_ranks(plan, exchange)
            total += _reduced_share(outer) * gradients / plan.shard_group if outer else 0.0
        elif plan.zero_stage == 2:
            total += _edge_share(exchange.who) * (count * gradients + parameters)
        elif plan.zero_stage == 1:
            total += _edge_share(exchange.who) * (gradients + parameters)
        else:
            total += _reduced_share(exchange.who) * gradients
    return total


def _edge_share(who: Group) -> float:
    """Return the share of a buffer that one GPU sends to other domains in a gather or scatter over `who`; 0 inside one domain."""
    return (who.ranks - 1) / who.ranks / who.local if who.domains > 1 else 0.0


def _reduced_share(who: Group) -> float:
    """Return the same of an all-reduce, which moves a buffer once between two domains, twice between more."""
    return min(who.domains - 1, 2) / who.local


def largest_message_bytes(model: StepModel, plan: Plan) -> float:
    """Return the largest buffer that one collective of the step handles: a layer's activations, or one layer's gradients."""
    block = model.block(plan)
    activations = BYTES_16 * block.tokens * model.shape.hidden_size if plan.tensor > 1 else 0.0
    gradients = plain_sum(each.gradients for each in model.exchanges(plan)) / (model.layers / plan.pipeline)
    return max(activations, gradients)
