"""Weights of feed-forward blocks: dense ones, and routers with their routed and shared experts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rules.sizing.config_counts.reader import EXPERTS, EXPERTS_PER_TOKEN, FEED_FORWARD, SHARED_EXPERTS, ConfigError
from rules.sizing.config_counts.tally import Tally, linear

if TYPE_CHECKING:
    from rules.sizing.config_counts.decoder import Decoder
    from rules.sizing.config_counts.layers import Layer

UNGATED_RATIO = 4
"""Feed-forward width over model width where nothing is said, of the GPT lineage [Radford 2019; transformers, GPT2Config.n_inner]."""


def block(width_in: int, width: int, gated: bool, bias: bool = False) -> int:
    """Return the parameters of one feed-forward block: three matrices where gated, else two."""
    up = linear(width_in, width, bias)
    return (2 * up if gated else up) + linear(width, width_in, bias)


def dense_width(decoder: Decoder, layer: Layer) -> int:
    """Return the width of a dense feed-forward block; raises ConfigError where it is missing and no custom says it."""
    reader, family = decoder.reader, decoder.family
    names = (*family.dense_width, *FEED_FORWARD)
    if reader.raw(*names)[1] is None and not family.gated:
        return UNGATED_RATIO * decoder.hidden
    return reader.at(layer.index, *names)


def dense(decoder: Decoder, layer: Layer, tally: Tally) -> None:
    """Add one dense feed-forward block; Gemma 4 doubles its width in layers that reuse keys and values where the file says so."""
    reader, width = decoder.reader, dense_width(decoder, layer)
    late = layer.index >= len(decoder.layers) - reader.optional("num_kv_shared_layers")
    if late and reader.flag("use_double_wide_mlp"):
        width *= 2
    tally.add("dense_ffn", block(decoder.hidden, width, decoder.family.gated, reader.switch(decoder.family.feed_forward_bias)))


@dataclass(frozen=True)
class Experts:
    """The routed experts of one layer."""

    number: int
    per_token: int
    width: int
    width_in: int


def experts_of(decoder: Decoder, layer: Layer) -> Experts:
    """Return the routed experts of a layer; raises ConfigError where a token would visit more experts than there are."""
    reader = decoder.reader
    number = reader.at(layer.index, *EXPERTS)
    per_token = reader.at(layer.index, *EXPERTS_PER_TOKEN)
    if per_token > number:
        raise ConfigError(f"{reader.path}{reader.raw(*EXPERTS_PER_TOKEN)[0]}: a token cannot visit {per_token} of {number} experts")
    width = reader.at(layer.index, *_width_keys(decoder))
    latent = reader.optional("moe_latent_size", "moe_hidden_size")
    return Experts(number, per_token, width, latent or decoder.hidden)


def _width_keys(decoder: Decoder) -> tuple[str, ...]:
    """Return the keys of the experts' width: the class's default of a key of their own stands before the width of dense layers."""
    reader, family = decoder.reader, decoder.family
    own = tuple(key for key in family.expert_width if key not in FEED_FORWARD)
    if any(reader.stated(key) or reader.defaults.get(key) is not None for key in own):
        return own
    return *family.expert_width, *FEED_FORWARD


def shared_width(decoder: Decoder, expert_width: int) -> int:
    """Return the width of all shared experts together, by whichever key the configuration has; 0 for none."""
    reader = decoder.reader
    for key in ("shared_expert_intermediate_size", "moe_shared_expert_intermediate_size", "shared_intermediate_size"):
        if reader.raw(key)[1] is not None:
            return reader.optional(key)
    name, value = reader.raw(*SHARED_EXPERTS)
    number = reader.at(0, name) if isinstance(value, list) else reader.optional(*SHARED_EXPERTS)
    return number * expert_width


def experts(decoder: Decoder, layer: Layer, tally: Tally) -> None:
    """Add the router, the routed and the shared experts of one layer."""
    reader, family, hidden = decoder.reader, decoder.family, decoder.hidden
    routed = experts_of(decoder, layer)
    bias = reader.switch(family.feed_forward_bias)
    one = block(routed.width_in, routed.width, family.gated, bias)
    if reader.switch(family.expert_bias):
        one += 2 * routed.width + routed.width_in
    tally.add("routed_experts", routed.number * one)
    tally.idle += (routed.number - routed.per_token) * one
    outputs = reader.optional("router_outputs") or routed.number
    other = linear(hidden, outputs, reader.switch(family.router_bias))
    hashed = layer.index < reader.optional("num_hash_layers")
    other += outputs if reader.switch(family.correction_bias) and not hashed else 0
    other += 2 * hidden * routed.width_in if routed.width_in != hidden else 0
    shared = 0 if reader.flag("shared_on_all_layers") else shared_width(decoder, routed.width)
    if shared:
        other += block(hidden, shared, family.gated, bias) + (hidden if family.shared_gate else 0)
    tally.add("shared_experts_and_router", other)
