"""Cooling: which kind a node needs and the hall has, how much of it a rack may take, and the flow of air and water."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from catalogs.quantities import QuantityError, magnitude
from rules.sizing.lookup import fact_value, threshold_number

if TYPE_CHECKING:
    from catalogs import Catalog
    from catalogs.loading import Shelf
    from catalogs.schema import Cooling, Fact, Node
    from rules.answers import Answers

BTU_PER_HOUR_PER_KW = 3412.14
"""BTU per hour in a kilowatt (unit definition)."""
CFM_PER_WATT_PER_DEGREE_F = 3.16
"""Cubic feet per minute of air that carry one watt at a rise of one degree Fahrenheit: 3.412 BTU/h over the 1.08 of standard air.
Dell's form uses 1.085 (3.145); NVIDIA's DGX B200 figures, 1,550 CFM for 14.3 kW, mean a rise of 29 °F."""
AIR_RISE_F = 20.0
"""Rise of the air through a rack where the node does not state its flow, in °F. NVIDIA plans its DGX B200 racks with 150 CFM per kW,
which is a rise of 21 °F; room designs use 20 °F (158 CFM per kW)."""
FAHRENHEIT_PER_KELVIN = 1.8
"""Degrees Fahrenheit in a kelvin (definition)."""
LITRES_PER_MINUTE_PER_KW = 1.5
"""Coolant flow per kilowatt at an approach of 5 K: the convention of the Open Compute Project for coolant distribution units."""
PASCALS_AT_SEA_LEVEL = 1.0
"""Ratio of air pressure to that at sea level: 1.0 there, 0.86 at 4,000 ft, 0.69 at 10,000 ft."""
LAPSE_PER_M, PRESSURE_EXPONENT = 2.25577e-5, 5.25588
"""Temperature lapse over temperature, per m, and exponent of pressure in the international standard atmosphere [ISO 2533]."""
KW_PER_TON = 3.517
"""Kilowatts in a ton of refrigeration (12,000 BTU per hour)."""
AIR_CLASSES = ("a1", "a2", "a3", "a4")
"""Classes of air at the inlet, coolest first, by the last part of their facts' ids (`ashrae-a1`)."""
STEEPER_CLASSES = ("a3", "a4")
"""Classes that lose more of their highest temperature with height than A1 and A2."""
WATER_CLASSES = (17, 27, 32, 40, 45)
"""Classes of facility water: the number is the highest supply temperature in °C, W+ is above [ASHRAE TC 9.9]."""
METHODS = {"rear_door": "method-rear-door", "liquid": "method-direct-to-chip", "immersion": "method-immersion"}
"""Catalog records of the cooling methods other than air, by the words of the answers."""
AIR_THRESHOLD = "pow-air-limit"
COOLANT_UNIT = "cdu_liquid_to_liquid"
"""The catalog's type of a unit that passes heat from the racks' coolant to the facility's water."""
IN_RACK_COOLANT_UNIT = "cdu_in_rack"
"""The same, built into the rack that it serves: taken where one rack holds all nodes and one unit carries their heat."""
COOLANT_RATING = "cdu-rating"
SPARE_COOLANT_UNITS = 1
"""Coolant units beyond those that carry the heat, so that one may fail or be serviced (n+1): without coolant the racks stop in seconds."""
WORDS = {"air": "air", "rear_door": "rear door", "liquid": "direct liquid", "immersion": "immersion"}
"""How the kinds of cooling are printed."""


@dataclass(frozen=True)
class CoolingMatch:
    """What cools a node in this hall: `kind` of the answers' words, whether the hall has it, and what the node requires in words."""

    kind: str
    matches: bool
    requires: str


@dataclass(frozen=True)
class CoolantUnits:
    """Coolant distribution units of one kind: how many, one of them spare, and what each carries in kW."""

    unit: Cooling
    count: int
    each_kw: float

    @property
    def text(self) -> str:
        """Return the units in words: "2 × Vertiv CoolChip CDU 1350 of 1,350 kW"."""
        return f"{self.count} × {self.unit.vendor} {self.unit.name} of {self.each_kw:,.0f} kW"


def cooling_of(node: Node, answers: Answers) -> CoolingMatch:
    """Return what would cool `node` in the hall that the answers describe."""
    return match_cooling(node, answers.names("facility.cooling"), answers.names("facility.immersion_released"))


def match_cooling(node: Node, hall: tuple[str, ...], released: tuple[str, ...] = ()) -> CoolingMatch:
    """Return what would cool `node` in a hall that offers `hall`; `released` are the ids of servers that may go into a tank.

    A tank is taken only for a server whose vendor releases it for immersion, since no data sheet of the catalog does.
    A rear door takes an air-cooled node's heat at the rack, a hall of liquid or immersion alone does not; a node that is sold either
    way is taken with liquid where there is liquid; a node of unknown cooling is taken as air-cooled.
    """
    if "immersion" in hall and not node.is_rack and not {node.id, *node.aliases}.isdisjoint(released):
        return CoolingMatch("immersion", True, "immersion, as its vendor releases it")
    if node.cooling == "liquid":
        return CoolingMatch("liquid", "liquid" in hall, "direct liquid")
    if node.cooling == "air_or_liquid" and "liquid" in hall:
        return CoolingMatch("liquid", True, "air or direct liquid")
    requires = {"air": "air", "air_or_liquid": "air or direct liquid"}.get(node.cooling, "air, as far as is known")
    return CoolingMatch("rear_door" if "rear_door" in hall else "air", "rear_door" in hall or "air" in hall, requires)


def equipment_limit_kw(hall: tuple[str, ...], catalog: Catalog, altitude_m: float = 0.0) -> float | None:
    """Return the heat in kW that may leave a rack of switches or storage, which are cooled by air whatever cools the nodes."""
    return rack_limit_kw("rear_door" if "rear_door" in hall else "air", catalog, altitude_m)


def size_coolant_units(liquid_kw: float, catalog: Catalog, racks: int = 0) -> CoolantUnits | None:
    """Return the coolant distribution units for `liquid_kw` of heat, one more than carry it; None where none is needed or known.

    Of the catalog's units the one is taken that makes the least installed capacity. `racks` is how many hold the nodes: one may have
    units of its own in the rack.
    """
    if liquid_kw <= 0:
        return None
    offers = []
    for unit in catalog.cooling:
        each_kw = unit.capacity.to("kW") if unit.capacity is not None else 0.0
        in_rack = unit.type == IN_RACK_COOLANT_UNIT and racks == 1 and each_kw >= liquid_kw
        if each_kw > 0 and (unit.type == COOLANT_UNIT or in_rack):
            count = math.ceil(liquid_kw / each_kw - 1e-9) + SPARE_COOLANT_UNITS
            offers.append((count * each_kw, unit.id, CoolantUnits(unit, count, each_kw)))
    return min(offers, key=lambda offer: offer[:2])[2] if offers else None


def rack_limit_kw(kind: str, catalog: Catalog, altitude_m: float = 0.0) -> float | None:
    """Return the heat in kW that `kind` of cooling takes from one rack, None where no figure is known.

    For air it is what the vendor's own reference rack reaches (threshold `pow-air-limit`), for the others the catalog's method. From the
    height on at which servers are derated, thin air carries less, in proportion to its pressure; liquid does not care.
    """
    thinner = thin_air(altitude_m, catalog) if kind in ("air", "rear_door") else 1.0
    if kind == "air":
        return threshold_number(catalog.thresholds, AIR_THRESHOLD, "reference") * thinner
    method = catalog.cooling.get(METHODS.get(kind, kind))
    return method.capacity.to("kW") * thinner if method is not None and method.capacity is not None else None


def thin_air(altitude_m: float, catalog: Catalog) -> float:
    """Return the share of its heat that air of the same flow carries at a height: 1 up to 900 m, then its pressure over sea level's."""
    start = fact_value(catalog.facts, "ashrae-altitude", "from_height").to("m")
    return pressure_ratio(altitude_m) if altitude_m > start else 1.0


def comfortable_kw(kind: str, catalog: Catalog) -> float | None:
    """Return the power in kW up to which a rack cooled by air is filled with equipment beside its nodes; None for other cooling."""
    return threshold_number(catalog.thresholds, AIR_THRESHOLD, "warn") if kind == "air" else None


def node_heat_kw(node: Node, power_kw: float, saved_kw: float = 0.0) -> float:
    """Return the heat of one unit in kW: the larger of its electrical maximum and the vendor's stated heat.

    A DGX H100 states 38,557 BTU/h, 11.3 kW, beside an electrical maximum of 10.2 kW. `saved_kw` is what a cap on its GPUs takes off both;
    it is off `power_kw` already.
    """
    if node.heat is None:
        return power_kw
    try:
        return max(power_kw, magnitude(str(node.heat.value), "kW") - saved_kw)
    except QuantityError:
        return power_kw


def heat_btu_per_hour(heat_kw: float) -> float:
    """Return heat in BTU per hour from kW."""
    return heat_kw * BTU_PER_HOUR_PER_KW


def airflow_cfm(heat_w: float, rise_f: float = AIR_RISE_F, pressure_ratio: float = PASCALS_AT_SEA_LEVEL) -> float:
    """Return the air in cubic feet per minute that carries `heat_w` watts at a rise of `rise_f` degrees Fahrenheit.

    `pressure_ratio` is the air pressure over that at sea level. Raises ValueError for a rise or pressure that is not positive.
    """
    if rise_f <= 0 or pressure_ratio <= 0:
        raise ValueError(f"the rise of temperature and the pressure ratio must be positive, not {rise_f} and {pressure_ratio}")
    return CFM_PER_WATT_PER_DEGREE_F * heat_w / rise_f / pressure_ratio


def node_airflow_cfm(node: Node, air_heat_kw: float, pressure_ratio: float = PASCALS_AT_SEA_LEVEL) -> float:
    """Return the air that one unit needs in CFM: what the vendor states at sea level, else from its heat to air; more in thin air."""
    if node.airflow is not None:
        return node.airflow.to("CFM") / pressure_ratio
    return airflow_cfm(air_heat_kw * 1000.0, pressure_ratio=pressure_ratio)


def pressure_ratio(altitude_m: float) -> float:
    """Return the air pressure at a height over that at sea level, in the standard atmosphere.

    Raises ValueError above its lowest layer, 11 km. Source: ISO 2533; 0.86 at 4,000 ft and 0.69 at 10,000 ft as tables print it.
    """
    if altitude_m > 11_000:
        raise ValueError(f"no building stands at {altitude_m:,.0f} m")
    return math.pow(1.0 - LAPSE_PER_M * altitude_m, PRESSURE_EXPONENT)


def inlet_limit_celsius(stated: float, altitude_m: float, catalog: Catalog, name: str = "a2") -> float:
    """Return the highest inlet temperature in °C at a height, from the one `stated` for sea level; `name` is the class of the equipment.

    One degree less for every 300 m above 900 m, as classes A1 and A2 are derated, for every 175 m in A3 and 125 m in A4 (catalog fact
    `ashrae-altitude`).
    """
    per_kelvin = f"metres_per_kelvin_{name}" if name in STEEPER_CLASSES else "metres_per_kelvin"
    start, each = (fact_value(catalog.facts, "ashrae-altitude", key).to("m") for key in ("from_height", per_kelvin))
    return stated - max(0.0, altitude_m - start) / each


def highest_hall_m(catalog: Catalog) -> float:
    """Return the height in m up to which the classes of air hold (ASHRAE TC 9.9: 3,050 m)."""
    return fact_value(catalog.facts, "ashrae-altitude", "highest").to("m")


def exhaust_celsius(inlet_celsius: float, air_heat_kw: float, cfm: float, pressure_ratio: float = PASCALS_AT_SEA_LEVEL) -> float:
    """Return the temperature in °C of the air that leaves a unit: a DGX B200 of 14.3 kW and 1,550 CFM warms it by 29 °F, 16 K."""
    if cfm <= 0:
        return inlet_celsius
    rise_f = CFM_PER_WATT_PER_DEGREE_F * air_heat_kw * 1000.0 / cfm / pressure_ratio
    return inlet_celsius + rise_f / FAHRENHEIT_PER_KELVIN


def air_class(inlet_celsius: float, altitude_m: float, catalog: Catalog) -> str:
    """Return the coolest ASHRAE class of equipment that may run at an inlet temperature and height: "recommended", "A1" to "A4".

    Above them all, and above the height that the classes reach, it is "none".
    """
    if altitude_m > highest_hall_m(catalog):
        return "none"
    recommended = fact_value(catalog.facts, "ashrae-recommended", "inlet_high").to("degC")
    if inlet_celsius <= recommended:
        return "recommended"
    for name in AIR_CLASSES:
        highest = fact_value(catalog.facts, f"ashrae-{name}", "inlet_high").to("degC")
        if inlet_celsius <= inlet_limit_celsius(highest, altitude_m, catalog, name):
            return name.upper()
    return "none"


def warmest_class_celsius(catalog: Catalog) -> float:
    """Return the inlet temperature in °C above which no class of equipment may run, at sea level: 45 °C of class A4."""
    return fact_value(catalog.facts, f"ashrae-{AIR_CLASSES[-1]}", "inlet_high").to("degC")


def coolant_highest_celsius(catalog: Catalog) -> float:
    """Return the highest temperature in °C towards the racks that coolant units are rated for (catalog fact `cdu-rating`)."""
    return fact_value(catalog.facts, COOLANT_RATING, "supply_high").to("degC")


def water_class(supply_celsius: float) -> str:
    """Return the ASHRAE class of facility water of a supply temperature: W17 to W45, W+ above."""
    return next((f"W{highest}" for highest in WATER_CLASSES if supply_celsius <= highest), "W+")


def heat_tons(heat_kw: float) -> float:
    """Return heat in tons of refrigeration from kW."""
    return heat_kw / KW_PER_TON


def water_share(node: Node, kind: str, catalog: Catalog) -> float:
    """Return the share of a node's heat that leaves the hall with water at most: by cold plates, at the rear door, in a tank.

    A rear door takes 85 % of the heat of the air that passes it, a tank 95 % (catalog fact `heat-capture`); room air none.
    """
    if kind == "liquid":
        return liquid_share(node, kind, catalog)[1]
    return fact_value(catalog.facts, "heat-capture", kind).to("") if kind in ("rear_door", "immersion") else 0.0


def air_share(node: Node, kind: str, catalog: Catalog) -> float:
    """Return the share of a node's heat that goes to the air of its rack or room at most; a rear door takes it from that air."""
    if kind == "immersion":
        return 1.0 - water_share(node, kind, catalog)
    return 1.0 - liquid_share(node, kind, catalog)[0]


def water_litres_per_minute(liquid_heat_kw: float) -> float:
    """Return the coolant flow in litres per minute for `liquid_heat_kw` of heat."""
    return liquid_heat_kw * LITRES_PER_MINUTE_PER_KW


def door_litres_per_minute(heat_kw: float, catalog: Catalog) -> float:
    """Return the water in litres per minute through rear doors or tanks that take `heat_kw` at a rise of 10 K.

    Source: heat capacity of water, 1.44 L/min per kW (catalog fact `coolant-flow-water`).
    """
    return heat_kw * fact_value(catalog.facts, "coolant-flow-water", "rise_10_k").to("")


def liquid_share(node: Node, kind: str, catalog: Catalog) -> tuple[float, float]:
    """Return (low, high) of the share of the node's heat that liquid takes, from 0 to 1.

    The node's own figure where stated, else that of its kind (catalog fact `heat-capture`): cold plates take 70 to 80 %, the planning
    figure of an NVL72 rack is 85 %. The rest goes to the room's air.
    """
    if kind != "liquid":
        return 0.0, 0.0
    stated = node.liquid_share
    share = stated if stated is not None else fact_value(catalog.facts, "heat-capture", "nvl72" if node.is_rack else "direct_to_chip")
    low, _, high = share.ends("")
    return low, high


def coolant_rating_words(catalog: Catalog) -> str:
    """Return what coolant units are rated for, as the Open Compute Project's convention says it (catalog fact `cdu-rating`)."""
    return _rating_words(catalog.facts)


@lru_cache(maxsize=8)
def _rating_words(facts: Shelf[Fact]) -> str:
    approach, low, high, mesh, pressure = (
        fact_value(facts, COOLANT_RATING, name).value
        for name in ("approach", "supply_low", "supply_high", "filter_micrometres", "facility_pressure")
    )
    degrees = f"{magnitude(str(low), 'degC'):g} to {magnitude(str(high), 'degC'):g} °C"
    return f"{degrees} towards the racks at an approach of {approach}, filters of {mesh} µm, {pressure} on the facility's side"
