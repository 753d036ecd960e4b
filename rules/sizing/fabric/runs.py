"""How long the links of a network are: the longest run of every group of links that must share one medium.

Links that share a cage share a module, so they have one medium, that of the longest of them. Links between nodes and leaves are grouped by
the leaves' cages; in a unit of rails the cages of the same nodes on all leaves are one group, because a node's own cages join them.
Links between switches are one group per tier: one kind of module to keep on the shelf. Before racks are planned, so are those of nodes.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from rules.sizing.fabric.floor import ROW_RACKS, run_m

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from rules.sizing.fabric.floor import Floor
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
        return own == 1 or (wiring.spec.planes == 1 and wiring.plane.leaf_down % own == 0 and cages.leaf_down % own == 0)

    def node_shares(self) -> Mapping[float, Share]:
        """Return the links to nodes by the length that decides on their medium."""
        if not self.by_cage:
            return {self._longest_node: self._all_nodes()}
        shares: dict[float, Share] = defaultdict(Share)
        wiring = self.wiring
        copies = (wiring.rails if wiring.is_rail else 1) * wiring.spec.planes
        own = -(-wiring.spec.nics_per_node // wiring.cages.nics_per_node_cage) if wiring.is_rail else 0
        for block in range(self.blocks):
            for cage, cages, ends in self._stretches(block):
                share = shares[self.cage_m(block, cage)]
                share.leaf_cages += cages * copies
                share.links += ends * copies
                share.runs[ends] += copies
                share.node_cages += ends * own if own else -(-ends // wiring.cages.nics_per_node_cage)
        return shares

    @property
    def blocks(self) -> int:
        """Return the number of blocks with ends."""
        return -(-self._all_ends // self._size) if self._size else 0

    @property
    def _all_ends(self) -> int:
        return self.wiring.spec.nodes if self.wiring.is_rail else self.wiring.endpoints

    @property
    def _size(self) -> int:
        return self.wiring.plane.leaf_down

    @cached_property
    def _per_rack(self) -> int:
        """Return the ends in a rack of nodes."""
        return self.floor.per_rack * (1 if self.wiring.is_rail else self.wiring.spec.nics_per_node)

    def _stretches(self, block: int) -> Iterator[tuple[int, int, int]]:
        """Yield (first cage, cages, ends) of cages in a row whose ends stand in one rack, and of each cage that spans several alone."""
        per, rack = self.wiring.cages.leaf_down, self._per_rack
        start = block * self._size
        end = min(self._all_ends, start + self._size)
        at = start
        while at < end:
            cage = (at - start) // per
            border = min(end, (at // rack + 1) * rack)
            whole = border if border == end else border - (border - start) % per  # the last cage of the block may be part filled
            stop = whole if whole > at else min(end, at + per)
            cages = -(-(stop - at) // per)
            if any((block, each) in self._manager_runs for each in range(cage, cage + cages)):
                stop, cages = min(stop, at + per), 1
            yield cage, cages, stop - at
            at = stop

    def cage_m(self, block: int, cage: int) -> float:
        """Return the longest run of the links that share a cage of a block; cages without nodes are those of fabric managers."""
        if not self.by_cage:
            return self._longest_node
        key = (block, cage)
        if key not in self._lengths:
            per = self.wiring.cages.leaf_down
            first = block * self._size + cage * per
            last = min(self._all_ends, block * self._size + self._size, first + per)
            racks = range(first // self._per_rack, (last - 1) // self._per_rack + 1) if last > first else range(0)
            leaves = self._block_places(block)
            nodes = [self.floor.node_place(rack * self.floor.per_rack) for rack in racks]
            self._lengths[key] = max(longest_run(nodes, leaves), self._manager_runs.get(key, 0.0))
        return self._lengths[key]

    @cached_property
    def _lengths(self) -> dict[tuple[int, int], float]:
        return {}

    def block_of(self, leaf: int) -> int:
        """Return the block of a leaf by its index in its plane."""
        return leaf // self.wiring.rails if self.wiring.is_rail else leaf

    def _block_places(self, block: int) -> frozenset[int]:
        if block not in self._places_of:
            rails = self.wiring.rails if self.wiring.is_rail else 1
            self._places_of[block] = self.leaf_places(range(block * rails, (block + 1) * rails))
        return self._places_of[block]

    @cached_property
    def _places_of(self) -> dict[int, frozenset[int]]:
        return {}

    # ------------------------------------------------------------------------------------------------ all nodes

    @cached_property
    def _longest_node(self) -> float:
        leaves = self.leaf_places(range(self.wiring.plane.leaf))
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

    def leaf_places(self, leaves: Iterable[int]) -> frozenset[int]:
        """Return the places of leaves by their index in a plane, over all planes."""
        per_plane, planes = self.wiring.plane.leaf, range(self.wiring.spec.planes)
        place, role = self.floor.place, f"{self.role} leaf"
        return frozenset(place(role, plane * per_plane + leaf + 1) for leaf in leaves for plane in planes)

    @cached_property
    def _manager_runs(self) -> dict[tuple[int, int], float]:
        """Return the runs of fabric managers by the block and cage that they share."""
        found: dict[tuple[int, int], float] = {}
        wiring = self.wiring
        for manager, plane, leaf, slot in wiring.manager_ports():
            place = self.floor.place(f"{self.role} leaf", plane * wiring.plane.leaf + leaf + 1)
            length = max(OPTICS_FROM_M, run_m(self.floor.place(f"{self.role} manager", manager + 1), place))
            key = (self.block_of(leaf), slot // wiring.cages.leaf_down)
            found[key] = max(found.get(key, 0.0), length)
        return found

    # ----------------------------------------------------------------------------------------------- switches

    @cached_property
    def leaf_spine_m(self) -> float:
        """Return the longest run between leaves and spines."""
        return longest_run(self._places("leaf"), self._places("spine"))

    @cached_property
    def spine_core_m(self) -> float:
        """Return the longest run between spines and cores."""
        return longest_run(self._places("spine"), self._places("core"))

    @cached_property
    def leaf_leaf_m(self) -> float:
        """Return the run between the two switches of a pair."""
        places = self._places("leaf")
        return longest_run(places, places)

    def _places(self, tier: str) -> set[int]:
        spans = self.floor.spans.get(f"{self.role} {tier}", ())
        return {span.place for span in spans} if spans else {self.floor.middle} if getattr(self.wiring.plane, tier) else set()


def longest_run(first: Iterable[int], second: Iterable[int]) -> float:
    """Return the longest run in m between any two places; 0 where either side is empty."""
    others = tuple(second)
    return max((run_m(one, other) for one in first for other in others), default=0.0)
