"""A typical shape for a model of which only the size is known, solved so that the parameter count is met.

Proportions are those of published families, each named at its constant. A shape made here is marked `assumed`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rules.sizing.parameters import count_parameters
from rules.sizing.results import ModelShape

if TYPE_CHECKING:
    from collections.abc import Iterator

HEAD_DIM = 128
"""Width of an attention head in Llama 3 8B, 70B and 405B [arXiv:2407.21783 table 3]."""
KEY_VALUE_HEADS = 8
"""Key-value heads of Llama 3 of every size [arXiv:2407.21783 table 3]."""
FFN_RATIO = 3.5
"""FFN width over hidden size: 14336/4096 and 28672/8192 in Llama 3 [arXiv:2407.21783 table 3]."""
HIDDEN_PER_LAYER = 115.0
"""Hidden size per layer: 128, 102 and 130 in Llama 3 8B, 70B and 405B [arXiv:2407.21783 table 3]; their mean rounded to 5."""
MOE_HIDDEN_PER_LAYER = 90.0
"""Hidden size per layer of mixtures: Mixtral 128, DeepSeek-V3 117, gpt-oss 80, Qwen3-235B 44; their mean [model cards]."""
LARGE_VOCABULARY = 128_256
"""Vocabulary of Llama 3 [arXiv:2407.21783 §3.2]."""
SMALL_VOCABULARY = 50_257
"""Vocabulary of GPT-2, a model of 0.1 to 1.5 billion parameters [Radford 2019]."""
LARGE_FROM_PARAMETERS = 2e9
"""Below this size the vocabulary is GPT-2's and the embeddings are tied, as in GPT-2 XL (1.5 billion) [Radford 2019]."""
EMBEDDING_SHARE_TINY = 0.25
"""Largest share of a tiny model that its embedding takes here: GPT-2 small has 0.31 [Radford 2019]."""
EXPERTS = 128
"""Experts of Qwen3-MoE and gpt-oss-120b, the middle of 8 (Mixtral) and 384 (Kimi K2) [model cards]."""
EXPERTS_PER_TOKEN = 8
"""Experts that a token visits in DeepSeek-V3, Qwen3-MoE and Kimi K2 [arXiv:2412.19437; model cards]."""
EXPERTS_PER_TOKEN_FEW = 2
"""The same where there are few experts: Mixtral visits 2 of 8 [arXiv:2401.04088]."""
FEW_EXPERTS = 16
"""Up to so many experts count as few."""
SHARED_PART = 0.03
"""Share of a mixture's parameters outside the routed experts: 3.4 % in Mixtral, 2.6 % in DeepSeek-V3 [counted from their shapes]."""
SHARED_PART_FEW = 0.06
"""The same where there are few experts: Mixtral with Llama 3's vocabulary would have 5 % [counted from its shape]."""
EXPERT_SHARE_OF_ACTIVE = 0.6
"""Share of a token's active parameters in routed experts: 0.56 in DeepSeek-V3, 0.88 in Mixtral [counted from their shapes]."""
WIDEST = 1_000_000
"""Bound of the search for a hidden size; the widest published model has 25,600 [Korthikanti 2022 table 3]."""
WIDTH_STEP = 8
"""Hidden sizes are multiples of 8, the granularity of tensor-core products [NVIDIA matrix-multiplication guide]."""
SMALL_HEAD_DIM = 64
"""Width of an attention head in GPT-2 of every size [Radford 2019]."""
LARGE_WIDTH = 2048
"""From this hidden size on heads are 128 wide and come in eights, as in Llama 3.2 1B and up, so that tensor parallelism divides them."""
LAYER_STEP = 4
"""Layers of large models come in fours, so that pipeline stages divide them."""
FFN_STEP = 64
"""Widths of large dense FFNs are multiples of 64, so that eight ranks each get whole tensor-core tiles."""
EXPERT_STEP = 8
"""Numbers of experts are multiples of 8, so that the GPUs of a server divide them."""


def _vocabulary(parameters: float, hidden: int) -> tuple[int, bool]:
    if parameters >= LARGE_FROM_PARAMETERS:
        return LARGE_VOCABULARY, False
    return max(16, min(SMALL_VOCABULARY, int(EMBEDDING_SHARE_TINY * parameters / hidden))), True


def _frame(name: str, kind: str, parameters: float, hidden: int, per_layer: float) -> ModelShape:
    """Return a shape of this width with everything but the FFN set."""
    large = hidden >= LARGE_WIDTH
    head_dim = HEAD_DIM if large else min(SMALL_HEAD_DIM, hidden)
    heads = max(1, hidden // head_dim)
    vocabulary, tied = _vocabulary(parameters, hidden)
    layers = max(1, round(hidden / per_layer))
    if large:
        layers = max(LAYER_STEP, round(hidden / per_layer / LAYER_STEP) * LAYER_STEP)
    return ModelShape(
        name=name,
        kind=kind,
        layers=layers,
        hidden_size=hidden,
        attention_heads=heads,
        key_value_heads=largest_divisor(heads, KEY_VALUE_HEADS),
        head_dim=head_dim,
        vocabulary_size=vocabulary,
        tied_embeddings=tied,
        attention="gqa" if heads > KEY_VALUE_HEADS else "mha",
        assumed=True,
    )


def largest_divisor(number: int, wanted: int) -> int:
    """Return the largest number up to `wanted` that divides `number`."""
    return next(each for each in range(min(number, wanted), 0, -1) if number % each == 0)


def _outside_ffn(shape: ModelShape) -> float:
    """Return the parameters of embeddings, attention, norms (and the router of a mixture)."""
    empty = replace(shape, ffn_size=0, expert_ffn_size=0, shared_expert_ffn_size=0)
    return count_parameters(empty, 1).total


def _widths(low: int, high: int) -> Iterator[int]:
    """Yield the usable hidden sizes from `low` to `high`: fine steps below 512, whole heads above, eight heads when large."""
    width = max(WIDTH_STEP, low // WIDTH_STEP * WIDTH_STEP)
    while width <= high:
        step = 8 * HEAD_DIM if width >= LARGE_WIDTH else 2 * SMALL_HEAD_DIM if width >= 8 * SMALL_HEAD_DIM else WIDTH_STEP
        width = -(-width // step) * step
        yield width
        width += step


def typical_dense(parameters: float, name: str = "") -> ModelShape:
    """Return a dense decoder of so many parameters with the proportions of Llama 3 (GPT-2's vocabulary when small).

    The hidden size is the one whose FFN ratio comes nearest to 3.5; the FFN width is then solved for, so the count is met
    within half a column of each FFN matrix.
    """
    hidden = max(WIDTH_STEP, round((parameters * HIDDEN_PER_LAYER / (3 * FFN_RATIO + 2)) ** (1 / 3) / WIDTH_STEP) * WIDTH_STEP)
    best: tuple[float, ModelShape] | None = None
    for width in _widths(hidden // 2, 2 * hidden):
        frame = _frame(name or f"typical {parameters / 1e9:.4g}B", "dense", parameters, width, HIDDEN_PER_LAYER)
        step = FFN_STEP if width >= LARGE_WIDTH else 1
        ffn = round((parameters - _outside_ffn(frame)) / (3 * frame.hidden_size * frame.layers) / step) * step
        if ffn < 1:
            continue
        distance = abs(ffn / width - FFN_RATIO)
        if best is None or distance < best[0]:
            best = distance, replace(frame, ffn_size=ffn)
    assert best is not None, "the narrowest width always leaves room for an FFN"
    return best[1]


def typical_moe(
    parameters: float, active: float | None = None, experts: int | None = None, experts_per_token: int | None = None, name: str = ""
) -> ModelShape:
    """Return a mixture of experts of so many total and active parameters.

    With R routed parameters: active = total − R·(1 − k/E). What is left beside attention and embeddings goes to shared experts.
    Without `active` the routed experts hold 97 % of the total (94 % of few experts).
    Raises ValueError where the three figures contradict each other.
    """
    count = experts or EXPERTS
    visited = experts_per_token or (EXPERTS_PER_TOKEN_FEW if count <= FEW_EXPERTS else EXPERTS_PER_TOKEN)
    if experts is None and active is not None:
        # so few experts that the visited share of them fits into the active parameters
        wanted = visited * parameters / max(active - SHARED_PART * parameters, EXPERT_SHARE_OF_ACTIVE * active)
        count = max(2 * EXPERT_STEP, round(wanted / EXPERT_STEP) * EXPERT_STEP)
    if visited > count:
        raise ValueError(f"a token cannot visit {visited} of {count} experts")
    if active is None:
        routed = (1 - (SHARED_PART_FEW if count <= FEW_EXPERTS else SHARED_PART)) * parameters
    else:
        routed = (parameters - active) / (1 - visited / count) if visited < count else 0.0
    outside = parameters - routed
    if routed <= 0 or outside <= 0:
        raise ValueError(f"{visited} of {count} experts cannot leave {active or 0:.3g} of {parameters:.3g} parameters active")
    best: ModelShape | None = None
    for width in _widths(WIDTH_STEP, WIDEST):
        frame = replace(
            _frame(name or f"typical {parameters / 1e9:.4g}B mixture", "moe", parameters, width, MOE_HIDDEN_PER_LAYER),
            experts=count,
            experts_per_token=visited,
        )
        if _outside_ffn(frame) > outside:
            break
        best = frame
    if best is None:
        raise ValueError(f"{outside:.3g} parameters beside the routed experts are too few for embeddings and attention")
    column = 3 * best.hidden_size * best.layers
    shared = max(0, round((outside - _outside_ffn(best)) / column))
    step = WIDTH_STEP if best.hidden_size >= LARGE_WIDTH else 1
    return replace(best, shared_expert_ffn_size=shared, expert_ffn_size=max(1, round(routed / (column * count) / step) * step))
