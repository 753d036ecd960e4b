"""Towers of models that also read images: what one leaves behind for the backward pass beside the layers of the text model.

A tower is a vision transformer over the patches of the images of a micro-batch; several patches make one token of the text model. It
stands before the first layer, so that the first pipeline stage keeps what it leaves for every micro-batch in flight
[Megatron Core, multimodal models; arXiv:2605.25451]. Parameters are part of the stated total, spread over the layers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from rules.sizing.memory_activations import layer_activations
from rules.sizing.results import ModelShape

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rules.sizing.memory_activations import ActivationOptions
    from rules.sizing.results import Plan

GATED = ("qwen2_5_vl", "pixtral", "gemma4_vision")
"""Towers whose feed-forward is gated, by model_type [transformers 5.24, modelling code]."""
ASSUMED_IMAGE_SHARE = 0.5
"""Share of a sample's tokens that come from images where nobody says: LLaVA-1.5 makes 576 of an image and a few hundred of text
[arXiv:2310.03744 §3], interleaved data fewer. Assumed."""


class Tower(NamedTuple):
    """The encoder of images by its shape; `patches_per_token` of its outputs are joined to one token of the text model."""

    layers: int
    hidden_size: int
    ffn_size: int
    attention_heads: int
    gated_ffn: bool
    patches_per_token: float


def tower_of(config: Mapping[str, Any]) -> Tower | None:
    """Return the tower that a model's configuration describes, None where it has none or leaves out its widths.

    Patches join by `spatial_merge_size`² (Qwen), `pooling_kernel_size`² (Gemma 4), or to a fixed number of tokens for each image (Gemma 3).
    """
    vision = config.get("vision_config")
    if not isinstance(vision, dict):
        return None
    width = _count(vision, "embed_dim", "hidden_size")
    layers = _count(vision, "depth", "num_hidden_layers") + _count(vision, "num_global_layers")
    ffn = _count(vision, "intermediate_size") or int(float(vision.get("mlp_ratio", 0)) * width)
    heads = _count(vision, "num_heads", "num_attention_heads", "attention_heads")
    if not (width and layers and ffn and heads):
        return None
    joined = float(max(1, _count(vision, "spatial_merge_size", "pooling_kernel_size")) ** 2)
    side, patch, fixed = (_count(vision, "image_size"), _count(vision, "patch_size"), _count(config, "mm_tokens_per_image"))
    if fixed and side and patch:
        joined = (side // patch) ** 2 / fixed
    return Tower(layers, width, ffn, heads, str(vision.get("model_type", "")) in GATED, joined)


def _count(table: Mapping[str, Any], *names: str) -> int:
    return next((int(table[name]) for name in names if isinstance(table.get(name), int)), 0)


class TowerBytes(NamedTuple):
    """Bytes of one micro-batch on the first stage: what the backward pass needs of the tower, and a layer while it is computed again."""

    kept: float
    again: float


def tower_bytes(tower: Tower, precision: str, image_tokens: float, plan: Plan, options: ActivationOptions) -> TowerBytes:
    """Return what the tower leaves of a micro-batch with `image_tokens` tokens of images on a rank.

    Layers are counted and split like those of the text model, and recomputed where these are.
    """
    shape = ModelShape(
        "tower", "vision_transformer", tower.layers, tower.hidden_size, tower.ffn_size, tower.attention_heads, tower.attention_heads,
        tower.hidden_size // tower.attention_heads, gated_ffn=tower.gated_ffn,
    )  # fmt: skip
    whole_by = plan.tensor if plan.sequence_parallel else 1
    patches = image_tokens * tower.patches_per_token

    def layer(recompute: str) -> float:
        found = layer_activations(shape, precision, 1, recompute, options, moe=False)
        split = found.whole / whole_by + found.split / plan.tensor + found.key_value / min(plan.tensor, tower.attention_heads)
        return patches * (found.never_split + split)

    if plan.recompute == "full":
        one = layer_activations(shape, precision, 1, "none", options, moe=False).layer_input
        return TowerBytes(tower.layers * patches * one / whole_by, layer("none"))
    kept = layer(plan.recompute)
    return TowerBytes(tower.layers * kept, layer("none") - kept)
