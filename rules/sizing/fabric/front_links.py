"""The network for storage and in-band traffic, link by link: every end on two leaves, and the uplinks of management switches.

A management switch has uplinks of 100G. In cages of 100G and 200G each takes a port of its own; of a faster port four are fanned out, a
lane each, so the cages of fans come first on a leaf and no other link shares them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from math import ceil
from typing import TYPE_CHECKING, NamedTuple

from rules.sizing.fabric.cabling import PLAIN_CAGES, UPLINK_GBPS, UPLINKS_PER_PORT, fan_ports
from rules.sizing.fabric.links import NODE_LEAF, Device, End, Link, Wiring, names, node_names

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rules.sizing.fabric.front_end import FrontEnd

NETWORK, PREFIX = "storage and in-band", "front-"
UPLINK = "management_leaf"
SITE = "site"


def server_names(front: FrontEnd) -> list[str]:
    """Return the names of the management servers."""
    return names("management-server", front.servers)


def storage_names(front: FrontEnd) -> list[str]:
    """Return the names of the boxes of the shared storage."""
    return names("storage", front.storage.boxes) if front.storage else []


def file_server_names(front: FrontEnd) -> list[str]:
    """Return the names of the file servers."""
    return names("file-server", front.storage.file_servers) if front.storage else []


def management_names(front: FrontEnd) -> list[str]:
    """Return the names of the switches of the out-of-band network."""
    return names("oob", front.management.switches) if front.management else []


def groups_of(slots: range, size: int) -> range:
    """Return the groups of `size` slots each, counted from the first slot of all, that neighbouring slots lie in."""
    return range(slots.start // size, (slots.stop - 1) // size + 1) if slots else range(0)


class Region(NamedTuple):
    """The downlinks of one leaf: under the uplinks of management switches, for storage boxes, and for all other ends."""

    fans: range
    storage: range
    others: range

    def cages(self, per_cage: int) -> tuple[int, int, int]:
        """Return the cages of each use; one that two of them share counts for the first."""
        seen = 0
        counts = []
        for slots in self:
            end = groups_of(slots, per_cage).stop
            counts.append(max(0, end - max(seen, slots.start // per_cage)) if slots else 0)
            seen = max(seen, end)
        return counts[0], counts[1], counts[2]


@dataclass(frozen=True)
class FrontWiring:
    """The wiring of the front end: `nodes` nodes, then servers, storage and the site, whose ends are numbered in this order."""

    front: FrontEnd
    wiring: Wiring
    nodes: int
    node_links: int
    site_links: int

    def devices(self) -> Iterator[Device]:
        """Yield servers, storage, the site's router, then leaves and spines; nodes and management switches belong to other networks."""
        front = self.front
        for name in server_names(front):
            yield Device(name, "server", "management", NETWORK)
        for name in (*storage_names(front), *file_server_names(front)):
            yield Device(name, "storage", "storage", NETWORK)
        yield Device(SITE, SITE, SITE, NETWORK)
        yield from self.wiring.devices()

    def links(self) -> Iterator[Link]:
        """Yield the links of all ends, then the uplinks of the management switches, then those between switches."""
        return chain(self._end_links(), self._uplinks(), self.wiring.switch_links())

    # ------------------------------------------------------------------------------------------------------- ends

    def ends(self) -> Iterator[tuple[str, End, float]]:
        """Yield (kind, lower end, Gb/s) of every link to a leaf but the uplinks; neighbours go to different leaves."""
        front, storage = self.front, self.front.storage
        assert storage is not None
        per = self.node_links
        twos = ((name, "node") for name in node_names(self.nodes))
        for name, kind in chain(twos, ((name, "server") for name in server_names(front))):
            for port in range(1, per + 1):
                yield kind, End(name, f"front{port}", port, port), front.speed_gbps
        for index, name in enumerate(storage_names(front)):
            links = storage.links // storage.boxes + (index < storage.links % storage.boxes)
            for port in range(1, links + 1):
                yield "storage", End(name, f"port{port}", port, port), storage.link_gbps
        for name in file_server_names(front):
            for port in range(1, per + 1):
                yield "file server", End(name, f"front{port}", port, port), front.speed_gbps
        for port in range(1, self.site_links + 1):
            yield SITE, End(SITE, f"port{port}", port, port), front.speed_gbps

    def _end_links(self) -> Iterator[Link]:
        wiring = self.wiring
        leaves, zone = wiring.switches[0], wiring.zones()[0]
        storage, others = iter(self.storage_slots()), iter(self._other_slots())
        for kind, lower, speed in self.ends():
            leaf, slot = next(storage if kind == "storage" else others)
            yield Link(NETWORK, NODE_LEAF, 1, speed, lower, End(leaves[leaf], *zone.port(slot)), slot // zone.per_cage)

    def storage_slots(self) -> Iterator[tuple[int, int]]:
        """Yield (leaf, downlink) for the links of storage boxes: leaf after leaf in turn, so that the links of a box part."""
        regions = [list(each.storage) for each in self.regions()]
        for turn in range(max((len(each) for each in regions), default=0)):
            for leaf, slots in enumerate(regions):
                if turn < len(slots):
                    yield leaf, slots[turn]

    def _other_slots(self) -> Iterator[tuple[int, int]]:
        """Yield (leaf, downlink) for all other ends: dealt out in two halves, so that neighbours are on different leaves."""
        free = [(leaf, slot) for leaf, region in enumerate(self.regions()) for slot in region.others]
        half = ceil(len(free) / 2)
        for index in range(len(free)):
            yield free[index // 2 + (half if index % 2 else 0)]

    def regions(self) -> tuple[Region, ...]:
        """Return the downlinks of every leaf by use; each use begins a cage of its own where the leaf has ports left for that."""
        return self._regions

    @cached_property
    def _regions(self) -> tuple[Region, ...]:
        wiring, per = self.wiring, self.wiring.zones()[0].per_cage
        downs = list(chain.from_iterable([group.down] * group.switches for group in wiring.plane.leaves))
        fans = [0] * len(downs)
        for leaf, _, ports in self.uplink_places():
            fans[leaf] += ports
        if not self.plain:
            fans = [per * ceil(fan / per) for fan in fans]
        links = self.front.storage.links if self.front.storage else 0
        storage = self._dealt(links, [down - fan for down, fan in zip(downs, fans, strict=True)])
        up = wiring.zones()[1]
        room = wiring.plane.leaf_down if up.skipped else (up.first_cage - 1) * per
        found = []
        for down, fan, boxes in zip(downs, fans, storage, strict=True):
            first = per * ceil(fan / per)
            second = per * ceil((first + boxes) / per)
            if second + down - fan - boxes > room:  # no ports for cages of their own
                first, second = fan, fan + boxes
            found.append(Region(range(fan), range(first, first + boxes), range(second, second + down - fan - boxes)))
        return tuple(found)

    @staticmethod
    def _dealt(count: int, room: list[int]) -> list[int]:
        """Return how many of `count` links each leaf takes, dealt out in turn as far as there is room."""
        dealt = [0] * len(room)
        while count > 0 and any(one < most for one, most in zip(dealt, room, strict=True)):
            for leaf, most in enumerate(room):
                if count and dealt[leaf] < most:
                    dealt[leaf] += 1
                    count -= 1
        return dealt

    # ---------------------------------------------------------------------------------------------------- uplinks

    @property
    def plain(self) -> bool:
        """Return whether every uplink has a port of its own."""
        return self.fan_ports == 0 and self.front.uplinks > 0

    @cached_property
    def fan_ports(self) -> int:
        """Return the downlinks that one fan of four uplinks takes; 0 where there are no fans."""
        front = self.front
        if not front.uplinks or front.network is None or front.network.option.switch.connector.startswith(PLAIN_CAGES):
            return 0
        return fan_ports(front.speed_gbps)

    @property
    def _fans_per_side(self) -> int:
        return ceil(self.front.uplinks / 2 / UPLINKS_PER_PORT)

    def _fan_leaf(self, fan: int, side: int) -> int:
        """Return the leaf of a fan: as many neighbours as fill a cage share it, and the two sides lie on different leaves.

        A last leaf that is not full takes none where there are others.
        """
        return (2 * (fan // self._fans_per_cage) + side) % self._full_leaves

    @cached_property
    def _full_leaves(self) -> int:
        plane = self.wiring.plane
        return plane.leaf - 1 if plane.leaf > 2 and plane.leaves[-1].down < plane.leaf_down else plane.leaf

    @cached_property
    def _fans_per_cage(self) -> int:
        return max(1, self.wiring.zones()[0].per_cage // max(1, self.fan_ports))

    @property
    def uplinks_per_place(self) -> int:
        """Return how many uplinks share an optical port: four in a fan, else one."""
        return 1 if self.plain else UPLINKS_PER_PORT

    def uplink_places(self) -> Iterator[tuple[int, int, int]]:
        """Yield (leaf, first downlink, downlinks) of each fan, or of each plain uplink; sides alternate."""
        taken = [0] * self.wiring.plane.leaf
        count, ports = (self.front.uplinks // 2, 1) if self.plain else (self._fans_per_side, self.fan_ports)
        for fan in range(count if self.front.uplinks else 0):
            for side in range(2):
                leaf = self._fan_leaf(fan, side)
                yield leaf, taken[leaf], ports
                taken[leaf] += ports

    def _uplinks(self) -> Iterator[Link]:
        leaves, zone = self.wiring.switches[0], self.wiring.zones()[0]
        places = list(self.uplink_places())
        for index, name in enumerate(management_names(self.front)):
            fan, lane = divmod(index, self.uplinks_per_place)
            for side in range(2):
                leaf, slot, ports = places[2 * fan + side]
                port, number, cage, first, lanes = zone.port(slot)
                if not self.plain:
                    port, lanes = f"{port}:{lane + 1}", self._fans_per_cage * UPLINKS_PER_PORT
                    first = (first - 1) // ports * UPLINKS_PER_PORT + lane + 1
                upper = End(leaves[leaf], port, number, cage, first, lanes)
                own = self.front.management.switch.ports + side + 1 if self.front.management else side + 1
                lower = End(name, f"uplink{side + 1}", own, own)
                yield Link(NETWORK, UPLINK, 1, UPLINK_GBPS, lower, upper, slot // zone.per_cage)
