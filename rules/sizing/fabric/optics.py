"""Which transceivers talk to each other: the two ends of a link have the same medium, the same number of lanes and the same rate per lane.

A module's designation says its lanes: SR4, DR4 and FR4 have four, DR8 and SR8 eight, DR1 one (IEEE 802.3 names of physical layers);
SR4.2 has two wavelengths on each of four fibres. A port is split over lanes, never within one: the 4 × 100G lanes of a 400G port serve
two adapters of 200 Gb/s over 1:2 splitter fibres [NVIDIA MMS4X00-NS overview]; modules of 200G lanes cannot run at 100G lanes
[NVIDIA list of 200G-PAM4 transceivers].
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from catalogs.schema import Status

if TYPE_CHECKING:
    from catalogs.loading import Shelf
    from catalogs.schema import Cable

OPTICS = ("sr", "dr", "fr")
FIBRES = {"sr": "mmf", "dr": "smf", "fr": "smf"}
MOST_LANES_MPO12 = 4
"""Lanes that one MPO-12 fibre carries: a pair of fibres each, eight of twelve used; eight lanes need MPO-16."""
SHORT_REACH_M = 50.0
"""Reach of short-reach modules of 100G lanes on OM4 [NVIDIA MMA4Z00-NS]; beyond it single mode is taken where no module is known."""
_DESIGNATION = re.compile(r"\b(?:\d+x)?(?:\d+G )?(?:SR|DR|FR)(\d+)(?:\.(\d))?\b")


@dataclass(frozen=True)
class Ends:
    """The modules of one run. `upper` and `lower` name them, the records are None where the catalog has none; `split` links share an
    optical port of the switch.
    """

    upper: str
    lower: str
    upper_record: Cable | None
    lower_record: Cable | None
    medium: str
    lanes: int
    split: int = 1


def lanes_of(module: Cable) -> int:
    """Return the lanes of one optical port of a module by its designation, 0 where the name has none."""
    found = _DESIGNATION.search(module.name)
    return int(found.group(1)) * int(found.group(2) or 1) if found else 0


def lane_gbps(module: Cable) -> float:
    """Return the rate of one lane in Gb/s, 0 where the number of lanes is not known."""
    lanes = lanes_of(module)
    return module.speed.to("Gb/s") / module.links / lanes if lanes else 0.0


@lru_cache(maxsize=512)
def modules_of(cables: Shelf[Cable], cage_gbps: float, family: str, length_m: float) -> tuple[Cable, ...]:
    """Return the transceivers for a switch's cage of `cage_gbps`, the shortest sufficient reach first."""
    found = [
        each
        for each in cables
        if each.is_transceiver
        and each.status is not Status.END_OF_LIFE
        and each.medium in OPTICS
        and each.speed.to("Gb/s") == cage_gbps
        and each.connector_a.startswith(family)
        and "flat" not in each.connector_a
        and lanes_of(each)
        and _reaches(each, length_m)
    ]
    return tuple(sorted(found, key=lambda each: (each.reach.to("m") if each.reach else 0.0, each.power_per_end is None, each.id)))


@lru_cache(maxsize=512)
def same_ends(cables: Shelf[Cable], link_gbps: float, per_cage: int, family: str, length_m: float) -> Ends:
    """Return the modules of links between switches: the same one at both ends."""
    cage = link_gbps * per_cage
    found = next((each for each in modules_of(cables, cage, family, length_m) if each.links == per_cage), None)
    if found is None:
        medium = _usual_medium(length_m)
        return Ends(unnamed(cage, medium), unnamed(cage, medium), None, None, medium, MOST_LANES_MPO12)
    return Ends(found.id, found.id, found, found, found.medium, lanes_of(found))


@lru_cache(maxsize=512)
def node_ends(
    cables: Shelf[Cable], link_gbps: float, upper_per_cage: int, upper_family: str, lower_per_cage: int, lower_family: str, length_m: float
) -> Ends:
    """Return the modules of links between a switch and nodes whose cages hold `lower_per_cage` links each.

    A pair of catalog products whose lanes agree comes first; then a product at the switch, with the other end named by what it must be.
    """
    cage = link_gbps * upper_per_cage
    uppers = [each for each in modules_of(cables, cage, upper_family, length_m) if _splits(each, upper_per_cage)]
    uppers.sort(key=lambda each: (each.reach.to("m") if each.reach else 0.0, each.links != upper_per_cage))  # of equal reach, no splitters
    for upper in uppers:
        lower = _partner(cables, upper, link_gbps, lower_per_cage, lower_family, length_m)
        if lower is not None:
            return Ends(upper.id, lower.id, upper, lower, upper.medium, lanes_of(upper), upper_per_cage // upper.links)
    if not uppers:
        medium = _usual_medium(length_m)
        lower_name = f"{unnamed(link_gbps * lower_per_cage, medium)}, {lower_family}, lanes as at the switch, for the adapter"
        return Ends(unnamed(cage, medium), lower_name, None, None, medium, MOST_LANES_MPO12)
    upper = uppers[0]
    split = upper_per_cage // upper.links
    lanes, rate = lanes_of(upper) // split, lane_gbps(upper)
    ports = f"{lower_per_cage}x" if lower_per_cage > 1 else ""
    name = (
        f"{ports}{link_gbps:g}G {upper.medium.upper()}{lanes} module, {lanes} lanes of {rate:g} Gb/s, {lower_family} flat, for the adapter"
    )
    return Ends(upper.id, name, upper, None, upper.medium, lanes_of(upper), split)


def _splits(upper: Cable, per_cage: int) -> bool:
    """Return whether so many links share the module: one per optical port, or a port's lanes divided among them."""
    if per_cage % upper.links:
        return False
    split = per_cage // upper.links
    return split == 1 or (lanes_of(upper) % split == 0 and upper.medium != "fr")  # wavelengths of one fibre cannot be split


def _partner(cables: Shelf[Cable], upper: Cable, link_gbps: float, per_cage: int, family: str, length_m: float) -> Cable | None:
    """Return the adapter's module for a switch's module: same medium and lane rate, flat, and as many lanes as the link has or more."""
    split = upper.speed.to("Gb/s") / upper.links / link_gbps > 1
    found = [
        each
        for each in cables
        if each.is_transceiver
        and each.status is not Status.END_OF_LIFE
        and each.medium == upper.medium
        and each.links == per_cage
        and each.connector_a.startswith(family)
        and ("finned" not in each.connector_a or per_cage > 1)  # twin-port modules are sold finned, and flat for nodes
        and lane_gbps(each) == lane_gbps(upper)
        and (lanes_of(each) == lanes_of(upper) if not split else lanes_of(each) * lane_gbps(each) >= link_gbps)
        and _reaches(each, length_m)
    ]
    return min(found, key=lambda each: (each.power_per_end is None, each.id), default=None)


@lru_cache(maxsize=512)
def fibre(cables: Shelf[Cable], ends: Ends, length_m: float) -> str:
    """Return the fibre between two modules: a product of the catalog for straight MPO-12, else what it must be."""
    kind = "multimode" if FIBRES[ends.medium] == "mmf" else "single-mode"
    if ends.medium == "fr":
        return f"{kind} duplex LC fibre up to {length_m:.0f} m"
    plug = "MPO-12" if ends.lanes <= MOST_LANES_MPO12 else "MPO-16"
    if ends.split > 1:
        return f"{kind} 1:{ends.split} splitter fibre, {plug}, up to {length_m:.0f} m"
    if ends.lanes <= MOST_LANES_MPO12:
        for each in cables:
            if each.medium == FIBRES[ends.medium] and _reaches(each, length_m):
                return each.id
    return f"{kind} {plug} fibre up to {length_m:.0f} m"


def unnamed(cage_gbps: float, medium: str) -> str:
    """Return the words for a transceiver that no catalog record describes."""
    return f"{cage_gbps:g} Gb/s {medium.upper()} module"


def _usual_medium(length_m: float) -> str:
    return "dr" if length_m > SHORT_REACH_M else "sr"


def _reaches(cable: Cable, length_m: float) -> bool:
    return cable.reach is not None and cable.reach.to("m") >= length_m
