"""How one plane is wired: groups of equal switches, from which every count follows.

A leaf has d downlinks and u uplinks; R rails (adapters per node); L leaves, S spines, C cores; k is a switch's radix at the
uplinks' speed. The rules that reproduce the published tables:

- two tiers while L ≤ k, because every spine must reach every leaf;
- S is the smallest divisor of u with S·k ≥ L·u, so that each leaf stripes evenly over all spines;
- published designs wire a leaf for its whole unit; wired for its nodes alone, u is the least that the ratio and an even split allow;
- three tiers are pods: in a pod each rail has as many leaves as its s spines serve with half of their ports; spine number j of
  every rail and pod goes to core group j. An even split needs a divisor of k/2 as the number of links per spine-core pair.

Source of the rules: the counts of NVIDIA's DGX SuperPOD reference architectures (H100, B200, B300), which they reproduce.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from math import ceil, floor

from rules.counting import counted
from rules.sizing.fabric.inputs import LARGEST_RADIX, FabricImpossible, FabricInput

THRESHOLDS_IN_FORMULAS = {
    "fab-leaf-count": "rules.sizing.fabric.wiring.rail_plane",
    "fab-spine-even": "rules.sizing.fabric.wiring.spine_count",
    "fab-three-tier": "rules.sizing.fabric.wiring.rail_plane",
}
"""Rules of thumb that counting follows instead of reading; their published examples are tested in tests/published/test_fabrics.py."""
_PUBLISHED_POD = 4
"""Spines per rail and pod in published three-tier wirings of 64-port switches; taken where several pod sizes need equally many switches."""
_LEAST_LEAF_SHARE, _MOST_DARK = 0.875, 16
"""A leaf gives up at most one downlink in eight, and at most sixteen ports, to reach an uplink count that divides well."""


@dataclass(frozen=True)
class Group:
    """So many equal switches, each with this many used ports down and up."""

    switches: int
    down: int
    up: int = 0

    def times(self, factor: int) -> Group:
        """Return the group repeated `factor` times."""
        return replace(self, switches=self.switches * factor)


@dataclass(frozen=True)
class Plane:
    """One plane: its switches in groups, how a leaf is split, and how pairs of switches are joined.

    `units` are scalable units (groups of leaves that serve the same nodes) of at most `unit_nodes` nodes. `leaf_down` and `leaf_up` are the
    ports of a leaf that are set aside, `unit_ends` the downlinks that nodes fill before the next unit begins (fewer where racks stay
    whole), `manager` the manager links. `leaf_spine_pair` and `spine_core_pair` are the links of each connected pair.
    """

    leaves: tuple[Group, ...]
    spines: tuple[Group, ...] = ()
    cores: tuple[Group, ...] = ()
    tiers: int = 1
    units: int = 1
    unit_nodes: int = 0
    leaf_down: int = 0
    leaf_up: int = 0
    unit_ends: int = 0
    manager: int = 0
    inter_switch: int = 0
    leaf_spine_pair: int = 0
    spine_core_pair: int = 0
    pods: int = 1
    pod_spines: int = 0

    @cached_property
    def leaf(self) -> int:
        """Return the number of leaf switches."""
        return sum(group.switches for group in self.leaves)

    @cached_property
    def spine(self) -> int:
        """Return the number of spine switches."""
        return sum(group.switches for group in self.spines)

    @cached_property
    def core(self) -> int:
        """Return the number of core switches."""
        return sum(group.switches for group in self.cores)


@lru_cache(maxsize=4096)
def divisors(number: int) -> tuple[int, ...]:
    """Return the divisors of `number` in rising order."""
    small = [each for each in range(1, int(number**0.5) + 1) if number % each == 0]
    return tuple(sorted({*small, *(number // each for each in small)}))


def spine_count(leaves: int, uplinks: int, spine_ports: int, least: int = 1) -> int:
    """Return the spines for `leaves` switches of `uplinks` each: the smallest divisor of `uplinks` with ports for all links, not fewer
    than `least`, which a leaf has uplinks for.

    Raises ValueError for more leaves than a spine has ports: not even one link per leaf and spine would fit.
    """
    if leaves > spine_ports:
        raise ValueError(f"{leaves} leaves cannot all reach a spine of {spine_ports} ports")
    needed = max(least, ceil(leaves * uplinks / spine_ports))
    return next(each for each in divisors(uplinks) if each >= needed)


@dataclass(frozen=True)
class LeafSplit:
    """The ports of a leaf: `down` at the port's speed, and at least `up_least` and at most `up_most` at the uplinks' speed."""

    down: int
    up_least: int
    up_most: int


@lru_cache(maxsize=4096)
def split_leaf(spec: FabricInput) -> LeafSplit:
    """Return the split of a leaf with the most downlinks whose bandwidth is at most `down_to_up` times that of the uplinks.

    Raises FabricImpossible where no split leaves a port on both sides.
    """
    down = min(floor(spec.switch_ports * spec.ratio / (spec.ratio + 1)), spec.switch_ports - 1)
    while down >= 1:
        most = _uplinks_beside(spec, down)
        least = _uplinks_for(spec, down)
        if 1 <= least <= most:
            return LeafSplit(down, least, most)
        down -= 1
    switch = f"{spec.switch_ports} × {spec.port_speed_gbps:g} Gb/s"
    raise FabricImpossible(
        f"{switch} cannot be split {spec.down_to_up:g}:1 with uplinks of {spec.uplink_speed_gbps:g} Gb/s",
        "uplinks at the port's speed and a ratio nearer to 1:1, or a switch with more ports",
    )


def _uplinks_beside(spec: FabricInput, down: int) -> int:
    """Return how many uplinks the bandwidth beside `down` downlinks carries."""
    return int((spec.switch_ports - down) * spec.port_speed_gbps / spec.uplink_speed_gbps + 1e-9)


def _uplinks_for(spec: FabricInput, down: int) -> int:
    """Return how many uplinks `down` downlinks need at the ratio."""
    return ceil(down * spec.port_speed_gbps / (float(spec.ratio) * spec.uplink_speed_gbps) - 1e-9)


def whole_racks(spec: FabricInput, split: LeafSplit) -> tuple[int, int]:
    """Return (nodes that stay together, most nodes of a unit): whole racks, where the downlinks of a leaf take one; else single nodes."""
    rack = spec.rack_nodes if spec.rack_nodes <= split.down else 1
    return rack, split.down - split.down % rack


def rail_plane(spec: FabricInput, rails: int, manager: int) -> Plane:
    """Wire one plane in which adapter i of every node of a unit goes to leaf i of that unit; a plain tree is one rail of all adapters.

    `spec.nodes` counts the endpoints of one rail, `manager` the manager links of the plane. Raises FabricImpossible.
    """
    split = split_leaf(spec)
    reserved = ceil(manager / rails)
    rack, most = whole_racks(spec, split)
    units = max(ceil(spec.nodes / most), ceil((spec.nodes + reserved) / split.down))
    leaves = units * rails
    if leaves > spec.spine_ports:
        plane = Plane((), units=units, unit_nodes=most, leaf_down=split.down, unit_ends=most, manager=manager, tiers=3)
        return _three_tiers(spec, plane, rails, replace(split, up_least=max(1, _uplinks_for(spec, most))))
    even = rack * ceil(ceil(spec.nodes / rack) / units)
    down, up, spines = _two_tiers(spec, split, leaves, even, max(even, ceil((spec.nodes + reserved) / units)))
    ends = even if spec.wired_for == "nodes" else down - down % rack
    return Plane(
        _fill(spec.nodes, ends, units, rails, up),
        spines=(Group(spines, leaves * up // spines),),
        tiers=2,
        units=units,
        unit_nodes=ends,
        leaf_down=down,
        unit_ends=ends,
        leaf_up=up,
        manager=manager,
        leaf_spine_pair=up // spines,
    )


def _two_tiers(spec: FabricInput, split: LeafSplit, leaves: int, ends: int, needed_down: int) -> tuple[int, int, int]:
    """Return (down, up, spines) of a leaf with the fewest spines; `ends` of its `needed_down` links are to nodes, the rest to managers.

    At 1:1 the split is half and half, as in the published designs, so that a unit can be filled up later. At another ratio a
    leaf may leave ports dark where that makes the uplinks divide by fewer spines. Wired for the nodes there are, a leaf has as many
    downlinks as the evenly spread nodes need and may have any number of uplinks that the ratio allows: fewest spines, then links.
    A manager's link takes a port and no uplink: what it sends is next to nothing.
    """
    least = spec.least_spines
    if spec.wired_for == "nodes":
        ups = range(max(_uplinks_for(spec, ends), least), _uplinks_beside(spec, needed_down) + 1)
        if not ups:
            raise _too_few_uplinks(spec, _uplinks_beside(spec, needed_down))
        spines, up = min((spine_count(leaves, up, spec.spine_ports, least), up) for up in ups)
        return needed_down, up, spines
    least_down = split.down if spec.ratio == 1 else max(needed_down, ceil(split.down * _LEAST_LEAF_SHARE), split.down - _MOST_DARK)
    options = [
        (spine_count(leaves, up, spec.spine_ports, least), -down, -up)
        for down in range(split.down, least_down - 1, -1)
        for up in _uplink_counts(max(_uplinks_for(spec, down), least), _uplinks_beside(spec, down))
    ]
    if not options:
        raise _too_few_uplinks(spec, _uplinks_beside(spec, least_down))
    spines, down, up = min(options)
    return -down, -up, spines


def _too_few_uplinks(spec: FabricInput, uplinks: int) -> FabricImpossible:
    words = counted(uplinks, "uplink")
    return FabricImpossible(f"a leaf has {words}, too few for {spec.least_spines} spines", f"least_spines = {max(1, uplinks)}")


def _uplink_counts(least: int, most: int) -> tuple[int, ...]:
    """Return the uplink counts to try: all where they are few, else those nearest to the least, and the most."""
    return (*range(least, min(most, least + _MOST_DARK) + 1), *((most,) if most > least + _MOST_DARK else ()))


def _fill(endpoints: int, down: int, units: int, rails: int, up: int) -> tuple[Group, ...]:
    """Fill units in order: all but the last are full; one unit's leaves are equal."""
    full, rest = divmod(endpoints, down)
    groups = [Group(full * rails, down, up)] if full else []
    groups += [Group(rails, rest, up)] if rest else []
    empty = units - full - (1 if rest else 0)
    return (*groups, *([Group(empty * rails, 0, up)] if empty else []))


@dataclass(frozen=True, order=True)
class _Pods:
    """One way to build three tiers, ordered by what is best: fewest switches, then the published pod, then small pods, then uplinks."""

    switches: int
    below_published: bool
    spines: int
    spare_uplinks: int
    pods: int
    pod_units: int
    links: int
    cores: int


def _three_tiers(spec: FabricInput, plane: Plane, rails: int, split: LeafSplit) -> Plane:
    """Add pods of spines and groups of cores to leaves that two tiers cannot join; the fewest switches win.

    Raises FabricImpossible where a fourth tier would be needed.
    """
    half = spec.spine_ports // 2
    options = _pod_options(spec, plane.units, rails, split)
    if not options:
        raise _too_large(spec, plane, rails, split)
    best = min(options)
    up = split.up_most - best.spare_uplinks
    pair = up // best.spines
    last = plane.units - (best.pods - 1) * best.pod_units
    groups = [Group((best.pods - 1) * rails * best.spines, best.pod_units * pair, half)] if best.pods > 1 else []
    groups.append(Group(rails * best.spines, last * pair, half))
    return replace(
        plane,
        leaves=_fill(spec.nodes, plane.unit_ends, plane.units, rails, up),
        spines=tuple(groups),
        cores=(Group(best.cores, best.pods * rails * best.links),),
        leaf_up=up,
        leaf_spine_pair=pair,
        spine_core_pair=best.links,
        pods=best.pods,
        pod_spines=best.spines,
    )


def _pods(spec: FabricInput, units: int, rails: int, up: int, spines: int, spare_uplinks: int) -> _Pods | None:
    """Return the pods of `spines` spines per rail, or None where the cores have too few ports for that many pods."""
    half = spec.spine_ports // 2
    pod_units = spines * half // up
    if not pod_units:
        return None
    pods = ceil(units / pod_units)
    links = next((each for each in reversed(divisors(half)) if pods * rails * each <= spec.spine_ports), 0)
    if not links:
        return None
    cores = spines * (half // links)
    return _Pods(pods * rails * spines + cores, spines < _PUBLISHED_POD, spines, spare_uplinks, pods, pod_units, links, cores)


def _pod_options(spec: FabricInput, units: int, rails: int, split: LeafSplit) -> list[_Pods]:
    """Return all ways to build three tiers over the leaves of so many units."""
    return [
        option
        for up in _uplink_counts(split.up_least, split.up_most)
        for spines in divisors(up)
        if spines >= spec.least_spines and (option := _pods(spec, units, rails, up, spines, split.up_most - up)) is not None
    ]


def _too_large(spec: FabricInput, plane: Plane, rails: int, split: LeafSplit) -> FabricImpossible:
    """Return why three tiers do not do."""
    per_rail = " per rail" if rails > 1 else ""
    managed = f" and {counted(plane.manager, 'manager link')}" if plane.manager else ""
    rows = f", with {rails} rails," if rails > spec.spine_ports else ""
    reason = f"{spec.nodes:,} endpoints{per_rail}{managed}{rows} need a fourth tier of {spec.switch_ports}-port switches"
    return FabricImpossible(reason, lambda: _nearest(spec, plane, rails, split))


def _nearest(spec: FabricInput, plane: Plane, rails: int, split: LeafSplit) -> str:
    """Return what three tiers do join: fewer endpoints or manager links, fewer rails, or the same on a switch with more ports."""
    half, manager, per_rail = spec.spine_ports // 2, plane.manager, " per rail" if rails > 1 else ""
    most = (spec.spine_ports // rails) * max(
        spines * half // up for up in _uplink_counts(split.up_least, split.up_most) for spines in divisors(up)
    )
    limit = most * plane.unit_ends - ceil(manager / rails)
    nearest = [f"{limit:,} endpoints{per_rail} in three tiers at this ratio"] if limit > 0 else []
    managers = (most * plane.unit_ends - spec.nodes) * rails
    if manager and managers > 0:
        nearest.append(f"{managers:,} manager links{' per plane' if spec.planes > 1 else ''}")
    if rails > spec.spine_ports:
        nearest.append(f"at most {spec.spine_ports} adapters per node, layout = 'rail_only'")
    ports = _least_ports(spec, rails, manager)
    nearest.append(f"switches with {ports} ports" if ports else "a switch with more ports")
    return ", or ".join(nearest)


def _least_ports(spec: FabricInput, rails: int, manager: int) -> int:
    """Return the ports of the first larger switch, of a power of two, that joins all in three tiers at most; 0 where none does."""
    ports = 4
    while ports <= LARGEST_RADIX:
        if ports > spec.switch_ports:
            larger = replace(spec, switch_ports=ports)
            split = split_leaf(larger)
            most = whole_racks(larger, split)[1]
            units = max(ceil(spec.nodes / most), ceil((spec.nodes + ceil(manager / rails)) / split.down))
            if units * rails <= larger.spine_ports or _pod_options(larger, units, rails, split):
                return ports
        ports *= 2
    return 0
