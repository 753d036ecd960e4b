"""Cables and transceivers of the network for storage and in-band traffic: each leaf cage has the medium of the longest of its links."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, replace
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
from rules.sizing.fabric.front_links import NETWORK
from rules.sizing.fabric.front_runs import NODE, STORAGE, FrontRuns
from rules.sizing.fabric.media import Medium, choose_medium, family_of
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
        self.wired, self.catalog, self.counted = wired, catalog, network
        self.runs = Runs(wired.wiring, floor, NETWORK)
        self.lengths = FrontRuns(wired, self.runs)
        node = sides_of(wired.wiring, network, replace(adapters, per_cage=1))[0]
        boxes = node
        if storage is not None and storage.connector:
            boxes = replace(node, lower_family=family_of(storage.connector), lower_known=True)
        self.sides = {NODE: node, STORAGE: boxes}

    def of(self, kind: str, length_m: float) -> Medium:
        """Return the medium of the links to nodes and their like, or to storage, whose cage is decided by a length."""
        return choose_medium(self.catalog, self.sides[kind], length_m)

    def uplink(self, length_m: float) -> Medium:
        """Return the medium of the 100G uplinks: a cable each in a cage of up to 200G, else fanned out from a faster port."""
        node = self.sides[NODE]
        if node.upper_family in PLAIN_CAGES:  # cages for 200G take the plugs of 100G
            plug = replace(node, lower_family=UPLINK_FAMILY, upper_family=UPLINK_FAMILY)
            return choose_medium(self.catalog, replace(plug, speed_gbps=UPLINK_GBPS, upper_per_cage=1, lower_per_cage=1), length_m)
        cables, speed = self.catalog.cables, node.speed_gbps * self.wired.wiring.cages.leaf_down
        found = [each for each in optics.modules_of(cables, speed, node.upper_family, length_m) if each.medium == "dr"]
        upper = next((each for each in found if optics.lane_gbps(each) == UPLINK_GBPS), None)
        fact = self.catalog.facts.get("optic-generic-800g")
        power = upper.power_per_end if upper else None
        watts = power.ends("W")[1:] if power is not None else fact.values["power"].ends("W")[1:] if fact else (0.0, 0.0)
        name = upper.id if upper else optics.unnamed(speed, "dr")
        return Medium("dr", "", UPLINK_MODULE, name, FIBRE_FAN.format(lanes=UPLINKS_PER_PORT), UPLINKS_PER_PORT, upper_watts=watts)


@dataclass
class _Share:
    """Links of one medium: the cages and optical ports that they take on leaves, and their longest run in m."""

    run_m: float = 0.0
    links: int = 0
    cages: int = 0
    ports: int = 0


def cable_front(wired: FrontWiring, adapters: Adapters, catalog: Catalog, floor: Floor) -> Cabling:
    """Return the cables and transceivers of the network for storage and in-band traffic."""
    tally, media = Tally(), FrontMedia(wired, adapters, catalog, floor)
    shares: dict[tuple[str, float], _Share] = defaultdict(_Share)
    splits: dict[tuple[str, float], int] = {}
    for use, times in media.lengths.uses.items():
        key = use.kind, use.length_m
        share, split = shares[key], splits.get(key) or splits.setdefault(key, media.of(*key).split)
        share.run_m = max(share.run_m, use.run_m)
        share.links += times * (use.stop - use.start)
        share.cages += times * use.first
        share.ports += times * (ceil(use.stop / split) - (use.start // split if use.first else ceil(use.start / split)))
    for (kind, length), share in shares.items():
        side = "storage" if kind == STORAGE else "node"
        medium, sides = media.of(kind, length), (side, "leaf_node")
        tally.add(medium, share.links, share.links, share.cages, sides, length, fibres=share.ports, run_m=share.run_m)
    _cable_uplinks(tally, media)
    cable_switches(tally, media.runs, media.counted, replace(adapters, per_cage=1), catalog)
    return tally.result


def _cable_uplinks(tally: Tally, media: FrontMedia) -> None:
    """Add the uplinks of management switches; the fans of one cage share its module."""
    wired, shared = media.wired, media.wired.uplinks_per_place
    per, switches = wired.wiring.zones()[0].per_cage, wired.front.uplinks // 2
    seen, uses = set(), Counter[tuple[float, int, bool]]()
    for number, (leaf, slot, _) in enumerate(wired.uplink_places()):
        cage, links = (leaf, slot // per), min(shared, switches - number // 2 * shared)
        uses[media.lengths.cage_m(*cage), links, cage not in seen] += 1
        seen.add(cage)
    for (length, links, first), times in uses.items():
        all_ = times * links
        tally.add(media.uplink(length), all_, all_, times * first, ("management", "leaf_node"), length, fibres=times)
