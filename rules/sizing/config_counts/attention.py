"""Weights of one attention block by kind, and the operations of its scores.

Sources: multi-head and grouped-query attention [Ainslie 2023, arXiv:2305.13245]; latent attention [DeepSeek-V2, arXiv:2405.04434
§2.1]; the sparse-attention indexer [DeepSeek-V3.2, arXiv:2512.02556 §2]; compressed attention of DeepSeek-V4 and the other
kinds from their modelling code in Hugging Face transformers 5.24.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rules.sizing.config_counts.reader import HEAD_DIM, HEADS, KEY_VALUE_HEADS, ConfigError
from rules.sizing.config_counts.tally import Tally, linear, seen_tokens

if TYPE_CHECKING:
    from collections.abc import Callable

    from rules.sizing.config_counts.decoder import Decoder
    from rules.sizing.config_counts.layers import Layer

GEMMA4_WIDE_HEAD = 512
"""Width of a head in layers that see everything, where the file does not say [transformers, Gemma4TextConfig]."""
NEAR_GROUPS = 2
"""Layers with a window have twice the key-value heads in MiMo-V2, where the file does not say [transformers, MiMoV2FlashAttention]."""
OPERATIONS_PER_MULTIPLY_ADD = 2
"""A multiply-add is counted as two operations [Narayanan 2021, arXiv:2104.04473]."""


def head_width(decoder: Decoder) -> int:
    """Return the width of a head: as stated, else the model's width over the heads."""
    reader, heads = decoder.reader, decoder.reader.essential(*HEADS)
    if reader.raw(*HEAD_DIM)[1] is not None:
        return reader.count(*HEAD_DIM)
    if decoder.hidden % heads:
        raise ConfigError(
            f"{reader.path}head_dim: missing, and hidden_size {decoder.hidden} is no multiple of {heads} heads; give it or correct either"
        )
    return decoder.hidden // heads


def key_value_heads(decoder: Decoder, heads: int) -> int:
    """Return the key-value heads, as many as heads where nothing is said; raises ConfigError where heads cannot share them."""
    reader = decoder.reader
    stated = reader.stated(*KEY_VALUE_HEADS)
    groups = reader.count(*KEY_VALUE_HEADS, default=heads)
    if heads % groups:
        if not stated:
            return heads
        raise ConfigError(
            f"{reader.path}num_key_value_heads: {heads} heads cannot share {groups} key-value heads; expected a divisor of them"
        )
    return groups


def score_operations(decoder: Decoder, layer: Layer, heads: int, key_width: int, value_width: int, limit: int = 0) -> float:
    """Return the forward operations per token of `QKᵀ` and of the weights times `V`; `limit`: keys that a sparse index selects."""
    length = decoder.sequence_length
    seen = seen_tokens(length, limit or layer.window)
    if layer.chunk and layer.chunk < length:
        seen = seen_tokens(layer.chunk)
    return OPERATIONS_PER_MULTIPLY_ADD * heads * (key_width + value_width) * seen


def _norms(decoder: Decoder, heads: int, groups: int, width: int) -> int:
    """Return the weights of the norms of queries and keys."""
    family = decoder.family
    if not family.query_key_norm or not decoder.reader.switch(family.query_key_norm_if):
        return 0
    per_head = {"head": 2 * width, "head_layer": 4 * width}
    return per_head.get(family.query_key_norm, (heads + groups) * width)


def _grouped(decoder: Decoder, layer: Layer, tally: Tally) -> None:
    reader, family, hidden = decoder.reader, decoder.family, decoder.hidden
    heads = reader.essential(*HEADS)
    groups, width = key_value_heads(decoder, heads), head_width(decoder)
    bias = reader.switch(family.query_key_value_bias)
    queries = heads * width * (2 if family.gate == "query" else 1)
    weights = linear(hidden, queries + 2 * groups * width, bias) + linear(heads * width, hidden, reader.switch(family.output_bias))
    weights += hidden * heads * width if family.gate == "full" else 0
    weights += heads if reader.switch(family.sinks) else 0
    tally.add("attention", weights + _norms(decoder, heads, groups, width))
    limit = block_index(decoder, layer, tally) if family.extras == "block_indexer" else 0
    tally.operations += score_operations(decoder, layer, heads, width, width, limit)


def _latent(decoder: Decoder, layer: Layer, tally: Tally) -> None:
    """Multi-head latent attention: queries and key-values pass a low-rank latent, with a rotary part beside it."""
    reader, hidden = decoder.reader, decoder.hidden
    heads, query_rank, rank = reader.essential(*HEADS), reader.optional("q_lora_rank"), reader.count("kv_lora_rank")
    rotary, plain = reader.count("qk_rope_head_dim"), reader.count("qk_nope_head_dim")
    value = reader.count("v_head_dim")
    bias = reader.switch(decoder.family.output_bias)
    width = heads * (rotary + plain)
    query = linear(hidden, query_rank, bias) + query_rank + query_rank * width if query_rank else hidden * width
    latent = linear(hidden, rank + rotary, bias) + rank + rank * heads * (plain + value)
    tally.add("attention", query + latent + linear(heads * value, hidden, bias))
    limit = _indexer(decoder, layer, tally) if decoder.family.extras == "indexer" else 0
    tally.operations += score_operations(decoder, layer, heads, rotary + plain, value, limit)


def _indexer(decoder: Decoder, layer: Layer, tally: Tally) -> int:
    """The lightning indexer of sparse attention: scores every key cheaply; attention sees the best ones. Some layers reuse another's."""
    reader = decoder.reader
    limit = reader.count("index_topk")
    kinds = reader.sequence("indexer_types")
    if kinds is not None and not layer.own_index and layer.index < len(kinds) and kinds[layer.index] == "shared":
        return limit
    heads, width = reader.count("index_n_heads"), reader.count("index_head_dim")
    query_rank = reader.count("q_lora_rank")
    tally.add("attention", query_rank * heads * width + decoder.hidden * (width + heads) + 2 * width)
    tally.operations += OPERATIONS_PER_MULTIPLY_ADD * heads * width * seen_tokens(decoder.sequence_length)
    return limit


def block_index(decoder: Decoder, layer: Layer, tally: Tally) -> int:
    """The block indexer of MiniMax-M3 on the layers that have sparse attention; returns how many keys attention then sees."""
    reader = decoder.reader
    marks, kinds = reader.sequence("index_layers"), reader.sequence("layer_types")
    if marks is not None and layer.index < len(marks):
        sparse = bool(marks[layer.index])
    else:
        sparse = kinds is not None and kinds[layer.index] == "minimax_m3_sparse"
    if not sparse:
        return 0
    heads, width = reader.count("index_n_heads"), reader.count("index_head_dim")
    tally.add("attention", decoder.hidden * (heads + 1) * width + 2 * width)
    tally.operations += OPERATIONS_PER_MULTIPLY_ADD * heads * width * seen_tokens(decoder.sequence_length)
    return reader.optional("index_topk") or reader.count("index_topk_blocks") * reader.count("index_block_size")


def _split_values(decoder: Decoder, layer: Layer, tally: Tally) -> None:
    """Values narrower than keys, and other heads in layers with a window (MiMo-V2)."""
    reader, hidden = decoder.reader, decoder.hidden
    near = bool(layer.window)
    pick = "swa_" if near else ""
    heads = reader.optional(f"{pick}num_attention_heads") or reader.essential(*HEADS)
    groups = reader.optional(f"{pick}num_key_value_heads") or reader.count(*KEY_VALUE_HEADS) * (NEAR_GROUPS if near else 1)
    key = reader.optional(f"{pick}head_dim") or reader.count("head_dim")
    value = reader.optional(f"{pick}v_head_dim") or reader.optional("v_head_dim") or key
    bias = reader.switch(decoder.family.query_key_value_bias)
    weights = linear(hidden, heads * key + groups * (key + value), bias) + heads * value * hidden
    weights += heads if reader.flag("add_swa_attention_sink_bias" if near else "add_full_attention_sink_bias", near) else 0
    tally.add("attention", weights)
    tally.operations += score_operations(decoder, layer, heads, key, value)


def _gemma4(decoder: Decoder, layer: Layer, tally: Tally) -> None:
    """Wider heads in layers that see everything, whose keys may serve as values; late layers may reuse earlier keys and values."""
    reader, hidden = decoder.reader, decoder.hidden
    heads, groups, width = reader.essential(*HEADS), reader.count(*KEY_VALUE_HEADS), reader.count("head_dim")
    copies = 2
    if not layer.window and decoder.family.name == "Gemma 4":
        width = reader.count("global_head_dim", default=width if reader.stated("per_layer_config") else GEMMA4_WIDE_HEAD)
        if reader.flag("attention_k_eq_v"):
            groups, copies = reader.optional("num_global_key_value_heads") or groups, 1
    shared = layer.index >= len(decoder.layers) - reader.optional("num_kv_shared_layers")
    weights = 2 * hidden * heads * width + width
    weights += 0 if shared else copies * hidden * groups * width + width
    tally.add("attention", weights)
    tally.operations += score_operations(decoder, layer, heads, width, width)


def _compressed(decoder: Decoder, layer: Layer, tally: Tally) -> None:
    """DeepSeek-V4: one shared key-value head, low-rank queries and outputs, keys beyond the window compressed by a ratio."""
    reader, hidden, ratio = decoder.reader, decoder.hidden, layer.ratio
    heads, width, query_rank = reader.essential(*HEADS), reader.count("head_dim"), reader.count("q_lora_rank")
    groups, output_rank = reader.count("o_groups"), reader.count("o_lora_rank")
    weights = heads + hidden * query_rank + query_rank + query_rank * heads * width + hidden * width + width
    weights += heads * width * output_rank + groups * output_rank * hidden
    seen = seen_tokens(decoder.sequence_length, layer.window)
    if ratio:
        copies = 2 if ratio < 128 else 1
        weights += copies * (2 * hidden * width + ratio * width) + width
        entries = seen_tokens(decoder.sequence_length) / ratio
        if copies == 2:
            index_heads, index_width = reader.count("index_n_heads"), reader.count("index_head_dim")
            weights += copies * (2 * hidden * index_width + ratio * index_width) + index_width
            weights += query_rank * index_heads * index_width + hidden * index_heads
            tally.operations += OPERATIONS_PER_MULTIPLY_ADD * index_heads * index_width * entries
            entries = min(entries, reader.count("index_topk"))
        seen += entries
    tally.add("attention", weights)
    tally.operations += OPERATIONS_PER_MULTIPLY_ADD * heads * 2 * width * seen


ATTENTION: dict[str, Callable[[Decoder, Layer, Tally], None]] = {
    "grouped": _grouped, "latent": _latent, "split_values": _split_values, "gemma4": _gemma4, "compressed": _compressed,
}  # fmt: skip
