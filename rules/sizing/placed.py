"""Every device at its place: the racks of a candidate one by one, with what stands in which rack unit.

Made on demand for the chosen candidate; sizing counts racks without it, by the same packing. Nodes fill a rack from the bottom, since
they are the heaviest; switches and servers beside them hang from the top, near the cable trays. Rack units are numbered from 1 at the
bottom. Racks of the network stand in the middle of those of the nodes, so that the longest cable is short; where the middle is farther than
short-reach optics reach, leaves and management switches have racks of their own near the nodes that they serve.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from catalogs.quantities import magnitude
from catalogs.sums import plain_sum
from rules.sizing.fabric.floor import placed_floor
from rules.sizing.facility import size_facility
from rules.sizing.racks import binding_words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rules.candidate import Candidate, Context
    from rules.sizing.equipment import Boxes, Load
    from rules.sizing.facility import FacilitySizing, Placement

PREFIXES = {"compute": "C", "network": "N", "storage": "S"}
"""First letter of a rack's name, by what it is for."""


@dataclass(frozen=True)
class Slot:
    """One device in a rack: its catalog id and name, what it is (`kind`: node, switch, manager, server, storage) and what it does.

    `role` is that of the network and tier ("compute leaf"), of the other kinds their own word. `number` counts devices of one role from
    1; one box that holds several switches, or one rack that holds several trays, stands for `holds` of them, from `number` on. `unit` is
    the lowest rack unit that it takes. What is not known is None.
    """

    device: str
    name: str
    kind: str
    role: str
    number: int
    unit: int
    height_u: float
    power_kw: float | None
    weight_kg: float | None
    holds: int = 1
    height_stated: bool = True

    @property
    def label(self) -> str:
        """Return what is printed on the box: "node 12", "compute leaf 3", "compute leaf 3-4"."""
        last = f"-{self.number + self.holds - 1}" if self.holds > 1 else ""
        return f"{self.role} {self.number}{last}"


@dataclass(frozen=True)
class PlacedRack:
    """One rack, or one tank: `place` counts the positions of the hall from 1 along its rows; `binding` is the limit that binds first."""

    name: str
    kind: str
    place: int
    units: int
    slots: tuple[Slot, ...]
    binding: str
    air_kw: float
    tank: bool = False

    @property
    def power_kw(self) -> float:
        """Return the maximum power in kW of all devices in it whose power is known."""
        return plain_sum(slot.power_kw or 0.0 for slot in self.slots)

    @property
    def weight_kg(self) -> float | None:
        """Return the weight in kg of the devices, without the cabinet; None where that of any is not stated."""
        known = [slot.weight_kg for slot in self.slots if slot.weight_kg is not None]
        return plain_sum(known) if known and len(known) == len(self.slots) else None

    @property
    def used_units(self) -> int:
        """Return the rack units that are taken."""
        return math.ceil(plain_sum(slot.height_u for slot in self.slots) - 1e-9)

    @property
    def words(self) -> str:
        """Return what it is: "tank", or what it is for, "network and storage" where both stand in it."""
        shared = self.kind == "network" and any(slot.role == "storage" for slot in self.slots)
        return "tank" if self.tank else "network and storage" if shared else self.kind

    @property
    def binding_words(self) -> str:
        """Return the binding limit as it is printed."""
        return binding_words(self.binding, tank=self.tank)


def placed_racks(candidate: Candidate, context: Context) -> tuple[PlacedRack, ...]:
    """Return the racks of a candidate in the order of their places in the hall; none for desktop machines or where power is unknown.

    The candidate's fabric and storage must be sized already (they are after the stages ran). The result is the same on every call.
    """
    sizing = size_facility(candidate, context)
    placement = sizing.placement
    if placement is None:
        return ()
    compute = list(_compute_racks(candidate, sizing, placement))
    others = list(_equipment_racks(placement))
    floor = placed_floor(placement, 1, [0] * len(placement.plans))
    placed = [*((floor.rack_place(index), rack) for index, rack in enumerate(compute)), *zip(floor.other_places, others, strict=True)]
    return tuple(_at(rack, place) for place, rack in sorted(placed, key=lambda each: each[0]))


def _at(rack: PlacedRack, place: int) -> PlacedRack:
    return replace(rack, place=place)


def _compute_racks(candidate: Candidate, sizing: FacilitySizing, placement: Placement) -> Iterator[PlacedRack]:
    """Yield the racks of nodes with spares after those that train; what stands beside the last nodes is in the last rack."""
    plan, node = placement.plans[0], candidate.node
    total, unit_kw = candidate.units + sizing.spare_units, magnitude(sizing.draw.maximum, "kW") if sizing.draw else 0.0
    weight = node.weight.to("kg") if node.weight is not None else None
    height = float(plan.units) if node.is_rack else node.height.to("U") if node.height is not None else 0.0
    each_u = height or (plan.units // plan.nodes_per_rack if plan.nodes_per_rack else 1)
    for index in range(plan.racks):
        first, count = index * plan.nodes_per_rack, min(plan.nodes_per_rack, total - index * plan.nodes_per_rack)
        slots = []
        for step in range(count):
            number = first + step + 1
            role = "node" if number <= candidate.units else "spare node"
            slots.append(
                Slot(
                    node.id, node.name, "node", role, number if role == "node" else number - candidate.units,
                    1 + math.ceil(step * each_u), float(each_u), unit_kw, weight, 1, height > 0,
                )
            )  # fmt: skip
        if node.is_rack:
            slots = [_rack_slot(candidate, slot) for slot in slots]
        air_kw = plain_sum(slot.power_kw or 0.0 for slot in slots) * sizing.air_share
        last = index == plan.racks - 1
        beside = tuple(_hung(placement.beside, plan.units)) if last else ()
        air_kw += plain_sum(slot.power_kw or 0.0 for slot in beside)
        binding = plan.binding if count == plan.nodes_per_rack else "cluster"
        yield PlacedRack(
            f"{PREFIXES['compute']}{index + 1}", "compute", 0, plan.units, (*slots, *beside), binding, air_kw, sizing.tank is not None
        )


def _rack_slot(candidate: Candidate, slot: Slot) -> Slot:
    """Return the slot of a pre-integrated rack: it stands for its trays, which are the nodes."""
    trays = candidate.node.trays
    first = (slot.number - 1) * trays + 1
    return Slot(
        slot.device,
        slot.name,
        slot.kind,
        slot.role,
        first,
        slot.unit,
        slot.height_u,
        slot.power_kw,
        slot.weight_kg,
        trays,
        slot.height_stated,
    )


def _hung(loads: tuple[Load, ...], units: int) -> Iterator[Slot]:
    """Yield the devices of loads from the top of a rack down."""
    top = float(units)
    for boxes in (each for load in loads for each in load.boxes):
        for index in range(boxes.count):
            top -= boxes.height_u
            yield _slot(boxes, index, max(1, math.floor(top) + 1))


def _slot(boxes: Boxes, index: int, unit: int) -> Slot:
    return Slot(
        boxes.device,
        boxes.name,
        boxes.kind,
        boxes.role,
        boxes.first + index * boxes.holds,
        unit,
        boxes.height_u,
        boxes.power_kw,
        boxes.weight_kg,
        boxes.holds,
        boxes.stated,
    )


def _equipment_racks(placement: Placement) -> Iterator[PlacedRack]:
    """Yield the racks of network and storage; their devices hang from the top in the network's racks and stand in the storage's."""
    for plan, loads in zip(placement.plans[1:], placement.loads, strict=True):
        for index, load in enumerate(loads):
            slots = tuple(_hung((load,), plan.units)) if plan.name == "network" else tuple(_stood(load))
            name = f"{PREFIXES.get(plan.name, 'E')}{index + 1}"
            yield PlacedRack(name, plan.name, 0, plan.units, slots, plan.binding, load.power_kw)


def _stood(load: Load) -> Iterator[Slot]:
    """Yield the devices of a load from the bottom of a rack up."""
    base = 0.0
    for boxes in load.boxes:
        for index in range(boxes.count):
            yield _slot(boxes, index, math.ceil(base - 1e-9) + 1)
            base = math.ceil(base - 1e-9) + boxes.height_u


@dataclass(frozen=True)
class Alike:
    """Racks with the same devices in the same units: the first of them, and the names of all."""

    first: PlacedRack
    names: tuple[str, ...]

    @property
    def title(self) -> str:
        """Return the names of the racks in short: "C1", "C1 to C16", "C1 to C8, C12"."""
        runs: list[list[str]] = []
        for name in self.names:
            number = int(name[1:])
            if runs and runs[-1][-1][0] == name[0] and int(runs[-1][-1][1:]) == number - 1:
                runs[-1].append(name)
            else:
                runs.append([name])
        return ", ".join(run[0] if len(run) == 1 else f"{run[0]} to {run[-1]}" for run in runs)


def alike(racks: tuple[PlacedRack, ...]) -> tuple[Alike, ...]:
    """Return the kinds of racks in the order in which they are first met, compute racks before the others."""
    groups: dict[tuple[object, ...], list[PlacedRack]] = {}
    for rack in sorted(racks, key=lambda each: (each.kind != "compute", each.place)):
        devices = tuple((slot.device, slot.role, slot.unit, slot.height_u) for slot in rack.slots)
        groups.setdefault((rack.kind, rack.units, rack.binding, devices), []).append(rack)
    return tuple(Alike(group[0], tuple(rack.name for rack in group)) for group in groups.values())
