"""The facility of a candidate: node power, racks, cooling, feeds and a year's energy brought together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from catalogs.quantities import magnitude, quantity
from rules.sizing import cooling, power, racks
from rules.sizing.results import FacilityDesign

if TYPE_CHECKING:
    from catalogs.schema import Node
    from rules.candidate import Candidate, Context
    from rules.sizing.cooling import CoolingMatch
    from rules.sizing.power import EquipmentDraw, Feed, NodeDraw
    from rules.sizing.racks import RackFill, RackLimits
    from rules.sizing.results import RackPlan

KW_PER_RACK_UNIT_LEFT = 1e9
"""Spare power of a rack without any known limit, in kW: so large that it never binds."""


@dataclass(frozen=True)
class FacilitySizing:
    """What the power stage works out: the design, and the parts that its facts are made of. `draw` None: power is not known."""

    match: CoolingMatch
    limits: RackLimits
    draw: NodeDraw | None = None
    fill: RackFill | None = None
    feed: Feed | None = None
    unit_heat_kw: float = 0.0
    rack_air_kw: float = 0.0
    design: FacilityDesign | None = None
    unknown: tuple[str, ...] = ()


def size_facility(candidate: Candidate, context: Context) -> FacilitySizing:
    """Return power, racks, cooling and feeds of a candidate from its node, network and storage.

    Spare nodes and the servers of the control plane are not counted; the notes say so.
    """
    answers, catalog, node = context.answers, context.catalog, candidate.node
    match = cooling.match_cooling(node, answers.names("facility.cooling"))
    limits = rack_limits(node, match, context)
    draw = power.node_draw(node, candidate.gpu, catalog, answers, liquid=match.kind == "liquid")
    if draw is None:
        return FacilitySizing(match, limits)
    unit_kw = magnitude(draw.maximum, "kW")
    heat_kw = cooling.node_heat_kw(node, unit_kw)
    fill = racks.fill_rack(unit_kw, *_measures(node), limits)
    network = power.network_draw(candidate.fabric)
    storage_kw = _storage_kw(candidate)
    plans = _place(candidate, unit_kw, fill, limits, network.maximum_kw, storage_kw or 0.0, context)
    rack_kw = magnitude(plans[0].power, "kW")
    feed = power.choose_feed(rack_kw, answers.text("facility.feed"), catalog, desktop=node.desktop)
    unknown = (*network.unknown, *(("storage",) if storage_kw is None else ()))
    air_share = 1.0 - cooling.liquid_share(node, match.kind, catalog)[0]
    rack_air_kw = rack_kw * air_share
    design = _design(candidate, context, draw, match, plans, feed, network, storage_kw or 0.0, heat_kw, unknown)
    return FacilitySizing(match, limits, draw, fill, feed, heat_kw, rack_air_kw, design, unknown)


def rack_limits(node: Node, match: CoolingMatch, context: Context) -> RackLimits:
    """Return what one rack of the hall takes: the person's limits, and what the cooling carries away.

    A pre-integrated rack brings its own cabinet and cooling, so only the hall's power per rack limits it.
    """
    answers = context.answers
    units = int(answers.number("facility.rack_units") or 0)
    limit_kw = answers.number("facility.rack_power")
    cooling_kw = None if node.is_rack else cooling.rack_limit_kw(match.kind, context.catalog)
    return racks.RackLimits(units, limit_kw, cooling_kw, _rack_load_kg(units, context))


def _rack_load_kg(units: int, context: Context) -> float | None:
    fitting = [rack.load.to("kg") for rack in context.catalog.racks if rack.load is not None and rack.units.to("U") >= units]
    return min(fitting, default=None)


def _measures(node: Node) -> tuple[float | None, float | None]:
    height = node.height.to("U") if node.height is not None else None
    return height, node.weight.to("kg") if node.weight is not None else None


def _storage_kw(candidate: Candidate) -> float | None:
    """Return the power of the shared storage in kW, None where it is not stated or the product is still open; 0 where there is none."""
    storage = candidate.storage
    if storage is None or (not storage.systems and candidate.nodes <= 1):
        return 0.0
    return None if storage.power is None else magnitude(storage.power, "kW")


def _place(
    candidate: Candidate, unit_kw: float, fill: RackFill, limits: RackLimits, network_kw: float, storage_kw: float, context: Context
) -> list[RackPlan]:
    """Return the racks of nodes, then those of network and storage equipment that does not fit beside the nodes."""
    compute = racks.place_nodes(candidate.node, candidate.units, unit_kw, fill, limits)
    plans = [compute]
    spare_units, spare_kw = _left_in_last_rack(candidate, compute, unit_kw, limits)
    for equipment in (
        racks.switch_equipment(candidate.fabric, network_kw, context.catalog),
        racks.storage_equipment(candidate.storage, storage_kw),
    ):
        if equipment is None:
            continue
        placed = racks.place_equipment(equipment, limits, spare_units, spare_kw)
        if placed.racks == 0:
            spare_units, spare_kw = spare_units - equipment.units, spare_kw - equipment.power_kw
        plans.append(placed)
    return plans


def _left_in_last_rack(candidate: Candidate, compute: RackPlan, unit_kw: float, limits: RackLimits) -> tuple[float, float]:
    """Return rack units and kW that the last, perhaps partly filled, compute rack leaves free."""
    if candidate.node.is_rack or compute.racks < 1:
        return 0.0, 0.0
    last = candidate.units - (compute.racks - 1) * compute.nodes_per_rack
    height = candidate.node.height.to("U") if candidate.node.height is not None else float(limits.units)
    ceilings = [limit for limit in (limits.power_kw, limits.cooling_kw) if limit is not None]
    return limits.units - last * height, (min(ceilings) - last * unit_kw if ceilings else KW_PER_RACK_UNIT_LEFT)


def _design(
    candidate: Candidate,
    context: Context,
    draw: NodeDraw,
    match: CoolingMatch,
    plans: list[RackPlan],
    feed: Feed | None,
    network: EquipmentDraw,
    storage_kw: float,
    heat_kw: float,
    unknown: tuple[str, ...],
) -> FacilityDesign:
    units, pue = candidate.units, context.answers.number("facility.pue") or 1.0
    other_kw = network.maximum_kw + storage_kw
    maximum_kw = units * magnitude(draw.maximum, "kW") + other_kw
    typical_kw = units * magnitude(draw.typical, "kW") + network.typical_kw + storage_kw
    total_heat_kw = units * heat_kw + other_kw
    low, high = cooling.liquid_share(candidate.node, match.kind, context.catalog)
    liquid_kw = units * heat_kw * high
    air_kw = units * heat_kw * (1.0 - low)
    per_unit_cfm = cooling.node_airflow_cfm(candidate.node, heat_kw * (1.0 - low))
    energy = power.yearly_energy(typical_kw, pue)
    return FacilityDesign(
        node_power_typical=draw.typical,
        node_power_maximum=draw.maximum,
        node_power_kind=draw.kind,
        it_power_typical=quantity(typical_kw, "kW"),
        it_power_maximum=quantity(maximum_kw, "kW"),
        total_power=quantity(maximum_kw * pue, "kW"),
        pue=pue,
        racks=tuple(plans),
        rack_count=sum(plan.racks for plan in plans),
        cooling=match.kind,
        heat=quantity(total_heat_kw, "kW"),
        airflow=quantity(units * per_unit_cfm + cooling.airflow_cfm(other_kw * 1000.0), "CFM") if air_kw > 0 else None,
        water_flow=quantity(cooling.water_litres_per_minute(liquid_kw), "L/min") if liquid_kw > 0 else None,
        feed=feed.text if feed is not None else "",
        energy_per_year=energy,
        carbon_per_year=power.yearly_carbon(energy, context.answers.text("facility.region"), context.catalog),
        notes=_notes(candidate, draw, unknown),
    )


def _notes(candidate: Candidate, draw: NodeDraw, unknown: tuple[str, ...]) -> tuple[str, ...]:
    notes = [
        f"power of one {candidate.node.name}: {draw.basis}",
        "spare nodes and control-plane servers are not counted in power and racks",
    ]
    if unknown:
        notes.append(f"no published power, left out of the sums: {', '.join(unknown)}")
    if candidate.node.height is None and not (candidate.node.is_rack or candidate.node.desktop):
        notes.append(f"the height of one {candidate.node.name} is not stated; its racks are filled by power and cooling alone")
    return tuple(notes)
