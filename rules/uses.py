"""How many of the GPUs that are bought a plan uses, and the seconds of a step of the fastest plan on them."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from rules.sizing.placement import rounded_domain
from rules.sizing.plans import reaches, step_seconds

if TYPE_CHECKING:
    from rules.candidate import Context
    from rules.sizing.hardware import Hardware

MOST_IDLE = 0.75
"""A plan uses at least this share of the GPUs that are bought."""


class Use(NamedTuple):
    """How many of the GPUs that are bought a plan may use, and the hardware with how many of each scale-up domain they are."""

    gpus: int
    hardware: Hardware


@lru_cache(maxsize=4096)
def uses(gpus: int, hardware: Hardware) -> tuple[Use, ...]:
    """Return how many of `gpus` a plan may use: all, or fewer with a smooth factor, the rest standing idle.

    Seventy-two GPUs of a rack are nine times eight, and neither batches nor experts often divide by nine: 64 of each rack can be the
    faster choice, and are how published runs on several racks use them.
    """
    smooth = max((odd << shift for odd in (1, 3) for shift in range(gpus.bit_length()) if odd << shift <= gpus), default=gpus)
    domain = hardware.domain // hardware.devices
    rounded = rounded_domain(domain)
    uses = [Use(gpus, hardware)]
    if gpus > domain and gpus % domain == 0 and rounded < domain:
        uses = [Use(gpus, replace(hardware, per_domain=hardware.domain))]
        uses.append(Use(gpus // domain * rounded, replace(hardware, per_domain=rounded * hardware.devices)))
    if smooth not in {use.gpus for use in uses}:
        uses.append(Use(smooth, hardware))
    return tuple(use for use in uses if use.gpus >= MOST_IDLE * gpus)


def best_use(gpus: int, hardware: Hardware, context: Context) -> Use:
    """Return the use of `gpus` with the shortest step, the first of equals; later ones need only be told where they are faster."""
    best, *others = uses(gpus, hardware)
    least = seconds_of(best.hardware, best.gpus, context) if others else 0.0
    for use in others:
        seconds = seconds_of(use.hardware, use.gpus, context, least)
        best, least = (use, seconds) if seconds < least else (best, least)
    return best


def best_seconds(gpus: int, hardware: Hardware, context: Context, at_most: float = math.inf) -> float:
    """Return the shortest step time of the plans that may use `gpus`, infinite where none fits or all surely take longer than `at_most`."""
    return min(seconds_of(use.hardware, use.gpus, context, at_most) for use in uses(gpus, hardware))


def seconds_of(hardware: Hardware, gpus: int, context: Context, at_most: float = math.inf) -> float:
    """Return the step time of the best plan on exactly `gpus`, infinite where none fits or where it surely takes longer than `at_most`."""
    seconds = step_seconds(context.workload, hardware, gpus, context.answers, at_most)
    return math.inf if seconds is None else seconds


def reached(hardware: Hardware, gpus: int, context: Context, seconds: float) -> bool:
    """Return whether the step of the best plan on exactly `gpus` takes at most `seconds`."""
    return reaches(context.workload, hardware, gpus, context.answers, seconds)
