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

if TYPE_CHECKING:
    from collections.abc import Mapping

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
SWITCHES_PER_RACK = 16
"""Switches that share one network rack: sixteen boxes of 1 to 2 U with patch panels fit 42 U. Assumed."""
COPPER, SHORT_COPPER = "dac", "acc"
OPTICS = ("sr", "dr", "fr")
FIBRES = {"sr": "mmf", "dr": "smf", "fr": "smf"}
_FAMILIES = ("OSFP", "QSFP112", "QSFP-DD", "QSFP56", "QSFP28", "RJ45")


@dataclass(frozen=True)
class Run:
    """Links of one tier: how many, their speed, and the cages at both ends with the links that share one."""

    links: int
    speed_gbps: float
    lower: int
    lower_per_cage: int
    upper: int
    upper_per_cage: int
    to_node: bool = False


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


def cable_network(counted: Counted, adapters: Adapters, catalog: Catalog, node_racks: int, *, racks_are_closed: bool) -> Cabling:
    """Choose cables and transceivers of a counted network whose nodes stand in `node_racks` racks.

    `racks_are_closed` says that no switch can stand among the nodes (pre-integrated racks).
    """
    counts, cages, spec = counted.counts, counted.option.cages(counted.spec), counted.spec
    switch_racks = ceil(counts.switches / SWITCHES_PER_RACK)
    one_rack = node_racks <= 1 and counts.switches <= 2 and not racks_are_closed
    to_nodes = SAME_RACK_M if one_rack else longest_run_m(node_racks + switch_racks)
    among = longest_run_m(switch_racks)
    sides = counts.cages
    total = _Total(catalog, counted.option.switch.connector, adapters)
    node_speed = min(spec.link_speed_gbps, spec.port_speed_gbps)
    at_node = adapters.per_cage * spec.planes  # an adapter's links to all planes leave through one cage
    node_run = Run(counts.links["node_leaf"], node_speed, sides["node"], at_node, sides["leaf_node"], cages.leaf_down, True)
    total.add(node_run, to_nodes, "node", "leaf_node")
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
        reach = [COPPER] if length_m <= SAME_RACK_M else [COPPER, SHORT_COPPER] if length_m <= NEIGHBOUR_RACKS_M and not run.to_node else []
        if not reach:
            return False
        split = run.to_node and run.upper_per_cage > run.lower_per_cage
        cage = run.speed_gbps * run.upper_per_cage
        for medium in reach:
            for cable in self.catalog.cables:
                if (
                    cable.medium == medium
                    and self._fits(cable, cage, run.upper_per_cage, length_m)
                    and ("x" in cable.connector_b.split(" ")) == split
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
            if cable.medium == "aoc" and self._fits(cable, run.speed_gbps, 1, length_m):
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

    def _optics(self, run: Run, length_m: float, lower: str, upper: str) -> None:
        """Take the shortest sufficient reach: a module per cage at the switch, one at the node, a fibre per link."""
        switch_end = self._module(run.speed_gbps * run.upper_per_cage, run.upper_per_cage, self.family, length_m, OPTICS)
        medium = switch_end.medium if switch_end else "dr" if length_m > 50 else "sr"
        self.cables[switch_end.id if switch_end else _unnamed(run.speed_gbps * run.upper_per_cage, medium)] += run.upper
        self._draw(switch_end, run.upper)
        if run.to_node:
            family = (
                "OSFP" if run.lower_per_cage > 1 else next((each for each in _FAMILIES if self.adapters.connector.startswith(each)), "OSFP")
            )
            node_end = self._module(run.speed_gbps * run.lower_per_cage, run.lower_per_cage, family, length_m, (medium,))
            self.cables[node_end.id if node_end else f"{_unnamed(run.speed_gbps * run.lower_per_cage, medium)} for the adapter"] += (
                run.lower
            )
        else:
            self.cables[switch_end.id if switch_end else _unnamed(run.speed_gbps * run.upper_per_cage, medium)] += run.lower
            self._draw(switch_end, run.lower)
        self.cables[self._fibre(FIBRES[medium], length_m)] += run.links
        self.modules[lower] += run.lower
        self.modules[upper] += run.upper

    def _module(self, cage_gbps: float, links: int, family: str, length_m: float, media: tuple[str, ...]) -> Cable | None:
        """Return the transceiver of the shortest sufficient reach; NVIDIA's finned ones go into switches, flat ones into adapters."""
        found = [
            cable
            for cable in self.catalog.cables
            if cable.is_transceiver
            and cable.medium in media
            and cable.speed.to("Gb/s") == cage_gbps
            and cable.links == links
            and cable.connector_a.startswith(family)
            and cable.reach is not None
            and cable.reach.to("m") >= length_m
        ]
        return min(found, key=lambda each: (each.reach.to("m") if each.reach else 0.0, each.power_per_end is None, each.id), default=None)

    def _fibre(self, medium: str, length_m: float) -> str:
        for cable in self.catalog.cables:
            if cable.medium == medium and cable.reach is not None and cable.reach.to("m") >= length_m:
                return cable.id
        return f"{'multimode' if medium == 'mmf' else 'single-mode'} MPO-12 fibre up to {ceil(length_m)} m"

    def _draw(self, module: Cable | None, count: int) -> None:
        power = module.power_per_end if module else None
        low_high = power.ends("W") if power else self._generic()
        self.typical, self.maximum = self.typical + count * low_high[1], self.maximum + count * low_high[2]

    def _generic(self) -> tuple[float, float, float]:
        """Return the power of an 800G module of no particular maker, for modules whose own is not published."""
        fact = self.catalog.facts.get("optic-generic-800g")
        return fact.values["power"].ends("W") if fact else (0.0, 0.0, 0.0)


def _unnamed(cage_gbps: float, medium: str) -> str:
    return f"{cage_gbps:g} Gb/s {medium.upper()} module"
