"""Stage money: the bill of materials priced, what it costs to own, and how that stands to the budget."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalogs.quantities import format_number, grouped, magnitude
from catalogs.schema import Status
from catalogs.sums import plain_sum
from rules.budget_size import kept_free, why_no_more
from rules.counting import counted
from rules.findings import Scalar, Stage
from rules.guidance.money import RULES
from rules.own_server import OWN_SERVER_ID
from rules.proposals import sizes_of
from rules.scale import size_given, sized_by_deadline
from rules.sizing.cost import cost_of, energy_per_gpu_hour_kwh, left_out_of, purchase_floor_usd, run_gpu_hours
from rules.sizing.electricity import electricity_price, text_of
from rules.sizing.power import HOURS_PER_YEAR
from rules.sizing.prices import lowest_price, months, newest_month, quote_of, server_quote
from rules.sizing.regions import is_known
from rules.sizing.storage_price import BY_CLASS
from rules.stages.money_fields import FACTS
from rules.stages.money_sections import describe
from rules.stages.money_terms import delivery_facts, rental_facts, term_facts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from catalogs.quantities import Quantity
    from rules.candidate import Candidate, Context
    from rules.sizing.results import BomLine, CostEstimate, Range

STAGE = Stage.MONEY
__all__ = ["FACTS", "RULES", "STAGE", "assess", "bill", "describe", "size_first"]

H200_SERVER, H200_SERVER_GPUS = "server-8x-nvidia-h200-sxm-141gb", 8
"""The catalog's price item that newer GPUs are compared with, and its GPUs."""
GIGA, MILLION = 1e9, 1e6
FULL_TRAINING = ("pretraining", "fine_tuning_full")
"""Kinds of work in which every weight of a language model is trained, so that the rule of 6 FLOP per parameter and token holds."""
SELLERS = {
    "network": ("switch", "cable", "transceiver", "optic", "fibre", "network", "nic", "spares_network"),
    "storage": ("storage",),
    "site": ("rack", "power", "cooling"),
}
"""Who sells a part, by the categories of the bill; everything else comes with the servers."""
OTHER_SELLER = "server"
MOST_NAMED = 6
"""So many items without a price are named in a sentence; all of them stand in the design's cost section."""


def assess(candidate: Candidate, context: Context) -> dict[str, Scalar]:
    """Price the bill, keep the estimate on the candidate and return the stage's fact."""
    return size_first(candidate, context)()


def size_first(candidate: Candidate, context: Context) -> Callable[[], dict[str, Scalar]]:
    """Price the bill, keep the estimate on the candidate and return what states the fact later."""
    cost = cost_of(candidate, context)
    candidate.cost = cost
    return lambda: {
        **_candidate_facts(candidate, context),
        **_purchase_facts(cost, candidate, context),
        **_age_facts(cost, context),
        **_ownership_facts(cost, candidate, context),
        **_run_facts(cost, candidate, context),
        **rental_facts(cost, candidate, context),
        **term_facts(cost, candidate, context),
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
        **delivery_facts(candidate, context),
        "verified": node.verified and gpu.verified,
        "has_product_notes": bool(node.notes) and not own and not node.desktop,
        "product_notes": node.notes.rstrip("."),
        "sequence_length": context.workload.sequence_length,
        "language_model": context.workload.unit == "token",
        "full_training": context.workload.kind in FULL_TRAINING,
        "gigaflop_per_unit": f"{format_number(context.workload.flops_per_unit / GIGA, 3)} GFLOP per {context.workload.unit}",
        "size_given": size_given(answers),
        "time_binds": _time_binds(candidate, context),
    }


def _time_binds(candidate: Candidate, context: Context) -> bool:
    """Return whether the next smaller size would miss the deadline; else memory or an answer sets the size, and time does not help."""
    reliability, days = candidate.reliability, context.answers.number("scale.deadline")
    if not sized_by_deadline(context.answers) or reliability is None or reliability.run_time is None or days is None:
        return False
    smaller = [size for size in sizes_of(candidate.node, candidate.units) if size < candidate.units]
    return bool(smaller) and magnitude(reliability.run_time.expected, "day") * candidate.units / smaller[-1] > days


def _purchase_facts(cost: CostEstimate, candidate: Candidate, context: Context) -> dict[str, Scalar]:
    budget = context.answers.number("budget.purchase")
    server = _server_line(cost, candidate)
    quote = server_quote(candidate.node, context.catalog, context.answers)
    others = [line for line in cost.bom if line.item != candidate.node.id and _named(line) in cost.missing]
    return {
        "purchase_floor_usd": purchase_floor_usd(cost, candidate, context.catalog),
        "floor_words": _floor_words(cost, candidate, context),
        "has_budget": budget is not None,
        "budget_usd": budget or 0.0,
        "kept_free_words": _kept_words(cost, candidate, context),
        "price_known": cost.purchase is not None,
        "purchase_low_usd": _usd(cost.outlay.low if cost.outlay else None),
        "purchase_usd": _usd(cost.outlay.expected if cost.outlay else None),
        "purchase_high_usd": _usd(cost.outlay.high if cost.outlay else None),
        "server_confidence": server.confidence,
        "server_price_note": server.note or "no note",
        "server_price_usd": ((server.unit_low or 0.0) + (server.unit_high or 0.0)) / 2,
        "server_price_date": server.date or "no date",
        "server_covers_network": quote is not None and quote.covers_network,
        "price_over_h200": _over_h200(server, candidate, context),
        "has_missing": bool(others),
        "missing_count": len(others),
        "missing": _listed(others),
        "left_out": ", ".join(left_out_of(cost.missing, cost.charges)),
        "unpriced_words": f", without {counted(len(cost.missing), 'kind')} of parts that have no price" if cost.missing else "",
        **_class_facts(cost.bom),
        **_missing_facts(others),
    }


def _kept_words(cost: CostEstimate, candidate: Candidate, context: Context) -> str:
    """Return what of the budget was kept free for what has no price, and why no larger size was taken, where the budget sets the size."""
    budget = context.answers.number("budget.purchase")
    if budget is None:
        return ""
    kept = kept_free(budget, open_prices=bool(cost.missing), context=context)
    whose = "your own figure" if context.answers.given("budget.reserve") else "assumed"
    left = budget - _usd(cost.outlay.expected if cost.outlay else None)
    kept_words = f"{kept:,.0f} USD of it are kept for what has none ({whose})" if kept > 0 else ""
    if 0 <= left < kept:
        kept_words = f"only {left:,.0f} USD of it are left for what has none, {kept:,.0f} should be ({whose})"
    parts = (kept_words, why_no_more(candidate, budget - kept, context))
    return "".join(f"; {part}" for part in parts if part)


def _listed(lines: Sequence[BomLine]) -> str:
    names = [_named(line) for line in lines[:MOST_NAMED]]
    more = len(lines) - len(names)
    return ", ".join(names) + (f" and {more} more" if more > 0 else "") if names else "nothing"


def _class_facts(lines: Sequence[BomLine]) -> dict[str, Scalar]:
    """Return which storage is priced by its class, and at what."""
    theirs = [line for line in lines if BY_CLASS in line.note]
    low, high = (plain_sum(line.quantity * (getattr(line, end) or 0.0) for line in theirs) for end in ("unit_low", "unit_high"))
    return {
        "storage_by_class": bool(theirs),
        "storage_by_class_names": _listed(theirs),
        "storage_by_class_words": f"{grouped(low, 3)} to {grouped(high, 3)} USD",
    }


def _missing_facts(lines: Sequence[BomLine]) -> dict[str, Scalar]:
    """Return, by who sells them, which parts have no price."""
    facts: dict[str, Scalar] = {}
    for seller in (*SELLERS, OTHER_SELLER):
        theirs = [line for line in lines if _seller(line) == seller]
        facts |= {
            f"has_missing_{seller}": bool(theirs),
            f"missing_{seller}": _listed(theirs),
            f"missing_{seller}_words": "1 kind of part has" if len(theirs) == 1 else f"{len(theirs)} kinds of parts have",
        }
    return facts


def _seller(line: BomLine) -> str:
    return next((seller for seller, categories in SELLERS.items() if line.category in categories), OTHER_SELLER)


def _floor_words(cost: CostEstimate, candidate: Candidate, context: Context) -> str:
    """Return what the floor of the purchase is made of."""
    each = lowest_price(candidate.gpu.id, context.catalog)
    if cost.purchase is not None:
        return "the lowest prices of what has one"
    if each is None or candidate.node.id == OWN_SERVER_ID:
        return "what has a price, without the servers"
    return f"GPUs at {each:,.0f} USD or more each, and what else has a price"


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
    electricity, region = electricity_price(context.answers, context.catalog), context.answers.text("facility.region")
    return {
        "ownership_years": cost.years,
        "energy_known": cost.energy_per_year is not None,
        "energy_year_usd": _usd(cost.energy_per_year.expected if cost.energy_per_year else None),
        "electricity_given": context.answers.given("budget.electricity_price"),
        "electricity_usd_per_kwh": magnitude(electricity.price.expected, "USD/kWh"),
        "electricity_range": text_of(electricity.price),
        "electricity_basis": electricity.basis,
        "electricity_of_place": electricity.is_of_place,
        "has_region": bool(region),
        "region": region or "a place not named",
        "region_known": bool(region) and is_known(context.catalog, region),
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
    owned = cost.years * HOURS_PER_YEAR * candidate.gpus
    per_hour = magnitude(cost.per_gpu_hour.expected, "USD/hour") if cost.per_gpu_hour else 0.0
    return {
        "run_known": gpu_hours > 0,
        "run_share_percent": 100.0 * gpu_hours / owned if owned > 0 else 0.0,
        "run_gpu_hours": gpu_hours,
        "run_usd": gpu_hours * per_hour,
    }


def _usd(value: Quantity | None) -> float:
    return 0.0 if value is None else magnitude(value, "USD")


def _spread(found: Range, unit: str, label: str) -> str:
    low, expected, high = (grouped(magnitude(end, unit), 3) for end in (found.low, found.expected, found.high))
    return f"{expected} {label} ({low} to {high})"


def bill(candidate: Candidate, context: Context) -> list[BomLine]:
    """Return nothing: money prices the lines of the other stages and adds none."""
    del candidate, context
    return []
