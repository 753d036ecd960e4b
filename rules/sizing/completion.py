"""When a run ends that is interrupted at random: mean and spread by formula, the chance of a deadline, and a simulation of events.

The model of both is that of Daly 2006 (eq. 20): a segment is an interval of work and its checkpoint; a failure throws the segment away
and costs a restart, which may fail too. Failures come at random with a mean time between them. Times are in seconds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from catalogs.sums import plain_sum

if TYPE_CHECKING:
    from collections.abc import Iterable

SWANSON = (0.3, 0.4, 0.3)
"""Weights of a low, expected and high case that stand for the 10th, 50th and 90th percentile [Swanson's rule: Hurst, Brown and Swanson,
AAPG Bulletin 84, 2000]."""
CUBE_ROOT_FROM_SHAPE = 20.0
"""From this shape on the cube root of a gamma variable is taken as normal, which is off by less than a thousandth [Wilson and Hilferty,
Proceedings of the National Academy of Sciences 17, 1931]."""
CERTAIN_EXPONENT = 40.0
"""A chance that differs from 0 or 1 by less than exp(-40), 4e-18, is 0 or 1: a double cannot tell."""
SERIES_TERMS, SERIES_PRECISION = 10_000, 1e-9
MULTIPLIER, INCREMENT, MODULUS = 6364136223846793005, 1442695040888963407, 2**64
"""The linear congruential generator of MMIX [Knuth, The Art of Computer Programming 2, 3.3.4]; its upper bits are used."""
LOWER_BITS, UPPER_BITS = 11, 2.0**-53
LARGEST_EXPONENT = 500.0
"""Where a segment or restart takes so many times the mean time between failures, the run never ends."""


@dataclass(frozen=True)
class Interrupted:
    """A run of `work` seconds without failures: `interval` of work, then a `pause`; a failure costs `restart` and comes every `mtbf`."""

    work: float
    interval: float
    pause: float
    restart: float
    mtbf: float

    @property
    def segments(self) -> int:
        """Return the number of segments: whole intervals, the work spread over them evenly."""
        return max(1, round(self.work / self.interval))

    @property
    def segment(self) -> float:
        """Return the length of a segment with its pause."""
        return self.work / self.segments + self.pause

    @property
    def shortest(self) -> float:
        """Return how long the run takes without a failure."""
        return self.segments * self.segment


@dataclass(frozen=True)
class Completion:
    """How long an interrupted run takes: mean and standard deviation in seconds, and the chance that nothing fails at all."""

    mean: float
    deviation: float
    untouched: float
    shortest: float


def completion(run: Interrupted) -> Completion:
    """Return mean and standard deviation of the time that a run takes; infinite where it never ends.

    A segment of length L succeeds with p = exp(-L/M); before that fail N tries, N geometric, each after a time Y < L, and each failure
    takes a restart D of which tries may fail as well. Mean of a segment: M·exp(R/M)·(exp(L/M) - 1), which is Daly's eq. 20; the variance
    is that of the random sum: E[N]·Var(Y + D) + Var(N)·E[Y + D]². Segments are independent, so that both add up.
    """
    rate, length = 1.0 / run.mtbf, run.segment
    if rate * length > LARGEST_EXPONENT or rate * run.restart > LARGEST_EXPONENT:
        return Completion(math.inf, math.inf, 0.0, run.shortest)
    fails = -math.expm1(-rate * length)
    success = math.exp(-rate * length)
    if fails <= 0.0:
        return Completion(run.shortest, 0.0, 1.0, run.shortest)
    tries, spread = fails / success, fails / success**2
    cut = success / fails
    lost = 1.0 / rate - length * cut
    lost_square = 2.0 / rate**2 - (length**2 + 2.0 * length / rate) * cut
    again = math.expm1(rate * run.restart) / rate
    again_variance = (math.exp(2 * rate * run.restart) - 2 * rate * run.restart * math.exp(rate * run.restart) - 1.0) / rate**2
    each, each_variance = lost + again, max(0.0, lost_square - lost**2) + max(0.0, again_variance)
    variance = tries * each_variance + spread * each**2
    mean = length + tries * each
    untouched = math.exp(-rate * length * run.segments)
    return Completion(run.segments * mean, math.sqrt(run.segments * variance), untouched, run.shortest)


def chance_of_finishing(run: Interrupted, deadline: float) -> float:
    """Return the chance, 0 to 1, that the run ends within `deadline` seconds, failures being the only thing that is uncertain.

    Without a failure it takes its shortest time; what failures add is taken as gamma distributed with the mean and the variance of
    `completion`, which is exact in both and close for few failures and for many.
    """
    found = completion(run)
    if deadline < found.shortest or math.isinf(found.mean):
        return 0.0
    if found.untouched >= 1.0 - SERIES_PRECISION:
        return 1.0
    some = 1.0 - found.untouched
    added = (found.mean - found.shortest) / some
    square = (found.deviation**2 + (found.mean - found.shortest) ** 2) / some
    variance = square - added**2
    if variance <= 0.0:
        return 1.0 if deadline >= found.shortest + added else found.untouched
    return found.untouched + some * gamma_below(added**2 / variance, (deadline - found.shortest) * added / variance)


def gamma_below(shape: float, value: float) -> float:
    """Return the chance that a gamma variable of `shape` and scale 1 is below `value`: the regularised lower incomplete gamma function."""
    if value <= 0.0:
        return 0.0
    # Chernoff's bound of either tail: beyond it the series would only add up to what is known.
    if shape * math.log(value / shape) - (value - shape) < -CERTAIN_EXPONENT:
        return 1.0 if value > shape else 0.0
    if shape > CUBE_ROOT_FROM_SHAPE:
        ninth = 1.0 / (9.0 * shape)
        return 0.5 * math.erfc(-((value / shape) ** (1.0 / 3.0) - (1.0 - ninth)) / math.sqrt(2.0 * ninth))
    front = math.exp(shape * math.log(value) - value - math.lgamma(shape + 1.0))
    term = total = 1.0
    for count in range(1, SERIES_TERMS):
        term *= value / (shape + count)
        total += term
        if term < total * SERIES_PRECISION:
            break
    return min(1.0, front * total)


def chance_with_bands(runs: Iterable[tuple[float, Interrupted]], deadline: float) -> float:
    """Return the chance of finishing over several cases, each with its weight: speeds and failure rates that are not known exactly."""
    return plain_sum(weight * chance_of_finishing(run, deadline) for weight, run in runs)


def simulated_times(run: Interrupted, runs: int, seed: int) -> list[float]:
    """Return the times of `runs` simulated runs, in seconds: failures, lost segments and restarts one after another, always the same ones.

    Failures are drawn one by one from the exponential distribution; nothing of the formulas above is used.
    """
    state = (seed * MULTIPLIER + INCREMENT) % MODULUS
    times = []
    for _ in range(runs):
        time, state = _simulated(run, state)
        times.append(time)
    return times


def _simulated(run: Interrupted, state: int) -> tuple[float, int]:
    """Return the time of one run and the generator's next state; the rules load no random numbers, so that they stay pure."""
    mean, segment, segments, restart = run.mtbf, run.segment, run.segments, run.restart
    logarithm = math.log
    clock, done = 0.0, 0
    while True:
        state = (state * MULTIPLIER + INCREMENT) % MODULUS
        until = -mean * logarithm(1.0 - (state >> LOWER_BITS) * UPPER_BITS)
        done_now = int(until // segment)
        if done + done_now >= segments:
            return clock + (segments - done) * segment, state
        done += done_now
        clock += until
        while True:
            state = (state * MULTIPLIER + INCREMENT) % MODULUS
            until = -mean * logarithm(1.0 - (state >> LOWER_BITS) * UPPER_BITS)
            if until >= restart:
                break
            clock += until
        clock += restart


def simulated_chance(run: Interrupted, deadline: float, runs: int, seed: int) -> float:
    """Return the share of simulated runs that end within `deadline` seconds."""
    return sum(each <= deadline for each in simulated_times(run, runs, seed)) / runs
