"""Count a fabric: switches per tier, links, cages and modules per side, and what is left free.

Links are logical. A cage is a physical hole that may carry several links; a module is an optical transceiver in a cage. Cages are
counted per switch and rounded up there, never on the total. Manager links are counted apart.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import ceil
from typing import TYPE_CHECKING

from rules.counting import counted
from rules.sizing.fabric.inputs import FabricImpossible, FabricInput
from rules.sizing.fabric.ports import leaf_zones
from rules.sizing.fabric.wiring import Group, Plane, rail_plane, split_leaf, whole_racks

if TYPE_CHECKING:
    from collections.abc import Mapping

THRESHOLDS_IN_FORMULAS = {"fab-two-tier-limit": "rules.sizing.fabric.counts.two_tier_nodes"}
"""Rules of thumb that counting follows instead of reading."""
_CAGE_SPEEDS_GBPS = ((100_000.0, 1600.0), (25_600.0, 800.0), (12_800.0, 400.0), (8_000.0, 200.0))
"""Speed of one cage by the switch's throughput in Gb/s, where the product is not named: 115.2 Tb/s Q3400 has 72 cages of 1.6T,
51.2 Tb/s SN5600 64 of 800G, 25.6 Tb/s QM9700 32 of 800G, 12.8 Tb/s SN4700 32 of 400G, 8 Tb/s QM8700 40 of 200G (vendors' port tables)."""


@dataclass(frozen=True)
class Cages:
    """How links share physical holes: links per switch cage (down and up), and adapters per cage at the node."""

    leaf_down: int = 1
    uplink: int = 1
    nics_per_node_cage: int = 1


@dataclass(frozen=True)
class FabricCounts:
    """What a fabric consists of, all planes together.

    `links`: node_leaf, leaf_spine, spine_core; `inter_switch_links` join a back-to-back pair. `cages` and `modules` by tier and side.
    `oversubscription` is down:up from the links as wired, the product over the tiers, 1.0 where nothing is narrower than below.
    `free` are unused ports by tier. `unit_nodes` nodes share one set of leaves. `two_tier_nodes` is the largest size that two tiers carry.
    """

    leaf: int
    spine: int
    core: int
    tiers: int
    planes: int
    links: Mapping[str, int]
    inter_switch_links: int
    manager_links: int
    cages: Mapping[str, int]
    modules: Mapping[str, int]
    oversubscription: float
    free: Mapping[str, int]
    unit_nodes: int
    units: int
    two_tier_nodes: int
    plane: Plane
    notes: tuple[str, ...] = field(default=())

    @property
    def switches(self) -> int:
        """Return the switches of all tiers."""
        return self.leaf + self.spine + self.core

    def row(self) -> dict[str, object]:
        """Return the counts as the `fabric` command prints them, without the id; links between a pair's switches are in the notes."""
        pair = (f"{self.inter_switch_links} links join the two switches",) if self.inter_switch_links else ()
        return {
            "leaf": self.leaf,
            "spine": self.spine,
            "core": self.core,
            "tiers": self.tiers,
            "links": dict(self.links),
            "manager_links": self.manager_links,
            "cages": dict(self.cages),
            "modules": dict(self.modules),
            "notes": [*self.notes, *pair, f"wired {self.oversubscription:.3g}:1"],
        }


def assumed_cages(spec: FabricInput) -> Cages:
    """Return the cages of a switch that is known only by its ports, from its throughput; one adapter per cage at the node."""
    throughput = spec.switch_ports * spec.port_speed_gbps
    speed = next((cage for least, cage in _CAGE_SPEEDS_GBPS if throughput >= least), spec.port_speed_gbps)
    return Cages(max(1, int(speed // spec.port_speed_gbps)), max(1, int(speed // spec.uplink_speed_gbps)))


@lru_cache(maxsize=8192)
def count_fabric(spec: FabricInput, cages: Cages | None = None) -> FabricCounts:
    """Count the fabric that `spec` describes; `cages` come from a catalog record where the switch is known.

    Raises FabricImpossible with the reason and the nearest that can be built.
    """
    _check_speeds(spec)
    manager = ceil(spec.manager_ports / spec.planes)
    plane = _LAYOUTS[spec.layout](spec, manager)
    holes = cages or assumed_cages(spec)
    links = {
        "node_leaf": spec.nodes * spec.nics_per_node * spec.planes,
        "leaf_spine": spec.planes * sum(group.switches * group.up for group in plane.leaves) if plane.spines else 0,
        "spine_core": spec.planes * sum(group.switches * group.up for group in plane.spines),
    }
    return FabricCounts(
        leaf=plane.leaf * spec.planes,
        spine=plane.spine * spec.planes,
        core=plane.core * spec.planes,
        tiers=plane.tiers,
        planes=spec.planes,
        links=links,
        inter_switch_links=plane.inter_switch * spec.planes,
        manager_links=spec.manager_ports,
        cages=_cages(spec, plane, holes),
        modules=_modules(spec, plane, holes),
        oversubscription=_oversubscription(spec, plane),
        free=_free_ports(spec, plane),
        unit_nodes=plane.unit_nodes,
        units=plane.units,
        two_tier_nodes=two_tier_nodes(spec),
        plane=plane,
        notes=_notes(spec, plane, cages is None, holes),
    )


def _check_speeds(spec: FabricInput) -> None:
    if spec.link_speed_gbps > spec.port_speed_gbps * (1 + 1e-9):
        planes = ceil(spec.nic_speed_gbps / spec.port_speed_gbps)
        raise FabricImpossible(
            f"an adapter of {spec.nic_speed_gbps:g} Gb/s in {counted(spec.planes, 'plane')} is too fast for ports of "
            f"{spec.port_speed_gbps:g} Gb/s",
            f"planes = {planes}, or ports of {spec.link_speed_gbps:g} Gb/s",
        )


def two_tier_nodes(spec: FabricInput) -> int:
    """Return the most nodes that two tiers carry at this ratio, manager links apart: every spine must reach every leaf."""
    try:
        split = split_leaf(spec)
    except FabricImpossible:
        return 0
    if spec.layout == "tree":
        return spec.spine_ports * whole_racks(_ends(spec), split)[1] // spec.nics_per_node
    rails = 1 if spec.layout == "rail_only" else spec.nics_per_node
    return spec.spine_ports // rails * whole_racks(spec, split)[1]


# ------------------------------------------------------------------------------------------------------------- layouts


def _rail(spec: FabricInput, manager: int) -> Plane:
    if spec.nics_per_node == 1:
        return _tree(spec, manager)
    return rail_plane(spec, spec.nics_per_node, manager)


def _tree(spec: FabricInput, manager: int) -> Plane:
    endpoints = spec.nodes * spec.nics_per_node
    if endpoints + manager <= spec.switch_ports:
        nodes = (spec.switch_ports - manager) // spec.nics_per_node
        ports = spec.switch_ports
        return Plane((Group(1, endpoints),), unit_nodes=nodes, leaf_down=ports, unit_ends=ports, manager=manager)
    plane = rail_plane(_ends(spec), 1, manager)
    return replace(plane, unit_nodes=plane.unit_ends // spec.nics_per_node)


def _ends(spec: FabricInput) -> FabricInput:
    """Return the input of a tree: every adapter is an end of its own, and those of a rack stay together."""
    return replace(
        spec,
        nodes=spec.nodes * spec.nics_per_node,
        nics_per_node=1,
        rack_nodes=spec.rack_nodes * spec.nics_per_node if spec.rack_nodes > 1 else 1,
    )


def _rail_only(spec: FabricInput, manager: int) -> Plane:
    rails = spec.nics_per_node
    one = _tree(replace(spec, nics_per_node=1), ceil(manager / rails))
    return replace(
        one,
        leaves=tuple(group.times(rails) for group in one.leaves),
        spines=tuple(group.times(rails) for group in one.spines),
        cores=tuple(group.times(rails) for group in one.cores),
        manager=manager,
        unit_nodes=one.unit_ends,
    )


def _single(spec: FabricInput, manager: int) -> Plane:
    if spec.nodes * spec.nics_per_node + manager > spec.switch_ports:
        nodes = (spec.switch_ports - manager) // spec.nics_per_node
        nearest = f"{nodes} nodes on one switch, or" if nodes > 0 else "a switch with more ports, or"
        raise FabricImpossible(
            f"{_endpoints(spec, manager)} exceed the {spec.switch_ports} ports of one switch",
            f"{nearest} layout = 'tree'",
        )
    return _tree(spec, manager)


def _endpoints(spec: FabricInput, manager: int) -> str:
    return f"{spec.nodes} nodes × {spec.nics_per_node} adapters and {manager} manager links"


def _pair(spec: FabricInput, manager: int) -> Plane:
    endpoints = spec.nodes * spec.nics_per_node
    split = split_leaf(spec)
    if endpoints + manager > 2 * split.down:
        nodes = (2 * split.down - manager) // spec.nics_per_node
        nearest = f"{nodes} nodes on a pair, or" if nodes > 0 else "a switch with more ports, or"
        raise FabricImpossible(
            f"{_endpoints(spec, manager)} exceed the {2 * split.down} downlinks of a pair at {spec.down_to_up:g}:1",
            f"{nearest} layout = 'rail'",
        )
    first = ceil(endpoints / 2)
    joins = max(1, ceil(first * spec.port_speed_gbps / (float(spec.ratio) * spec.uplink_speed_gbps) - 1e-9))
    leaves = (Group(1, first, joins), Group(1, endpoints - first, joins))
    nodes = (2 * split.down - manager) // spec.nics_per_node
    return Plane(leaves, unit_nodes=nodes, leaf_down=split.down, leaf_up=joins, unit_ends=split.down, manager=manager, inter_switch=joins)


_LAYOUTS = {"rail": _rail, "rail_only": _rail_only, "tree": _tree, "single": _single, "pair": _pair}


# ------------------------------------------------------------------------------------------------- cages, ratio, free ports


def _cages(spec: FabricInput, plane: Plane, holes: Cages) -> dict[str, int]:
    """Return the used cages by tier and side: leaf_node means the leaf's side of its links to nodes."""
    sides = {
        "node": spec.nodes * ceil(spec.nics_per_node / holes.nics_per_node_cage),
        "leaf_node": sum(group.switches * ceil(group.down / holes.leaf_down) for group in plane.leaves) * spec.planes,
        "leaf_spine": sum(group.switches * _uplink_cages(group, spec, plane, holes) for group in plane.leaves if plane.spines)
        * spec.planes,
        "spine_leaf": sum(group.switches * ceil(group.down / holes.uplink) for group in plane.spines) * spec.planes,
        "spine_core": sum(group.switches * ceil(group.up / holes.uplink) for group in plane.spines) * spec.planes,
        "core_spine": sum(group.switches * ceil(group.down / holes.uplink) for group in plane.cores) * spec.planes,
    }
    if plane.inter_switch:
        sides["leaf_leaf"] = 2 * ceil(plane.inter_switch / holes.uplink) * spec.planes
    return sides


def _uplink_cages(group: Group, spec: FabricInput, plane: Plane, holes: Cages) -> int:
    """Return the cages of a leaf's uplinks; one that they share with its last downlink counts for the downlinks."""
    zone = leaf_zones(spec, plane, holes)[1]
    shared = zone.skipped and group.down > plane.leaf_down - plane.leaf_down % holes.leaf_down
    return ceil((group.up + zone.skipped) / holes.uplink) - (1 if shared else 0)


def _modules(spec: FabricInput, plane: Plane, holes: Cages) -> dict[str, int]:
    """Return the transceivers by tier and side where every link but those of a back-to-back pair (copper) is optical."""
    return {side: number for side, number in _cages(spec, plane, holes).items() if side != "leaf_leaf"}


def _oversubscription(spec: FabricInput, plane: Plane) -> float:
    """Return the product over the tiers of down to up bandwidth of the fullest switch, each at least 1."""
    ratio = 1.0
    for group in plane.leaves:
        if group.up and group.down:
            ratio = max(ratio, group.down * spec.link_speed_gbps / (group.up * spec.uplink_speed_gbps))
    upper = max((group.down / group.up for group in plane.spines if group.up), default=1.0)
    return ratio * max(1.0, upper)


def _free_ports(spec: FabricInput, plane: Plane) -> dict[str, int]:
    """Return unused ports by tier; the ports of a leaf that merge into a faster uplink are counted as used."""
    per_uplink = spec.uplink_speed_gbps / spec.port_speed_gbps
    leaf = sum(group.switches * (spec.switch_ports - group.down - ceil(group.up * per_uplink - 1e-9)) for group in plane.leaves)
    upper = {
        "spine": sum(group.switches * (spec.spine_ports - group.down - group.up) for group in plane.spines),
        "core": sum(group.switches * (spec.spine_ports - group.down) for group in plane.cores),
    }
    return {"leaf": (leaf - plane.manager) * spec.planes, **{tier: ports * spec.planes for tier, ports in upper.items()}}


def _largest_unit(spec: FabricInput) -> int:
    """Return the most nodes that the leaves of a unit take, whole racks where they stay whole."""
    split = split_leaf(spec)
    return whole_racks(_ends(spec), split)[1] // spec.nics_per_node if spec.layout == "tree" else whole_racks(spec, split)[1]


def _rack_note(spec: FabricInput, plane: Plane) -> str:
    """Return what is to be said of racks that stay together, "" where nodes are single or one unit holds all."""
    if spec.rack_nodes == 1 or plane.tiers < 2:
        return ""
    if plane.unit_nodes % spec.rack_nodes:
        return f"a rack of {spec.rack_nodes} nodes has more links than a leaf has downlinks: racks lie over several units"
    racks = counted(plane.unit_nodes // spec.rack_nodes, "rack")
    words = f"units are whole racks: {racks} of {spec.rack_nodes} nodes each, so no unit cuts a rack"
    whole = (plane.leaf + plane.spine + plane.core) * spec.planes
    try:
        cut = count_fabric(replace(spec, rack_nodes=1)).switches
    except FabricImpossible:
        return words
    if cut >= whole:
        return words
    return (
        f"{words}, as NVIDIA's GB200 SuperPOD has a leaf per rack and rail; {counted(cut, 'switch', 'switches')} instead of {whole} would "
        "do where units cut racks, but then a lost leaf touches two racks and a new rack moves the cables of others"
    )


def _ratio_notes(spec: FabricInput, plane: Plane) -> list[str]:
    """Return what is to be said of a ratio that buys nothing, or that a leaf cannot have."""
    if spec.ratio < 1:
        return [f"{spec.down_to_up:g}:1 asks for more uplinks than a leaf's nodes can fill: 1:1 is non-blocking already"]
    if plane.spines and plane.leaf_up == 1 and spec.down_to_up > plane.leaf_down:
        return [f"{spec.down_to_up:,.10g}:1 was asked for; a leaf has one uplink at least, so a full one has {plane.leaf_down}:1"]
    return []


def _notes(spec: FabricInput, plane: Plane, cages_assumed: bool, holes: Cages) -> tuple[str, ...]:
    notes = []
    if spec.link_speed_gbps < spec.port_speed_gbps:
        notes.append(
            f"links to nodes use {spec.link_speed_gbps:g} Gb/s of ports of {spec.port_speed_gbps:g} Gb/s: broken out they would save leaves"
        )
    if spec.uplink_speed_gbps < spec.link_speed_gbps:
        notes.append(f"an uplink ({spec.uplink_speed_gbps:g} Gb/s) is slower than an adapter's link: one flow cannot use its whole link")
    if spec.manager_ports and spec.layout in ("rail", "rail_only") and spec.rack_nodes == 1:
        displaced = ceil(ceil(spec.manager_ports / spec.planes) / spec.nics_per_node)
        notes.append(
            f"{spec.manager_ports} manager links take the leaf ports of {counted(displaced, 'node')}: a full fabric serves so many fewer"
        )
    notes += _ratio_notes(spec, plane)
    if plane.spines and plane.tiers == 2:
        least = ceil(plane.leaf * plane.leaf_up / spec.spine_ports)
        if plane.spine > least:
            enough = counted(least, "spine would", "spines would")
            notes.append(f"{enough} have enough ports; {plane.spine} divide the {plane.leaf_up} uplinks of a leaf evenly")
        unit = _largest_unit(spec)
        if spec.wired_for == "nodes" and plane.unit_nodes < unit:
            notes.append(
                f"wired for the nodes there are: units of {plane.unit_nodes} nodes where {unit} would fit; filling them up later "
                f"takes more uplinks than the {plane.leaf_up} of a leaf, and perhaps more spines"
            )
    if rack := _rack_note(spec, plane):
        notes.append(rack)
    if plane.tiers == 3:
        notes.append(
            f"{plane.pods} pods of {plane.pod_spines} spines per rail; {counted(plane.spine_core_pair, 'link')} per spine and core"
        )
    if plane.tiers == 1 and plane.leaf == 1 and spec.layout not in ("single",):
        notes.append("one switch holds every link: no spine is needed")
    if spec.layout == "rail_only":
        notes.append("rails meet only inside the nodes: traffic between rails must cross the scale-up links first")
    if cages_assumed:
        notes.append(
            f"cages: {counted(holes.leaf_down, 'link')} per switch cage by the switch's throughput, one adapter per cage at the node"
        )
    return tuple(notes)
