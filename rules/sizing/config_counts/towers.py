"""Weights of vision (and audio) towers of models that also read images, and of the projectors that join them to the text model.

Source: the modelling code of each tower in Hugging Face transformers 5.24.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rules.sizing.config_counts.feed_forward import block
from rules.sizing.config_counts.reader import HEADS, HIDDEN, LAYERS, Reader
from rules.sizing.config_counts.tally import linear

if TYPE_CHECKING:
    from collections.abc import Callable

IMAGE_CHANNELS = 3
"""Colour channels, where the file does not say."""
TILE_ASPECTS = 8
"""Arrangements of tiles that Llama 3.2 Vision knows; one embedding more stands for none [transformers, MllamaVisionConfig]."""


def layer(
    width: int, ffn: int, *, norm: int, gated: bool = False, bias: bool = True, output_bias: bool | None = None, ffn_bias: bool = True
) -> int:
    """Return one encoder layer: four square projections, a feed-forward, two norms of `norm` weights per feature."""
    out = bias if output_bias is None else output_bias
    return linear(width, 3 * width, bias) + linear(width, width, out) + block(width, ffn, gated, ffn_bias) + 2 * norm * width


def patches(reader: Reader) -> int:
    """Return the patches of one image."""
    _, size = reader.raw("image_size")
    _, patch = reader.raw("patch_size")
    side = reader.at(0, "image_size") if isinstance(size, list) else reader.count("image_size")
    return (side // (reader.at(0, "patch_size") if isinstance(patch, list) else reader.count("patch_size"))) ** 2


def patch_weights(reader: Reader, bias: bool, frames: int = 1) -> int:
    """Return the projection of a patch to the width."""
    _, patch = reader.raw("patch_size")
    size = reader.at(0, "patch_size") if isinstance(patch, list) else reader.count("patch_size")
    channels = reader.count("num_channels", "in_channels", "in_chans", default=IMAGE_CHANNELS)
    return linear(channels * frames * size * size, reader.count(*HIDDEN), bias)


def _clip(reader: Reader, _text: int) -> int:
    width, layers, ffn = reader.count(*HIDDEN), reader.layers(), reader.count("intermediate_size")
    return width + patch_weights(reader, False) + (patches(reader) + 1) * width + 4 * width + layers * layer(width, ffn, norm=2)


def _siglip(reader: Reader, _text: int) -> int:
    """Positions without a class token; where vision_use_head is not off, a probe attends to the patches at the end."""
    width, layers, ffn = reader.count(*HIDDEN), reader.layers(), reader.count("intermediate_size")
    positions = reader.optional("num_patches") or patches(reader)
    total = patch_weights(reader, True) + positions * width + layers * layer(width, ffn, norm=2) + 2 * width
    if reader.flag("vision_use_head", True):
        total += width + linear(width, 3 * width, True) + linear(width, width, True) + 2 * width + block(width, ffn, False, True)
    return total


def _siglip_headless(reader: Reader, text: int) -> int:
    return _siglip(Reader({**reader.table, "vision_use_head": False}, reader.defaults, reader.path, strict=False), text)


def _pixtral(reader: Reader, _text: int) -> int:
    width, layers, ffn = reader.count(*HIDDEN), reader.layers(), reader.count("intermediate_size")
    return patch_weights(reader, False) + width + layers * layer(width, ffn, norm=1, gated=True, bias=False, ffn_bias=False)


def _merger(width: int, merge: int, out: int, norm: int) -> int:
    """Return the map of merge × merge patches onto the text model's width."""
    joined = width * merge * merge
    return norm + linear(joined, joined, True) + linear(joined, out, True)


def _qwen2_vl(reader: Reader, _text: int) -> int:
    """Here `hidden_size` is the text model's width, `embed_dim` the tower's."""
    width, layers, out = reader.count("embed_dim"), reader.layers("depth"), reader.count("hidden_size")
    ffn = round(reader.number("mlp_ratio", 4.0) * width)
    frames = reader.count("temporal_patch_size", default=2)
    channels = reader.count("in_channels", "in_chans", default=IMAGE_CHANNELS)
    patch = channels * frames * reader.count("patch_size") ** 2 * width
    return patch + layers * layer(width, ffn, norm=2) + _merger(width, reader.count("spatial_merge_size", default=2), out, 2 * width)


def _qwen25_vl(reader: Reader, _text: int) -> int:
    width, layers, ffn = reader.count("hidden_size"), reader.layers("depth"), reader.count("intermediate_size")
    patch = patch_weights(reader, False, reader.count("temporal_patch_size", default=2))
    body = layers * layer(width, ffn, norm=1, gated=True)
    return patch + body + _merger(width, reader.count("spatial_merge_size", default=2), reader.count("out_hidden_size"), width)


def _qwen3_vl(reader: Reader, _text: int) -> int:
    """Learned positions, and a merger more for each layer whose features go deeper into the text model."""
    width, layers, ffn = reader.count("hidden_size"), reader.layers("depth"), reader.count("intermediate_size")
    merge, out = reader.count("spatial_merge_size", default=2), reader.count("out_hidden_size")
    patch = patch_weights(reader, True, reader.count("temporal_patch_size", default=2)) + reader.count("num_position_embeddings") * width
    deep = len(reader.sequence("deepstack_visual_indexes") or ())
    joined = width * merge * merge
    return (
        patch + layers * layer(width, ffn, norm=2) + _merger(width, merge, out, 2 * width) + deep * _merger(width, merge, out, 2 * joined)
    )


def _gemma4(reader: Reader, text: int) -> int:
    width, layers, ffn = reader.count(*HIDDEN), reader.layers(), reader.count("intermediate_size")
    heads, head = reader.count(*HEADS), reader.count("head_dim")
    groups = reader.count("num_key_value_heads", default=heads)
    one = 2 * width * head * (heads + groups) + 2 * head + block(width, ffn, True) + 4 * width
    start = IMAGE_CHANNELS * reader.count("patch_size") ** 2 * width + 2 * reader.count("position_embedding_size") * width
    return start + layers * one + (2 * width if reader.flag("standardize") else 0) + width * text


def _mllama(reader: Reader, text: int) -> int:
    """Llama 3.2 Vision: local and gated global layers, embeddings of tiles and of their arrangement, a projection of several layers."""
    width, ffn, tiles = reader.count(*HIDDEN), reader.count("intermediate_size"), reader.count("max_num_tiles")
    local, far = reader.layers(), reader.count("num_global_layers")
    aspects = len(reader.sequence("supported_aspect_ratios") or [None] * TILE_ASPECTS) + 1
    one = layer(width, ffn, norm=2, bias=False)
    positions = patches(reader) + 1
    start = width + patch_weights(reader, False) + 1 + positions * width + aspects * tiles * positions * width
    start += 2 * (1 + aspects * tiles * width) + 4 * width
    return start + (local + far) * one + 2 * far + linear(reader.count("vision_output_dim"), text, True)


def _moon_vit(reader: Reader, text: int) -> int:
    width, layers, ffn = (
        reader.count("vt_hidden_size", *HIDDEN),
        reader.layers("vt_num_hidden_layers", *LAYERS),
        reader.count("vt_intermediate_size", "intermediate_size"),
    )
    rows, columns = reader.count("init_pos_emb_height", "pos_emb_height"), reader.count("init_pos_emb_width", "pos_emb_width")
    patch = linear(IMAGE_CHANNELS * reader.count("patch_size") ** 2, width, True)
    merge = (
        reader.at(0, "merge_kernel_size") * reader.at(1, "merge_kernel_size") if isinstance(reader.raw("merge_kernel_size")[1], list) else 4
    )
    body = patch + rows * columns * width + layers * layer(width, ffn, norm=2) + 2 * width
    return body + 2 * width + linear(width * merge, width * merge, True) + linear(width * merge, text, True)


def _glm4v(reader: Reader, _text: int) -> int:
    width, layers, merge = reader.count("hidden_size"), reader.layers("depth"), reader.count("spatial_merge_size", default=2)
    out, ffn, bias = reader.count("out_hidden_size"), reader.count("intermediate_size"), reader.flag("attention_bias")
    start = patch_weights(reader, True, reader.count("temporal_patch_size", default=2)) + patches(reader) * width
    one = layer(width, out, norm=1, gated=True, bias=bias, output_bias=False, ffn_bias=False)
    end = 2 * width + linear(width * merge * merge, out, True) + out * out + 2 * out + block(out, ffn, True)
    return start + layers * one + end


def _intern_vit(reader: Reader, _text: int) -> int:
    width, layers, ffn = reader.count(*HIDDEN), reader.layers(), reader.count("intermediate_size")
    layer_norms = 1 if reader.text("norm_type", "layer_norm") == "rms_norm" else 2
    bias = reader.flag("qkv_bias", reader.flag("attention_bias"))
    one = layer(width, ffn, norm=layer_norms, bias=bias, output_bias=True) + 2 * width
    one += 2 * width if reader.flag("use_qk_norm", reader.flag("qk_normalization")) else 0
    return width + (patches(reader) + 1) * width + patch_weights(reader, True) + layers * one


def _llama4(reader: Reader, text: int) -> int:
    width, layers, ffn = reader.count(*HIDDEN), reader.layers(), reader.count("intermediate_size")
    shuffle = round(1 / reader.number("pixel_shuffle_ratio", 0.5)) ** 2
    inner, out = reader.count("projector_input_dim"), reader.count("projector_output_dim")
    start = width + (patches(reader) + 1) * width + patch_weights(reader, False) + 4 * width
    adapter = ffn * inner + inner * out if ffn == width * shuffle else width * shuffle * inner + inner * out
    return start + layers * layer(width, ffn, norm=2) + adapter + reader.count("vision_output_dim", default=out) * text


def _minimax_m3(reader: Reader, text: int) -> int:
    width, layers, ffn = reader.count(*HIDDEN), reader.layers(), reader.count("intermediate_size")
    merge = reader.count("spatial_merge_size", default=2) ** 2
    start = patch_weights(reader, False, reader.count("temporal_patch_size", default=2)) + 2 * width
    joint = linear(width, text, True) + 2 * linear(text, text, True) + linear(merge * text, text, True)
    return start + layers * layer(width, ffn, norm=2) + joint


def _muse(reader: Reader, text: int) -> int:
    width, layers, ffn = reader.count(*HIDDEN), reader.layers(), reader.count("intermediate_size")
    merge, frames = reader.count("merge_size", default=2) ** 2, reader.count("patch_temporal", default=2)
    start = patch_weights(reader, False, frames) + reader.count("max_position_embeddings", default=1024) * width + 4 * width
    inner = reader.count("projector_hidden_size", default=4096)
    return start + layers * layer(width, ffn, norm=2) + merge * width * inner + inner * inner + inner * text


TOWERS: dict[str, Callable[[Reader, int], int]] = {
    "clip_vision_model": _clip, "siglip_vision_model": _siglip, "siglip2_vision_model": _siglip, "idefics3": _siglip_headless,
    "idefics3_vision": _siglip_headless, "smolvlm_vision": _siglip_headless, "pixtral": _pixtral, "qwen2_vl": _qwen2_vl,
    "qwen2_vl_vision": _qwen2_vl, "qwen2_5_vl": _qwen25_vl, "qwen2_5_vl_vision": _qwen25_vl, "qwen3_vl": _qwen3_vl,
    "qwen3_vl_vision": _qwen3_vl, "qwen3_vl_moe": _qwen3_vl, "qwen3_vl_moe_vision": _qwen3_vl, "qwen3_5": _qwen3_vl,
    "qwen3_5_vision": _qwen3_vl, "qwen3_5_moe": _qwen3_vl, "qwen3_5_moe_vision": _qwen3_vl, "gemma4_vision": _gemma4,
    "mllama_vision_model": _mllama, "kimi_k25_vision": _moon_vit, "kimi_k25": _moon_vit, "moonvit": _moon_vit, "glm4v_vision": _glm4v,
    "glm4v_moe_vision": _glm4v, "glm4v": _glm4v, "glm4v_moe": _glm4v, "internvl_vision": _intern_vit, "intern_vit_6b": _intern_vit,
    "llama4_vision_model": _llama4, "minimax_m3_vl_vision": _minimax_m3, "muse_glimmer_vision": _muse, "muse_spark_vision": _muse,
}  # fmt: skip
