"""The facility of a candidate: node power, racks, cooling, feeds and a year's energy brought together."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from catalogs.quantities import magnitude, quantity
from catalogs.sums import plain_sum
from rules.counting import counted
from rules.remembered import remembered
from rules.sizing import cooling, equipment, feeds, immersion, moving_in, power, power_cap, racks
from rules.sizing.equipment import Room
from rules.sizing.fabric.floor import far_hall
from rules.sizing.lookup import fact_value
from rules.sizing.pue import Pue, pue_of
from rules.sizing.reliability import spare_nodes
from rules.sizing.results import FacilityDesign
from rules.sizing.standing import stands_in_racks

if TYPE_CHECKING:
    from catalogs import Catalog
    from catalogs.quantities import Quantity
    from catalogs.schema import Node
    from rules.candidate import Candidate, Context
    from rules.sizing.cooling import CoolantUnits, CoolingMatch
    from rules.sizing.equipment import Equipment, Load
    from rules.sizing.feeds import Feed
    from rules.sizing.immersion import Tank
    from rules.sizing.power import EquipmentDraw, NodeDraw
    from rules.sizing.power_cap import Cap
    from rules.sizing.racks import RackFill, RackLimits
    from rules.sizing.results import RackPlan


@dataclass(frozen=True)
class Placement:
    """The racks by kind, the equipment that stands beside the last nodes, and that of racks of its own; kW of the fullest rack.

    `loads` are in the order of `plans` after the first, which is that of the nodes; a plan of no rack has its load in `beside`.
    `too_large` names boxes of network and storage that no rack takes, each in one of its own all the same.
    """

    plans: tuple[RackPlan, ...]
    beside: tuple[Load, ...]
    loads: tuple[tuple[Load, ...], ...]
    fullest_kw: float
    fullest_air_kw: float
    too_large: tuple[str, ...] = ()


@dataclass(frozen=True)
class FacilitySizing:
    """What the power stage works out: the design, and the parts that its facts are made of. `draw` None: power is not known.

    `air_share` is the part of a node's heat that goes to the air at most. `fullest_kw` and `fullest_air_kw` are of the rack with the
    most power and of the one with the most heat to air, network and storage included.
    """

    match: CoolingMatch
    limits: RackLimits
    pue: Pue
    cap: Cap | None = None
    draw: NodeDraw | None = None
    fill: RackFill | None = None
    feed: Feed | None = None
    unit_heat_kw: float = 0.0
    fullest_kw: float = 0.0
    fullest_air_kw: float = 0.0
    spare_units: int = 0
    air_share: float = 1.0
    unit_cfm: float = 0.0
    liquid_kw: float = 0.0
    coolant: CoolantUnits | None = None
    placement: Placement | None = None
    design: FacilityDesign | None = None
    unknown: tuple[str, ...] = ()
    tank: Tank | None = None


def spare_units(candidate: Candidate, catalog: Catalog) -> int:
    """Return the spare servers that stand in racks beside those that train; spare trays of pre-integrated racks lie on a shelf."""
    if candidate.node.is_rack:
        return 0
    return spare_nodes(candidate.gpu, candidate.gpus, candidate.nodes, catalog)


@remembered
def size_facility(candidate: Candidate, context: Context) -> FacilitySizing:
    """Return power, racks, cooling and feeds of a candidate from its nodes and spare nodes, network and storage.

    A spare is planned like any other node, since it takes the place of a failed one; a year's energy counts only those that train.
    Management servers are counted with the network, at an estimate; the notes say so.
    """
    answers, catalog, node = context.answers, context.catalog, candidate.node
    match = cooling.cooling_of(node, answers)
    in_room = not stands_in_racks(node, candidate.units, answers)
    pue, cap = pue_of(answers, match.kind, catalog, desktop=in_room), power_cap.cap_of(node, candidate.gpu, answers)
    draw = power.node_draw(node, candidate.gpu, catalog, answers, liquid=match.kind == "liquid")
    if draw is None:
        return FacilitySizing(match, rack_limits(node, match, context), pue, cap)
    unit_kw = magnitude(draw.maximum, "kW")
    heat_kw = cooling.node_heat_kw(node, unit_kw, power_cap.saved_kw(node, cap))
    tank = _tank(node, match, unit_kw, heat_kw, context)
    limits = rack_limits(node, match, context) if tank is None else _tank_limits(tank, unit_kw / heat_kw, context)
    unit_cfm = _unit_cfm(candidate, heat_kw, match, context)
    supplies = power.supplies_of(node)
    fill = racks.fill_rack(unit_kw, *_measures(node), limits, unit_cfm, supplies.count if supplies is not None else None)
    network = power.network_draw(candidate.fabric, catalog)
    storage_kw = _storage_kw(candidate)
    spares = spare_units(candidate, catalog)
    air_share = cooling.air_share(node, match.kind, catalog)
    wanted = (equipment.network_equipment(candidate.fabric, catalog), equipment.storage_equipment(candidate.storage, catalog))
    placed = _place(candidate, candidate.units + spares, unit_kw, air_share, match.kind, fill, limits, wanted, context)
    feed = feeds.choose_feed(placed.fullest_kw, answers.text("facility.feed"), catalog, desktop=in_room, terms=feeds.FeedTerms.of(answers))
    unknown = (*network.unknown, *(("storage",) if storage_kw is None else ()))
    liquid_kw = (candidate.units + spares) * heat_kw * cooling.liquid_share(node, match.kind, catalog)[1] if match.matches else 0.0
    sizing = FacilitySizing(
        match,
        limits,
        pue,
        cap,
        draw,
        fill,
        feed,
        heat_kw,
        placed.fullest_kw,
        placed.fullest_air_kw,
        spares,
        air_share,
        unit_cfm,
        liquid_kw,
        cooling.size_coolant_units(liquid_kw, catalog, placed.plans[0].racks),
        placed,
        unknown=unknown,
        tank=tank,
    )
    return replace(sizing, design=_design(candidate, context, sizing, network, storage_kw or 0.0))


def rack_limits(node: Node, match: CoolingMatch, context: Context) -> RackLimits:
    """Return what one rack of the hall takes: the person's limits, what its circuits carry, and what the cooling carries away.

    A pre-integrated rack brings its own cabinet and cooling, so only the hall's power per rack limits it.
    """
    answers, catalog = context.answers, context.catalog
    units = int(answers.number("facility.rack_units") or 0)
    limit_kw = answers.number("facility.rack_power")
    circuits_kw = feeds.FeedTerms.of(answers).rack_kw(answers.text("facility.feed"), catalog)
    if node.is_rack:
        return racks.RackLimits(units, limit_kw, circuits_kw=circuits_kw)
    return racks.RackLimits(
        units,
        limit_kw,
        cooling.rack_limit_kw(match.kind, catalog, answers.number("facility.altitude") or 0.0),
        _rack_load_kg(units, context),
        circuits_kw,
        answers.number("facility.rack_airflow"),
        _floor_kg(node, units, context),
        _outlets(node, context),
    )


def _tank(node: Node, match: CoolingMatch, unit_kw: float, heat_kw: float, context: Context) -> Tank | None:
    """Return the tank that servers of `node` go into, None where other cooling takes them or no tank of the catalog takes one."""
    if match.kind != "immersion":
        return None
    answers, height = context.answers, node.height.to("U") if node.height is not None else None
    circuits_kw = feeds.FeedTerms.of(answers).rack_kw(answers.text("facility.feed"), context.catalog)
    given = [kw for kw in (answers.number("facility.rack_power"), circuits_kw) if kw is not None]
    return immersion.choose_tank(heat_kw, height, min(given, default=math.inf) * heat_kw / unit_kw, context.catalog)


def _tank_limits(tank: Tank, power_per_heat: float, context: Context) -> RackLimits:
    """Return what one tank takes: heat, in power of its servers, and height of its own, power and circuits as a rack's."""
    answers = context.answers
    circuits_kw = feeds.FeedTerms.of(answers).rack_kw(answers.text("facility.feed"), context.catalog)
    return racks.RackLimits(tank.units, answers.number("facility.rack_power"), tank.heat_kw * power_per_heat, circuits_kw=circuits_kw)


def _outlets(node: Node, context: Context) -> int | None:
    """Return the outlets of a rack for the cords of its nodes: what was said, else those of the circuits that were given; None: unknown."""
    answers, supplies = context.answers, power.supplies_of(node)
    if answers.given("facility.outlets_per_rack"):
        return answers.count("facility.outlets_per_rack")
    terms, feed = feeds.FeedTerms.of(answers), answers.text("facility.feed")
    known = terms.circuits_of(feed, context.catalog) if feed and terms.circuits and terms.current_a else ()
    if supplies is None or not known:
        return None
    rating_kw = magnitude(supplies.installed, "kW") / supplies.count
    each = known[0].outlets_c19 if feeds.needs_large_outlet(rating_kw, known[0]) else known[0].outlets_c13
    return None if each is None or terms.circuits is None else terms.circuits * int(each.to(""))


def _floor_kg(node: Node, units: int, context: Context) -> float | None:
    """Return the weight in kg that the floor carries in a cabinet, None where its load was not given."""
    limit = context.answers.number("facility.floor_load")
    if limit is None:
        return None
    cabinet = moving_in.cabinet_of(node, units, context.catalog)
    return max(0.0, moving_in.floor_carries_kg(limit, context.catalog, cabinet.width_m) - (cabinet.weight_kg or 0.0))


def _unit_cfm(candidate: Candidate, heat_kw: float, match: CoolingMatch, context: Context) -> float:
    """Return the air that one unit needs in CFM at the height of the hall."""
    share = cooling.air_share(candidate.node, match.kind, context.catalog)
    pressure = cooling.pressure_ratio(context.answers.number("facility.altitude") or 0.0)
    if match.kind == "immersion":  # its fans are out
        return cooling.airflow_cfm(1000.0 * heat_kw * share, pressure_ratio=pressure)
    return cooling.node_airflow_cfm(candidate.node, heat_kw * share, pressure)


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
    candidate: Candidate,
    units: int,
    unit_kw: float,
    air_share: float,
    kind: str,
    fill: RackFill,
    limits: RackLimits,
    wanted: tuple[Equipment | None, ...],
    context: Context,
) -> Placement:
    """Return the racks of nodes, then those of network and storage equipment that does not fit beside the nodes.

    Equipment goes beside the nodes only while the last compute rack keeps to its limits, to the circuits that the full ones have, and
    to what air takes comfortably.
    """
    in_room = not stands_in_racks(candidate.node, candidate.units, context.answers)
    compute = racks.place_nodes(candidate.node, units, unit_kw, fill, limits, in_room=in_room)
    full_kw = magnitude(compute.power, "kW")
    ceilings = [kw for kw in (_feed_kw(full_kw, context), cooling.comfortable_kw(kind, context.catalog)) if kw is not None]
    room = racks.free_in_last_rack(candidate.node, units, compute, unit_kw, limits, min(ceilings, default=None))
    last_kw = racks.nodes_in_last_rack(units, compute) * unit_kw
    answers = context.answers
    hall, altitude = answers.names("facility.cooling"), answers.number("facility.altitude") or 0.0
    alone = replace(limits, cooling_kw=cooling.equipment_limit_kw(hall, context.catalog, altitude))
    if kind == "immersion":  # switches and storage stay dry, in racks of their own
        alone, room = replace(alone, units=int(answers.number("facility.rack_units") or 0)), Room(0.0, 0.0, 0.0)
    present = [each for each in wanted if each is not None]
    plans, loads, beside = racks.place_all(present, alone, room, apart=far_hall(compute.racks))
    beside_kw = plain_sum(load.power_kw for load in beside)
    rows = [(full_kw, full_kw * air_share), *((magnitude(plan.power, "kW"),) * 2 for plan in plans if plan.racks)]
    rows += [(last_kw + beside_kw, last_kw * air_share + beside_kw)] if beside else []
    refused = tuple(name for each in present for name in racks.too_large(each, alone))
    return Placement((compute, *plans), beside, loads, max(row[0] for row in rows), max(row[1] for row in rows), refused)


def _feed_kw(load_kw: float, context: Context) -> float | None:
    """Return what the circuits of a rack of `load_kw` carry, None where the catalog has no such circuit."""
    answers = context.answers
    feed = feeds.choose_feed(load_kw, answers.text("facility.feed"), context.catalog, terms=feeds.FeedTerms.of(answers))
    return None if feed is None else magnitude(feed.usable, "kW")


def _design(candidate: Candidate, context: Context, sizing: FacilitySizing, network: EquipmentDraw, storage_kw: float) -> FacilityDesign:
    draw, kind, heat_kw, placed = sizing.draw, sizing.match.kind, sizing.unit_heat_kw, sizing.placement
    assert draw is not None
    assert placed is not None
    units, pue = candidate.units + sizing.spare_units, sizing.pue.value
    other_kw = network.maximum_kw + storage_kw
    maximum_kw = units * magnitude(draw.maximum, "kW") + other_kw
    typical_kw = candidate.units * magnitude(draw.typical, "kW") + network.typical_kw + storage_kw
    air_kw = heat_kw * cooling.air_share(candidate.node, kind, context.catalog)
    pressure = cooling.pressure_ratio(context.answers.number("facility.altitude") or 0.0)
    water_kw = units * heat_kw * cooling.water_share(candidate.node, kind, context.catalog) if sizing.match.matches else 0.0
    energy = power.yearly_energy(typical_kw, pue)
    return FacilityDesign(
        node_power_typical=draw.typical,
        node_power_maximum=draw.maximum,
        node_power_kind=draw.kind,
        it_power_typical=quantity(typical_kw, "kW"),
        it_power_maximum=quantity(maximum_kw, "kW"),
        total_power=quantity(maximum_kw * pue, "kW"),
        pue=pue,
        racks=placed.plans,
        rack_count=sum(plan.racks for plan in placed.plans),
        cooling=kind,
        heat=quantity(units * heat_kw + other_kw, "kW"),
        airflow=quantity(units * sizing.unit_cfm + cooling.airflow_cfm(other_kw * 1000.0, pressure_ratio=pressure), "CFM")
        if air_kw > 0
        else None,
        water_flow=_water_flow(sizing, water_kw, context.catalog),
        feed=sizing.feed.text if sizing.feed is not None else "",
        energy_per_year=energy,
        carbon_per_year=power.yearly_carbon(energy, context.answers.text("facility.region"), context.catalog),
        notes=_notes(candidate, sizing, context.catalog),
        fullest_rack=quantity(sizing.fullest_kw, "kW"),
        spare_units=sizing.spare_units,
        liquid_heat=quantity(sizing.liquid_kw, "kW") if sizing.liquid_kw > 0 else None,
        coolant_units=sizing.coolant.text if sizing.coolant is not None else "",
        water_heat=quantity(water_kw, "kW") if sizing.match.matches else None,
        pue_basis=sizing.pue.basis,
        tanks=f"{placed.plans[0].racks} × {sizing.tank.name}" if sizing.tank is not None else "",
        fluid_flow=quantity(immersion.fluid_litres_per_minute(water_kw, context.catalog), "L/min") if sizing.tank is not None else None,
    )


def _water_flow(sizing: FacilitySizing, water_kw: float, catalog: Catalog) -> Quantity | None:
    """Return the coolant on the racks' side, or the water through rear doors; None where neither flows."""
    if sizing.liquid_kw > 0:
        return quantity(cooling.water_litres_per_minute(sizing.liquid_kw), "L/min")
    return quantity(cooling.door_litres_per_minute(water_kw, catalog), "L/min") if water_kw > 0 else None


def _server_note(candidate: Candidate, catalog: Catalog) -> tuple[str, ...]:
    count = candidate.fabric.management_servers if candidate.fabric is not None else 0
    if not count:
        return ()
    low, expected, high = fact_value(catalog.facts, equipment.SERVER, "power").ends("kW")
    servers = counted(count, "management server is", "management servers are")
    return (f"{servers} counted at {expected:g} kW each, an estimate ({low:g} to {high:g} kW): the product is open",)


def _notes(candidate: Candidate, sizing: FacilitySizing, catalog: Catalog) -> tuple[str, ...]:
    assert sizing.draw is not None
    notes = [f"power of one {candidate.node.name}: {sizing.draw.basis}", *_server_note(candidate, catalog)]
    if sizing.spare_units:
        spare = counted(sizing.spare_units, "spare node is", "spare nodes are")
        notes.append(f"{spare} counted in power and racks, not in a year's energy")
    if sizing.unknown:
        notes.append(f"no published power, left out of the sums: {', '.join(sizing.unknown)}")
    if candidate.node.height is None and not (candidate.node.is_rack or candidate.node.desktop):
        notes.append(f"the height of one {candidate.node.name} is not stated; its racks are filled by power and cooling alone")
    if sizing.coolant is not None:
        in_rack = sizing.coolant.unit.type == cooling.IN_RACK_COOLANT_UNIT
        where = "in the rack, whose units they take are not counted," if in_rack else "outside the counted racks"
        notes.append(f"coolant units stand {where} and draw their power within the PUE")
    return tuple(notes)
