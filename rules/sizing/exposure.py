"""How much of each kind of communication a step waits for: what today's training code hides behind arithmetic, by hardware."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from rules.sizing.hardware import Hardware

OVERLAPPING = ("Hopper", "Blackwell", "Rubin", "Grace")
"""Architectures whose training code splits products to overlap tensor-parallel collectives [Transformer Engine userbuffers]."""


class Exposure(NamedTuple):
    """Shares of communication time that are not hidden; `hidden` is the share of a micro-batch behind which exchanges can hide.

    `in_training` is the share of an isolated collective's bandwidth that is left beside the arithmetic.
    """

    tensor: float
    expert: float
    context: float
    pipeline: float
    data: float
    sharded: float
    hidden: float
    in_training: float


TUNED = Exposure(tensor=0.4, expert=0.5, context=0.1, pipeline=0.1, data=0.1, sharded=0.1, hidden=0.8, in_training=0.7)
"""Hopper and later with overlap on. Tensor: 30–50 % of the collectives stay visible (an estimate; asynchronous tensor parallelism
gains 5.7 % [torchtitan]). Experts: 30–50 % with one-forward-one-backward overlap, else all [arXiv:2603.07685]. Sharded: 10 % beyond
what cannot hide [LLM-Foundry weak scaling, 128 to 512 H100: −5 to −10 %]. Collectives inside training run about 30 % slower than
alone [vTrain, arXiv:2312.12391]."""
UNTUNED = TUNED._replace(tensor=1.0, expert=1.0, pipeline=0.2)
"""Earlier GPUs and other vendors: tensor-parallel and expert collectives wait."""
CLASSIC = UNTUNED._replace(context=1.0, data=1.0, sharded=0.3)
"""Training code of 2021 and 2022: gradients are reduced after the backward pass [Korthikanti 2022 §6.3: +1.32 s of 37.83 s]."""


def exposure_of(hardware: Hardware, classic: bool = False) -> Exposure:
    """Return the exposure on `hardware`; `classic` for code from before fused attention and overlapped reductions."""
    if classic:
        return CLASSIC
    overlapping = hardware.fast_scale_up and any(name in hardware.architecture for name in OVERLAPPING)
    return TUNED if overlapping else UNTUNED
