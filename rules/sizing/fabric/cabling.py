"""Cables and transceivers of a network: what carries each group of links over its length, how many, and what that draws.

The schedule (`rules.sizing.fabric.schedule`) tells the same cables one by one; both take lengths from `runs` and media from `media`.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from math import ceil
from typing import TYPE_CHECKING

from rules.sizing.fabric.media import Medium, Side, choose_medium, family_of
from rules.sizing.fabric.runs import Runs
from rules.sizing.fabric.switch_runs import SwitchRuns

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalogs import Catalog
    from rules.sizing.fabric.adapters import Adapters
    from rules.sizing.fabric.floor import Floor
    from rules.sizing.fabric.links import Wiring
    from rules.sizing.fabric.switching import Counted

SWITCH_RACK_UNITS = 42
"""Rack units of a network rack where the answers do not give the hall's: the rack of 42U that vendors' plans take as usual."""
UPLINK_GBPS, UPLINK_FAMILY = 100.0, "QSFP28"
"""Uplinks of management switches: four of 100G in QSFP28 cages [NVIDIA SN2201]."""
PLAIN_CAGES = ("QSFP28", "QSFP56")
UPLINKS_PER_PORT = 4
"""Uplinks that one optical port of four 100G lanes serves, a lane each (100G DR1 at the other end [IEEE 802.3])."""


@dataclass(frozen=True)
class Cabling:
    """What joins a network: `cables` by product id or, where the catalog has none, by what they are; `modules` by tier and side.

    The watts are those of transceivers and active ends in switches; modules in nodes belong to the nodes. `media` counts links by medium,
    `longest` gives the longest run in m by tier, `metres` the length of all cables, each as long as the run that decided on it.
    """

    cables: Mapping[str, int]
    modules: Mapping[str, int]
    watts_typical: float
    watts_maximum: float
    longest: Mapping[str, float]
    media: Mapping[str, int]
    metres: float = 0.0

    @property
    def longest_m(self) -> float:
        """Return the longest run in m."""
        return max(self.longest.values(), default=0.0)


def management_ports(uplinks: int, port_gbps: float, connector: str, per_cage: int = 1) -> int:
    """Return the leaf ports that `uplinks` of management switches take, half of them on each of two leaves.

    Cages of 100G and 200G (QSFP28, QSFP56) take one each. Of an optical port of four 100G lanes in an OSFP cage four are fanned out; it
    counts as several ports where the cage is broken out further, and no other link shares the cages of fans, which hold `per_cage` ports.
    """
    if connector.startswith(PLAIN_CAGES):
        return uplinks
    ports = ceil(uplinks / 2 / UPLINKS_PER_PORT) * fan_ports(port_gbps)
    return 2 * per_cage * ceil(ports / per_cage)


def fan_ports(port_gbps: float) -> int:
    """Return the ports of `port_gbps` Gb/s that an optical port of four 100G lanes counts as."""
    return max(1, ceil(UPLINKS_PER_PORT * UPLINK_GBPS / port_gbps))


class Tally:
    """Collects the cables of several runs of one network."""

    def __init__(self) -> None:
        self.cables: Counter[str] = Counter()
        self.modules: Counter[str] = Counter()
        self.media: Counter[str] = Counter()
        self.longest: dict[str, float] = {}
        self.typical = self.maximum = self.metres = 0.0

    def add(
        self,
        medium: Medium,
        links: int,
        lower: int,
        upper: int,
        sides: tuple[str, str],
        length_m: float,
        *,
        lower_in_switch: bool = False,
        fibres: int | None = None,
        run_m: float | None = None,
    ) -> None:
        """Add `links` links over `lower` and `upper` cages; `sides` name the ends for the count of modules.

        `length_m` decided on the medium; `run_m` is the longest run, where that is another.
        `fibres` is given where links share optical ports that are not all full; else each port has `split` links.
        """
        pieces = ceil(links / medium.split) if fibres is None else fibres
        self.media[medium.medium] += links
        self.longest[sides[0]] = max(self.longest.get(sides[0], 0.0), length_m if run_m is None else run_m)
        if medium.assembly:
            pieces = links if medium.per_link else upper
            self.cables[medium.assembly] += pieces
            self.metres += pieces * length_m
            self._draw(medium.upper_watts, pieces)
            if lower_in_switch:
                self._draw(medium.lower_watts, pieces)
            return
        self.metres += pieces * length_m
        self._draw(medium.upper_watts, upper)
        if lower_in_switch:
            self._draw(medium.lower_watts, lower)
        for name, count in ((medium.upper, upper), (medium.lower, lower), (medium.fibre, pieces)):
            if count:
                self.cables[name] += count
        self.modules[sides[0]] += lower
        self.modules[sides[1]] += upper

    def draw(self, watts: tuple[float, float], count: int) -> None:
        """Add the power of further ends in switches."""
        self._draw(watts, count)

    def _draw(self, watts: tuple[float, float], count: int) -> None:
        self.typical, self.maximum = self.typical + count * watts[0], self.maximum + count * watts[1]

    @property
    def result(self) -> Cabling:
        """Return what was collected."""
        modules = {side: number for side, number in self.modules.items() if number}
        return Cabling(dict(self.cables), modules, self.typical, self.maximum, dict(self.longest), dict(self.media), self.metres)


def sides_of(wiring: Wiring, counted: Counted, adapters: Adapters) -> tuple[Side, Side, Side]:
    """Return what links to nodes, to fabric managers and between switches have in common."""
    spec, cages, switch = wiring.spec, wiring.cages, counted.option.switch
    own = adapters.per_cage * spec.planes  # an adapter's links to all planes leave through one cage
    crossed = own > 1 and (wiring.is_rail or wiring.halves or spec.planes > 1)
    node = Side(
        min(spec.link_speed_gbps, spec.port_speed_gbps),
        own,
        cages.leaf_down,
        family_of(adapters.connector, own),
        family_of(switch.connector),
        to_node=True,
        lower_known=bool(adapters.connector),
        ethernet=switch.protocol == "ethernet",
        crossed=crossed,
    )
    manager = replace(node, lower_per_cage=1, lower_family=family_of(adapters.connector), crossed=True)
    family = family_of(switch.connector)
    among = Side(spec.uplink_speed_gbps, cages.uplink, cages.uplink, family, family, ethernet=node.ethernet)
    return node, manager, among


def cable_network(wiring: Wiring, counted: Counted, adapters: Adapters, catalog: Catalog, floor: Floor, role: str) -> Cabling:
    """Return the cables and transceivers of the network among GPUs, whose devices stand on `floor`."""
    tally, runs = Tally(), Runs(wiring, floor, role)
    node, manager, _ = sides_of(wiring, counted, adapters)
    for length, share in runs.node_shares().items():
        medium = choose_medium(catalog, node, length)
        sides = ("node", "leaf_node")
        tally.add(medium, share.links, share.node_cages, share.leaf_cages, sides, length, fibres=share.fibres(medium.split))
    _cable_managers(tally, runs, manager, catalog)
    cable_switches(tally, runs, counted, adapters, catalog)
    return tally.result


def _cable_managers(tally: Tally, runs: Runs, side: Side, catalog: Catalog) -> None:
    """Add the links of fabric managers; those in a cage, or on an optical port, of a node's link share its module, or its fibre."""
    wiring, per = runs.wiring, runs.wiring.cages.leaf_down
    used = [group.down for group in wiring.plane.leaves for _ in range(group.switches)]
    cages, ports = set(), set()
    for manager, plane, leaf, slot in wiring.manager_ports():
        length = runs.cage_m(runs.block_of(leaf), slot // per)
        medium = choose_medium(catalog, side, length)
        cage, port = (plane, leaf, slot // per), (plane, leaf, slot // medium.split)
        taken = -(-used[leaf] // per), -(-used[leaf] // medium.split)
        new_cage, new_port = cage[2] >= taken[0] and cage not in cages, port[2] >= taken[1] and port not in ports
        cages.add(cage)
        ports.add(port)
        run = runs.manager_run_m(manager, plane, leaf)
        tally.add(medium, 1, 1, int(new_cage), ("manager", "leaf_node"), length, fibres=int(new_port), run_m=run)


def cable_switches(tally: Tally, runs: Runs, counted: Counted, adapters: Adapters, catalog: Catalog) -> None:
    """Add the links between switches, each block of them with the medium of its own length."""
    counts, among = counted.counts, sides_of(runs.wiring, counted, adapters)[2]
    for lower, upper in (("leaf_spine", "spine_leaf"), ("spine_core", "core_spine")):
        if not counts.links[lower]:
            continue
        tier = SwitchRuns(runs.wiring, runs.floor, runs.role, lower)
        side = replace(among, crossed=tier.crossed)
        for length, share in tier.shares(counts.links[lower], counts.cages[lower], counts.cages[upper]).items():
            medium = choose_medium(catalog, side, length)
            tally.add(medium, *share, (lower, upper), length, lower_in_switch=True)
    if counts.inter_switch_links:
        half, length = counts.cages["leaf_leaf"] // 2, runs.leaf_leaf_m
        medium = choose_medium(catalog, among, length)
        tally.add(medium, counts.inter_switch_links, half, half, ("leaf_leaf", "leaf_leaf"), length, lower_in_switch=True)
