"""Whether a loaded rack can be brought in and stand: its weight, its measures, and what it does to the floor."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from catalogs.quantities import magnitude
from rules.sizing.lookup import fact_value

if TYPE_CHECKING:
    from catalogs import Catalog
    from catalogs.schema import Node, Rack
    from rules.answers import Answers

GRAVITY = 9.80665
"""Standard gravity in m/s²."""
UNIT_M = 0.04445
"""Height of a rack unit in m (EIA-310)."""
FACT = "floor-load"


@dataclass(frozen=True)
class Cabinet:
    """A cabinet: outer measures in m and its own weight in kg; None where not stated. `height_m` is at least the rack units' height."""

    height_m: float
    width_m: float | None
    depth_m: float | None
    weight_kg: float | None


def cabinet_of(node: Node, units: int, catalog: Catalog) -> Cabinet:
    """Return the cabinet that comes in: that of a pre-integrated rack, whose weight counts with it, else the smallest that fits."""
    if node.is_rack:
        high = node.height.to("U") if node.height is not None else units
        width, depth, outside = (each.to("m") if each is not None else None for each in (node.width, node.depth, node.outside_height))
        return Cabinet(outside if outside is not None else high * UNIT_M, width, depth, 0.0)
    rack = smallest_rack(units, catalog)
    if rack is None:
        return Cabinet(units * UNIT_M, None, None, None)
    width, depth, height = (each.to("m") if each is not None else None for each in (rack.width, rack.depth, rack.height))
    weight = rack.weight.to("kg") if rack.weight is not None else None
    return Cabinet(height if height is not None else rack.units.to("U") * UNIT_M, width, depth, weight)


def smallest_rack(units: int, catalog: Catalog) -> Rack | None:
    """Return the lowest cabinet of the catalog with at least so many rack units whose measures are stated."""
    fitting = (rack for rack in catalog.racks if rack.units.to("U") >= units and rack.width)
    return min(fitting, key=lambda rack: rack.units.to("U"), default=None)


def floor_load_kpa(weight_kg: float, catalog: Catalog, width_m: float | None = None) -> float:
    """Return the average load of a rack of `weight_kg`, cabinet included, on the floor it uses with its share of the aisles, in kPa.

    The weight, half of 15 lb/ft² over the free area and 10 lb/ft² of raised floor over all of it, divided by that area; the area of a rack
    is its width times the distance of two rows. Source: IBM, floor construction and floor loading; rows as the cabling assumes them.
    """
    service, floor = (fact_value(catalog.facts, FACT, key).to("kg/m**2") for key in ("service", "raised_floor"))
    pitch, depth, usual = (fact_value(catalog.facts, FACT, key).to("m") for key in ("row_pitch", "rack_depth", "rack_width"))
    width = width_m or usual
    area, free = width * pitch, width * (pitch - depth)
    return (weight_kg + 0.5 * service * free + floor * area) / area * GRAVITY / 1000.0


def floor_carries_kg(limit_kpa: float, catalog: Catalog, width_m: float | None = None) -> float:
    """Return the weight in kg, cabinet included, that a floor of `limit_kpa` carries in one rack's place.

    It is the inverse of `floor_load_kpa`.
    """
    empty = floor_load_kpa(0.0, catalog, width_m)
    per_kg = floor_load_kpa(1.0, catalog, width_m) - empty
    return max(0.0, (limit_kpa - empty) / per_kg)


def first_obstacle(cabinet: Cabinet, loaded_kg: float | None, answers: Answers, *, loaded: bool) -> tuple[str, str]:
    """Return (which measure of the way in is too small: height, width, depth or weight, what it would have to be); "" where none is."""
    weight = loaded_kg if loaded else cabinet.weight_kg
    for name, needed, unit in (
        ("height", cabinet.height_m, "m"),
        ("width", cabinet.width_m, "m"),
        ("depth", cabinet.depth_m, "m"),
        ("weight", weight, "kg"),
    ):
        limit = answers.number(f"facility.delivery_{name}") if answers.given(f"facility.delivery_{name}") else None
        if limit is not None and needed is not None and needed > limit:
            digits = 100.0 if unit == "m" else 1.0
            return name, f"{math.ceil(needed * digits - 1e-9) / digits:g} {unit}"
    return "", ""


def obstacles(cabinet: Cabinet, loaded_kg: float | None, answers: Answers, *, loaded: bool) -> tuple[str, ...]:
    """Return what of the way in a cabinet does not pass, in words; its weight counts only where it comes `loaded`."""
    found = []
    for key, measure, what in (
        ("facility.delivery_height", cabinet.height_m, "high"),
        ("facility.delivery_width", cabinet.width_m, "wide"),
        ("facility.delivery_depth", cabinet.depth_m, "deep"),
    ):
        limit = answers.quantity(key) if answers.given(key) else None
        if limit is not None and measure is not None and measure > magnitude(limit, "m"):
            found.append(f"{measure:.2f} m {what} where {magnitude(limit, 'm'):.2f} m pass")
    allowed = answers.number("facility.delivery_weight") if answers.given("facility.delivery_weight") else None
    weight = loaded_kg if loaded else cabinet.weight_kg
    if allowed is not None and weight is not None and weight > allowed:
        found.append(f"{weight:,.0f} kg where {allowed:,.0f} kg pass")
    return tuple(found)
