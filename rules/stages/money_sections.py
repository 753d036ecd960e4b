"""The design sections of stage money: cost and its parts, rent or buy, what moves the total, phases, the delivery schedule."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalogs.quantities import format_quantity, magnitude, quantity
from rules.answers import USD
from rules.findings import Stage
from rules.sizing.cost import run_gpu_hours
from rules.sizing.own_prices import exchange_rates
from rules.sizing.ownership import depreciation_years, parts_of, usd
from rules.sizing.power import HOURS_PER_YEAR
from rules.sizing.renting import rent_or_buy
from rules.sizing.schedule import phases_of, placed, tasks_of
from rules.sizing.sensitivity import MOST_NAMED, sensitivities

if TYPE_CHECKING:
    from rules.candidate import Candidate, Context
    from rules.sizing.results import CostEstimate, Range


def describe(candidate: Candidate, context: Context) -> dict[str, dict[str, object]]:
    """Return the sections on money: cost with its parts, rent or buy, what moves the total, phases, delivery.

    What has no price is named, never zero.
    """
    cost = candidate.cost
    if cost is None:
        return {}
    section: dict[str, object] = {"years": cost.years}
    for name, found, unit in (
        ("purchase", cost.purchase, "USD"),
        *((("outlay", cost.outlay, "USD"),) if cost.charges is not None and cost.charges.once else ()),
        ("energy_per_year", cost.energy_per_year, "USD"),
        ("ownership", cost.ownership, "USD"),
        ("per_gpu_hour", cost.per_gpu_hour, "USD/hour"),
        ("per_million_units", cost.per_million_units, "USD"),
    ):
        section[name] = "unknown" if found is None else _range_row(found, unit)
    hours = run_gpu_hours(candidate, context)
    if cost.per_gpu_hour is not None and hours > 0.0:
        low, expected, high = (
            magnitude(end, "USD/hour") * hours for end in (cost.per_gpu_hour.low, cost.per_gpu_hour.expected, cost.per_gpu_hour.high)
        )
        section["per_run"] = _range_row(usd(low, expected, high), "USD")
    section["missing"] = list(cost.missing)
    section["notes"] = [*cost.notes, *_in_own_currency(cost, context)]
    section["sensitivity"] = _sensitivity(cost, candidate, context)
    section.update(_run_in_phases(candidate))
    section["phase"] = _phases(candidate, context)
    filled = {name: value for name, value in section.items() if value != [] or name in ("missing", "notes")}
    sections: dict[str, dict[str, object]] = {"cost": filled, "cost.part": _parts(cost)}
    if cost.outlay is not None:
        sections["cost.at_the_end"] = _at_the_end(cost, context)
    sections["cost.rent"] = _rent(cost, candidate, context)
    sections["delivery"] = _delivery(candidate, context)
    return {name: values for name, values in sections.items() if values}


def _in_own_currency(cost: CostEstimate, context: Context) -> list[str]:
    """Return what is paid at the start in each currency of which the person named the rate."""
    if cost.outlay is None:
        return []
    once = ", ".join(cost.charges.once) if cost.charges is not None else ""
    what = f"the purchase with {once}" if once else "the purchase"
    amount = magnitude(cost.outlay.expected, "USD")
    rates = {name: rate for name, rate in exchange_rates(context.answers).items() if name != USD}
    return [f"{what} is {amount / rate:,.0f} {name} at {rate:g} USD, your own rate" for name, rate in rates.items()]


def _parts(cost: CostEstimate) -> dict[str, object]:
    """Return what the cost of ownership is made of, over all years."""
    return {name: format_quantity(quantity(amount, "USD"), "USD") for name, amount in parts_of(cost).items()}


def _at_the_end(cost: CostEstimate, context: Context) -> dict[str, object]:
    """Return what is left after the years: resale value of the servers, depreciation in a straight line, and the net cost."""
    assert cost.outlay is not None
    shortest, usual, longest = depreciation_years(context.catalog)
    outlay = magnitude(cost.outlay.expected, "USD")
    section: dict[str, object] = {
        "written_off_over": [f"{shortest:g} year", f"{usual:g} year", f"{longest:g} year"],
        "depreciation_per_year": format_quantity(quantity(outlay / usual, "USD"), "USD"),
        "book_value": format_quantity(quantity(outlay * max(0.0, 1.0 - cost.years / usual), "USD"), "USD"),
    }
    if cost.residual is not None and cost.ownership is not None:
        section["resale_of_servers"] = _range_row(cost.residual, "USD")
        net = magnitude(cost.ownership.expected, "USD") - magnitude(cost.residual.expected, "USD")
        section["ownership_less_resale"] = format_quantity(quantity(net, "USD"), "USD")
    return section


def _sensitivity(cost: CostEstimate, candidate: Candidate, context: Context) -> list[dict[str, object]]:
    """Return the five inputs that move the cost of ownership most."""
    return [
        {
            "input": each.name,
            "from": each.low_words,
            "to": each.high_words,
            "ownership_from": format_quantity(quantity(each.low, "USD"), "USD"),
            "ownership_to": format_quantity(quantity(each.high, "USD"), "USD"),
            "moves_it_by": format_quantity(quantity(each.swing, "USD"), "USD"),
        }
        for each in sensitivities(cost, candidate, context)[:MOST_NAMED]
    ]


def _rent(cost: CostEstimate, candidate: Candidate, context: Context) -> dict[str, object]:
    """Return renting beside owning: every dated offer, what the run costs there, and where both cross."""
    owned = cost.years * HOURS_PER_YEAR * candidate.gpus
    found = rent_or_buy(cost, candidate.gpu.id, owned, run_gpu_hours(candidate, context), context.catalog, context.answers)
    if not found.offers:
        return {"notes": [f"no cloud price of a GPU-hour of {candidate.gpu.name} is known, so that renting is not compared: ask for one"]}
    section: dict[str, object] = {}
    if found.run_rent is not None:
        section["run"] = [format_quantity(quantity(each, "USD"), "USD") for each in found.run_rent]
    if found.crossing is not None:
        low, expected, high = found.crossing
        section["crossing_utilisation"] = {"low": round(low, 3), "expected": round(expected, 3), "high": round(high, 3)}
    section["offer"] = [
        {
            "what": each.what,
            "low": format_quantity(quantity(each.low, "USD/hour"), "USD/hour"),
            "high": format_quantity(quantity(each.high, "USD/hour"), "USD/hour"),
            "date": each.date or "not dated",
            "source": each.source,
            "confidence": each.confidence,
        }
        for each in found.offers
    ]
    section["notes"] = ["on demand; a commitment is negotiated: clouds print 20 to 62 % off for one to three years of other machines"]
    return section


def _phases(candidate: Candidate, context: Context) -> list[dict[str, object]]:
    answers = context.answers
    phases = phases_of(candidate, answers.count("budget.phases") or 1, answers.number("budget.phase_interval") or 0.0)
    return [
        {
            "phase": each.number,
            "after": f"{each.month:g} month",
            "units": each.units,
            "gpus_then": each.gpus,
            **({"racks_then": each.racks} if each.racks else {}),
            **({"it_power_then": format_quantity(quantity(each.power_kw, "kW"), "kW")} if each.power_kw else {}),
            "buys": each.buys,
            "low": format_quantity(quantity(each.low, "USD"), "USD"),
            "high": format_quantity(quantity(each.high, "USD"), "USD"),
        }
        for each in phases
    ]


def _run_in_phases(candidate: Candidate) -> dict[str, str]:
    """Return how long a run takes that starts with the first purchase, nothing where it is bought at once or its length is unknown."""
    days = float(candidate.facts.get(Stage.MONEY, {}).get("phased_days", 0.0))
    return {"run_in_phases": f"{days:.4g} day"} if days > 0.0 else {}


def _delivery(candidate: Candidate, context: Context) -> dict[str, object]:
    """Return the delivery schedule with its critical path, in weeks from the order."""
    rows, tasks = [], tasks_of(candidate, context.catalog)
    names = {task.id: task.name for task in tasks}
    for each in placed(tasks):
        task = each.task
        row: dict[str, object] = {"task": task.name, "after": [names[id_] for id_ in task.after], "critical": each.critical}
        row["weeks"] = "unknown" if task.weeks is None else [round(week, 1) for week in task.weeks]
        row["starts"] = [round(week, 1) for week in each.start]
        row["ends"] = "unknown" if task.weeks is None else [round(week, 1) for week in each.end]
        row["basis"] = task.basis
        rows.append(row)
    return {"task": rows}


def _range_row(found: Range, unit: str) -> dict[str, object]:
    return {
        "low": format_quantity(found.low, unit),
        "expected": format_quantity(found.expected, unit),
        "high": format_quantity(found.high, unit),
        "kind": found.kind.value,
    }
