"""Models that join a vision tower to a text model: which tower, which text model, and the projector between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rules.sizing.config_counts.reader import HIDDEN, Reader
from rules.sizing.config_counts.tally import linear

if TYPE_CHECKING:
    from collections.abc import Callable

    Projector = Callable[[Reader, Reader, int], int]


@dataclass(frozen=True)
class Joined:
    """The text model's and the tower's type where the file leaves them out, and the projector (none where the tower holds it).

    `flat`: the text model's keys stand at the top of the file.
    """

    name: str
    text: str
    vision: str
    projector: str = ""
    flat: bool = False


def _gemma3(_top: Reader, vision: Reader, text: int) -> int:
    width = vision.count(*HIDDEN)
    return width * text + width


def _linear(_top: Reader, vision: Reader, text: int) -> int:
    return linear(vision.count(*HIDDEN), text, True)


def _two_layers(top: Reader, vision: Reader, text: int) -> int:
    bias = top.flag("multimodal_projector_bias", True)
    return linear(vision.count(*HIDDEN), text, bias) + linear(text, text, bias)


def _two_layers_newline(top: Reader, vision: Reader, text: int) -> int:
    return _two_layers(top, vision, text) + text


def _patch_merger(top: Reader, vision: Reader, text: int) -> int:
    width, merge = vision.count(*HIDDEN), top.count("spatial_merge_size", default=2) ** 2
    bias = top.flag("multimodal_projector_bias")
    return width + merge * width * width + linear(width, text, bias) + linear(text, text, bias)


def _shuffle(top: Reader, vision: Reader, text: int) -> int:
    return vision.count(*HIDDEN) * top.count("scale_factor", default=2) ** 2 * text


def _intern(top: Reader, vision: Reader, text: int) -> int:
    joined = round(vision.count(*HIDDEN) / top.number("downsample_ratio", 0.5) ** 2)
    return 2 * joined + linear(joined, text, True) + linear(text, text, True)


def _swiglu(top: Reader, vision: Reader, text: int) -> int:
    joined = vision.count(*HIDDEN) * top.count("downsample_factor", default=2) ** 2
    inner = top.count("alignment_intermediate_size", default=36864)
    return linear(joined, inner, True) + linear(inner // 2, text, True)


def _swiglu_norm(top: Reader, vision: Reader, text: int) -> int:
    joined = vision.count(*HIDDEN) * top.count("downsample_factor", default=2) ** 2
    return _swiglu(top, vision, text) + 2 * joined


PROJECTORS: dict[str, Projector] = {
    "gemma3": _gemma3, "linear": _linear, "two_layers": _two_layers, "two_layers_newline": _two_layers_newline,
    "patch_merger": _patch_merger, "shuffle": _shuffle, "intern": _intern, "swiglu": _swiglu, "swiglu_norm": _swiglu_norm,
}  # fmt: skip

JOINED: dict[str, Joined] = {
    "qwen2_vl": Joined("Qwen2-VL", "qwen2", "qwen2_vl_vision", flat=True),
    "qwen2_5_vl": Joined("Qwen2.5-VL", "qwen2", "qwen2_5_vl_vision", flat=True),
    "qwen3_vl": Joined("Qwen3-VL", "qwen3", "qwen3_vl_vision"),
    "qwen3_vl_moe": Joined("Qwen3-VL MoE", "qwen3_vl_moe_text", "qwen3_vl_moe_vision"),
    "qwen3_5": Joined("Qwen3.5", "qwen3_5_text", "qwen3_5_vision"),
    "qwen3_5_moe": Joined("Qwen3.5 MoE", "qwen3_5_moe_text", "qwen3_5_moe_vision"),
    "gemma3": Joined("Gemma 3", "gemma3_text", "siglip_vision_model", "gemma3"),
    "gemma4": Joined("Gemma 4", "gemma4_text", "gemma4_vision"),
    "paligemma": Joined("PaliGemma", "gemma", "siglip_vision_model", "linear"),
    "mistral3": Joined("Mistral with vision", "mistral", "pixtral", "patch_merger"),
    "llava": Joined("LLaVA", "llama", "clip_vision_model", "two_layers"),
    "llava_next": Joined("LLaVA-NeXT", "llama", "clip_vision_model", "two_layers_newline"),
    "llava_onevision": Joined("LLaVA-OneVision", "qwen2", "siglip_vision_model", "two_layers_newline"),
    "llama4": Joined("Llama 4", "llama4_text", "llama4_vision_model"),
    "mllama": Joined("Llama 3.2 Vision", "mllama_text_model", "mllama_vision_model"),
    "kimi_k25": Joined("Kimi K2.5", "deepseek_v3", "kimi_k25_vision"),
    "kimi_vl": Joined("Kimi-VL", "deepseek_v3", "moonvit"),
    "glm4v": Joined("GLM-4V", "glm4v_text", "glm4v_vision"),
    "glm4v_moe": Joined("GLM-4.5V", "glm4v_moe_text", "glm4v_moe_vision"),
    "internvl": Joined("InternVL", "qwen2", "internvl_vision", "intern"),
    "internvl_chat": Joined("InternVL", "qwen2", "intern_vit_6b", "intern"),
    "cohere2_vision": Joined("Command A Vision", "cohere2", "siglip_vision_model", "swiglu"),
    "aya_vision": Joined("Aya Vision", "cohere2", "siglip_vision_model", "swiglu_norm"),
    "idefics3": Joined("Idefics3", "llama", "idefics3_vision", "shuffle"),
    "smolvlm": Joined("SmolVLM", "llama", "smolvlm_vision", "shuffle"),
    "muse_glimmer": Joined("Muse Glimmer", "muse_glimmer_text", "muse_glimmer_vision"),
    "minimax_m3_vl": Joined("MiniMax-M3", "minimax_m3_vl_text", "minimax_m3_vl_vision"),
}
