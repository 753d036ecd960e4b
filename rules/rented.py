"""Renting the same GPUs, as one more alternative of a design: for the years at the utilisation that was said, else for the run alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalogs.quantities import magnitude
from rules.design import Alternative, Figures
from rules.sizing.cost import run_gpu_hours
from rules.sizing.power import HOURS_PER_YEAR
from rules.sizing.prices import rental_range
from rules.sizing.storage_price import rented_storage

if TYPE_CHECKING:
    from rules.candidate import Candidate, Context
    from rules.choice import Ranked

RENTED = "rent-"
"""What stands before the size in the id of this alternative; no server type begins so."""
PERCENT = 100.0


def rented_alternative(chosen: Ranked, context: Context, rank: int) -> Alternative | None:
    """Return the alternative of renting the chosen candidate's GPUs, None where no cloud price is known or nothing says for how long.

    Without a utilisation only the run is rented, which costs another thing than years of ownership: it then stands apart.
    """
    candidate, answers = chosen.candidate, context.answers
    rent = rental_range(candidate.gpu.id, context.catalog, answers)
    run = run_gpu_hours(candidate, context)
    used = (answers.number("budget.utilisation") or 0.0) / PERCENT if answers.given("budget.utilisation") else None
    if rent is None or (used is None and run <= 0.0):
        return None
    years = answers.number("budget.years") or 0.0
    hours = run if used is None else used * years * HOURS_PER_YEAR * candidate.gpus
    middle = (rent[0] + rent[1]) / 2.0 * hours
    figures = Figures(gpus=candidate.gpus, nodes=candidate.nodes, units=0, days=chosen.figures.days, ownership_usd=middle)
    plan = candidate.choice.plan.label if candidate.choice else ""
    name = f"{candidate.gpus:,} × {candidate.gpu.name}, rented"
    because = _because(candidate, rent, hours, used, years, context)
    return Alternative(rank, f"{RENTED}{candidate.gpus}x-{candidate.gpu.id}", name, plan, figures, because, apart=used is None)


def _because(candidate: Candidate, rent: tuple[float, float], hours: float, used: float | None, years: float, context: Context) -> str:
    """Say for how long, at which price, and how that stands to owning."""
    spread = f"{rent[0]:.3g} to {rent[1]:.3g} USD per GPU-hour" if rent[1] > rent[0] else f"{rent[0]:.3g} USD per GPU-hour"
    span = "the run alone" if used is None else f"{years:g} years at {used * PERCENT:.3g} percent of the hours"
    text = f"for {span}, {hours:,.0f} GPU-hours at {spread}: {rent[0] * hours:,.0f} to {rent[1] * hours:,.0f} USD"
    text += _storage_on_top(candidate, context)
    owned = candidate.cost.ownership if candidate.cost is not None else None
    if owned is None:
        return f"{text}; owning has no price to compare it with"
    total = magnitude(owned.expected, "USD")
    if used is None:
        return f"{text}; owning costs {total:,.0f} USD and leaves a cluster for other work"
    change = (rent[0] + rent[1]) / 2.0 * hours / total - 1.0
    return f"{text}; {abs(change):.0%} {'more' if change > 0 else 'less'} than owning"


def _storage_on_top(candidate: Candidate, context: Context) -> str:
    """Say what the storage that is sized costs a month in a cloud, since no price of a GPU-hour includes it; nothing where it is local."""
    storage = candidate.storage
    if storage is None or candidate.nodes < 2:
        return ""
    terabytes = magnitude(storage.capacity_needed, "TB") + magnitude(storage.home_capacity, "TB")
    low, high = rented_storage(storage.kind, terabytes, context.catalog)
    return f", without storage ({terabytes:,.0f} TB there: {low:,.0f} to {high:,.0f} USD a month)"
