"""Activations that one micro-batch leaves behind for the backward pass, per layer and GPU.

Tensor by tensor, after Korthikanti 2022 [arXiv:2205.05198 §4]: for a GPT block with dropout they add up to his
`s·b·h·(34 + 5·a·s/h)`. Gated FFNs, grouped-query and latent attention, experts and FP8 inputs follow the same rule: what a
product or an elementwise operation needs in its backward pass is kept, in the type it is computed in. With FlashAttention the
quadratic part is gone and a log-sum-exp per head remains [Dao 2022, arXiv:2205.14135 §3.1].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rules.sizing.training_bytes import FP32_BYTES, element_bytes, product_input_bytes

if TYPE_CHECKING:
    from rules.sizing.results import ModelShape

MASK_BYTES = 1.0
"""A dropout mask takes one byte per element [arXiv:2205.05198 §4.1]."""

THRESHOLDS_IN_FORMULAS = {
    "vram-act-sp": "rules.sizing.memory_activations.layer_activations",
    "vram-act-no-sp": "rules.sizing.memory_activations.layer_activations",
}
"""Thresholds of the catalog that these formulas apply: id -> where."""


@dataclass(frozen=True)
class ActivationOptions:
    """How the layers are computed: the attention kernel, dropout, and what "selective" recomputation drops.

    `selective` names modules: core_attention (the quadratic part), norm (outputs of the norms), activation (the output of the
    FFN's activation function). The default is what costs almost no time on a FlashAttention stack [Megatron Core,
    `--recompute-modules`]; with a quadratic kernel the classic choice is core_attention alone [arXiv:2205.05198 §5].
    """

    quadratic_attention: bool = False
    dropout: bool = False
    selective: tuple[str, ...] = ("core_attention", "norm", "activation")


@dataclass(frozen=True)
class LayerBytes:
    """Bytes per token of one layer. `whole` is not divided without sequence parallelism, `split` is divided by tensor parallelism.

    `routed` is the part of the routed experts per token and layer, `gathered` what their tensor parallelism repeats.
    """

    whole: float
    split: float
    routed: float = 0.0
    gathered: float = 0.0
    layer_input: float = 0.0


def layer_activations(
    shape: ModelShape, precision: str, sequence_length: int, recompute: str, options: ActivationOptions, moe: bool
) -> LayerBytes:
    """Return the activation bytes per token that one layer keeps for its backward pass.

    `sequence_length` in tokens enters only with a quadratic attention kernel. `recompute`: none, selective, full; with full only
    the layer's input stays. `moe`: whether the layer has routed experts, which add the dispatched inputs and the FFN tensors of
    the experts that a token visits. Their outputs are not kept: the router's weights are applied before the last product
    [Megatron Core, memory-efficient permutation, arXiv:2603.07685].
    """
    wide, quantised = element_bytes(precision), product_input_bytes(precision)
    hidden = shape.hidden_size
    dropped = options.selective if recompute == "selective" else ()
    norm_inputs = 2 * wide * hidden
    norm_outputs = 0.0 if "norm" in dropped else 2 * quantised * hidden
    masks = 2 * MASK_BYTES * hidden if options.dropout else 0.0
    attention = _attention(shape, wide, sequence_length, options, dropped)
    activation_kept = 0.0 if "activation" in dropped else quantised
    per_width = (2 if shape.gated_ffn else 1) * wide + activation_kept
    layer_input = wide * hidden
    if not moe:
        return LayerBytes(norm_inputs + norm_outputs + masks, attention + per_width * shape.ffn_size, layer_input=layer_input)
    shared = per_width * shape.shared_expert_ffn_size
    router = FP32_BYTES * shape.experts
    dispatched = shape.experts_per_token * quantised * hidden
    routed = shape.experts_per_token * per_width * shape.expert_ffn_size
    return LayerBytes(norm_inputs + norm_outputs + masks, attention + shared + router, routed, dispatched, layer_input)


def _attention(shape: ModelShape, wide: float, sequence_length: int, options: ActivationOptions, dropped: tuple[str, ...]) -> float:
    """Return the bytes per token of queries, keys, values and the attention output, with the kernel's own part."""
    heads = shape.attention_heads
    if shape.attention == "mla":
        query = heads * (shape.qk_nope_head_dim + shape.qk_rope_head_dim)
        latents = 2 * shape.q_lora_rank + 2 * shape.kv_lora_rank + shape.qk_rope_head_dim
        tensors = wide * (latents + 2 * query + 2 * heads * shape.v_head_dim)
    else:
        tensors = wide * shape.head_dim * (2 * heads + 2 * shape.key_value_heads)
    if not options.quadratic_attention:
        return tensors + FP32_BYTES * heads
    if "core_attention" in dropped:
        return tensors
    softmax = wide * heads * sequence_length
    return tensors + (2 * softmax + MASK_BYTES * heads * sequence_length if options.dropout else softmax)
