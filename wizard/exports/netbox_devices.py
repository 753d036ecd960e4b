"""NetBox devices as CSV: what to import after the device types, the roles, the site and the racks."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, TextIO

from rules.sizing.fabric.design import design_fabric
from rules.sizing.fabric.stands import stands_of
from wizard.exports.fabric import networks
from wizard.exports.netbox import SITE, device_types
from wizard.exports.parts import chosen_of, write_rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rules.advisor import Considered

HEAD = ("name", "role", "manufacturer", "device_type", "status", "site", "rack", "position", "face")
STATUS, FACE = "planned", "front"


def write(considered: Considered, stream: TextIO) -> None:
    """Write one row per device; the role is its kind, and its tier for a switch. What has no rack unit of its own, such as the second
    switch in a box and the trays of a pre-integrated rack, has a rack alone.
    """
    write_rows(stream, HEAD, _rows(considered))


def _rows(considered: Considered) -> Iterator[tuple[object, ...]]:
    candidate, context, found = chosen_of(considered), considered.context, networks(considered)
    types = device_types(considered)
    stands = stands_of(candidate, context, found, design_fabric(candidate, context).floor)
    taken: set[tuple[str, int]] = set()
    for each in chain.from_iterable(network.devices() for network in found):
        made, stand = types[each.name], stands[each.name]
        role = f"{each.tier} switch" if each.kind == "switch" else each.kind
        own = bool(stand.unit and made.units) and (stand.rack, stand.unit) not in taken
        if own:
            taken.add((stand.rack, stand.unit))
        place = (stand.unit, FACE) if own and not (each.kind == "node" and candidate.node.is_rack) else (None, None)
        yield each.name, role, made.manufacturer, made.model, STATUS, SITE, stand.rack, *place
