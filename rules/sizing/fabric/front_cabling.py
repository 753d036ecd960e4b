"""Cables and transceivers of the network for storage and in-band traffic: one medium for each kind of end, that of the longest run."""

from __future__ import annotations

from dataclasses import replace
from math import ceil
from typing import TYPE_CHECKING

from rules.sizing.fabric import optics
from rules.sizing.fabric.cabling import (
    PLAIN_CAGES,
    UPLINK_FAMILY,
    UPLINK_GBPS,
    UPLINKS_PER_PORT,
    Cabling,
    Tally,
    cable_switches,
    sides_of,
)
from rules.sizing.fabric.floor import longest_run
from rules.sizing.fabric.front_links import NETWORK, groups_of
from rules.sizing.fabric.media import Medium, Side, choose_medium, family_of
from rules.sizing.fabric.runs import Runs

if TYPE_CHECKING:
    from catalogs import Catalog
    from rules.sizing.fabric.adapters import Adapters
    from rules.sizing.fabric.floor import Floor
    from rules.sizing.fabric.front_links import FrontWiring

FIBRE_FAN = "single-mode fan-out fibre, MPO-12 to {lanes} × duplex LC"
UPLINK_MODULE = f"{UPLINK_GBPS:g}G DR1 module, {UPLINK_FAMILY}, for the management switch"


class FrontMedia:
    """The media of the front end on a floor: of node-like ends, of storage boxes and of the uplinks of management switches."""

    def __init__(self, wired: FrontWiring, adapters: Adapters, catalog: Catalog, floor: Floor) -> None:
        network, storage = wired.front.network, wired.front.storage
        assert network is not None
        self.runs = Runs(wired.wiring, floor, NETWORK)
        self.counted = network
        self.node_side = sides_of(wired.wiring, network, replace(adapters, per_cage=1))[0]
        leaves = floor.places_of(f"{NETWORK} leaf", 1, wired.wiring.plane.leaf)
        self.node_m = longest_run(self.runs.outer_places(wired.nodes), leaves)
        self.nodes = choose_medium(catalog, self.node_side, self.node_m)
        self.storage_m = self.node_m
        self.storage = self.nodes
        if storage is not None and storage.connector:
            side = replace(self.node_side, lower_family=family_of(storage.connector), lower_known=True)
            self.storage = choose_medium(catalog, side, self.storage_m)
        self.uplinks = _uplinks(wired, self.node_side, catalog, self.node_m)


def _uplinks(wired: FrontWiring, node: Side, catalog: Catalog, length_m: float) -> Medium:
    """Return the medium of the 100G uplinks: a cable each in a cage of up to 200G, else fanned out from a faster port."""
    if node.upper_family in PLAIN_CAGES:  # cages for 200G take the plugs of 100G
        plug = replace(node, lower_family=UPLINK_FAMILY, upper_family=UPLINK_FAMILY)
        return choose_medium(catalog, replace(plug, speed_gbps=UPLINK_GBPS, upper_per_cage=1, lower_per_cage=1), length_m)
    per_cage = wired.wiring.cages.leaf_down
    speed = node.speed_gbps * per_cage
    found = [each for each in optics.modules_of(catalog.cables, speed, node.upper_family, length_m) if each.medium == "dr"]
    upper = next((each for each in found if optics.lane_gbps(each) == UPLINK_GBPS), None)
    fact = catalog.facts.get("optic-generic-800g")
    power = upper.power_per_end if upper else None
    watts = power.ends("W")[1:] if power is not None else fact.values["power"].ends("W")[1:] if fact else (0.0, 0.0)
    name = upper.id if upper else optics.unnamed(speed, "dr")
    return Medium("dr", "", UPLINK_MODULE, name, FIBRE_FAN.format(lanes=UPLINKS_PER_PORT), UPLINKS_PER_PORT, upper_watts=watts)


def cable_front(wired: FrontWiring, adapters: Adapters, catalog: Catalog, floor: Floor) -> Cabling:
    """Return the cables and transceivers of the network for storage and in-band traffic."""
    tally, media, front = Tally(), FrontMedia(wired, adapters, catalog, floor), wired.front
    storage = front.storage
    assert storage is not None
    per = wired.wiring.cages.leaf_down
    cages = [region.cages(per) for region in wired.regions()]
    fans, boxes, others = (sum(each[use] for each in cages) for use in range(3))
    ends = sum(len(region.others) for region in wired.regions())
    fibres = _fibres(wired, media.nodes.split, 2)
    tally.add(media.nodes, ends, ends, others, ("node", "leaf_node"), media.node_m, fibres=fibres)
    if storage.links:
        fibres = _fibres(wired, media.storage.split, 1, 2 if media.storage.split == media.nodes.split else None)
        tally.add(media.storage, storage.links, storage.links, boxes, ("storage", "leaf_node"), media.storage_m, fibres=fibres)
    if front.uplinks:
        uplinks = media.uplinks
        fanned = 2 * ceil(front.uplinks / 2 / UPLINKS_PER_PORT) if uplinks.split > 1 else None
        tally.add(uplinks, front.uplinks, front.uplinks, fans, ("management", "leaf_node"), media.node_m, fibres=fanned)
    cable_switches(tally, media.runs, media.counted, replace(adapters, per_cage=1), catalog)
    return tally.result


def _fibres(wired: FrontWiring, split: int, use: int, counted: int | None = None) -> int:
    """Return the optical ports, of `split` links each, that the downlinks of one use take on all leaves, but those of the use `counted`."""
    total = 0
    for region in wired.regions():
        ports = groups_of(region[use], split)
        other = groups_of(region[counted], split) if counted is not None else range(0)
        total += len(ports) - max(0, min(ports.stop, other.stop) - max(ports.start, other.start))
    return total
