"""Activations that one micro-batch leaves behind for the backward pass, per layer and GPU.

Tensor by tensor, after Korthikanti 2022 [arXiv:2205.05198 §4]: for a GPT block with dropout they add up to his
`s·b·h·(34 + 5·a·s/h)`. Gated FFNs, grouped-query and latent attention, experts and FP8 inputs follow the same rule: what a
product or an elementwise operation needs in its backward pass is kept, in the type it is computed in. With FlashAttention the
quadratic part is gone and a log-sum-exp per head remains [Dao 2022, arXiv:2205.14135 §3.1].
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rules.sizing.training_bytes import FP32_BYTES, element_bytes, product_input_bytes

if TYPE_CHECKING:
    from rules.sizing.results import ModelShape

UNFUSED_NORM_BYTES = 4.0
"""Bytes per element that a norm written in PyTorch operations keeps beyond a fused one: it saves its input in fp32 and the normalised
input in 16 bits, where a fused kernel saves the input in 16 bits only (counted from Llama's RMSNorm)."""
QUERY_KEY_VALUE, ATTENTION_PRODUCTS = "all_but_query_key_value", "all_but_attention_products"
ALL_BUT = (QUERY_KEY_VALUE, ATTENTION_PRODUCTS)
"""Recomputation that a compiler does, named by what it keeps beside a layer's input: queries, keys and values; these and what the output
projection of attention returns [MaxText, remat_policy save_qkv_proj; PaxML, SAVE_QKV_OUT_PROJ]."""
MODULES = ("core_attention", "norm", "activation", "mlp", "moe", "shared_experts", "mla_up_projection", "alternate_products", *ALL_BUT)
"""What selective recomputation can name: the modules of Megatron Core's `--recompute-modules`; `alternate_products`, the
per-operation checkpointing of torchtitan that keeps every second matrix product and the attention output [torchtitan, activation
checkpointing of Llama 3]; and `ALL_BUT`."""
MASK_BYTES = 1.0
"""A dropout mask takes one byte per element [arXiv:2205.05198 §4.1]."""

THRESHOLDS_IN_FORMULAS = {
    "vram-act-sp": "rules.sizing.memory_activations.layer_activations",
    "vram-act-no-sp": "rules.sizing.memory_activations.layer_activations",
}
"""Thresholds of the catalog that these formulas apply: id -> where."""


@dataclass(frozen=True)
class ActivationOptions:
    """How the layers are computed: kernels, dropout, and what "selective" recomputation drops.

    `selective` names `MODULES`: core_attention (the quadratic part), norm (outputs of the norms), activation (the output of the
    FFN's activation function), mlp, moe, shared_experts (all tensors inside), mla_up_projection (queries, keys and values beyond
    their latents). The default is what costs almost no time on a FlashAttention stack; with a quadratic kernel the classic
    choice is core_attention alone [arXiv:2205.05198 §5]. `fused_activation`: a gated activation that is written as two operations
    also keeps its first result. `fused_norm`: see `UNFUSED_NORM_BYTES`; a LayerNorm, which models without a gated FFN have, is one
    operation in PyTorch too. `keeps_gathered`: sequence parallelism keeps the gathered inputs of its products whole instead of gathering
    them again in the backward pass, as Megatron does [arXiv:2205.05198 §4.2.2; Nanotron, tp_recompute_allgather].
    """

    quadratic_attention: bool = False
    dropout: bool = False
    selective: tuple[str, ...] = ("core_attention", "norm", "activation")
    fused_activation: bool = True
    fused_norm: bool = True
    keeps_gathered: bool = False

    def with_modules(self, modules: tuple[str, ...]) -> ActivationOptions:
        """Return the options with these modules recomputed, the same without any."""
        return replace(self, selective=modules) if modules else self


PLAIN_PYTORCH = ActivationOptions(fused_activation=False, fused_norm=False, keeps_gathered=True)
"""Layers written in PyTorch operations, with FlashAttention, that keep what they gathered."""


@dataclass(frozen=True)
class LayerBytes:
    """Bytes per token of one layer. `whole` is not divided without sequence parallelism, `split` is divided by tensor parallelism.

    `key_value` is divided by it up to the number of key-value heads and repeated beyond. `routed` is the part of the routed
    experts per token and layer, `gathered` what their tensor parallelism repeats. `never_split` is whole on every rank.
    """

    whole: float
    split: float
    key_value: float = 0.0
    routed: float = 0.0
    gathered: float = 0.0
    layer_input: float = 0.0
    never_split: float = 0.0


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
    if "alternate_products" in dropped:
        return _alternate_products(shape, wide, moe)
    layer_input = wide * hidden
    if set(ALL_BUT) & set(dropped):
        return _all_but(shape, wide, ATTENTION_PRODUCTS in dropped)
    fused_norm = options.fused_norm or not shape.gated_ffn
    norm_inputs = 2 * (wide + (0.0 if fused_norm else UNFUSED_NORM_BYTES)) * hidden
    norm_outputs = 0.0 if "norm" in dropped else 2 * quantised * hidden
    masks = 2 * MASK_BYTES * hidden if options.dropout else 0.0
    attention, key_value = _attention(shape, wide, sequence_length, options, dropped)
    activation_kept = 0.0 if "activation" in dropped else quantised
    unfused = 0.0 if options.fused_activation or not shape.gated_ffn else wide
    per_width = (2 if shape.gated_ffn else 1) * wide + activation_kept + unfused
    kept_whole = norm_outputs if options.keeps_gathered else 0.0
    whole = norm_inputs + masks + norm_outputs - kept_whole
    if not moe:
        width = 0 if "mlp" in dropped else shape.ffn_size
        return LayerBytes(whole, attention + per_width * width, key_value, layer_input=layer_input, never_split=kept_whole)
    if "moe" in dropped:
        return LayerBytes(whole, attention, key_value, layer_input=layer_input, never_split=kept_whole)
    shared = 0.0 if "shared_experts" in dropped else per_width * shape.shared_expert_ffn_size
    router = FP32_BYTES * shape.experts
    dispatched = shape.experts_per_token * quantised * hidden
    routed = shape.experts_per_token * per_width * shape.expert_ffn_size
    return LayerBytes(whole, attention + shared + router, key_value, routed, dispatched, layer_input, kept_whole)


def _alternate_products(shape: ModelShape, wide: float, moe: bool) -> LayerBytes:
    """Return what stays when every second matrix product is recomputed: queries, values, attention output, up, down, and the input."""
    heads, hidden = shape.attention_heads, shape.hidden_size
    if shape.attention == "mla":
        kept, values = wide * heads * (shape.qk_nope_head_dim + shape.qk_rope_head_dim + shape.v_head_dim), wide * shape.kv_lora_rank
    else:
        kept, values = 2 * wide * heads * shape.head_dim, wide * shape.key_value_heads * shape.head_dim
    kept += FP32_BYTES * heads
    input_and_down = 2 * wide * hidden
    if not moe:
        return LayerBytes(input_and_down, kept + wide * shape.ffn_size, values, layer_input=wide * hidden)
    routed = shape.experts_per_token * wide * (shape.expert_ffn_size + hidden)
    return LayerBytes(input_and_down, kept + wide * shape.shared_expert_ffn_size, values, routed, layer_input=wide * hidden)


def _all_but(shape: ModelShape, wide: float, output: bool) -> LayerBytes:
    """Return what stays of a layer of which a compiler keeps the input, queries, keys and values, and maybe attention's `output`."""
    heads, hidden = shape.attention_heads, shape.hidden_size
    if shape.attention == "mla":
        query = heads * (shape.qk_nope_head_dim + shape.qk_rope_head_dim)
        kept, values = wide * (2 * query + heads * shape.v_head_dim), 0.0
    else:
        kept, values = wide * heads * shape.head_dim, 2 * wide * shape.key_value_heads * shape.head_dim
    return LayerBytes((2 if output else 1) * wide * hidden, kept, values, layer_input=wide * hidden)


def _attention(
    shape: ModelShape, wide: float, sequence_length: int, options: ActivationOptions, dropped: tuple[str, ...]
) -> tuple[float, float]:
    """Return bytes per token of (queries and attention output with the kernel's own part, keys and values that heads share)."""
    heads = shape.attention_heads
    if shape.attention == "mla":
        query = heads * (shape.qk_nope_head_dim + shape.qk_rope_head_dim)
        latents = 2 * shape.q_lora_rank + 2 * shape.kv_lora_rank + shape.qk_rope_head_dim
        output = heads * shape.v_head_dim
        up = 0 if "mla_up_projection" in dropped else 2 * query + output
        tensors, key_value = wide * (latents + up + output), 0.0
    else:
        tensors, key_value = 2 * wide * shape.head_dim * heads, 2 * wide * shape.head_dim * shape.key_value_heads
    if not options.quadratic_attention:
        return tensors + FP32_BYTES * heads, key_value
    if "core_attention" in dropped:
        return tensors, key_value
    softmax = wide * heads * sequence_length
    return tensors + (2 * softmax + MASK_BYTES * heads * sequence_length if options.dropout else softmax), key_value
