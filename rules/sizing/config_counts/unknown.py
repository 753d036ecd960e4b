"""What to do with a model_type that is in no table: count it as a standard decoder, said loudly, or refuse it by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rules.sizing.config_counts.family import Family
from rules.sizing.config_counts.reader import EXPERTS, FEED_FORWARD, HEADS, HIDDEN, LAYERS, VOCABULARY, UnsupportedModelError
from rules.sizing.config_counts.refused import STATE_KEYS, TOWER_KEYS

if TYPE_CHECKING:
    from collections.abc import Mapping

GATED_ACTIVATIONS = ("silu", "swish", "swiglu", "geglu", "gelu_pytorch_tanh")
"""Activations of gated feed-forward blocks in every family of the tables that has been published since 2023."""


def unknown_family(kind: str, config: Mapping[str, Any], notes: list[str]) -> Family:
    """Return the traits of a decoder told by its keys; raises UnsupportedModelError where it does not look like a standard one."""
    odd = [key for key in (*STATE_KEYS, *TOWER_KEYS) if config.get(key)]
    if odd:
        what = "models inside the model" if odd[0] in TOWER_KEYS else "layers other than attention"
        raise UnsupportedModelError(f"model_type {kind!r} is not known, and {odd[0]!r} tells of {what}; such a model is not counted")
    if config.get("is_encoder_decoder") is True:
        raise UnsupportedModelError(f"model_type {kind!r} is not known and is an encoder-decoder; it is not counted")
    for names in (HIDDEN, LAYERS, HEADS, VOCABULARY, (*FEED_FORWARD, "moe_intermediate_size")):
        if all(config.get(name) is None for name in names):
            raise UnsupportedModelError(
                f"model_type {kind!r} is not known, and without {names[0]!r} it is no standard decoder; it is not counted"
            )
    activation = config.get("hidden_act") or config.get("hidden_activation") or config.get("activation_function") or "silu"
    latent = isinstance(config.get("kv_lora_rank"), int)
    routed = any(config.get(name) for name in EXPERTS)
    gated = activation in GATED_ACTIVATIONS
    notes.append(
        f"CAUTION: model_type {kind!r} is not known; counted as a standard decoder with RMS norms, "
        f"{'latent' if latent else 'grouped-query'} attention, {'gated' if gated else 'ungated'} feed-forward"
        f"{', routed experts' if routed else ''}; norms and biases of its own may be missing"
    )
    return Family(
        "unknown, counted as a standard decoder",
        (kind,),
        gated=gated,
        attention="latent" if latent else "grouped",
        query_key_value_bias="qkv_bias" if config.get("qkv_bias") is not None else "attention_bias",
        output_bias="attention_bias",
        feed_forward_bias="mlp_bias",
        query_key_norm="head",
        query_key_norm_if="use_qk_norm",
        correction_bias=config.get("topk_method") == "noaux_tc",
    )
