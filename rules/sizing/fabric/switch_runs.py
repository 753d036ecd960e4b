"""How long the links between switches are, by what has to share a medium.

A cage holds a module with several links, and the cages at their other ends must hold modules of the same kind. Where a pair of switches is
joined by whole cages, every pair has a medium of its own. Where the links of one cage end in several switches, as many neighbours on both
sides as fill a cage share one: a block of two leaves and two spines, if a cage holds two links.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import cached_property
from math import ceil
from typing import TYPE_CHECKING, NamedTuple

from rules.sizing.fabric.floor import longest_run, run_m
from rules.sizing.fabric.links import LEAF_SPINE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rules.sizing.fabric.floor import Floor
    from rules.sizing.fabric.links import Wiring

TIERS = {"leaf_spine": ("leaf", "spine", 0), "spine_core": ("spine", "core", 1)}
"""By the tier of links: the switches below and above, and the place of those below among a plane's switches."""

MOST_KEPT = 256
_KEPT: dict[tuple[object, ...], Mapping[float, SwitchShare]] = {}
"""Shares by all that they follow from: servers with equal networks share them, and so does the next design with the same network."""


class Group(NamedTuple):
    """Switches of one plane that are fully meshed: those below in the order of the ports above, and those above in the order below."""

    below: Sequence[int]
    above: Sequence[int]


class SwitchShare(NamedTuple):
    """Links of one length with the cages that they take below and above."""

    links: int
    lower_cages: int
    upper_cages: int


@dataclass(frozen=True)
class SwitchRuns:
    """The runs of one tier of links between the switches of a network on a floor; `role` is what its boxes are called there."""

    wiring: Wiring
    floor: Floor
    role: str
    tier: str

    @property
    def pair(self) -> int:
        """Return the links of each connected pair."""
        plane = self.wiring.plane
        return plane.leaf_spine_pair if self.tier == LEAF_SPINE else plane.spine_core_pair

    @property
    def per_cage(self) -> int:
        """Return the links of a cage."""
        return self.wiring.cages.uplink

    @property
    def crossed(self) -> bool:
        """Return whether links of one cage end in different cages, which no cable with plugs at both ends can follow."""
        return self.pair % self.per_cage > 0 or not self._aligned

    @cached_property
    def by_block(self) -> bool:
        """Return whether blocks have media of their own: not before racks are planned, nor where cages lie across the blocks."""
        return not self.floor.estimated and self._aligned

    @cached_property
    def _aligned(self) -> bool:
        """Return whether the first link of a switch to the next tier is the first of a cage."""
        if self.tier == LEAF_SPINE:
            return self.wiring.zones()[1].skipped == 0
        ports = self.wiring.spec.spine_ports
        return ports % self.per_cage == 0 and ports // 2 % self.per_cage == 0

    @property
    def _step(self) -> int:
        """Return the switches of a block on either side."""
        return self.per_cage if self.pair % self.per_cage else 1

    # ------------------------------------------------------------------------------------------------- what is meshed

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """Return what is fully meshed within one plane."""
        found: dict[int, list[int]] = defaultdict(list)
        for first, lower in self._leaves() if self.tier == LEAF_SPINE else self._spines():
            found[first].append(lower)
        plane = self.wiring.plane
        if self.tier == LEAF_SPINE:
            own = plane.pod_spines if plane.tiers == 3 else plane.spine // self.wiring.meshes
        else:
            own = self.wiring.spec.spine_ports // 2 // self.pair
        return tuple(Group(tuple(below), range(first, first + own)) for first, below in found.items())

    def _leaves(self) -> Iterator[tuple[int, int]]:
        """Yield (first spine, leaf) of every leaf, in the order of the spines' ports."""
        wiring, plane = self.wiring, self.wiring.plane
        inner, mesh_spines = wiring.rails // wiring.meshes, plane.spine // wiring.meshes
        for leaf in range(plane.leaf):
            unit, rail = divmod(leaf, wiring.rails)
            mesh, local = (rail, 0) if wiring.meshes > 1 else (0, rail)
            pod = unit // wiring.pod_units * inner + local if plane.tiers == 3 else 0
            yield mesh * mesh_spines + pod * plane.pod_spines, leaf

    def _spines(self) -> Iterator[tuple[int, int]]:
        """Yield (first core, spine) of every spine, in the order of the cores' ports."""
        wiring, plane = self.wiring, self.wiring.plane
        own = wiring.spec.spine_ports // 2 // self.pair
        for spine in range(plane.spine):
            mesh, local = divmod(spine, plane.spine // wiring.meshes)
            yield mesh * (plane.core // wiring.meshes) + local % plane.pod_spines * own, spine

    # ------------------------------------------------------------------------------------------------- places and runs

    @cached_property
    def _places(self) -> tuple[list[int], list[int]]:
        """Return the places of the switches below and above, plane by plane."""
        below, above, _ = TIERS[self.tier]
        return self._of(below), self._of(above)

    def _of(self, tier: str) -> list[int]:
        places = [self.floor.middle] * (getattr(self.wiring.plane, tier) * self.wiring.spec.planes)
        for span in self.floor.spans.get(f"{self.role} {tier}", ()):
            for number in range(span.first, min(span.last, len(places)) + 1):
                places[number - 1] = span.place
        return places

    def _blocks(self, switches: Sequence[int], places: Sequence[int], plane: int) -> list[tuple[frozenset[int], Sequence[int]]]:
        """Return the blocks of a side of a group, with the places of each."""
        count, step = len(places) // self.wiring.spec.planes, self._step
        blocks = [switches[start : start + step] for start in range(0, len(switches), step)]
        return [(frozenset(places[plane * count + each] for each in block), block) for block in blocks]

    @property
    def longest_m(self) -> float:
        """Return the longest run between any two of these switches."""
        below, above = self._places
        return longest_run(below, above)

    def shares(self, links: int, lower_cages: int, upper_cages: int) -> Mapping[float, SwitchShare]:
        """Return the links by the length that decides on their medium; all of them together are given."""
        if not self.by_block:
            return {self.longest_m: SwitchShare(links, lower_cages, upper_cages)}
        below, above, _ = TIERS[self.tier]
        spans = (self.floor.spans.get(f"{self.role} {each}", ()) for each in (below, above))
        key = (self.wiring.spec, self.wiring.plane, self.wiring.cages, self.tier, self.floor.middle, *spans)
        kept = _KEPT.get(key)
        if kept is None:
            if len(_KEPT) >= MOST_KEPT:
                _KEPT.clear()
            kept = _KEPT[key] = self._shares_by_block()
        return kept

    def _shares_by_block(self) -> Mapping[float, SwitchShare]:
        found: Counter[tuple[float, int]] = Counter()
        pair, per, (below, above) = self.pair, self.per_cage, self._places
        runs: dict[tuple[frozenset[int], frozenset[int]], float] = {}
        for plane in range(self.wiring.spec.planes):
            for group in self.groups:
                rows = Counter((at, len(block)) for at, block in self._blocks(group.below, below, plane))
                columns = Counter((at, len(block)) for at, block in self._blocks(group.above, above, plane))
                for (low, height), rows_alike in rows.items():
                    for (high, width), columns_alike in columns.items():
                        length = runs.get((low, high))
                        if length is None:
                            length = runs[low, high] = _run(low, high)
                        alike = rows_alike * columns_alike
                        found[length, 0] += alike * height * width * pair
                        found[length, 1] += alike * height * ceil(width * pair / per)
                        found[length, 2] += alike * width * ceil(height * pair / per)
        return {length: SwitchShare(*(found[length, kind] for kind in range(3))) for length in dict.fromkeys(each for each, _ in found)}

    def length_m(self, lower: str, upper: str) -> float:
        """Return the length that decides on the medium of a link between two switches by their names."""
        if not self.by_block:
            return self._longest
        return self._lengths[0][lower, upper] if (lower, upper) in self._lengths[0] else self._measured(lower, upper)

    @cached_property
    def _longest(self) -> float:
        return self.longest_m

    @cached_property
    def _lengths(self) -> tuple[dict[tuple[str, str], float], dict[str, frozenset[int]]]:
        """Return the lengths that are known, and the places of every switch's block by its name."""
        known: dict[str, frozenset[int]] = {}
        low = TIERS[self.tier][2]
        for plane in range(self.wiring.spec.planes):
            names = self.wiring.switches[3 * plane + low], self.wiring.switches[3 * plane + low + 1]
            for group in self.groups:
                for side, switches in enumerate(group):
                    for at, block in self._blocks(switches, self._places[side], plane):
                        known |= {names[side][each]: at for each in block}
        return {}, known

    def _measured(self, lower: str, upper: str) -> float:
        lengths, known = self._lengths
        lengths[lower, upper] = length = _run(known[lower], known[upper])
        return length


def _run(first: frozenset[int], second: frozenset[int]) -> float:
    """Return the longest run between two blocks, most of which stand in one rack each."""
    if len(first) == len(second) == 1:
        (one,), (other,) = first, second
        return run_m(one, other)
    return longest_run(first, second)
