"""Ranges of a memory peak: how the ends of its terms add up, and what several possible runs have in common.

Two ranges answer two questions. The outer one adds all low ends and all high ends: nothing that is known of lies beyond, so that it
decides whether a plan may be refused or is sure to fit. The likely one adds the distances of the ends as independent errors do, by the
root of the sum of their squares: ends that are bounds of even spread are 1.73 standard deviations away, so that more than nine of ten
sums lie inside [JCGM 100:2008 (GUM) §4.3.7 and §5.1.2].
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from catalogs.sums import plain_sum

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Ends = tuple[float, float, float]
"""(low, expected, high) of one term, all in one unit."""


def term_ranges(terms: Sequence[float], ends: Sequence[tuple[float, float]]) -> tuple[Ends, ...]:
    """Return (low, expected, high) of every term from its expected value and the factors of its ends."""
    return tuple((value * down, value, value * up) for value, (down, up) in zip(terms, ends, strict=True))


def outer(terms: Iterable[Ends]) -> Ends:
    """Return the sums of all low ends, all expected values and all high ends."""
    low = expected = high = 0.0
    for down, value, up in terms:
        low, expected, high = low + down, expected + value, high + up
    return low, expected, high


def likely(terms: Iterable[Ends]) -> Ends:
    """Return the range of a sum whose terms err independently of each other: the root of the sum of the squared distances."""
    expected = below = above = 0.0
    for down, value, up in terms:
        expected += value
        below += (value - down) ** 2
        above += (up - value) ** 2
    return max(0.0, expected - math.sqrt(below)), expected, expected + math.sqrt(above)


def outermost(found: Sequence[Ends]) -> Ends:
    """Return one range for what can have been any of several: the outermost ends, the mean of the expected values.

    Raises ValueError without any.
    """
    if not found:
        raise ValueError("expected at least one range")
    return min(each[0] for each in found), plain_sum(each[1] for each in found) / len(found), max(each[2] for each in found)


def either(found: Sequence[Ends]) -> Ends:
    """Return the likely range of a term that can be any of several: which of them it is errs independently of the ends of each.

    Raises ValueError without any.
    """
    low, expected, high = outermost([(each[1], each[1], each[1]) for each in found])
    below, above = max(each[1] - each[0] for each in found), max(each[2] - each[1] for each in found)
    return max(0.0, expected - math.hypot(expected - low, below)), expected, expected + math.hypot(high - expected, above)
