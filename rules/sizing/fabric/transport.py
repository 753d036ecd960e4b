"""What keeps a fabric's transport whole: buffers of lossless Ethernet, the addresses, managers and reductions of InfiniBand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from catalogs.schema import Switch
    from rules.sizing.fabric.switching import Counted

DELAY_NS_PER_M = 5.0
"""Time that light or a signal takes per metre of cable [NVIDIA MCP1650 specifications: 4.5 ns/m of copper; fibre 4.9]."""
LARGEST_FRAME_BYTES = 9216
"""Largest frame that switches carry [Juniper and NVIDIA guides on RoCEv2]."""
FRAMES_UNDER_WAY = 2
"""A frame that is being sent when the pause is decided, and one that is being sent when it arrives [IEEE 802.1Qbb, pause of a priority]."""
RESPONSE_BIT_TIMES = {10: 30_720, 25: 40_960, 40: 60_416, 100: 201_728, 400: 463_360}
"""Longest that a sender may take to obey a pause, in bits of its own rate in Gb/s [IEEE 802.3 31B, as
https://www.besthub.dev/articles/how-to-compute-headroom-for-lossless-ethernet-links-part-2-6f1dc894e989 prints it]. Between and above
these rates the time of the next higher, else of the highest, is taken: 1.16 µs at 200, 400 and 800 Gb/s."""
BITS_PER_BYTE, GIGA = 8.0, 1e9
SHARP_TREES = {"Quantum-2": "quantum_2", "Quantum": "quantum"}
"""Generations of switches whose limits of in-network reduction are published, by the words of the catalog's `asic`, longest first."""


@dataclass(frozen=True)
class Headroom:
    """Buffer that a paused port still fills, per port and of all `ports` of a leaf, in bytes; `buffer` is None where not stated."""

    per_port: float
    ports: int
    buffer: float | None

    @property
    def whole(self) -> float:
        """Return the headroom of all ports of a leaf."""
        return self.per_port * self.ports


def headroom_bytes(length_m: float, gbps: float) -> float:
    """Return what may arrive at a port after it asked for a pause: what is on the cable both ways, the frames under way at both ends, and
    what the sender still sends until it obeys.

    `length_m` of cable at `gbps` Gb/s: 100 m at 400 Gb/s carry 50 kB both ways, to which two frames and 57.9 kB of the response come.
    """
    on_cable = 2.0 * length_m * DELAY_NS_PER_M * 1e-9 * gbps * GIGA / BITS_PER_BYTE
    return on_cable + FRAMES_UNDER_WAY * LARGEST_FRAME_BYTES + response_bytes(gbps)


def response_bytes(gbps: float) -> float:
    """Return what a sender of `gbps` Gb/s may still send before it obeys a pause."""
    rate = min((each for each in RESPONSE_BIT_TIMES if each >= gbps), default=max(RESPONSE_BIT_TIMES))
    return RESPONSE_BIT_TIMES[rate] * gbps / rate / BITS_PER_BYTE


def headroom_of(counted: Counted, longest_m: float) -> Headroom:
    """Return the headroom of a leaf whose longest cable has `longest_m`, with one lossless queue per port."""
    plane, switch = counted.counts.plane, counted.option.switch
    used = max((group.down + group.up for group in plane.leaves), default=0)
    buffer = switch.buffer.to("B") if switch.buffer is not None else None
    return Headroom(headroom_bytes(longest_m, counted.spec.link_speed_gbps), used, buffer)


def lids(counted: Counted) -> int:
    """Return the LIDs of one subnet: one per switch, adapter and manager link of a plane."""
    counts, spec = counted.counts, counted.spec
    return counts.switches // counts.planes + spec.nodes * spec.nics_per_node + counts.manager_links


def largest_subnet_nodes(counted: Counted, most_lids: int) -> int:
    """Return the nodes that one subnet of `most_lids` LIDs takes, were its switches as many per node as now."""
    return min(counted.spec.nodes, int(counted.spec.nodes * most_lids / lids(counted)))


def sharp_generation(switch: Switch) -> str:
    """Return the generation under which the limits of in-network reduction are published, "" where none is or the switch has none."""
    if not switch.in_network_reduction:
        return ""
    return next((name for words, name in SHARP_TREES.items() if switch.asic == words), "")


def subnet_manager_words(counted: Counted) -> str:
    """Return where subnet managers run: on appliances where these have links, else on managed switches, else on servers."""
    switch = counted.option.switch
    if counted.counts.manager_links:
        return "two managers on appliances, one active and one standby"
    if switch.manager_port:
        return "two managers on appliances at the switches' own management ports, one active and one standby"
    if switch.managed:
        number = min(2, counted.counts.switches)
        return "one manager on board of the switch" if number == 1 else "two managers on board of two switches, one active and one standby"
    return "two managers on servers of their own, since the switches have none on board"
