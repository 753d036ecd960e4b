"""Sums that are the same to the last digit on every version of Python."""

from __future__ import annotations

from functools import reduce
from operator import add
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def plain_sum(values: Iterable[float]) -> float:
    """Return the values added one after the other, 0 where there are none.

    From 3.12 on, `sum` makes up for the rounding of floats, so its last digit may differ from that of 3.11; a figure at the edge of a
    rounding then reads another way. Of whole numbers both are the same.
    """
    return reduce(add, values, 0)
