"""Rank the judged candidates by the person's objective; ties follow the order of the guidance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from catalogs.quantities import magnitude
from rules.design import Figures
from rules.findings import Kind, Strength
from rules.proposals import run_days

if TYPE_CHECKING:
    from collections.abc import Sequence

    from catalogs.quantities import Quantity
    from rules.candidate import Candidate, Context


@dataclass(frozen=True)
class Ranked:
    """A candidate with its figures; `apart` where its price is unknown although the objective needs it."""

    candidate: Candidate
    figures: Figures
    apart: bool


@dataclass(frozen=True)
class Ranking:
    """Those that meet every answer, best first; and those that do not, nearest first."""

    good: tuple[Ranked, ...]
    bad: tuple[Ranked, ...]

    @property
    def chosen(self) -> Ranked | None:
        """Return the best that fits, else the nearest."""
        return self.good[0] if self.good else self.bad[0] if self.bad else None


def rank(candidates: Sequence[Candidate], context: Context) -> Ranking:
    """Return the candidates in rank order. Unknown prices come after known ones; they are never dropped."""
    objective = context.answers.text("budget.objective")
    ranked = [_ranked(candidate, context, objective) for candidate in candidates]
    good = [each for each in ranked if each.candidate.choice is not None and not each.candidate.rejections]
    bad = [each for each in ranked if each not in good]
    good.sort(key=lambda each: (each.apart, _over_budget(each.figures, context), *_worth(each, context, objective), each.candidate.id))
    bad.sort(
        key=lambda each: (
            each.candidate.choice is None,
            each.apart,
            len(each.candidate.rejections),
            *_worth(each, context, objective),
            each.candidate.id,
        )
    )
    return Ranking(tuple(good), tuple(bad))


def _ranked(candidate: Candidate, context: Context, objective: str) -> Ranked:
    figures = figures_of(candidate, context)
    needs_price = objective == "cheapest" or context.answers.given("budget.purchase")
    return Ranked(candidate, figures, needs_price and _money(figures, context) is None)


def _over_budget(figures: Figures, context: Context) -> bool:
    """Return whether the expected price exceeds the budget; only the lowest price makes it a rejection."""
    budget = context.answers.number("budget.purchase")
    return budget is not None and figures.purchase_usd is not None and figures.purchase_usd > budget


def _late(figures: Figures, context: Context) -> bool:
    """Return whether the run takes longer than the deadline, given or assumed."""
    days = context.answers.number("scale.deadline")
    return figures.days is not None and days is not None and figures.days > days


def _money(figures: Figures, context: Context) -> float | None:
    """Return what "cheapest" compares: the cost of owning the cluster, or of the work where a fixed size takes too long for that."""
    return figures.usd_per_million_units if _late(figures, context) else figures.ownership_usd


def _worth(each: Ranked, context: Context, objective: str) -> tuple[float, ...]:
    """Return the sort key, smaller is better: the objective, then the tie-breakers in the order of the guidance (G4)."""
    figures, infinite = each.figures, float("inf")
    days = figures.days if figures.days is not None else figures.step_s if figures.step_s is not None else infinite
    money = _money(figures, context)
    power = figures.it_power_kw or infinite
    first = {"cheapest": money if money is not None else power, "fastest": days, "best_per_kw": power * days}[objective]
    late = _late(figures, context) and objective == "cheapest"
    warnings = sum(found.kind is Kind.WARNING and found.strength is not Strength.ADVICE for found in each.candidate.findings)
    headroom = (figures.memory_gib or 0.0) / (figures.memory_capacity_gib or 1.0)
    return (float(late), float(f"{first:.3g}") if first != infinite else infinite, float(warnings), headroom)


def figures_of(candidate: Candidate, context: Context) -> Figures:
    """Return the key figures of a candidate."""
    choice, cost, facility = candidate.choice, candidate.cost, candidate.facility
    purchase = cost.purchase if cost else None
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
        ownership_usd=_in(cost.ownership.expected, "USD") if cost and cost.ownership else None,
        usd_per_million_units=_in(cost.per_million_units.expected, "USD") if cost and cost.per_million_units else None,
        it_power_kw=_in(facility.it_power_maximum, "kW") if facility else None,
        total_power_kw=_in(facility.total_power, "kW") if facility else None,
        racks=facility.rack_count if facility else None,
    )


def _days(candidate: Candidate, context: Context) -> float | None:
    if candidate.reliability and candidate.reliability.run_time:
        return _in(candidate.reliability.run_time.expected, "day")
    if candidate.choice is None or context.workload.units_total <= 0:
        return None
    return run_days(candidate.choice, candidate.gpu, candidate.gpus, context)


def _in(value: Quantity, unit: str) -> float:
    return magnitude(value, unit)
