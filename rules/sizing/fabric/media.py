"""Which cable carries the links of one cage: copper where it reaches, active optical cable, or two modules with fibre between them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from catalogs.schema import Status
from rules.counting import counted
from rules.sizing.fabric import optics
from rules.sizing.fabric.floor import NEIGHBOUR_RACKS_M, SAME_RACK_M, sold_m

if TYPE_CHECKING:
    from catalogs import Catalog
    from catalogs.schema import Cable

COPPER_REACH_M = {"dac": SAME_RACK_M, "acc": NEIGHBOUR_RACKS_M, "aec": 7.0}
"""Longest run for which each copper medium is taken between switches: passive, linear active, retimed [NVIDIA LinkX, AEC lists]."""
MEDIUM_WORDS = {
    "copper": "Category 6A copper",
    "dac": "passive copper",
    "acc": "linear active copper",
    "aec": "retimed copper",
    "aoc": "active optical cable",
    "sr": "multimode fibre with SR modules",
    "dr": "single-mode fibre with DR modules",
    "fr": "single-mode fibre with FR modules",
    "mmf": "multimode fibre",
    "smf": "single-mode fibre",
}
"""Media as the bill names them."""
FAMILIES = ("OSFP", "QSFP112", "QSFP-DD", "QSFP56", "QSFP28", "RJ45")
_OLDER_PLUGS = {"QSFP112": ("QSFP56", "QSFP28"), "QSFP56": ("QSFP28",)}
"""Cages that take the plugs of earlier generations of the same size [QSFP MSA]."""
SWITCHES_ONLY = "acc"
"""Straight linear active copper has finned plugs at both ends, which servers' cages do not take; only splitters go there [NVIDIA]."""
ETHERNET_ONLY = "aec"
"""Retimed copper is sold for Ethernet; none is listed for InfiniBand [NVIDIA LinkX overview]."""


def medium_words(medium: str) -> str:
    """Return a medium as the bill names it."""
    return MEDIUM_WORDS.get(medium, medium)


@dataclass(frozen=True)
class Side:
    """What links of one kind have in common: their speed, and the cages at both ends with the links that share one.

    `lower_family` and `upper_family` are cage families, `lower_known` says whether the lower one is stated. `crossed`: the links of a lower
    cage end in different upper cages, which no cable with plugs at both ends can follow.
    """

    speed_gbps: float
    lower_per_cage: int
    upper_per_cage: int
    lower_family: str
    upper_family: str
    to_node: bool = False
    lower_known: bool = True
    ethernet: bool = False
    crossed: bool = False


@dataclass(frozen=True)
class Medium:
    """The choice for links of one kind and length: an `assembly` with both ends, or modules `lower` and `upper` and a `fibre`.

    `split` links share an optical port of the upper module. The watts are (typical, highest) of one end in a switch.
    """

    medium: str
    assembly: str = ""
    lower: str = ""
    upper: str = ""
    fibre: str = ""
    split: int = 1
    per_link: bool = False
    lower_watts: tuple[float, float] = (0.0, 0.0)
    upper_watts: tuple[float, float] = (0.0, 0.0)

    @property
    def is_optics(self) -> bool:
        """Return whether the ends are modules of their own."""
        return not self.assembly


def family_of(connector: str, links_per_cage: int = 1) -> str:
    """Return the family of a cage; several links in one leave through a twin-port OSFP, an unknown cage counts as OSFP."""
    if links_per_cage > 1:
        return "OSFP"
    return next((each for each in FAMILIES if connector.startswith(each)), "OSFP")


def choose_medium(catalog: Catalog, side: Side, length_m: float) -> Medium:
    """Return what carries links of one kind over `length_m`.

    Copper first where it reaches, then active optical cable where a cage holds one link, then the shortest sufficient optics.
    """
    return _choose(catalog.cables, catalog, side, sold_m(length_m) if length_m > SAME_RACK_M else SAME_RACK_M)


@lru_cache(maxsize=4096)
def _choose(cables: object, catalog: Catalog, side: Side, length_m: float) -> Medium:
    del cables  # the key of the cache: a catalog with other cables is another question
    return _copper(catalog, side, length_m) or _active_optical(catalog, side, length_m) or _optics(catalog, side, length_m)


def _copper(catalog: Catalog, side: Side, length_m: float) -> Medium | None:
    """Return copper where it reaches: one assembly per cage of the upper switch, with both ends."""
    if side.crossed:
        return None
    split = side.to_node and side.upper_per_cage > side.lower_per_cage
    cage = side.speed_gbps * side.upper_per_cage
    for medium, reach in COPPER_REACH_M.items():
        if length_m > reach or (medium == ETHERNET_ONLY and not side.ethernet) or (medium == SWITCHES_ONLY and side.to_node and not split):
            continue
        for cable in catalog.cables:
            fits = cable.medium == medium and _fits(cable, side, cage, side.upper_per_cage, length_m)
            if fits and ("x" in cable.connector_b.split(" ")) == split and _plugs_in(side, cable):
                watts = cable.power_per_end.ends("W") if cable.power_per_end else (0.0, 0.0, 0.0)
                ends = (watts[1], watts[2])
                return Medium(medium, cable.id, lower_watts=ends, upper_watts=ends)
    if length_m > SAME_RACK_M:
        return None
    name = f"copper cable {side.speed_gbps:g} Gb/s, {counted(side.upper_per_cage, 'link')} per switch cage, up to {length_m:g} m"
    return Medium("dac", name)


def _active_optical(catalog: Catalog, side: Side, length_m: float) -> Medium | None:
    """Return an active optical cable where a cage holds one link: one assembly per link, with both ends."""
    if side.upper_per_cage != 1 or side.lower_per_cage != 1:
        return None
    for cable in catalog.cables:
        if cable.medium == "aoc" and _fits(cable, side, side.speed_gbps, 1, length_m) and _plugs_in(side, cable):
            watts = cable.power_per_end.ends("W") if cable.power_per_end else (0.0, 0.0, 0.0)
            ends = (watts[1], watts[2])
            return Medium("aoc", cable.id, per_link=True, lower_watts=ends, upper_watts=ends)
    return None


def _optics(catalog: Catalog, side: Side, length_m: float) -> Medium:
    """Return the shortest sufficient reach: modules whose lanes agree at both ends, and a fibre per optical port."""
    cables = catalog.cables
    if side.to_node:
        ends = optics.node_ends(
            cables, side.speed_gbps, side.upper_per_cage, side.upper_family, side.lower_per_cage, side.lower_family, length_m
        )
    else:
        ends = optics.same_ends(cables, side.speed_gbps, side.upper_per_cage, side.upper_family, length_m)
    fibre = optics.fibre(cables, ends, length_m)
    lower, upper = (_watts(catalog, record) for record in (ends.lower_record, ends.upper_record))
    return Medium(ends.medium, "", ends.lower, ends.upper, fibre, ends.split, False, lower, upper)


def _fits(cable: Cable, side: Side, cage_gbps: float, links: int, length_m: float) -> bool:
    return (
        not cable.is_transceiver
        and cable.status is not Status.END_OF_LIFE
        and cable.speed.to("Gb/s") == cage_gbps
        and cable.links == links
        and cable.connector_a.startswith(side.upper_family)
        and cable.reach is not None
        and cable.reach.to("m") >= length_m
    )


def _plugs_in(side: Side, cable: Cable) -> bool:
    """Return whether the cable's lower end fits the cage there: its own kind, or an older QSFP; an unknown cage takes any."""
    if not side.to_node or not side.lower_known:
        return True
    return any(each in cable.connector_b for each in (side.lower_family, *_OLDER_PLUGS.get(side.lower_family, ())))


def _watts(catalog: Catalog, module: Cable | None) -> tuple[float, float]:
    """Return (typical, highest) power of a module; that of an 800G module of no particular maker where its own is not published."""
    power = module.power_per_end if module else None
    if power is not None:
        return power.ends("W")[1:]
    fact = catalog.facts.get("optic-generic-800g")
    return fact.values["power"].ends("W")[1:] if fact else (0.0, 0.0)
