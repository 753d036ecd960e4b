"""What a larger size does to a fabric: what must be re-cabled, which size needs none, and what to wire on the first day."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rules.counting import counted
from rules.sizing.fabric.counts import count_fabric
from rules.sizing.fabric.inputs import HALF_UNIT, FabricImpossible

if TYPE_CHECKING:
    from rules.sizing.fabric.counts import FabricCounts
    from rules.sizing.fabric.inputs import FabricInput


@dataclass(frozen=True)
class Growth:
    """The way to `nodes` nodes: switches and links that are added, links that are moved, and why nothing can be built ("" where it can).

    `moved_prepared` are the links to move where the first day is wired as `first_day` says. `least_spines` would do for these nodes
    alone: fabrics that grow have whole units, so that the next one needs no cable moved.
    """

    nodes: int
    tiers: int = 0
    leaf: int = 0
    spine: int = 0
    core: int = 0
    moved: int = 0
    added_switches: int = 0
    added_links: int = 0
    first_day: str = ""
    moved_prepared: int = 0
    refused: str = ""
    least_spines: int = 0


def without_recabling(spec: FabricInput, counts: FabricCounts) -> int:
    """Return the most nodes that new leaves with uplinks to the present spines serve, no link moved.

    Each leaf takes as many ports of every spine as it has links to it; in three tiers the present pods are filled up. One switch and a pair
    serve what their ports do.
    """
    plane = counts.plane
    if plane.tiers == 1:
        return plane.unit_nodes
    rails = spec.nics_per_node if spec.layout == "rail" and spec.nics_per_node > 1 else 1
    per_unit = plane.unit_ends if spec.layout != "tree" and spec.nics_per_node > 1 else plane.unit_ends / spec.nics_per_node
    ports = spec.spine_ports if plane.tiers == 2 else spec.spine_ports // 2
    units = ports // plane.leaf_spine_pair // (rails if plane.tiers == 2 else 1) * (plane.pods if plane.tiers == 3 else 1)
    reserved = -(-plane.manager // rails)
    return int(units * per_unit) - reserved


def grow(spec: FabricInput, counts: FabricCounts, nodes: int) -> Growth:
    """Return what it takes to grow to `nodes` nodes: with whole units, as fabrics that grow are wired, or where fewer links move, and
    fewer spines do, with the uplinks that these nodes ask for.

    A leaf keeps the links to a spine that it has before and after. From two tiers to three every link between leaves and spines moves,
    because half of a spine's ports become uplinks.
    """
    larger = replace(spec, nodes=nodes, wired_for="units", layout=_later_layout(spec, nodes))
    whole = _grown(spec, counts, larger)
    if whole.refused or whole.tiers != 2 or whole.least_spines >= whole.spine:
        return whole
    return min(whole, _grown(spec, counts, replace(larger, wired_for="nodes")), key=lambda each: (each.moved_prepared, each.moved))


def _grown(spec: FabricInput, counts: FabricCounts, larger: FabricInput) -> Growth:
    try:
        after = count_fabric(larger)
    except FabricImpossible as error:
        return Growth(larger.nodes, refused=str(error))
    moved = _moved(spec, counts, larger, after)
    links = sum(after.links.values()) + after.inter_switch_links - sum(counts.links.values()) - counts.inter_switch_links
    prepared, first_day = _first_day(spec, counts, after, moved)
    return Growth(
        larger.nodes, after.tiers, after.leaf, after.spine, after.core, moved, after.switches - counts.switches, links, first_day, prepared,
        least_spines=count_fabric(replace(larger, wired_for="nodes")).spine if after.tiers == 2 else after.spine,
    )  # fmt: skip


def _later_layout(spec: FabricInput, nodes: int) -> str:
    """Return the layout at a larger size: one switch or a pair as long as all fit, then leaf and spine as a design of that size has it."""
    if spec.layout not in ("single", "pair"):
        return spec.layout
    try:
        count_fabric(replace(spec, nodes=nodes))
    except FabricImpossible:
        return "rail" if spec.nics_per_node > 1 and nodes > HALF_UNIT * spec.switch_ports / 2 else "tree"
    return spec.layout


def _moved(spec: FabricInput, before: FabricCounts, larger: FabricInput, after: FabricCounts) -> int:
    """Return the present links that must go to another port."""
    old, new = before.plane, after.plane
    if old.tiers == 1:
        return _moved_from_one(spec, before, larger, after)
    if old.tiers != new.tiers or old.pod_spines != new.pod_spines:
        return before.links["leaf_spine"] + before.links["spine_core"]
    kept = min(old.leaf_spine_pair, new.leaf_spine_pair) * (old.leaf_up // old.leaf_spine_pair)
    moved = before.leaf * max(0, old.leaf_up - kept)
    if old.tiers == 3:
        kept_up = min(old.spine_core_pair, new.spine_core_pair) * (spec.spine_ports // 2 // old.spine_core_pair)
        moved += before.spine * max(0, spec.spine_ports // 2 - kept_up)
    return moved


def _moved_from_one(spec: FabricInput, before: FabricCounts, larger: FabricInput, after: FabricCounts) -> int:
    """Return the links that move where one switch, or a pair, becomes leaf and spine."""
    if after.tiers == 1 and after.leaf == before.leaf:
        return 0
    ends = spec.nodes * spec.nics_per_node * spec.planes
    if before.leaf == before.planes:  # the switch becomes the first leaf, which keeps as many links as a leaf has downlinks
        rail = larger.layout == "rail" and spec.nics_per_node > 1
        kept = min(spec.nodes if rail else spec.nodes * spec.nics_per_node, after.plane.unit_ends) * spec.planes
        return ends - kept
    return ends + before.inter_switch_links - before.leaf * min(spec.nodes, after.plane.unit_ends) * spec.planes


def _first_day(spec: FabricInput, before: FabricCounts, after: FabricCounts, moved: int) -> tuple[int, str]:
    """Return (links to move, what to wire on the first day) so that as little as possible moves later."""
    if not moved:
        return 0, "as designed"
    if before.tiers == after.tiers == 2 and before.plane.leaf_up % after.plane.leaf_spine_pair == 0:
        spines = after.spine // after.planes
        each = before.plane.leaf_up // spines if before.plane.leaf_up % spines == 0 else 0
        if each:
            more = after.spine - before.spine
            links = counted(each, "link")
            own = " of its plane" if before.planes > 1 else ""
            return 0, f"all {after.spine} spines, {counted(more, 'spine')} more than now, with {links} from each leaf to each{own}"
    if after.tiers == 3 and before.tiers == 2:
        units = after.plane.pod_spines * (spec.spine_ports // 2) // after.plane.leaf_up
        pods = -(-before.plane.units // max(1, units))
        spines = after.plane.pod_spines * _rails(spec) * before.planes
        joined = f"{pods} pods of {spines} spines, joined by cores" if pods > 1 else f"{spines} spines in the first pod"
        return 0, (
            f"pods of {after.plane.pod_spines} spines per rail with half of their ports left for cores, as three tiers are wired: {joined}"
        )
    if before.tiers == after.tiers == 3:
        return 0, _first_day_of_three(spec, before, after)
    if before.tiers == 1:
        return 0, f"leaf and spine from the start: {after.leaf} leaves of the larger size, as many as its units need"
    return moved, "as designed; the links move when it grows"


def _rails(spec: FabricInput) -> int:
    return spec.nics_per_node if spec.layout in ("rail", "rail_only") else 1


def _first_day_of_three(spec: FabricInput, before: FabricCounts, after: FabricCounts) -> str:
    """Return how three tiers are wired on the first day as a part of larger ones: their pods, and all their cores."""
    plane, rails = after.plane, _rails(spec)
    pair = counted(plane.spine_core_pair, "link")
    cores = f"all {after.core:,} cores, {after.core - before.core:,} more than now, with {pair} from a spine to each core of its group"
    if plane.pod_spines == before.plane.pod_spines:
        return cores
    pods = -(-before.plane.units // max(1, plane.pod_spines * (spec.spine_ports // 2) // plane.leaf_up))
    spines = pods * plane.pod_spines * rails * before.planes
    return f"{counted(pods, 'pod')} of {plane.pod_spines} spines per rail, {spines:,} spines in all, and {cores}"
