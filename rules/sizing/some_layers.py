"""Recomputation of some layers only: as few layers of each stage as it takes for a plan to fit.

Who recomputes whole layers to make a run fit does so in as few as it takes: memory and time are linear in their number
[Megatron-LM, --recompute-method block and --recompute-num-layers; arXiv:2205.05198 §5].
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rules.sizing.plan_results import Found

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from rules.sizing.memory import MemoryModel
    from rules.sizing.plan_space import Fixed
    from rules.sizing.results import Plan


def fewest_layers(kernel: MemoryModel, plan: Plan, capacity: float) -> int:
    """Return in how many layers of each stage `plan` must recompute everything to surely fit `capacity` bytes, the others keeping all.

    0 where it fits without, or takes all layers, or does not fit so either.
    """
    layers = max(part.layers for part in kernel.stages(plan))

    def fits(count: int) -> bool:
        return kernel.peak_bytes(replace(plan, recompute="full", recompute_layers=count))[2] <= capacity

    if kernel.peak_bytes(replace(plan, recompute="none", recompute_layers=0))[2] <= capacity or layers < 2 or not fits(layers - 1):
        return 0
    low, high = 1, layers - 1
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if fits(middle) else (middle + 1, high)
    return low


def with_fewer_layers(
    found: Iterable[Found], kernel: MemoryModel, capacity: float, fixed: Fixed, seconds: Callable[[Plan], float]
) -> list[Found]:
    """Return plans that fit; what recomputes everything does so in as few layers as it takes, unless the answers say where."""
    if fixed.recompute is not None:
        return list(found)
    made = []
    for each in found:
        count = fewest_layers(kernel, each.plan, capacity) if each.fits and each.plan.recompute == "full" else 0
        plan = replace(each.plan, recompute_layers=count)
        made.append(Found(plan, seconds(plan), kernel.peak_bytes(plan), True) if count else each)
    return made
