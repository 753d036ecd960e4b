"""A plan that was asked about, weighed by itself on the servers of the design: whether it fits, and what its step takes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rules.sizing.memory_remedies import rated
from rules.sizing.site_measured import site_hardware
from rules.sizing.step import is_transformer
from rules.whynot.obstacles import Obstacle

if TYPE_CHECKING:
    from rules.candidate import Candidate, Context
    from rules.whynot.wishes import Wish

GIB = 2.0**30
PARALLELISM = "parallelism."
FITS, RULE = "fits", "plans.slower"


def plan_obstacle(wish: Wish, candidate: Candidate, context: Context) -> Obstacle | None:
    """Return what stands against a plan by itself: its memory, else the faster plan; None where it does not divide these GPUs."""
    choice, workload = candidate.choice, context.workload
    if choice is None or not is_transformer(workload.model):
        return None
    parts: dict[str, Any] = {key.removeprefix(PARALLELISM): value for key, value in wish.changes.items() if key.startswith(PARALLELISM)}
    parts.pop("mode", None)
    plan = replace(type(choice.plan)(zero_stage=choice.plan.zero_stage), **parts)
    inside = plan.tensor * plan.pipeline * plan.context
    plan = replace(plan, data=candidate.gpus // inside)
    if candidate.gpus % inside or (wish.data and plan.data != wish.data) or workload.global_batch % (plan.data * plan.micro_batch):
        return None
    hardware = site_hardware(candidate.node, candidate.gpu, context)
    found = rated(workload, plan, hardware)
    low, expected, high = (each / GIB for each in found.peak)
    if found.verdict != FITS:
        can = "is expected not to fit" if expected * GIB > hardware.memory_bytes else "may run out of memory"
        peak = f"{expected:.1f} GiB ({low:.1f} to {high:.1f}) of the {hardware.memory_bytes / GIB:.1f} GiB"
        return Obstacle("search", "plans.memory", f"{plan.label} {can}: its fullest GPU would hold {peak} of {candidate.gpu.name}")
    other = choice.step.expected.to("s").magnitude
    return Obstacle("search", RULE, f"{plan.label} fits; its step takes {found.seconds:,.4g} s, that of {choice.plan.label} {other:,.4g} s")
