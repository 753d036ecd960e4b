"""The answer on memory: the record that passes between the formulas, the stages and the design."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from catalogs.quantities import quantity

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from catalogs.quantities import Quantity
    from rules.sizing.memory_ranges import Ends
    from rules.sizing.results import Range

    StageRanges = tuple[Mapping[str, Ends], ...]


@dataclass(frozen=True)
class MemoryEstimate:
    """Peak memory of the fullest GPU. `terms` are the expected parts; `verdict`: fits, at_risk, does_not_fit, unknown.

    `low`, `expected` and `high` are of everything on the device, every term at its end at once: they decide the verdict. `allocated` is
    what a framework's allocator reports as its peak, with fragmentation only where `reserved` memory is meant, and nine of ten measured
    peaks lie in its range. `fullest` is the place of the fullest pipeline stage; `every_stage` works out all of them when they are asked
    for, since a search makes many estimates of which one is shown.
    """

    low: Quantity
    expected: Quantity
    high: Quantity
    capacity: Quantity
    terms: Mapping[str, Quantity]
    every_stage: Callable[[], StageRanges] = field(repr=False, compare=False)
    largest_term: str
    verdict: str
    notes: tuple[str, ...] = ()
    allocated: Range | None = None
    fullest: int = 0
    reserved: bool = False

    @cached_property
    def stages_gib(self) -> StageRanges:
        """Return (low, expected, high) in GiB of every term on each pipeline stage."""
        return self.every_stage()

    @property
    def stages(self) -> tuple[Mapping[str, Quantity], ...]:
        """Return the expected terms of each pipeline stage."""
        return tuple({name: quantity(ends[1], "GiB") for name, ends in stage.items()} for stage in self.stages_gib)
