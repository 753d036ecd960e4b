"""What a plan search finds: plans with their time and memory, the best of both together, and what was ruled out and why."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rules.sizing.results import Plan

SIMPLER_WITHIN = 1.005
"""A simpler plan that takes at most so much longer is preferred: half a percent is far below the model's own error."""
NO_MEMORY = "does not fit in memory"
AT_RISK = "may run out of memory"


class Found(NamedTuple):
    """A plan that may run: its step time in seconds, its peak memory (low, expected, high) in bytes, and whether it surely fits."""

    plan: Plan
    seconds: float
    memory: tuple[float, float, float]
    fits: bool


class Point(NamedTuple):
    """The fastest plan of one sharding: its step time in seconds, the high end of its peak memory in bytes, whether it surely fits."""

    seconds: float
    peak: float
    fits: bool


@dataclass(frozen=True)
class PlanSearch:
    """What the search of one size found: plans, best first; how many were looked at; how many were ruled out for which reason.

    `nearest` is the plan that needs the least memory. A `complete` search looked at every plan: `enumerated` is `ranked` and the sum
    of `rejected`; `pareto` are the plans that none beats in both time and memory, fastest first; `unlimited` is the fastest whatever its
    memory; `points` are the fastest of each sharding, for a picture; `faster` counts the ranked plans that beat a given time.
    """

    found: tuple[Found, ...]
    enumerated: int
    rejected: Mapping[str, int] = field(default_factory=dict)
    nearest: Found | None = None
    ranked: int = 0
    pareto: tuple[Found, ...] = ()
    unlimited: Found | None = None
    points: tuple[Point, ...] = ()
    complete: bool = False
    faster: int = 0


def complexity(plan: Plan) -> tuple[int, int, int]:
    """Return what orders plans from simple to complex."""
    return (plan.tensor * plan.pipeline * plan.context, plan.expert, plan.virtual_stages)


def simplest_first(found: Iterable[Found]) -> tuple[Found, ...]:
    """Return the plans by time, with the simplest of those within half a percent of the fastest in front."""
    ordered = sorted(found, key=lambda each: each.seconds)
    if not ordered:
        return ()
    near = [each for each in ordered if each.seconds <= SIMPLER_WITHIN * ordered[0].seconds]
    first = min(near, key=lambda each: (complexity(each.plan), each.seconds))
    return (first, *(each for each in ordered if each is not first))


def pareto_of(found: Iterable[Found]) -> list[Found]:
    """Return the plans that none beats in both time and the high end of memory, fastest first."""
    kept: list[Found] = []
    for each in sorted(found, key=lambda one: (one.seconds, one.memory[2])):
        if not kept or each.memory[2] < kept[-1].memory[2]:
            kept.append(each)
    return kept
