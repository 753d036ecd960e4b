"""Keep at most 24 candidates for the rules: per GPU, scale-up domain and cooling kind the best few; record who dominates whom."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalogs.quantities import magnitude
from catalogs.schema import Status
from rules.design import Rejected
from rules.sizing.cost import unit_price

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rules.candidate import Candidate, Context

MOST_CANDIDATES = 24
"""What the rules engine judges within the time of one keystroke (DESIGN: about 2 ms per candidate)."""
MOST_PER_GROUP = 2


def prune(candidates: Sequence[Candidate], context: Context, *, everything: bool = False) -> tuple[list[Candidate], list[Rejected]]:
    """Return the candidates to judge and, for each other one, the record of which candidate dominates it."""
    if everything:
        return list(candidates), []
    groups: dict[tuple[str, int, str], list[Candidate]] = {}
    for candidate in sorted(candidates, key=lambda each: _within_group(each, context)):
        key = (candidate.gpu.id, candidate.node.scale_up_domain, candidate.node.cooling)
        groups.setdefault(key, []).append(candidate)
    kept: list[Candidate] = []
    dropped: list[Rejected] = []
    for members in groups.values():
        kept += members[:MOST_PER_GROUP]
        dropped += [_dominated(each, members[0], "same GPU, same domain, same cooling") for each in members[MOST_PER_GROUP:]]
    kept.sort(key=lambda each: _overall(each, context))
    seats = _seats(kept, context)
    dropped += [_dominated(each, seats[0], "farther from the objective by a first estimate") for each in kept if each not in seats]
    return seats, dropped


def _seats(ordered: Sequence[Candidate], context: Context) -> list[Candidate]:
    """Return the candidates to judge: the first in order, but half of the seats are for known prices, where there are so many.

    Without this, servers of unknown price would crowd out all others as soon as a budget is tight, and nothing could be said about it.
    """
    priced = [each for each in ordered if unit_price(each.node, context.catalog, context.answers) is not None][: MOST_CANDIDATES // 2]
    others = [each for each in ordered if each not in priced][: MOST_CANDIDATES - len(priced)]
    return [each for each in ordered if each in priced or each in others]


def _dominated(candidate: Candidate, by: Candidate, why: str) -> Rejected:
    return Rejected(
        candidate.node.id, candidate.node.name, "dominated", "pruning.dominated", f"judged no further beside {by.node.name}: {why}"
    )


def _within_group(candidate: Candidate, context: Context) -> tuple[object, ...]:
    """Order servers of the same GPU: those that answer most (price, maximum power, stock), then the smaller, then by name."""
    node = candidate.node
    height = node.height.to("U") if node.height else 99.0
    return (
        unit_price(node, context.catalog, context.answers) is None,
        node.power.maximum is None,
        node.status is not Status.AVAILABLE,
        not node.nics.compute and node.nics.compute_speed is None,
        height,
        node.id,
    )


def _overall(candidate: Candidate, context: Context) -> tuple[object, ...]:
    """Order over all groups by a first estimate: what has a plan, what the budget allows, the objective, then the GPUs' power."""
    price = unit_price(candidate.node, context.catalog, context.answers)
    watts = candidate.gpu.power.maximum.to("W") if candidate.gpu.power.maximum else 1000.0
    cost = magnitude(price.expected, "USD") * candidate.units if price else float("inf")
    alone = unit_price(candidate.node, context.catalog, context.answers, network=False)
    least = magnitude(alone.low, "USD") * candidate.units if alone else 0.0
    days = magnitude(candidate.choice.step.expected, "s") if candidate.choice else float("inf")
    fastest = context.answers.text("budget.objective") == "fastest"
    budget = context.answers.number("budget.purchase")
    standing = 0 if budget is None else 1 if price is None else 2 * (least > budget)
    return candidate.choice is None, standing, days if fastest else cost, candidate.gpus * watts, candidate.id
