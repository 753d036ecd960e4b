"""A cap on the GPUs' power as a lever of the design: what it saves, and what it costs in speed.

Near its rating a GPU spends much power on little speed, and far below it the speed collapses, since memory and idle power take their part
first. What is expected lies on a measured curve of training under caps; other measured caps lie on both sides of it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from rules.sizing.warm_air import shares_of

if TYPE_CHECKING:
    from catalogs.schema import Gpu, Node
    from rules.answers import Answers
    from rules.sizing.hardware import Hardware

READINGS = ((0.0, 0.0), (200 / 700, 0.320), (300 / 700, 0.594), (400 / 700, 0.821), (500 / 700, 0.915), (600 / 700, 0.966), (1.0, 1.0))
"""Share of a GPU's rating, and the speed that it keeps: an H100 of 700 W training Llama 3 8B gave 9,699, 17,982, 24,853, 27,705, 29,250
and 30,271 tokens per second at caps of 200 to 700 W [Mayr et al. 2026, arXiv:2603.16164, table 4]; straight lines between the readings."""
STEEPEST = 1.0
"""The least favourable reading: speed falls as power does. An H100 capped from 700 to 600 W was seen to lose 10 to 15 % of a training
step, which is about this [Factryze, power capping]."""
FLATTEST = 0.184
"""The most favourable one: an RTX 3090 capped from 350 to 250 W kept 94 % of its speed [Ozeki, multi-GPU power]."""
LOWEST_SHARE = 0.4
"""Drivers refuse caps below about this share of a GPU's rating: 200 of 700 W on an H100, 100 of 300 W on older boards."""


@dataclass(frozen=True)
class Cap:
    """A cap of `watts` on GPUs of `rating_w`, and the share of full speed that is left: low, expected, high."""

    watts: float
    rating_w: float

    @property
    def share(self) -> float:
        """Return the cap over the rating."""
        return self.watts / self.rating_w

    @property
    def speed(self) -> tuple[float, float, float]:
        """Return the share of arithmetic speed that is left: low, expected, high."""
        return speed_share(self.share)


def speed_share(share: float) -> tuple[float, float, float]:
    """Return (low, expected, high) of the arithmetic speed that a GPU keeps when its power is capped to `share` of its rating.

    Raises ValueError for a share that is not positive. A share of one and more caps nothing.
    Source: readings of an H100 in training, in between by interpolation; bounds from measured caps of another H100 and an RTX 3090.
    """
    if share <= 0:
        raise ValueError(f"the capped share of the power must be positive, not {share}")
    capped = min(1.0, share)
    (before, slower), (after, faster) = next(pair for pair in pairwise(READINGS) if capped <= pair[1][0])
    expected = slower + (faster - slower) * (capped - before) / (after - before)
    return min(capped**STEEPEST, expected), expected, capped**FLATTEST


def cap_of(node: Node, gpu: Gpu, answers: Answers) -> Cap | None:
    """Return the cap that was asked for; None where none was, where the GPU's rating is not published, or where it caps nothing."""
    asked = answers.number("facility.gpu_power_cap")
    rating = rating_w(node, gpu)
    return Cap(asked, rating) if asked is not None and rating is not None and asked < rating else None


def rating_w(node: Node, gpu: Gpu) -> float | None:
    """Return what one GPU may draw in this chassis in W; None where it is not published."""
    if gpu.power.maximum is None:
        return None
    each = gpu.power.maximum.to("W")
    return min(each, node.gpu_power_limit.to("W")) if node.gpu_power_limit is not None else each


def capped_hardware(hardware: Hardware, node: Node, gpu: Gpu, answers: Answers) -> Hardware:
    """Return the hardware with the arithmetic rates that a cap and warm air leave; memory and links keep theirs."""
    cap, warm = cap_of(node, gpu, answers), shares_of(node, answers)
    capped = hardware if cap is None else _slowed(hardware, cap.speed, f"{cap.speed[1]:.0%} of its speed at {cap.share:.0%} of its power")
    return capped if warm[0] >= 1.0 else _slowed(capped, warm, f"{warm[1]:.1%} of its clocks in the air that enters")


@lru_cache(maxsize=256)
def _slowed(hardware: Hardware, shares: tuple[float, float, float], words: str) -> Hardware:
    low, expected, high = shares
    rates = tuple(
        replace(rate, low=rate.low * low, sustained=rate.sustained * expected, high=rate.high * high, measured=False)
        for rate in hardware.rates
    )
    return replace(hardware, rates=rates, assumed=(*hardware.assumed, words))


def saved_kw(node: Node, cap: Cap | None) -> float:
    """Return the power in kW that a cap saves in one unit: that of its GPUs, without what fans and losses save with them."""
    return 0.0 if cap is None else node.gpu_count * (cap.rating_w - cap.watts) / 1000.0


def cap_that_fits(node: Node, gpu: Gpu, unit_kw: float, allowed_kw: float) -> float | None:
    """Return the cap in W per GPU with which a unit of `unit_kw` draws `allowed_kw`, rounded down to 5 W.

    None where nothing needs to be capped, where no rating is published, or where it would fall below LOWEST_SHARE of the rating.
    """
    rating = rating_w(node, gpu)
    if rating is None or allowed_kw >= unit_kw:
        return None
    watts = rating - (unit_kw - allowed_kw) * 1000.0 / node.gpu_count
    rounded = float(int((watts + 1e-6) // 5) * 5)
    return rounded if rounded >= LOWEST_SHARE * rating else None
