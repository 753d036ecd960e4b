"""Facts of stage money on its terms: delivery, renting, taxes, what it is worth at the end, phases, own prices."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalogs.quantities import magnitude
from rules.findings import Stage
from rules.sizing.cost import ENERGY, run_gpu_hours
from rules.sizing.delivery import allocation, lead_time, network_lead_weeks
from rules.sizing.lookup import threshold_number
from rules.sizing.own_prices import own_prices
from rules.sizing.ownership import COLOCATION
from rules.sizing.prices import rental_range
from rules.sizing.renting import crossing_of
from rules.sizing.schedule import TRAIN, phases_of, placed, run_days_in_phases, tasks_of

if TYPE_CHECKING:
    from rules.candidate import Candidate, Context
    from rules.findings import Scalar
    from rules.sizing.results import CostEstimate
    from rules.sizing.schedule import Phase

MILLION, PERCENT = 1e6, 100.0
RENTAL_BAND, RENTAL_BAND_GPU, RENTAL_BAND_GPUS_PER_NODE = "cost-cluster-3y", "nvidia-h100-sxm-80gb", 8
"""The threshold with the cost of a rented cluster, and the GPUs that its source means: nodes of eight H100, 1.5 to 3.7 USD per GPU-hour."""


def delivery_facts(candidate: Candidate, context: Context) -> dict[str, Scalar]:
    """State lead times, the path that decides when training starts, and what export rules say."""
    known = lead_time(candidate.node, candidate.gpu, context.catalog)
    allocated = allocation(candidate.gpu, context.catalog)
    network_low, network_high = network_lead_weeks(context.catalog)
    return {
        "lead_known": known is not None,
        "lead_high_weeks": known.high_weeks if known else 0.0,
        "lead_words": known.words if known else "unknown",
        "allocation_words": f" Of {candidate.gpu.name} is said: {allocated}." if allocated else "",
        "network_lead_low_weeks": network_low,
        "network_lead_high_weeks": network_high,
        **_schedule_facts(candidate, context),
        "has_export_note": bool(candidate.gpu.export_note),
        "export_note": candidate.gpu.export_note or "nothing",
    }


def _schedule_facts(candidate: Candidate, context: Context) -> dict[str, Scalar]:
    steps = [each for each in placed(tasks_of(candidate, context.catalog)) if each.task.id != TRAIN]
    ready = steps[-1].end
    critical = [each.task.name for each in steps if each.critical and each.task.weeks is not None]
    unknown = [each.task.name for each in steps if each.task.weeks is None]
    return {
        "ready_low_weeks": ready[0],
        "ready_high_weeks": ready[1],
        "critical_words": ", then ".join(critical) or "nothing with a published time",
        "ready_unknown": ", ".join(unknown) or "nothing",
        "ready_open": bool(unknown),
    }


def rental_facts(cost: CostEstimate, candidate: Candidate, context: Context) -> dict[str, Scalar]:
    """State what clouds ask, and the utilisation at which owning and renting cost the same."""
    gpu_hours, thresholds = run_gpu_hours(candidate, context), context.catalog.thresholds
    rent = rental_range(candidate.gpu.id, context.catalog, context.answers)
    per_hour = magnitude(cost.per_gpu_hour.expected, "USD/hour") if cost.per_gpu_hour else 0.0
    nodes, years = (threshold_number(thresholds, RENTAL_BAND, name) for name in ("nodes", "years"))
    scale = candidate.gpus / (nodes * RENTAL_BAND_GPUS_PER_NODE) * cost.years / years * MILLION
    low, high = (threshold_number(thresholds, RENTAL_BAND, name) * scale for name in ("low", "high"))
    good = "a firm price per GPU-hour; owning cannot be compared until the servers have a price"
    if per_hour > 0:
        good = (
            f"at most {gpu_hours * per_hour:,.0f} USD for the run, {per_hour:.3g} USD per GPU-hour: what it costs on a cluster of one's "
            "own that other work fills the rest of its years; what would that work be?"
        )
    return {
        "rent_good_answer": good,
        "rental_band_applies": candidate.gpu.id == RENTAL_BAND_GPU,
        "rental_band_low_usd": low,
        "rental_band_high_usd": high,
        "rent_known": rent is not None,
        "rent_low_usd": rent[0] if rent else 0.0,
        "rent_high_usd": rent[1] if rent else 0.0,
        **_crossing_facts(cost, rent, context),
        "rent_run_low_usd": gpu_hours * rent[0] if rent else 0.0,
    }


def _crossing_facts(cost: CostEstimate, rent: tuple[float, float] | None, context: Context) -> dict[str, Scalar]:
    crossing = crossing_of(cost, rent)
    low, expected, high = crossing or (0.0, 0.0, 0.0)
    return {
        "crossing_known": crossing is not None,
        "crossing_low_percent": PERCENT * low,
        "crossing_percent": PERCENT * expected,
        "crossing_high_percent": PERCENT * high,
        "utilisation_given": context.answers.given("budget.utilisation"),
        "utilisation_percent": context.answers.number("budget.utilisation") or 0.0,
    }


def phased_days(candidate: Candidate, phases: tuple[Phase, ...]) -> float:
    """Return the days of a run that starts with the first purchase, 0 where its length is unknown."""
    days = float(candidate.facts.get(Stage.RELIABILITY, {}).get("run_days", 0.0))
    return run_days_in_phases(days, phases, candidate.gpus) if phases and days > 0.0 else 0.0


def term_facts(cost: CostEstimate, candidate: Candidate, context: Context) -> dict[str, Scalar]:
    """State what the total includes, what the servers are worth at the end, and purchases in phases."""
    answers, extra = context.answers, cost.charges
    names = ["purchase", *(extra.once if extra else ()), *(cost.yearly if cost.yearly else ())]
    residual = cost.residual
    phases = phases_of(candidate, answers.count("budget.phases") or 1, answers.number("budget.phase_interval") or 0.0)
    colocated = COLOCATION in cost.yearly
    return {
        "included": ", ".join(names).replace(f"{ENERGY}", "energy"),
        "residual_known": residual is not None,
        "residual_low_usd": magnitude(residual.low, "USD") if residual else 0.0,
        "residual_usd": magnitude(residual.expected, "USD") if residual else 0.0,
        "residual_high_usd": magnitude(residual.high, "USD") if residual else 0.0,
        "residual_given": answers.given("budget.residual"),
        "colocation_assumed": colocated and not answers.given("budget.colocation"),
        "colocation_year_usd": magnitude(cost.yearly[COLOCATION].expected, "USD") if colocated else 0.0,
        "colocation_words": extra.basis[COLOCATION] if extra and colocated else "no colocation",
        "own_price_count": len(own_prices(answers)),
        "phase_count": len(phases),
        "first_phase_usd": (phases[0].low + phases[0].high) / 2.0 if phases else 0.0,
        "first_phase_gpus": phases[0].gpus if phases else 0,
        "first_phase_racks": phases[0].racks if phases else 0,
        "first_phase_kw": phases[0].power_kw if phases else 0.0,
        "last_phase_months": phases[-1].month if phases else 0.0,
        "phased_days": phased_days(candidate, phases),
        "deadline_days": answers.number("scale.deadline") or 0.0,
    }
