"""What sets one family of models apart in counting: a row of traits, read by the generic counter."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

Switch = bool | str
"""A trait that is fixed, or the key of the configuration that turns it on."""


@dataclass(frozen=True)
class Family:
    """Traits of a decoder family. Key names stand for "as this key of the configuration says".

    `norm`: rms or layer_no_bias (one weight per feature), layer (weight and bias), none. `layer_norms`: norms of the model's width
    per layer. `query_key_norm`: head (one weight per feature of a head), head_layer (with bias), each_head (a vector per head),
    full (over the whole width); counted where `query_key_norm_if` holds. `gate`: query (query projection doubled) or full
    (a further projection). `attention`: grouped, latent (MLA) or one of the special kinds of attention.py. `linear_mixer` is what
    a layer of type linear_attention is. `window_every`: every n-th layer sees everything, the others the window; 0: all have it.
    `plan`: how layers are laid out, see layers.py. `prepare`: which function of prepare.py brings the keys into the common form.
    """

    name: str
    model_types: tuple[str, ...]
    norm: str = "rms"
    layer_norms: int = 2
    final_norm: Switch = True
    embedding_norm: bool = False
    gated: bool = True
    query_key_value_bias: Switch = False
    output_bias: Switch = False
    feed_forward_bias: Switch = False
    head_bias: Switch = False
    query_key_norm: str = ""
    query_key_norm_if: Switch = True
    gate: str = ""
    sinks: Switch = False
    attention: str = "grouped"
    positions: bool = False
    position_offset: int = 0
    tied: bool = False
    linear_mixer: str = ""
    plan: str = "uniform"
    window_every: int = 0
    router_bias: Switch = False
    correction_bias: Switch = False
    expert_bias: Switch = False
    shared_gate: bool = False
    expert_width: tuple[str, ...] = ("moe_intermediate_size", "expert_ffn_hidden_size", "intermediate_size")
    dense_width: tuple[str, ...] = ()
    every_layer_experts: bool = True
    prepare: str = ""
    extras: str = ""
    text_of: str = ""
    constants: Mapping[str, Any] = field(default_factory=dict)
    note: str = ""
