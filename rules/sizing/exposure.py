"""How much of each kind of communication a step waits for: what today's training code hides behind arithmetic, by hardware."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from rules.sizing.hardware import Hardware
    from rules.sizing.techniques import Techniques

OVERLAPPING = ("Hopper", "Blackwell", "Rubin", "Grace")
"""Architectures whose training code splits products to overlap tensor-parallel collectives [Transformer Engine userbuffers]."""


class Exposure(NamedTuple):
    """Shares of communication time that are not hidden; `hidden` is the share of a micro-batch behind which exchanges can hide.

    `expert` is for exchanges of experts that leave a scale-up domain, `expert_inside` for those that do not. `in_training` is the share of
    an isolated collective's bandwidth that is left beside the arithmetic. `plain_exchange`: every choice of a token is sent to its expert,
    also where several lie on one server [all-to-all of NCCL].
    """

    tensor: float
    expert: float
    context: float
    pipeline: float
    data: float
    sharded: float
    hidden: float
    in_training: float
    expert_inside: float = 1.0
    plain_exchange: bool = False


TUNED = Exposure(tensor=0.4, expert=0.5, context=0.1, pipeline=0.1, data=0.1, sharded=0.4, hidden=0.8, in_training=0.7)
"""Hopper and later with overlap on. Tensor: 30–50 % of the collectives stay visible (an estimate; asynchronous tensor parallelism
gains 5.7 % [torchtitan]). Experts: 30–50 % with one-forward-one-backward overlap, else all [arXiv:2603.07685]; recipes overlap exchanges
that cross servers, and inside a domain those of whole-step graphs only [Megatron Bridge recipes, moe_a2a_overlap]. Sharded: the first
gather and the last scatter of a pass have nothing to hide behind, and kernels slow down beside the others: about half of what
PyTorch's FSDP waits for (below). Collectives inside training run about 30 % slower than alone [vTrain, arXiv:2312.12391]."""
UNTUNED = TUNED._replace(tensor=1.0 / 0.7, expert=1.0, pipeline=0.2)
"""Earlier GPUs, other vendors and code without overlap: tensor-parallel and expert collectives wait."""
CLASSIC = UNTUNED._replace(tensor=1.0, context=1.0, data=1.0, sharded=0.3)
"""Training code of 2021 and 2022: gradients are reduced after the backward pass [Korthikanti 2022 §6.3: +1.32 s of 37.83 s]."""
WAITING_SHARDS = 0.7
"""Share of FSDP's gathers and scatters that is waited for: MPT 1.3B to 13B on 8 H100 take 0.03 to 0.3 s per step that do not grow with
the tokens, which is half to all of their exchange alone [LLM-Foundry throughput tables, steps of 4,096 to 65,536 tokens]."""

ASYNCHRONOUS_TENSOR = 2.0 / 3.0
"""Share of tensor-parallel collectives that stays visible with PyTorch's asynchronous tensor parallelism: it saves 20 of the about 60 µs
per token that they take for Llama 3 8B on 8 H100, 4,378 to 4,809 tokens/s [torchtitan, asynchronous tensor parallelism]."""


def exposure_of(hardware: Hardware, techniques: Techniques, fused_experts: bool) -> Exposure:
    """Return the exposure on `hardware` of a code with `techniques`; `fused_experts`: it runs experts so, in whole-step graphs."""
    if techniques.late_gradients:
        return CLASSIC
    overlapping = techniques.overlapped and hardware.fast_scale_up and any(name in hardware.architecture for name in OVERLAPPING)
    found = TUNED if overlapping else UNTUNED
    if fused_experts:
        found = found._replace(expert_inside=found.expert)
    if techniques.plain_exchange:
        found = found._replace(plain_exchange=True)
    if techniques.asynchronous:
        found = found._replace(tensor=found.tensor * ASYNCHRONOUS_TENSOR)
    return found._replace(sharded=WAITING_SHARDS) if techniques.waiting_shards else found
