"""The size that the whole bill allows: the largest on the ladder whose priced parts fit the budget, what has no price kept free for.

The first size rests on a published split of servers, network and storage. What network and storage really cost differs a lot with the
size, so the bill of each size that was tried says which to try next, up or down, until no larger one fits.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from catalogs.quantities import magnitude
from rules.proposals import best_within, candidate_of, sizes_of
from rules.scale import sized_by_deadline
from rules.sizing.ownership import once_factor
from rules.sizing.prices import server_quote

if TYPE_CHECKING:
    from rules.candidate import Candidate, Context

PERCENT = 100.0
RESERVE_PERCENT = 5.0
"""Percent of a budget that are kept for what has no price, assumed: cabinets, cables, management and file servers are small beside
the servers."""
MOST_TRIED = 6
"""So many sizes of one server are priced at most; two to four are usual, and the best of them is taken."""


def size_is_what_limits_allow(context: Context) -> bool:
    """Return whether the size was taken as large as budget or power allow, so that exceeding them means to take fewer."""
    answers = context.answers
    fastest = answers.text("budget.objective") == "fastest" and sized_by_deadline(answers)
    return fastest or answers.text("scale.mode") == "budget"


def kept_free(budget: float, *, open_prices: bool, context: Context) -> float:
    """Return the USD of the budget that are kept for what has no price: the person's share or the usual one; 0 where all has one."""
    answers = context.answers
    share = (answers.number("budget.reserve") or 0.0) if answers.given("budget.reserve") else RESERVE_PERCENT
    return budget * share / PERCENT if open_prices else 0.0


def budget_to_size(candidate: Candidate, context: Context) -> tuple[Candidate, str] | None:
    """The bill of this size says whether another one is the largest that the budget pays; the sizes tried stay on the candidate."""
    budget = context.answers.number("budget.purchase")
    cost = candidate.cost
    if not size_is_what_limits_allow(context) or budget is None or cost is None or cost.outlay is None:
        return None
    needed = magnitude(cost.outlay.expected, "USD")
    free = budget - kept_free(budget, open_prices=bool(cost.missing), context=context)
    candidate.tried[candidate.units] = needed
    units = _next(candidate, needed, free, context)
    if units is None or units == candidate.units:
        return None
    changed = candidate_of(candidate.node, candidate.gpu, units, context, candidate.sized_by)
    if changed.choice is None:
        return None
    changed.tried, changed.most_units = candidate.tried, candidate.most_units
    return changed, _words(candidate, units, needed, free, budget)


def why_no_more(candidate: Candidate, free: float, context: Context) -> str:
    """Return why no larger size was taken where the budget sets it: its bill, what power and racks carry, or that it gains nothing."""
    if not size_is_what_limits_allow(context) or candidate.units not in candidate.tried:
        return ""
    needed = candidate.tried[candidate.units]
    dearer = min((size for size, usd in candidate.tried.items() if size > candidate.units and usd > free), default=None)
    if dearer is not None:
        return f"{dearer:,} would come to {candidate.tried[dearer]:,.0f} USD"
    if candidate.most_units is not None:
        return "power and racks carry no more"
    larger = next((size for size in sizes_of(candidate.node, 2 * candidate.units) if size > candidate.units), candidate.units)
    if needed > free:
        return ""
    if candidate.node.desktop:
        named = candidate.node.id in {context.catalog.nodes[name].id for name in context.answers.names("preferences.nodes")}
        return "" if named else "a desktop system is bought once; name it under preferences.nodes to build a cluster of it"
    if _most_payable(candidate, needed, free, context) >= larger:
        return "more of them would make the run no faster"
    at_least = needed + (larger - candidate.units) * _server_usd(candidate, context)
    return f"{larger:,} would come to {at_least:,.0f} USD or more"


def _words(candidate: Candidate, units: int, needed: float, free: float, budget: float) -> str:
    kept = f", {budget - free:,.0f} of them kept for what has no price" if free < budget else ""
    side = "over" if needed > free else "within"
    return (
        f"with network and storage the bill of {candidate.units} is {needed:,.0f} USD, {side} the {budget:,.0f} USD{kept}: "
        f"{units} instead of {candidate.units} are taken"
    )


def _next(candidate: Candidate, needed: float, free: float, context: Context) -> int | None:
    """Return the size to take instead; None where this one stands: it fits and no larger one is known to, or nothing smaller is left."""
    tried = candidate.tried
    too_dear = min((size for size, usd in tried.items() if usd > free), default=None)
    fitting = max((size for size, usd in tried.items() if usd <= free), default=0)
    most = math.inf if too_dear is None else too_dear - 1
    if candidate.node.desktop or candidate.most_units is not None:
        most = min(most, candidate.most_units or candidate.units)
    if len(tried) < MOST_TRIED:
        for estimate in _estimates(candidate, needed, free, context):
            wanted = _better(candidate, min(most, estimate), fitting, context)
            if wanted is not None and wanted not in tried:
                return wanted
    return fitting if 0 < fitting < candidate.units else None


def _estimates(candidate: Candidate, needed: float, free: float, context: Context) -> tuple[float, ...]:
    """Return the sizes to try, the best guess first.

    Upwards the bill grows about as the size does; at the least the rest pays servers alone. Downwards it grows as between the sizes tried.
    """
    if needed <= free:
        most = _most_payable(candidate, needed, free, context)
        return (min(most, candidate.units * free / needed), most) if needed > 0 else (most,)
    below = max((size for size, usd in candidate.tried.items() if usd <= free), default=None)
    if below is None:
        return (candidate.units * free / needed,)
    usd = candidate.tried[below]
    return (below + (candidate.units - below) * (free - usd) / (needed - usd),)


def _most_payable(candidate: Candidate, needed: float, free: float, context: Context) -> float:
    """Return the size whose servers alone, beside the bill of this size, use up what is free."""
    each = _server_usd(candidate, context)
    return candidate.units + (free - needed) / each if each > 0 else candidate.units


def _server_usd(candidate: Candidate, context: Context) -> float:
    """Return what one more server costs in USD, with what is paid once on top; 0 where it has no price."""
    server = server_quote(candidate.node, context.catalog, context.answers)
    return 0.0 if server is None else server.expected * once_factor(context.answers)


def _better(candidate: Candidate, most: float, least: int, context: Context) -> int | None:
    """Return the size of the ladder above `least` and up to `most` that runs fastest, None where none is faster than `least`."""
    sizes = [size for size in sizes_of(candidate.node, max(1, int(most))) if size >= max(1, least)]
    best = best_within(candidate.node, candidate.gpu, sizes, context) if sizes and most >= 1 else None
    return None if best == least else best
