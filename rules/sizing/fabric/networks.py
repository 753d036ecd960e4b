"""The networks of a designed cluster link by link: compute, storage with in-band, out-of-band.

    for network in networks_of(candidate, context):
        for device in network.devices(): ...
        for link in network.links(): ...

Every device is told once over all networks, by the first network that has it: nodes by the compute network, or by the front end where
there is none. Storage and in-band traffic share a network, so `roles` names both.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING

from rules.sizing.fabric.front_end import LINKS_PER_NODE, SITE_UPLINKS
from rules.sizing.fabric.front_links import FrontWiring
from rules.sizing.fabric.links import Device, End, Wiring, adapter_ends, names, node_names
from rules.sizing.fabric.management import ManagementWiring

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rules.candidate import Candidate, Context
    from rules.sizing.fabric.adapters import Adapters
    from rules.sizing.fabric.compute import ComputeChoice
    from rules.sizing.fabric.design import SizedFabric
    from rules.sizing.fabric.front_end import FrontEnd
    from rules.sizing.fabric.links import Link

MANAGERS_PER_FABRIC = 2
"""Fabric-manager appliances of a compute network, one active and one standby [DGX SuperPOD H100 RA]."""
COMPUTE, FRONT_END, OUT_OF_BAND = "compute", "storage and in-band", "out-of-band"


@dataclass(frozen=True)
class Network:
    """One network: what it is called and used for, whether its links are routed (Ethernet with addresses), and its wiring."""

    name: str
    roles: tuple[str, ...]
    technology: str
    protocol: str
    wiring: Wiring | FrontWiring | ManagementWiring
    nodes: tuple[Device, ...] = ()

    def devices(self) -> Iterator[Device]:
        """Yield the devices that this network is the first to have."""
        return chain(self.nodes, self.wiring.devices())

    def links(self) -> Iterator[Link]:
        """Yield every link."""
        return self.wiring.links()


def networks_of(candidate: Candidate, context: Context, sized: SizedFabric | None = None) -> tuple[Network, ...]:
    """Return the networks of a candidate, none for a single node; the same ones that its design counts.

    `sized` saves the sizing where the caller has it already.
    """
    from rules.sizing.fabric.compute import technology_name
    from rules.sizing.fabric.design import design_fabric

    sized = sized or design_fabric(candidate, context)
    nodes = wired_nodes(candidate, sized.front)
    placed = tuple(
        Device(name, "node", "node", "", candidate.node.id, 0, unit, 0, pod)
        for name, (unit, pod) in zip(node_names(nodes), _units(sized, nodes), strict=True)
    )
    found: list[Network] = []
    compute = wire_compute(sized.choice, sized.adapters, candidate)
    if compute is not None and sized.choice.chosen is not None:
        name = technology_name(sized.choice.technology, sized.choice.chosen.spec.link_speed_gbps)
        found.append(Network(COMPUTE, (COMPUTE,), name, sized.choice.technology, compute))
    front = wire_front(sized.front, candidate)
    if front is not None:
        found.append(Network(FRONT_END, ("storage", "in-band"), f"{sized.front.speed_gbps:g} GbE", "ethernet", front))
    if sized.front.management is not None:
        management = ManagementWiring.of(sized, candidate, nodes)
        found.append(Network(OUT_OF_BAND, (OUT_OF_BAND,), "1 GbE", "ethernet", management))
    return (replace(found[0], nodes=placed), *found[1:]) if found else ()


def wired_nodes(candidate: Candidate, front: FrontEnd) -> int:
    """Return the scale-out nodes with their spares; a spare tray of a pre-integrated rack takes the place of a failed one."""
    return candidate.nodes + (front.storage.spares if front.storage and not candidate.node.is_rack else 0)


def _units(sized: SizedFabric, nodes: int) -> Iterator[tuple[int, int]]:
    """Yield (unit, pod) of every node, zeros for nodes beyond those that the compute network has ports for."""
    chosen = sized.choice.chosen
    wired = 0
    if chosen is not None:
        wiring = Wiring.of(COMPUTE, chosen.spec, chosen.counts.plane, chosen.option.cages(chosen.spec))
        wired = chosen.spec.nodes
        for node in range(wired):
            unit = wiring.unit_of_node(node)
            yield unit + 1, unit // wiring.pod_units + 1
    for _ in range(nodes - wired):
        yield 0, 0


def wire_compute(choice: ComputeChoice, adapters: Adapters, candidate: Candidate) -> Wiring | None:
    """Return the wiring among GPUs, None where there is no such network."""
    chosen = choice.chosen
    if chosen is None:
        return None
    managers = tuple(names("compute-manager", MANAGERS_PER_FABRIC)) if chosen.counts.manager_links else ()
    ends = adapter_ends(chosen.spec.nodes, adapters.count, chosen.spec.planes, adapters.per_cage)
    return Wiring.of(
        COMPUTE, chosen.spec, chosen.counts.plane, chosen.option.cages(chosen.spec, adapters.per_cage), end_of=ends,
        model=chosen.option.switch.id, node_model=candidate.node.id, managers=managers, prefix="compute-",
    )  # fmt: skip


def wire_front(front: FrontEnd, candidate: Candidate) -> FrontWiring | None:
    """Return the wiring for storage and in-band traffic, None for a single node."""
    network = front.network
    if network is None:
        return None
    wiring = Wiring.of(
        FRONT_END, network.spec, network.counts.plane, network.option.cages(network.spec), end_of=_no_end,
        model=network.option.switch.id, managers=(), prefix="front-",
    )  # fmt: skip
    return FrontWiring(front, wiring, wired_nodes(candidate, front), LINKS_PER_NODE, SITE_UPLINKS)


def _no_end(index: int, plane: int) -> End:
    raise NotImplementedError(f"the front end names its own ends, not {index} of plane {plane}")
