"""Which switch products a network can be built from, and how each is counted.

Preference, in this order: products that the answers do not exclude; for sale before unknown status; read at its source before not;
then the fewest switches; then known power; then the smaller box; then by id, so that the choice is the same every time.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from math import ceil
from typing import TYPE_CHECKING

from catalogs.schema import Status
from rules.sizing.fabric.counts import Cages, FabricCounts, assumed_cages, count_fabric
from rules.sizing.fabric.inputs import FabricImpossible, FabricInput

if TYPE_CHECKING:
    from collections.abc import Iterable

    from catalogs import Catalog
    from catalogs.loading import Shelf
    from catalogs.schema import Switch
    from rules.answers import Answers

_BREAKOUT = re.compile(r"^(\d+)x(\d+)( per port)?$")
_FASTEST_PORT = 2.5
"""A link may run in a port so many times faster, as 10G runs in an SFP28 cage of 25G and 40G in a QSFP28 cage of 100G."""
_CELL_FABRICS = ("Jericho", "Ramon")
"""Chips of scheduled, cell-based fabrics: line and fabric boxes are combined by their vendor's rules, not by leaf and spine."""
_LARGEST_BOX_PORTS = 256
"""Boxes with more ports are modular directors, themselves a fabric inside."""
_HUNDRED_GBPS_LANES_FROM = 400.0
"""Adapters of this speed and more use lanes of 100 Gb/s in OSFP and QSFP112 cages; the QSFP-DD cages of 400G switches have eight lanes of
50 Gb/s, which no copper cable or short-reach module joins to them [NVIDIA SN5000 and SN4700 port tables; LinkX overview]."""
MOST_SWITCH_KINDS = 4
"""How many products per protocol and speed are counted; the rest differ only in name from the first."""


@dataclass(frozen=True)
class SwitchOption:
    """A switch at one link speed: `ports` of `port_gbps` towards nodes, `uplink_gbps` between switches."""

    switch: Switch
    ports: int
    port_gbps: float
    uplink_gbps: float

    def cages(self, spec: FabricInput, nics_per_cage: int = 1) -> Cages:
        """Return how links share the product's cages; from the throughput where the catalog does not count them."""
        if not self.switch.cages:
            return replace(assumed_cages(spec), nics_per_node_cage=nics_per_cage)
        native = self.switch.port_speed.to("Gb/s")
        per_cage = self.switch.ports / self.switch.cages
        return Cages(
            max(1, round(per_cage * native / self.port_gbps)) if self.ports != self.switch.ports else max(1, round(per_cage)),
            max(1, round(per_cage * native / self.uplink_gbps)),
            nics_per_cage,
        )


@dataclass(frozen=True)
class Counted:
    """A network counted with one product."""

    option: SwitchOption
    spec: FabricInput
    counts: FabricCounts

    @property
    def rank(self) -> tuple[int, bool, float]:
        """Order what carries the same: fewest switches, then known power, then the smaller box."""
        switch = self.option.switch
        return self.counts.switches, switch.power_typical is None, switch.ports * switch.port_speed.to("Gb/s")

    @property
    def height_u(self) -> float:
        """Return the rack units of all boxes; a box of unstated height counts 1U."""
        switch = self.option.switch
        return boxes(switch, self.counts.switches) * (switch.height.to("U") if switch.height is not None else 1.0)


def ports_at(switch: Switch, speed_gbps: float) -> tuple[int, float] | None:
    """Return (ports, speed of a port) for links of `speed_gbps`: native, broken out where the catalog lists it, else the slower link
    in a native port; None where the switch is too slow or much too fast.
    """
    native = switch.port_speed.to("Gb/s")
    if switch.connector.startswith("QSFP-DD") and not switch.connector.startswith("QSFP-DD800") and speed_gbps >= _HUNDRED_GBPS_LANES_FROM:
        return None
    if native == speed_gbps:
        return switch.ports, native
    for text in switch.breakouts:
        found = _BREAKOUT.match(text)
        if found and float(found.group(2)) == speed_gbps:
            return int(found.group(1)) * (switch.ports if found.group(3) else 1), speed_gbps
    return (switch.ports, native) if speed_gbps < native <= _FASTEST_PORT * speed_gbps else None


def switch_options(catalog: Catalog, answers: Answers, technology: str, speed_gbps: float) -> tuple[SwitchOption, ...]:
    """Return the products for links of `speed_gbps`, preferred ones first."""
    announced = answers.text("preferences.announced_products") == "allow"
    unverified = answers.text("preferences.unverified_products") == "allow"
    return _options(catalog.switches, technology, speed_gbps, announced, unverified)


@lru_cache(maxsize=256)
def _options(switches: Shelf[Switch], technology: str, speed_gbps: float, announced: bool, unverified: bool) -> tuple[SwitchOption, ...]:
    found = []
    for switch in switches:
        if switch.protocol != technology or not _countable(switch) or not _allowed(switch, announced, unverified):
            continue
        at = ports_at(switch, speed_gbps)
        if at is not None:
            found.append(SwitchOption(switch, at[0], at[1], _uplink_gbps(switch, technology, at[1])))
    found.sort(key=lambda each: (*_preference(each.switch), -each.ports, each.switch.id))
    best = [each for each in found if _preference(each.switch)[:3] == _preference(found[0].switch)[:3]]
    return tuple(best[:MOST_SWITCH_KINDS])


def _countable(switch: Switch) -> bool:
    return (
        switch.role != "management"
        and switch.ports <= _LARGEST_BOX_PORTS
        and not any(chip in switch.asic for chip in _CELL_FABRICS)
        and switch.cooling != "liquid"
    )


def _allowed(switch: Switch, announced: bool, unverified: bool) -> bool:
    if switch.status in (Status.ANNOUNCED, Status.END_OF_LIFE) and not announced:
        return False
    return switch.verified or unverified


def _preference(switch: Switch) -> tuple[bool, bool, bool, bool]:
    """Order products of one kind: real ones before planning classes, then for sale, read at its source, with known power.

    A managed InfiniBand switch runs its own subnet manager.
    """
    return (
        switch.role != "fabric",
        switch.status is not Status.AVAILABLE,
        not (switch.verified and switch.managed),
        switch.power_typical is None,
    )


def _uplink_gbps(switch: Switch, technology: str, port_gbps: float) -> float:
    """InfiniBand ports are split towards hosts only. Ethernet links between switches run at the links' speed, as in published designs of
    two planes (400G on 800G cages), but a cage is split into no more than two of them.
    """
    native = switch.port_speed.to("Gb/s")
    return native if technology == "infiniband" else max(port_gbps, native / 2)


def count_with(options: Iterable[SwitchOption], spec: FabricInput, nics_per_cage: int = 1) -> Counted | None:
    """Return the network built from the option that needs the fewest switches, the smaller box where equal; None where none can.

    `spec` gives all but the switch, which each option fills in; `nics_per_cage` adapters share a cage at the node.
    """
    best: Counted | None = None
    for option in options:
        full = replace(spec, switch_ports=option.ports, port_speed_gbps=option.port_gbps, uplink_speed_gbps=option.uplink_gbps)
        try:
            counts = count_fabric(full, option.cages(full, nics_per_cage))
        except FabricImpossible:
            continue
        made = Counted(option, full, counts)
        if best is None or made.rank < best.rank:
            best = made
    return best


def boxes(switch: Switch, switches: int) -> int:
    """Return the boxes that hold so many switches."""
    return ceil(switches / switch.switches_per_box)
