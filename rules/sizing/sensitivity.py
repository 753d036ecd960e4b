"""Which inputs move the cost of ownership most: each is set to the ends of its own range while all others stay as expected."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from catalogs.quantities import magnitude
from catalogs.sums import plain_sum
from rules.sizing.cost import ENERGY
from rules.sizing.electricity import electricity_price
from rules.sizing.ownership import FINANCING

if TYPE_CHECKING:
    from rules.candidate import Candidate, Context
    from rules.sizing.results import BomLine, CostEstimate

SWING = 0.10
"""Swing of an input that was given as one figure, assumed: contracts differ from plans by about so much."""
YEARS_SWING = 1.0
"""Years of use more or less: the next generation comes a year earlier or later than planned."""
GROUPS = {
    "price of the servers": ("server", "compute", "spares"),
    "price of the network": ("switch", "cable", "transceiver", "optic", "fibre", "network", "nic", "spares_network"),
    "price of the storage": ("storage",),
    "price of racks, power and cooling": ("rack", "power", "cooling"),
}
OTHER_GROUP = "price of other parts"
OF_THE_PURCHASE = {"support": "rate of support", FINANCING: "rate of interest"}
"""Yearly costs that are a share of the purchase, with the input that sets the share."""
MOST_NAMED = 5


@dataclass(frozen=True)
class Sensitivity:
    """An input, from what to what it goes, and the cost of ownership in USD at both ends."""

    name: str
    low_words: str
    high_words: str
    low: float
    high: float

    @property
    def swing(self) -> float:
        """Return how far the total moves between both ends, in USD."""
        return abs(self.high - self.low)


def sensitivities(cost: CostEstimate, candidate: Candidate, context: Context) -> tuple[Sensitivity, ...]:
    """Return every input of the cost of ownership by how far it moves the total, the strongest first; empty without a total."""
    if cost.ownership is None or cost.purchase is None:
        return ()
    total = magnitude(cost.ownership.expected, "USD")
    rows = [*_prices(cost, total), *_energy(cost, candidate, context, total), *_yearly(cost, total), _years(cost, total)]
    return tuple(sorted((row for row in rows if row.swing > 0.0), key=lambda row: -row.swing))


def _once_and_support(cost: CostEstimate) -> float:
    """Return what a dollar more of purchase adds to the total: taxes and installation once, support and interest every year."""
    extra = cost.charges
    if extra is None or cost.purchase is None:
        return 1.0
    purchase = magnitude(cost.purchase.expected, "USD")
    with_it = [extra.yearly[name] for name in OF_THE_PURCHASE if name in extra.yearly]
    yearly = plain_sum(magnitude(each.expected, "USD") for each in with_it) / purchase if purchase > 0 else 0.0
    return extra.factor + yearly * cost.years


def _group(line: BomLine) -> str:
    return next((name for name, categories in GROUPS.items() if line.category in categories), OTHER_GROUP)


def _prices(cost: CostEstimate, total: float) -> list[Sensitivity]:
    ends: dict[str, list[float]] = {}
    for line in cost.bom:
        if line.unit_low is None:
            continue
        high = line.unit_high if line.unit_high is not None else line.unit_low
        pair = ends.setdefault(_group(line), [0.0, 0.0])
        pair[0] += line.quantity * line.unit_low
        pair[1] += line.quantity * high
    rows, weight = [], _once_and_support(cost)
    for name, (low, high) in ends.items():
        middle = (low + high) / 2.0
        least, most, words = (low, high, "") if high > low else (middle * (1 - SWING), middle * (1 + SWING), _by_swing())
        below, above = total + (least - middle) * weight, total + (most - middle) * weight
        rows.append(Sensitivity(name, f"{least:,.0f} USD{words}", f"{most:,.0f} USD{words}", below, above))
    return rows


def _energy(cost: CostEstimate, candidate: Candidate, context: Context, total: float) -> list[Sensitivity]:
    facility, energy = candidate.facility, cost.yearly.get(ENERGY)
    if facility is None or energy is None:
        return []
    price = electricity_price(context.answers, context.catalog).price
    low, expected, high = (magnitude(end, "USD/kWh") for end in (price.low, price.expected, price.high))
    words = ""
    if high <= low:
        low, high, words = expected * (1 - SWING), expected * (1 + SWING), _by_swing()
    kwh = magnitude(facility.energy_per_year, "kWh") * cost.years
    rows = [
        Sensitivity(
            "price of electricity",
            f"{low:.3g} USD/kWh{words}",
            f"{high:.3g} USD/kWh{words}",
            total + kwh * (low - expected),
            total + kwh * (high - expected),
        )
    ]
    typical, most = (magnitude(each, "kW") for each in (facility.it_power_typical, facility.it_power_maximum))
    if typical > 0 and most > typical:
        more = kwh * expected * (most / typical - 1.0)
        rows.append(Sensitivity("power that is drawn", f"{typical:,.0f} kW, typical", f"{most:,.0f} kW, maximum", total, total + more))
    return rows


def _yearly(cost: CostEstimate, total: float) -> list[Sensitivity]:
    rows = []
    for name, amount in cost.yearly.items():
        if name == ENERGY or name in OF_THE_PURCHASE:
            continue
        low, expected, high = (magnitude(end, "USD") for end in (amount.low, amount.expected, amount.high))
        words = " a year"
        if high <= low:
            low, high, words = expected * (1 - SWING), expected * (1 + SWING), f" a year{_by_swing()}"
        rows.append(
            Sensitivity(
                name, f"{low:,.0f} USD{words}", f"{high:,.0f} USD{words}",
                total + (low - expected) * cost.years, total + (high - expected) * cost.years,
            )
        )  # fmt: skip
    for name, words in OF_THE_PURCHASE.items():
        if name in cost.yearly:
            part = magnitude(cost.yearly[name].expected, "USD") * cost.years * SWING
            rows.append(Sensitivity(words, "a tenth less", "a tenth more", total - part, total + part))
    return rows


def _years(cost: CostEstimate, total: float) -> Sensitivity:
    each = plain_sum(magnitude(amount.expected, "USD") for amount in cost.yearly.values())
    less = min(YEARS_SWING, cost.years / 2.0)
    below, above = total - each * less, total + each * YEARS_SWING
    return Sensitivity("years of use", f"{cost.years - less:g} years", f"{cost.years + YEARS_SWING:g} years", below, above)


def _by_swing() -> str:
    return f" (± {SWING:.0%}, no range is known)".replace("%", " %")
