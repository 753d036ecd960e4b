"""Bytes of a model's weights in the number format that its configuration states."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rules.sizing.config_counts.reader import Reader

FORMAT_BYTES = {"float64": 8.0, "float32": 4.0, "bfloat16": 2.0, "float16": 2.0, "float8_e4m3fn": 1.0, "float8_e5m2": 1.0, "int8": 1.0}
"""Bytes per value by the name of the format [IEEE 754-2019; OCP OFP8 1.0]."""
PLAIN_FORMATS = {"float32": 4.0, "bfloat16": 2.0, "float8": 1.0, "int4": 0.5}
"""The formats that every count is also given in."""
MXFP4_BYTES = (4 + 8 / 32) / 8
"""Four bits per value and an 8-bit scale per 32 of them [OCP Microscaling Formats 1.0 §5.4]."""
SCALE_BYTES, FP8_BLOCK = 4, 128 * 128
"""One 32-bit scale per block of 128 × 128 FP8 weights [DeepSeek-V3, arXiv:2412.19437 §3.3.1]."""
GROUP = 128
"""Weights per scale of 4-bit quantisation where the file does not say [AWQ, arXiv:2306.00978; GPTQ, arXiv:2210.17323]."""
KEPT_PARTS = ("embedding", "head", "norms", "vision", "positions", "other", "pooler")
"""Parts that quantisation leaves in the format of the rest."""


def weights_bytes(reader: Reader, parts: Mapping[str, int], notes: list[str]) -> float:
    """Return the bytes of all weights as the configuration says they are stored; assumptions go to `notes`.

    Without quantisation every value has the stated format, 2 bytes where none is stated. Quantised: embedding, head, norms and
    towers keep that format; the remaining weights take the bits of the method with its scales. Sources: this module's constants.
    """
    name = next((value for key in ("torch_dtype", "dtype") for value in [reader.raw(key)[1]] if isinstance(value, str)), "")
    text = reader.table.get("text_config")
    if not name and isinstance(text, dict):
        name = next((str(text[key]) for key in ("torch_dtype", "dtype") if isinstance(text.get(key), str)), "")
    name = name.removeprefix("torch.")
    width = FORMAT_BYTES.get(name, 2.0)
    if not name:
        notes.append("the file states no number format; weights taken as 2 bytes each (bfloat16)")
    elif name not in FORMAT_BYTES:
        notes.append(f"number format {name!r} is not known; weights taken as 2 bytes each")
    total = sum(parts.values())
    quantised = reader.table.get("quantization_config")
    if not isinstance(quantised, dict):
        return total * width
    return _quantised(reader, quantised, parts, width, notes)


def _quantised(reader: Reader, quantised: Mapping[str, object], parts: Mapping[str, int], width: float, notes: list[str]) -> float:
    method = str(quantised.get("quant_method", ""))
    kept = sum(size for part, size in parts.items() if part in KEPT_PARTS)
    routed, rest = parts.get("routed_experts", 0), sum(parts.values()) - kept - parts.get("routed_experts", 0)
    fp8 = 1 + SCALE_BYTES / FP8_BLOCK
    if method == "mxfp4":
        return (kept + rest) * width + routed * MXFP4_BYTES
    if method == "fp8":
        return kept * width + rest * fp8 + routed * (MXFP4_BYTES if reader.table.get("expert_dtype") == "fp4" else fp8)
    bits = next((value for key in ("bits", "w_bit", "num_bits") for value in [quantised.get(key)] if isinstance(value, int)), None)
    if bits is None and method == "bitsandbytes":
        bits = 4 if quantised.get("load_in_4bit") else 8
    if not bits or isinstance(bits, bool) or not 1 <= bits <= 16:
        notes.append(f"quantization_config: method {method or 'not stated'!r} is not known; bytes are those without quantisation")
        return sum(parts.values()) * width
    group = quantised.get("group_size", quantised.get("q_group_size", GROUP))
    scales = (2 + bits / 8) / group if isinstance(group, int) and group > 0 else 0.0
    return kept * width + (rest + routed) * (bits / 8 + scales)
