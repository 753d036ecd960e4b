"""NetBox devices as CSV: what to import after the device types, the roles and the site."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, TextIO

from wizard.exports.fabric import networks
from wizard.exports.netbox import device_types
from wizard.exports.parts import write_rows

if TYPE_CHECKING:
    from rules.advisor import Considered

HEAD = ("name", "role", "manufacturer", "device_type", "status", "site")
SITE, STATUS = "cluster", "planned"


def write(considered: Considered, stream: TextIO) -> None:
    """Write one row per device; the role is its kind, and its tier for a switch."""
    types = device_types(considered)
    devices = chain.from_iterable(each.devices() for each in networks(considered))
    rows = ((each, types[each.name]) for each in devices)
    write_rows(
        stream,
        HEAD,
        (
            (each.name, f"{each.tier} switch" if each.kind == "switch" else each.kind, made.manufacturer, made.model, STATUS, SITE)
            for each, made in rows
        ),
    )
