"""What makes a plan divide: other numbers of GPUs, and the tensor-parallel ranks that leave so many data-parallel ones."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from rules.smallest import OTHER_COST, SmallestChange

if TYPE_CHECKING:
    from rules.candidate import Candidate
    from rules.whynot.wishes import Wish

SIZE, TENSOR = "scale.gpus", "parallelism.tensor"
PARTS = (TENSOR, "parallelism.pipeline", "parallelism.context")
"""The parts of a plan whose product, with the data-parallel ranks, is the number of GPUs."""


def plan_changes(wish: Wish, candidate: Candidate) -> tuple[SmallestChange, ...]:
    """Return changes after which a plan may divide over the servers of a candidate, the smallest first; whether it does must be asked."""
    parts = {key: int(str(wish.changes[key])) for key in PARTS if key in wish.changes}
    product, data = math.prod(parts.values()), wish.data
    if product < 1:
        return ()
    rows = []
    if data and TENSOR not in parts and candidate.gpus % (product * data) == 0:
        ranks = candidate.gpus // (product * data)
        rows.append(SmallestChange(TENSOR, "", str(ranks), OTHER_COST, f"{ranks} tensor-parallel ranks leave {data} data-parallel ones"))
    step = math.lcm(product * (data or 1), candidate.node.gpu_count)
    below = candidate.gpus // step * step
    for gpus in dict.fromkeys((below, below + step)):
        if gpus not in (0, candidate.gpus):
            cost = max(gpus / candidate.gpus, candidate.gpus / gpus) - 1.0
            rows.append(SmallestChange(SIZE, f"{candidate.gpus}", f"{gpus}", cost, f"take {gpus:,} GPUs, which the plan divides"))
    return tuple(sorted(rows, key=lambda each: each.cost))
