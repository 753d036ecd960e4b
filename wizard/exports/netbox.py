"""What the formats for NetBox share: the device type of each device, and the interfaces that the links of a design use.

A type is named as in NetBox's library of device types where one product plays one part; a switch that serves two networks is two types,
since its ports are split otherwise.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from itertools import chain
from math import ceil
from typing import TYPE_CHECKING

from rules.sizing.fabric.design import design_fabric
from rules.sizing.fabric.networks import COMPUTE, FRONT_END, OUT_OF_BAND
from wizard.exports.fabric import networks
from wizard.exports.parts import chosen_of

if TYPE_CHECKING:
    from catalogs.schema import Node, Product
    from rules.advisor import Considered
    from rules.sizing.fabric.links import Device, Link

GENERIC = "Generic"
SITE = "cluster"
"""The site that racks and devices are imported into."""
WORDS = {"manager": "Fabric manager", "server": "Management server", "storage": "Storage box", "power": "Power unit",
         "site": "Site network", "rack part": "Part of a rack"}  # fmt: skip
NO_UNITS = ("power", "site")
"""Kinds that take no rack units: power units stand upright beside the rails, the site's network is elsewhere."""
ASSUMED_UNITS = 1.0
"""Rack units of a device whose height the catalog does not state, the least that a device takes; its type says that it is assumed."""
INTERFACES = {
    1.0: "1000base-t", 10.0: "10gbase-t", 25.0: "25gbase-x-sfp28", 40.0: "40gbase-x-qsfpp", 100.0: "100gbase-x-qsfp28",
    200.0: "200gbase-x-qsfp56", 400.0: "400gbase-x-osfp", 800.0: "800gbase-x-osfp",
}  # fmt: skip
"""NetBox's type of an interface by Gb/s. InfiniBand ports too are named by their cage, as in the library's QM9700: the types for InfiniBand
of four lanes are newer than most installations."""
OTHER_CAGES = {(400.0, "QSFP112"): "400gbase-x-qsfp112", (400.0, "QSFP-DD"): "400gbase-x-qsfpdd", (800.0, "QSFP-DD"): "800gbase-x-qsfpdd",
               (200.0, "QSFP-DD"): "200gbase-x-qsfpdd"}  # fmt: skip


@dataclass
class DeviceType:
    """A device type: names, size, and its interfaces by name with (type, for management only)."""

    manufacturer: str
    model: str
    slug: str
    units: float
    assumed: bool
    weight_kg: float | None
    connector: str = ""
    is_node: bool = False
    interfaces: dict[str, tuple[str, bool]] = field(default_factory=dict)


def device_types(considered: Considered) -> dict[str, DeviceType]:
    """Return the device type of every device by the device's name; alike devices share one."""
    found = networks(considered)
    types: dict[str, DeviceType] = {}
    by_device: dict[str, DeviceType] = {}
    for device in chain.from_iterable(each.devices() for each in found):
        made = _type_of(device, considered)
        by_device[device.name] = types.setdefault(made.slug, made)
    node = _node_connectors(considered)
    for link in chain.from_iterable(each.links() for each in found):
        _add_interfaces(link, by_device, node)
    return by_device


def _node_connectors(considered: Considered) -> dict[str, str]:
    """Return the connector of a node's adapters by the network that they serve."""
    sized = design_fabric(chosen_of(considered), considered.context)
    return {COMPUTE: sized.adapters.connector, FRONT_END: sized.front_adapters.connector}


def _add_interfaces(link: Link, by_device: dict[str, DeviceType], node: dict[str, str]) -> None:
    for end in (link.lower, link.upper):
        made = by_device[end.device]
        if end.port not in made.interfaces:
            managed = link.network == OUT_OF_BAND and end is link.lower
            connector = node.get(link.network, "") if made.is_node else made.connector
            made.interfaces[end.port] = (_interface(link.speed_gbps, connector), managed)


def _interface(speed_gbps: float, connector: str) -> str:
    for (speed, cage), name in OTHER_CAGES.items():
        if speed == speed_gbps and connector.startswith(cage):
            return name
    return INTERFACES.get(speed_gbps, "other")


def _type_of(device: Device, considered: Considered) -> DeviceType:
    catalog = considered.context.catalog
    if device.kind == "switch" and (switch := catalog.switches.get(device.model)) is not None:
        network = slug_of(device.network)
        height = switch.height.to("U") if switch.height is not None else None
        weight = switch.weight.to("kg") if switch.weight is not None else None
        return _named(switch, f"{switch.name}, {device.network}", f"{switch.id}-{network}", height, weight, switch.connector)
    if device.kind == "node":
        return _node_type(chosen_of(considered).node)
    words = WORDS.get(device.kind, device.kind)
    units = 0.0 if device.kind in NO_UNITS else ASSUMED_UNITS
    return DeviceType(GENERIC, words, slug_of(f"generic {words}"), units, device.kind not in NO_UNITS, None)


def _node_type(node: Node) -> DeviceType:
    """Return the type of a scale-out node: a server, or a tray of a rack, whose own size is not stated."""
    if node.is_rack:
        return replace(_named(node, f"{node.name}, compute tray", f"{node.id}-tray", None, None), is_node=True)
    height = node.height.to("U") if node.height is not None else None
    weight = node.weight.to("kg") if node.weight is not None else None
    return replace(_named(node, node.name, node.id, height, weight), is_node=True)


def _named(record: Product, model: str, slug: str, height: float | None, weight_kg: float | None, connector: str = "") -> DeviceType:
    units = ASSUMED_UNITS if height is None else ceil(height * 2 - 1e-9) / 2
    weight = None if weight_kg is None else round(weight_kg, 2)
    maker = GENERIC if record.vendor.lower() in ("", GENERIC.lower()) else record.vendor
    whole = slug if slug_of(slug).startswith(slug_of(maker)) else f"{maker}-{slug}"
    return DeviceType(maker, model[:100], slug_of(whole), units, height is None, weight, connector)


def slug_of(words: str) -> str:
    """Return words as NetBox writes a slug: small letters, digits and hyphens."""
    return re.sub(r"[^a-z0-9_]+", "-", words.lower()).strip("-")[:100]
