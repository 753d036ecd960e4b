"""Counts encoders, encoder-decoders and pairs of towers: BERT, ViT, DINOv2, CLIP, SigLIP, T5, Whisper, BART.

Source: the modelling code of each in Hugging Face transformers 5.24. Attention in an encoder is not causal. FLOPs are per token of a
whole sample (patches of the image, tokens of the text, frames of the sound together), since the parts see different tokens.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rules.sizing.config_counts.attention import OPERATIONS_PER_MULTIPLY_ADD
from rules.sizing.config_counts.feed_forward import UNGATED_RATIO, block
from rules.sizing.config_counts.reader import HEAD_DIM, HIDDEN, VOCABULARY, Reader
from rules.sizing.config_counts.tally import Tally, linear
from rules.sizing.config_counts.towers import TOWERS, layer, patch_weights, patches

if TYPE_CHECKING:
    from collections.abc import Callable

CONVOLUTION_WIDTH = 3
"""Kernel of the two convolutions before Whisper's encoder [Radford 2022, arXiv:2212.04356 §2.2]."""
DISTANCES = 32
"""Buckets of relative distance in T5, where the file does not say [Raffel 2019, arXiv:1910.10683 §2.1]."""
MASKED_BIAS_OFFSET = 2
"""Rows before the first position in RoBERTa and BART."""


@dataclass(frozen=True)
class Encoded:
    """The count of a model that is no decoder: parameters, forward operations of one sample, and the tokens of that sample."""

    name: str
    tally: Tally
    forward_operations: float
    tokens: int
    note: str


def _sample(weights: int, width: int, layers: int, tokens: int) -> float:
    """Return the forward operations of a sample through layers that see everything: weights and the two score products."""
    return OPERATIONS_PER_MULTIPLY_ADD * tokens * (weights + layers * 2 * width * tokens)


def _bert(reader: Reader, length: int) -> Encoded:
    """BERT and its kin, as the model without a task's head, its pooler included."""
    kind = reader.text("model_type")
    width, layers = reader.essential(*HIDDEN), reader.layers()
    ffn = reader.count("intermediate_size", "hidden_dim", default=UNGATED_RATIO * width)
    narrow = reader.count("embedding_size", default=width)
    tally = Tally()
    tally.look_up("embedding", (reader.essential(*VOCABULARY) + reader.count("max_position_embeddings")) * narrow)
    if kind != "distilbert":
        tally.look_up("embedding", reader.count("type_vocab_size") * narrow)
    tally.add("norms", 2 * narrow)
    if narrow != width:
        tally.add("other", linear(narrow, width, True))
    tally.add("layers", layers * layer(width, ffn, norm=2))
    if kind in ("bert", "roberta", "xlm-roberta", "camembert"):
        tally.add("pooler", linear(width, width, True))
    length = min(length, reader.count("max_position_embeddings"))
    forward = _sample(tally.multiplied, width, layers, length)
    return Encoded("BERT and its kin", tally, forward, length, "the model without a task's head; its pooler is counted")


def _vit(reader: Reader, _length: int) -> Encoded:
    """ViT as a backbone: patches, class token, positions, layers and final norm; no head, no pooler."""
    kind = reader.text("model_type")
    width, layers = reader.essential(*HIDDEN), reader.layers()
    extra = 2 if kind == "deit" else 1
    tokens = patches(reader) + extra
    ffn, gated = reader.count("intermediate_size", default=UNGATED_RATIO * width), False
    tally = Tally()
    tally.add("embedding", patch_weights(reader, True) + (tokens + extra) * width)
    one = 0
    if kind in ("dinov2", "dinov2_with_registers"):
        ffn, gated = round(reader.number("mlp_ratio", UNGATED_RATIO) * width), reader.flag("use_swiglu_ffn")
        if gated:
            ffn = (int(ffn * 2 / 3) + 7) // 8 * 8
        one = 2 * width
        registers = reader.count("num_register_tokens", default=4) if kind == "dinov2_with_registers" else 0
        tally.add("embedding", width * (1 + registers) if reader.flag("use_mask_token", True) else width * registers)
    tally.add("layers", layers * (one + layer(width, ffn, norm=2, gated=gated, bias=reader.flag("qkv_bias", True), output_bias=True)))
    tally.add("norms", 2 * width)
    return Encoded("Vision transformer", tally, _sample(tally.total - (tokens + extra) * width, width, layers, tokens), tokens,
                   "the backbone alone, without a classifier's head or a pooler; a token is a patch")  # fmt: skip


def _pair(reader: Reader, _length: int) -> Encoded:
    """CLIP and SigLIP: a text and an image tower with their projections and the learned temperature."""
    siglip = reader.text("model_type").startswith("siglip")
    text, vision = reader.nested("text_config", reader.defaults.get("text")), reader.nested("vision_config", reader.defaults.get("vision"))
    width, layers, ffn = text.count(*HIDDEN), text.layers(), text.count("intermediate_size")
    tally = Tally()
    context = text.count("max_position_embeddings")
    tally.look_up("embedding", (text.count(*VOCABULARY) + context) * width)
    body = layers * layer(width, ffn, norm=2) + 2 * width
    image = TOWERS["siglip_vision_model" if siglip else "clip_vision_model"](vision, 0)
    image_width, image_layers, tokens = vision.count(*HIDDEN), vision.layers(), patches(vision) + (0 if siglip else 1)
    tally.separate("vision", image)
    if siglip:
        body += linear(width, text.count("projection_size", default=width), True)
        tally.add("other", 2)
    else:
        shared = reader.count("projection_dim", default=512)
        tally.add("other", shared * (width + image_width) + 1)
    tally.add("layers", body)
    forward = _sample(body, width, layers, context) + _sample(image, image_width, image_layers, tokens)
    note = "FLOPs per token of a pair: all patches of the image and a full text"
    return Encoded("SigLIP" if siglip else "CLIP", tally, forward, tokens + context, note)


def _t5(reader: Reader, length: int) -> Encoded:
    width, layers = reader.essential("d_model"), reader.layers("num_layers")
    later = reader.count("num_decoder_layers", default=layers)
    heads, ffn = reader.essential("num_heads"), reader.essential("d_ff")
    head = reader.count(*HEAD_DIM, default=width // heads)
    kind, projection = reader.text("model_type"), reader.text("feed_forward_proj", "relu")
    gated = projection.startswith("gated")
    attention, feed = 4 * width * heads * head, block(width, ffn, gated)
    distances = reader.count("relative_attention_num_buckets", default=DISTANCES) * heads
    rows = reader.essential(*VOCABULARY)
    tally = Tally()
    tally.look_up("embedding", rows * width)
    encoder = layers * (attention + feed + 2 * width) + width
    decoder = later * (2 * attention + feed + 3 * width) + width
    tally.add("layers", encoder + decoder)
    tally.look_up("positions", distances * ((layers + later) if kind == "umt5" else 2))
    if not reader.flag("tie_word_embeddings", kind != "mt5"):
        tally.add("head", rows * width)
    inner = heads * head
    forward = _sample(encoder, inner, layers, length) + _sample(decoder + rows * width, inner, 2 * later, length)
    return Encoded("T5", tally, forward, 2 * length, "FLOPs per token of a pair: source and target of the stated length each")


def _speech(reader: Reader, _length: int) -> Encoded:
    """Whisper: two convolutions, an encoder over frames, a decoder with cross-attention, embedding and head tied."""
    width, layers, later = reader.essential("d_model"), reader.layers("encoder_layers"), reader.layers("decoder_layers")
    frames, context = reader.count("max_source_positions"), reader.count("max_target_positions")
    mel, rows = reader.count("num_mel_bins"), reader.essential(*VOCABULARY)
    convolutions = linear(mel * CONVOLUTION_WIDTH, width, True) + linear(width * CONVOLUTION_WIDTH, width, True)
    attention = 4 * width * width + 3 * width
    encoder = layers * (attention + block(width, reader.count("encoder_ffn_dim"), False, True) + 4 * width) + 2 * width
    decoder = later * (2 * attention + block(width, reader.count("decoder_ffn_dim"), False, True) + 6 * width) + 2 * width
    tally = Tally()
    tally.look_up("embedding", (rows + context + frames) * width)
    tally.add("layers", convolutions + encoder + decoder)
    forward = _sample(convolutions + encoder, width, layers, frames) + _sample(decoder + rows * width, width, later, context)
    forward += OPERATIONS_PER_MULTIPLY_ADD * later * 2 * width * frames * context
    note = f"FLOPs per token of a sample: {frames} frames and {context} text tokens; fixed sinusoids of the encoder are counted"
    return Encoded("Whisper", tally, forward, frames + context, note)


def _bart(reader: Reader, length: int) -> Encoded:
    width, layers, later = reader.essential("d_model"), reader.layers("encoder_layers"), reader.layers("decoder_layers")
    rows, final = reader.essential(*VOCABULARY), 2 * width if reader.text("model_type") == "mbart" else 0
    positions = reader.count("max_position_embeddings")
    attention = 4 * linear(width, width, True)
    encoder = layers * (attention + block(width, reader.count("encoder_ffn_dim"), False, True) + 4 * width) + final
    decoder = later * (2 * attention + block(width, reader.count("decoder_ffn_dim"), False, True) + 6 * width) + final
    tally = Tally()
    tally.look_up("embedding", (rows + 2 * (positions + MASKED_BIAS_OFFSET)) * width)
    tally.add("norms", 4 * width)
    tally.add("layers", encoder + decoder)
    length = min(length, positions)
    forward = _sample(encoder, width, layers, length) + _sample(decoder + rows * width, width, 2 * later, length)
    return Encoded("BART", tally, forward, 2 * length, "FLOPs per token of a pair: source and target of the stated length each")


ENCODERS: dict[str, Callable[[Reader, int], Encoded]] = {
    "bert": _bert, "roberta": _bert, "xlm-roberta": _bert, "camembert": _bert, "distilbert": _bert, "electra": _bert, "vit": _vit,
    "deit": _vit, "dinov2": _vit, "dinov2_with_registers": _vit, "clip": _pair, "siglip": _pair, "t5": _t5, "mt5": _t5, "umt5": _t5,
    "whisper": _speech, "bart": _bart, "mbart": _bart,
}  # fmt: skip
