"""What the storage systems of a candidate bring to the front-end network: boxes, ports and the rate that these carry.

The systems are those that the stage storage_cpu chooses; its choice rests on the plan and the needs, not on the network.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rules.sizing.reliability import spare_nodes

if TYPE_CHECKING:
    from rules.candidate import Candidate, Context
    from rules.sizing.storage_systems import StorageSystem

LINKS_PER_SERVER = 2
"""Every box of storage is tied to two leaves, like every node, so that a leaf can fail."""
FILE_SERVER_HEIGHT_U = 2.0
"""Height of a file server for home directories, whose product is open: the flash servers of the catalog are 1U and 2U; assumed."""
GIGA, BITS_PER_BYTE = 1e9, 8.0
_PORTS = re.compile(r"^(\d+) x .*?(\d{2,3})(?:G\b|\b)")
_ETHERNET = re.compile(r"GbE|ConnectX|Ethernet|Slingshot")


@dataclass(frozen=True)
class StorageSide:
    """Boxes of the shared storage: `links` of `link_gbps` each in cages `connector`, `file_servers` with two links each.

    `height_u` is 0 where not stated. `spares` are the spare nodes of the candidate. `note` says what was not stated,
    `open_product` that the system is none of the catalog.
    """

    boxes: int
    links: int
    link_gbps: float
    connector: str
    file_servers: int
    height_u: float
    spares: int
    note: str = ""
    open_product: bool = False

    @property
    def all_links(self) -> int:
        """Return the links of storage systems and file servers."""
        return self.links + LINKS_PER_SERVER * self.file_servers


def storage_side(candidate: Candidate, context: Context, node_gbps: float) -> StorageSide:
    """Return what the storage of a candidate brings, where links run at `node_gbps` Gb/s at most.

    A system whose ports are published has all of them connected. Others have two links per box, and as many more as their read rate
    needs. Several nodes keep home directories on a file server of their own; with NFS that is the same server.
    """
    from rules.stages.storage_cpu import size  # the stage that decides on storage; imported late, for stages stand above sizing

    sized = size(candidate, context)
    kind, needs, system = sized.kind, sized.needs, sized.system
    spares = spare_nodes(candidate.gpu, candidate.gpus, candidate.nodes, context.catalog)
    if system is not None:
        side = _of_system(system, node_gbps, spares)
        return side if sized.object_store in (None, system) else _with_object_store(side, sized.object_store)
    if kind in ("local", "nfs_server"):
        return StorageSide(0, 0, node_gbps, "", 1, 0.0, spares)
    if kind == "existing":
        return StorageSide(0, 0, node_gbps, "", 0, 0.0, spares, "links to the storage that is there are not counted")
    links = _links_for(max(needs.read, needs.reference_read), node_gbps, 1)
    return StorageSide(1, links, node_gbps, "", 1, 0.0, spares, "the storage product is open: links by the rate that is needed", True)


def _of_system(system: StorageSystem, node_gbps: float, spares: int) -> StorageSide:
    height = system.height_u or 0.0
    stated = _PORTS.match(system.network)
    if stated is None:
        note = f"{system.name} states no ports: {LINKS_PER_SERVER} links per unit at least, and as many as its read rate needs"
        links = _links_for(system.read or 0.0, node_gbps, system.units)
        return StorageSide(system.units, links, node_gbps, "", 1, height, spares, note)
    speed = min(node_gbps, float(stated.group(2)))
    connector = "OSFP" if "OSFP" in system.network else ""
    note = "" if _ETHERNET.search(system.network) else f"{system.name} states {system.network}: ask for the same ports as Ethernet"
    if speed < float(stated.group(2)):
        note = f"{system.name} has ports of {stated.group(2)} Gb/s, which run at the network's {speed:g} Gb/s: ask for its plugs"
    return StorageSide(system.units, system.units * int(stated.group(1)), speed, connector, 1, height, spares, note)


def _with_object_store(side: StorageSide, store: StorageSystem) -> StorageSide:
    """Return the side of a file system with the boxes and links of the object store that fills it."""
    links = _links_for(store.read or 0.0, side.link_gbps, store.units)
    height = side.height_u + (store.height_u or 0.0)
    return replace(side, boxes=side.boxes + store.units, links=side.links + links, height_u=height)


def _links_for(bytes_per_s: float, gbps: float, units: int) -> int:
    """Return links for a rate in bytes per second over links of `gbps` Gb/s, the same number for each unit and two at least."""
    each = -(-bytes_per_s * BITS_PER_BYTE / GIGA / gbps // units)
    return units * max(LINKS_PER_SERVER, int(each))
