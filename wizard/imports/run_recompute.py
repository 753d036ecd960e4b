"""Partial recomputation: who recomputes whole layers to make a run fit does so in as few layers as it takes.

Megatron's `--recompute-method block` recomputes the first N layers of a stage and keeps the activations of the others
[Megatron-LM arguments; Korthikanti 2022 §5]; module by module the effect is the same. Time and memory are linear in N.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rules.sizing.hardware import Hardware
    from rules.sizing.memory import MemoryModel
    from rules.sizing.results import Plan


def offloads(plan: Plan, hardware: Hardware) -> bool:
    """Return whether activations can go to the host's memory instead of being recomputed.

    Superchips copy them at hundreds of GB/s beside the arithmetic; Megatron Core offloads only without pipeline parallelism
    [Megatron Bridge, CPU offloading; Llama 3 70B on GB200 with FSDP].
    """
    return hardware.superchip and plan.pipeline == 1


def partial(plan: Plan, kernel: MemoryModel, capacity: float) -> tuple[Plan, float]:
    """Return (the plan with selective recomputation, the share of its layers that must be recomputed in full to fit `capacity` bytes).

    The share is 1 for a plan that does not fit in any case, 0 for one that does not recompute in full.
    """
    if plan.recompute != "full":
        return plan, 0.0
    lighter = replace(plan, recompute="selective")
    most, least = kernel.peak_bytes(lighter)[1], kernel.peak_bytes(plan)[1]
    if most <= least:
        return lighter, 1.0
    return lighter, min(1.0, max(0.0, (most - capacity) / (most - least)))
