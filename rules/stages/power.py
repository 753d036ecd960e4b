"""Stage power: node, rack and facility power, cooling, feeds, and whether the hall can take the design."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from catalogs.quantities import format_quantity, magnitude
from rules.findings import Scalar, Stage
from rules.guidance.power import RULES
from rules.own_server import OWN_SERVER_ID
from rules.sizing.cooling import WORDS, coolant_rating_words, heat_btu_per_hour, liquid_share, size_coolant_units
from rules.sizing.facility import size_facility
from rules.sizing.lookup import fact_value
from rules.sizing.power import choose_feed, gpu_sum_w, supplies_of, supply_input
from rules.sizing.racks import BINDING_WORDS
from rules.sizing.results import BomLine
from rules.stages.power_fields import FACTS

if TYPE_CHECKING:
    from rules.candidate import Candidate, Context
    from rules.sizing.facility import FacilitySizing
    from rules.sizing.results import FacilityDesign, RackPlan

STAGE = Stage.POWER
HOUSEHOLD_VOLTS = 120.0
"""Voltage up to which a circuit is a North American outlet, where a machine hangs on one cord; servers of 200 V and more have several."""
RACK_ANSWERS = ("own_server.height", "facility.racks", "facility.rack_units", "facility.rack_power")
"""Answers that say that a server stands in a rack."""
IEC = "(IEC)"
"""Mark in the name of a circuit of the IEC's rules."""
BREAKER_WORDS = {"nec": "of their breakers", "iec": "of their breakers, the North American rule kept as margin: the IEC allows the rating"}
"""How the load of breakers is worded, by the rules that a circuit is built to."""
__all__ = ["FACTS", "RULES", "STAGE", "assess", "bill", "describe"]


def assess(candidate: Candidate, context: Context) -> dict[str, Scalar]:
    """Size the facility, keep it on the candidate and return the stage's fact."""
    sizing = size_facility(candidate, context)
    candidate.facility = sizing.design
    return {
        **_unit_facts(candidate, context, sizing),
        **_power_facts(context, sizing),
        **_rack_facts(candidate, context, sizing),
        **_cooling_facts(candidate, context, sizing),
        **_supply_facts(candidate, sizing),
        **_feed_facts(candidate, context, sizing),
    }


def _counted(number: int, one: str, many: str = "") -> str:
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"


def _unit_facts(candidate: Candidate, context: Context, sizing: FacilitySizing) -> dict[str, Scalar]:
    node, gpu = candidate.node, candidate.gpu
    summed = gpu_sum_w(node, gpu)
    factory, rating = node.factory_power_limit, gpu.power.maximum
    below = factory is not None and (rating is None or factory.to("W") < rating.to("W"))
    spare = f" and {_counted(sizing.spare_units, 'spare')}" if sizing.spare_units else ""
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
        "rack_power_kw": sizing.fullest_kw,
        "rack_air_kw": sizing.fullest_air_kw,
        "rack_nodes_kw": magnitude(plan.power, "kW") if plan else 0.0,
        "nodes_per_rack": per_rack,
        "nodes_words": _counted(per_rack, "node"),
        "nodes_per_rack_by_height": math.floor(sizing.limits.units / height) if height > 0 and not node.is_rack else per_rack,
        "rack_binding": plan.binding if plan else "unknown",
        "rack_binding_words": BINDING_WORDS.get(plan.binding, plan.binding) if plan else "unknown",
        "rack_height_u": sizing.limits.units,
        "node_height_u": height,
        "rack_count": design.rack_count if design else 0,
        "racks_words": _counted(design.rack_count if design else 0, "rack"),
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
        "sold_with_liquid": node.cooling in ("liquid", "air_or_liquid"),
        "hall_with_air": ", ".join(dict.fromkeys(("air", *hall))),
        "hall_with_doors": ", ".join(dict.fromkeys((*hall, "rear_door"))),
        "hall_with_liquid": ", ".join(dict.fromkeys((*hall, "liquid"))),
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
        "liquid_heat_kw": sizing.liquid_kw,
        "coolant_units": sizing.coolant.text if sizing.coolant is not None else "none",
        "facility_water": coolant_rating_words(context.catalog),
        "liquid_share_percent": 100.0 * liquid_share(node, match.kind, context.catalog)[1],
    }


def _supply_facts(candidate: Candidate, sizing: FacilitySizing) -> dict[str, Scalar]:
    supplies = supplies_of(candidate.node)
    unit_kw = magnitude(sizing.draw.maximum, "kW") if sizing.draw else 0.0
    installed = magnitude(supplies.installed, "kW") if supplies else 0.0
    return {
        "supplies_known": supplies is not None,
        "supplies_redundant": supplies is not None and supplies.redundant,
        "supply_count": supplies.count if supplies else 0,
        "supply_installed_kw": installed,
        "supply_usable_kw": magnitude(supplies.usable, "kW") if supplies else 0.0,
        "supply_load_percent": 100.0 * unit_kw / installed if installed > 0 else 0.0,
    }


def _feed_facts(candidate: Candidate, context: Context, sizing: FacilitySizing) -> dict[str, Scalar]:
    feed, supplies = sizing.feed, supplies_of(candidate.node)
    each_kw = feed.pdu.usable.to("kW") if feed else 0.0
    unit_kw = magnitude(sizing.draw.maximum, "kW") if sizing.draw else 0.0
    needed = math.ceil(unit_kw / each_kw) if each_kw > 0 else 0
    survives = feed is not None and feed.survives(sizing.fullest_kw)
    low, high = supply_input(candidate.node, context.catalog)
    return {
        "feed_known": feed is not None,
        "feed_given": feed is not None and not feed.assumed,
        "feed": feed.text if feed else "",
        "feed_usable_kw": magnitude(feed.usable, "kW") if feed else 0.0,
        "circuit_usable_kw": each_kw,
        "feed_survives": survives,
        "feed_loss_words": "the others carry the rack when one is lost" if survives else "a lost circuit stops what hangs on it",
        "breaker_words": BREAKER_WORDS["iec" if feed is not None and IEC in feed.pdu.name else "nec"],
        "circuits_per_unit": needed,
        "cords_per_unit": supplies.carrying if supplies else _unstated_cords(candidate, sizing, needed),
        "outlet_v": round(feed.outlet_volts, 1) if feed else 0.0,
        "input_low_v": low,
        "input_high_v": high,
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
    if design.fullest_rack is not None:
        section["fullest_rack"] = format_quantity(design.fullest_rack, "kW")
    if design.spare_units:
        section["spare_nodes"] = design.spare_units
    if btu is not None:
        section["heat_imperial"] = btu
    if design.airflow is not None:
        section["airflow"] = format_quantity(design.airflow, "CFM")
    if design.water_flow is not None:
        section["water_flow"] = format_quantity(design.water_flow, "L/min", 3)
    if design.coolant_units:
        section["coolant_units"] = design.coolant_units
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
    """Return cabinets, their three-phase distribution units, and what passes heat to the facility's water.

    Pre-integrated racks bring their cabinet and manifolds; desktop machines and a server of one's own without a rack need nothing.
    """
    design = candidate.facility
    if design is None or not needs_cabinet(candidate, context):
        return []
    lines = _cabinet_lines(candidate, context)
    for plan in design.racks:
        lines += _feed_lines(plan, candidate, context)
    return _merged([*lines, *_coolant_lines(candidate, context)])


def needs_cabinet(candidate: Candidate, context: Context) -> bool:
    """Return whether the candidate stands in racks.

    A desktop machine does not, nor does one server of one's own without a scale-up link, of which neither height nor rack was said.
    """
    node, answers = candidate.node, context.answers
    if node.desktop:
        return False
    alone = node.id == OWN_SERVER_ID and candidate.units == 1 and node.topology in ("pcie", "bridge", "none")
    return not alone or any(answers.given(key) for key in RACK_ANSWERS)


def _cabinet_lines(candidate: Candidate, context: Context) -> list[BomLine]:
    design = candidate.facility
    assert design is not None
    own_cabinets = design.rack_count - (design.racks[0].racks if candidate.node.is_rack else 0)
    units = int(context.answers.number("facility.rack_units") or 0)
    fitting = sorted(
        (rack for rack in context.catalog.racks if rack.units.to("U") >= units and rack.width), key=lambda rack: rack.units.to("U")
    )
    return [BomLine(fitting[0].id, fitting[0].name, "rack", own_cabinets)] if fitting and own_cabinets > 0 else []


def _coolant_lines(candidate: Candidate, context: Context) -> list[BomLine]:
    """Return coolant units with their spare, manifolds of racks that come without, leak detection, and the water's piping."""
    design, node = candidate.facility, candidate.node
    heat_kw = magnitude(design.liquid_heat, "kW") if design is not None and design.liquid_heat is not None else 0.0
    coolant = size_coolant_units(heat_kw, context.catalog)
    if design is None or coolant is None:
        return []
    racks = design.racks[0].racks
    name = f"coolant distribution unit, {coolant.unit.vendor} {coolant.unit.name}"
    lines = [BomLine(coolant.unit.id, name, "cooling", coolant.count, note="one of them spare")]
    if not node.is_rack:
        lines.append(BomLine("coolant-manifold", "coolant manifold of a rack, with hoses and couplings", "cooling", racks))
    return [
        *lines,
        BomLine("leak-detection", "leak detection of a rack", "cooling", racks),
        BomLine("facility-water-piping", "piping of the facility's water to the coolant units", "cooling", 1),
    ]


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
        merged[line.item] = replace(line, quantity=line.quantity + (before.quantity if before else 0))
    return list(merged.values())
