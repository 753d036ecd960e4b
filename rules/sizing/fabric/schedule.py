"""The cable schedule: every cable of a design with both ends, one row per logical link, without a list of all of them.

    for row in schedule_of(candidate, context): ...

A row is a link. Links that share an assembly, a splitter or a fan of fibres have one `label`; there are as many labels of a product as the
bill of materials counts. A module sits in a cage (device, cage): links that share the cage share the module.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from rules.sizing.fabric.cabling import sides_of
from rules.sizing.fabric.design import OUT_OF_BAND_CABLE, SizedFabric, design_fabric
from rules.sizing.fabric.floor import run_m, sold_m, tray_path
from rules.sizing.fabric.front_cabling import FrontMedia
from rules.sizing.fabric.front_links import SITE, UPLINK, FrontWiring
from rules.sizing.fabric.front_runs import NODE, STORAGE
from rules.sizing.fabric.links import LEAF_LEAF, LEAF_SPINE, MANAGER, SPINE_CORE, Wiring
from rules.sizing.fabric.management import ManagementWiring
from rules.sizing.fabric.media import Medium, choose_medium
from rules.sizing.fabric.networks import networks_of
from rules.sizing.fabric.runs import Runs
from rules.sizing.fabric.stands import Stand, stands_of
from rules.sizing.fabric.switch_runs import SwitchRuns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from catalogs import Catalog
    from rules.candidate import Candidate, Context
    from rules.sizing.fabric.links import Link
    from rules.sizing.fabric.networks import Network


class Row(NamedTuple):
    """One link of the schedule. Lengths in m: `run_m` as routed, `length_m` as bought. No optics where the cable has plugs."""

    label: str
    bundle: str
    link: Link
    lower: Stand
    upper: Stand
    medium: str
    cable: str
    run_m: float
    length_m: float
    path: str
    lower_optic: str
    upper_optic: str


def schedule_of(candidate: Candidate, context: Context) -> Iterator[Row]:
    """Yield the rows of all networks of a candidate, in the order of their links; none for a single node."""
    sized = design_fabric(candidate, context)
    networks = networks_of(candidate, context, sized)
    stands = stands_of(candidate, context, networks, sized.floor)
    return chain.from_iterable(_rows(network, sized, context.catalog, stands) for network in networks)


def _rows(network: Network, sized: SizedFabric, catalog: Catalog, stands: Mapping[str, Stand]) -> Iterator[Row]:
    medium_of = _media(network, sized, catalog)
    for link in network.links():
        medium, longest = medium_of(link)
        lower, upper = stands[link.lower.device], stands[link.upper.device]
        run = run_m(lower.place, upper.place)
        end = link.upper
        length = sold_m(longest if _shared(link, medium) or link.lower.device == SITE else run)  # the router stands elsewhere
        yield Row(
            f"{end.device}:{_piece(link, medium)}", f"{lower.rack}–{upper.rack}", link, lower, upper, medium.medium,
            medium.assembly or medium.fibre, run, length, tray_path(lower.place, upper.place), medium.lower, medium.upper,
        )  # fmt: skip


def _one_plug(link: Link, medium: Medium) -> bool:
    """Return whether the links of the upper cage leave through one plug."""
    return bool(medium.assembly) and not medium.per_link and link.upper.lanes > 1


def _shared(link: Link, medium: Medium) -> bool:
    """Return whether several links share a cable, which is then as long as the longest of them needs."""
    return medium.split > 1 or _one_plug(link, medium)


def _piece(link: Link, medium: Medium) -> str:
    """Return what tells a cable from the others at its upper device: its port, its cage where plugs are shared, its optical port."""
    end = link.upper
    if link.tier == UPLINK:  # fanned out of one optical port
        return end.port.split(":")[0]
    if _one_plug(link, medium):
        return str(end.cage)
    return end.port if medium.split == 1 else f"{end.cage}.{(end.lane - 1) // medium.split + 1}"


def _media(network: Network, sized: SizedFabric, catalog: Catalog) -> Callable[[Link], tuple[Medium, float]]:
    """Return a function from a link to its medium and the length that decided on it; the same choice as the bill's."""
    wiring = network.wiring
    if isinstance(wiring, ManagementWiring):
        cable = Medium("copper", OUT_OF_BAND_CABLE, per_link=True)
        return lambda _: (cable, 0.0)
    if isinstance(wiring, FrontWiring):
        return _front_media(wiring, sized, catalog)
    return _compute_media(wiring, sized, catalog)


def _compute_media(wiring: Wiring, sized: SizedFabric, catalog: Catalog) -> Callable[[Link], tuple[Medium, float]]:
    counted = sized.choice.chosen
    assert counted is not None
    runs = Runs(wiring, sized.floor, "compute")
    node, manager, _ = sides_of(wiring, counted, sized.adapters)
    between = _between(runs, sized, catalog, wiring)
    block = {name: runs.block_of(index) for plane in wiring.switches[::3] for index, name in enumerate(plane)}
    known: dict[tuple[int, int, bool], tuple[Medium, float]] = {}

    def medium_of(link: Link) -> tuple[Medium, float]:
        found = between(link)
        if found is not None:
            return found
        key = (block[link.upper.device], link.group, link.tier == MANAGER)
        found = known.get(key)
        if found is None:
            length = runs.cage_m(key[0], key[1])
            found = known[key] = choose_medium(catalog, manager if key[2] else node, length), length
        return found

    return medium_of


def _between(runs: Runs, sized: SizedFabric, catalog: Catalog, wiring: Wiring) -> Callable[[Link], tuple[Medium, float] | None]:
    """Return a function from a link between switches to its medium and the length that decided on it; None for other links."""
    counted = sized.choice.chosen if runs.role == "compute" else sized.front.network
    assert counted is not None
    among = sides_of(wiring, counted, sized.adapters)[2]
    tiers = {tier: SwitchRuns(wiring, runs.floor, runs.role, tier) for tier in (LEAF_SPINE, SPINE_CORE)}
    sides = {tier: replace(among, crossed=each.crossed) for tier, each in tiers.items() if each.pair}
    media: dict[tuple[str, float], Medium] = {}

    def medium_of(link: Link) -> tuple[Medium, float] | None:
        if link.tier not in (LEAF_SPINE, SPINE_CORE, LEAF_LEAF):
            return None
        found = tiers.get(link.tier)
        length = found.length_m(link.lower.device, link.upper.device) if found else runs.leaf_leaf_m
        medium = media.get((link.tier, length))
        if medium is None:
            medium = media[link.tier, length] = choose_medium(catalog, sides.get(link.tier, among), length)
        return medium, length

    return medium_of


def _front_media(wiring: FrontWiring, sized: SizedFabric, catalog: Catalog) -> Callable[[Link], tuple[Medium, float]]:
    media = FrontMedia(wiring, sized.front_adapters, catalog, sized.floor)
    between = _between(media.runs, sized, catalog, wiring.wiring)
    leaves = {name: index for index, name in enumerate(wiring.wiring.switches[0])}

    def medium_of(link: Link) -> tuple[Medium, float]:
        found = between(link)
        if found is not None:
            return found
        length = media.lengths.cage_m(leaves[link.upper.device], link.group)
        if link.tier == UPLINK:
            return media.uplink(length), length
        return media.of(STORAGE if link.lower.device.startswith("storage-") else NODE, length), length

    return medium_of
