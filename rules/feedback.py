"""The feedback edges: what a later stage may send back to an earlier one, each at most once per candidate, with its reason."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from catalogs.quantities import magnitude
from rules.budget_size import budget_to_size, size_is_what_limits_allow
from rules.counting import counted
from rules.design import Reentry
from rules.findings import Stage
from rules.proposals import candidate_of, sizes_of
from rules.remembered import remembered
from rules.sizing.fabric.floor import placed_floor
from rules.sizing.fabric.managed import managed_at
from rules.sizing.facility import size_facility
from rules.stages import all_stages
from rules.stages.power_sections import metered_feed

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from rules.candidate import Candidate, Context
    from rules.sizing.fabric.floor import Floor
    from rules.sizing.facility import Placement
    from rules.sizing.results import FabricDesign, FacilityDesign

SLOWER = 0.98
"""A fabric that offers less than this share of what the plan was rated with sends the candidate back to the plan search."""
MOST_REENTRIES = 3
"""How often a candidate may be sent back to an earlier stage; after that the conflict is reported as it stands."""
MOST_PLANS = 3
"""How often racks are filled again while the switches that manage their power units change."""
POWER, BUDGET = "power to size", "budget to size"
"""The edges to another size."""
CABLED = (Stage.FABRIC, Stage.POWER, Stage.MONEY)
"""The stages that cable lengths and optics reach: what is wired, what it draws, what it costs."""


def take_edge(candidate: Candidate, context: Context, taken: Sequence[Reentry], stage: Stage) -> tuple[Candidate, Reentry] | None:
    """Return the candidate to size again and why, where an edge can be taken once `stage` is sized; None where there is none.

    Each edge is taken once, but the bill's, which tries one size after the other and counts as one; at most MOST_REENTRIES are taken.
    """
    names = {each.edge for each in taken}
    for name, edge in EDGES.get(stage, {}).items():
        if name != BUDGET and (name in names or len(names) >= MOST_REENTRIES):
            continue
        found = edge(candidate, context)
        if found is not None:
            changed, because = found
            return changed, Reentry(name, because)
    return None


def still_taken(taken: Sequence[Reentry], added: Reentry) -> list[Reentry]:
    """Return the edges that stand once another one is taken: what a size was sent back for says nothing about the next size."""
    if added.edge != BUDGET:
        return [*taken, added]
    return [*(each for each in taken if each.edge == POWER), added]


def _fabric_to_plan(candidate: Candidate, context: Context) -> tuple[Candidate, str] | None:
    """A fabric slower than the plan was rated with: search the plan again at the rate that the wired fabric offers."""
    network = candidate.fabric.compute if candidate.fabric else None
    if network is None or candidate.choice is None or network.oversubscription <= 1.0 / SLOWER:
        return None
    offered = network.speed_gbps / network.oversubscription
    changed = candidate_of(candidate.node, candidate.gpu, candidate.units, context, candidate.sized_by, network_gbps=offered)
    changed.tried, changed.most_units = candidate.tried, candidate.most_units
    return (
        changed,
        f"the fabric is oversubscribed {network.oversubscription:g}:1, so the plan was searched again at {offered:g} Gb/s per GPU",
    )


def _racks_to_cables(candidate: Candidate, context: Context) -> tuple[Candidate, str] | None:
    """Racks are planned: route the cables again from where nodes and switches really stand.

    Where limits bound the size this waits for the bill, which may yet ask for fewer: the last edge, since another size has other racks.
    """
    if size_is_what_limits_allow(context) and candidate.cost is None:
        return None
    facility, fabric = candidate.facility, candidate.fabric
    if facility is None or fabric is None or fabric.storage is None or candidate.floor is not None:
        return None
    placement = candidate.placement
    density = max((rack.nodes_per_rack for rack in facility.racks), default=0)
    if placement is None or density == 0:
        return None
    routed = replace(candidate, placed_density=candidate.placed_density if candidate.node.is_rack else density)
    routed.floor = _routed_floor(routed, context)
    changed = _again(CABLED, routed, context)
    if density == fabric.nodes_per_rack or candidate.node.is_rack:
        return changed, "switches stand in the racks as planned, so cable lengths and optics were chosen again"
    held = f"racks hold {counted(density, 'node')} each, not {fabric.nodes_per_rack}"
    return changed, f"{held}, so cable lengths and optics were chosen again"


@remembered
def _routed_floor(candidate: Candidate, context: Context) -> Floor | None:
    """Return the floor of the racks as planned, with the switches that manage its power units, which were not known when they were."""
    planned, placement, facility = candidate, candidate.placement, candidate.facility
    if placement is None or facility is None:
        return None
    floor = _floor(placement, facility, candidate, context)
    for _ in range(MOST_PLANS):
        fabric = managed_at(floor, candidate, context)
        if _switches(fabric) == _switches(planned.fabric):
            break
        planned = candidate.varied(floor=floor, fabric=fabric)
        placement = size_facility(planned, context).placement
        if placement is None:
            break
        floor = _floor(placement, facility, planned, context)
    return floor


def _switches(fabric: FabricDesign | None) -> list[Mapping[str, int]]:
    """Return the switches of all networks, by product."""
    return [each.switches for each in (fabric.compute, fabric.storage, fabric.out_of_band) if each is not None] if fabric else []


def _floor(placement: Placement, facility: FacilityDesign, candidate: Candidate, context: Context) -> Floor:
    """Return the floor of the racks as planned."""
    feeds = [metered_feed(plan, candidate, context) for plan in placement.plans]
    floor = placed_floor(placement, candidate.node.trays, [feed.circuits if feed else 0 for feed in feeds])
    return replace(floor, tanks=placement.plans[0].racks if facility.tanks else 0)


def _power_to_size(candidate: Candidate, context: Context) -> tuple[Candidate, str] | None:
    """What the budget buys cannot be powered or placed: take as many as power and racks carry."""
    facility, answers = candidate.facility, context.answers
    if not size_is_what_limits_allow(context) or facility is None:
        return None
    needed = magnitude(facility.total_power, "kW")
    soft = answers.text("facility.power_limit") == "soft"
    power, racks = None if soft else answers.number("facility.total_power"), answers.count("facility.racks")
    over_power = needed / power if power else 0.0
    over_racks = facility.rack_count / racks if racks else 0.0
    if over_power >= over_racks:
        return _shrunk(candidate, context, over_power, f"{needed:,.0f} kW exceed the {power or 0:,.0f} kW that the datacenter gives")
    return _shrunk(candidate, context, over_racks, f"{facility.rack_count:,} racks are needed and {racks:,} are there")


def _shrunk(candidate: Candidate, context: Context, excess: float, why: str) -> tuple[Candidate, str] | None:
    if excess <= 1.0 or candidate.units <= 1:
        return None
    wanted = int(candidate.units / excess)
    sizes = [size for size in sizes_of(candidate.node, max(1, candidate.units)) if size <= max(1, wanted)]
    for size in reversed(sizes):
        changed = candidate_of(candidate.node, candidate.gpu, size, context, candidate.sized_by)
        if changed.choice is not None:
            changed.most_units = size
            return changed, f"{why}: {size} instead of {candidate.units} are taken"
    return None


def _again(stages: Collection[Stage], candidate: Candidate, context: Context) -> Candidate:
    """Return the candidate with the same node, size and plan, to be sized again in `stages`; what the others sized is kept."""
    kept = [module for module in all_stages() if module.STAGE in candidate.facts and module.STAGE not in stages]
    return replace(
        candidate,
        fabric=None,
        facility=None,
        cost=None,
        bom=[line for module in kept for line in module.bill(candidate, context)],
        facts={stage: fact for stage, fact in candidate.facts.items() if stage not in stages},
    )


EDGES: dict[Stage, dict[str, Callable[[Candidate, Context], tuple[Candidate, str] | None]]] = {
    Stage.FABRIC: {"fabric to plan": _fabric_to_plan},
    Stage.POWER: {POWER: _power_to_size},
    Stage.RELIABILITY: {"rack density to cables": _racks_to_cables},
    Stage.MONEY: {BUDGET: budget_to_size, "rack density to cables": _racks_to_cables},
}
"""The edges by the stage after which they are decided, in order."""
