"""The acceptance plan: what to run before hand-over, what it should show at every message size and scale, and what fails.

Bus bandwidth is what nccl-tests and rccl-tests print: the algorithm's bandwidth times 2(n-1)/n for all-reduce, (n-1)/n for all-gather,
reduce-scatter and all-to-all, 1 for send and receive. Expected values are those of `rules.sizing.collectives`, with the ratio of the
wired fabric where a test crosses its spines.

Limits follow the published curves in `catalogs/collectives`: from 1 GiB up every healthy one reaches 87 % of the expected value or more;
between 64 MiB and 1 GiB slow ones come down to 67 %, below that they differ by more than a limit could say. tests/sizing/test_acceptance.py
holds every curve against the limits.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rules.sizing.acceptance_commands import GIB, SUITES, command, suite_notes
from rules.sizing.collectives import (
    ALL_GATHER,
    ALL_REDUCE,
    ALL_TO_ALL,
    MIB,
    POINT_TO_POINT,
    REDUCE_SCATTER,
    Group,
    bus_bandwidth,
    collective_seconds,
)
from rules.sizing.fabric.design import design_fabric
from rules.sizing.hardware import BITS_PER_BYTE, GIGA, hardware_of
from rules.sizing.lookup import threshold_number
from rules.sizing.node_map import TOPOLOGY_COMMANDS, placement_of

if TYPE_CHECKING:
    from rules.candidate import Candidate, Context
    from rules.sizing.fabric.design import SizedFabric
    from rules.sizing.hardware import Hardware

PASS_FROM_BYTES, PASS_SHARE = GIB, 0.85
"""Messages from which a limit holds, and the share of the expected value that passes. The lowest published healthy result is 78 of 90
GB/s, on two p4de nodes [awsome-distributed-training nccl-tests README]; the others reach 93 % and more."""
LOOK_FROM_BYTES, LOOK_SHARE = 64 * MIB, 0.65
"""Messages from which a low value is to be looked into: at 64 MiB two p5 nodes reach 67 % of the expected value [the same]."""
RAW_SHARE = 0.9
"""Share of an adapter's rate that RDMA writes between two nodes reach: 180 of 200 Gb/s where collectives were slow all the same
[NVIDIA/nccl-tests issue 112], 392 of 400 [NVIDIA/nccl issue 2409]."""
SIZES = tuple(4.0**power * 1024 for power in range(13))
"""Messages of the curve: 1 KiB to 16 GiB in steps of four."""
LARGEST_SHARE = 0.25
"""Share of a GPU's memory that the largest message takes at most: the test holds a send and a receive buffer, and checks a third."""
PASS, LOOK, FAIL = "pass", "look into", "fail"


@dataclass(frozen=True)
class Point:
    """One message size in bytes with the expected bus bandwidth and the limit, in bytes per second; no limit below LOOK_FROM_BYTES."""

    size: float
    expected: float
    limit: float | None
    fails: bool

    def verdict(self, measured: float) -> str:
        """Return what a measured bus bandwidth in bytes per second means."""
        if self.limit is None or measured >= self.limit:
            return PASS
        return FAIL if self.fails else LOOK


@dataclass(frozen=True)
class CollectiveTest:
    """One run of a collective: where, over how many GPUs and nodes, with which command, and what it should show."""

    where: str
    operation: str
    nodes: int
    ranks: int
    command: str
    points: tuple[Point, ...]

    @property
    def called(self) -> str:
        """Return the operation as text names it."""
        return "send and receive" if self.operation == "p2p" else self.operation.replace("_", "-")

    @property
    def limit(self) -> float:
        """Return the limit at the largest message, in bytes per second."""
        return self.points[-1].limit or 0.0


@dataclass(frozen=True)
class Check:
    """One check that comes before collectives: what it looks at, the command, and what passes."""

    what: str
    command: str
    passes: str


@dataclass(frozen=True)
class AcceptancePlan:
    """Checks of every node and pair, then collectives from one node to all of them."""

    suite: str
    checks: tuple[Check, ...]
    tests: tuple[CollectiveTest, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Scale:
    """How many nodes take part, in words, and whether their traffic crosses the spines."""

    where: str
    nodes: int
    ranks: int
    crosses: bool
    operations: tuple[str, ...] = (ALL_REDUCE,)


def acceptance_plan(candidate: Candidate, context: Context) -> AcceptancePlan:
    """Return the plan for a candidate; a single node is tested alone."""
    hardware = hardware_of(candidate.node, candidate.gpu, context.catalog)
    sized = design_fabric(candidate, context)
    near = replace(hardware, nic_bytes_per_s=_share_gbps(sized) * GIGA / BITS_PER_BYTE / hardware.devices)
    far = replace(near, nic_bytes_per_s=sized.offered_gbps * GIGA / BITS_PER_BYTE / hardware.devices)
    tests = tuple(
        _test(scale, operation, far if scale.crosses else near, candidate)
        for scale in scales(candidate, sized, hardware)
        for operation in scale.operations
    )
    suite = SUITES.get(candidate.gpu.stack, "")
    return AcceptancePlan(suite, tuple(_checks(candidate, context, sized, hardware)), tests, _notes(candidate, context, sized))


def _share_gbps(sized: SizedFabric) -> float:
    """Return a GPU's share of its node's adapters before the ratio of the fabric, in Gb/s."""
    return sized.adapters.offered_gbps / sized.gpus_per_node


# ------------------------------------------------------------------------------------------------------------- collectives


def scales(candidate: Candidate, sized: SizedFabric, hardware: Hardware) -> list[Scale]:
    """Return what is tested, from the inside of a node to the whole cluster."""
    per_node = hardware.gpus_per_node
    every = (ALL_REDUCE, ALL_GATHER, REDUCE_SCATTER, ALL_TO_ALL)
    rows = [Scale("one node", 1, per_node, False, every)] if per_node > 1 else []
    nodes, trays = candidate.nodes, candidate.node.trays if candidate.node.is_rack else 0
    if trays > 1 and hardware.domain > per_node:
        rows.append(Scale("one rack", trays, trays * per_node, False, every))
    counted = sized.choice.chosen.counts if sized.choice.chosen else None
    if counted is None or nodes < 2 or nodes * per_node <= hardware.domain:
        return rows
    step, word = (trays, "rack") if trays > 1 and hardware.domain > per_node else (1, "node")
    unit = min(counted.unit_nodes or nodes, nodes)
    rows.append(Scale("one adapter of each of two nodes", 2, 2, False, (POINT_TO_POINT,)))
    if 2 * step <= unit:
        rows.append(Scale(f"two {word}s of one unit", 2 * step, 2 * step * per_node, False, (ALL_REDUCE, ALL_TO_ALL)))
    if counted.units > 1:
        rows.append(Scale(f"two {word}s of different units", 2 * step, 2 * step * per_node, True))
        if unit > 2 * step:
            rows.append(Scale("one unit", unit, unit * per_node, False))
    if nodes > 2 * step:
        rows.append(Scale("all nodes", nodes, nodes * per_node, counted.units > 1, every))
    return rows


def _test(scale: Scale, operation: str, hardware: Hardware, candidate: Candidate) -> CollectiveTest:
    inside = scale.nodes == 1 or scale.ranks <= hardware.domain
    local = 1 if operation == POINT_TO_POINT else scale.ranks if inside else min(scale.ranks, hardware.domain)
    largest = _largest(hardware)
    who = Group(scale.ranks, local)
    points = tuple(point(operation, hardware, who, size) for size in SIZES if size <= largest)
    run = command(candidate.gpu.stack, operation, scale.nodes, scale.ranks, largest)
    return CollectiveTest(scale.where, operation, scale.nodes, scale.ranks, run, points)


def point(operation: str, hardware: Hardware, who: Group, size: float) -> Point:
    """Return the expected bus bandwidth of a message and its limit."""
    expected = bus_bandwidth(operation, who.ranks, size, collective_seconds(operation, hardware, who, size))
    if size >= PASS_FROM_BYTES:
        return Point(size, expected, PASS_SHARE * expected, True)
    return Point(size, expected, LOOK_SHARE * expected if size >= LOOK_FROM_BYTES else None, False)


def _largest(hardware: Hardware) -> float:
    """Return the largest message of the curve that a GPU's memory holds, at least the first that has a limit."""
    return max((size for size in SIZES if size <= LARGEST_SHARE * hardware.memory_bytes), default=SIZES[0])


# ------------------------------------------------------------------------------------------------------------------ checks


def _checks(candidate: Candidate, context: Context, sized: SizedFabric, hardware: Hardware) -> list[Check]:
    """Return the checks of each node, and of pairs of nodes."""
    placed = placement_of(candidate.node, candidate.gpu, context.catalog, context.answers)
    stack, gbps = candidate.gpu.stack, sized.adapters.speed_gbps
    beside = sized.adapters.count >= sized.gpus_per_node and not hardware.superchip and hardware.fast_scale_up
    paths = "PIX or PXB for every GPU and its adapter" if beside else "what the vendor's block diagram shows"
    if placed.map is not None:
        paths = f"{placed.path} or nearer for every GPU and its adapter"
    rows = [Check("GPUs and adapters of every node", TOPOLOGY_COMMANDS.get(stack, "the vendor's tool"), f"{paths}, the same on every node")]
    if candidate.nodes < 2 or sized.choice.chosen is None:
        return rows
    slot = f"PCIe {placed.slot[0]} x{placed.slot[1]}" if placed.slot_told else "the generation and width that the adapter needs"
    rows += [
        Check("slots of all adapters", "lspci -vv -s ADAPTER | grep LnkSta:", f"{slot} on every adapter, nothing downgraded"),
        Check("redirection over the processors", "lspci -vvv | grep ACSCtl", "SrcValid- everywhere: access control services are off"),
        Check(
            "RDMA writes between all pairs of a rail, adapter by adapter",
            "ib_write_bw -d ADAPTER -s 65536 -q 4 --report_gbits [PEER]",
            f"{RAW_SHARE * gbps:g} of {gbps:g} Gb/s or more on every adapter; this alone accepts nothing",
        ),
    ]
    return rows


def _notes(candidate: Candidate, context: Context, sized: SizedFabric) -> tuple[str, ...]:
    """Return what is to be said beside the numbers."""
    notes = [*suite_notes(candidate.gpu.stack)]
    if sized.choice.chosen is not None and candidate.nodes > 1:
        percent = threshold_number(context.catalog.thresholds, "sw-accept-nccl", "percent_of_nic")
        where = "racks" if candidate.node.is_rack and candidate.node.trays > 1 else "nodes"
        notes.append(
            f"An all-reduce over three or more {where} moves bus bandwidth × ({where} - 1) / (GPUs - 1) through each GPU's adapter; the "
            f"rule of thumb of the field is {percent:g} % or more of its rate"
        )
        full = threshold_number(context.catalog.thresholds, "sw-accept-full-scale")
        notes.append(f"What fails at {full:g} nodes cannot be seen at 2 to 4: the last tests run on all nodes, once the others have passed")
    days = threshold_number(context.catalog.thresholds, "rel-burn-in")
    return (*notes, f"Then burn in for {days:g} days or more, and run the first test of each node again")
