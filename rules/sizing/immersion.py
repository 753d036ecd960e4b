"""Immersion: tanks of dielectric fluid for servers that their vendors release for it, what a tank takes, and the flow of its fluid."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from catalogs.quantities import magnitude
from rules.sizing.lookup import fact_value

if TYPE_CHECKING:
    from catalogs import Catalog
    from catalogs.schema import Cooling

TANK = "immersion_tank"
"""The catalog's type of a tank of fluid with its heat exchanger."""
FLUID_FACT = "immersion-fluid"
FLUID_RISE_K = 10.0
"""Rise of the fluid through the servers, as the flows of water and coolant are stated for (assumed)."""


@dataclass(frozen=True)
class Tank:
    """A tank of the catalog: heat in kW, rack units, and, where stated, litres of fluid, weight filled without servers, outer size in m."""

    unit: Cooling
    heat_kw: float
    units: int
    litres: float | None
    filled_kg: float | None
    height_m: float | None
    width_m: float | None
    depth_m: float | None

    @property
    def name(self) -> str:
        """Return vendor and name."""
        return f"{self.unit.vendor} {self.unit.name}"

    def takes(self, heat_kw: float, height_u: float | None, most_kw: float) -> int:
        """Return how many servers of a heat and height fit, with no more than `most_kw` in the tank."""
        by_heat = math.floor(min(self.heat_kw, most_kw) / heat_kw + 1e-9)
        return by_heat if not height_u else min(by_heat, math.floor(self.units / height_u + 1e-9))


@lru_cache(maxsize=8)
def tanks(catalog: Catalog) -> tuple[Tank, ...]:
    """Return the catalog's tanks whose heat and rack units are stated, smallest first."""
    made = []
    for unit in catalog.cooling:
        if unit.type == TANK and unit.capacity is not None and "units" in unit.facts:
            sizes = (_size(unit, key, "m") for key in ("height", "width", "depth"))
            filled = unit.weight.to("kg") if unit.weight is not None else None
            units = int(magnitude(str(unit.facts["units"]), "U"))
            made.append(Tank(unit, unit.capacity.to("kW"), units, _size(unit, "fluid", "L"), filled, *sizes))
    return tuple(sorted(made, key=lambda tank: (tank.heat_kw, tank.unit.id)))


def _size(unit: Cooling, key: str, wanted: str) -> float | None:
    return magnitude(str(unit.facts[key]), wanted) if key in unit.facts else None


def choose_tank(heat_kw: float, height_u: float | None, most_kw: float, catalog: Catalog) -> Tank | None:
    """Return the tank that takes the most servers of `heat_kw` and `height_u` each, the smallest of several; None where none takes one."""
    fitting = [tank for tank in tanks(catalog) if tank.takes(heat_kw, height_u, most_kw) > 0]
    return max(fitting, key=lambda tank: tank.takes(heat_kw, height_u, most_kw), default=None)


def watts_per_litre_per_minute(catalog: Catalog, rise_k: float = FLUID_RISE_K) -> float:
    """Return the heat in W that one litre per minute of fluid carries at a rise of `rise_k`: density × heat capacity × rise.

    Density in kg/L, heat capacity in kJ/(kg K) (catalog fact `immersion-fluid`): 0.82 × 2.21 × 10 K / 60 s is 302 W.
    """
    density, capacity = (fact_value(catalog.facts, FLUID_FACT, key).to("") for key in ("density", "heat_capacity"))
    return density * capacity * rise_k / 60.0 * 1000.0


def fluid_litres_per_minute(heat_kw: float, catalog: Catalog) -> float:
    """Return the flow of fluid through the servers in L/min that carries `heat_kw` at a rise of FLUID_RISE_K."""
    return 1000.0 * heat_kw / watts_per_litre_per_minute(catalog)


def load_on_footprint_kpa(weight_kg: float, tank: Tank) -> float | None:
    """Return what a tank of `weight_kg` in all puts on the floor under it in kPa, None where its measures are not stated."""
    if not tank.width_m or not tank.depth_m:
        return None
    return weight_kg * 9.80665 / (tank.width_m * tank.depth_m) / 1000.0
