"""What stage power writes: the sections `facility` and `power` of the design, and its lines of the bill of materials."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from catalogs.quantities import format_quantity, magnitude
from rules.facts import show
from rules.findings import Scalar, Stage
from rules.sizing.cooling import size_coolant_units
from rules.sizing.feeds import Feed, FeedTerms, choose_feed
from rules.sizing.immersion import tanks
from rules.sizing.results import BomLine
from rules.sizing.standing import TANK, stands_in_racks

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rules.candidate import Candidate, Context
    from rules.sizing.results import FacilityDesign, RackPlan

STAGE = Stage.POWER


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
        "pue": round(design.pue, 3),
        "pue_basis": design.pue_basis,
        "feed": design.feed,
        "energy_per_year": format_quantity(design.energy_per_year, "MWh"),
    }
    if design.carbon_per_year is not None:
        power["carbon_per_year"] = format_quantity(design.carbon_per_year, "t")
    power |= _chain_keys(fact)
    return {"facility": _facility_section(design, fact), "power": power | {"notes": list(design.notes)}}


def _chain_keys(fact: Mapping[str, Scalar]) -> dict[str, object]:
    """Return what is known of the way of the power to the GPUs: paths and supplies, inrush, UPS, generator, swings, cap."""
    keys: dict[str, object] = {}
    if fact.get("supplies_known") and fact.get("in_racks") and not fact.get("is_rack"):
        left, needed = fact["supplies_left"], fact["supplies_needed"]
        keys["when_a_path_is_lost"] = f"{left} of {fact['supply_count']} supplies are left, {needed} carry a node"
    for name, words in (("ups", "ups_words"), ("generator", "generator_words")):
        if fact.get(f"{name}_said"):
            keys[name] = fact[words]
    for name, field in (("inrush", "inrush_a"), ("load_swing", "swing_kw")):
        if fact.get(field):
            keys[name] = show(field, fact[field])
    if fact.get("has_power_cap"):
        keys["gpu_cap"] = show("power_cap_w", fact["power_cap_w"])
        keys["gpu_cap_speed"] = show("capped_speed_percent", fact["capped_speed_percent"])
    return keys


def _facility_section(design: FacilityDesign, fact: Mapping[str, Scalar]) -> dict[str, object]:
    section: dict[str, object] = {
        "racks": design.rack_count - (design.racks[0].racks if design.tanks else 0),
        "cooling": design.cooling,
        "heat": format_quantity(design.heat, "kW"),
    }
    if design.fullest_rack is not None:
        section["fullest_rack"] = format_quantity(design.fullest_rack, "kW")
    if design.spare_units:
        section["spare_nodes"] = design.spare_units
    if "heat_btu" in fact:
        section["heat_imperial"] = fact["heat_btu"]
        section["heat_tons"] = fact["heat_tons"]
    if design.water_heat is not None and fact.get("water_heat_kw"):
        section["heat_to_water"] = format_quantity(design.water_heat, "kW")
        section["heat_to_room"] = show("room_heat_kw", fact["room_heat_kw"])
    if fact.get("rack_floor_kpa"):
        section["loaded_rack"] = show("loaded_rack_kg", fact["loaded_rack_kg"])
        section["load_on_floor"] = show("rack_floor_kpa", fact["rack_floor_kpa"])
    if fact.get("rack_binding_words"):
        section["binding"] = fact["rack_binding_words"]
    if design.airflow is not None:
        section["airflow"] = format_quantity(design.airflow, "CFM")
    if design.water_flow is not None:
        section["water_flow"] = format_quantity(design.water_flow, "L/min", 3)
    if design.coolant_units:
        section["coolant_units"] = design.coolant_units
    if design.tanks:
        section["tanks"] = design.tanks
        section["fluid_flow"] = fact.get("fluid_flow", "")
        section["load_under_tank"] = fact.get("tank_under_words", "")
    if float(fact.get("clocks_low_percent", 100.0)) < 100.0:
        counted, least = (show(name, fact[name]) for name in ("clocks_expected_percent", "clocks_low_percent"))
        section["sustained_clocks"] = f"{counted} counted, {least} to 100 % of those in air of 27 °C (estimated)"
    section["rack"] = [_rack_row(plan, tank=bool(design.tanks) and index == 0) for index, plan in enumerate(design.racks)]
    return section


def _rack_row(plan: RackPlan, *, tank: bool) -> dict[str, object]:
    name, count = (TANK, "tanks") if tank else (plan.name, "racks")
    row: dict[str, object] = {"name": name, count: plan.racks, "power": format_quantity(plan.power, "kW"), "binding": plan.binding}
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
    Where no rack takes a server, nothing of a rack is counted.
    """
    design = candidate.facility
    if design is None or not needs_cabinet(candidate, context):
        return []
    lines = _cabinet_lines(candidate, context)
    for plan in design.racks:
        lines += _feed_lines(plan, candidate, context)
    lines += [*_coolant_lines(candidate, context), *_tank_lines(candidate, context)]
    return _merged([line for line in lines if line.quantity > 0])


def needs_cabinet(candidate: Candidate, context: Context) -> bool:
    """Return whether the candidate stands in racks, and not in a room."""
    return stands_in_racks(candidate.node, candidate.units, context.answers)


def _cabinet_lines(candidate: Candidate, context: Context) -> list[BomLine]:
    design = candidate.facility
    assert design is not None
    own_cabinets = design.rack_count - (design.racks[0].racks if candidate.node.is_rack else 0)
    if design.cooling == "immersion" and design.tanks:
        own_cabinets -= design.racks[0].racks
    units = int(context.answers.number("facility.rack_units") or 0)
    fitting = sorted(
        (rack for rack in context.catalog.racks if rack.units.to("U") >= units and rack.width), key=lambda rack: rack.units.to("U")
    )
    return [BomLine(fitting[0].id, fitting[0].name, "rack", own_cabinets)] if fitting and own_cabinets > 0 else []


def _coolant_lines(candidate: Candidate, context: Context) -> list[BomLine]:
    """Return coolant units with their spare, manifolds of racks that come without, leak detection, and the water's piping."""
    design, node = candidate.facility, candidate.node
    heat_kw = magnitude(design.liquid_heat, "kW") if design is not None and design.liquid_heat is not None else 0.0
    coolant = size_coolant_units(heat_kw, context.catalog, design.racks[0].racks if design is not None else 0)
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


def _tank_lines(candidate: Candidate, context: Context) -> list[BomLine]:
    """Return the tanks, their fluid where its litres are stated, the servers' conversion, and the water's piping."""
    design = candidate.facility
    name = design.tanks.partition(" × ")[2] if design is not None else ""
    tank = next((each for each in tanks(context.catalog) if each.name == name), None)
    if design is None or tank is None:
        return []
    count = design.racks[0].racks
    lines = [BomLine(tank.unit.id, f"immersion tank, {tank.name}", "cooling", count)]
    if tank.litres is not None:
        lines.append(BomLine("dielectric-fluid", "dielectric fluid, litres", "cooling", math.ceil(tank.litres * count)))
    return [
        *lines,
        BomLine("immersion-conversion", "conversion of a server for immersion", "cooling", candidate.units + design.spare_units),
        BomLine("facility-water-piping", "piping of the facility's water to the tanks", "cooling", 1),
    ]


def _feed_lines(plan: RackPlan, candidate: Candidate, context: Context) -> list[BomLine]:
    feed = metered_feed(plan, candidate, context)
    return [BomLine(feed.pdu.id, f"power distribution unit, {feed.pdu.name}", "power", feed.circuits * plan.racks)] if feed else []


def metered_feed(plan: RackPlan, candidate: Candidate, context: Context) -> Feed | None:
    """Return the circuits of racks that have metered power units, one each; None for outlets and for racks that bring power shelves."""
    if plan.racks < 1 or (candidate.node.is_rack and plan.name == "compute"):
        return None
    answers = context.answers
    feed = choose_feed(magnitude(plan.power, "kW"), answers.text("facility.feed"), context.catalog, terms=FeedTerms.of(answers))
    return None if feed is None or feed.pdu.phases == 1 else feed


def _merged(lines: list[BomLine]) -> list[BomLine]:
    """Return the lines with those of one item added up."""
    merged: dict[str, BomLine] = {}
    for line in lines:
        before = merged.get(line.item)
        merged[line.item] = replace(line, quantity=line.quantity + (before.quantity if before else 0))
    return list(merged.values())
