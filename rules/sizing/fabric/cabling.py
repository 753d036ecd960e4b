"""Cables and transceivers of a network: how long the longest run is, which medium carries it, and what that draws.

Lengths here are classes from the number of racks (same rack, neighbouring racks, row, hall), with tray and slack; a plan of the hall
would route each cable. Every run of a tier takes the medium of the longest one.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

from catalogs.schema import Status
from rules.sizing.fabric import optics

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from catalogs import Catalog
    from catalogs.schema import Cable
    from rules.sizing.fabric.adapters import Adapters
    from rules.sizing.fabric.switching import Counted

SAME_RACK_M = 2.0
"""Run inside one rack; also the longest straight passive cable at 100 Gb/s lanes [NVIDIA LinkX copper overview]."""
NEIGHBOUR_RACKS_M = 5.0
"""Run between two neighbouring racks; the longest active copper cable at 100 Gb/s lanes [NVIDIA LinkX product overview]."""
RACK_WIDTH_M, ROW_RACKS, ROW_PITCH_M = 0.6, 20, 3.6
"""A usual row: racks 600 mm wide, twenty in a row, rows 3.6 m apart with their aisles. Assumed until the hall is described."""
UP_AND_DOWN_M = 7.0
"""Both ends up to the tray and down again (2 × 2 m) and slack (3 m). Assumed until the hall is described."""
SWITCH_RACK_UNITS = 42
"""Rack units of a network rack where the answers do not give the hall's: the rack of 42U that vendors' plans take as usual."""
COPPER, SHORT_COPPER = "dac", "acc"
UPLINK_GBPS, UPLINK_FAMILY = 100.0, "QSFP28"
"""Uplinks of management switches: four of 100G in QSFP28 cages [NVIDIA SN2201]."""
PLAIN_CAGES = ("QSFP28", "QSFP56")
UPLINKS_PER_PORT = 4
"""Uplinks that one optical port of four 100G lanes serves, a lane each (100G DR1 at the other end [IEEE 802.3])."""
_FAMILIES = ("OSFP", "QSFP112", "QSFP-DD", "QSFP56", "QSFP28", "RJ45")

_OLDER_PLUGS = {"QSFP112": ("QSFP56", "QSFP28"), "QSFP56": ("QSFP28",)}
"""Cages that take the plugs of earlier generations of the same size [QSFP MSA]."""


@dataclass(frozen=True)
class OtherEnd:
    """Links of a network that end elsewhere than at its nodes' adapters: how many, in which cage."""

    name: str
    links: int
    connector: str


@dataclass(frozen=True)
class Run:
    """Links of one tier: how many, their speed, and the cages at both ends with the links that share one; `connector` is that of the
    lower end where it is not the adapters' own.
    """

    links: int
    speed_gbps: float
    lower: int
    lower_per_cage: int
    upper: int
    upper_per_cage: int
    to_node: bool = False
    connector: str | None = None


@dataclass(frozen=True)
class Cabling:
    """What joins a network: `cables` by product id or, where the catalog has none, by what they are; `modules` by tier and side.

    The watts are those of transceivers and active ends in switches; modules in nodes belong to the nodes.
    """

    cables: Mapping[str, int]
    modules: Mapping[str, int]
    watts_typical: float
    watts_maximum: float
    longest_m: float


def longest_run_m(racks: int) -> float:
    """Return the longest run in m between two of `racks` racks in rows: along the row, across the rows, up and down."""
    if racks <= 1:
        return SAME_RACK_M
    if racks <= 2:
        return NEIGHBOUR_RACKS_M
    rows = ceil(racks / ROW_RACKS)
    return UP_AND_DOWN_M + min(racks, ROW_RACKS) * RACK_WIDTH_M + (rows - 1) * ROW_PITCH_M


def racks_of_switches(counted: Counted, rack_units: int) -> int:
    """Return the racks that the boxes of a network fill by height; boxes of unstated height count 1U."""
    return ceil(counted.height_u / max(1, rack_units))


def cable_network(
    counted: Counted,
    adapters: Adapters,
    catalog: Catalog,
    node_racks: int,
    *,
    racks_are_closed: bool,
    rack_units: int = SWITCH_RACK_UNITS,
    others: Sequence[OtherEnd] = (),
    uplinks: int = 0,
) -> Cabling:
    """Choose cables and transceivers of a counted network whose nodes stand in `node_racks` racks.

    `racks_are_closed` says that no switch can stand among the nodes (pre-integrated racks). `others` are links that do not end at the
    nodes' adapters, `uplinks` those of management switches, which several to a port share where ports are faster.
    """
    counts, cages, spec = counted.counts, counted.option.cages(counted.spec), counted.spec
    switch_racks = racks_of_switches(counted, rack_units)
    one_rack = node_racks <= 1 and counts.switches <= 2 and not racks_are_closed
    to_nodes = SAME_RACK_M if one_rack else longest_run_m(node_racks + switch_racks)
    among = longest_run_m(switch_racks)
    sides = counts.cages
    total = _Total(catalog, counted.option.switch.connector, adapters)
    node_speed = min(spec.link_speed_gbps, spec.port_speed_gbps)
    at_node = adapters.per_cage * spec.planes  # an adapter's links to all planes leave through one cage
    uplink_ports = management_ports(uplinks, node_speed, counted.option.switch.connector)
    apart = sum(each.links for each in others) + uplink_ports
    at_leaf = [(each, ceil(each.links / cages.leaf_down)) for each in others if each.links]
    rest = sides["leaf_node"] - sum(number for _, number in at_leaf) - ceil(uplink_ports / cages.leaf_down)
    node_links, node_cages = counts.links["node_leaf"] - apart, sides["node"] - apart
    total.add(Run(node_links, node_speed, node_cages, at_node, max(1, rest), cages.leaf_down, True), to_nodes, "node", "leaf_node")
    for end, number in at_leaf:
        run = Run(end.links, node_speed, end.links, 1, number, cages.leaf_down, True, end.connector)
        total.add(run, to_nodes, end.name, "leaf_node")
    total.add_uplinks(uplinks, uplink_ports, node_speed, cages.leaf_down, to_nodes)
    up = spec.uplink_speed_gbps
    total.add(
        Run(counts.links["leaf_spine"], up, sides["leaf_spine"], cages.uplink, sides["spine_leaf"], cages.uplink),
        among,
        "leaf_spine",
        "spine_leaf",
    )
    total.add(
        Run(counts.links["spine_core"], up, sides["spine_core"], cages.uplink, sides["core_spine"], cages.uplink),
        among,
        "spine_core",
        "core_spine",
    )
    half = sides.get("leaf_leaf", 0) // 2
    total.add(Run(counts.inter_switch_links, up, half, cages.uplink, half, cages.uplink), SAME_RACK_M, "leaf_leaf", "leaf_leaf")
    return Cabling(dict(total.cables), dict(total.modules), total.typical, total.maximum, max(to_nodes, among))


def management_ports(uplinks: int, port_gbps: float, connector: str) -> int:
    """Return the leaf ports that `uplinks` of management switches take, half of them on each of two leaves.

    Cages of 100G and 200G (QSFP28, QSFP56) take one each. Of an optical port of four 100G lanes in an OSFP cage four are fanned out; it
    counts as several ports where the cage is broken out further.
    """
    if connector.startswith(PLAIN_CAGES):
        return uplinks
    return 2 * ceil(uplinks / 2 / UPLINKS_PER_PORT) * max(1, ceil(UPLINKS_PER_PORT * UPLINK_GBPS / port_gbps))


class _Total:
    """Collects the cables of several runs."""

    def __init__(self, catalog: Catalog, connector: str, adapters: Adapters) -> None:
        self.catalog, self.adapters = catalog, adapters
        self.family = next((each for each in _FAMILIES if connector.startswith(each)), "OSFP")
        self.cables: Counter[str] = Counter()
        self.modules: Counter[str] = Counter()
        self.typical = self.maximum = 0.0

    def add(self, run: Run, length_m: float, lower: str, upper: str) -> None:
        """Add the cables of one run of `length_m`; `lower` and `upper` name its sides."""
        if run.links == 0:
            return
        if not self._copper(run, length_m) and not self._active_optical(run, length_m):
            self._optics(run, length_m, lower, upper)

    def _copper(self, run: Run, length_m: float) -> bool:
        """Take copper where it reaches; one assembly per cage of the switch, with both ends."""
        if length_m > (SAME_RACK_M if run.to_node else NEIGHBOUR_RACKS_M):
            return False
        reach = [COPPER, SHORT_COPPER]
        split = run.to_node and run.upper_per_cage > run.lower_per_cage
        cage = run.speed_gbps * run.upper_per_cage
        for medium in reach:
            for cable in self.catalog.cables:
                if (
                    cable.medium == medium
                    and self._fits(cable, cage, run.upper_per_cage, length_m)
                    and ("x" in cable.connector_b.split(" ")) == split
                    and (not run.to_node or self._plugs_in(run, cable))
                ):
                    self.cables[cable.id] += run.upper
                    watts = cable.power_per_end.ends("W") if cable.power_per_end else (0.0, 0.0, 0.0)
                    ends = run.upper * (1 if run.to_node else 2)
                    self.typical, self.maximum = self.typical + ends * watts[1], self.maximum + ends * watts[2]
                    return True
        if length_m > SAME_RACK_M:
            return False
        self.cables[f"copper cable {run.speed_gbps:g} Gb/s, {run.upper_per_cage} link(s) per switch cage, up to {length_m:g} m"] += (
            run.upper
        )
        return True

    def _active_optical(self, run: Run, length_m: float) -> bool:
        """Take active optical cables where a cage holds one link: one assembly per link, with both ends."""
        if run.upper_per_cage != 1 or run.lower_per_cage != 1:
            return False
        for cable in self.catalog.cables:
            if cable.medium == "aoc" and self._fits(cable, run.speed_gbps, 1, length_m) and self._plugs_in(run, cable):
                self.cables[cable.id] += run.links
                return True
        return False

    def _fits(self, cable: Cable, cage_gbps: float, links: int, length_m: float) -> bool:
        return (
            not cable.is_transceiver
            and cable.status is not Status.END_OF_LIFE
            and cable.speed.to("Gb/s") == cage_gbps
            and cable.links == links
            and cable.connector_a.startswith(self.family)
            and cable.reach is not None
            and cable.reach.to("m") >= length_m
        )

    def _plugs_in(self, run: Run, cable: Cable) -> bool:
        """Return whether the cable's lower end fits the cage there: its own kind, or an older QSFP; an unknown cage takes any."""
        connector = self.adapters.connector if run.connector is None else run.connector
        if not run.to_node or not connector:
            return True
        family = self._lower_family(run)
        return any(each in cable.connector_b for each in (family, *_OLDER_PLUGS.get(family, ())))

    def _lower_family(self, run: Run) -> str:
        """Return the cage of the lower end; several links in one leave through a twin-port OSFP."""
        connector = self.adapters.connector if run.connector is None else run.connector
        return "OSFP" if run.lower_per_cage > 1 else next((each for each in _FAMILIES if connector.startswith(each)), "OSFP")

    def _optics(self, run: Run, length_m: float, lower: str, upper: str) -> None:
        """Take the shortest sufficient reach: modules whose lanes agree at both ends, and a fibre per optical port."""
        if run.to_node:
            family = self._lower_family(run)
            ends = optics.node_ends(
                self.catalog.cables, run.speed_gbps, run.upper_per_cage, self.family, run.lower_per_cage, family, length_m
            )
        else:
            ends = optics.same_ends(self.catalog.cables, run.speed_gbps, run.upper_per_cage, self.family, length_m)
            self._draw(ends.lower_record, run.lower)
        self._draw(ends.upper_record, run.upper)
        self.cables[ends.upper] += run.upper
        self.cables[ends.lower] += run.lower
        self.cables[optics.fibre(self.catalog.cables, ends, length_m)] += ceil(run.links / ends.split)
        self.modules[lower] += run.lower
        self.modules[upper] += run.upper

    def add_uplinks(self, uplinks: int, ports: int, port_gbps: float, per_cage: int, length_m: float) -> None:
        """Add the 100G uplinks of management switches: a cable each in a port of up to 200G, else fanned out from a faster one."""
        if not uplinks:
            return
        if self.family in PLAIN_CAGES:
            run = Run(uplinks, UPLINK_GBPS, uplinks, 1, uplinks, 1, True, UPLINK_FAMILY)
            own, self.family = self.family, UPLINK_FAMILY  # cages for 200G take the plugs of 100G
            self.add(run, length_m, "management", "leaf_node")
            self.family = own
            return
        cages, fans = ceil(ports / per_cage), 2 * ceil(uplinks / 2 / UPLINKS_PER_PORT)
        found = [
            each for each in optics.modules_of(self.catalog.cables, port_gbps * per_cage, self.family, length_m) if each.medium == "dr"
        ]
        switch_end = next((each for each in found if optics.lane_gbps(each) == UPLINK_GBPS), None)
        self.cables[switch_end.id if switch_end else optics.unnamed(port_gbps * per_cage, "dr")] += cages
        self._draw(switch_end, cages)
        self.cables[f"{UPLINK_GBPS:g}G DR1 module, {UPLINK_FAMILY}, for the management switch"] += uplinks
        self.cables[f"single-mode fan-out fibre, MPO-12 to {UPLINKS_PER_PORT} × duplex LC, up to {length_m:.0f} m"] += fans
        self.modules["management"] += uplinks
        self.modules["leaf_node"] += cages

    def _draw(self, module: Cable | None, count: int) -> None:
        power = module.power_per_end if module else None
        low_high = power.ends("W") if power else self._generic()
        self.typical, self.maximum = self.typical + count * low_high[1], self.maximum + count * low_high[2]

    def _generic(self) -> tuple[float, float, float]:
        """Return the power of an 800G module of no particular maker, for modules whose own is not published."""
        fact = self.catalog.facts.get("optic-generic-800g")
        return fact.values["power"].ends("W") if fact else (0.0, 0.0, 0.0)
