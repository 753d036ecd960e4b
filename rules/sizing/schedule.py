"""When training can start: what is ordered, what waits for what, and the chain that decides; purchases in phases.

Durations are weeks, low and high. What nobody publishes is unknown and said; the end is then a lower bound.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from catalogs.quantities import magnitude
from rules.own_server import OWN_SERVER_ID
from rules.sizing.delivery import lead_of, lead_time
from rules.sizing.lookup import threshold_number

if TYPE_CHECKING:
    from catalogs import Catalog
    from rules.candidate import Candidate
    from rules.sizing.results import FacilityDesign

DAYS_PER_WEEK = 7.0
LIQUID = ("liquid", "immersion")
ORDER, TRAIN = "order", "training"
UNKNOWN = "no time is published: ask for a date"


@dataclass(frozen=True)
class Task:
    """A step towards training: what it waits for and how many weeks it takes; None is unknown."""

    id: str
    name: str
    after: tuple[str, ...]
    weeks: tuple[float, float] | None
    basis: str


@dataclass(frozen=True)
class Placed:
    """A task on the time line: weeks from the order at which it starts and ends, and whether it is on the critical path."""

    task: Task
    start: tuple[float, float]
    end: tuple[float, float]
    critical: bool


def tasks_of(candidate: Candidate, catalog: Catalog) -> tuple[Task, ...]:
    """Return what stands between the order and training, in an order in which everything comes after what it waits for."""
    lead = lead_time(candidate.node, candidate.gpu, catalog)
    own = candidate.node.id == OWN_SERVER_ID
    rows = [
        Task(
            "servers", "servers", (),
            (0.0, 0.0) if own else None if lead is None else (lead.low_weeks, lead.high_weeks),
            "they are there" if own else UNKNOWN if lead is None else lead.words,
        )
    ]  # fmt: skip
    if candidate.nodes > 1:
        rows += [
            _published("switches", "switches", "switch", catalog),
            _published("adapters", "adapters, cables and modules", "nic", catalog),
        ]
        rows.append(Task("storage", "storage", (), None, UNKNOWN))
    if candidate.facility is not None and candidate.facility.cooling in LIQUID:
        rows.append(_published("cooling", "coolant units", "cooling unit", catalog))
    arrived = tuple(row.id for row in rows)
    rows.append(Task("racks", "racks and power units", (), None, UNKNOWN))
    rows.append(Task("install", "mounting and cabling", (*arrived, "racks"), None, "depends on the crew: ask for the days per rack"))
    days = threshold_number(catalog.thresholds, "rel-burn-in")
    burn_in = (days / DAYS_PER_WEEK, days / DAYS_PER_WEEK)
    rows.append(Task("burn_in", "burn-in and acceptance", ("install",), burn_in, f"{days:g} days at least (threshold rel-burn-in)"))
    run = candidate.reliability.run_time if candidate.reliability is not None else None
    if run is not None:
        weeks = (magnitude(run.low, "day") / DAYS_PER_WEEK, magnitude(run.high, "day") / DAYS_PER_WEEK)
        rows.append(Task(TRAIN, "the training run", ("burn_in",), weeks, "with failures, by this design"))
    return tuple(rows)


def _published(id_: str, name: str, applies_to: str, catalog: Catalog) -> Task:
    lead = lead_of(applies_to, catalog)
    return Task(id_, name, (), None if lead is None else (lead.low_weeks, lead.high_weeks), UNKNOWN if lead is None else lead.words)


def placed(tasks: tuple[Task, ...]) -> tuple[Placed, ...]:
    """Return the tasks on the time line, each as early as what it waits for allows; unknown times count nothing.

    The critical path is the chain of the longest times, back from the last task: what it waited for longest, and so on.
    """
    ends: dict[str, tuple[float, float]] = {}
    starts: dict[str, tuple[float, float]] = {}
    for task in tasks:
        low = max((ends[each][0] for each in task.after), default=0.0)
        high = max((ends[each][1] for each in task.after), default=0.0)
        weeks = task.weeks or (0.0, 0.0)
        starts[task.id], ends[task.id] = (low, high), (low + weeks[0], high + weeks[1])
    critical = _critical(tasks, ends)
    return tuple(Placed(task, starts[task.id], ends[task.id], task.id in critical) for task in tasks)


def _critical(tasks: tuple[Task, ...], ends: dict[str, tuple[float, float]]) -> set[str]:
    by_id = {task.id: task for task in tasks}
    task: Task | None = max(tasks, key=lambda each: (ends[each.id][1], tasks.index(each)))
    chain = set()
    while task is not None:
        chain.add(task.id)
        waited = [by_id[each] for each in task.after]
        task = max(waited, key=lambda each: (ends[each.id][1], each.weeks is not None), default=None)
    return chain


@dataclass(frozen=True)
class Phase:
    """One of several purchases: when, how many units are added, how many GPUs there are then, and what it costs in USD (low, high).

    `racks` stand and `power_kw` of IT at most is drawn when it is there; 0 where the hall was not sized.
    """

    number: int
    month: float
    units: int
    gpus: int
    low: float
    high: float
    buys: str
    racks: int = 0
    power_kw: float = 0.0


FOR_ALL_AT_ONCE = ("storage", "cooling")
"""Bought with the first purchase for the whole cluster: pipes, coolant units and file systems are not laid out twice."""
BY_RACK = ("rack", "power")
"""Bought with the racks of each purchase; the first has those of network and storage too."""


def racks_then(facility: FacilityDesign | None, units: int, nodes: int) -> int:
    """Return how many racks stand when the first `units` of `nodes` are there: theirs, and all that hold no nodes. 0 without a hall."""
    if facility is None:
        return 0
    holding = [plan for plan in facility.racks if plan.nodes_per_rack > 0]
    others = facility.rack_count - sum(plan.racks for plan in holding)
    each = max((plan.nodes_per_rack for plan in holding), default=0)
    share = math.ceil(sum(plan.racks for plan in holding) * units / nodes) if nodes else 0
    return others + (max(share, math.ceil(units / each)) if each else share)


def power_then_kw(facility: FacilityDesign | None, units: int, nodes: int) -> float:
    """Return the IT power at most in kW when the first `units` of `nodes` are there: theirs, and that of network and storage in full."""
    if facility is None or nodes < 1:
        return 0.0
    whole, per_node = magnitude(facility.it_power_maximum, "kW"), magnitude(facility.node_power_maximum, "kW")
    return whole - per_node * (nodes - units)


def phases_of(candidate: Candidate, count: int, months: float) -> tuple[Phase, ...]:
    """Return the purchases of a cluster that is bought in `count` parts, `months` apart.

    Storage and cooling come first, for all of it; servers with their network and racks in equal parts. Prices are those of today.
    """
    cost = candidate.cost
    if cost is None or count < 2:
        return ()
    count = min(count, candidate.units)
    facility, whole = candidate.facility, racks_then(candidate.facility, candidate.units, candidate.units)
    rows, bought, standing = [], 0, 0
    for number in range(1, count + 1):
        share = math.ceil(candidate.units * number / count) - bought
        bought += share
        low = high = 0.0
        racks = racks_then(facility, bought, candidate.units)
        by_rack = (racks - standing) / whole if whole else share / candidate.units
        standing = racks
        for line in cost.bom:
            if line.unit_low is None:
                continue
            part = share / candidate.units
            if line.category in FOR_ALL_AT_ONCE:
                part = 1.0 if number == 1 else 0.0
            elif line.category in BY_RACK:
                part = by_rack
            low += line.quantity * line.unit_low * part
            high += line.quantity * (line.unit_high if line.unit_high is not None else line.unit_low) * part
        factor = cost.charges.factor if cost.charges is not None else 1.0
        buys = (
            "storage and cooling for all of it, and its servers with their network and racks"
            if number == 1
            else "servers with their network and racks"
        )
        gpus, power = bought * candidate.node.gpu_count, power_then_kw(facility, bought, candidate.units)
        rows.append(Phase(number, (number - 1) * months, share, gpus, low * factor, high * factor, buys, racks, power))
    return tuple(rows)


def run_days_in_phases(run_days: float, phases: tuple[Phase, ...], gpus: int) -> float:
    """Return the days that a run takes which starts with the first phase and speeds up with every further one, in proportion to GPUs."""
    left, clock = run_days * gpus, 0.0
    days_per_month = 30.44
    for phase, following in zip(phases, (*phases[1:], None), strict=True):
        until = math.inf if following is None else (following.month - phase.month) * days_per_month
        needed = left / phase.gpus
        if needed <= until:
            return clock + needed
        left -= until * phase.gpus
        clock += until
    return clock
