"""What a kilowatt-hour costs at a place, and how that is known: said, published, or another place's figure standing in."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from catalogs.quantities import magnitude, quantity
from catalogs.schema import Kind
from rules.sizing.lookup import fact_value
from rules.sizing.regions import is_known, is_of_the_us, is_the_us, regional_fact
from rules.sizing.results import Range

if TYPE_CHECKING:
    from catalogs import Catalog
    from catalogs.loading import Shelf
    from catalogs.schema import Fact
    from rules.answers import Answers

TOPIC = "electricity"
SECTOR = "industrial"
"""The sector whose average price of electricity a data centre pays; where it was not published, the commercial one stands in."""
DEFAULT_FACT = "electricity-default"
UNIT = "USD/kWh"


@dataclass(frozen=True)
class Electricity:
    """A price per kWh with its range. `basis` says in words where it is from; `is_of_place` is false where a figure stands in."""

    price: Range
    basis: str
    is_of_place: bool


def electricity_price(answers: Answers, catalog: Catalog) -> Electricity:
    """Return the price of electricity: the person's own, else the region's average, else that of the United States standing in.

    The range is that of the region's sectors. Of the United States as a whole no industrial average is in the catalog, so the median of
    its states is taken. Where the United States stand in for another country, whose prices are not in the
    catalog, it spans every price that is.
    """
    if answers.given("budget.electricity_price"):
        said = answers.number("budget.electricity_price") or 0.0
        return Electricity(_range(said, said, said, Kind.YOU), "your own figure", True)
    region = answers.text("facility.region")
    fact = regional_fact(catalog, TOPIC, region) if region else None
    if fact is not None and not (is_the_us(region) and SECTOR not in fact.values):
        prices = {name: value.to(UNIT) for name, value in fact.values.items()}
        sector = SECTOR if SECTOR in prices else max(prices, key=lambda name: prices[name])
        kind, place = fact.values[sector].kind, fact.applies_to.partition(" (")[0]
        found = _range(
            min(prices.values()), prices[sector], max(prices.values()), Kind.ESTIMATED if kind is Kind.ESTIMATED else Kind.DERIVED
        )
        words = "an estimate of the {} price in {}" if kind is Kind.ESTIMATED else "the {} average of {}"
        return Electricity(found, words.format(sector, place), True)
    low, expected, high = fact_value(catalog.facts, DEFAULT_FACT, SECTOR).ends(UNIT)
    median = "the median of industrial averages in the United States"
    if not region:
        return Electricity(_range(low, expected, high, Kind.ASSUMED), f"no place was given; {median} stands in", False)
    if is_of_the_us(catalog, region):
        basis = f"no {SECTOR} average of {region} is in the catalog; {median} stands in"
        return Electricity(_range(low, expected, high, Kind.ASSUMED), basis, False)
    lowest, highest = _ends(catalog.facts)
    unknown = f"the price in {region} is unknown" if is_known(catalog, region) else f"the catalog knows no region {region!r}"
    basis = f"{unknown}; {median} stands in, with the range of all averages in the catalog"
    return Electricity(_range(lowest, expected, highest, Kind.ASSUMED), basis, False)


@lru_cache(maxsize=8)
def _ends(facts: Shelf[Fact]) -> tuple[float, float]:
    """Return the lowest and the highest published average of the catalog in USD/kWh, of any region and sector; estimates are none."""
    values = (value for fact in facts if fact.topic == TOPIC for value in fact.values.values())
    found = [value.to(UNIT) for value in values if value.kind is not Kind.ESTIMATED]
    return min(found), max(found)


def _range(low: float, expected: float, high: float, kind: Kind) -> Range:
    return Range(quantity(low, UNIT), quantity(expected, UNIT), quantity(high, UNIT), kind)


def text_of(price: Range) -> str:
    """Return the range of a price as text: "0.0604 to 0.201 USD/kWh"."""
    return f"{magnitude(price.low, UNIT):.3g} to {magnitude(price.high, UNIT):.3g} {UNIT}"
