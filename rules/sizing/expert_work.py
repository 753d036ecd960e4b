"""What experts cost a layer beside their products and their exchange: reordering, kernels for each, biases, gradients of their weights.

Code without fused kernels reorders tokens by expert in passes of their own, runs the products and casts of every local expert one by one,
and adds biases in several passes. Bytes are counted for each pass; times are seconds per layer, micro-batch and GPU.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from rules.sizing.compute import Arithmetic

REORDERED_BYTES = 8.0
"""Bytes per element of a token on its way to an expert that a pass reorders: read and written once before the experts and once after, in
16 bits, forward and backward alike (counted) [DeepEP; HybridEP, arXiv:2603.07685]."""
PLAIN_REORDERED_BYTES = 24.0
"""The same with a plain all-to-all: by rank and again by expert, both ways (counted, 16), at 0.5 of the memory's bandwidth instead of 0.75
[Megatron Core, all-to-all token dispatcher; SimuMax configs/system/b200_bf16_ceperm.json, permute]."""
BIAS_BYTES = (28.0, 40.0)
"""Bytes per element of an expert's output, forward and backward, where experts have biases: bias times probability in 32 bits, sum,
concatenation and cast are operations of their own (counted) [Megatron Core, TEGroupedMLP, bias of each expert]."""
CLAMPED_BYTES = (16.0, 20.0)
"""Bytes per neuron of an expert, forward and backward, where what enters a gated activation is clamped: both halves are clamped and
concatenated before the fused activation, each read and written in 16 bits; backward the clamps read gradient and input, and the halves are
concatenated again (counted) [Megatron Core, fused_bias_geglu.py, weighted_bias_quick_geglu_impl; GPT-OSS, swiglu_limit]."""
ACCUMULATED_BYTES = 8.0
"""Bytes per weight in which a micro-batch's gradient is added to the sum in 32 bits: read and written [Megatron Core,
--accumulate-allreduce-grads-in-fp32, fused into the product]. Beside an expert's few rows nothing hides it."""
EXPERT_KERNELS = {"bf16": (2, 4), "fp8": (8, 10), "fp8_block": (8, 14), "fp4": (10, 16)}
"""Kernels that every local expert takes, forward and backward: two and four products; with current scaling three for each cast (largest
value, scale, cast), in MXFP8 one for each cast and one to arrange the scales of either side of a product, in NVFP4 one more for each cast
(counted) [Transformer Engine, GroupedLinear, whose products and casts loop over experts]."""
EXPERT_KERNEL_S = 7e-6
"""What each of them costs beside its arithmetic, for they run one after another: Qwen3 30B with 16 experts on each GPU takes 1.8 to 3 ms
longer per layer and micro-batch than its products and bytes, with 16,384 tokens on GB200 as with 32,768 on GB300 [Megatron Bridge 25.09 to
26.04]. Held out: docs/step-time.md."""


class ExpertWork(NamedTuple):
    """Seconds of a layer's experts beside products and exchange, forward and backward.

    `clamped`: the part of the forward pass that clamps what enters the activation, and is run again with it.
    """

    forward: float
    backward: float
    clamped: float = 0.0


def expert_work(arithmetic: Arithmetic, tokens: float, tensor: int, expert: int, expert_tensor: int) -> ExpertWork:
    """Return what the experts of a layer cost beside products and exchange, for `tokens` tokens of a micro-batch."""
    shape, fused = arithmetic.shape, arithmetic.fuses_experts
    outer, local = shape.latent_size or shape.hidden_size, max(1.0, shape.experts / expert)
    routed = tokens / tensor * shape.experts_per_token * outer
    plain = arithmetic.techniques.plain_exchange or not arithmetic.techniques.overlapped
    reordered = 0.0 if fused else PLAIN_REORDERED_BYTES if plain else REORDERED_BYTES
    ahead, behind = (bytes_ if shape.ffn_bias else 0.0 for bytes_ in BIAS_BYTES)
    weights = local * (3 if shape.gated_ffn else 2) * outer * shape.expert_ffn_size / expert_tensor
    added = ACCUMULATED_BYTES * weights * arithmetic.weight_gradients
    first, second = (0, 0) if fused else EXPERT_KERNELS.get(arithmetic.native_cast, EXPERT_KERNELS["bf16"])
    neurons = tokens / tensor * shape.experts_per_token * shape.expert_ffn_size
    clamps, undone = (arithmetic.streamed(neurons * each) if shape.ffn_clamped and not fused else 0.0 for each in CLAMPED_BYTES)
    return ExpertWork(
        arithmetic.streamed(routed * (reordered + ahead)) + clamps + local * first * EXPERT_KERNEL_S,
        arithmetic.streamed(routed * (reordered + behind) + added) + undone + local * second * EXPERT_KERNEL_S,
        clamps,
    )
