"""The exhaustive search: all plans timed and sized, ranked by time, the best of time and memory together, and every one accounted for."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from rules.sizing.plan_arrays.footprint import Footprint
from rules.sizing.plan_arrays.space import NOTHING_SHARED, enumerate_grid
from rules.sizing.plan_arrays.timing import Timing
from rules.sizing.plan_results import AT_RISK, NO_MEMORY, Found, PlanSearch, Point, pareto_of, simplest_first
from rules.sizing.some_layers import with_fewer_layers

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from rules.sizing.hardware import Hardware
    from rules.sizing.memory import MemoryModel
    from rules.sizing.plan_arrays.space import Option, Rows
    from rules.sizing.plan_arrays.tables import Reals
    from rules.sizing.plan_space import Fixed
    from rules.sizing.results import Workload
    from rules.sizing.step import StepModel

    Mask = npt.NDArray[np.bool_]

CHUNK = 32_768
"""Rows that are worked on at once: some hundred columns of them stay under 50 MB."""
KEPT = 32
"""Fastest plans that are kept of each chunk and option."""
UNFIT = 1e6
"""Orders plans that do not fit behind all that do."""
SAME = 1e-9
"""Times that differ by less are the same: so far both forms of the model agree."""
MOST_POINTS = 400
"""Plans that a picture shows: the fastest of each sharding, thinned out."""


@dataclass
class Ranking:
    """What has been found so far. Seconds and bytes."""

    capacity: float
    than: float = 0.0
    faster: int = 0
    ranked: int = 0
    rejected: dict[str, int] = field(default_factory=dict)
    best: list[Found] = field(default_factory=list)
    risky: list[Found] = field(default_factory=list)
    front: list[Found] = field(default_factory=list)
    points: list[Point] = field(default_factory=list)
    nearest: Found | None = None
    unlimited: Found | None = None

    def reject(self, reason: str, count: int) -> None:
        """Count plans as rejected."""
        if count:
            self.rejected[reason] = self.rejected.get(reason, 0) + count


class _Chunk:
    """Some rows with the times and peaks of all options."""

    def __init__(self, rows: Rows, model: StepModel, kernel: MemoryModel, ranking: Ranking) -> None:
        self.rows, self.ranking = rows, ranking
        self.timing, self.footprint = Timing(model, rows), Footprint(kernel, rows)
        self.alone = rows.data * rows.context == 1
        self.starts = np.flatnonzero(np.diff(rows.sharding, prepend=-1))
        self.shown: list[tuple[Reals, Reals]] = []

    def run(self, options: tuple[Option, ...]) -> None:
        """Rank the chunk."""
        for option in options:
            self._rank(option)
        if self.shown:
            seconds, peaks = (np.array(each) for each in zip(*self.shown, strict=True))
            choice = seconds.argmin(axis=0), np.arange(seconds.shape[1])
            for key, size in zip(seconds[choice].tolist(), peaks[choice].tolist(), strict=True):
                if key < np.inf:
                    fits = size <= self.ranking.capacity
                    self.ranking.points.append(Point(key if fits else key / UNFIT, size, fits))

    def _rank(self, option: Option) -> None:
        ranking, rows = self.ranking, self.rows
        seconds = self.timing.seconds(option)
        peaks = low, expected, high = self.footprint.peaks(option)
        real = ~self.alone if option.zero_stage else np.ones(len(rows), dtype=np.bool_)
        fits = real & (high <= ranking.capacity)
        tight = real & ~fits & (low <= ranking.capacity)
        ranking.reject(NOTHING_SHARED, len(rows) - int(real.sum()))
        ranking.ranked += int(fits.sum())
        ranking.faster += int((fits & (seconds < ranking.than * (1 - SAME))).sum())
        ranking.reject(AT_RISK, int(tight.sum()))
        ranking.reject(NO_MEMORY, int((real & (low > ranking.capacity)).sum()))
        self._keep(ranking.best, fits, seconds, peaks, option)
        self._keep(ranking.risky, tight & (expected <= ranking.capacity), seconds, peaks, option)
        self._front(fits, seconds, peaks, option)
        ranking.nearest = self._least(ranking.nearest, real, expected, seconds, peaks, option, by_memory=True)
        ranking.unlimited = self._least(ranking.unlimited, real, seconds, seconds, peaks, option, by_memory=False)
        self._show(np.where(real, np.where(fits, seconds, seconds * UNFIT), np.inf), high)

    def _show(self, key: Reals, high: Reals) -> None:
        """Note the fastest plan of each sharding under an option, those that fit before all others, and its peak."""
        best = np.minimum.reduceat(key, self.starts)
        of = np.repeat(best, np.diff(np.append(self.starts, len(key))))
        self.shown.append((best, np.minimum.reduceat(np.where(key == of, high, np.inf), self.starts)))

    def _found(self, row: int, option: Option, seconds: Reals, peaks: tuple[Reals, Reals, Reals]) -> Found:
        low, expected, high = (float(each[row]) for each in peaks)
        return Found(self.rows.plan(row, option), float(seconds[row]), (low, expected, high), high <= self.ranking.capacity)

    def _keep(self, kept: list[Found], mask: Mask, seconds: Reals, peaks: tuple[Reals, Reals, Reals], option: Option) -> None:
        """Add the fastest of `mask` that are faster than the slowest kept, and drop the slowest beyond so many."""
        if len(kept) >= KEPT:
            mask = mask & (seconds < kept[-1].seconds)
        rows = np.flatnonzero(mask)
        if not len(rows):
            return
        if len(rows) > KEPT:
            rows = rows[np.argpartition(seconds[rows], KEPT)[:KEPT]]
        kept += [self._found(int(row), option, seconds, peaks) for row in rows]
        kept.sort(key=lambda each: each.seconds)
        del kept[KEPT:]

    def _front(self, fits: Mask, seconds: Reals, peaks: tuple[Reals, Reals, Reals], option: Option) -> None:
        """Add to the front what no plan of it beats in time and memory."""
        ranking, high = self.ranking, peaks[2]
        rows = np.flatnonzero(fits)
        if ranking.front and len(rows):
            times = np.array([each.seconds for each in ranking.front])
            sizes = np.array([each.memory[2] for each in ranking.front])
            before = np.searchsorted(times, seconds[rows], side="right") - 1
            rows = rows[(before < 0) | (high[rows] < sizes[np.maximum(before, 0)])]
        if not len(rows):
            return
        order = rows[np.lexsort((high[rows], seconds[rows]))]
        least = np.minimum.accumulate(high[order])
        order = order[np.append(True, high[order][1:] < least[:-1])]
        ranking.front = pareto_of([*ranking.front, *(self._found(int(row), option, seconds, peaks) for row in order)])

    def _least(
        self,
        known: Found | None,
        mask: Mask,
        value: Reals,
        seconds: Reals,
        peaks: tuple[Reals, Reals, Reals],
        option: Option,
        *,
        by_memory: bool,
    ) -> Found | None:
        """Return the plan with the least expected memory or time, of the known one and those of `mask`."""
        row = int(np.where(mask, value, np.inf).argmin())
        best = np.inf if known is None else known.memory[1] if by_memory else known.seconds
        return self._found(row, option, seconds, peaks) if mask[row] and value[row] < best else known


def rank_all(
    workload: Workload, hardware: Hardware, gpus: int, fixed: Fixed, model: StepModel, kernel: MemoryModel, *, than: float = 0.0
) -> PlanSearch:
    """Return every plan of a transformer `workload` on `gpus` GPUs, ranked; only those that keep to what `fixed` says.

    Ranked plans that take less than `than` seconds are counted.
    """
    grid = enumerate_grid(workload, hardware, gpus, fixed, lora=not kernel.trained.full)
    ranking = Ranking(hardware.memory_bytes, than)
    for begin in range(0, len(grid.rows), CHUNK):
        _Chunk(grid.rows.part(begin, begin + CHUNK), model, kernel, ranking).run(grid.options)
    for reason, count in grid.ruled_out.items():
        ranking.reject(reason, count)
    found = with_fewer_layers(ranking.best, kernel, ranking.capacity, fixed, lambda plan: model.time(plan).total)
    if not found:
        found = ranking.risky or [each for each in (ranking.nearest,) if each and each.memory[0] <= ranking.capacity]
        _count_risky(ranking, found)
    return PlanSearch(
        found=simplest_first(found),
        enumerated=grid.plans + sum(grid.ruled_out.values()),
        rejected=ranking.rejected,
        nearest=ranking.nearest,
        ranked=ranking.ranked,
        pareto=tuple(ranking.front) or tuple(found[:1]),
        unlimited=ranking.unlimited,
        points=tuple(_thinned(ranking.points)),
        complete=True,
        faster=ranking.faster,
    )


def _count_risky(ranking: Ranking, found: list[Found]) -> None:
    """Move plans at risk that are ranked for want of better ones from the rejected to the ranked."""
    moved = len(found)
    if moved:
        left = ranking.rejected[AT_RISK] - moved
        ranking.ranked += moved
        ranking.rejected = {**ranking.rejected, AT_RISK: left} if left else _without(ranking.rejected, AT_RISK)


def _without(counts: Mapping[str, int], reason: str) -> dict[str, int]:
    return {name: count for name, count in counts.items() if name != reason}


def _thinned(points: list[Point]) -> list[Point]:
    """Return at most so many points, spread evenly over their order in time."""
    ordered = sorted(points)
    step = max(1, -(-len(ordered) // MOST_POINTS))
    return ordered[::step]
