"""What a switched fabric is counted from, and the two ways in which that can fail.

`FabricInput` is the closed schema of the `fabric` command: any other key is an error that names the nearest one.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

LAYOUTS = ("rail", "rail_only", "tree", "single", "pair")
WIRED_FOR = ("units", "nodes")
HALF_UNIT = 0.5
"""A rail-optimized unit is built once more than half of its node ports are used; below, two rails share a leaf and fewer switches do."""
_LARGEST_COUNT = 10_000_000
LARGEST_RADIX = 4096
"""Twice the ports of the largest director (2,048); 512 are the most of a single chip's box."""
_SMALLEST = 0.01
"""Smallest speed or ratio of bandwidths that is counted with, assumed: no leaf has a hundred times more uplink than downlink."""
_EXAMPLES = {"down_to_up": 1}
_LARGEST_SPEED_GBPS = 1_000_000.0
_SIMILAR = 0.6
"""Likeness from which a wrong word is taken for a slip of a known one (difflib's own default)."""
_OTHER_NAMES = {
    "oversubscription": "down_to_up, downlink to uplink bandwidth: 3 for 3:1", "ratio": "down_to_up", "blocking": "down_to_up",
    "ports": "switch_ports", "radix": "switch_ports", "rails": "nics_per_node", "managers": "manager_ports", "topology": "layout",
    "spines": "least_spines", "gpus": "nodes and nics_per_node", "endpoints": "nodes and nics_per_node", "servers": "nodes",
    "pods": "nodes alone, pods follow from them", "tiers": "nodes alone, tiers follow from them",
}  # fmt: skip
"""What others call the keys, or what they ask for that is worked out here."""
PORT_SPEEDS_GBPS = (1.0, 2.5, 5.0, 10.0, 20.0, 25.0, 40.0, 50.0, 56.0, 100.0, 200.0, 400.0, 800.0, 1600.0, 3200.0)
"""Rates of one port of Ethernet [IEEE 802.3, up to 1.6 Tb/s in P802.3dj] or InfiniBand [IBTA roadmap, from SDR 10 to LDR 3200 Gb/s]."""
_RATIO_DENOMINATOR = 100
"""Ratios are written with two or three digits ("1.67"): the nearest fraction with a small denominator (5/3) is meant."""


class FabricInputError(ValueError):
    """An input table that cannot be read; the message names the key, what was expected and an example."""


class FabricImpossible(ValueError):  # noqa: N818 - it is an answer, not a fault of the input
    """A fabric that cannot be built: the reason, and the nearest that can, which may be worked out when it is asked for."""

    def __init__(self, reason: str, nearest: str | Callable[[], str]) -> None:
        super().__init__(reason)
        self.reason, self._nearest = reason, nearest

    @property
    def nearest(self) -> str:
        """Return the nearest that can be built."""
        return self._nearest if isinstance(self._nearest, str) else self._nearest()

    def __str__(self) -> str:
        return f"{self.reason}; nearest that can be built: {self.nearest}"


@dataclass(frozen=True)
class FabricInput:
    """One fabric to count.

    `nodes` are scale-out nodes (a tray, where racks come pre-integrated), each with `nics_per_node` adapters of `nic_speed_gbps`.
    A switch has `switch_ports` logical ports of `port_speed_gbps` (after breakout); its uplinks run at `uplink_speed_gbps` and
    share the switch's bandwidth. `planes` are independent copies of the fabric, over which an adapter's speed is divided.
    `down_to_up` is downlink to uplink bandwidth of a leaf (1 is non-blocking, 3 is 3:1). `manager_ports` are links of fabric managers.
    Two tiers are `wired_for` whole "units", as in the published designs, whose leaves have their uplinks although some downlinks are
    empty; or for the "nodes" that there are, spread evenly over the units, with the uplinks that the ratio asks for.
    `least_spines` are wanted above the leaves of each plane, so that one may fail: an uplink goes to each of them.
    `rack_nodes` nodes make one rack that stays in one unit, where a leaf has ports for it: the trays of a rack with one scale-up domain.
    """

    nodes: int
    nics_per_node: int
    nic_speed_gbps: float
    switch_ports: int
    port_speed_gbps: float
    uplink_speed_gbps: float
    layout: str = "rail"
    planes: int = 1
    down_to_up: float = 1.0
    manager_ports: int = 0
    wired_for: str = "units"
    rack_nodes: int = 1
    least_spines: int = 1

    @classmethod
    def of(cls, table: Mapping[str, object]) -> FabricInput:
        """Read an `input` table; raises FabricInputError for a wrong, missing or unknown key.

        `uplink_speed_gbps` defaults to the port's speed, `nic_speed_gbps` to the port's speed times the planes.
        """
        known = [each.name for each in fields(cls)]
        for key in table:
            if key not in known:
                raise FabricInputError(f"{key}: no such key of a fabric's input{_hint(key, known)}")
        planes = _count(table, "planes", 1, 1, 64)
        port_speed = _number(table, "port_speed_gbps", None)
        layout = table.get("layout", "rail")
        if layout not in LAYOUTS:
            near = difflib.get_close_matches(str(layout), LAYOUTS, n=1, cutoff=_SIMILAR)
            meant = f"; did you mean {near[0]!r}?" if near else ""
            raise FabricInputError(f"layout: expected one of {', '.join(LAYOUTS)}, got {layout!r}{meant}")
        wired_for = table.get("wired_for", "units")
        if wired_for not in WIRED_FOR:
            raise FabricInputError(f"wired_for: expected one of {', '.join(WIRED_FOR)}, got {wired_for!r}")
        found = cls(
            nodes=_count(table, "nodes", None, 1, _LARGEST_COUNT),
            nics_per_node=_count(table, "nics_per_node", None, 1, 1024),
            nic_speed_gbps=_number(table, "nic_speed_gbps", port_speed * planes),
            switch_ports=_count(table, "switch_ports", None, 2, LARGEST_RADIX),
            port_speed_gbps=port_speed,
            uplink_speed_gbps=_number(table, "uplink_speed_gbps", port_speed),
            layout=str(layout),
            planes=planes,
            down_to_up=_number(table, "down_to_up", 1.0),
            manager_ports=_count(table, "manager_ports", 0, 0, _LARGEST_COUNT),
            wired_for=str(wired_for),
            rack_nodes=_count(table, "rack_nodes", 1, 1, 1024),
            least_spines=_count(table, "least_spines", 1, 1, 1024),
        )
        _check_speeds(found)
        return found

    @property
    def link_speed_gbps(self) -> float:
        """Return the speed of one link between a node and a leaf: the adapter's share of one plane."""
        return self.nic_speed_gbps / self.planes

    @property
    def ratio(self) -> Fraction:
        """Return `down_to_up` as the simple fraction that its few digits mean."""
        return Fraction(self.down_to_up).limit_denominator(_RATIO_DENOMINATOR)

    @property
    def spine_ports(self) -> int:
        """Return the ports of a switch when all of them run at the uplinks' speed."""
        return int(self.switch_ports * self.port_speed_gbps / self.uplink_speed_gbps + 1e-9)


def _check_speeds(spec: FabricInput) -> None:
    """Raise FabricInputError where a port, or the link of one plane, would run at a rate that no port has."""
    for key in ("port_speed_gbps", "uplink_speed_gbps"):
        if (speed := getattr(spec, key)) not in PORT_SPEEDS_GBPS:
            raise FabricInputError(f"{key}: no port runs at {speed:g} Gb/s; the nearest that do run at {nearest_speeds(speed)}")
    link = spec.link_speed_gbps
    if link in PORT_SPEEDS_GBPS:
        return
    if spec.planes == 1:
        raise FabricInputError(f"nic_speed_gbps: no port runs at {link:g} Gb/s; the nearest that do run at {nearest_speeds(link)}")
    fit = [str(planes) for planes in range(1, 2 * spec.planes + 1) if spec.nic_speed_gbps / planes in PORT_SPEEDS_GBPS]
    nearest = f"planes = {' or '.join(fit[-2:])}" if fit else f"adapters of {nearest_speeds(link, spec.planes)}"
    raise FabricInputError(
        f"planes: an adapter of {spec.nic_speed_gbps:g} Gb/s over {spec.planes} planes has links of {link:.6g} Gb/s, as no port has; "
        f"nearest: {nearest}"
    )


def nearest_speeds(speed_gbps: float, times: int = 1) -> str:
    """Return the rates of ports below and above a speed, `times` as much of them."""
    below = [each for each in PORT_SPEEDS_GBPS if each < speed_gbps][-1:]
    above = [each for each in PORT_SPEEDS_GBPS if each > speed_gbps][:1]
    return " or ".join(f"{each * times:g} Gb/s" for each in (*below, *above))


def _hint(key: str, known: list[str]) -> str:
    """Return what is said after a key that there is not: what it may have meant, else the keys that there are."""
    if key in _OTHER_NAMES:
        return f"; write {_OTHER_NAMES[key]}"
    near = difflib.get_close_matches(key, known, n=1, cutoff=_SIMILAR)
    return f"; did you mean {near[0]!r}?" if near else f"; the keys are {', '.join(known)}"


def _count(table: Mapping[str, object], key: str, default: int | None, low: int, high: int) -> int:
    value = table.get(key, default)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value != value or value in (float("inf"), float("-inf")):
        raise FabricInputError(f"{key}: expected a whole number from {low} to {high:,}, got {'nothing' if value is None else repr(value)}")
    if value != int(value) or not low <= value <= high:
        raise FabricInputError(f"{key}: expected a whole number from {low} to {high:,}, got {value!r}")
    return int(value)


def _number(table: Mapping[str, object], key: str, default: float | None) -> float:
    value = table.get(key, default)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not _SMALLEST <= value <= _LARGEST_SPEED_GBPS:
        ends = f"from {_SMALLEST:g} to {_LARGEST_SPEED_GBPS:,.0f}, such as {_EXAMPLES.get(key, 400)}"
        raise FabricInputError(f"{key}: expected a number {ends}, got {'nothing' if value is None else repr(value)}")
    return float(value)
