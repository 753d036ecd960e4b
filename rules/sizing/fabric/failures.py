"""What a fabric still carries after a loss: of a link, a leaf, a spine, a core, a plane; from the links as they are wired."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rules.sizing.fabric.counts import FabricCounts
    from rules.sizing.fabric.inputs import FabricInput


class Loss(NamedTuple):
    """One loss: `hit` nodes keep the share `left` of their bandwidth (between leaves for what is lost above them), the others all.

    `whole` is the share that all nodes together keep.
    """

    what: str
    hit: int
    left: float
    whole: float


def losses(spec: FabricInput, counts: FabricCounts) -> tuple[Loss, ...]:
    """Return what each single loss leaves; nothing for what the fabric does not have.

    A rail leaf serves one adapter of every node of its unit; a leaf of a tree serves all adapters of a few nodes, which lose everything
    in its plane. Every leaf has equally many uplinks to each of its spines, and every spine to each of its cores, so a lost one takes
    its share of what passes between leaves, or between pods.
    """
    return tuple(_losses(spec, counts))


def _losses(spec: FabricInput, counts: FabricCounts) -> Iterator[Loss]:
    plane, nodes, planes = counts.plane, spec.nodes, counts.planes
    own = spec.nics_per_node * planes
    yield _loss("a link of a node", 1, 1 - 1 / own, nodes)
    rail = spec.layout in ("rail", "rail_only") and spec.nics_per_node > 1
    fullest = max((group.down for group in plane.leaves), default=0)
    whole = 1 - fullest / (nodes * own)
    if rail:
        yield Loss("a leaf", min(nodes, fullest), 1 - 1 / own, whole)
    elif spec.layout == "pair" and spec.nics_per_node > 1:
        yield Loss("a leaf", nodes, whole, whole)
    else:
        yield Loss("a leaf", min(nodes, -(-fullest // spec.nics_per_node)), 1 - min(1.0, fullest / spec.nics_per_node) / planes, whole)
    if plane.spines:
        per_leaf = plane.leaf_up // plane.leaf_spine_pair
        group = _group_nodes(spec, counts, rail=rail)
        share = 1 / (own if rail and (plane.tiers == 3 or spec.layout == "rail_only") else planes)
        yield _loss("a spine", group, 1 - share / per_leaf, nodes)
    if plane.cores:
        cores = plane.core // (spec.nics_per_node if spec.layout == "rail_only" and rail else 1)
        share = 1 / (own if spec.layout == "rail_only" and rail else planes)
        yield _loss("a core", nodes, 1 - share / cores, nodes)
    if planes > 1:
        yield _loss("a plane", nodes, 1 - 1 / planes, nodes)


def _group_nodes(spec: FabricInput, counts: FabricCounts, *, rail: bool) -> int:
    """Return the nodes whose leaves a spine serves: all of them in two tiers, those of a pod in three."""
    plane = counts.plane
    if plane.tiers < 3:
        return spec.nodes
    units = plane.pod_spines * (spec.spine_ports // 2) // plane.leaf_up
    ends = units * plane.unit_ends
    return min(spec.nodes, ends if rail else -(-ends // spec.nics_per_node))


def _loss(what: str, hit: int, left: float, nodes: int) -> Loss:
    return Loss(what, hit, left, 1 - hit * (1 - left) / nodes)
