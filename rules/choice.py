"""Rank the judged candidates by the person's objective; ties follow the order of the guidance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from catalogs.quantities import magnitude
from catalogs.sums import plain_sum
from rules.design import Figures
from rules.findings import Kind, Strength
from rules.nearness import missed
from rules.proposals import run_days
from rules.scale import deadline_counts, sized_by_deadline

if TYPE_CHECKING:
    from collections.abc import Sequence

    from catalogs.quantities import Quantity
    from rules.candidate import Candidate, Context
    from rules.sizing.results import FacilityDesign


@dataclass(frozen=True)
class Ranked:
    """A candidate with its figures and the measure that it is ranked by; `apart` where its price is unknown although that matters."""

    candidate: Candidate
    figures: Figures
    measure: str
    worth: float
    apart: bool


@dataclass(frozen=True)
class Ranking:
    """Those that meet every answer, best first; those of unknown price beside a budget; those that do not, nearest first."""

    good: tuple[Ranked, ...]
    unproven: tuple[Ranked, ...]
    bad: tuple[Ranked, ...]

    @property
    def chosen(self) -> Ranked | None:
        """Return the best that fits, else the best whose price is open, else the nearest."""
        return next(iter((*self.good, *self.unproven, *self.bad)), None)


def rank(candidates: Sequence[Candidate], context: Context) -> Ranking:
    """Return the candidates in rank order. Unknown prices come after known ones; they are never first beside them and never dropped.

    Beside a budget an unknown price proves nothing: such a candidate meets the answers only once a quote says so. Without a budget what a
    limit is missed by counts before the price.
    """
    ranked = [_ranked(candidate, context) for candidate in candidates]
    allowed = [each for each in ranked if each.candidate.choice is not None and not each.candidate.conflicts]
    bad = [each for each in ranked if each not in allowed]
    budget = context.answers.given("budget.purchase")
    order = {id(each): _order(each, context) for each in ranked}
    allowed.sort(key=lambda each: order[id(each)])
    shown = not allowed and len(bad) > 1  # else nobody is shown the nearest
    bad.sort(key=lambda each: _nearness(each, order[id(each)], context, missed(each.candidate, context) if shown else 0.0))
    good = [each for each in allowed if not (budget and each.apart)]
    return Ranking(tuple(good), tuple(each for each in allowed if budget and each.apart), tuple(bad))


def _ranked(candidate: Candidate, context: Context) -> Ranked:
    figures = figures_of(candidate, context)
    objective = context.answers.text("budget.objective")
    measure, worth = _measure(figures, context, objective)
    needs_price = objective == "cheapest" or context.answers.given("budget.purchase") or not size_follows_limits(context)
    return Ranked(candidate, figures, measure, worth, needs_price and figures.purchase_usd is None)


def size_follows_limits(context: Context) -> bool:
    """Return whether "fastest" has a meaning: the size is fixed or bought by a budget, or money or power bound it from above."""
    answers = context.answers
    if answers.text("budget.objective") != "fastest" or not sized_by_deadline(context.answers):
        return True
    return answers.given("budget.purchase") or answers.given("facility.total_power")


def _measure(figures: Figures, context: Context, objective: str) -> tuple[str, float]:
    """Return what the candidates are compared by, and its value, smaller is better; infinite where it is unknown."""
    infinite = float("inf")
    days = figures.days if figures.days is not None else figures.step_s if figures.step_s is not None else infinite
    energy = (figures.it_power_kw or infinite) * days
    if objective == "best_per_kw":
        return "power times time of the run", energy
    if objective == "fastest" and size_follows_limits(context):
        return "time of the run", days
    money = figures.ownership_usd if sized_by_deadline(context.answers) else figures.usd_per_million_units
    if money is None:
        return "power times time of the run, since its price is unknown", energy
    return ("cost of owning it" if sized_by_deadline(context.answers) else "cost of the work"), money


def _order(each: Ranked, context: Context) -> tuple[object, ...]:
    """Return the sort key: unknown prices last, what exceeds deadline or budget later, the measure, then the guidance (G4) breaks ties."""
    figures, candidate = each.figures, each.candidate
    warnings = sum(each.kind is Kind.WARNING and each.strength is not Strength.ADVICE for each in candidate.said)
    headroom = (figures.memory_gib or 0.0) / (figures.memory_capacity_gib or 1.0)
    worth = each.worth * _over_power(figures, context)
    worth = float(f"{worth:.3g}") if worth != float("inf") else worth
    return each.apart, _late(figures, context), _over_budget(figures, context), worth, warnings, headroom, candidate.id


_BEHIND = (
    "its price is unknown",
    "its run takes longer than the deadline",
    "its expected price exceeds the budget",
    "",
    "level in that, it has more warnings",
    "level in that, it leaves less of the memory free",
    "level in everything, so that names decide",
)
"""What the parts of `_order` mean where one of them puts a candidate after another; "" for what they are ranked by."""


def behind_by(other: Ranked, first: Ranked, context: Context) -> str:
    """Return what puts a candidate after one that ranks before it, "" where it is what they are ranked by."""
    pairs = zip(_order(other, context), _order(first, context), _BEHIND, strict=True)
    return next((why for mine, best, why in pairs if mine != best), "")


def _nearness(each: Ranked, order: tuple[object, ...], context: Context, miss: float) -> tuple[object, ...]:
    """Return the sort key among candidates that do not meet the answers.

    Those with a plan first, then the fewest conflicts, the least that is missed (`miss`), and as `_order`; beyond a budget the least
    excess, which an unknown price cannot show.
    """
    apart, late, over, *rest = order
    budget, price = context.answers.number("budget.purchase"), each.figures.purchase_usd
    excess = price / budget if over and budget and price is not None else 0.0
    unproven = bool(apart) and budget is not None
    return each.candidate.choice is None, unproven, len(each.candidate.conflicts), miss, apart, late, excess, *rest


def _over_budget(figures: Figures, context: Context) -> bool:
    """Return whether the expected price exceeds the budget; only the lowest price makes it a rejection."""
    budget = context.answers.number("budget.purchase")
    return budget is not None and figures.purchase_usd is not None and figures.purchase_usd > budget


def _over_power(figures: Figures, context: Context) -> float:
    """Return the penalty of drawing more than a soft limit of power: by how much it is exceeded, 1 within it.

    Beyond a hard limit a candidate is rejected; beyond a soft one it counts as that much worse.
    """
    limit = context.answers.number("facility.total_power")
    soft = context.answers.text("facility.power_limit") == "soft"
    over = soft and limit is not None and figures.total_power_kw is not None and figures.total_power_kw > limit
    return figures.total_power_kw / limit if over and limit and figures.total_power_kw else 1.0


def _late(figures: Figures, context: Context) -> bool:
    """Return whether the run takes longer than the deadline that must be met."""
    days = context.answers.number("scale.deadline") if deadline_counts(context.answers) else None
    return figures.days is not None and days is not None and figures.days > days


def figures_of(candidate: Candidate, context: Context) -> Figures:
    """Return the key figures of a candidate."""
    choice, cost, facility = candidate.choice, candidate.cost, candidate.facility
    purchase = cost.outlay if cost else None
    return Figures(
        gpus=candidate.gpus,
        nodes=candidate.nodes,
        units=candidate.units,
        days=_days(candidate, context),
        step_s=_in(choice.step.expected, "s") if choice else None,
        mfu=choice.step.model_flops_utilization if choice else None,
        memory_gib=_in(choice.memory.expected, "GiB") if choice else None,
        memory_capacity_gib=_in(choice.memory.capacity, "GiB") if choice else None,
        purchase_usd=_in(purchase.expected, "USD") if purchase else None,
        purchase_low_usd=_in(purchase.low, "USD") if purchase else None,
        purchase_high_usd=_in(purchase.high, "USD") if purchase else None,
        purchase_open=bool(cost and cost.missing),
        ownership_usd=_in(cost.ownership.expected, "USD") if cost and cost.ownership else None,
        usd_per_million_units=_in(cost.per_million_units.expected, "USD") if cost and cost.per_million_units else None,
        it_power_kw=_in(facility.it_power_maximum, "kW") if facility else None,
        total_power_kw=_in(facility.total_power, "kW") if facility else None,
        racks=_places(facility),
        tanks=(facility.racks[0].racks if facility and facility.tanks else 0) or None,
        cable_m=_cable_m(candidate),
    )


def _places(facility: FacilityDesign | None) -> int | None:
    """Return the racks and tanks; None where they are not known, or where none takes even one node."""
    if facility is None or (facility.racks[0].racks == 0 and facility.racks[0].binding != "desk"):
        return None
    return facility.rack_count


def _cable_m(candidate: Candidate) -> float | None:
    """Return the length of all cables whose runs are planned: those of the networks for compute and storage."""
    fabric = candidate.fabric
    metres = plain_sum(each.metres for each in (fabric.compute, fabric.storage) if each is not None) if fabric else 0.0
    return metres or None


def _days(candidate: Candidate, context: Context) -> float | None:
    if candidate.reliability and candidate.reliability.run_time:
        return _in(candidate.reliability.run_time.expected, "day")
    if candidate.choice is None or context.workload.units_total <= 0:
        return None
    return run_days(candidate.choice, candidate.gpu, candidate.gpus, context)


def _in(value: Quantity, unit: str) -> float:
    return magnitude(value, unit)
