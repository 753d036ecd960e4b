"""The four networks of a candidate: counted, cabled and powered."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil
from typing import TYPE_CHECKING

from catalogs.quantities import quantity
from catalogs.sums import plain_sum
from rules.counting import counted
from rules.sizing.fabric.adapters import Adapters, compute_adapters, front_end_adapters, gpu_direct
from rules.sizing.fabric.cabling import SWITCH_RACK_UNITS, Cabling, cable_network
from rules.sizing.fabric.compute import ComputeChoice, choose_compute, technology_name, with_spares
from rules.sizing.fabric.floor import estimated_floor
from rules.sizing.fabric.front_cabling import cable_front
from rules.sizing.fabric.front_end import FrontEnd, Management, size_front_end
from rules.sizing.fabric.networks import MANAGERS_PER_FABRIC, wire_compute, wire_front
from rules.sizing.fabric.storage_side import FILE_SERVER_HEIGHT_U
from rules.sizing.fabric.traffic import StepAtRate, Traffic, traffic_of
from rules.sizing.lookup import fact_value, threshold_number
from rules.sizing.results import FabricDesign, FabricNetwork
from rules.sizing.standing import places_words

if TYPE_CHECKING:
    from catalogs.quantities import Quantity
    from rules.candidate import Candidate, Context
    from rules.sizing.fabric.floor import Floor
    from rules.sizing.fabric.links import Wiring
    from rules.sizing.fabric.switching import Counted

FINNED = "OSFP finned twin-port"
"""Cages of air-cooled switches take modules with fins, those of nodes (DGX) the same module with a flat top [NVIDIA MMA4Z00-NS]."""
THRESHOLDS_IN_FORMULAS = {"fab-effective": "rules.sizing.fabric.design.design_fabric"}
"""Rules of thumb that sizing reads from the catalog."""
USUAL_NODES_PER_RACK = 4
"""Density that cable lengths assume until racks are planned: four servers of 8 to 10 kW, as in the SuperPOD of DGX H100."""
SWITCHES_BESIDE = 2
"""Switches of the GPUs' network that find room beside the nodes of a single rack; assumed until racks are planned."""
OUT_OF_BAND_CABLE = "generic-cat6a-10"


@dataclass(frozen=True)
class SizedFabric:
    """The design with what led to it: adapters, traffic, the choice of technology, and the rates per GPU in Gb/s.

    `offered_gbps` is a GPU's share of the node's adapters through the wired ratio, `effective_gbps` the share of it to plan with.
    `floor` is where the cables run, estimated until racks are planned.
    """

    design: FabricDesign
    adapters: Adapters
    front_adapters: Adapters
    traffic: Traffic
    step: StepAtRate
    choice: ComputeChoice
    front: FrontEnd
    gpus_per_node: int
    offered_gbps: float
    effective_gbps: float
    floor: Floor


def design_fabric(candidate: Candidate, context: Context) -> SizedFabric:
    """Design compute, storage, in-band and out-of-band networks for a candidate; a single node needs none of them.

    Raises CatalogError where a number that sizing needs is missing from the catalog.
    """
    catalog = context.catalog
    adapters = compute_adapters(candidate.node, candidate.gpu, catalog, context.answers)
    front_adapters = front_end_adapters(candidate.node, catalog)
    traffic = traffic_of(candidate)
    gpus_per_node = max(1, candidate.node.gpu_count // candidate.node.trays)
    share = adapters.offered_gbps / gpus_per_node
    delivered = threshold_number(catalog.thresholds, "fab-effective")
    step = StepAtRate(candidate, context, traffic)
    known = candidate.network if candidate.floor is not None else None  # cabled again: what is counted stays
    choice = known or choose_compute(candidate, context, adapters, step, share)
    density = candidate.placed_density or (candidate.node.trays if candidate.node.is_rack else USUAL_NODES_PER_RACK)
    racks = candidate.units if candidate.node.is_rack else ceil(candidate.nodes / density)
    built = (choice.chosen.counts.switches, choice.chosen.height_u) if choice.chosen else (0, 0.0)
    managers = MANAGERS_PER_FABRIC if choice.chosen and choice.chosen.counts.manager_links else 0
    front = size_front_end(candidate, context, *built, racks, managers)
    if known is None and front.storage is not None and not candidate.node.is_rack:  # a spare tray replaces a failed one in its rack
        choice = with_spares(choice, front.storage.spares, adapters)
    spares = front.storage.spares if front.storage else 0
    floor = candidate.floor or estimate_floor(candidate, context, choice, front, racks, density)
    compute = _compute(choice, adapters, candidate, context, floor, share, spares)
    shared = _front_end(front, front_adapters, candidate, context, floor)
    design = FabricDesign(
        compute, shared, shared, _out_of_band(front.management, floor.tanks), density, management_servers=front.servers,
        storage_gbps=front.storage_gbps, file_servers=front.file_servers,
    )  # fmt: skip
    offered = share / compute.oversubscription if compute else share
    return SizedFabric(design, adapters, front_adapters, traffic, step, choice, front, gpus_per_node, offered, offered * delivered, floor)


def estimate_floor(candidate: Candidate, context: Context, choice: ComputeChoice, front: FrontEnd, racks: int, density: int) -> Floor:
    """Return the floor before racks are planned: network racks by height in the middle, none where a single rack has room for all."""
    rack_units = int(context.answers.number("facility.rack_units") or SWITCH_RACK_UNITS)
    networks = [each for each in (choice.chosen, front.network) if each is not None]
    roles = {"management": front.servers, "file server": front.file_servers}
    for name, each in (("compute", choice.chosen), ("storage and in-band", front.network)):
        if each is not None:
            roles |= {f"{name} {tier}": getattr(each.counts, tier) for tier in ("leaf", "spine", "core") if getattr(each.counts, tier)}
    if choice.chosen is not None and choice.chosen.counts.manager_links:
        roles["compute manager"] = MANAGERS_PER_FABRIC
    if front.management is not None:
        roles["out-of-band leaf"] = front.management.switches
    closed = candidate.node.is_rack
    beside = racks <= 1 and not closed and sum(each.counts.switches for each in networks[:1]) <= SWITCHES_BESIDE
    height = plain_sum(each.height_u for each in networks) + (front.management.switches if front.management else 0) + front.servers
    height += FILE_SERVER_HEIGHT_U * front.file_servers
    return estimated_floor(racks, density, 0 if beside else max(1, ceil(height / max(1, rack_units))), roles)


def _compute(
    choice: ComputeChoice, adapters: Adapters, candidate: Candidate, context: Context, floor: Floor, share_gbps: float, spares: int
) -> FabricNetwork | None:
    counted = choice.chosen
    if counted is None:
        return None
    wiring = wire_compute(choice, adapters, candidate)
    assert wiring is not None
    cabling = cable_network(wiring, counted, adapters, context.catalog, floor, "compute")
    managers = MANAGERS_PER_FABRIC if counted.counts.manager_links else 0
    extra = managers * fact_value(context.catalog.facts, "ufm-appliance", "power").to("W") if managers else 0.0
    name = technology_name(choice.technology, counted.spec.link_speed_gbps)
    notes = (*counted.counts.notes, *_node_notes(choice, candidate, spares), *((adapters.assumed,) if adapters.assumed else ()))
    if any(FINNED in record.connector_a for item in cabling.cables if (record := context.catalog.cables.get(item)) is not None):
        notes += _flat_notes(adapters, wiring, cabling)
    return _network("compute", name, counted, cabling, share_gbps, extra, notes)


def _flat_notes(adapters: Adapters, wiring: Wiring, cabling: Cabling) -> tuple[str, ...]:
    """Return what a buyer must know of twin-port cages: a module or plug for a node is flat-topped, the same for a switch has fins."""
    if adapters.per_cage <= 1:
        return ()
    modules = cabling.modules.get("node", 0)
    plugs = wiring.spec.nodes * ceil(wiring.spec.nics_per_node / adapters.per_cage) - modules
    notes = []
    if modules:
        notes.append(f"{counted(modules, 'twin-port module')} for the nodes: order them flat-topped, those of the switches with fins")
    if plugs:
        notes.append(f"{counted(plugs, 'cable')} to the nodes' twin-port cages: order them flat-topped at the node, finned at the switch")
    return tuple(notes)


def _node_notes(choice: ComputeChoice, candidate: Candidate, spares: int) -> tuple[str, ...]:
    """Return what is to be said of spare nodes, and of GPUs whose memory adapters cannot reach."""
    notes = []
    if choice.spares_wired:
        notes.append(f"ports and cables are there for {counted(choice.spares_wired, 'spare node')}")
    elif spares and not candidate.node.is_rack:
        notes.append(f"{_unwired(choice, spares)}: a spare takes over the cables of the node that it replaces")
    if not gpu_direct(candidate.gpu):
        notes.append(f"adapters cannot reach the memory of a {candidate.gpu.name}: what is sent is copied through the host's memory")
    return tuple(notes)


def _unwired(choice: ComputeChoice, spares: int) -> str:
    """Return why spare nodes have no links of their own: no free ports, or free ports without uplinks for them at the asked ratio."""
    assert choice.chosen is not None
    counts, spec = choice.chosen.counts, choice.chosen.spec
    words = counted(spares, "spare node")
    if counts.free["leaf"] < spares * spec.nics_per_node * spec.planes:
        return f"no ports are left for {words}"
    return f"leaves have free ports, but links for {words} would take more uplinks and switches at {spec.down_to_up:g}:1"


def _front_end(front: FrontEnd, adapters: Adapters, candidate: Candidate, context: Context, floor: Floor) -> FabricNetwork | None:
    if front.network is None:
        return None
    wired = wire_front(front, candidate)
    assert wired is not None
    cabling = cable_front(wired, adapters, context.catalog, floor)
    storage = front.storage
    assert storage is not None
    boxes = f"{counted(storage.links, 'link')} for {counted(storage.boxes, 'storage box', 'storage boxes')}, " if storage.boxes else ""
    files = f" and {counted(storage.file_servers, 'file server')}" if storage.file_servers else ""
    notes = (
        "storage and in-band traffic share this network: two links per node, to two leaves",
        f"{boxes}two links for each of {counted(front.servers, 'management server')}{files}",
        *((storage.note,) if storage.note else ()),
        *((adapters.assumed,) if adapters.assumed else ()),
        *((f"its links run at {front.speed_gbps:g} Gb/s",) if front.speed_gbps < adapters.speed_gbps else ()),
    )
    made = _network("storage and in-band", f"{front.speed_gbps:g} GbE", front.network, cabling, front.speed_gbps, 0.0, notes)
    return replace(made, links={**made.links, "node_leaf": front.own_links, "management_leaf": front.uplinks})


def _network(
    role: str, technology: str, counted: Counted, cabling: Cabling, speed_gbps: float, extra_w: float, notes: tuple[str, ...]
) -> FabricNetwork:
    counts, switch, spec = counted.counts, counted.option.switch, counted.spec
    links = dict(counts.links)
    if counts.inter_switch_links:
        links["leaf_leaf"] = counts.inter_switch_links
    return FabricNetwork(
        role=role,
        technology=technology,
        layout=spec.layout,
        speed_gbps=speed_gbps,
        endpoints=counts.links["node_leaf"],
        leaf=counts.leaf,
        spine=counts.spine,
        core=counts.core,
        tiers=counts.tiers,
        planes=counts.planes,
        oversubscription=counts.oversubscription,
        links=links,
        cages=counts.cages,
        modules=cabling.modules,
        manager_links=counts.manager_links,
        switches={switch.id: counts.switches},
        cables=cabling.cables,
        longest=cabling.longest,
        media=cabling.media,
        metres=cabling.metres,
        power_typical=_power(counted, cabling, extra_w, highest=False),
        power_maximum=_power(counted, cabling, extra_w, highest=True),
        notes=notes,
    )


def _power(counted: Counted, cabling: Cabling, extra_w: float, *, highest: bool) -> Quantity | None:
    """Return switches with their modules; the printed maximum of a switch includes modules, else typical and modules are added.

    None where the catalog has no power of the switch at all.
    """
    switch = counted.option.switch
    boxes = ceil(counted.counts.switches / switch.switches_per_box)
    if highest and switch.power_maximum is not None:
        return quantity(boxes * switch.power_maximum.ends("W")[2] + extra_w, "W")
    if switch.power_typical is not None:
        watts = cabling.watts_maximum if highest else cabling.watts_typical
        return quantity(boxes * switch.power_typical.ends("W")[2 if highest else 1] + watts + extra_w, "W")
    return None


def _out_of_band(management: Management | None, tanks: int = 0) -> FabricNetwork | None:
    """Return the out-of-band network: one copper cable per managed port, every management switch among the managed."""
    if management is None:
        return None
    switch, number = management.switch, management.switches
    typical, highest = switch.power_typical or switch.power_maximum, switch.power_maximum or switch.power_typical
    return FabricNetwork(
        role="out-of-band",
        technology=f"{switch.port_speed.to('Gb/s'):g} GbE",
        layout="tree",
        speed_gbps=switch.port_speed.to("Gb/s"),
        endpoints=management.ports,
        leaf=number,
        spine=0,
        core=0,
        tiers=1,
        planes=1,
        oversubscription=1.0,
        links={"node_leaf": management.ports, "leaf_spine": 0, "spine_core": 0},
        cages={"leaf_node": management.ports},
        modules={},
        manager_links=0,
        switches={switch.id: number},
        cables={OUT_OF_BAND_CABLE: management.ports},
        power_typical=quantity(number * typical.to("W"), "W") if typical else None,
        power_maximum=quantity(number * highest.to("W"), "W") if highest else None,
        notes=(
            f"{management.uplinks} uplinks of 100G to the front-end network; the ports of every switch, storage box and server are "
            f"counted, and {sum(management.power_units)} metered power units in {places_words(len(management.power_units) - tanks, tanks)}",
        ),
    )
