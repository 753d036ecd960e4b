"""What recomputing named modules costs: the seconds of a layer that its backward pass makes again.

Products are shared out by the weights that a token passes in each module, since their time goes with them; norms and activation
functions are the layer's elementwise part. What experts exchange is made again with them, which is not counted: Megatron Core can keep it
[Megatron Core, --recompute-modules; arXiv:2603.07685 §4.2].
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalogs.sums import plain_sum
from rules.sizing.memory_activations import ALL_BUT, ATTENTION_PRODUCTS, QUERY_KEY_VALUE
from rules.sizing.parameters import attention_parameters, layer_parameters
from rules.sizing.techniques import UNFUSED

if TYPE_CHECKING:
    from rules.sizing.compute import LayerTime
    from rules.sizing.results import ModelShape
    from rules.sizing.techniques import Techniques

DEFAULT = ("core_attention", "norm", "activation")
"""What selective recomputation drops where nobody names modules, as the memory model has it."""


def repeated_seconds(shape: ModelShape, techniques: Techniques, made: LayerTime, moe: bool, modules: tuple[str, ...]) -> float:
    """Return the seconds that selective recomputation repeats in a layer.

    Without `modules`: attention scores where these go through memory, else norms and activation functions; operator by operator, it
    repeats every other product too [torchtitan, selective activation checkpointing]. Attention that is named is run again, fused or not.
    """
    if not modules:
        if techniques.attention == UNFUSED:
            return made.attention
        return made.elementwise + made.clamped + (made.products / 2 if techniques.every_other_product else 0.0)
    shares = _shares(shape, moe)
    found = made.products * plain_sum(shares.get(module, 0.0) for module in modules)
    found += made.attention if {"core_attention", *ALL_BUT} & set(modules) else 0.0
    found += made.clamped if {"activation", *ALL_BUT} & set(modules) else 0.0
    return found + (made.elementwise if {"norm", "activation", *ALL_BUT} & set(modules) else 0.0)


def _shares(shape: ModelShape, moe: bool) -> dict[str, float]:
    """Return the share of a layer's products in each module, by the weights that a token passes.

    A compiler leaves out of `ALL_BUT` the last product of a feed-forward, whose output the backward pass does not read.
    """
    plain, routed = layer_parameters(shape, moe=moe)
    attention = attention_parameters(shape)
    active = routed * shape.experts_per_token / shape.experts if moe else 0.0
    whole = plain + active
    heads, query = shape.attention_heads, shape.qk_nope_head_dim + shape.qk_rope_head_dim
    up = shape.kv_lora_rank * heads * (shape.qk_nope_head_dim + shape.v_head_dim) + shape.q_lora_rank * heads * query
    feed_forward = (plain - attention - 2 * shape.hidden_size) / whole
    read = (feed_forward + active / whole) * (2 / 3 if shape.gated_ffn else 1 / 2)
    width = shape.v_head_dim if shape.attention == "mla" else shape.head_dim
    return {
        QUERY_KEY_VALUE: read + heads * width * shape.hidden_size / whole,
        ATTENTION_PRODUCTS: read,
        "mlp": 0.0 if moe else feed_forward,
        "shared_experts": feed_forward if moe else 0.0,
        "moe": active / whole,
        "mla_up_projection": up / whole if shape.attention == "mla" else 0.0,
    }
