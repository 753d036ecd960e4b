"""Stage money: the bill of materials priced, what it costs to own, and how that stands to the budget."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalogs.quantities import format_quantity, magnitude
from catalogs.schema import Status
from rules.facts import FactField
from rules.findings import Scalar, Stage
from rules.guidance.money import RULES
from rules.own_server import OWN_SERVER_ID
from rules.sizing.cost import LEFT_OUT, cost_of, energy_per_gpu_hour_kwh, run_gpu_hours
from rules.sizing.power import HOURS_PER_YEAR, electricity_price
from rules.sizing.prices import months, newest_month, quote_of, rental_range, server_quote

if TYPE_CHECKING:
    from catalogs.quantities import Quantity
    from rules.candidate import Candidate, Context
    from rules.sizing.results import BomLine, CostEstimate, Range

STAGE = Stage.MONEY
__all__ = ["FACTS", "RULES", "STAGE", "assess", "bill", "describe"]

H200_SERVER, H200_SERVER_GPUS = "server-8x-nvidia-h200-sxm-141gb", 8
"""The catalog's price item that newer GPUs are compared with, and its GPUs."""
MOST_NAMED = 6
"""So many items without a price are named in a sentence; all of them stand in the design's cost section."""

FACTS: tuple[FactField, ...] = (
    FactField("node", "the node type"),
    FactField("gpu_name", "the GPU"),
    FactField("architecture", "the GPU's architecture"),
    FactField("unit_count", "servers, or pre-integrated racks"),
    FactField("node_count", "nodes of the fabric"),
    FactField("gpu_count", "GPUs that train"),
    FactField("own_server", "whether the server is the person's own description"),
    FactField("objective", "cheapest, fastest or best_per_kw"),
    FactField("scale_mode", "deadline, fixed or budget"),
    FactField("has_budget", "whether a budget was given"),
    FactField("budget_usd", "the budget, 0 where none was given"),
    FactField("price_known", "whether the price of the servers is known, so that there is a total"),
    FactField("purchase_low_usd", "lowest purchase price of what is priced"),
    FactField("purchase_usd", "expected purchase price of what is priced"),
    FactField("purchase_high_usd", "highest purchase price of what is priced"),
    FactField("server_confidence", "how far the servers' price is trusted"),
    FactField("server_price_note", "what the servers' price rests on"),
    FactField("server_price_usd", "expected price of one unit, 0 where unknown"),
    FactField("server_price_date", "its date"),
    FactField("server_covers_network", "whether that price is one per GPU of a whole cluster, network included"),
    FactField("price_over_h200", "price per GPU in its server over that of an H200 in its server, 0 where either is unknown"),
    FactField("price_age_months", "months from the oldest price used to the newest one in the catalog"),
    FactField("oldest_price", "what the oldest price used is of"),
    FactField("has_dated_price", "whether a priced line carries a date"),
    FactField("has_missing", "whether parts other than the servers have no price"),
    FactField("missing_count", "how many kinds of parts that are"),
    FactField("missing", "which, as text"),
    FactField("left_out", "what no total includes"),
    FactField("ownership_years", "years of ownership"),
    FactField("energy_known", "whether the energy's cost is known"),
    FactField("energy_year_usd", "expected cost of a year's energy"),
    FactField("electricity_given", "whether the price of electricity was answered"),
    FactField("electricity_usd_per_kwh", "expected price of electricity"),
    FactField("electricity_range", "its range as text"),
    FactField("energy_per_gpu_hour", "kWh per GPU-hour with the facility's losses, as a plain number"),
    FactField("ownership_usd", "expected cost of ownership over the years"),
    FactField("per_gpu_hour_usd", "expected cost per GPU-hour"),
    FactField("per_gpu_hour", "the same as text with its range"),
    FactField("per_million", "expected cost per million tokens or samples, as text"),
    FactField("run_known", "whether the length of the run is known"),
    FactField("run_share_percent", "share of the years that the run takes"),
    FactField("run_gpu_hours", "GPU-hours of the run"),
    FactField("run_usd", "the run at the expected cost per GPU-hour"),
    FactField("rent_known", "whether a cloud price of the GPU is known"),
    FactField("rent_low_usd", "lowest cloud price of a GPU-hour"),
    FactField("rent_high_usd", "highest cloud price of a GPU-hour"),
    FactField("rent_run_low_usd", "the run at the lowest cloud price"),
    FactField("product_status", "available, announced, end_of_life or unknown: the worse of node and GPU"),
    FactField("verified", "whether node and GPU were read at their source"),
    FactField("sequence_length", "tokens in a sequence, 1 for images and samples"),
    FactField("language_model", "whether tokens are trained"),
)


def assess(candidate: Candidate, context: Context) -> dict[str, Scalar]:
    """Price the bill, keep the estimate on the candidate and return the stage's fact."""
    cost = cost_of(candidate, context)
    candidate.cost = cost
    return {
        **_candidate_facts(candidate, context),
        **_purchase_facts(cost, candidate, context),
        **_age_facts(cost, context),
        **_ownership_facts(cost, candidate, context),
        **_run_facts(cost, candidate, context),
    }


def _candidate_facts(candidate: Candidate, context: Context) -> dict[str, Scalar]:
    answers, node, gpu = context.answers, candidate.node, candidate.gpu
    order = (Status.AVAILABLE, Status.UNKNOWN, Status.END_OF_LIFE, Status.ANNOUNCED)
    own = node.id == OWN_SERVER_ID
    status = gpu.status if own else max(node.status, gpu.status, key=order.index)
    return {
        "node": node.name,
        "gpu_name": gpu.name,
        "architecture": gpu.architecture,
        "unit_count": candidate.units,
        "node_count": candidate.nodes,
        "gpu_count": candidate.gpus,
        "own_server": own,
        "objective": answers.text("budget.objective"),
        "scale_mode": answers.text("scale.mode"),
        "product_status": status.value,
        "verified": node.verified and gpu.verified,
        "sequence_length": context.workload.sequence_length,
        "language_model": context.workload.unit == "token",
    }


def _purchase_facts(cost: CostEstimate, candidate: Candidate, context: Context) -> dict[str, Scalar]:
    budget = context.answers.number("budget.purchase")
    server = _server_line(cost, candidate)
    quote = server_quote(candidate.node, context.catalog, context.answers)
    others = [line for line in cost.bom if line.item != candidate.node.id and _named(line) in cost.missing]
    names = [_named(line) for line in others[:MOST_NAMED]]
    more = len(others) - len(names)
    return {
        "has_budget": budget is not None,
        "budget_usd": budget or 0.0,
        "price_known": cost.purchase is not None,
        "purchase_low_usd": _usd(cost.purchase.low if cost.purchase else None),
        "purchase_usd": _usd(cost.purchase.expected if cost.purchase else None),
        "purchase_high_usd": _usd(cost.purchase.high if cost.purchase else None),
        "server_confidence": server.confidence,
        "server_price_note": server.note or "no note",
        "server_price_usd": ((server.unit_low or 0.0) + (server.unit_high or 0.0)) / 2,
        "server_price_date": server.date or "no date",
        "server_covers_network": quote is not None and quote.covers_network,
        "price_over_h200": _over_h200(server, candidate, context),
        "has_missing": bool(others),
        "missing_count": len(others),
        "missing": ", ".join(names) + (f" and {more} more" if more > 0 else "") if names else "nothing",
        "left_out": ", ".join(LEFT_OUT),
    }


def _server_line(cost: CostEstimate, candidate: Candidate) -> BomLine:
    return next(line for line in cost.bom if line.item == candidate.node.id)


def _over_h200(server: BomLine, candidate: Candidate, context: Context) -> float:
    reference = quote_of(H200_SERVER, context.catalog)
    if reference is None or server.unit_low is None or server.unit_high is None:
        return 0.0
    each = (server.unit_low + server.unit_high) / 2 / candidate.node.gpu_count
    return each / (reference.expected / H200_SERVER_GPUS)


def _named(line: BomLine) -> str:
    return f"{line.quantity:,} × {line.name}"


def _age_facts(cost: CostEstimate, context: Context) -> dict[str, Scalar]:
    dated = [line for line in cost.bom if line.unit_low is not None and months(line.date) > 0]
    oldest = min(dated, key=lambda line: months(line.date), default=None)
    age = newest_month(context.catalog.prices) - months(oldest.date) if oldest else 0
    return {
        "has_dated_price": oldest is not None,
        "price_age_months": max(0, age),
        "oldest_price": f"{oldest.name}, {oldest.date}" if oldest else "",
    }


def _ownership_facts(cost: CostEstimate, candidate: Candidate, context: Context) -> dict[str, Scalar]:
    price = electricity_price(context.answers, context.catalog)
    return {
        "ownership_years": cost.years,
        "energy_known": cost.energy_per_year is not None,
        "energy_year_usd": _usd(cost.energy_per_year.expected if cost.energy_per_year else None),
        "electricity_given": context.answers.given("budget.electricity_price"),
        "electricity_usd_per_kwh": magnitude(price.expected, "USD/kWh"),
        "electricity_range": f"{magnitude(price.low, 'USD/kWh'):.3g} to {magnitude(price.high, 'USD/kWh'):.3g} USD/kWh",
        "energy_per_gpu_hour": round(energy_per_gpu_hour_kwh(candidate), 4),
        "ownership_usd": _usd(cost.ownership.expected if cost.ownership else None),
        "per_gpu_hour_usd": magnitude(cost.per_gpu_hour.expected, "USD/hour") if cost.per_gpu_hour else 0.0,
        "per_gpu_hour": _spread(cost.per_gpu_hour, "USD/hour", "USD per GPU-hour") if cost.per_gpu_hour else "an unknown amount",
        "per_million": _spread(cost.per_million_units, "USD", f"USD per million {context.workload.unit}s")
        if cost.per_million_units
        else "unknown",
    }


def _run_facts(cost: CostEstimate, candidate: Candidate, context: Context) -> dict[str, Scalar]:
    gpu_hours = run_gpu_hours(candidate, context)
    rent = rental_range(candidate.gpu.id, context.catalog)
    owned = cost.years * HOURS_PER_YEAR * candidate.gpus
    per_hour = magnitude(cost.per_gpu_hour.expected, "USD/hour") if cost.per_gpu_hour else 0.0
    return {
        "run_known": gpu_hours > 0,
        "run_share_percent": 100.0 * gpu_hours / owned if owned > 0 else 0.0,
        "run_gpu_hours": gpu_hours,
        "run_usd": gpu_hours * per_hour,
        "rent_known": rent is not None,
        "rent_low_usd": rent[0] if rent else 0.0,
        "rent_high_usd": rent[1] if rent else 0.0,
        "rent_run_low_usd": gpu_hours * rent[0] if rent else 0.0,
    }


def _usd(value: Quantity | None) -> float:
    return 0.0 if value is None else magnitude(value, "USD")


def _spread(found: Range, unit: str, label: str) -> str:
    low, expected, high = (f"{magnitude(end, unit):,.3g}" for end in (found.low, found.expected, found.high))
    return f"{expected} {label} ({low} to {high})"


def describe(candidate: Candidate, context: Context) -> dict[str, dict[str, object]]:
    """Return the section `cost` of the design; what has no price is named, never zero."""
    del context
    cost = candidate.cost
    if cost is None:
        return {}
    section: dict[str, object] = {"years": cost.years}
    for name, found, unit in (
        ("purchase", cost.purchase, "USD"),
        ("energy_per_year", cost.energy_per_year, "USD"),
        ("ownership", cost.ownership, "USD"),
        ("per_gpu_hour", cost.per_gpu_hour, "USD/hour"),
        ("per_million_units", cost.per_million_units, "USD"),
    ):
        section[name] = "unknown" if found is None else _range_row(found, unit)
    section["missing"] = list(cost.missing)
    section["notes"] = list(cost.notes)
    return {"cost": section}


def _range_row(found: Range, unit: str) -> dict[str, object]:
    return {
        "low": format_quantity(found.low, unit),
        "expected": format_quantity(found.expected, unit),
        "high": format_quantity(found.high, unit),
        "kind": found.kind.value,
    }


def bill(candidate: Candidate, context: Context) -> list[BomLine]:
    """Return nothing: money prices the lines of the other stages and adds none."""
    del candidate, context
    return []
