"""A fabric link by link: every cable's two ends, and every device, in one fixed order and without a list of all of them.

    counts = count_fabric(spec)
    wiring = Wiring.of("fabric", spec, counts.plane, cages)
    for device in wiring.devices(): ...
    for link in wiring.links(): ...

How links are dealt out, per plane:

- rails: adapter i of node n goes to leaf i of the node's unit, on port n mod d; with `rail_only` each rail is a mesh of its own;
- trees: adapters fill one leaf after the other; a pair of switches, and every network whose nodes want two leaves, deals them out in two
  halves (`dealt = "halves"`), so that neighbouring ends are never on one leaf;
- uplink j of a leaf goes to spine j div p (p links per pair), so every leaf stripes evenly over all spines, and spine ports follow the
  order of the leaves;
- spine j of every rail and pod goes to core group j, and each of its cores gets equally many links.

Fabric managers take the free downlinks of the last units. Downlinks count from the first cage of a switch, uplinks from the last cage
backwards, as vendors' wiring guides do it, so that a unit can grow in the middle.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from math import ceil
from typing import TYPE_CHECKING, NamedTuple, overload

from rules.sizing.fabric.counts import Cages, assumed_cages
from rules.sizing.fabric.ports import Zone, leaf_zones, whole_switch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rules.sizing.fabric.inputs import FabricInput
    from rules.sizing.fabric.wiring import Plane

NODE_LEAF, LEAF_SPINE, SPINE_CORE, LEAF_LEAF, MANAGER = "node_leaf", "leaf_spine", "spine_core", "leaf_leaf", "manager_leaf"


class End(NamedTuple):
    """One end of a link. `port` is unique on its device and reads as printed at the cage ("17/2": second link of cage 17); `number` counts
    the logical ports of a switch from 1; `lanes` is how many links the cage carries.
    """

    device: str
    port: str
    number: int
    cage: int
    lane: int = 1
    lanes: int = 1


class Link(NamedTuple):
    """One logical link: `lower` is the end nearer to the nodes. `plane` counts from 1; `group` numbers the links that share cages."""

    network: str
    tier: str
    plane: int
    speed_gbps: float
    lower: End
    upper: End
    group: int = 0

    @property
    def breakout(self) -> str:
        """Return how the upper cage is split ("2 × 400G"), "" where it carries one link."""
        return f"{self.upper.lanes} × {self.speed_gbps:g}G" if self.upper.lanes > 1 else ""


class Device(NamedTuple):
    """One device. `kind` is node, switch, manager, server, storage, power, site or rack part; `model` a product id or words.

    `tier` is node, leaf, spine, core or management; `plane`, `unit`, `rail` and `pod` count from 1 and are 0 where they mean nothing.
    """

    name: str
    kind: str
    tier: str
    network: str
    model: str = ""
    plane: int = 0
    unit: int = 0
    rail: int = 0
    pod: int = 0


def names(prefix: str, count: int) -> list[str]:
    """Return `count` names with numbers of equal width ("leaf-01" … "leaf-64"), so that they sort as they count."""
    width = max(2, len(str(count)))
    return [f"{prefix}-{number:0{width}d}" for number in range(1, count + 1)]


class node_names(Sequence[str]):  # noqa: N801 - it reads as the list that it stands for
    """The names of scale-out nodes, "node-0001" and so on, each made when it is asked for: millions are never held."""

    def __init__(self, count: int) -> None:
        self._count, self._width = count, max(4, len(str(count)))

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        """Return the name of the node at `index`, from 0; raises IndexError past the last."""
        if isinstance(index, slice):
            return [self[each] for each in range(*index.indices(self._count))]
        if not -self._count <= index < self._count:
            raise IndexError(index)
        return f"node-{index % self._count + 1:0{self._width}d}"


def adapter_ends(count: int, nics: int, planes: int, per_cage: int) -> Callable[[int, int], End]:
    """Return a function from (adapter's index over all nodes, plane) to its end; `per_cage` adapters of a node share a cage.

    With one plane a port is called by its adapter ("nic3"), else also by its plane ("nic3/p2").
    """
    lanes, devices = per_cage * planes, node_names(count)

    def end(index: int, plane: int) -> End:
        node, nic = divmod(index, nics)
        cage, place = divmod(nic, per_cage)
        port = f"nic{nic + 1}" if planes == 1 else f"nic{nic + 1}/p{plane + 1}"
        return End(devices[node], port, nic * planes + plane + 1, cage + 1, place * planes + plane + 1, lanes)

    return end


@dataclass(frozen=True)
class Wiring:
    """One switched network, ready to be told link by link.

    `end_of` gives the lower end of an endpoint by (index, plane). `managers` are the names of fabric managers, `model` the product of the
    switches, `total_cages` how many cages one of them has, `shift` by how much the indexes of endpoints are dealt out in halves.
    """

    network: str
    spec: FabricInput
    plane: Plane
    cages: Cages
    end_of: Callable[[int, int], End]
    model: str = ""
    node_model: str = ""
    node_count: int = 0
    managers: tuple[str, ...] = ()
    halves: bool = False
    prefix: str = ""

    @classmethod
    def of(
        cls,
        network: str,
        spec: FabricInput,
        plane: Plane,
        cages: Cages | None = None,
        *,
        end_of: Callable[[int, int], End] | None = None,
        model: str = "",
        node_model: str = "",
        managers: tuple[str, ...] | None = None,
        halves: bool = False,
        prefix: str = "",
    ) -> Wiring:
        """Return the wiring of a counted fabric; without `end_of` its endpoints are the adapters of nodes.

        Two managers share the links that `spec` sets aside for them, unless `managers` names others.
        """
        holes = cages or assumed_cages(spec)
        if managers is None:
            managers = tuple(names(f"{prefix}manager", min(2, spec.manager_ports))) if spec.manager_ports else ()
        own = end_of or adapter_ends(spec.nodes, spec.nics_per_node, spec.planes, holes.nics_per_node_cage)
        nodes = 0 if end_of else spec.nodes
        return cls(network, spec, plane, holes, own, model, node_model, nodes, managers, halves or spec.layout == "pair", prefix)

    @cached_property
    def switches(self) -> tuple[tuple[str, ...], ...]:
        """Return names by plane and tier: leaves, spines and cores of plane 1, then those of plane 2 and so on."""
        plane, planes = self.plane, self.spec.planes
        return tuple(
            tuple(names(f"{self.prefix}p{number + 1}-{tier}" if planes > 1 else f"{self.prefix}{tier}", count))
            for number in range(planes)
            for tier, count in (("leaf", plane.leaf), ("spine", plane.spine), ("core", plane.core))
        )

    # ------------------------------------------------------------------------------------------------------ shape

    @property
    def is_rail(self) -> bool:
        """Return whether every adapter of a node has a leaf of its own."""
        return self.spec.layout in ("rail", "rail_only") and self.spec.nics_per_node > 1

    @property
    def rails(self) -> int:
        """Return the leaves of a unit: one per adapter of a node, or one."""
        return self.spec.nics_per_node if self.is_rail else 1

    @property
    def meshes(self) -> int:
        """Return how many fabrics without a link between them a plane consists of: one per rail where rails meet inside nodes only."""
        return self.rails if self.spec.layout == "rail_only" else 1

    @property
    def endpoints(self) -> int:
        """Return the adapters of all nodes."""
        return self.spec.nodes * self.spec.nics_per_node

    @property
    def pod_units(self) -> int:
        """Return the units of a full pod; all of them where there are no pods."""
        if self.plane.tiers < 3:
            return max(1, self.plane.units)
        return self.plane.pod_spines * (self.spec.spine_ports // 2) // self.plane.leaf_up

    def zones(self) -> tuple[Zone, Zone]:
        """Return the cages of a leaf's downlinks and of its uplinks."""
        return self._zones

    @cached_property
    def _zones(self) -> tuple[Zone, Zone]:
        return leaf_zones(self.spec, self.plane, self.cages)

    # ---------------------------------------------------------------------------------------------------- devices

    def devices(self) -> Iterator[Device]:
        """Yield nodes (where the network has its own), fabric managers, then the switches by plane and tier."""
        if self.node_count:
            for index, name in enumerate(node_names(self.node_count)):
                unit = self.unit_of_node(index) + 1
                yield Device(name, "node", "node", "", self.node_model, 0, unit, 0, (unit - 1) // self.pod_units + 1)
        for name in self.managers:
            yield Device(name, "manager", "management", self.network)
        for number in range(self.spec.planes):
            leaves, spines, cores = self.switches[3 * number : 3 * number + 3]
            for index, name in enumerate(leaves):
                unit, rail = divmod(index, self.rails)
                pod = unit // self.pod_units + 1
                yield Device(name, "switch", "leaf", self.network, self.model, number + 1, unit + 1, rail + 1 if self.is_rail else 0, pod)
            for index, name in enumerate(spines):
                pod, rail = self._place_of_spine(index)
                yield Device(name, "switch", "spine", self.network, self.model, number + 1, 0, rail, pod)
            for name in cores:
                yield Device(name, "switch", "core", self.network, self.model, number + 1)

    def unit_of_node(self, node: int) -> int:
        """Return the unit of a node by its index, both from 0."""
        if self.is_rail:
            return node // self.plane.unit_ends
        return node * self.spec.nics_per_node // self.plane.unit_ends if self.plane.tiers > 1 else 0

    def _place_of_spine(self, index: int) -> tuple[int, int]:
        """Return (pod, rail) of a spine, each from 1, 0 where it serves all."""
        if self.plane.tiers < 3:
            return 0, index * self.rails // self.plane.spine + 1 if self.meshes > 1 else 0
        if self.meshes > 1:
            mesh, rest = divmod(index, self.plane.spine // self.meshes)
            return rest // self.plane.pod_spines + 1, mesh + 1
        pod, rail = divmod(index // self.plane.pod_spines, self.rails)
        return pod + 1, rail + 1 if self.is_rail else 0

    # ------------------------------------------------------------------------------------------------------ links

    def links(self) -> Iterator[Link]:
        """Yield every link: nodes, managers, leaf to leaf, leaf to spine, spine to core; plane by plane within each."""
        planes = range(self.spec.planes)
        return chain(chain.from_iterable(self.node_links(each) for each in planes), self._manager_links(), self.switch_links())

    def switch_links(self) -> Iterator[Link]:
        """Yield the links between switches."""
        planes = range(self.spec.planes)
        return chain(
            chain.from_iterable(self._pair_links(each) for each in planes),
            chain.from_iterable(self._leaf_spine(each) for each in planes),
            chain.from_iterable(self._spine_core(each) for each in planes),
        )

    def leaf_port_of(self, index: int) -> tuple[int, int]:
        """Return (leaf, downlink) of an endpoint by its index, both from 0."""
        if self.is_rail:
            node, nic = divmod(index, self.rails)
            unit, slot = divmod(node, self.plane.unit_ends)
            return unit * self.rails + nic, slot
        place = index
        if self.halves:
            first = ceil(self.endpoints / 2)
            place = index // 2 + (first if index % 2 else 0)
        if self.spec.layout == "pair":
            return (0, place) if place < self.plane.leaves[0].down else (1, place - self.plane.leaves[0].down)
        if self.plane.leaf == 1:
            return 0, place
        return divmod(place, self.plane.unit_ends)

    def node_links(self, number: int) -> Iterator[Link]:
        """Yield the links of one plane between endpoints and leaves."""
        leaves, (down, _) = self.switches[3 * number], self.zones()
        speed, per, network, plane = self.spec.link_speed_gbps, down.per_cage, self.network, number + 1
        end_of, place = self.end_of, self.leaf_port_of
        ends = [down.port(slot) for slot in range(down.ports)]
        for index in range(self.endpoints):
            leaf, slot = place(index)
            upper = End(leaves[leaf], *ends[slot])
            yield Link(network, NODE_LEAF, plane, speed, end_of(index, number), upper, slot // per)

    def manager_ports(self) -> Iterator[tuple[int, int, int, int]]:
        """Yield (manager, plane, leaf, downlink) of each manager link, from 0: dealt out over planes and managers."""
        planes = self.spec.planes
        free = [self._free_downlinks() for _ in range(planes)]
        for index in range(self.spec.manager_ports if self.managers else 0):
            yield index % len(self.managers), index % planes, *next(free[index % planes])

    def _manager_links(self) -> Iterator[Link]:
        down = self.zones()[0]
        for index, (manager, number, leaf, slot) in enumerate(self.manager_ports()):
            port = index // len(self.managers) + 1
            lower = End(self.managers[manager], f"port{port}", port, port)
            upper = End(self.switches[3 * number][leaf], *down.port(slot))
            yield Link(self.network, MANAGER, number + 1, self.spec.link_speed_gbps, lower, upper, slot // down.per_cage)

    def _free_downlinks(self) -> Iterator[tuple[int, int]]:
        """Yield (leaf, downlink) that no endpoint uses, from the last unit on, one leaf of the unit after the other."""
        used = list(chain.from_iterable([group.down] * group.switches for group in self.plane.leaves))
        size = self.plane.leaf_down
        for unit in reversed(range(len(used) // self.rails)):
            leaves = range(unit * self.rails, (unit + 1) * self.rails)
            for slot in range(min(used[leaf] for leaf in leaves), size):
                for leaf in leaves:
                    if slot >= used[leaf]:
                        yield leaf, slot

    def _pair_links(self, number: int) -> Iterator[Link]:
        if not self.plane.inter_switch:
            return
        up, (first, second) = self.zones()[1], self.switches[3 * number]
        for index in range(self.plane.inter_switch):
            port = up.port(index)
            yield Link(self.network, LEAF_LEAF, number + 1, self.spec.uplink_speed_gbps, End(first, *port), End(second, *port))

    def _leaf_spine(self, number: int) -> Iterator[Link]:
        plane, spec = self.plane, self.spec
        if not plane.spines:
            return
        leaves, spines = self.switches[3 * number], self.switches[3 * number + 1]
        zone, upper = self.zones()[1], whole_switch(spec, self.cages)
        low, high = ([each.port(port) for port in range(each.ports)] for each in (zone, upper))
        pair, rails, meshes = plane.leaf_spine_pair, self.rails, self.meshes
        inner, mesh_spines, pod_units = rails // meshes, plane.spine // meshes, self.pod_units
        own = plane.pod_spines if plane.tiers == 3 else mesh_spines
        for leaf, name in enumerate(leaves):
            unit, rail = divmod(leaf, rails)
            mesh, local = (rail, 0) if meshes > 1 else (0, rail)
            first, row = mesh * mesh_spines, unit * inner + local
            if plane.tiers == 3:
                pod, row = divmod(unit, pod_units)
                first += (pod * inner + local) * own
            for port in range(plane.leaf_up):
                spine, link = divmod(port, pair)
                ends = End(name, *low[port]), End(spines[first + spine], *high[row * pair + link])
                yield Link(self.network, LEAF_SPINE, number + 1, spec.uplink_speed_gbps, *ends)

    def _spine_core(self, number: int) -> Iterator[Link]:
        plane, spec = self.plane, self.spec
        if not plane.cores:
            return
        spines, cores = self.switches[3 * number + 1], self.switches[3 * number + 2]
        switch = whole_switch(spec, self.cages)
        ports = [switch.port(port) for port in range(switch.ports)]
        half, links = spec.spine_ports // 2, plane.spine_core_pair
        per_group, mesh_spines, mesh_cores = half // links, plane.spine // self.meshes, plane.core // self.meshes
        for spine, name in enumerate(spines):
            mesh, local = divmod(spine, mesh_spines)
            row, group = divmod(local, plane.pod_spines)
            first = mesh * mesh_cores + group * per_group
            for port in range(half):
                core, link = divmod(port, links)
                ends = End(name, *ports[-half + port]), End(cores[first + core], *ports[row * links + link])
                yield Link(self.network, SPINE_CORE, number + 1, spec.uplink_speed_gbps, *ends)
