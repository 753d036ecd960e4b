"""The networks by tiers: nodes below, leaves, spines and cores above them, with the links between; large tiers are folded."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from textwrap import wrap
from typing import TYPE_CHECKING, NamedTuple

from catalogs.sums import plain_sum
from rules import counting
from rules.sizing.fabric.cabling import UPLINK_GBPS
from rules.sizing.fabric.design import design_fabric
from rules.sizing.fabric.front_links import FrontWiring
from rules.sizing.fabric.management import ManagementWiring
from rules.sizing.fabric.media import medium_words
from rules.sizing.fabric.networks import networks_of
from wizard.pictures.sheet import COLOURS, FAINT, HEAD, INK, MARGIN, box, finish, label, line, sheet
from wizard.preferences import in_units

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rules.advisor import Considered
    from rules.sizing.fabric.design import SizedFabric
    from rules.sizing.fabric.networks import Network
    from rules.sizing.results import FabricNetwork

TITLE = "Networks"
NO_FABRIC = "Networks: none. A single node, or no design, has no network between nodes."
SHOWN, EDGE = 8, 3
"""A tier of more switches is folded: the first EDGE are drawn, then the last one."""
MARKS = {False: ("│", "…", "×", "–"), True: ("|", "..", "x", "-")}
LAYOUTS = {
    "rail": "rail-optimized: adapter i of every node on leaf i of its unit",
    "rail_only": "separate rails: rails meet inside the nodes only",
    "tree": "leaf and spine",
    "single": "one switch",
    "pair": "two switches back to back",
}
WIDE, TIER_PX, BOX_PX, HIGH, LEFT, RIGHT = 1220, 92, 66, 30, 330, 210
LINKS = {"node": "node_leaf", "leaf": "leaf_spine", "spine": "spine_core"}


class Tier(NamedTuple):
    """One row of the picture: what it is called, the names drawn (None where folded), how many there are, what they are."""

    name: str
    drawn: tuple[str | None, ...]
    number: int
    what: str


@dataclass(frozen=True)
class Drawn:
    """One network as it is drawn: tiers from the top down, what the links below each of them are, and which drawn pairs they join.

    The pairs are (upper, lower) by the names drawn; None where all are joined with all.
    """

    title: str
    tiers: tuple[Tier, ...]
    links: tuple[str, ...]
    notes: tuple[str, ...]
    joined: tuple[frozenset[tuple[str, str]] | None, ...]


def text(considered: Considered, width: int, ascii: bool = False) -> list[str]:
    """Return the networks tier by tier from the top down, each switch as a box, the links in words between."""
    drawn = _networks(considered)
    if not drawn:
        return wrap(NO_FABRIC, width)
    bar, dots, times, _ = MARKS[ascii]
    lines: list[str] = []
    for network in drawn:
        lines += ["", *wrap(network.title, width)] if lines else wrap(network.title, width)
        for tier, links in zip(network.tiers, (*network.links, ""), strict=True):
            boxes = " ".join(dots if name is None else f"[{name}]" for name in tier.drawn)
            lines += wrap(f"{tier.name:<8}{boxes}  {tier.number:,} {times} {tier.what}", width, subsequent_indent=" " * 8)
            if links:
                lines += wrap(f"{'':8}{bar} {links}", width, subsequent_indent=f"{'':8}{bar} ")
        for note in network.notes:
            lines += wrap(note, width, initial_indent="  ", subsequent_indent="  ")
    return [each.replace("×", "x").replace("–", "-") if ascii else each for each in lines]


def svg(considered: Considered) -> str:
    """Return the networks one below the other; lines join what is drawn of two tiers, as many as are wired."""
    drawn = _networks(considered)
    if not drawn:
        drawing = sheet(TITLE, WIDE, 120)
        drawing.append(label(NO_FABRIC, MARGIN, HEAD + 20))
        return finish(drawing)
    heights = [30 + TIER_PX * len(each.tiers) + 18 * len(each.notes) for each in drawn]
    drawing = sheet(TITLE, WIDE, HEAD + plain_sum(heights) + MARGIN)
    top = float(HEAD)
    for network, height in zip(drawn, heights, strict=True):
        _draw(drawing.append, network, top)
        top += height
    return finish(drawing)


def _draw(put: Callable[[object], object], network: Drawn, top: float) -> None:
    put(label(network.title, MARGIN, top + 14, weight="bold"))
    rows = [_places(tier) for tier in network.tiers]
    for index, row in enumerate(rows):
        y = top + 34 + index * TIER_PX
        if index + 1 < len(rows):
            _join(put, row, rows[index + 1], (y + HIGH, y + TIER_PX), network.joined[index])
            put(label(network.links[index], WIDE - MARGIN, y + HIGH + 36, size=11, colour=FAINT, anchor="end"))
    for index, (tier, row) in enumerate(zip(network.tiers, rows, strict=True)):
        y = top + 34 + index * TIER_PX
        for name, x in row:
            if name is None:
                put(label("…", x + BOX_PX / 2, y + 20, anchor="middle", size=18))
                continue
            put(box(x, y, BOX_PX, HIGH, fill=("#dfe9f3", "#d4ebdf", "#f6ead1", "#ecd9e6")[min(index, 3)], stroke=INK))
            put(label(name, x + BOX_PX / 2, y + 19, anchor="middle", size=10))
        for part, words in enumerate(wrap(f"{tier.name}: {tier.number:,} × {tier.what}", LEFT // 7)):
            put(label(words, MARGIN, y + 12 + 14 * part, size=11))
    for number, note in enumerate(network.notes):
        put(label(note, MARGIN, top + 34 + TIER_PX * len(rows) + 18 * number - 30, size=11, colour=FAINT))


def _places(tier: Tier) -> list[tuple[str | None, float]]:
    room = WIDE - LEFT - RIGHT
    step = min(100.0, room / max(1, len(tier.drawn)))
    left = LEFT + (room - step * len(tier.drawn)) / 2
    return [(name, left + index * step) for index, name in enumerate(tier.drawn)]


def _join(
    put: Callable[[object], object],
    upper: Sequence[tuple[str | None, float]],
    lower: Sequence[tuple[str | None, float]],
    heights: tuple[float, float],
    joined: frozenset[tuple[str, str]] | None,
) -> None:
    """Draw a line between what links join: the pairs in `joined`, or all with all."""
    for below, x2 in lower:
        for position, (above, x1) in enumerate(upper):
            if above is not None and below is not None and (joined is None or (above, below) in joined):
                colour = COLOURS[position % len(COLOURS)]
                put(line(x1 + BOX_PX / 2, heights[0], x2 + BOX_PX / 2, heights[1], colour=colour))


def _networks(considered: Considered) -> tuple[Drawn, ...]:
    chosen = considered.ranking.chosen
    if chosen is None or chosen.candidate.fabric is None:
        return ()
    candidate, context = chosen.candidate, considered.context
    sized = design_fabric(candidate, context)
    fabric = candidate.fabric
    assert fabric is not None
    counted = {each.role: each for each in (fabric.compute, fabric.storage, fabric.out_of_band) if each is not None}
    return tuple(_drawn(network, counted[network.name], sized, considered) for network in networks_of(candidate, context, sized))


def _drawn(network: Network, counted: FabricNetwork, sized: SizedFabric, considered: Considered) -> Drawn:
    switches = considered.context.catalog.switches
    record = switches.get(next(iter(counted.switches), ""))
    model = record.name if record is not None else "switch"
    planes = f", {counted.planes} planes of which one is drawn" if counted.planes > 1 else ""
    ratio = f", {counted.oversubscription:.3g}:1" if counted.spine or counted.links.get("leaf_leaf") else ""
    title = f"{network.name}: {network.technology}, {LAYOUTS[counted.layout]}{planes}{ratio}"
    if network.name == "out-of-band":
        title = f"{network.name}: {network.technology}, a copper cable from every managed port"
    tiers = []
    for tier in ("core", "spine", "leaf"):
        count = getattr(counted, tier) // counted.planes
        if count:
            tiers.append(Tier(tier, _fold(count), getattr(counted, tier), model))
    tiers.append(_ends(network, counted, sized, considered))
    names = [tier.name if tier.name in LINKS else "node" for tier in tiers]
    links = tuple(_links(counted, LINKS[lower]) for lower in names[1:])
    joined = tuple(_joined(network, upper, lower) for upper, lower in pairwise(tiers))
    return Drawn(title, tuple(tiers), links, _notes(network, counted, sized), joined)


def _joined(network: Network, upper: Tier, lower: Tier) -> frozenset[tuple[str, str]] | None:
    """Return which drawn pairs of the first plane are joined, from the links as wired; None for ends that are drawn by kind."""
    wiring = network.wiring.wiring if isinstance(network.wiring, FrontWiring) else network.wiring
    if isinstance(wiring, ManagementWiring):
        return None
    drawn: dict[str, tuple[str, str]] = {}
    for tier, names in zip(("leaf", "spine", "core"), wiring.switches[:3], strict=True):
        drawn |= {device: (tier, f"{number:0{max(2, len(str(len(names))))}d}") for number, device in enumerate(names, start=1)}
    if lower.name not in LINKS:
        if network.name != "compute":
            return None
        units = [(name, int(name.removeprefix("unit "))) for name in lower.drawn if name is not None]
        leaves = [(name, int(name)) for name in upper.drawn if name is not None]
        rails = wiring.rails
        return frozenset((leaf, unit) for unit, number in units for leaf, place in leaves if (place - 1) // rails + 1 == number)
    pairs = set()
    for link in wiring.switch_links():
        if link.plane == 1 and link.tier == LINKS[lower.name]:
            above, below = drawn[link.upper.device][1], drawn[link.lower.device][1]
            if above in upper.drawn and below in lower.drawn:
                pairs.add((above, below))
    return frozenset(pairs)


def _fold(count: int) -> tuple[str | None, ...]:
    """Return the numbers of switches that are drawn; None stands for those left out."""
    width = len(str(count))
    shown = range(1, count + 1) if count <= SHOWN else (*range(1, EDGE + 1), None, count)
    return tuple(None if number is None else f"{number:0{max(2, width)}d}" for number in shown)


def _ends(network: Network, counted: FabricNetwork, sized: SizedFabric, considered: Considered) -> Tier:
    chosen = considered.ranking.chosen
    assert chosen is not None
    candidate = chosen.candidate
    if network.name == "compute" and sized.choice.chosen is not None:
        spec, plane = sized.choice.chosen.spec, sized.choice.chosen.counts.plane
        units = plane.units if plane.tiers > 1 else 1
        node = f"tray of {candidate.node.name}" if candidate.node.is_rack else candidate.node.name
        each = f"{node}, {spec.nics_per_node} × {spec.nic_speed_gbps:g} Gb/s"
        return Tier("nodes", tuple(None if name is None else f"unit {name}" for name in _fold(units)), spec.nodes, each)
    if network.name == "out-of-band":
        return Tier("ports", ("all",), counted.endpoints, "managed ports of nodes, switches, servers, storage and power units")
    ends = counted.links.get("node_leaf", 0) + counted.links.get("management_leaf", 0)
    return Tier("ends", ("nodes", "storage", "servers", "site"), ends, "links of nodes, storage, servers, management, site")


def _links(counted: FabricNetwork, tier: str) -> str:
    number = counted.links.get(tier, 0)
    key = {"node_leaf": "node"}.get(tier, tier)
    length = f", up to {in_units(f'{counted.longest[key]:.3g} m')}" if key in counted.longest else ""
    speed = counted.speed_gbps / counted.planes if tier == "node_leaf" and counted.role == "compute" else counted.speed_gbps
    rate = f" of {speed:g} Gb/s" if tier == "node_leaf" and counted.role != "compute" else ""
    return f"{number:,} links{rate}{length}"


def _notes(network: Network, counted: FabricNetwork, sized: SizedFabric) -> tuple[str, ...]:
    notes = []
    if counted.links.get("leaf_leaf"):
        notes.append(f"{counted.links['leaf_leaf']} links join the two switches")
    if uplinks := counted.links.get("management_leaf"):
        notes.append(f"{uplinks} links of {UPLINK_GBPS:g} Gb/s to management switches")
    if network.name == "compute" and sized.choice.chosen is not None:
        plane = sized.choice.chosen.counts.plane
        if plane.spines:
            links = counting.counted(plane.leaf_spine_pair, "link")
            notes.append(f"{links} from each leaf to each of its {plane.leaf_up // plane.leaf_spine_pair} spines")
        if plane.cores:
            pods = f"{plane.pods} pods of {plane.pod_spines} spines per rail"
            notes.append(f"{pods}; {counting.counted(plane.spine_core_pair, 'link')} from a spine to each of its cores")
        if counted.manager_links:
            notes.append(f"{counted.manager_links} links to two fabric managers")
    if counted.media:
        notes.append("media: " + ", ".join(f"{count:,} {medium_words(medium)}" for medium, count in sorted(counted.media.items())))
    return tuple(notes)
