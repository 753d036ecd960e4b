"""The networks beside the GPUs' own: storage and in-band traffic over one Ethernet, and the out-of-band network that manages everything.

Storage and in-band traffic share one network, as in NVIDIA's GB200 and B300 designs: two links per node, to two leaves.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

from rules.remembered import remembered
from rules.sizing.fabric.adapters import front_end_adapters
from rules.sizing.fabric.cabling import SWITCH_RACK_UNITS, management_ports
from rules.sizing.fabric.inputs import FabricInput
from rules.sizing.fabric.storage_side import StorageSide, storage_side
from rules.sizing.fabric.switching import Counted, SwitchOption, count_with, switch_options
from rules.sizing.lookup import fact_value

if TYPE_CHECKING:
    from catalogs.schema import Switch
    from rules.candidate import Candidate, Context
    from rules.sizing.fabric.adapters import Adapters

FRONT_END_RATIO = 5.0 / 3.0
"""Downlink to uplink bandwidth on the nodes' side of NVIDIA's GB200 storage and in-band network [DGX SuperPOD GB200 RA]."""
LINKS_PER_NODE = 2
"""Each node is tied to two leaves, so that a leaf can fail."""
LEAST_SPINES = 2
"""Spines above the leaves of the front end, as leaves: one may fail and nodes still reach their storage [DGX SuperPOD B200 RA: the in-band
network has two spines above two leaves]."""
SITE_UPLINKS = 2
"""Links to the site's own network."""
UPLINKS_PER_MANAGEMENT_SWITCH = 2
"""Links of 100G of a management switch to the front-end network, to two leaves."""
NODE_MANAGEMENT_PORTS = 2
"""Ports of a node on the out-of-band network: its management controller and the host; each DPU adds the port of its own controller.
With switches and power units this gives NVIDIA's printed totals: 333 cables for 127 DGX H100, 16 switches of 48 for 127 DGX B200."""
POWER_UNITS_PER_RACK = 3
"""Metered power units per rack until racks and feeds are planned: 108 in 38 racks of four H100 units [DGX SuperPOD H100 RA, appendix A]."""
RACK_EXTRA_PORTS = 17
"""Further out-of-band ports of a pre-integrated rack: nine switch trays and eight power shelves [NVIDIA GB300 NVL72 components]."""
SMALL_NODES, SMALL_SPEED_GBPS = 8, 100.0
"""Up to eight nodes NVIDIA's BasePOD runs storage and in-band traffic over a pair of 64 × 100G switches [DGX BasePOD RA-11127-001]."""
DPU = "BlueField"
SMALL_CLUSTER_NODES = 4
"""Up to here one management server is enough; NVIDIA's BasePOD starts at four nodes with its full set."""


@dataclass(frozen=True)
class Management:
    """The out-of-band network: managed ports, switches of one product, and their uplinks; `power_units` by rack."""

    switch: Switch
    ports: int
    switches: int
    power_units: tuple[int, ...] = ()

    @property
    def uplinks(self) -> int:
        """Return the links of the management switches to the front-end network."""
        return self.switches * UPLINKS_PER_MANAGEMENT_SWITCH


@dataclass(frozen=True)
class FrontEnd:
    """Both networks together: `endpoints` are the used ports of `speed_gbps`, of which `own_links` have one link each (the others fan out
    to management switches), `servers` the management servers, `storage` what the storage brings.
    """

    network: Counted | None
    management: Management | None
    storage: StorageSide | None
    servers: int
    endpoints: int
    speed_gbps: float = 0.0
    own_links: int = 0

    @property
    def uplinks(self) -> int:
        """Return the uplinks of the management switches."""
        return self.management.uplinks if self.management else 0

    @property
    def file_servers(self) -> int:
        """Return the file servers for home directories."""
        return self.storage.file_servers if self.storage else 0

    @property
    def storage_gbps(self) -> float:
        """Return what the links of the storage systems carry together in Gb/s, 0 where there are none."""
        return self.storage.links * self.storage.link_gbps if self.storage else 0.0


@remembered
def size_front_end(
    candidate: Candidate,
    context: Context,
    compute_switches: int,
    compute_height_u: float,
    racks: int,
    managers: int = 0,
) -> FrontEnd:
    """Size both networks; each contains the other's switches, so they are sized in turn until nothing changes.

    `racks` are those of the nodes; `compute_switches` of `compute_height_u` rack units and the storage stand in further ones, until the
    racks are planned. `managers` are fabric managers.
    """
    if candidate.nodes <= 1:
        return FrontEnd(None, None, None, 0, 0)
    adapters = front_end_adapters(candidate.node, context.catalog)
    speed = min(adapters.speed_gbps, SMALL_SPEED_GBPS) if candidate.nodes <= SMALL_NODES else adapters.speed_gbps
    storage = storage_side(candidate, context, speed)
    basepod = int(fact_value(context.catalog.facts, "management-nodes", "basepod").to(""))
    servers = 1 if candidate.nodes <= SMALL_CLUSTER_NODES else basepod
    options = switch_options(context.catalog, context.answers, "ethernet", speed)
    nodes = candidate.nodes if candidate.node.is_rack else candidate.nodes + storage.spares
    fixed = LINKS_PER_NODE * (nodes + servers) + storage.all_links + SITE_UPLINKS
    rack_units = context.answers.number("facility.rack_units") or SWITCH_RACK_UNITS
    switch = management_switch(context)
    network, management, endpoints = _network(options, fixed, speed), None, fixed
    for _ in range(4):
        other = compute_switches + (network.counts.switches if network else 0)
        height = compute_height_u + storage.height_u + (network.height_u if network else 0.0)
        devices = other + servers + managers + storage.boxes + storage.file_servers
        planned = candidate.floor.power_units if candidate.floor else None
        metered = planned if planned is not None else (POWER_UNITS_PER_RACK,) * (racks + ceil(height / rack_units))
        management = _management(candidate, adapters, switch, nodes, devices, metered) if switch else None
        connector = network.option.switch.connector if network else ""
        per_cage = network.option.cages(network.spec).leaf_down if network else 1
        wanted = fixed + management_ports(management.uplinks if management else 0, speed, connector, per_cage)
        if wanted == endpoints:
            break
        endpoints, network = wanted, _network(options, wanted, speed)
    return FrontEnd(network, management, storage, servers, endpoints, speed, fixed)


def _network(options: tuple[SwitchOption, ...], endpoints: int, speed_gbps: float) -> Counted | None:
    """Return the network for so many links: a pair of switches where one is enough, for two leaves are always wanted."""
    best: Counted | None = None
    for option in options:
        for layout in ("pair", "tree"):
            speeds = (speed_gbps, option.ports, option.port_gbps, option.uplink_gbps)
            spec = FabricInput(endpoints, 1, *speeds, layout, 1, FRONT_END_RATIO, wired_for="nodes", least_spines=LEAST_SPINES)
            made = count_with([option], spec)
            if made is None or made.counts.leaf < 2:
                continue
            if best is None or made.rank < best.rank:
                best = made
    return best


def management_switch(context: Context) -> Switch | None:
    """Return the management switch of the catalog: for sale before planning classes, then by id."""
    kinds = [each for each in context.catalog.switches if each.role == "management"]
    return min(kinds, key=lambda each: (each.status != "available", each.id), default=None)


def _management(candidate: Candidate, adapters: Adapters, switch: Switch, nodes: int, devices: int, metered: tuple[int, ...]) -> Management:
    """Count the managed ports, those of the management switches among them.

    `nodes` include spares; `devices` are switches, management servers and boxes of storage, with one port each;
    `metered` power units by rack.
    """
    dpus = adapters.count if DPU in adapters.name else 0
    ports = nodes * (NODE_MANAGEMENT_PORTS + dpus) + devices + sum(metered)
    ports += candidate.units * RACK_EXTRA_PORTS if candidate.node.is_rack else 0
    needed = ceil(ports / switch.ports)
    while ports + needed > needed * switch.ports:
        needed += 1
    return Management(switch, ports + needed, needed, metered)
