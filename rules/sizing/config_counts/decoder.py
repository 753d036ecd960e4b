"""Counts a decoder from its family's traits: embeddings, layers, norms, head, and the layers that predict further tokens."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rules.sizing.config_counts.attention import ATTENTION
from rules.sizing.config_counts.extras import EXTRAS
from rules.sizing.config_counts.feed_forward import dense, experts
from rules.sizing.config_counts.layers import Layer, lay_out
from rules.sizing.config_counts.prepare import PREPARE
from rules.sizing.config_counts.reader import CONTEXT, HIDDEN, MTP_LAYERS, VOCABULARY, Reader
from rules.sizing.config_counts.recurrent import RECURRENT
from rules.sizing.config_counts.tally import Tally, linear

if TYPE_CHECKING:
    from rules.sizing.config_counts.family import Family

NORM_WEIGHTS = {"rms": 1, "layer_no_bias": 1, "layer": 2, "none": 0}


@dataclass(frozen=True)
class Decoder:
    """A decoder being counted: its keys, traits, width, layers, and the sequence length in tokens."""

    reader: Reader
    family: Family
    hidden: int
    layers: tuple[Layer, ...]
    sequence_length: int
    tied: bool

    @property
    def norm(self) -> int:
        """Return the parameters of one norm over the model's width."""
        return NORM_WEIGHTS[self.family.norm] * self.hidden


def open_decoder(reader: Reader, family: Family, sequence_length: int, tied: bool | None = None) -> Decoder:
    """Return the decoder of a configuration, its keys in the common form; raises ConfigError."""
    table = {**family.constants, **{key: value for key, value in reader.table.items() if value is not None}}
    common = Reader(table, reader.defaults, reader.path, reader.strict)
    if family.prepare:
        common.table = {**table, **PREPARE[family.prepare](common)}
    if tied is None:
        tied = common.flag("tie_word_embeddings", family.tied)
    common.assumed = reader.assumed
    return Decoder(common, family, common.essential(*HIDDEN), tuple(lay_out(common, family)), sequence_length, tied)


def _of_layer(decoder: Decoder, layer: Layer) -> Decoder:
    """Return the decoder with the keys that per_layer_config gives this layer alone (its keys are layer numbers)."""
    table = decoder.reader.table.get("per_layer_config")
    if not isinstance(table, dict):
        return decoder
    own = next((value for key, value in table.items() if key.isdecimal() and int(key) == layer.index), None)
    if not isinstance(own, dict):
        return decoder
    keys = {**decoder.reader.table, **own, "global_head_dim": None, "num_global_key_value_heads": None}
    return replace(decoder, reader=Reader(keys, decoder.reader.defaults, decoder.reader.path, decoder.reader.strict))


def count_layer(decoder: Decoder, layer: Layer, tally: Tally) -> None:
    """Add one layer: what mixes tokens, the feed-forward, the norms."""
    decoder = _of_layer(decoder, layer)
    for mixer in layer.mixers:
        if mixer == "attention":
            ATTENTION[decoder.family.attention](decoder, layer, tally)
        else:
            RECURRENT[mixer](decoder, tally)
    if layer.feed == "dense":
        dense(decoder, layer, tally)
    elif layer.feed == "experts":
        experts(decoder, layer, tally)
    norms = decoder.reader.count("layer_norms", default=decoder.family.layer_norms)
    tally.add("norms", norms * decoder.norm)


def count_decoder(decoder: Decoder) -> Tally:
    """Return the count of a decoder without its prediction layers; raises ConfigError where a key is missing or impossible."""
    reader, family, tally = decoder.reader, decoder.family, Tally()
    rows, width = reader.essential(*VOCABULARY), reader.count("word_embed_proj_dim", default=decoder.hidden)
    tally.look_up("embedding", rows * width)
    if family.positions:
        tally.look_up("embedding", (reader.count(*CONTEXT) + family.position_offset) * decoder.hidden)
    if family.embedding_norm:
        tally.add("norms", decoder.norm)
    for layer in decoder.layers:
        count_layer(decoder, layer, tally)
    if family.extras in EXTRAS:
        EXTRAS[family.extras](decoder, tally)
    if reader.switch(family.final_norm):
        tally.add("norms", decoder.norm)
    if decoder.tied:
        tally.tied_head = rows * width
    else:
        tally.add("head", linear(width, rows, reader.switch(family.head_bias)))
    return tally


def count_prediction(decoder: Decoder) -> int:
    """Return the parameters of the multi-token-prediction layers, without copies of embedding and head.

    Each is one more layer like the last, a projection of the hidden state and the embedding joined (2h onto h), and three norms
    [DeepSeek-V3, arXiv:2412.19437 §2.2]. Nemotron 3 predicts with an attention and an expert block of its own.
    """
    reader, hidden = decoder.reader, decoder.hidden
    modules = reader.optional("num_mtp_modules") if reader.flag("use_mtp") else 0
    number = reader.optional(*MTP_LAYERS) or modules * reader.count("mtp_transformer_layers", default=1)
    if not number:
        return 0
    tally, last = Tally(), decoder.layers[-1]
    if decoder.family.plan == "nemotron_h":
        kinds = reader.sequence("mtp_layers_block_type") or ["attention", "moe"]
        for kind in kinds:
            attention = kind in ("attention", "full_attention")
            count_layer(decoder, Layer(last.index, ("attention",) if attention else (), "none" if attention else "experts"), tally)
    else:
        count_layer(decoder, replace(last, mixers=("attention",), window=0, ratio=0, own_index=True), tally)
    joined = 2 * hidden * hidden
    tally.add("norms", 3 * decoder.norm)
    if decoder.family.extras == "hyper_connections":
        one = Tally()
        EXTRAS["hyper_connections"](replace(decoder, layers=decoder.layers[-1:]), one)
        tally.add("other", one.total)
    return number * (tally.total + joined)
