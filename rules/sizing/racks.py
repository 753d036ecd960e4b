"""Racks: how many units fit in one, which limit binds first, and where network and storage equipment goes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from catalogs.quantities import magnitude, quantity
from rules.sizing.results import RackPlan

if TYPE_CHECKING:
    from catalogs import Catalog
    from catalogs.quantities import Quantity
    from catalogs.schema import Node
    from rules.sizing.results import FabricDesign, FabricNetwork, StorageDesign

UNSTATED_SWITCH_HEIGHT_U = 1.0
"""Height of a switch that the catalog does not state; the one-ASIC switches of the catalog are 1U and 2U. Named in the notes."""
BINDING_WORDS = {
    "power": "the rack's power",
    "cooling": "the cooling",
    "units": "the rack's height",
    "weight": "the rack's load",
    "pre-integrated": "sold as a rack",
    "desk": "stands on a desk",
    "cluster": "there are no further nodes",
}
"""How binding limits are printed."""


@dataclass(frozen=True)
class RackLimits:
    """What one rack takes. None where no limit is known; `units` are rack units of 44.45 mm."""

    units: int
    power_kw: float | None = None
    cooling_kw: float | None = None
    load_kg: float | None = None


@dataclass(frozen=True)
class RackFill:
    """Units per rack and the limit that binds first; `by_limit` gives how many each limit alone would allow."""

    per_rack: int
    binding: str
    by_limit: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Equipment:
    """Switches or storage to be placed: rack units and kW in total, and what has no stated height."""

    name: str
    units: float
    power_kw: float
    unstated: tuple[str, ...] = ()


def fill_rack(power_kw: float, height_u: float | None, weight_kg: float | None, limits: RackLimits) -> RackFill:
    """Return how many units of equipment fit in a rack: the least of what power, cooling, height and load allow.

    Parameters
    ----------
    power_kw
        Maximum electrical power of one unit. Densities that a cooling carries are stated as electrical power too.
    height_u, weight_kg
        Height in rack units and weight of one unit, None where not stated (that limit is then not checked).
    limits
        What the rack takes.

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
        ("cooling", limits.cooling_kw, power_kw),
        ("units", float(limits.units), height_u),
        ("weight", limits.load_kg, weight_kg),
    ):
        if have is not None and each:
            counts.append((name, math.floor(have / each + 1e-9)))
    binding, least = min(counts, key=lambda pair: pair[1], default=("units", 1))
    return RackFill(least, binding, tuple(counts))


def place_nodes(node: Node, units: int, power_kw: float, fill: RackFill, limits: RackLimits) -> RackPlan:
    """Return the racks that hold `units` of `node`; a pre-integrated rack is one unit, a desktop machine needs no rack.

    With fewer units than one rack takes, the plan has one rack with all of them and no limit binds.
    """
    weight = node.weight.to("kg") if node.weight is not None else None
    if node.is_rack:
        high = int(node.height.to("U")) if node.height is not None else limits.units
        return RackPlan("compute", units, 1, quantity(power_kw, "kW"), high, high, _kilograms(weight, 1), "pre-integrated")
    if node.desktop:
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


def switch_equipment(fabric: FabricDesign | None, power_kw: float, catalog: Catalog) -> Equipment | None:
    """Return the boxes of all networks, each network once, with `power_kw` in total; None where there is no switch."""
    if fabric is None:
        return None
    boxes: dict[str, int] = {}
    seen: list[FabricNetwork] = []
    for network in (fabric.compute, fabric.storage, fabric.in_band, fabric.out_of_band):
        if network is None or network in seen:
            continue
        seen.append(network)
        for switch, count in network.switches.items():
            boxes[switch] = boxes.get(switch, 0) + count
    if not boxes:
        return None
    units, unstated = 0.0, []
    for switch, count in sorted(boxes.items()):
        record = catalog.switches.get(switch)
        per_box = record.switches_per_box if record is not None else 1
        height = record.height.to("U") if record is not None and record.height is not None else None
        if height is None:
            unstated.append(record.name if record is not None else switch)
        units += math.ceil(count / per_box) * (height if height is not None else UNSTATED_SWITCH_HEIGHT_U)
    return Equipment("network", units, power_kw, tuple(unstated))


def storage_equipment(storage: StorageDesign | None, power_kw: float) -> Equipment | None:
    """Return the shared storage systems as equipment to place; None where there are none or their height is not stated."""
    if storage is None or storage.height is None or not storage.systems:
        return None
    return Equipment("storage", magnitude(storage.height, "U"), power_kw)


@dataclass(frozen=True)
class Beside:
    """The last, perhaps partly filled, compute rack: its `nodes`, the kW that it draws, and the rack units and kW that it has left."""

    nodes: int
    used_kw: float
    units: float
    power_kw: float

    def without(self, equipment: Equipment) -> Beside:
        """Return the rack once `equipment` stands in it."""
        kw = equipment.power_kw
        return Beside(self.nodes, self.used_kw + kw, self.units - equipment.units, self.power_kw - kw)


def free_in_last_rack(
    node: Node, units: int, compute: RackPlan, unit_kw: float, limits: RackLimits, ceiling_kw: float | None = None
) -> Beside:
    """Return the last compute rack of `units` nodes of `unit_kw` each, with what height, power and cooling leave free.

    `ceiling_kw` is a further limit, such as what the circuits of a rack carry. Pre-integrated racks and desktop machines leave nothing.
    """
    if node.is_rack or compute.racks < 1:
        return Beside(0, 0.0, 0.0, 0.0)
    last = units - (compute.racks - 1) * compute.nodes_per_rack
    height = node.height.to("U") if node.height is not None else float(limits.units)
    ceiling = min((limit for limit in (limits.power_kw, limits.cooling_kw, ceiling_kw) if limit is not None), default=math.inf)
    return Beside(last, last * unit_kw, limits.units - last * height, ceiling - last * unit_kw)


def place_equipment(equipment: Equipment, limits: RackLimits, spare_units: float, spare_kw: float) -> RackPlan:
    """Return the racks of network or storage equipment; none where all of it fits in what the last compute rack leaves free."""
    if equipment.units <= spare_units and equipment.power_kw <= spare_kw:
        power = quantity(equipment.power_kw, "kW")
        return RackPlan(equipment.name, 0, 0, power, math.ceil(equipment.units), 0, None, "in the compute racks")
    ceilings = [limit for limit in (limits.power_kw, limits.cooling_kw) if limit is not None]
    by_units = math.ceil(equipment.units / limits.units)
    by_power = math.ceil(equipment.power_kw / min(ceilings) - 1e-9) if ceilings else 1
    racks = max(1, by_units, by_power)
    binding = "power" if by_power > by_units else "units"
    used = math.ceil(equipment.units / racks)
    return RackPlan(equipment.name, racks, 0, quantity(equipment.power_kw / racks, "kW"), used, limits.units, None, binding)
