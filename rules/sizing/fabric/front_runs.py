"""How long the links of the network for storage and in-band traffic are, cage by cage of its leaves.

Links that share a cage share a module, so they have one medium, that of the longest of them. Before racks are planned all are as long as
the longest. Nodes and storage in one cage, servers (whose product is still open) in a cage of several links, and the site's router, which
stands elsewhere, are taken as longer than copper: their plugs are not known to be alike. A server that has a cage to itself is cabled as a
node is: copper and active optical cables ask for the same plug.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from rules.sizing.fabric.floor import longest_run, run_m, runs_to
from rules.sizing.fabric.front_links import file_server_names, groups_of, management_names, server_names
from rules.sizing.fabric.runs import OPTICS_FROM_M

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rules.sizing.fabric.front_links import FrontWiring, Region
    from rules.sizing.fabric.runs import Runs

NODE, STORAGE = "node", "storage"


class Use(NamedTuple):
    """What links of one kind, to nodes and their like or to storage, take of a cage: from `start` to before `stop` of its downlinks.

    `length_m` decides on the medium, `run_m` is the longest run. `first` says that the cage's module is counted with them; it is not where
    storage has a part of the cage.
    """

    kind: str
    length_m: float
    run_m: float
    start: int
    stop: int
    first: bool = True


class _Stretch(NamedTuple):
    """The lengths that decide on the cages, in a row from `cage` on, in which the ends of one kind are, and their longest runs."""

    cage: int
    lengths: list[float]
    runs: list[float]


@dataclass(frozen=True)
class FrontRuns:
    """The runs of the front end on a floor; `runs` are those of its switches."""

    wired: FrontWiring
    runs: Runs

    @cached_property
    def longest_m(self) -> float:
        """Return the longest run from any node to any leaf, which stands for all until racks are planned."""
        leaves = self.runs.floor.places_of(f"{self.runs.role} leaf", 1, self.wired.wiring.plane.leaf)
        return longest_run(self.runs.outer_places(self.wired.nodes), leaves)

    def cage_m(self, leaf: int, cage: int) -> float:
        """Return the length that decides on the medium of a leaf's cage; both are counted from 0."""
        if self.runs.floor.estimated:
            return self.longest_m
        for first, lengths, _ in self._stretches[leaf]:
            if 0 <= cage - first < len(lengths):
                return lengths[cage - first]
        return self._uplink_cages[leaf, cage]

    @cached_property
    def uses(self) -> Mapping[Use, int]:
        """Return what the links but the uplinks of management switches take of cages, and how often."""
        found: Counter[Use] = Counter()
        per = self._per_cage
        for (region, (storage, others)), leaves in self._alike():
            for kind, slots, stretch in ((STORAGE, region.storage, storage), (NODE, region.others, others)):
                count, last = len(stretch.lengths), stretch.cage + len(stretch.lengths) - 1
                for index in {0, count - 1} if count else ():
                    cage = stretch.cage + index
                    start = slots.start - cage * per if index == 0 else 0
                    stop = slots.stop - cage * per if cage == last else per
                    first = kind == STORAGE or not storage.lengths or cage >= storage.cage + len(storage.lengths)
                    found[Use(kind, stretch.lengths[index], stretch.runs[index], start, stop, first)] += leaves
                for (length, run), times in Counter(zip(stretch.lengths[1:-1], stretch.runs[1:-1], strict=True)).items():
                    found[Use(kind, length, run, 0, per)] += leaves * times
        return found

    def _alike(self) -> Iterator[tuple[tuple[Region, tuple[_Stretch, _Stretch]], int]]:
        """Yield regions with their stretches and the number of leaves that have them; before racks are planned most leaves are alike."""
        if not self.runs.floor.estimated:
            yield from ((each, 1) for each in zip(self.wired.regions(), self._stretches, strict=True))
            return
        for region, leaves in Counter(self.wired.regions()).items():
            yield (region, (self._stretch(region.storage, (), ()), self._stretch(region.others, (), ()))), leaves

    # ------------------------------------------------------------------------------------------------------ cages

    @property
    def _per_cage(self) -> int:
        return self.wired.wiring.zones()[0].per_cage

    @cached_property
    def _stretches(self) -> list[tuple[_Stretch, _Stretch]]:
        """Return the stretches with storage, and with other ends, of every leaf."""
        regions, start = self.wired.regions(), 0
        half = -(-sum(len(each.others) for each in regions) // 2)
        boxes = dict(zip(self.wired.storage_slots(), self._storage_places(), strict=True))
        found = []
        for leaf, region in enumerate(regions):
            runs = runs_to(frozenset((self._leaf_place(leaf),)))
            lengths = [runs[boxes[leaf, slot]] for slot in region.storage]
            storage = self._stretch(region.storage, lengths, lengths)
            stop = start + len(region.others)
            ends: list[tuple[int, float]] = []
            for side, (first, last) in enumerate(((start, min(stop, half)), (max(start, half) - half, stop - half))):
                if last > first:
                    nodes, rest = self._node_places[side], self._open_places[side]
                    ends += [(place, 0.0) for place in nodes[first:last]]
                    ends += rest[max(0, first - len(nodes)) : max(0, last - len(nodes))]
            others = self._stretch(region.others, [max(least, runs[place]) for place, least in ends], [runs[place] for place, _ in ends])
            found.append(_apart(storage, others))
            start = stop
        return found

    def _stretch(self, slots: range, lengths: Sequence[float], runs: Sequence[float]) -> _Stretch:
        """Return the stretch of the cages of `slots`, whose links are taken as so long and have such runs."""
        per, cages = self._per_cage, groups_of(slots, self._per_cage)
        if self.runs.floor.estimated:
            return _Stretch(cages.start, [self.longest_m] * len(cages), [self.longest_m] * len(cages))
        before = slots.start % per
        bounds = [(max(0, at - before), at + per - before) for at in range(0, before + len(slots), per)]
        return _Stretch(cages.start, *([max(each[first:last]) for first, last in bounds] for each in (lengths, runs)))

    @cached_property
    def _uplink_cages(self) -> dict[tuple[int, int], float]:
        """Return the lengths that decide on the cages with uplinks of management switches, by (leaf, cage)."""
        wired, places = self.wired, list(self.wired.uplink_places())
        shared = wired.uplinks_per_place
        found: dict[tuple[int, int], float] = {}
        for switch in range(len(management_names(wired.front))):
            below = self.runs.floor.place("out-of-band leaf", switch + 1)
            for leaf, slot, _ in places[2 * (switch // shared) : 2 * (switch // shared) + 2]:
                key = leaf, slot // self._per_cage
                found[key] = max(found.get(key, 0.0), run_m(below, self._leaf_place(leaf)))
        return found

    # ----------------------------------------------------------------------------------------------------- places

    def _leaf_place(self, leaf: int) -> int:
        return self.runs.floor.place(f"{self.runs.role} leaf", leaf + 1)

    @cached_property
    def _node_places(self) -> tuple[list[int], list[int]]:
        """Return the places of the nodes' ends on either half of the downlinks, to which neighbouring ends are dealt in turn."""
        floor, wired = self.runs.floor, self.wired
        places: list[int] = []
        for node in range(0, wired.nodes, floor.per_rack):
            places += [floor.node_place(node)] * (min(floor.per_rack, wired.nodes - node) * wired.node_links)
        return places[::2], places[1::2]

    @cached_property
    def _open_places(self) -> tuple[list[tuple[int, float]], list[tuple[int, float]]]:
        """Return (place, least length) of the ends whose product is open: management servers, file servers, the site's router."""
        floor, wired = self.runs.floor, self.wired
        least = OPTICS_FROM_M if self._per_cage > 1 else 0.0
        places: list[tuple[int, float]] = []
        for role, names in (("management", server_names(wired.front)), ("file server", file_server_names(wired.front))):
            for number in range(1, len(names) + 1):
                places += [(floor.place(role, number), least)] * wired.node_links
        places += [(floor.place("site", 1), OPTICS_FROM_M)] * wired.site_links
        odd = wired.nodes * wired.node_links % 2
        return places[odd::2], places[1 - odd :: 2]

    def _storage_places(self) -> Iterator[int]:
        """Yield the place of the box of every storage link, in the order of the links."""
        storage = self.wired.front.storage
        if storage is None or not storage.boxes:
            return
        for index in range(storage.boxes):
            links = storage.links // storage.boxes + (index < storage.links % storage.boxes)
            yield from [self.runs.floor.place("storage", index + 1)] * links


def _apart(storage: _Stretch, others: _Stretch) -> tuple[_Stretch, _Stretch]:
    """Return both stretches; a cage in which they meet has optics, for their plugs differ."""
    if storage.lengths and others.lengths and storage.cage + len(storage.lengths) > others.cage:
        storage.lengths[-1] = others.lengths[0] = max(OPTICS_FROM_M, storage.lengths[-1], others.lengths[0])
    return storage, others
