"""In which rack and rack unit every device of the networks stands, by its name."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from rules.candidate import Candidate, Context
    from rules.sizing.fabric.floor import Floor
    from rules.sizing.fabric.links import Device
    from rules.sizing.fabric.networks import Network
    from rules.sizing.placed import PlacedRack


class Stand(NamedTuple):
    """A rack by its name, the lowest rack unit that is taken (0 where it is not known or has none), and the rack's place in the hall."""

    rack: str
    unit: int
    place: int


def stands_of(candidate: Candidate, context: Context, networks: Iterable[Network], floor: Floor) -> Mapping[str, Stand]:
    """Return the stand of every device by its name.

    What no rack plan places (the site's router), and everything where cables were not routed between planned racks, stands
    at its place of the floor, in no unit.
    """
    from rules.sizing.placed import placed_racks

    known = dict(_planned(placed_racks(candidate, context), candidate.nodes)) if candidate.floor is not None else {}
    racks = {stand.place: stand.rack for stand in known.values()}
    found: dict[str, Stand] = {}
    for network in networks:
        numbers: dict[str, int] = {}
        for device in network.devices():
            role = role_of(device, network.name)
            numbers[role] = numbers.get(role, 0) + 1
            stand = known.get((role, numbers[role]))
            if stand is None:
                place = _estimated(device, role, numbers[role], floor)
                stand = Stand(racks.get(place) or f"rack at {place}", 0, place)
            found[device.name] = stand
    found |= _in_racks(networks, racks, floor)
    return found


def role_of(device: Device, network: str) -> str:
    """Return what the plan of racks calls devices of this kind."""
    if device.kind == "switch":
        return f"{network} {device.tier}"
    if device.kind == "manager":
        return f"{network} manager"
    names = {"node": "node", "server": "management", "storage": "storage"}
    return "file server" if device.name.startswith("file-server") else names.get(device.kind, device.kind)


def _planned(racks: Iterable[PlacedRack], nodes: int) -> Iterator[tuple[tuple[str, int], Stand]]:
    """Yield ((role, number), stand) of what is in planned racks; spare nodes are numbered after those that train."""
    for rack in racks:
        for slot in rack.slots:
            role, first = ("node", nodes + slot.number) if slot.role == "spare node" else (slot.role, slot.number)
            for number in range(first, first + slot.holds):
                yield (role, number), Stand(rack.name, slot.unit, rack.place)


def _estimated(device: Device, role: str, number: int, floor: Floor) -> int:
    return floor.node_place(number - 1) if device.kind == "node" else floor.place(role, number)


def _in_racks(networks: Iterable[Network], racks: Mapping[int, str], floor: Floor) -> Iterator[tuple[str, Stand]]:
    """Yield the stands of power units and of the parts of pre-integrated racks: those of nodes first, then the others."""
    parts = [device.name for network in networks for device in network.devices() if device.kind in ("power", "rack part")]
    if not parts:
        return
    compute = [floor.node_place(rack * floor.per_rack) for rack in range(floor.racks)]
    places = [*compute, *floor.other_places]
    for name in parts:
        number = int(name.split("-")[1])
        place = places[number - 1] if number <= len(places) else floor.middle
        yield name, Stand(racks.get(place) or f"rack at {place}", 0, place)
