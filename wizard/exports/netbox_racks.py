"""NetBox racks as CSV: what to import before the devices."""

from __future__ import annotations

from typing import TYPE_CHECKING, TextIO

from rules.sizing.fabric.design import design_fabric
from rules.sizing.fabric.stands import stands_of
from rules.sizing.placed import placed_racks
from wizard.exports.fabric import networks
from wizard.exports.netbox import SITE
from wizard.exports.parts import chosen_of, write_rows

if TYPE_CHECKING:
    from rules.advisor import Considered

HEAD = ("site", "name", "status", "width", "u_height", "description")
STATUS = "planned"
WIDTH_INCHES = 19
"""Width between the rails, which NetBox asks for; all servers and switches of the catalog are made for cabinets of 19 inches [EIA-310]."""
USUAL_UNITS = 42
"""Rack units of a rack that the rack plan does not have: the cabinet that most data centres have."""


def write(considered: Considered, stream: TextIO) -> None:
    """Write one row per rack, in the order of their places."""
    candidate, context = chosen_of(considered), considered.context
    found = networks(considered)
    stands = stands_of(candidate, context, found, design_fabric(candidate, context).floor)
    racks = {stand.rack: stand.place for stand in stands.values()}
    units = {each.name: each.units for each in placed_racks(candidate, context)} if candidate.facility is not None else {}
    ordered = sorted(racks, key=lambda name: (racks[name], name))
    write_rows(
        stream,
        HEAD,
        ((SITE, name, STATUS, WIDTH_INCHES, units.get(name, USUAL_UNITS), f"place {racks[name]} of the row plan") for name in ordered),
    )
