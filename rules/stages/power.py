"""Stage power: node, rack and facility power, cooling, feeds, and whether the hall can take the design."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from catalogs.quantities import format_quantity, magnitude
from rules.facts import FactField
from rules.findings import Scalar, Stage
from rules.guidance.power import RULES
from rules.own_server import OWN_SERVER_ID
from rules.sizing.cooling import WORDS, heat_btu_per_hour, liquid_share
from rules.sizing.facility import size_facility
from rules.sizing.lookup import fact_value
from rules.sizing.power import choose_feed, gpu_sum_w, supplies_of
from rules.sizing.racks import BINDING_WORDS
from rules.sizing.results import BomLine

if TYPE_CHECKING:
    from rules.candidate import Candidate, Context
    from rules.sizing.facility import FacilitySizing
    from rules.sizing.results import FacilityDesign, RackPlan

STAGE = Stage.POWER
HOUSEHOLD_VOLTS = 120.0
"""Voltage up to which a circuit is a North American outlet, where a machine hangs on one cord; servers of 200 V and more have several."""
__all__ = ["FACTS", "RULES", "STAGE", "assess", "bill", "describe"]


FACTS: tuple[FactField, ...] = (
    FactField("node", "the node type"),
    FactField("unit_count", "servers, or pre-integrated racks"),
    FactField("is_rack", "the unit is sold as a rack"),
    FactField("is_desktop", "the unit stands on a desk"),
    FactField("is_own_server", "whether the server is the person's own description"),
    FactField("gpu_count_per_unit", "GPUs in one unit"),
    FactField("gpu_power_w", "rating of one GPU, 0 where unpublished"),
    FactField("gpu_sum_kw", "ratings of all GPUs of a unit together, 0 where unpublished"),
    FactField("gpu_sum_known", "whether the GPU's rating is published"),
    FactField("power_known", "whether the power of a unit is known at all"),
    FactField("node_power_kw", "maximum power of one unit"),
    FactField("node_power_typical_kw", "power of one unit in training"),
    FactField("node_power_kind", "how the maximum came about"),
    FactField("node_power_basis", "the same in words"),
    FactField("node_heat_kw", "heat of one unit, the larger of electrical maximum and the vendor's statement"),
    FactField("it_power_kw", "all equipment at maximum"),
    FactField("total_power_kw", "with cooling and losses, by the PUE"),
    FactField("pue", "total power over IT power"),
    FactField("pue_given", "whether the PUE was answered"),
    FactField("has_total_limit", "whether a limit of total power was given"),
    FactField("total_power_limit_kw", "the limit, 0 where none was given"),
    FactField("total_share_percent", "total power over its limit, 0 where none was given"),
    FactField("has_unknown_power", "whether equipment without published power was left out"),
    FactField("unknown_power", "which equipment that is"),
    FactField("has_rack_limit", "whether a limit per rack was given"),
    FactField("rack_power_limit_kw", "the limit, 0 where none was given"),
    FactField("rack_power_kw", "power of the fullest compute rack"),
    FactField("rack_air_kw", "the part of it whose heat goes to air"),
    FactField("nodes_per_rack", "units in the fullest rack, 0 where not even one fits"),
    FactField("nodes_per_rack_by_height", "units that the rack's height alone would take"),
    FactField("rack_binding", "the limit that binds first: power, cooling, units, weight, pre-integrated, desk or cluster"),
    FactField("rack_binding_words", "the same in words"),
    FactField("rack_height_u", "height of the racks"),
    FactField("node_height_u", "height of one unit, 0 where not stated"),
    FactField("rack_count", "all racks"),
    FactField("has_rack_count_limit", "whether a number of racks was given"),
    FactField("rack_count_limit", "the number, 0 where none was given"),
    FactField("rack_weight_known", "whether the weight of the equipment is stated"),
    FactField("rack_weight_kg", "equipment in the fullest rack, without the cabinet; 0 where not stated"),
    FactField("rack_weight", "the same as text, or that it is not stated"),
    FactField("cooling", "what cools the nodes: air, rear_door or liquid"),
    FactField("cooling_words", "the same in words"),
    FactField("cooling_required", "what the node needs, in words"),
    FactField("needs_liquid", "the node exists with direct liquid cooling only"),
    FactField("hall_cooling", "what the hall offers, in words"),
    FactField("hall_has_liquid", "whether the hall offers direct liquid cooling"),
    FactField("hall_has_air", "whether air or rear doors are among what the hall offers"),
    FactField("cooling_given", "whether the hall's cooling was answered"),
    FactField("cooling_matches", "whether the hall has what the node needs"),
    FactField("inlet_celsius", "temperature of the air at the inlet"),
    FactField("inlet_recommended_celsius", "upper end of the range that ASHRAE recommends"),
    FactField("has_inlet_maximum", "whether the node states a highest inlet temperature"),
    FactField("inlet_maximum_celsius", "the node's highest inlet temperature, 0 where not stated"),
    FactField("heat_kw", "heat of all equipment"),
    FactField("heat_btu", "the same in BTU per hour, as text"),
    FactField("airflow_cfm", "air through all equipment"),
    FactField("water_flow", "coolant for all equipment, as text"),
    FactField("liquid_share_percent", "share of a node's heat that liquid takes at most"),
    FactField("supplies_known", "whether number and rating of the supplies are stated"),
    FactField("supplies_redundant", "whether some of them are spare"),
    FactField("supply_count", "power supplies of one unit, 0 where not stated"),
    FactField("supply_installed_kw", "all supplies together"),
    FactField("supply_usable_kw", "what is left when the spare ones fail"),
    FactField("supply_load_percent", "maximum power over all supplies"),
    FactField("feed_known", "whether the catalog has a circuit of this feed"),
    FactField("feed_given", "whether the feed was answered"),
    FactField("feed", "the circuits of one rack or machine, in words"),
    FactField("feed_usable_kw", "what these circuits carry continuously"),
    FactField("circuit_usable_kw", "what one of them carries continuously"),
    FactField("circuits_per_unit", "circuits that one unit needs"),
    FactField("cords_per_unit", "circuits that one unit can be spread over: its supplies; where not stated, one at a desk or outlet"),
    FactField("energy_per_year", "energy of a year, as text"),
    FactField("carbon_per_year", "carbon dioxide of a year, as text; empty where the region is not known"),
)


def assess(candidate: Candidate, context: Context) -> dict[str, Scalar]:
    """Size the facility, keep it on the candidate and return the stage's fact."""
    sizing = size_facility(candidate, context)
    candidate.facility = sizing.design
    return {
        **_unit_facts(candidate),
        **_power_facts(context, sizing),
        **_rack_facts(candidate, context, sizing),
        **_cooling_facts(candidate, context, sizing),
        **_supply_facts(candidate, sizing),
    }


def _unit_facts(candidate: Candidate) -> dict[str, Scalar]:
    node, gpu = candidate.node, candidate.gpu
    summed = gpu_sum_w(node, gpu)
    return {
        "node": node.name,
        "unit_count": candidate.units,
        "is_rack": node.is_rack,
        "is_desktop": node.desktop,
        "is_own_server": node.id == OWN_SERVER_ID,
        "gpu_count_per_unit": node.gpu_count,
        "gpu_power_w": gpu.power.maximum.to("W") if gpu.power.maximum is not None else 0.0,
        "gpu_sum_kw": summed / 1000.0 if summed is not None else 0.0,
        "gpu_sum_known": summed is not None,
    }


def _power_facts(context: Context, sizing: FacilitySizing) -> dict[str, Scalar]:
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
        "pue": answers.number("facility.pue") or 0.0,
        "pue_given": answers.given("facility.pue"),
        "has_total_limit": limit is not None,
        "total_power_limit_kw": limit or 0.0,
        "total_share_percent": 100.0 * total / limit if limit else 0.0,
        "has_unknown_power": bool(sizing.unknown),
        "unknown_power": ", ".join(sizing.unknown),
        "energy_per_year": format_quantity(design.energy_per_year, "MWh") if design else "",
        "carbon_per_year": format_quantity(design.carbon_per_year, "t") if design and design.carbon_per_year is not None else "",
    }


def _rack_facts(candidate: Candidate, context: Context, sizing: FacilitySizing) -> dict[str, Scalar]:
    answers, design, node = context.answers, sizing.design, candidate.node
    limit, count = answers.number("facility.rack_power"), answers.count("facility.racks")
    plan = design.racks[0] if design else None
    height = node.height.to("U") if node.height is not None else 0.0
    per_rack = plan.nodes_per_rack if plan else 0
    weight = plan.weight if plan else None
    return {
        "has_rack_limit": limit is not None,
        "rack_power_limit_kw": limit or 0.0,
        "rack_power_kw": magnitude(plan.power, "kW") if plan else 0.0,
        "rack_air_kw": sizing.rack_air_kw,
        "nodes_per_rack": per_rack,
        "nodes_per_rack_by_height": math.floor(sizing.limits.units / height) if height > 0 and not node.is_rack else per_rack,
        "rack_binding": plan.binding if plan else "unknown",
        "rack_binding_words": BINDING_WORDS.get(plan.binding, plan.binding) if plan else "unknown",
        "rack_height_u": sizing.limits.units,
        "node_height_u": height,
        "rack_count": design.rack_count if design else 0,
        "has_rack_count_limit": count is not None,
        "rack_count_limit": count or 0,
        "rack_weight_known": weight is not None,
        "rack_weight_kg": magnitude(weight, "kg") if weight is not None else 0.0,
        "rack_weight": format_quantity(weight, "kg") if weight is not None else "not stated",
    }


def _cooling_facts(candidate: Candidate, context: Context, sizing: FacilitySizing) -> dict[str, Scalar]:
    answers, design, match, node = context.answers, sizing.design, sizing.match, candidate.node
    hall = answers.names("facility.cooling")
    heat_kw = magnitude(design.heat, "kW") if design else 0.0
    recommended = fact_value(context.catalog.facts, "ashrae-recommended", "inlet_high")
    return {
        "cooling": match.kind,
        "cooling_words": WORDS[match.kind],
        "cooling_required": match.requires,
        "needs_liquid": node.cooling == "liquid",
        "hall_cooling": ", ".join(WORDS[kind] for kind in hall),
        "hall_has_liquid": "liquid" in hall,
        "hall_has_air": "air" in hall or "rear_door" in hall,
        "cooling_given": answers.given("facility.cooling"),
        "cooling_matches": match.matches,
        "inlet_celsius": answers.number("facility.inlet_temperature") or 0.0,
        "inlet_recommended_celsius": recommended.to("degC"),
        "has_inlet_maximum": node.inlet_maximum is not None,
        "inlet_maximum_celsius": node.inlet_maximum.to("degC") if node.inlet_maximum is not None else 0.0,
        "heat_kw": heat_kw,
        "heat_btu": f"{heat_btu_per_hour(heat_kw):,.0f} BTU/h",
        "airflow_cfm": magnitude(design.airflow, "CFM") if design and design.airflow is not None else 0.0,
        "water_flow": format_quantity(design.water_flow, "L/min", 3) if design and design.water_flow is not None else "none",
        "liquid_share_percent": 100.0 * liquid_share(node, match.kind, context.catalog)[1],
    }


def _supply_facts(candidate: Candidate, sizing: FacilitySizing) -> dict[str, Scalar]:
    supplies, feed = supplies_of(candidate.node), sizing.feed
    unit_kw = magnitude(sizing.draw.maximum, "kW") if sizing.draw else 0.0
    installed = magnitude(supplies.installed, "kW") if supplies else 0.0
    each_kw = feed.pdu.usable.to("kW") if feed else 0.0
    needed = math.ceil(unit_kw / each_kw) if each_kw > 0 else 0
    return {
        "supplies_known": supplies is not None,
        "supplies_redundant": supplies is not None and supplies.redundant,
        "supply_count": supplies.count if supplies else 0,
        "supply_installed_kw": installed,
        "supply_usable_kw": magnitude(supplies.usable, "kW") if supplies else 0.0,
        "supply_load_percent": 100.0 * unit_kw / installed if installed > 0 else 0.0,
        "feed_known": feed is not None,
        "feed_given": feed is not None and not feed.assumed,
        "feed": feed.text if feed else "",
        "feed_usable_kw": magnitude(feed.usable, "kW") if feed else 0.0,
        "circuit_usable_kw": each_kw,
        "circuits_per_unit": needed,
        "cords_per_unit": supplies.count if supplies else _unstated_cords(candidate, sizing, needed),
    }


def _unstated_cords(candidate: Candidate, sizing: FacilitySizing, needed: int) -> int:
    """Return the circuits that a unit without stated supplies is spread over: one at a desk or outlet, else as many as it needs."""
    household = sizing.feed is not None and sizing.feed.pdu.voltage.to("V") <= HOUSEHOLD_VOLTS
    return 1 if candidate.node.desktop or household else needed


def describe(candidate: Candidate, context: Context) -> dict[str, dict[str, object]]:
    """Return the sections `facility` and `power` of the design."""
    del context
    design = candidate.facility
    if design is None:
        return {"power": {"node_power": "unknown", "notes": ["the vendor publishes neither the system's nor the GPUs' power"]}}
    fact = candidate.facts.get(STAGE, {})
    power: dict[str, object] = {
        "node_maximum": format_quantity(design.node_power_maximum, "kW"),
        "node_typical": format_quantity(design.node_power_typical, "kW"),
        "node_kind": design.node_power_kind.value,
        "it_maximum": format_quantity(design.it_power_maximum, "kW"),
        "it_typical": format_quantity(design.it_power_typical, "kW"),
        "total": format_quantity(design.total_power, "kW"),
        "pue": design.pue,
        "feed": design.feed,
        "energy_per_year": format_quantity(design.energy_per_year, "MWh"),
    }
    if design.carbon_per_year is not None:
        power["carbon_per_year"] = format_quantity(design.carbon_per_year, "t")
    return {"facility": _facility_section(design, fact.get("heat_btu")), "power": power | {"notes": list(design.notes)}}


def _facility_section(design: FacilityDesign, btu: Scalar | None) -> dict[str, object]:
    section: dict[str, object] = {
        "racks": design.rack_count,
        "cooling": design.cooling,
        "heat": format_quantity(design.heat, "kW"),
    }
    if btu is not None:
        section["heat_imperial"] = btu
    if design.airflow is not None:
        section["airflow"] = format_quantity(design.airflow, "CFM")
    if design.water_flow is not None:
        section["water_flow"] = format_quantity(design.water_flow, "L/min", 3)
    section["rack"] = [_rack_row(plan) for plan in design.racks]
    return section


def _rack_row(plan: RackPlan) -> dict[str, object]:
    row: dict[str, object] = {"name": plan.name, "racks": plan.racks, "power": format_quantity(plan.power, "kW"), "binding": plan.binding}
    if plan.nodes_per_rack:
        row["nodes"] = plan.nodes_per_rack
    if plan.units_used:
        row["units_used"] = f"{plan.units_used} U"
    if plan.units:
        row["units"] = f"{plan.units} U"
    if plan.weight is not None:
        row["weight"] = format_quantity(plan.weight, "kg")
    return row


def bill(candidate: Candidate, context: Context) -> list[BomLine]:
    """Return the cabinets and their three-phase distribution units; pre-integrated racks and desktop machines bring or need none."""
    design = candidate.facility
    if design is None or candidate.node.desktop:
        return []
    own_cabinets = design.rack_count - (design.racks[0].racks if candidate.node.is_rack else 0)
    if own_cabinets < 1:
        return []
    units = int(context.answers.number("facility.rack_units") or 0)
    fitting = sorted(
        (rack for rack in context.catalog.racks if rack.units.to("U") >= units and rack.width), key=lambda rack: rack.units.to("U")
    )
    lines = [BomLine(fitting[0].id, fitting[0].name, "rack", own_cabinets)] if fitting else []
    for plan in design.racks:
        lines += _feed_lines(plan, candidate, context)
    return _merged(lines)


def _feed_lines(plan: RackPlan, candidate: Candidate, context: Context) -> list[BomLine]:
    if plan.racks < 1 or (candidate.node.is_rack and plan.name == "compute"):
        return []
    feed = choose_feed(magnitude(plan.power, "kW"), context.answers.text("facility.feed"), context.catalog)
    return (
        []
        if feed is None or feed.pdu.phases == 1
        else [BomLine(feed.pdu.id, f"power distribution unit, {feed.pdu.name}", "power", feed.circuits * plan.racks)]
    )


def _merged(lines: list[BomLine]) -> list[BomLine]:
    """Return the lines with those of one item added up."""
    merged: dict[str, BomLine] = {}
    for line in lines:
        before = merged.get(line.item)
        count = line.quantity + (before.quantity if before else 0)
        merged[line.item] = BomLine(line.item, line.name, line.category, count)
    return list(merged.values())
