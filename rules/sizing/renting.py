"""Renting instead of owning: dated offers of clouds, what the run costs there, and the utilisation at which both cost the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from catalogs.quantities import magnitude
from rules.sizing.own_prices import RENT, own_price
from rules.sizing.prices import SPOT, YOURS, rental_range, rental_rows

if TYPE_CHECKING:
    from catalogs import Catalog
    from rules.answers import Answers
    from rules.sizing.results import CostEstimate

PERCENT = 100.0


@dataclass(frozen=True)
class Offer:
    """A price of a rented GPU-hour in USD, with its date and source; `spot` capacity may be taken away at any time."""

    what: str
    low: float
    high: float
    date: str
    source: str
    confidence: str
    spot: bool = False


@dataclass(frozen=True)
class RentOrBuy:
    """What renting costs beside owning. Shares are of the hours of ownership; None where one of both has no price.

    `crossing` (low, expected, high) is the share of hours in use at which an owned hour and a rented one cost the same: below it renting
    is cheaper, above it owning. Above 1 renting is cheaper even around the clock.
    """

    offers: tuple[Offer, ...]
    rent: tuple[float, float] | None
    crossing: tuple[float, float, float] | None
    run_hours: float
    owned_hours: float

    @property
    def run_rent(self) -> tuple[float, float] | None:
        """Return what the run costs at the lowest and the highest price on demand, None without a price or a run of known length."""
        if self.rent is None or self.run_hours <= 0.0:
            return None
        return self.rent[0] * self.run_hours, self.rent[1] * self.run_hours


def offers_of(gpu: str, catalog: Catalog, answers: Answers) -> tuple[Offer, ...]:
    """Return every cloud price of the GPU, the person's own first, then on demand by price, spot capacity last."""
    own = own_price(f"{RENT}{gpu}", answers, catalog)
    rows = [] if own is None else [Offer("your own price", own.usd, own.usd, "", YOURS, "high")]
    for row in rental_rows(gpu, catalog):
        source = row.source if isinstance(row.source, str) else ", ".join(row.source)
        rows.append(Offer(row.what, row.low or 0.0, row.high or 0.0, row.date, source, row.confidence, SPOT in row.what))
    return tuple(rows)


def crossing_of(cost: CostEstimate, rent: tuple[float, float] | None) -> tuple[float, float, float] | None:
    """Return the utilisation at which owning and renting cost the same: an owned hour over a rented one, low, expected and high.

    An owned GPU-hour costs the same whether it is used or not; a rented one is paid only when used. Energy of idle hours is counted in
    full, which favours renting a little.
    """
    if cost.per_gpu_hour is None or rent is None or rent[0] <= 0.0:
        return None
    low, expected, high = (
        magnitude(end, "USD/hour") for end in (cost.per_gpu_hour.low, cost.per_gpu_hour.expected, cost.per_gpu_hour.high)
    )
    return low / rent[1], expected / ((rent[0] + rent[1]) / 2.0), high / rent[0]


def rent_or_buy(cost: CostEstimate, gpu: str, owned_hours: float, run_hours: float, catalog: Catalog, answers: Answers) -> RentOrBuy:
    """Return renting beside owning `owned_hours` GPU-hours for a run of `run_hours` GPU-hours (0 where its length is unknown)."""
    rent = rental_range(gpu, catalog, answers)
    return RentOrBuy(offers_of(gpu, catalog, answers), rent, crossing_of(cost, rent), run_hours, owned_hours)


def costs_at(utilisation: float, owned_usd: float, owned_hours: float, rent: float) -> tuple[float, float]:
    """Return (what owning costs, what renting costs) where GPUs are used for a share of their hours, in USD over the whole time."""
    return owned_usd, utilisation * owned_hours * rent
