"""The out-of-band network link by link: a copper cable from every managed port to a management switch, rack by rack.

The ports of management switches themselves are managed too, each by another switch where there are several.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from rules.sizing.fabric.front_end import DPU, RACK_EXTRA_PORTS
from rules.sizing.fabric.front_links import file_server_names, management_names, server_names, storage_names
from rules.sizing.fabric.links import Device, End, Link, names, node_names

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rules.candidate import Candidate
    from rules.sizing.fabric.design import SizedFabric
    from rules.sizing.fabric.floor import Floor
    from rules.sizing.fabric.front_end import FrontEnd, Management
    from rules.sizing.fabric.links import Wiring

NETWORK, MANAGED = "out-of-band", "managed"
SWITCH_TRAYS = 9
"""Switch trays of a pre-integrated rack; the rest of its further ports are power shelves [NVIDIA GB300 NVL72 components]."""


@dataclass(frozen=True)
class ManagementWiring:
    """What is managed: `nodes` in racks of `density`, `dpus` with a controller of their own in each, `trays` nodes in a pre-integrated rack
    (0 for servers), and the names of switches and fabric managers of other networks. In a hall whose management switches stand near what
    they manage, `places` says where everything else stands; its ports are then taken in the order of the hall.
    """

    front: FrontEnd
    management: Management
    nodes: int
    density: int
    dpus: int
    trays: int
    switches: tuple[str, ...]
    places: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, sized: SizedFabric, candidate: Candidate, nodes: int) -> ManagementWiring:
        """Return the wiring of a sized design; raises ValueError where it has no such network."""
        from rules.sizing.fabric.networks import wire_compute, wire_front

        front, adapters = sized.front, sized.front_adapters
        if front.management is None:
            raise ValueError("a single node has no out-of-band network")
        compute, front_end = wire_compute(sized.choice, sized.adapters, candidate), wire_front(front, candidate)
        wired = [each for each in (compute, front_end.wiring if front_end else None) if each]
        switches = [name for each in wired for name in (*each.managers, *(name for tier in each.switches for name in tier))]
        dpus = adapters.count if DPU in adapters.name else 0
        trays = candidate.node.trays if candidate.node.is_rack else 0
        density = trays or sized.design.nodes_per_rack
        made = cls(front, front.management, nodes, density, dpus, trays, tuple(switches))
        if not sized.floor.near:
            return made
        known = [("compute", compute), ("storage and in-band", front_end.wiring if front_end else None)]
        return replace(made, places=dict(made._stands(sized.floor, [(role, wiring) for role, wiring in known if wiring])))

    def _stands(self, floor: Floor, wired: list[tuple[str, Wiring]]) -> Iterator[tuple[str, int]]:
        """Yield (device, place) of everything that is managed."""
        yield from ((name, floor.node_place(node)) for node, name in enumerate(node_names(self.nodes)))
        numbered = [("management", server_names(self.front)), ("storage", storage_names(self.front))]
        numbered += [("out-of-band leaf", management_names(self.front)), ("file server", file_server_names(self.front))]
        for role, wiring in wired:
            numbered.append((f"{role} manager", list(wiring.managers)))
            for index, tier in enumerate(("leaf", "spine", "core")):
                numbered.append((f"{role} {tier}", [name for plane in wiring.switches[index::3] for name in plane]))
        for role, devices in numbered:
            yield from ((name, floor.place(role, number)) for number, name in enumerate(devices, start=1))
        places = [*(floor.rack_place(rack) for rack in range(floor.racks)), *floor.other_places]
        for rack, place in zip(range(len(self.management.power_units)), places, strict=False):
            parts = self._parts(rack) if self.trays and rack < self.node_racks else ()
            yield from ((name, place) for name in (*parts, *self._power_units(rack)))

    def devices(self) -> Iterator[Device]:
        """Yield the management switches, the power units, and the parts of pre-integrated racks."""
        for name in management_names(self.front):
            yield Device(name, "switch", "leaf", NETWORK, self.management.switch.id)
        for name, kind in self._racks():
            yield Device(name, kind, kind, NETWORK)

    def links(self) -> Iterator[Link]:
        """Yield a link for every managed port, filling the management switches one after the other."""
        switches, per = management_names(self.front), self.management.switch.ports
        speed = self.management.switch.port_speed.to("Gb/s")
        for index, (device, port, number) in enumerate(self._near() if self.places else self._ports()):
            switch, place = divmod(index, per)
            upper = End(switches[switch], str(place + 1), place + 1, place + 1)
            yield Link(NETWORK, MANAGED, 1, speed, End(device, port, number, number), upper)

    # ------------------------------------------------------------------------------------------------------ ports

    def _near(self) -> list[tuple[str, str, int]]:
        """Return what is managed in the order of the hall; no switch manages itself."""
        ports = sorted(self._ports(), key=lambda each: self.places.get(each[0], 0))
        per, own_names = self.management.switch.ports, management_names(self.front)
        at = {device: index for index, (device, _, _) in enumerate(ports)}
        for number, name in enumerate(own_names):
            own = at[name]
            if own // per == number:
                other = own + per if own + per < len(ports) else own - per
                ports[own], ports[other] = ports[other], ports[own]
                at[ports[own][0]], at[ports[other][0]] = own, other
        return ports

    def _ports(self) -> Iterator[tuple[str, str, int]]:
        """Yield (device, port, number) of what is managed: the last switch first, racks with nodes, everything else, the other switches."""
        own, base = management_names(self.front), 2001
        if len(own) > 1:
            yield own[-1], "mgmt", base
        front = self.front
        yield from self._node_racks()
        yield from ((name, "mgmt", base) for name in (*self.switches, *server_names(front), *storage_names(front)))
        yield from ((name, "mgmt", base) for name in file_server_names(front))
        for rack in range(self.node_racks, len(self.management.power_units)):
            yield from ((name, "mgmt", base) for name in self._power_units(rack))
        yield from ((name, "mgmt", base) for name in (own[:-1] if len(own) > 1 else own))

    @property
    def node_racks(self) -> int:
        """Return the racks that nodes stand in."""
        return min(len(self.management.power_units), -(-self.nodes // self.density))

    def _node_racks(self) -> Iterator[tuple[str, str, int]]:
        devices = node_names(self.nodes)
        for rack in range(-(-self.nodes // self.density)):
            for node in devices[rack * self.density : (rack + 1) * self.density]:
                yield node, "bmc", 2001
                yield node, "host", 2002
                for dpu in range(self.dpus):
                    yield node, f"dpu{dpu + 1}-bmc", 2003 + dpu
            parts = self._parts(rack) if self.trays else ()
            powered = self._power_units(rack) if rack < self.node_racks else ()
            yield from ((name, "mgmt", 2001) for name in (*parts, *powered))

    def _racks(self) -> Iterator[tuple[str, str]]:
        for rack in range(len(self.management.power_units)):
            if self.trays and rack < self.node_racks:
                yield from ((name, "rack part") for name in self._parts(rack))
            yield from ((name, "power") for name in self._power_units(rack))

    def _power_units(self, rack: int) -> list[str]:
        return names(f"{rack_name(rack, len(self.management.power_units))}-pdu", self.management.power_units[rack])

    def _parts(self, rack: int) -> tuple[str, ...]:
        name = rack_name(rack, len(self.management.power_units))
        return (*names(f"{name}-nvswitch", SWITCH_TRAYS), *names(f"{name}-power-shelf", RACK_EXTRA_PORTS - SWITCH_TRAYS))


def rack_name(rack: int, racks: int) -> str:
    """Return the name of the rack with index `rack`: those with nodes first, then those of network and storage."""
    return f"rack-{rack + 1:0{max(2, len(str(racks)))}d}"
