"""What stands in the racks beside the GPU servers: switches, managers of the fabric, management servers and storage, box by box.

Every box is counted once: a network that serves two roles, or a switch that two networks share, is one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from catalogs.quantities import magnitude
from catalogs.sums import plain_sum
from rules.sizing.fabric.floor import NEAR_NODES
from rules.sizing.fabric.networks import MANAGERS_PER_FABRIC
from rules.sizing.fabric.storage_side import FILE_SERVER_HEIGHT_U
from rules.sizing.lookup import fact_value

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from catalogs import Catalog
    from rules.sizing.results import FabricDesign, FabricNetwork, StorageDesign

UNSTATED_SWITCH_HEIGHT_U = 1.0
"""Height of a switch that the catalog does not state; the one-ASIC switches of the catalog are 1U and 2U. Named in the notes."""
MANAGER, SERVER, FILE_SERVER = "ufm-appliance", "management-server", "file-server"
"""Facts of the catalog on boxes that are no products of it; the file server is an open product without any."""
MOST_TRIES = 8
"""Numbers of racks that are tried for an even spread before boxes are placed one after the other."""


@dataclass(frozen=True)
class Boxes:
    """`count` alike boxes. `role` says what they do ("compute leaf"); each holds `holds` switches, numbered from `first`.

    Power and weight are None where they are not known; `stated` is false where the height is not. `planes` of them serve the same nodes.
    """

    device: str
    name: str
    kind: str
    role: str
    count: int
    height_u: float
    power_kw: float | None = None
    weight_kg: float | None = None
    holds: int = 1
    first: int = 1
    stated: bool = True
    planes: int = 1

    def part(self, start: int, count: int) -> Boxes:
        """Return `count` of the boxes from the one with index `start`."""
        first = self.first + start * self.holds
        measures = (self.height_u, self.power_kw, self.weight_kg)
        return Boxes(self.device, self.name, self.kind, self.role, count, *measures, self.holds, first, self.stated)


@dataclass(frozen=True)
class Load:
    """The boxes of one rack, or of several together, with their rack units, kW and kg."""

    boxes: tuple[Boxes, ...] = ()

    @cached_property
    def units(self) -> float:
        """Return the rack units that the boxes take."""
        return plain_sum(each.count * each.height_u for each in self.boxes)

    @cached_property
    def power_kw(self) -> float:
        """Return their power in kW, without what is not known."""
        return plain_sum(each.count * (each.power_kw or 0.0) for each in self.boxes)

    @cached_property
    def weight_kg(self) -> float | None:
        """Return their weight in kg, None where that of any is not stated."""
        known = [each.count * each.weight_kg for each in self.boxes if each.weight_kg is not None]
        return plain_sum(known) if len(known) == len(self.boxes) and known else None


@dataclass(frozen=True)
class Equipment:
    """Boxes that stand together: the network with its managers and the management servers, or the storage."""

    name: str
    boxes: tuple[Boxes, ...]

    @cached_property
    def load(self) -> Load:
        """Return all of it as one load."""
        return Load(self.boxes)

    @property
    def unstated(self) -> tuple[str, ...]:
        """Return the names of boxes whose height is not stated."""
        return tuple(dict.fromkeys(each.name for each in self.boxes if not each.stated))


@dataclass(frozen=True)
class Room:
    """What a rack, or the rest of one, takes: rack units, and kW and kg where they are limited."""

    units: float
    power_kw: float = math.inf
    weight_kg: float = math.inf

    def without(self, load: Load) -> Room:
        """Return what is left once `load` stands in it."""
        return Room(self.units - load.units, self.power_kw - load.power_kw, self.weight_kg - (load.weight_kg or 0.0))

    def holds(self, box: Boxes, most: int) -> int:
        """Return how many of such boxes fit, `most` at most; what is not stated of one does not count."""
        pairs = ((self.units, box.height_u), (self.power_kw, box.power_kw), (self.weight_kg, box.weight_kg))
        return max(0, math.floor(min([float(most), *((have + 1e-9) / each for have, each in pairs if each)])))

    def takes(self, load: Load) -> bool:
        """Return whether the load fits; a weight that is not stated does not count."""
        return (
            load.units <= self.units + 1e-9
            and load.power_kw <= self.power_kw + 1e-9
            and (load.weight_kg is None or load.weight_kg <= self.weight_kg + 1e-9)
        )


def networks_of(fabric: FabricDesign | None) -> tuple[FabricNetwork, ...]:
    """Return the networks of a fabric, one that serves two roles once."""
    found: list[FabricNetwork] = []
    for network in (fabric.compute, fabric.storage, fabric.in_band, fabric.out_of_band) if fabric is not None else ():
        if network is not None and network not in found:
            found.append(network)
    return tuple(found)


def network_equipment(fabric: FabricDesign | None, catalog: Catalog) -> Equipment | None:
    """Return switches, fabric managers, management servers and file servers for home directories; None where there is no switch."""
    boxes = [each for network in networks_of(fabric) for each in _switches(network, catalog)]
    if fabric is None or not boxes:
        return None
    if fabric.management_servers:
        boxes.append(_of_fact(SERVER, "management server", "management", fabric.management_servers, catalog, kind="server"))
    if fabric.file_servers:
        height, role = FILE_SERVER_HEIGHT_U, "file server"
        boxes.append(Boxes(FILE_SERVER, role, "storage", role, fabric.file_servers, height, stated=False))
    return Equipment("network", tuple(boxes))


def _switches(network: FabricNetwork, catalog: Catalog) -> Iterator[Boxes]:
    """Return the boxes of a network by tier; its power, transceivers included, is shared among them evenly."""
    managers = MANAGERS_PER_FABRIC if network.manager_links else 0
    managing = [_of_fact(MANAGER, "UFM appliance", f"{network.role} manager", managers, catalog, kind="manager")] if managers else []
    device = next(iter(network.switches), "")
    record = catalog.switches.get(device)
    per_box = record.switches_per_box if record is not None else 1
    height = record.height.to("U") if record is not None and record.height is not None else None
    tiers = [(f"{network.role} {tier}", count) for tier in ("leaf", "spine", "core") if (count := getattr(network, tier))]
    total = sum(math.ceil(count / per_box) for _, count in tiers)
    highest = network.power_maximum if network.power_maximum is not None else network.power_typical
    apart_kw = plain_sum(each.count * (each.power_kw or 0.0) for each in managing)
    each_kw = (magnitude(highest, "kW") - apart_kw) / total if highest is not None and total else None
    for role, count in tiers:
        yield Boxes(
            device,
            record.name if record is not None else device,
            "switch",
            role,
            math.ceil(count / per_box),
            height if height is not None else UNSTATED_SWITCH_HEIGHT_U,
            each_kw,
            record.weight.to("kg") if record is not None and record.weight is not None else None,
            holds=per_box,
            stated=height is not None,
            planes=network.planes,
        )
    yield from managing


def _of_fact(fact: str, name: str, role: str, count: int, catalog: Catalog, *, kind: str) -> Boxes:
    power, height = (fact_value(catalog.facts, fact, key) for key in ("power", "height"))
    return Boxes(fact, name, kind, role, count, height.to("U"), power.to("kW"))


def storage_equipment(storage: StorageDesign | None, catalog: Catalog) -> Equipment | None:
    """Return the shared storage systems, box by box; None where there are none or the height of one is not stated."""
    if storage is None or storage.height is None or not storage.systems:
        return None
    count = sum(storage.systems.values())
    shared_u = magnitude(storage.height, "U") / count
    shared_kw = magnitude(storage.power, "kW") / count if storage.power is not None else None
    return Equipment("storage", tuple(_system(id_, units, shared_u, shared_kw, catalog) for id_, units in storage.systems.items()))


def _system(id_: str, units: int, shared_u: float, shared_kw: float | None, catalog: Catalog) -> Boxes:
    record = catalog.storage.get(id_)
    height = record.height.to("U") if record is not None and record.height is not None else shared_u
    power = record.power.to("kW") if record is not None and record.power is not None else shared_kw
    weight = record.weight.to("kg") if record is not None and record.weight is not None else None
    return Boxes(id_, record.name if record is not None else id_, "storage", "storage", units, height, power, weight)


# ---------------------------------------------------------------------------------------------------------------- packing


def fewest_racks(load: Load, room: Room) -> tuple[int, str]:
    """Return the least number of racks that height, power and weight allow for a load, and which of them asks for the most.

    A load that fills less than one rack is bound by none of them: "equipment".
    """
    asked = {
        "units": load.units / room.units if room.units > 0 else math.inf,
        "power": load.power_kw / room.power_kw if room.power_kw > 0 else math.inf,
        "weight": (load.weight_kg or 0.0) / room.weight_kg if room.weight_kg > 0 else math.inf,
    }
    binding = max(asked, key=lambda name: asked[name])
    most = asked[binding]
    return max(1, math.ceil(most - 1e-9)) if math.isfinite(most) else 1, binding if most > 1.0 + 1e-9 else "equipment"


@lru_cache(maxsize=512)
def pack(equipment: Equipment, room: Room, *, apart: bool = False) -> tuple[Load, ...]:
    """Return the racks of the equipment, each kind of box spread evenly over as few racks as take it; `apart` first those near nodes.

    An even spread keeps a network alive when a rack is lost. Where no even spread fits in MOST_TRIES numbers of racks, boxes are placed
    one after the other; one that is too large for any rack gets a rack of its own.
    """
    near = tuple(part for each in equipment.boxes if each.role in NEAR_NODES for part in _by_plane(each)) if apart else ()
    if near:
        rest = tuple(each for each in equipment.boxes if each.role not in NEAR_NODES)
        others = pack(Equipment(equipment.name, rest), room) if rest else ()
        return (*pack(Equipment(equipment.name, near), room), *others)
    least, _ = fewest_racks(equipment.load, room)
    for racks in range(least, least + MOST_TRIES):
        if _spread_fits(equipment.boxes, racks, room):
            return _even(equipment.boxes, racks)
    return _in_turn(equipment.boxes, room)


def _by_plane(boxes: Boxes) -> Iterator[Boxes]:
    """Yield the boxes plane by plane, so that those that serve the same nodes share racks; all at once where boxes hold several."""
    planes = boxes.planes if boxes.holds == 1 and boxes.count % boxes.planes == 0 else 1
    each = boxes.count // planes
    for plane in range(planes):
        yield boxes.part(plane * each, each)


def _shares(boxes: Sequence[Boxes], racks: int) -> Iterator[tuple[Boxes, list[int]]]:
    """Yield every kind of box with its number in each rack; the remainder of one kind is where the next one begins."""
    turn = 0
    for each in boxes:
        whole, rest = divmod(each.count, racks)
        shares = [whole] * racks
        for step in range(rest):
            shares[(turn + step) % racks] += 1
        turn = (turn + each.count) % racks
        yield each, shares


def _spread_fits(boxes: Sequence[Boxes], racks: int, room: Room) -> bool:
    """Return whether an even spread over `racks` keeps every rack within `room`; a weight that is not stated counts nothing."""
    if not room.takes(Load(tuple(each.part(0, whole) for each in boxes if (whole := each.count // racks)))):
        return False  # every rack has at least these
    units, power, weight = [0.0] * racks, [0.0] * racks, [0.0] * racks
    for each, shares in _shares(boxes, racks):
        for rack, count in enumerate(shares):
            units[rack] += count * each.height_u
            power[rack] += count * (each.power_kw or 0.0)
            weight[rack] += count * (each.weight_kg or 0.0)
    return max(units) <= room.units + 1e-9 and max(power) <= room.power_kw + 1e-9 and max(weight) <= room.weight_kg + 1e-9


def _even(boxes: Sequence[Boxes], racks: int) -> tuple[Load, ...]:
    """Deal every kind of box over `racks`, consecutive numbers to a rack."""
    rows: list[list[Boxes]] = [[] for _ in range(racks)]
    for each, shares in _shares(boxes, racks):
        start = 0
        for rack, count in enumerate(shares):
            if count:
                rows[rack].append(each.part(start, count))
                start += count
    return tuple(Load(tuple(row)) for row in rows if row)


def _in_turn(boxes: Sequence[Boxes], room: Room) -> tuple[Load, ...]:
    rows: list[list[Boxes]] = [[]]
    left = room
    for each in boxes:
        placed = 0
        while placed < each.count:
            count = left.holds(each, each.count - placed)
            if count == 0 and rows[-1]:
                rows.append([])
                left = room
                continue
            part = each.part(placed, max(1, count))
            rows[-1].append(part)
            left = left.without(Load((part,)))
            placed += part.count
    return tuple(Load(_joined(row)) for row in rows if row)


def _joined(boxes: Sequence[Boxes]) -> tuple[Boxes, ...]:
    """Return boxes with neighbours of one kind and role as one entry."""
    joined: list[Boxes] = []
    for each in boxes:
        last = joined[-1] if joined else None
        if last is not None and (last.device, last.role) == (each.device, each.role):
            joined[-1] = replace(last, count=last.count + each.count)
        else:
            joined.append(each)
    return tuple(joined)
