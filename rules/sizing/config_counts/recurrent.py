"""Weights of layers that carry a state instead of attending: Mamba, gated delta networks, lightning attention, gated convolution.

Operations count the recurrent form: each element of the state is decayed, updated and read (a multiply-add each; the delta rule
reads it once more). Kernels that work in chunks spend more [Dao 2024, arXiv:2405.21060 §6]; model FLOPs leave that out.
"""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

from rules.sizing.config_counts.attention import OPERATIONS_PER_MULTIPLY_ADD, head_width
from rules.sizing.config_counts.reader import HEADS
from rules.sizing.config_counts.tally import Tally, linear

if TYPE_CHECKING:
    from collections.abc import Callable

    from rules.sizing.config_counts.decoder import Decoder

STATE_STEPS = 3
"""Decay, update and read of a state element per token [Gu 2023, arXiv:2312.00752 eq. 2]."""
DELTA_STEPS = 4
"""The delta rule also reads what the state holds for the key before it writes [Yang 2024, arXiv:2412.06464 eq. 10]."""
TIME_STEP_SHARE = 16
"""The rank of the time step is the width over 16, rounded up, where it is 'auto' [Gu 2023; transformers, MambaConfig]."""
STATE = ("mamba_d_state", "ssm_state_size", "state_size")
KERNEL = ("mamba_d_conv", "conv_kernel")
EXPAND = ("mamba_expand", "expand")


def _flags(decoder: Decoder) -> tuple[bool, bool]:
    """Return (the convolution has a bias, the projections have one)."""
    reader = decoder.reader
    convolution = reader.flag("mamba_conv_bias", reader.flag("use_conv_bias", True))
    projections = reader.flag("mamba_proj_bias", False) or reader.flag("use_bias", False)
    return convolution, projections


def _mamba(decoder: Decoder, tally: Tally) -> None:
    reader, hidden = decoder.reader, decoder.hidden
    state, kernel = reader.count(*STATE), reader.count(*KERNEL)
    stated = reader.optional("intermediate_size") if decoder.family.plan == "pure" else 0
    inner = stated or reader.count(*EXPAND, default=2) * hidden
    name, rank = reader.raw("mamba_dt_rank", "time_step_rank")
    rank = ceil(hidden / TIME_STEP_SHARE) if rank in (None, "auto") else reader.count(name)
    convolution_bias, bias = _flags(decoder)
    weights = linear(hidden, 2 * inner, bias) + linear(inner, hidden, bias)
    weights += inner * (rank + 2 * state) + linear(rank, inner, True) + inner * state + inner
    weights += inner * (kernel + (1 if convolution_bias else 0))
    weights += rank + 2 * state if decoder.family.name == "Jamba" else 0
    tally.add("state_space", weights)
    tally.operations += STATE_STEPS * OPERATIONS_PER_MULTIPLY_ADD * inner * state


def _mamba2(decoder: Decoder, tally: Tally) -> None:
    reader, hidden = decoder.reader, decoder.hidden
    heads = reader.count("mamba_num_heads", "mamba_n_heads", "num_heads")
    state, kernel, groups = reader.count(*STATE), reader.count(*KERNEL), reader.count("n_groups", "mamba_n_groups", default=1)
    inner = reader.optional("mamba_d_ssm")
    if not inner:
        name, width = reader.raw("mamba_head_dim", "mamba_d_head", *(() if reader.stated("num_attention_heads") else ("head_dim",)))
        inner = reader.count(*EXPAND, default=2) * hidden if width in (None, "auto") else heads * reader.count(name)
    convolution_bias, bias = _flags(decoder)
    channels = inner + 2 * groups * state
    weights = linear(hidden, 2 * inner + 2 * groups * state + heads, bias) + linear(inner, hidden, bias)
    weights += channels * (kernel + (1 if convolution_bias else 0)) + 3 * heads
    weights += inner if decoder.family.name != "Falcon-H1" or reader.flag("mamba_rms_norm") else 0
    tally.add("state_space", weights)
    tally.operations += STATE_STEPS * OPERATIONS_PER_MULTIPLY_ADD * inner * state


def _delta(decoder: Decoder, tally: Tally) -> None:
    """Gated delta network: queries, keys, values and gate projected, a short convolution, one decay and one step per value head."""
    reader, hidden = decoder.reader, decoder.hidden
    key_heads, value_heads = reader.count("linear_num_key_heads"), reader.count("linear_num_value_heads")
    key, value = reader.count("linear_key_head_dim"), reader.count("linear_value_head_dim")
    keys, values = key_heads * key, value_heads * value
    weights = hidden * (2 * keys + 2 * values + 2 * value_heads) + values * hidden
    weights += (2 * keys + values) * reader.count("linear_conv_kernel_dim") + 2 * value_heads + value
    tally.add("linear_attention", weights)
    tally.operations += DELTA_STEPS * OPERATIONS_PER_MULTIPLY_ADD * value_heads * key * value


def _kimi_delta(decoder: Decoder, tally: Tally) -> None:
    """Kimi delta attention: decay per channel through a low-rank map, output gate likewise."""
    reader, hidden = decoder.reader, decoder.hidden
    heads, width = reader.count("linear_num_heads"), reader.count("linear_head_dim")
    inner = heads * width
    weights = 3 * hidden * inner + 3 * inner * reader.count("linear_conv_kernel_dim") + inner * hidden + hidden * heads
    weights += 2 * (hidden * width + width * inner) + inner + heads + width
    tally.add("linear_attention", weights)
    tally.operations += DELTA_STEPS * OPERATIONS_PER_MULTIPLY_ADD * heads * width * width


def _lightning(decoder: Decoder, tally: Tally) -> None:
    """Lightning attention: all heads have their own keys and values, an output gate and a norm."""
    heads, width = decoder.reader.essential(*HEADS), head_width(decoder)
    tally.add("linear_attention", 5 * decoder.hidden * heads * width + heads * width)
    tally.operations += STATE_STEPS * OPERATIONS_PER_MULTIPLY_ADD * heads * width * width


def _short_conv(decoder: Decoder, tally: Tally) -> None:
    """Gated short convolution of LFM2: input and two gates, a depthwise convolution, an output projection."""
    reader, hidden = decoder.reader, decoder.hidden
    bias = reader.flag("conv_bias")
    weights = linear(hidden, 3 * hidden, bias) + linear(hidden, hidden, bias)
    tally.add("convolution", weights + hidden * (reader.count("conv_L_cache") + (1 if bias else 0)))


RECURRENT: dict[str, Callable[[Decoder, Tally], None]] = {
    "mamba": _mamba, "mamba2": _mamba2, "delta": _delta, "kimi_delta": _kimi_delta, "lightning": _lightning, "short_conv": _short_conv,
}  # fmt: skip
