"""What a candidate costs: purchase, energy, ownership, and per GPU-hour and million tokens or samples.

An unknown price is never zero: it stays out of the sum and is named. Without a price of the servers there is no total at all.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from catalogs.quantities import magnitude, quantity
from catalogs.schema import Kind
from catalogs.sums import plain_sum
from rules.answers import RATES
from rules.counting import counted
from rules.own_server import OWN_SERVER_ID
from rules.sizing.electricity import electricity_price
from rules.sizing.lookup import fact_value
from rules.sizing.own_prices import RENT, canonical, own_prices
from rules.sizing.ownership import added, charges, once_factor, residual_value, scaled, sum_of
from rules.sizing.power import HOURS_PER_YEAR
from rules.sizing.prices import YOURS, Quote, currency_of, lowest_price, quote_of, server_quote, without_rate
from rules.sizing.results import BomLine, CostEstimate, Range
from rules.sizing.storage_price import class_quote

if TYPE_CHECKING:
    from collections.abc import Iterable

    from catalogs import Catalog
    from catalogs.schema import Node
    from rules.answers import Answers
    from rules.candidate import Candidate, Context
    from rules.sizing.ownership import Charges
    from rules.sizing.results import FacilityDesign

COST_SHARES = "capital-gb200-rack"
"""The fact that splits the cost of a rack with its facility into GPUs, network, storage, building and so on."""
SECONDS_PER_HOUR = 3600.0
STORAGE = "storage"
"""Category of the bill whose lines have a price by class where the product has none."""
COVERED = "included in the servers' price"

THRESHOLDS_IN_FORMULAS = {
    "cost-bom-sum": "rules.sizing.cost.purchase_of",
}
"""Thresholds of stage money that formulas apply instead of rules: sums are always added up again, never copied."""
MILLION = 1e6
ENERGY = "energy"
"""Name of the energy among the yearly costs."""


def cost_of(candidate: Candidate, context: Context) -> CostEstimate:
    """Return purchase, yearly energy and ownership of a candidate, its bill of materials priced.

    Needs `candidate.bom` from all stages (the servers are added where no stage billed them) and `candidate.facility` for energy.
    """
    answers, catalog = context.answers, context.catalog
    server = server_quote(candidate.node, catalog, answers)
    lines = tuple(_priced(line, candidate, server, context) for line in bill_with_servers(candidate))
    purchase = purchase_of(lines) if server is not None else None
    energy = _energy(candidate.facility, answers, catalog)
    years = answers.number("budget.years") or 0.0
    extra = charges(answers, catalog, purchase, candidate.facility, gpus=candidate.gpus, years=years)
    outlay = None if purchase is None else scaled(purchase, extra.factor)
    yearly = {**({} if energy is None else {ENERGY: energy}), **extra.yearly}
    ownership = None if outlay is None else added([outlay, *(scaled(each, years) for each in yearly.values())])
    residual = residual_value(answers, catalog, sum_of(lines, candidate.node.id), years)
    hours = years * HOURS_PER_YEAR * candidate.gpus
    per_gpu_hour = _divided(ownership, hours, "USD/hour") if hours > 0 else None
    missing = _missing(lines, server)
    return CostEstimate(
        purchase=purchase,
        energy_per_year=energy,
        ownership=ownership,
        years=years,
        per_gpu_hour=per_gpu_hour,
        per_million_units=_per_million(per_gpu_hour, candidate),
        bom=lines,
        missing=missing,
        notes=(
            *_notes(candidate, server, energy, extra, missing),
            *(f"not counted, because {each}" for each in uncounted(lines, answers, catalog)),
            *_unused(lines, answers, catalog),
        ),
        outlay=outlay,
        yearly=yearly,
        charges=extra,
        residual=residual,
    )


def unit_price(node: Node, catalog: Catalog, answers: Answers, *, network: bool = True) -> Range | None:
    """Return what one unit of `node` costs with its share of network and storage, for sizing what a budget buys; None if unknown.

    The share is that of network and storage over all other IT in a published split (fact `capital-gb200-rack`); `network=False`
    leaves it away, for a single node.
    """
    server = server_quote(node, catalog, answers)
    if server is None:
        return None
    low, expected, high = overhead_shares(catalog, with_network=not server.covers_network) if network else (0.0, 0.0, 0.0)
    once = once_factor(answers)
    return Range(
        quantity(server.low * (1 + low) * once, "USD"),
        quantity(server.expected * (1 + expected) * once, "USD"),
        quantity(server.high * (1 + high) * once, "USD"),
        server.kind,
    )


def overhead_shares(catalog: Catalog, *, with_network: bool) -> tuple[float, float, float]:
    """Return (low, expected, high) of what network and storage cost per USD of servers, from 0 up.

    Shares of the whole are turned into shares of the servers: building and equipment themselves are taken off the whole first.
    """
    network = fact_value(catalog.facts, COST_SHARES, "network_share").ends("")
    storage = fact_value(catalog.facts, COST_SHARES, "storage_share").ends("")
    building = fact_value(catalog.facts, COST_SHARES, "mechanical_electrical_share").to("")
    servers = 1.0 - building - network[1] - storage[1]
    low, expected, high = ((storage[end] + (network[end] if with_network else 0.0)) / servers for end in range(3))
    return low, expected, high


def bill_with_servers(candidate: Candidate) -> list[BomLine]:
    """Return the bill of all stages, with the servers at its head where no stage billed them."""
    if any(line.item == candidate.node.id for line in candidate.bom):
        return list(candidate.bom)
    return [BomLine(candidate.node.id, candidate.node.name, "server", candidate.units), *candidate.bom]


def _priced(line: BomLine, candidate: Candidate, server: Quote | None, context: Context) -> BomLine:
    """Return the line with its price; parts of a network that the servers' price covers cost nothing more and say so."""
    if line.unit_low is not None:
        return line
    if line.item == candidate.node.id:
        return _with(line, server)
    if server is not None and server.covers_network and _is_network(line, context.catalog):
        return replace(line, note=COVERED)
    quote = quote_of(line.item, context.catalog, context.answers)
    if quote is None and line.category == STORAGE:
        quote = class_quote(line, candidate.storage, context.catalog)
    return _with(line, quote)


def _with(line: BomLine, quote: Quote | None) -> BomLine:
    if quote is None:
        return line
    note = f"{line.note}; {quote.note}" if line.note and quote.note else line.note or quote.note
    return replace(
        line, unit_low=quote.low, unit_high=quote.high, date=quote.date, source=quote.source, confidence=quote.confidence, note=note
    )


def _is_network(line: BomLine, catalog: Catalog) -> bool:
    return line.item in catalog.switches or line.item in catalog.cables or line.category in ("switch", "cable", "transceiver", "network")


def purchase_of(lines: Iterable[BomLine]) -> Range:
    """Return the sum of quantity × price over the lines that have one, in USD; the expected value is the middle of each line's range."""
    low = high = 0.0
    for line in lines:
        if line.unit_low is not None:
            low += line.quantity * line.unit_low
            high += line.quantity * (line.unit_high if line.unit_high is not None else line.unit_low)
    return Range(quantity(low, "USD"), quantity((low + high) / 2, "USD"), quantity(high, "USD"), Kind.ESTIMATED)


def purchase_floor_usd(cost: CostEstimate, candidate: Candidate, catalog: Catalog) -> float:
    """Return what the purchase costs at least, in USD: the low prices of what is priced, and of unpriced servers their GPUs alone.

    Taxes and installation are on top, as far as they were said.

    GPUs are counted at the lowest purchase price of the catalog, those of spare servers too. A server of one's own without a price
    may be there already and counts nothing.
    """
    once = cost.charges.factor if cost.charges is not None else 1.0
    priced = once * plain_sum(line.quantity * line.unit_low for line in cost.bom if line.unit_low is not None)
    each = lowest_price(candidate.gpu.id, catalog)
    if cost.purchase is not None or each is None or candidate.node.id == OWN_SERVER_ID:
        return priced
    servers = plain_sum(line.quantity for line in cost.bom if line.item == candidate.node.id and line.unit_low is None)
    return priced + once * servers * candidate.node.gpu_count * each


def _missing(lines: Iterable[BomLine], server: Quote | None) -> tuple[str, ...]:
    covered = server is not None and server.covers_network
    return tuple(
        f"{line.quantity:,} × {line.name}"
        for line in lines
        if line.unit_low is None and not (covered and line.note == COVERED) and line.quantity > 0
    )


def energy_per_gpu_hour_kwh(candidate: Candidate) -> float:
    """Return kWh per GPU-hour, cooling and losses included; 0 where the power is not known.

    To compare: BLOOM's training took 433 MWh for 1.083 million hours of A100, 0.40 kWh each (GENCI).
    """
    facility = candidate.facility
    if facility is None or candidate.gpus < 1:
        return 0.0
    return magnitude(facility.energy_per_year, "kWh") / (HOURS_PER_YEAR * candidate.gpus)


def run_gpu_hours(candidate: Candidate, context: Context) -> float:
    """Return the GPU-hours of the whole run: its time with failures where that was estimated, else at the step's speed; 0 if unknown."""
    reliability = candidate.reliability
    if reliability is not None and reliability.run_time is not None:
        return magnitude(reliability.run_time.expected, "hour") * candidate.gpus
    if candidate.choice is None or candidate.choice.step.units_per_second <= 0 or context.workload.units_total <= 0:
        return 0.0
    return context.workload.units_total / candidate.choice.step.units_per_second / SECONDS_PER_HOUR * candidate.gpus


def _energy(facility: FacilityDesign | None, answers: Answers, catalog: Catalog) -> Range | None:
    """Return the cost of a year's energy: typical power at the low and expected price, maximum power all year at the high one."""
    if facility is None:
        return None
    price = electricity_price(answers, catalog).price
    kwh = magnitude(facility.energy_per_year, "kWh")
    typical_kw = magnitude(facility.it_power_typical, "kW")
    most = magnitude(facility.it_power_maximum, "kW") / typical_kw if typical_kw > 0 else 1.0
    low, expected, high = (magnitude(end, "USD/kWh") for end in (price.low, price.expected, price.high))
    return Range(quantity(kwh * low, "USD"), quantity(kwh * expected, "USD"), quantity(kwh * most * high, "USD"), price.kind)


def _divided(total: Range | None, by: float, unit: str) -> Range | None:
    if total is None:
        return None
    low, expected, high = (quantity(magnitude(end, "USD") / by, unit) for end in (total.low, total.expected, total.high))
    return Range(low, expected, high, Kind.ESTIMATED)


def _per_million(per_gpu_hour: Range | None, candidate: Candidate) -> Range | None:
    """Return USD per million tokens (or samples) at the expected speed, failures counted where they were estimated."""
    if per_gpu_hour is None or candidate.choice is None or candidate.choice.step.units_per_second <= 0:
        return None
    goodput = candidate.reliability.goodput if candidate.reliability is not None else 1.0
    per_hour = candidate.choice.step.units_per_second * goodput * SECONDS_PER_HOUR
    if per_hour <= 0:
        return None
    factor = candidate.gpus / per_hour * MILLION
    low, expected, high = (
        quantity(magnitude(end, "USD/hour") * factor, "USD") for end in (per_gpu_hour.low, per_gpu_hour.expected, per_gpu_hour.high)
    )
    return Range(low, expected, high, Kind.ESTIMATED)


def uncounted(lines: Iterable[BomLine], answers: Answers, catalog: Catalog) -> tuple[str, ...]:
    """Return what is said of prices of the bill in currencies of which no rate is known: one sentence per currency, none without."""
    told: dict[str, list[str]] = {}
    for line in lines:
        if line.source == YOURS:
            continue
        for row in without_rate(line.item, catalog, answers):
            told.setdefault(currency_of(row), []).append(f"{line.name} ({row.low:,.0f} {row.unit}, {row.date})")
    return tuple(
        f"no rate of {currency} is known: {', '.join(dict.fromkeys(names))}; give its worth in {RATES}" for currency, names in told.items()
    )


def _unused(lines: Iterable[BomLine], answers: Answers, catalog: Catalog) -> tuple[str, ...]:
    """Return a note on the person's own prices that price nothing of this bill."""
    billed = {line.item for line in lines}
    named = [canonical(item, catalog) for item in own_prices(answers)]
    unused = [item for item in named if item not in billed and not item.startswith(RENT)]
    return (f"your own prices of what this bill does not hold: {', '.join(unused)}",) if unused else ()


def left_out_of(missing: tuple[str, ...], extra: Charges | None) -> tuple[str, ...]:
    """Return what no total of a cost includes: parts without a price, and charges that nobody named."""
    parts = (f"{counted(len(missing), 'kind')} of parts without a price",) if missing else ()
    return (*parts, *(extra.left_out if extra is not None else ()))


def _notes(candidate: Candidate, server: Quote | None, energy: Range | None, extra: Charges, missing: tuple[str, ...]) -> tuple[str, ...]:
    notes = [f"left out of every total: {', '.join(left_out_of(missing, extra))}"]
    if server is None:
        notes.append(f"no price of one {candidate.node.name} is known, so there is no total")
    elif server.covers_network:
        notes.append(server.note)
    if energy is None:
        notes.append("energy is left out: the power of the servers is not known")
    return tuple(notes)
