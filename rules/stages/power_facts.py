"""What stage power states of the unit, its racks, its cooling and the building's total: the first half of its fact."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from catalogs.quantities import format_quantity, magnitude
from catalogs.schema import Kind
from rules.counting import counted
from rules.own_server import OWN_SERVER_ID
from rules.sizing import cooling, immersion, moving_in, warm_air
from rules.sizing.feeds import TOLERANCE_KW
from rules.sizing.lookup import fact_value, threshold_number
from rules.sizing.power import gpu_sum_w, supplies_of
from rules.sizing.power_cap import cap_that_fits, rating_w, speed_share
from rules.sizing.racks import binding_words
from rules.sizing.standing import RACK, TANK, places_words
from rules.stages.power_feed_facts import unit_cords
from rules.stages.power_sections import needs_cabinet

if TYPE_CHECKING:
    from catalogs.schema import Node
    from rules.candidate import Candidate, Context
    from rules.findings import Scalar
    from rules.sizing.facility import FacilitySizing


REFUSING = ("circuits", "outlets", "airflow", "weight", "floor")
"""Limits of a rack that keep even one unit out and have no rule of their own; the others are power, cooling and height."""
MACHINE = "machine"
"""What is said instead of a rack where a machine stands in a room."""


def unit_facts(candidate: Candidate, context: Context, sizing: FacilitySizing) -> dict[str, Scalar]:
    """State what one unit is, and what its GPUs are rated at."""
    node, gpu = candidate.node, candidate.gpu
    summed = gpu_sum_w(node, gpu)
    factory, rating = node.factory_power_limit, gpu.power.maximum
    below = factory is not None and (rating is None or factory.to("W") < rating.to("W"))
    spare = f" and {counted(sizing.spare_units, 'spare')}" if sizing.spare_units else ""
    return {
        "node": node.name,
        "unit_count": candidate.units,
        "spare_count": sizing.spare_units,
        "units_words": f"{candidate.units:,} × {node.name}{spare}",
        "has_factory_limit": below,
        "factory_limit_w": factory.to("W") if factory is not None and below else 0.0,
        "is_rack": node.is_rack,
        "is_desktop": node.desktop,
        "in_racks": needs_cabinet(candidate, context),
        "is_own_server": node.id == OWN_SERVER_ID,
        "gpu_count_per_unit": node.gpu_count,
        "gpu_power_w": gpu.power.maximum.to("W") if gpu.power.maximum is not None else 0.0,
        "gpu_sum_kw": summed / 1000.0 if summed is not None else 0.0,
        "gpu_sum_known": summed is not None,
    }


def total_facts(context: Context, sizing: FacilitySizing) -> dict[str, Scalar]:
    """State the power of a unit, of all equipment and of the building, against the limit that was given."""
    answers, design, draw = context.answers, sizing.design, sizing.draw
    limit = answers.number("facility.total_power")
    total = magnitude(design.total_power, "kW") if design else 0.0
    return {
        "power_known": draw is not None,
        "node_power_kw": magnitude(draw.maximum, "kW") if draw else 0.0,
        "node_power_typical_kw": magnitude(draw.typical, "kW") if draw else 0.0,
        "node_power_kind": draw.kind.value if draw else "unknown",
        "node_power_basis": draw.basis if draw else "not published",
        "node_heat_kw": sizing.unit_heat_kw,
        "it_power_kw": magnitude(design.it_power_maximum, "kW") if design else 0.0,
        "total_power_kw": total,
        "pue": round(sizing.pue.value, 3),
        "pue_given": answers.given("facility.pue"),
        "pue_estimated": sizing.pue.kind is Kind.ESTIMATED,
        "pue_basis": sizing.pue.basis,
        "has_total_limit": limit is not None,
        "limit_is_soft": answers.text("facility.power_limit") == "soft",
        "total_power_limit_kw": limit or 0.0,
        "total_share_percent": 100.0 * total / limit if limit else 0.0,
        "has_unknown_power": bool(sizing.unknown),
        "unknown_power": ", ".join(sizing.unknown),
        "energy_per_year": format_quantity(design.energy_per_year, "MWh") if design else "",
        "carbon_per_year": format_quantity(design.carbon_per_year, "t") if design and design.carbon_per_year is not None else "",
    }


def rack_facts(candidate: Candidate, context: Context, sizing: FacilitySizing) -> dict[str, Scalar]:
    """State how racks are filled, which limit binds first, and what the fullest one draws."""
    answers, design, node = context.answers, sizing.design, candidate.node
    limit, count = answers.number("facility.rack_power"), answers.count("facility.racks")
    plan, fill = design.racks[0] if design else None, sizing.fill
    height = node.height.to("U") if node.height is not None else 0.0
    per_rack = plan.nodes_per_rack if plan else 0
    weight = plan.weight if plan else None
    return {
        "has_rack_limit": limit is not None,
        "rack_power_limit_kw": limit or 0.0,
        "rack_power_kw": sizing.fullest_kw,
        "rack_air_kw": sizing.fullest_air_kw,
        "rack_nodes_kw": magnitude(plan.power, "kW") if plan else 0.0,
        "nodes_per_rack": per_rack,
        "nodes_words": counted(per_rack, "node"),
        **_place_words(candidate, context, sizing),
        "nodes_per_rack_by_height": math.floor(sizing.limits.units / height) if height > 0 and not node.is_rack else per_rack,
        "rack_binding": plan.binding if plan else "unknown",
        "rack_binding_words": binding_words(plan.binding, tank=sizing.tank is not None) if plan else "unknown",
        "equipment_refused": bool(sizing.placement and sizing.placement.too_large),
        "refused_words": ", ".join(sizing.placement.too_large) if sizing.placement else "",
        "rack_refuses": fill is not None and fill.per_rack < 1 and fill.binding in REFUSING,
        "refusing_limit": fill.binding if fill is not None else "",
        "refusing_words": binding_words(fill.binding, tank=sizing.tank is not None) if fill is not None else "",
        "circuits_kw": sizing.limits.circuits_kw or 0.0,
        "rack_airflow_cfm": sizing.limits.airflow_cfm or 0.0,
        "node_airflow_cfm": round(sizing.unit_cfm, 1),
        "node_weight_kg": node.weight.to("kg") if node.weight is not None else 0.0,
        "node_weight": f"{node.weight.to('kg'):,.4g} kg" if node.weight is not None else "not stated",
        "rack_height_u": sizing.limits.units,
        "node_height_u": height,
        "rack_count": design.rack_count if design else 0,
        "has_rack_count_limit": count is not None,
        "rack_count_limit": count or 0,
        "rack_weight_known": weight is not None,
        "rack_weight_kg": magnitude(weight, "kg") if weight is not None else 0.0,
        "rack_weight": format_quantity(weight, "kg") if weight is not None else "not stated",
    }


def _place_words(candidate: Candidate, context: Context, sizing: FacilitySizing) -> dict[str, Scalar]:
    """State what the nodes stand in, rack or tank or room, and how many of them there are, in words."""
    design, in_racks = sizing.design, needs_cabinet(candidate, context)
    tanks = design.racks[0].racks if design and sizing.tank is not None else 0
    filled_kw = magnitude(design.racks[0].power, "kW") if design else 0.0
    tank_is_fullest = sizing.tank is not None and filled_kw >= sizing.fullest_kw - TOLERANCE_KW
    return {
        "place_word": (TANK if sizing.tank is not None else RACK) if in_racks else MACHINE,
        "fullest_word": f"fullest {TANK if tank_is_fullest else RACK}" if in_racks else MACHINE,
        "paths_wished": ", on two paths that each carry it" if in_racks else "",
        "racks_words": places_words((design.rack_count if design else 0) - tanks, tanks),
    }


def entry_facts(candidate: Candidate, context: Context, sizing: FacilitySizing) -> dict[str, Scalar]:
    """State what the loaded racks weigh, what they do to the floor, and what of the way in they do not pass."""
    answers, catalog, node, design = context.answers, context.catalog, candidate.node, sizing.design
    plan = design.racks[0] if design else None
    cabinet = immersion_cabinet(sizing.tank) if sizing.tank else moving_in.cabinet_of(node, sizing.limits.units, catalog)
    equipment_kg = magnitude(plan.weight, "kg") if plan is not None and plan.weight is not None else None
    loaded_kg = equipment_kg + (cabinet.weight_kg or 0.0) if equipment_kg is not None else None
    if sizing.tank is not None and cabinet.weight_kg is None:  # most of a tank's weight is its fluid
        loaded_kg = None
    stands = needs_cabinet(candidate, context)
    blocked = moving_in.obstacles(cabinet, loaded_kg, answers, loaded=node.is_rack) if stands else ()
    first, needed = moving_in.first_obstacle(cabinet, loaded_kg, answers, loaded=node.is_rack) if stands else ("", "")
    limit = answers.number("facility.floor_load")
    return {
        "loaded_rack_kg": round(loaded_kg or 0.0, 1),
        "has_floor_limit": limit is not None,
        "floor_limit_kpa": limit or 0.0,
        "rack_floor_kpa": round(moving_in.floor_load_kpa(loaded_kg, catalog, cabinet.width_m), 2) if loaded_kg and stands else 0.0,
        "way_in_first": first,
        "way_in_needed": needed,
        "way_in_blocked": bool(blocked),
        "way_in_obstacles": "; ".join(blocked) or "none",
        "way_in_given": any(answers.given(f"facility.delivery_{what}") for what in ("weight", "height", "width", "depth")),
        "cabinet_height_m": round(cabinet.height_m, 2),
    }


def immersion_cabinet(tank: immersion.Tank) -> moving_in.Cabinet:
    """Return the tank as what comes in empty and stands filled; of height 0 where it is not stated."""
    return moving_in.Cabinet(tank.height_m or 0.0, tank.width_m, tank.depth_m, tank.filled_kg)


def cap_facts(candidate: Candidate, context: Context, sizing: FacilitySizing) -> dict[str, Scalar]:
    """State the cap on the GPUs' power that was asked for, and the one with which the design would fit where power binds."""
    cap, node, gpu = sizing.cap, candidate.node, candidate.gpu
    low, expected, high = cap.speed if cap else (1.0, 1.0, 1.0)
    unit_kw = magnitude(sizing.draw.maximum, "kW") if sizing.draw else 0.0
    allowed_kw = _allowed_kw(candidate, context, sizing, unit_kw)
    fitting = cap_that_fits(node, gpu, unit_kw, allowed_kw) if cap is None else None
    return {
        "has_power_cap": cap is not None,
        "power_cap_w": cap.watts if cap else 0.0,
        "power_cap_percent": 100.0 * cap.share if cap else 100.0,
        "cap_saves_kw": (cap.rating_w - cap.watts) * node.gpu_count / 1000.0 if cap else 0.0,
        "capped_speed_percent": round(100.0 * expected, 1),
        "capped_speed_low_percent": round(100.0 * low, 1),
        "capped_speed_high_percent": round(100.0 * high, 1),
        "can_be_capped": fitting is not None,
        "fitting_cap_w": fitting or 0.0,
        "fitting_speed_percent": round(100.0 * speed_share(fitting / _rating(candidate))[1], 1) if fitting else 100.0,
    }


def _rating(candidate: Candidate) -> float:
    return rating_w(candidate.node, candidate.gpu) or 1.0


def _allowed_kw(candidate: Candidate, context: Context, sizing: FacilitySizing, unit_kw: float) -> float:
    """Return what one unit may draw in kW by the limits that were given: one circuit per cord, the rack, and its share of the total."""
    answers, design, feed, node = context.answers, sizing.design, sizing.feed, candidate.node
    allowed = [unit_kw]
    supplies = supplies_of(node)
    if feed is not None and not feed.assumed and (supplies is not None or node.desktop or feed.pdu.phases == 1):
        allowed.append(feed.each_kw * unit_cords(candidate, context, sizing, 1))
    rack = answers.number("facility.rack_power")
    allowed += [rack] if rack is not None else []
    total = answers.number("facility.total_power")
    if total is not None and design is not None:
        units = candidate.units + sizing.spare_units
        others_kw = magnitude(design.it_power_maximum, "kW") - units * unit_kw
        allowed.append((total / sizing.pue.value - others_kw) / units)
    return min(allowed)


def cooling_facts(candidate: Candidate, context: Context, sizing: FacilitySizing) -> dict[str, Scalar]:
    """State what cools the nodes and what the hall offers, the air's temperature, heat, air and water."""
    answers, design, match, node = context.answers, sizing.design, sizing.match, candidate.node
    hall = answers.names("facility.cooling")
    heat_kw = magnitude(design.heat, "kW") if design else 0.0
    recommended = fact_value(context.catalog.facts, "ashrae-recommended", "inlet_high")
    inlet, altitude = answers.number("facility.inlet_temperature") or 0.0, answers.number("facility.altitude") or 0.0
    air_kw = sizing.unit_heat_kw * sizing.air_share
    exhaust = cooling.exhaust_celsius(inlet, air_kw, sizing.unit_cfm, cooling.pressure_ratio(altitude))
    stated = node.inlet_maximum.to("degC") if node.inlet_maximum is not None else 0.0
    released = cooling.inlet_limit_celsius(stated, altitude, context.catalog) if node.inlet_maximum is not None else 0.0
    return {
        "cooling": match.kind,
        "cooling_words": cooling.WORDS[match.kind],
        "cooling_required": match.requires,
        "needs_liquid": node.cooling == "liquid",
        "sold_with_liquid": node.cooling in ("liquid", "air_or_liquid"),
        "hall_with_air": ", ".join(dict.fromkeys(("air", *hall))),
        "hall_with_doors": ", ".join(dict.fromkeys((*hall, "rear_door"))),
        "hall_with_liquid": ", ".join(dict.fromkeys((*hall, "liquid"))),
        "hall_cooling": ", ".join(cooling.WORDS[kind] for kind in hall),
        "hall_has_liquid": "liquid" in hall,
        "hall_has_air": "air" in hall or "rear_door" in hall,
        "cooling_given": answers.given("facility.cooling"),
        "cooling_matches": match.matches,
        "inlet_celsius": inlet,
        **_clock_facts(context, node, inlet, altitude),
        "inlet_highest_celsius": cooling.warmest_class_celsius(context.catalog),
        "inlet_class": cooling.air_class(inlet, altitude, context.catalog),
        "altitude_m": altitude,
        "altitude_limit_m": cooling.highest_hall_m(context.catalog),
        "exhaust_celsius": round(exhaust, 1),
        "air_words": _air_words(match.kind, inlet, round(exhaust, 1)),
        "air_pressure_percent": round(100.0 * cooling.pressure_ratio(altitude), 1),
        "inlet_stated_celsius": stated,
        "inlet_recommended_celsius": recommended.to("degC"),
        "has_inlet_maximum": node.inlet_maximum is not None,
        "inlet_maximum_celsius": round(released, 2),
        "heat_kw": heat_kw,
        "heat_btu": f"{cooling.heat_btu_per_hour(heat_kw):,.0f} BTU/h",
        "airflow_cfm": magnitude(design.airflow, "CFM") if design and design.airflow is not None else 0.0,
        "airflow_words": _airflow_words(node, match.kind, sizing.air_share),
        "water_flow": format_quantity(design.water_flow, "L/min", 3) if design and design.water_flow is not None else "none",
        "liquid_heat_kw": sizing.liquid_kw,
        "coolant_units": sizing.coolant.text if sizing.coolant is not None else "none",
        "facility_water": cooling.coolant_rating_words(context.catalog),
        **_water_facts(context, sizing),
        "liquid_share_percent": 100.0 * cooling.liquid_share(node, match.kind, context.catalog)[1],
    }


def _airflow_words(node: Node, kind: str, share: float) -> str:
    """Return how the air through a node came about, in words."""
    if kind == "immersion":
        return "of what stays in air"
    if node.airflow is not None:
        return f"the vendor states {node.airflow.to('CFM'):,.0f} CFM for a node"
    left = f", for the {share:.0%} of a node's heat that liquid leaves at most" if share < 1.0 else ""
    return f"no airflow of a node is published: {cooling.AIR_RISE_F:g} °F of rise are assumed{left}"


def _air_words(kind: str, inlet: float, exhaust: float) -> str:
    if kind == "immersion":
        return "the nodes stand in fluid"
    return f"it enters the nodes at {inlet:g} °C and leaves them at about {exhaust:g} °C"


def _clock_facts(context: Context, node: Node, inlet: float, altitude: float) -> dict[str, Scalar]:
    """State which share of their clocks GPUs are expected to hold in the air that enters, and in which air the hottest throttle."""
    low, expected, _ = warm_air.shares_of(node, context.answers)
    limits = context.catalog.thresholds
    margin = threshold_number(limits, "pow-throttle", "throttle_low") - threshold_number(limits, "pow-throttle", "target_high")
    return {
        "air_counts_as_celsius": round(warm_air.counts_as_celsius(inlet, altitude), 2),
        "clocks_low_percent": round(100.0 * low, 2),
        "clocks_expected_percent": round(100.0 * expected, 2),
        "throttle_inlet_celsius": warm_air.USUAL_CELSIUS + margin,
    }


def _water_facts(context: Context, sizing: FacilitySizing) -> dict[str, Scalar]:
    """State the facility's water, what reaches the racks, and how heat is split between water and the room's air."""
    answers, design = context.answers, sizing.design
    heat_kw = magnitude(design.heat, "kW") if design else 0.0
    water_kw = magnitude(design.water_heat, "kW") if design and design.water_heat is not None else 0.0
    supply = answers.number("facility.water_temperature")
    approach = sizing.coolant.unit.approach if sizing.coolant is not None else None
    warmer = magnitude(str(approach.value), "K") if approach is not None else 0.0
    return {
        **_tank_facts(context, sizing),
        "heat_tons": round(cooling.heat_tons(heat_kw), 2),
        "water_heat_kw": round(water_kw, 3),
        "room_heat_kw": round(heat_kw - water_kw, 3),
        "water_known": supply is not None,
        "water_celsius": supply or 0.0,
        "water_at_racks_celsius": supply + warmer if supply is not None else 0.0,
        "coolant_highest_celsius": cooling.coolant_highest_celsius(context.catalog),
        "water_words": f"water of {supply:g} °C (class {cooling.water_class(supply)}), {supply + warmer:g} °C at the racks"
        if supply is not None
        else "the water's temperature was not said",
        "hall_has_immersion": "immersion" in answers.names("facility.cooling"),
    }


def _tank_facts(context: Context, sizing: FacilitySizing) -> dict[str, Scalar]:
    """State the tanks that servers go into, their fluid, and what they put on the floor under them."""
    design, tank = sizing.design, sizing.tank
    each_kw = tank.heat_kw if tank else cooling.rack_limit_kw("immersion", context.catalog) or 0.0
    per_tank = design.racks[0].nodes_per_rack if design and tank else 0
    loaded = design.racks[0].weight if design and tank else None
    all_kg = magnitude(loaded, "kg") + tank.filled_kg if loaded is not None and tank is not None and tank.filled_kg is not None else None
    under = immersion.load_on_footprint_kpa(all_kg, tank) if tank is not None and all_kg is not None else None
    return {
        "tank_kw": each_kw,
        "units_per_tank": per_tank if tank else math.floor(each_kw / sizing.unit_heat_kw) if sizing.unit_heat_kw > 0 else 0,
        "tank_words": design.tanks if design and tank else "none",
        "tank_heat_kw": round(per_tank * sizing.unit_heat_kw, 3),
        "tank_litres_words": f"{tank.litres:,.0f} L of fluid each" if tank and tank.litres else "litres of fluid not stated",
        "tank_under_words": f"{under:.3g} kPa on the floor under it" if under else "weight or measures not stated",
        "fluid_flow": format_quantity(design.fluid_flow, "L/min", 3) if design and design.fluid_flow is not None else "none",
        "litre_carries_w": round(immersion.watts_per_litre_per_minute(context.catalog), 1),
    }
