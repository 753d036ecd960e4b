"""Racks: how many units fit in one, which limit binds first, and how many racks network and storage equipment takes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from catalogs.quantities import quantity
from rules.sizing.equipment import Load, Room, fewest_racks, pack
from rules.sizing.results import RackPlan

if TYPE_CHECKING:
    from collections.abc import Sequence

    from catalogs.quantities import Quantity
    from catalogs.schema import Node
    from rules.sizing.equipment import Equipment

BINDING_WORDS = {
    "power": "the rack's power",
    "cooling": "the cooling",
    "units": "the rack's height",
    "weight": "the rack's load",
    "circuits": "the rack's circuits",
    "outlets": "the rack's outlets",
    "airflow": "the air that reaches the rack",
    "floor": "the floor's load",
    "pre-integrated": "what is sold as one rack",
    "desk": "stands in a room, not in a rack",
    "cluster": "there are no further nodes",
    "equipment": "there is no further equipment",
}
"""How binding limits are printed."""


def binding_words(binding: str, *, tank: bool = False) -> str:
    """Return a binding limit as it is printed; `tank` where the machines stand in tanks."""
    words = BINDING_WORDS.get(binding, binding)
    return words.replace("the rack", "the tank").replace("the cooling", "the tank's cooling") if tank else words


def racks_per_domain(node: Node) -> int:
    """Return how many racks of a kind make one scale-up domain: 2 where cross cables join them (NVL36x2), else 1."""
    return max(1, node.scale_up_domain // node.gpu_count) if node.is_rack else 1


@dataclass(frozen=True)
class RackLimits:
    """What one rack takes. None where no limit is known; `units` are rack units of 44.45 mm.

    `circuits_kw` is what circuits carry at most whose feed and number were given; `floor_kg` is without the cabinet.
    """

    units: int
    power_kw: float | None = None
    cooling_kw: float | None = None
    load_kg: float | None = None
    circuits_kw: float | None = None
    airflow_cfm: float | None = None
    floor_kg: float | None = None
    outlets: int | None = None

    @property
    def ceiling_kw(self) -> float:
        """Return the kW that power, circuits and cooling leave, infinite where none is known."""
        return min((limit for limit in (self.power_kw, self.circuits_kw, self.cooling_kw) if limit is not None), default=math.inf)

    @property
    def carried_kg(self) -> float:
        """Return the kg that rack and floor carry, infinite where neither is known."""
        return min((limit for limit in (self.load_kg, self.floor_kg) if limit is not None), default=math.inf)


@dataclass(frozen=True)
class RackFill:
    """Units per rack and the limit that binds first; `by_limit` gives how many each limit alone would allow."""

    per_rack: int
    binding: str
    by_limit: tuple[tuple[str, int], ...]


def fill_rack(
    power_kw: float,
    height_u: float | None,
    weight_kg: float | None,
    limits: RackLimits,
    airflow_cfm: float | None = None,
    cords: int | None = None,
) -> RackFill:
    """Return how many units of equipment fit in a rack: the least of what power, circuits, outlets, cooling, air, height, load and floor
    allow.

    Parameters
    ----------
    power_kw
        Maximum electrical power of one unit. Densities that a cooling carries are stated as electrical power too.
    height_u, weight_kg
        Height in rack units and weight of one unit, None where not stated (that limit is then not checked).
    limits
        What the rack takes.
    airflow_cfm
        Air that one unit needs in CFM, None where it does not matter.
    cords
        Power cords of one unit, None where they are not stated.

    Raises
    ------
    ValueError
        Where the power is not positive.

    Source: NVIDIA's planning of DGX racks (42 kW take four DGX H100 of 10.2 kW); on a tie the first named limit is reported.
    """
    if power_kw <= 0:
        raise ValueError(f"the power of a unit must be positive, not {power_kw} kW")
    counts: list[tuple[str, int]] = []
    for name, have, each in (
        ("power", limits.power_kw, power_kw),
        ("circuits", limits.circuits_kw, power_kw),
        ("outlets", limits.outlets, cords),
        ("cooling", limits.cooling_kw, power_kw),
        ("airflow", limits.airflow_cfm, airflow_cfm),
        ("units", float(limits.units), height_u),
        ("weight", limits.load_kg, weight_kg),
        ("floor", limits.floor_kg, weight_kg),
    ):
        if have is not None and each:
            counts.append((name, math.floor(have / each + 1e-9)))
    binding, least = min(counts, key=lambda pair: pair[1], default=("units", 1))
    return RackFill(least, binding, tuple(counts))


def place_nodes(node: Node, units: int, power_kw: float, fill: RackFill, limits: RackLimits, *, in_room: bool = False) -> RackPlan:
    """Return the racks that hold `units` of `node`; a pre-integrated rack is one unit, a machine on a desk or `in_room` needs no rack.

    With fewer units than one rack takes, the plan has one rack with all of them and no limit binds.
    """
    weight = node.weight.to("kg") if node.weight is not None else None
    if node.is_rack:
        high = int(node.height.to("U")) if node.height is not None else limits.units
        return RackPlan("compute", units, 1, quantity(power_kw, "kW"), high, high, _kilograms(weight, 1), "pre-integrated")
    if node.desktop or in_room:
        return RackPlan("compute", 0, 0, quantity(power_kw, "kW"), 0, 0, _kilograms(weight, 1), "desk")
    if fill.per_rack < 1:
        return RackPlan("compute", 0, 0, quantity(power_kw, "kW"), 0, limits.units, _kilograms(weight, 1), fill.binding)
    per_rack = min(fill.per_rack, units)
    height = node.height.to("U") if node.height is not None else 0.0
    binding = fill.binding if units > fill.per_rack else "cluster"
    used = math.ceil(per_rack * height)
    racks = math.ceil(units / per_rack)
    power = quantity(per_rack * power_kw, "kW")
    return RackPlan("compute", racks, per_rack, power, used, limits.units, _kilograms(weight, per_rack), binding)


def _kilograms(each_kg: float | None, count: int) -> Quantity | None:
    return None if each_kg is None else quantity(each_kg * count, "kg")


def free_in_last_rack(
    node: Node, units: int, compute: RackPlan, unit_kw: float, limits: RackLimits, ceiling_kw: float | None = None
) -> Room:
    """Return what the last, perhaps partly filled, compute rack of `units` nodes of `unit_kw` each leaves free.

    `ceiling_kw` is a further limit, such as what the circuits of a rack carry. Pre-integrated racks and desktop machines leave nothing.
    """
    if node.is_rack or compute.racks < 1:
        return Room(0.0, 0.0, 0.0)
    last = nodes_in_last_rack(units, compute)
    height = node.height.to("U") if node.height is not None else float(limits.units)
    ceiling = limits.ceiling_kw if ceiling_kw is None else min(limits.ceiling_kw, ceiling_kw)
    weight = node.weight.to("kg") if node.weight is not None else 0.0
    return Room(limits.units - last * height, ceiling - last * unit_kw, limits.carried_kg - last * weight)


def nodes_in_last_rack(units: int, compute: RackPlan) -> int:
    """Return how many of `units` nodes stand in the last compute rack."""
    return units - (compute.racks - 1) * compute.nodes_per_rack if compute.racks else 0


def room_of(limits: RackLimits) -> Room:
    """Return what an empty rack takes."""
    return Room(float(limits.units), limits.ceiling_kw, limits.carried_kg)


def too_large(equipment: Equipment, limits: RackLimits) -> tuple[str, ...]:
    """Return the boxes of which no empty rack takes one, with the measure that keeps them out: "SN5600 of 2U"."""
    room, found = room_of(limits), []
    for box in equipment.boxes:
        if box.height_u > room.units:
            found.append(f"{box.name} of {box.height_u:g}U")
        elif (box.power_kw or 0.0) > room.power_kw:
            found.append(f"{box.name} of {box.power_kw:.3g} kW")
        elif (box.weight_kg or 0.0) > room.weight_kg:
            found.append(f"{box.name} of {box.weight_kg:.3g} kg")
    return tuple(dict.fromkeys(found))


def place_equipment(equipment: Equipment, limits: RackLimits, beside: Room, *, apart: bool = False) -> tuple[RackPlan, tuple[Load, ...]]:
    """Return the racks of network or storage equipment and their loads; no rack where all of it fits in what `beside` leaves free.

    The plan's power, units and weight are those of the fullest rack. `apart`: what stands near nodes has racks of its own.
    """
    load = equipment.load
    if beside.units > 0 and beside.takes(load):
        power = quantity(load.power_kw, "kW")
        weight = _kilograms(load.weight_kg, 1)
        return RackPlan(equipment.name, 0, 0, power, math.ceil(load.units), 0, weight, "in the compute racks"), (load,)
    room = room_of(limits)
    _, binding = fewest_racks(load, room)
    if binding == "power" and limits.cooling_kw == limits.ceiling_kw != limits.power_kw:
        binding = "cooling"
    loads = pack(equipment, room, apart=apart)
    return _own_racks(equipment.name, loads, limits, binding), loads


def _own_racks(name: str, loads: tuple[Load, ...], limits: RackLimits, binding: str) -> RackPlan:
    highest = max(each.power_kw for each in loads)
    heaviest = max((each.weight_kg for each in loads if each.weight_kg is not None), default=None)
    used = math.ceil(max(each.units for each in loads))
    return RackPlan(name, len(loads), 0, quantity(highest, "kW"), used, limits.units, _kilograms(heaviest, 1), binding)


def share_rack(
    plan: RackPlan, loads: tuple[Load, ...], equipment: Equipment, limits: RackLimits
) -> tuple[RackPlan, tuple[Load, ...], RackPlan] | None:
    """Return the racks of `plan` with all of `equipment` in the last one that still takes it, and the equipment's own plan of no rack.

    None where no rack takes all of it: equipment shares a rack where that saves one, so that a larger rack never makes for more racks.
    """
    room, added = room_of(limits), equipment.load
    for index in reversed(range(len(loads))):
        if room.without(loads[index]).takes(added):
            fuller = (*loads[:index], Load((*loads[index].boxes, *equipment.boxes)), *loads[index + 1 :])
            power, weight = quantity(added.power_kw, "kW"), _kilograms(added.weight_kg, 1)
            inside = RackPlan(equipment.name, 0, 0, power, math.ceil(added.units), 0, weight, f"in the racks of the {plan.name}")
            return _own_racks(plan.name, fuller, limits, plan.binding), fuller, inside
    return None


def place_all(
    wanted: Sequence[Equipment], limits: RackLimits, beside: Room, *, apart: bool = False
) -> tuple[tuple[RackPlan, ...], tuple[tuple[Load, ...], ...], tuple[Load, ...]]:
    """Return (plans, loads of the racks of each, loads beside the nodes) of the equipment in order; `apart` as in `place_equipment`.

    Each goes into what `beside` leaves free, else into racks of the one before it where one of these takes all of it, else into its own.
    """
    plans: list[RackPlan] = []
    loads: list[tuple[Load, ...]] = []
    next_to: list[Load] = []
    for each in wanted:
        plan, packed = place_equipment(each, limits, beside, apart=apart)
        shared = share_rack(plans[-1], loads[-1], each, limits) if plan.racks and plans and not apart else None
        if not plan.racks:
            next_to += packed
            beside = beside.without(packed[0])
        elif shared is not None:
            plans[-1], loads[-1], plan = shared
        plans.append(plan)
        loads.append(packed if plan.racks else ())
    return tuple(plans), tuple(loads), tuple(next_to)
