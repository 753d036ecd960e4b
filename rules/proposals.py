"""Which node types the answers allow, and at which size each would be bought.

Three ways to a size: the smallest that finishes by the deadline, a fixed number, or what the budget buys. A size is found on
a ladder of counts (1, 3, 5, 7, 9, 11, 13 or 15 times a power of two), since those divide into whole parallel plans.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from catalogs.quantities import magnitude
from catalogs.schema import Status
from rules.candidate import Candidate, Context
from rules.design import Rejected
from rules.own_server import OWN_SERVER_ID, own_server
from rules.scale import size_given
from rules.sizing.cooling import cooling_of
from rules.sizing.cost import unit_price
from rules.sizing.plans import search_plans
from rules.sizing.power import node_draw
from rules.sizing.pue import pue_of
from rules.sizing.racks import racks_per_domain
from rules.sizing.reliability import goodput_at
from rules.sizing.site_measured import site_hardware
from rules.uses import best_seconds, best_use, reached, seconds_of, uses

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from catalogs.schema import Gpu, Node
    from rules.sizing.hardware import Hardware
    from rules.sizing.results import PlanChoice

SECONDS_PER_DAY = 86_400.0
LARGEST_CLUSTER_GPUS = 1_048_576
"""The largest cluster that is sized: eight times the largest published one (Oracle, 131,072 GPUs)."""
MOST_DOUBLINGS = 6
"""A size 64 times the one that the full sustained rate would need is past any scaling; the search for a size ends there."""
FASTEST_OF = 8
"""How many of the largest sizes within the limits are compared; a batch may suit a smaller one better."""
FASTEST_AMONG = 15
"""How many powers of two are compared where no size meets the deadline: up to 16,384 servers, past the largest published run."""
OVERSHOOT = 1.15
"""A pre-integrated rack may exceed an asked number of nodes by this factor before it counts as another size."""


Known = dict[tuple["Hardware", str, int], "int | str"]
"""Sizes by deadline that were worked out for servers of the same hardware; many servers differ only in their maker."""


@dataclass
class Proposals:
    """The sized candidates, and what the answers exclude with the reason of each."""

    candidates: list[Candidate] = field(default_factory=list)
    rejected: list[Rejected] = field(default_factory=list)


def propose(context: Context, *, exhaustive: bool = False) -> Proposals:
    """Return a sized candidate for every node type that the answers allow, in catalog order; rejected ones with their reason."""
    found = Proposals()
    known: Known = {}
    own = own_server(context.answers, context.catalog)
    nodes = [own] if own is not None else list(context.catalog.nodes)
    for node in nodes:
        gpu = context.catalog.gpus[node.gpu]
        excluded = _excluded(node, gpu, context)
        if excluded:
            found.rejected.append(Rejected(node.id, node.name, "answers", excluded[0], excluded[1]))
            continue
        sized = _sized(node, gpu, context, known, exhaustive=exhaustive)
        if isinstance(sized, str):
            found.rejected.append(Rejected(node.id, node.name, "search", "proposals.size", sized))
        else:
            found.candidates.append(sized)
    if not found.candidates:
        _propose_nearest(found, nodes, context)
    return found


def _propose_nearest(found: Proposals, nodes: list[Node], context: Context) -> None:
    """Where no size works for anything, take each kind of hardware at its best size all the same, so that the rules can say why not."""
    failed = {each.candidate: each for each in found.rejected if each.kind == "search"}
    seen: set[tuple[str, int]] = set()
    for node in _with_price(nodes, context) if _by_what_is_paid(context) else nodes:
        gpu = context.catalog.gpus[node.gpu]
        key = (gpu.id, node.scale_up_domain)
        if node.id not in failed or key in seen or node.desktop or node.is_rack:
            continue
        seen.add(key)
        units, sized_by = _nearest_units(node, gpu, context)
        found.candidates.append(candidate_of(node, gpu, units, context, sized_by))
        found.rejected.remove(failed[node.id])


def _by_what_is_paid(context: Context) -> bool:
    """Return whether the budget sets the size."""
    return context.answers.text("scale.mode") == "budget" and not size_given(context.answers)


def _with_price(nodes: list[Node], context: Context) -> list[Node]:
    """Return the servers whose price is known, which a budget can be held against; all of them where none has one."""
    priced = [node for node in nodes if _allowed(node, context) and unit_price(node, context.catalog, context.answers) is not None]
    return priced or nodes


def _allowed(node: Node, context: Context) -> bool:
    """Return whether the answers allow a server that is bought without being named as a desktop or a rack."""
    return not (node.desktop or node.is_rack) and _excluded(node, context.catalog.gpus[node.gpu], context) is None


def _nearest_units(node: Node, gpu: Gpu, context: Context) -> tuple[int, str]:
    """Return the size that is nearest to the answers, and why: the smallest that fits where a budget is too small, else the fastest."""
    if _by_what_is_paid(context):
        hardware = _hardware(node, gpu, context)
        smallest = _smallest(node, 1, lambda units: best_seconds(units * node.gpu_count, hardware, context) < math.inf)
        return smallest or 1, "the smallest size that fits the model, since the budget buys none that is known to"
    return _fastest_units(node, gpu, context), "the fastest size, since no size meets every answer"


def _fastest_units(node: Node, gpu: Gpu, context: Context) -> int:
    """Return the power of two with the shortest run, one unit where nothing runs at all."""
    hardware = _hardware(node, gpu, context)
    powers = [1 << shift for shift in range(FASTEST_AMONG) if (1 << shift) * node.gpu_count <= LARGEST_CLUSTER_GPUS]

    def days(units: int) -> float:
        seconds = best_seconds(units * node.gpu_count, hardware, context)
        return _days(seconds, gpu, units * node.gpu_count, context) if seconds < math.inf else math.inf

    return min(powers, key=lambda units: (days(units), units))


def _excluded(node: Node, gpu: Gpu, context: Context) -> tuple[str, str] | None:
    """Return (the answer key, the reason) where the answers exclude the node type, else None."""
    answers, catalog = context.answers, context.catalog
    if node.id == OWN_SERVER_ID:
        return None
    named_nodes = {catalog.nodes[name].id for name in answers.names("preferences.nodes")}
    named_gpus = {catalog.gpus[name].id for name in answers.names("preferences.gpus")}
    vendors = {name.lower() for name in answers.names("preferences.vendors")}
    if named_nodes and node.id not in named_nodes:
        return "preferences.nodes", "not among the servers that were asked for"
    if named_gpus and gpu.id not in named_gpus:
        return "preferences.gpus", f"{gpu.name} is not among the GPUs that were asked for"
    if vendors and not vendors & {node.vendor.lower(), gpu.vendor.lower()}:
        named = f"{node.vendor} is not" if node.vendor == gpu.vendor else f"neither {node.vendor} nor {gpu.vendor} is"
        return "preferences.vendors", f"{named} among the vendors that were asked for"
    if node.id in named_nodes or gpu.id in named_gpus:
        return None
    if answers.text("preferences.unverified_products") == "exclude" and not (gpu.verified and node.verified):
        return "preferences.unverified_products", "rests on values that were not read at their source; never chosen unasked"
    if answers.text("preferences.announced_products") == "exclude" and Status.ANNOUNCED in (gpu.status, node.status):
        return "preferences.announced_products", "is announced, not for sale"
    if Status.END_OF_LIFE in (gpu.status, node.status):
        return "preferences.gpus", f"{gpu.name if gpu.status is Status.END_OF_LIFE else node.name} is no longer sold new; name it to use it"
    return None


def _sized(node: Node, gpu: Gpu, context: Context, known: Known, *, exhaustive: bool) -> Candidate | str:
    """Return the candidate at its size, or the reason why no size works; clusters are built of servers, not of desktop systems."""
    sized = _at_its_size(node, gpu, context, known, exhaustive=exhaustive)
    asked = node.id in {context.catalog.nodes[name].id for name in context.answers.names("preferences.nodes")}
    if isinstance(sized, Candidate) and node.desktop and sized.units > 1 and not asked:
        return f"a desktop system, and {sized.units:,} of it would be needed; name it under preferences.nodes to build a cluster of it"
    return sized


def _at_its_size(node: Node, gpu: Gpu, context: Context, known: Known, *, exhaustive: bool) -> Candidate | str:
    mode = context.answers.text("scale.mode")
    if mode == "fixed" or size_given(context.answers):
        units = _fixed_units(node, context)
        if isinstance(units, str):
            return units
        return candidate_of(node, gpu, units, context, "the size that was asked for", exhaustive=exhaustive)
    if mode == "budget":
        return _by_budget(node, gpu, context, exhaustive=exhaustive)
    if context.answers.text("budget.objective") == "fastest":
        limit = _units_within_limits(node, gpu, context)
        if limit is not None:
            return _by_limits(node, gpu, limit, context, exhaustive=exhaustive)
    return _by_deadline(node, gpu, context, known, exhaustive=exhaustive)


def candidate_of(
    node: Node, gpu: Gpu, units: int, context: Context, sized_by: str, *, network_gbps: float | None = None, exhaustive: bool = False
) -> Candidate:
    """Return the candidate of `units` of `node` with the best plan that the search finds (None where none fits)."""
    gpus = units * node.gpu_count
    hardware = _hardware(node, gpu, context, network_gbps)
    use = best_use(gpus, hardware, context)
    choice = search_plans(context.workload, use.hardware, use.gpus, context.answers, exhaustive=exhaustive)
    return Candidate(f"{units}x-{node.id}", node, gpu, units, units * node.trays, gpus, choice, sized_by=sized_by)


def _hardware(node: Node, gpu: Gpu, context: Context, network_gbps: float | None = None) -> Hardware:
    return site_hardware(node, gpu, context, network_gbps)


def _fixed_units(node: Node, context: Context) -> int | str:
    """Return how many units make the number of GPUs or nodes that was asked for; racks only where they come near it."""
    gpus, nodes = context.answers.count("scale.gpus"), context.answers.count("scale.nodes")
    asked, per_unit, what = (gpus, node.gpu_count, "GPUs") if gpus else (nodes or 1, node.trays, "nodes")
    joined = racks_per_domain(node)
    units = math.ceil(asked / per_unit / joined) * joined
    if node.is_rack and units * per_unit > asked * OVERSHOOT:
        comes = f"a rack of {per_unit} {what}" if joined == 1 else f"{joined} racks of {per_unit} {what} that make one scale-up domain"
        return f"comes as {comes}; {asked:,} were asked for"
    return units


@lru_cache(maxsize=8)
def ladder(largest: int) -> tuple[int, ...]:
    """Return the counts up to `largest` that are an odd number up to 15 times a power of two, ascending."""
    counts = {odd << shift for odd in range(1, 16, 2) for shift in range(largest.bit_length()) if odd << shift <= largest}
    return tuple(sorted(counts))


def sizes_of(node: Node, largest: int) -> tuple[int, ...]:
    """Return the counts up to `largest` units that are bought of a server: the ladder, of racks that make one domain whole sets."""
    joined = racks_per_domain(node)
    return tuple(joined * sets for sets in ladder(largest // joined))


def _by_deadline(node: Node, gpu: Gpu, context: Context, known: Known, *, exhaustive: bool) -> Candidate | str:
    """Return the smallest size on the ladder that finishes by the deadline with failures counted in."""
    hardware = _hardware(node, gpu, context)
    key = (hardware.anonymous, gpu.id, node.gpu_count)
    if key not in known:
        known[key] = _deadline_units(hardware, node, gpu, context)
    units = known[key]
    if isinstance(units, str):
        return units
    what = "the smallest size that meets the deadline" if context.workload.units_total > 0 else "the smallest size that fits the model"
    return candidate_of(node, gpu, units, context, what, exhaustive=exhaustive)


def _deadline_units(hardware: Hardware, node: Node, gpu: Gpu, context: Context) -> int | str:
    """Return how many units finish in time, or hold the model where the length of the run is unknown; else why none does."""
    days = context.answers.number("scale.deadline") or 0.0

    def fits(units: int) -> bool:
        return any(seconds_of(use.hardware, use.gpus, context) < math.inf for use in uses(units * node.gpu_count, hardware))

    def in_time(units: int) -> bool:
        gpus = units * node.gpu_count
        per_second = _days(1.0, gpu, gpus, context)
        return any(reached(use.hardware, use.gpus, context, days / per_second) for use in uses(gpus, hardware))

    if context.workload.units_total <= 0:
        return _smallest(node, 1, fits) or _no_plan(gpu)
    units = _smallest(node, _least_units(hardware, node, context), in_time)
    if units:
        return units
    if not _smallest(node, 1, fits):
        return _no_plan(gpu)
    return f"no size finishes in {days:g} days: with a global batch of {context.workload.global_batch:,} more GPUs stop helping before that"


def _no_plan(gpu: Gpu) -> str:
    return f"no number of {gpu.name} holds the model with any plan of the search"


def run_days(choice: PlanChoice, gpu: Gpu, gpus: int, context: Context) -> float:
    """Return the days that the whole run takes at the expected step time, failures and restarts counted in."""
    return _days(magnitude(choice.step.expected, "s"), gpu, gpus, context)


def _days(seconds: float, gpu: Gpu, gpus: int, context: Context) -> float:
    """Return the days of the run at a step time of `seconds`; infinite where failures leave no time to work."""
    work = context.workload
    steps = work.units_total / (work.global_batch * (work.sequence_length if work.unit == "token" else 1))
    checkpoint = magnitude(work.checkpoint, "byte")
    goodput = goodput_at(1, context.catalog, gpus=gpus, gpu=gpu, checkpoint_bytes=checkpoint)
    return steps * seconds / SECONDS_PER_DAY / goodput if goodput > 0 else math.inf


def _smallest(node: Node, least: int, good: Callable[[int], bool]) -> int | None:
    """Return the smallest number of units on the ladder, from `least` up, that is `good`, or None.

    Powers of two are tried first, since they always divide into whole plans; then the rungs between the last that was too small
    and the first that is large enough, ascending.
    """
    largest = max(1, LARGEST_CLUSTER_GPUS // node.gpu_count)
    start = 1 << max(0, least - 1).bit_length()
    powers = [size for size in sizes_of(node, largest) if size >= start and size.bit_count() == 1]
    for power in powers[: MOST_DOUBLINGS + 1]:
        if good(power):
            rungs = [size for size in sizes_of(node, power) if max(least, power // 2 + 1) <= size < power]
            return next((size for size in rungs if good(size)), power)
    return None


def _least_units(hardware: Hardware, node: Node, context: Context) -> int:
    """Return the number of units below which even the full sustained rate misses the deadline."""
    days = context.answers.number("scale.deadline") or 0.0
    work = context.workload.units_total * context.workload.flops_per_unit
    rate = hardware.sustained_flops(context.workload.precision) * node.gpu_count
    if work <= 0 or rate <= 0 or days <= 0:
        return 1
    return max(1, math.ceil(work / rate / (days * SECONDS_PER_DAY)))


def _units_within_limits(node: Node, gpu: Gpu, context: Context) -> int | None:
    """Return how many units budget and power allow by a first estimate, None where neither bounds them."""
    answers, bounds = context.answers, []
    budget, power = answers.number("budget.purchase"), answers.number("facility.total_power")
    price = unit_price(node, context.catalog, answers) if budget is not None else None
    if budget is not None and price is not None and magnitude(price.expected, "USD") > 0:
        bounds.append(budget / magnitude(price.expected, "USD"))
    draw = node_draw(node, gpu, context.catalog, answers) if power is not None else None
    if power is not None and draw is not None:
        kind = cooling_of(node, answers).kind
        bounds.append(power / (magnitude(draw.maximum, "kW") * pue_of(answers, kind, context.catalog, desktop=node.desktop).value))
    return int(min(bounds)) if bounds else None


def _by_limits(node: Node, gpu: Gpu, limit: int, context: Context, *, exhaustive: bool) -> Candidate | str:
    """Return the fastest size within the limits, of the largest few on the ladder."""
    if limit < racks_per_domain(node):
        return "not even one is within the budget and the power that are there"
    best = best_within(node, gpu, sizes_of(node, min(limit, max(1, LARGEST_CLUSTER_GPUS // node.gpu_count))), context)
    if best is None:
        return f"no plan fits up to {limit:,} units, which is what budget and power allow"
    return candidate_of(node, gpu, best, context, "the fastest size within budget and power", exhaustive=exhaustive)


def best_within(node: Node, gpu: Gpu, sizes: Sequence[int], context: Context) -> int | None:
    """Return the fastest of the largest few `sizes` (ascending), the smaller of equals; else the largest that has a plan, or None.

    A server that no plan can put to use makes nothing faster, and is not bought.
    """
    hardware = _hardware(node, gpu, context)

    best, least = None, math.inf
    for units in reversed(sizes[-FASTEST_OF:]):
        seconds = best_seconds(units * node.gpu_count, hardware, context, least)
        if seconds < math.inf and seconds <= least:
            best, least = units, seconds
    if best is not None:
        return best
    fits = (units for units in reversed(sizes[:-FASTEST_OF]) if best_seconds(units * node.gpu_count, hardware, context) < math.inf)
    return next(fits, None)


def _by_budget(node: Node, gpu: Gpu, context: Context, *, exhaustive: bool) -> Candidate | str:
    """Return as many units as the budget buys, network and storage counted in by their usual share; the bill corrects it later."""
    budget = context.answers.number("budget.purchase")
    price = unit_price(node, context.catalog, context.answers)
    if budget is None:
        return "the size is what the budget buys, but no budget was given"
    if price is None:
        return "no price is known, so what the budget buys cannot be told; a quote would change that"
    if magnitude(price.expected, "USD") <= 0:
        return "at a price of 0 a budget sets no size; say how many of it are there, under scale.nodes"
    alone = unit_price(node, context.catalog, context.answers, network=False) or price
    units = int(budget // magnitude(price.expected, "USD")) or int(budget >= magnitude(alone.expected, "USD"))
    if node.desktop and node.id not in {context.catalog.nodes[name].id for name in context.answers.names("preferences.nodes")}:
        units = min(units, 1)
    joined = racks_per_domain(node)
    if units < joined:
        least = "one costs" if joined == 1 else f"{joined}, which make one scale-up domain, cost"
        return f"{least} about {joined * magnitude(alone.expected, 'USD'):,.0f} USD; the budget is {budget:,.0f} USD"
    size = best_within(node, gpu, sizes_of(node, units), context)
    if size is None:
        return f"the model is expected to fit no plan on {units:,} × {node.name}, which is what the budget buys"
    return candidate_of(node, gpu, size, context, "what the budget buys", exhaustive=exhaustive)
