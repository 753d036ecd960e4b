"""Where nodes and switches stand in the hall, and how long the cable between two racks is.

Racks stand in rows; those of the network are in the middle, each kind of switch spread evenly over them (`rules.sizing.placed`). A cable
goes up to the tray over its row, along it, over a cross tray to another row, and down again.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import accumulate
from math import ceil
from typing import TYPE_CHECKING, NamedTuple

from rules.sizing.fabric.optics import SHORT_REACH_M

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rules.sizing.equipment import Load
    from rules.sizing.facility import Placement

SAME_RACK_M = 2.0
"""Run inside one rack; also the longest straight passive cable at 100 Gb/s lanes [NVIDIA LinkX copper overview]."""
NEIGHBOUR_RACKS_M = 5.0
"""Run between two neighbouring racks; the longest active copper cable at 100 Gb/s lanes [NVIDIA LinkX product overview]."""
NEAR_NODES = ("compute leaf", "out-of-band leaf")
"""What stands near its nodes in a hall whose middle is far from them: short cables, and copper that ends at 100 m."""
RACK_WIDTH_M, ROW_RACKS, ROW_PITCH_M = 0.6, 20, 3.6
"""A usual row: racks 600 mm wide, twenty in a row, rows 3.6 m apart with their aisles. Assumed until the hall is described."""
UP_AND_DOWN_M = 7.0
"""Both ends up to the tray and down again (2 × 2 m) and slack (3 m). Assumed until the hall is described."""
CROSS_TRAYS = (0, ROW_RACKS // 2, ROW_RACKS)
"""Positions of the trays that cross the rows, in racks from the start of a row: both ends and the middle. Assumed like the rows."""
SOLD_LENGTHS_M = (1.0, 2.0, 3.0, 5.0, 10.0, 15.0, 20.0, 30.0)
"""Lengths that are kept in stock: those of NVIDIA's active optical cables [MFS1S50 ordering information], copper from 1 m on."""
CUT_M = 10.0
"""Longer fibres are taken in steps of ten metres; assumed, vendors make them to order."""


@lru_cache(maxsize=65536)
def run_m(first: int, second: int) -> float:
    """Return the length in m of a cable between racks at two places of the hall, counted from 1 along the rows.

    Inside a rack and between neighbours in a row cables need no tray. Rows are joined by the nearest cross tray.
    """
    if first == second:
        return SAME_RACK_M
    (row, column), (other_row, other) = divmod(first - 1, ROW_RACKS), divmod(second - 1, ROW_RACKS)
    if row == other_row:
        along = abs(column - other)
        return NEIGHBOUR_RACKS_M if along == 1 else UP_AND_DOWN_M + along * RACK_WIDTH_M
    along = min(abs(column - cross) + abs(other - cross) for cross in CROSS_TRAYS)
    return UP_AND_DOWN_M + along * RACK_WIDTH_M + abs(row - other_row) * ROW_PITCH_M


Rows = tuple[tuple[int, tuple[int, ...]], ...]
"""Places by the row that they are in: (row, columns in rising order), both counted from 0."""


@lru_cache(maxsize=16384)
def rows_of(places: frozenset[int]) -> Rows:
    """Return places of the hall by row."""
    found: dict[int, set[int]] = {}
    for place in places:
        row, column = divmod(place - 1, ROW_RACKS)
        found.setdefault(row, set()).add(column)
    return tuple((row, tuple(sorted(columns))) for row, columns in found.items())


def longest_run(first: Iterable[int], second: Iterable[int]) -> float:
    """Return the longest run in m between any two places; 0 where either side is empty."""
    return longest_between(rows_of(frozenset(first)), rows_of(frozenset(second)))


def longest_between(first: Rows, second: Rows) -> float:
    """Return what `longest_run` does, of places that are known by row: only one run of every two rows is looked at, the longest."""
    longest = 0.0
    for row, columns in first:
        for other_row, others in second:
            if row == other_row:
                along = max(columns[-1] - others[0], others[-1] - columns[0])
                run = run_m(1, 1 + abs(along))
            else:
                run = UP_AND_DOWN_M + _across(columns, others) * RACK_WIDTH_M + abs(row - other_row) * ROW_PITCH_M
            longest = max(longest, run)
    return longest


class RunsTo(dict[int, float]):
    """The longest run in m to some places by the place of the other end, worked out when asked for."""

    def __init__(self, places: frozenset[int]) -> None:
        super().__init__()
        self.rows = rows_of(places)
        self.only = next(iter(places)) if len(places) == 1 else 0

    def __missing__(self, place: int) -> float:
        length = self[place] = run_m(place, self.only) if self.only else longest_between(rows_of(frozenset((place,))), self.rows)
        return length


@lru_cache(maxsize=1024)
def runs_to(places: frozenset[int]) -> RunsTo:
    """Return the runs to some places; the halls of all candidates are alike, so that they are kept."""
    return RunsTo(places)


@lru_cache(maxsize=16384)
def _across(columns: tuple[int, ...], others: tuple[int, ...]) -> int:
    """Return the longest way in racks between columns of different rows, each over the nearest cross tray."""
    return max(min(abs(column - cross) + abs(other - cross) for cross in CROSS_TRAYS) for column in columns for other in others)


@lru_cache(maxsize=65536)
def tray_path(first: int, second: int) -> str:
    """Return the way of a cable between two places as a technician reads it."""
    if first == second:
        return "inside the rack"
    (row, column), (other_row, other) = divmod(first - 1, ROW_RACKS), divmod(second - 1, ROW_RACKS)
    if row == other_row:
        return "to the next rack" if abs(column - other) == 1 else f"row {row + 1}"
    cross = min(CROSS_TRAYS, key=lambda each: abs(column - each) + abs(other - each))
    return f"row {row + 1}, cross tray {CROSS_TRAYS.index(cross) + 1}, row {other_row + 1}"


@lru_cache(maxsize=4096)
def sold_m(length_m: float) -> float:
    """Return the length in m to buy for a run of `length_m`: the next one in stock, or the next step of ten metres."""
    if length_m <= SOLD_LENGTHS_M[-1]:
        return SOLD_LENGTHS_M[bisect_left(SOLD_LENGTHS_M, length_m - 1e-9)]
    return CUT_M * ceil(length_m / CUT_M - 1e-9)


class Span(NamedTuple):
    """Switches `first` to `last` of one role, counted from 1, that stand at one place of the hall."""

    first: int
    last: int
    place: int


@dataclass(frozen=True)
class Floor:
    """Where things stand: `racks` racks of `per_rack` nodes each, in two halves, with those of network and storage (`others`) between.

    `near` are further racks of the network, each near the nodes that it serves: the racks of nodes that stand before it, in rising order.

    `spans` say by role ("compute leaf") which switches stand where, in rising order. `power_units` are the metered power units of each rack
    in the order of racks, those with nodes first; None until racks are planned. `estimated` until then too. `tanks` of the racks with nodes
    are tanks.
    """

    racks: int
    per_rack: int
    others: int
    spans: Mapping[str, tuple[Span, ...]] = field(default_factory=dict)
    estimated: bool = True
    power_units: tuple[int, ...] | None = None
    near: tuple[int, ...] = ()
    tanks: int = 0

    def node_place(self, node: int) -> int:
        """Return the place of the rack of a node by its index from 0."""
        return self.rack_place(min(node // self.per_rack, self.racks - 1))

    def rack_place(self, rack: int) -> int:
        """Return the place of a rack of nodes by its index from 0."""
        return rack + 1 + bisect_right(self.near, rack) + (self.others if rack >= self._half else 0)

    @property
    def other_places(self) -> tuple[int, ...]:
        """Return the places of all racks without nodes: those near nodes, then those in the middle."""
        near = (rack + index + 1 + (self.others if rack > self._half else 0) for index, rack in enumerate(self.near))
        return (*near, *range(self.middle, self.middle + self.others))

    @cached_property
    def _half(self) -> int:
        return ceil(self.racks / 2)

    def place(self, role: str, number: int) -> int:
        """Return the place of device `number` of a role, counted from 1; what was not placed stands in the middle of the hall."""
        spans, lasts = self.spans.get(role, ()), self._lasts.get(role, ())
        index = bisect_left(lasts, number)
        return spans[index].place if index < len(spans) else self.middle

    def places_of(self, role: str, first: int, last: int) -> frozenset[int]:
        """Return the places of devices `first` to `last` of a role, as `place` tells them one by one."""
        if last < first:
            return frozenset()
        if first == last:
            return frozenset((self.place(role, first),))
        spans, lasts = self.spans.get(role, ()), self._lasts.get(role, ())
        found = set()
        for index in range(bisect_left(lasts, first), len(spans)):
            found.add(spans[index].place)
            if lasts[index] >= last:
                return frozenset(found)
        return frozenset(found | {self.middle})

    @cached_property
    def _lasts(self) -> dict[str, tuple[int, ...]]:
        """Return by role the last device of each span or of one before it."""
        return {role: tuple(accumulate((span.last for span in spans), max)) for role, spans in self.spans.items()}

    @property
    def middle(self) -> int:
        """Return the place of the first rack of the network, or of the rack in the middle where it has none."""
        return self._half + bisect_right(self.near, self._half) + (1 if self.others else 0) if self.racks else 1

    @property
    def places(self) -> int:
        """Return the number of all racks."""
        return self.racks + self.others + len(self.near)


def estimated_floor(racks: int, per_rack: int, others: int, roles: Mapping[str, int]) -> Floor:
    """Return the floor before racks are planned: every role's devices spread evenly over `others` racks, or beside the nodes without."""
    middle = ceil(racks / 2)
    spans: dict[str, tuple[Span, ...]] = {}
    for role, count in roles.items():
        if not others:
            spans[role] = (Span(1, count, max(1, racks)),)
            continue
        ends = [count * (rack + 1) // others for rack in range(others)]
        firsts = [1, *(end + 1 for end in ends[:-1])]
        dealt = enumerate(zip(firsts, ends, strict=True), start=middle + 1)
        spans[role] = tuple(Span(first, last, place) for place, (first, last) in dealt if last >= first)
    return Floor(max(1, racks), max(1, per_rack), others, spans)


def placed_floor(placement: Placement, nodes_per_unit: int, power_units: Sequence[int]) -> Floor:
    """Return the floor of planned racks; `nodes_per_unit` scale-out nodes make one unit of the racks' plan (the trays of a rack).

    `power_units` are those of one rack of each plan.
    """
    plan = placement.plans[0]
    loads = [load for each in placement.loads for load in each]
    count = sum(all(each.role in NEAR_NODES for each in load.boxes) for load in loads) if far_hall(plan.racks) else 0
    near = tuple(round((index + 0.5) * plan.racks / count) for index in range(count))
    metered = tuple(each for one, units in zip(placement.plans, power_units, strict=True) for each in [units] * one.racks)
    floor = Floor(
        max(1, plan.racks), max(1, plan.nodes_per_rack * nodes_per_unit), len(loads) - count, {}, False, metered, near,
    )  # fmt: skip
    found: dict[str, list[Span]] = {}
    _collect(found, placement.beside, floor.places)
    for load, place in zip(loads, floor.other_places, strict=True):
        _collect(found, (load,), place)
    return replace(floor, spans={role: tuple(sorted(each, key=lambda span: span.first)) for role, each in found.items()})


def far_hall(racks: int) -> bool:
    """Return whether the first of so many racks of nodes is farther from their middle than short-reach optics reach."""
    return run_m(1, racks // 2 + 1) > SHORT_REACH_M


def _collect(found: dict[str, list[Span]], loads: Iterable[Load], place: int) -> None:
    for load in loads:
        for boxes in load.boxes:
            found.setdefault(boxes.role, []).append(Span(boxes.first, boxes.first + boxes.count * boxes.holds - 1, place))
