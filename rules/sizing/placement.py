"""Where the ranks of a plan lie: how many GPUs of each scale-up domain a job uses, and whether its groups stay inside a domain.

Ranks are numbered through the domains in order, tensor parallelism innermost, so a group covers as many neighbours as its ranks and
their stride span. Groups stay inside only where that span divides the GPUs used of a domain: 64 neighbours in racks of 72 lie in two
racks for seven groups of nine. NVIDIA's own tables therefore run 256 GB200 as four racks with 64 GPUs each [Megatron Bridge
performance summary].
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rules.sizing.results import Plan

LEAST_USED = 0.75
"""Least share of a domain that a job uses so that its groups divide it: 64 of 72 are 0.89, 48 of 64 are 0.75. A proposal."""


def tiles(span: int, domain: int) -> bool:
    """Return whether groups of `span` neighbours fill domains of `domain` GPUs without straddling: one divides the other."""
    return domain % span == 0 or span % domain == 0


@lru_cache(maxsize=4096)
def spread_evenly(gpus: int, domain: int) -> int:
    """Return the GPUs per domain of a job of `gpus` that is spread evenly over as few domains as it can be; `domain` where it cannot."""
    if gpus <= domain:
        return gpus
    fewest = -(-gpus // domain)
    most = max(fewest, int(gpus / (LEAST_USED * domain)))
    return next((gpus // domains for domains in range(fewest, most + 1) if gpus % domains == 0), domain)


@lru_cache(maxsize=1024)
def rounded_domain(domain: int) -> int:
    """Return the most GPUs of a domain that are a power of two or three times one: 64 of 72; plans divide by them more often."""
    return max(odd << shift for odd in (1, 3) for shift in range(domain.bit_length()) if odd << shift <= domain)


def placed_domain(plan: Plan, domain: int) -> int:
    """Return how many GPUs of each domain the plan uses: as it says, else evenly where its groups then stay inside, else all."""
    return placed(plan.gpus, domain, plan.tensor * plan.context, plan.expert * plan.expert_tensor, plan.per_domain)


@lru_cache(maxsize=65536)
def placed(gpus: int, domain: int, dense: int, routed: int, used: int = 0) -> int:
    """Return the same for groups of `dense` and `routed` neighbours; `used` is what the plan says, 0 where it says nothing."""
    if gpus <= domain:
        return gpus
    if used:
        return min(used, domain)
    even = spread_evenly(gpus, domain)
    return even if tiles(dense, even) and tiles(routed, even) else domain


def _spans(plan: Plan) -> tuple[int, ...]:
    return plan.tensor, plan.tensor * plan.context, plan.expert * plan.expert_tensor


def widest_straddling(plan: Plan, domain: int) -> int:
    """Return the GPUs of the widest tensor, context or expert group that lies across domains without filling them; 1 where none does."""
    used = placed_domain(plan, domain)
    return max((span for span in _spans(plan) if not tiles(span, used)), default=1)


def most_domains(plan: Plan, domain: int) -> int:
    """Return over how many domains the plan's tensor, context and expert groups lie at most; 1 where all stay inside."""
    used = placed_domain(plan, domain)
    return max(-(-span // used) + (0 if tiles(span, used) else 1) for span in _spans(plan))


def expert_domains(plan: Plan, domain: int) -> int:
    """Return over how many domains an expert group lies at most, 1 where it stays inside or there is none.

    A group that does not fill the GPUs used of a domain lies across one more than its size needs: 48 of 72 lie in two racks for every
    second group.
    """
    span = plan.expert * plan.expert_tensor
    if plan.expert <= 1:
        return 1
    used = placed_domain(plan, domain)
    return -(-span // used) + (0 if tiles(span, used) else 1)
