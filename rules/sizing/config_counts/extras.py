"""What single families have beside attention and feed-forward: per-layer embeddings, hyper-connections, residual gates.

Source: the modelling code of each family in Hugging Face transformers 5.24.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rules.sizing.config_counts.attention import ATTENTION, head_width
from rules.sizing.config_counts.feed_forward import block
from rules.sizing.config_counts.reader import VOCABULARY

if TYPE_CHECKING:
    from collections.abc import Callable

    from rules.sizing.config_counts.decoder import Decoder
    from rules.sizing.config_counts.tally import Tally

HYPER_SCALES = 3
"""Learned scales of one hyper-connection: what is read, written and mixed [transformers, DeepseekV4HyperConnection]."""
IMAGE_ROWS = 8
"""Rows of the embedding beyond the vocabulary in Llama 3.2 Vision [transformers, MllamaTextModel]."""
ALTERNATIVES = 4
"""Copies of the residual stream in Gemma 3n where the file does not say [transformers, Gemma3nTextConfig.altup_num_inputs]."""


def _opt(decoder: Decoder, tally: Tally) -> None:
    """Small embeddings are projected to the model's width and back."""
    width = decoder.reader.count("word_embed_proj_dim", default=decoder.hidden)
    if width != decoder.hidden:
        tally.add("other", 2 * width * decoder.hidden)


def _per_layer_inputs(decoder: Decoder, tally: Tally) -> None:
    """A second, narrow embedding for every layer, gated in and projected to the model's width."""
    reader, hidden, layers = decoder.reader, decoder.hidden, len(decoder.layers)
    width = reader.optional("hidden_size_per_layer_input")
    if not width:
        return
    rows = reader.count("vocab_size_per_layer_input", default=reader.count(*VOCABULARY))
    tally.look_up("embedding", rows * layers * width)
    tally.add("other", hidden * layers * width + width + layers * (2 * hidden * width + hidden))


def _gemma4(decoder: Decoder, tally: Tally) -> None:
    """A scale per layer; with experts, a dense block stays beside them, with a router that scales and three more norms."""
    hidden = decoder.hidden
    _per_layer_inputs(decoder, tally)
    tally.add("other", len(decoder.layers))
    if not decoder.reader.flag("enable_moe_block"):
        return
    for layer in decoder.layers:
        tally.add("dense_ffn", block(hidden, decoder.reader.at(layer.index, "intermediate_size"), True))
        tally.add("shared_experts_and_router", hidden + decoder.reader.count("num_experts") + 3 * hidden)


def _gemma3n(decoder: Decoder, tally: Tally) -> None:
    """Alternating updates of several residual streams and a low-rank residual beside attention."""
    reader, hidden, layers = decoder.reader, decoder.hidden, len(decoder.layers)
    _per_layer_inputs(decoder, tally)
    streams, rank = reader.count("altup_num_inputs", default=ALTERNATIVES), reader.count("laurel_rank")
    each = streams * streams + streams**3 + streams * hidden + 2 * hidden + 2 * rank * hidden + hidden
    tally.add("other", layers * each + 2 * (streams - 1) * hidden * hidden)


def _hyper_connections(decoder: Decoder, tally: Tally) -> None:
    """Several residual streams, read, written and mixed by learned maps around attention and around the feed-forward."""
    streams, hidden = decoder.reader.count("hc_mult"), decoder.hidden
    outputs = (2 + streams) * streams
    tally.add("other", len(decoder.layers) * 2 * (outputs * streams * hidden + outputs + HYPER_SCALES))
    tally.add("other", streams * streams * hidden + streams + 1)


def _apertus(decoder: Decoder, tally: Tally) -> None:
    """The activation has two learned values per layer."""
    tally.add("other", 2 * len(decoder.layers))


def _diffllama(decoder: Decoder, tally: Tally) -> None:
    """Four vectors per layer weigh the two attention maps that are subtracted."""
    tally.add(
        "other",
        4 * decoder.reader.count("head_dim", default=decoder.hidden // decoder.reader.count("num_attention_heads")) * len(decoder.layers),
    )


def _muse_spark(decoder: Decoder, tally: Tally) -> None:
    """Two norms around the narrow experts, two residual gates per layer."""
    tally.add("other", len(decoder.layers) * 2 * (decoder.reader.count("moe_hidden_size") + decoder.hidden))


def _longcat(decoder: Decoder, tally: Tally) -> None:
    """Each layer holds a second attention block and two dense feed-forward blocks beside the experts."""
    width = decoder.reader.count("ffn_hidden_size")
    for layer in decoder.layers:
        ATTENTION[decoder.family.attention](decoder, layer, tally)
        tally.add("dense_ffn", 2 * block(decoder.hidden, width, True))


def _cross_attention(decoder: Decoder, tally: Tally) -> None:
    """Layers that attend to the image have norms of queries and keys and two gates; the embedding has rows for image tokens."""
    reader = decoder.reader
    crossed = len(reader.sequence("cross_attention_layers") or ())
    tally.add("norms", crossed * (2 * head_width(decoder) + 2))
    tally.look_up("embedding", IMAGE_ROWS * decoder.hidden)


def _shared_everywhere(decoder: Decoder, tally: Tally) -> None:
    """The shared block of Granite 4 stands in every layer, also where there are no experts."""
    width = decoder.reader.count("shared_intermediate_size")
    tally.add("shared_experts_and_router", len(decoder.layers) * block(decoder.hidden, width, True))


EXTRAS: dict[str, Callable[[Decoder, Tally], None]] = {
    "opt": _opt, "gemma4": _gemma4, "gemma3n": _gemma3n, "hyper_connections": _hyper_connections, "apertus": _apertus,
    "diffllama": _diffllama, "muse_spark": _muse_spark, "longcat": _longcat, "shared_everywhere": _shared_everywhere,
    "cross_attention": _cross_attention,
}  # fmt: skip
