"""How long the links of a network are: the longest run of every group of links that must share one medium.

Links that share a cage share a module, so they have one medium, that of the longest of them. Links between nodes and leaves are grouped by
the leaves' cages; in a unit of rails the cages of the same nodes on all leaves are one group, because a node's own cages join them.
Before racks are planned they are one group. Links between switches are in `switch_runs`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from rules.sizing.fabric.floor import ROW_RACKS, longest_run, run_m, runs_to

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rules.sizing.fabric.floor import Floor, RunsTo
    from rules.sizing.fabric.links import Wiring

OPTICS_FROM_M = 10.0
"""Where the links of one cage end in devices of different kinds, a cable with plugs does not fit; they are taken as longer than copper."""


@dataclass
class Share:
    """Links to nodes of one length: the leaf cages, links and node cages that they take.

    `runs` are (links in a row of cages, how often this occurs), by which splitter fibres are counted.
    """

    leaf_cages: int = 0
    links: int = 0
    node_cages: int = 0
    runs: Counter[int] = field(default_factory=Counter)

    def fibres(self, split: int) -> int:
        """Return the fibres where `split` links share an optical port: a port that is not full has one too."""
        return sum(count * -(-links // split) for links, count in self.runs.items())


Stretch = tuple[int, int, int, int, int]
"""Cages in a row of a block: (first cage, cages, ends, first rack, last rack of the first cage)."""


@dataclass(frozen=True)
class Runs:
    """The runs of one switched network on a floor; `role` is what its boxes are called there.

    A block is what shares its cages: the leaves of one unit of rails, or one leaf of a tree. Its ends are nodes or adapters.
    """

    wiring: Wiring
    floor: Floor
    role: str

    @cached_property
    def by_cage(self) -> bool:
        """Return whether every leaf cage may have a medium of its own: not where a cage of a node reaches over several leaf cages."""
        wiring = self.wiring
        if self.floor.estimated or wiring.halves:
            return False
        if wiring.is_rail:
            return True
        own, cages = wiring.cages.nics_per_node_cage * wiring.spec.planes, wiring.cages
        return own == 1 or (wiring.spec.planes == 1 and wiring.plane.unit_ends % own == 0 and cages.leaf_down % own == 0)

    def node_shares(self) -> Mapping[float, Share]:
        """Return the links to nodes by the length that decides on their medium."""
        if not self.by_cage:
            return {self._longest_node: self._all_nodes()}
        wiring = self.wiring
        copies = (wiring.rails if wiring.is_rail else 1) * wiring.spec.planes
        own = -(-wiring.spec.nics_per_node // wiring.cages.nics_per_node_cage) if wiring.is_rail else 0
        alike: Counter[tuple[float, int, int]] = Counter()
        managed: dict[int, set[int]] = defaultdict(set)
        for block, cage in self._manager_runs:
            managed[block].add(cage)
        for block in range(self.blocks):
            rack, offset = divmod(block * self._size, self._per_rack)
            size, alone = min(self._all_ends - block * self._size, self._size), frozenset(managed.get(block, ()))
            runs, racks = self._runs_of(block), self._racks
            for cage, cages, ends, first, last in self._stretches(offset, size, alone):
                length = runs[racks[rack + first]] if first == last else max(runs[place] for place in racks[rack + first : rack + last + 1])
                if cage in alone:
                    length = max(length, self._manager_runs[block, cage])
                alike[length, cages, ends] += 1
        shares: dict[float, Share] = defaultdict(Share)
        for (length, cages, ends), times in alike.items():
            share = shares[length]
            share.leaf_cages += times * cages * copies
            share.links += times * ends * copies
            share.runs[ends] += times * copies
            share.node_cages += times * (ends * own if own else -(-ends // wiring.cages.nics_per_node_cage))
        return shares

    @property
    def blocks(self) -> int:
        """Return the number of blocks with ends."""
        return -(-self._all_ends // self._size) if self._size else 0

    @cached_property
    def _all_ends(self) -> int:
        return self.wiring.spec.nodes if self.wiring.is_rail else self.wiring.endpoints

    @cached_property
    def _size(self) -> int:
        return self.wiring.plane.unit_ends

    @cached_property
    def _per_rack(self) -> int:
        """Return the ends in a rack of nodes."""
        return self.floor.per_rack * (1 if self.wiring.is_rail else self.wiring.spec.nics_per_node)

    def _stretches(self, offset: int, ends: int, alone: frozenset[int]) -> Sequence[Stretch]:
        """Return a block's cages in a row whose ends stand in one rack, and each cage that spans several or is one of `alone` by itself.

        The block has `ends` ends and begins at the end `offset` of a rack, from which the racks are counted.
        """
        key = (offset, ends, alone)
        if key not in self._stretches_of:
            self._stretches_of[key] = tuple(_stretches(offset, offset + ends, self.wiring.cages.leaf_down, self._per_rack, alone))
        return self._stretches_of[key]

    @cached_property
    def _stretches_of(self) -> dict[tuple[int, int, frozenset[int]], tuple[Stretch, ...]]:
        return {}

    def cage_m(self, block: int, cage: int) -> float:
        """Return the longest run of the links that share a cage of a block; cages without nodes are those of fabric managers."""
        if not self.by_cage:
            return self._longest_node
        per, rack = self.wiring.cages.leaf_down, self._per_rack
        first = block * self._size + cage * per
        last = min(self._all_ends, block * self._size + self._size, first + per)
        runs, racks = self._runs_of(block), self._racks[first // rack : (last - 1) // rack + 1] if last > first else ()
        return max(*(runs[place] for place in racks), self._manager_runs.get((block, cage), 0.0), 0.0)

    def block_of(self, leaf: int) -> int:
        """Return the block of a leaf by its index in its plane."""
        return leaf // self.wiring.rails if self.wiring.is_rail else leaf

    def _runs_of(self, block: int) -> RunsTo:
        """Return the runs to the leaves of a block by the place of the other end."""
        rails = self.wiring.rails if self.wiring.is_rail else 1
        return runs_to(self.leaf_places(block * rails, (block + 1) * rails))

    @cached_property
    def _racks(self) -> Sequence[int]:
        """Return the places of the racks of nodes; nodes beyond them stand in the last."""
        floor, racks = self.floor, -(-self._all_ends // self._per_rack)
        return [floor.rack_place(min(rack, floor.racks - 1)) for rack in range(racks)]

    # ------------------------------------------------------------------------------------------------ all nodes

    @cached_property
    def _longest_node(self) -> float:
        leaves = self.leaf_places(0, self.wiring.plane.leaf)
        return max(longest_run(self.outer_places(self.wiring.spec.nodes), leaves), *self._manager_runs.values(), 0.0)

    def _all_nodes(self) -> Share:
        wiring, spec = self.wiring, self.wiring.spec
        per = wiring.cages.leaf_down
        cages = spec.planes * sum(group.switches * -(-group.down // per) for group in wiring.plane.leaves)
        own = spec.nodes * -(-spec.nics_per_node // wiring.cages.nics_per_node_cage)
        runs = Counter({group.down: group.switches * spec.planes for group in wiring.plane.leaves})
        return Share(cages, spec.nodes * spec.nics_per_node * spec.planes, own, runs)

    def outer_places(self, nodes: int) -> set[int]:
        """Return the places of nodes of which one is the farthest from any place: those in the first and the last row."""
        floor = self.floor
        racks = -(-nodes // floor.per_rack)
        edge = [*range(min(racks, ROW_RACKS)), *range(max(0, racks - ROW_RACKS), racks)]
        return {floor.node_place(rack * floor.per_rack) for rack in edge}

    def leaf_places(self, first: int, end: int) -> frozenset[int]:
        """Return the places of the leaves from `first` up to `end`, by their index in a plane, over all planes."""
        per_plane, role = self.wiring.plane.leaf, self._leaf_role
        if self.wiring.spec.planes == 1:
            return self.floor.places_of(role, first + 1, end)
        starts = [plane * per_plane for plane in range(self.wiring.spec.planes)]
        return frozenset().union(*(self.floor.places_of(role, start + first + 1, start + end) for start in starts))

    @cached_property
    def _leaf_role(self) -> str:
        return f"{self.role} leaf"

    @cached_property
    def _manager_runs(self) -> dict[tuple[int, int], float]:
        """Return the runs of fabric managers by the block and cage that they share."""
        found: dict[tuple[int, int], float] = {}
        wiring = self.wiring
        for manager, plane, leaf, slot in wiring.manager_ports():
            length = max(OPTICS_FROM_M, self.manager_run_m(manager, plane, leaf))
            key = (self.block_of(leaf), slot // wiring.cages.leaf_down)
            found[key] = max(found.get(key, 0.0), length)
        return found

    def manager_run_m(self, manager: int, plane: int, leaf: int) -> float:
        """Return the run between a fabric manager and a leaf of a plane, all counted from 0."""
        place = self.floor.place(self._leaf_role, plane * self.wiring.plane.leaf + leaf + 1)
        return run_m(self.floor.place(f"{self.role} manager", manager + 1), place)

    # ----------------------------------------------------------------------------------------------- switches

    @cached_property
    def leaf_leaf_m(self) -> float:
        """Return the run between the two switches of a pair."""
        places = self._places("leaf")
        return longest_run(places, places)

    def _places(self, tier: str) -> set[int]:
        spans = self.floor.spans.get(f"{self.role} {tier}", ())
        return {span.place for span in spans} if spans else {self.floor.middle} if getattr(self.wiring.plane, tier) else set()


def _stretches(start: int, end: int, per: int, rack: int, alone: frozenset[int]) -> Iterator[Stretch]:
    """Yield the stretches of cages of `per` ends each, for ends from `start` to before `end` in racks of `rack` ends."""
    at = start
    while at < end:
        cage = (at - start) // per
        border = min(end, (at // rack + 1) * rack)
        whole = border if border == end else border - (border - start) % per  # the last cage of the block may be part filled
        stop = whole if whole > at else min(end, at + per)
        cages = -(-(stop - at) // per)
        if not alone.isdisjoint(range(cage, cage + cages)):
            stop, cages = min(stop, at + per), 1
        first = start + cage * per
        yield cage, cages, stop - at, first // rack, (min(end, first + per) - 1) // rack
        at = stop
