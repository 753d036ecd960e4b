"""Dated prices: the best row of the catalog for an item, what a server costs, and how old a price is beside the newest one."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from typing import TYPE_CHECKING

from catalogs.priced import OPEN_PRODUCTS, PRODUCT_SHELVES, can_be_priced
from catalogs.schema import Kind
from rules.exchange import is_currency
from rules.own_server import OWN_SERVER_ID
from rules.sizing.lookup import fact_value
from rules.sizing.own_prices import RENT, exchange_rates, own_price

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalogs import Catalog
    from catalogs.loading import Shelf
    from catalogs.schema import Node, Price
    from rules.answers import Answers

PURCHASE_UNIT = "USD"
RENTAL_UNIT = "USD per GPU-hour"
SPOT = "spot"
"""Word in a rental row's `what` for capacity that may be taken away; a training run of weeks is not priced by it."""
CONFIDENCE = ("none", "low", "medium", "high")
"""How far a price is trusted, rising; rows of "none" carry no number that is used."""
ALL_IN_FACTS: Mapping[str, tuple[str, str]] = {"nvidia-h100-sxm-80gb": ("capital-per-h100", "all_in")}
"""Published cost per GPU of a whole cluster, by GPU: the fact and its value. It includes the network."""
YOURS = "you"
NOT_COUNTED = "a price is not counted, because "
"""How a design begins to say that a price was found and could not be used."""


@dataclass(frozen=True)
class Quote:
    """A price range per unit in USD with its origin. `covers_network`: the price includes the cluster's network."""

    low: float
    high: float
    date: str
    source: str
    confidence: str
    kind: Kind = Kind.ESTIMATED
    note: str = ""
    covers_network: bool = False

    @property
    def expected(self) -> float:
        """Return the middle of the range in USD."""
        return (self.low + self.high) / 2


def is_sound(row: Price) -> bool:
    """Return whether a row has a price that is used: trusted at all, above zero, low before high. `catalog check` names the others."""
    return row.confidence != CONFIDENCE[0] and row.low is not None and row.high is not None and 0 < row.low <= row.high


@lru_cache(maxsize=8)
def _by_item(prices: Shelf[Price], unit: str) -> dict[str, list[Price]]:
    """Return the rows with numbers in `unit` by item, best first: by confidence, then by date.

    A row in another currency counts where it says its own rate.
    """
    found: dict[str, list[Price]] = {}
    for each in prices:
        row = in_dollars(each)
        if row.unit == unit and is_sound(row):
            found.setdefault(row.item, []).append(row)
    for rows in found.values():
        rows.sort(key=lambda row: (CONFIDENCE.index(row.confidence), months(row.date)), reverse=True)
    return found


def in_dollars(row: Price) -> Price:
    """Return a row at its own rate in USD; as it is where it states none."""
    currency = row.unit[:3]
    if row.usd_rate is None or currency == PURCHASE_UNIT or row.low is None or row.high is None:
        return row
    words = f"{row.what}; {row.low:g} {row.unit}, at {row.usd_rate:g} USD"
    low, high = row.low * row.usd_rate, row.high * row.usd_rate
    return row.model_copy(update={"unit": row.unit.replace(currency, PURCHASE_UNIT, 1), "low": low, "high": high, "what": words})


def quote_of(item: str, catalog: Catalog, answers: Answers | None = None) -> Quote | None:
    """Return the purchase price of a product id: the person's own, else the row of highest confidence and then newest date.

    None where it is unknown. Prices in another currency count where its rate is known, by the row or by the person: an exchange rate is a
    price too, and none is in the catalog.
    """
    if answers is not None and (own := own_price(item, answers, catalog)) is not None:
        return Quote(own.usd, own.usd, "", YOURS, "high", Kind.YOU, f"your own price, {own.words}")
    rates = tuple(exchange_rates(answers).items()) if answers is not None else ()
    rows = _purchase_rows(catalog.prices, rates).get(item)
    return rows[0] if rows else None


@lru_cache(maxsize=16)
def _purchase_rows(prices: Shelf[Price], rates: tuple[tuple[str, float], ...]) -> dict[str, list[Quote]]:
    """Return every purchase price by item in USD, best first; those that had to be converted after their like in USD."""
    worth, found = dict(rates), {}  # type: tuple[dict[str, float], dict[str, list[tuple[int, int, bool, Quote]]]]
    for row in prices:
        currency = currency_of(row)
        if row.low is None or row.high is None or not is_sound(row) or not currency:
            continue
        rate = 1.0 if currency == PURCHASE_UNIT else row.usd_rate or worth.get(currency)
        if rate is None:
            continue
        source = row.source if isinstance(row.source, str) else ", ".join(row.source)
        note = row.what if currency == PURCHASE_UNIT else f"{row.what}; {row.low:,.0f} {row.unit}, at {rate:g} USD"
        quote = Quote(row.low * rate, row.high * rate, row.date, source, row.confidence, note=note)
        key = (CONFIDENCE.index(row.confidence), months(row.date), currency == PURCHASE_UNIT)
        found.setdefault(row.item, []).append((*key, quote))
    return {item: [row[3] for row in sorted(rows, key=lambda row: row[:3], reverse=True)] for item, rows in found.items()}


def without_rate(item: str, catalog: Catalog, answers: Answers) -> tuple[Price, ...]:
    """Return the purchase prices of a product that count nowhere, because nobody said what their currency is worth in USD."""
    known = exchange_rates(answers)
    return tuple(row for row in _in_other_currencies(catalog.prices).get(item, ()) if currency_of(row) not in known)


@lru_cache(maxsize=8)
def never_counted(catalog: Catalog) -> tuple[str, ...]:
    """Return what is said of prices in folders of the person's own that can count nowhere: of no item, or of hours without a rate."""
    if len(catalog.folders) < 2:  # the project's own are checked by its tests
        return ()
    ids = sorted(record.id for name in PRODUCT_SHELVES for record in getattr(catalog, name))
    told = {}
    for row in catalog.prices:
        if " per " in row.unit and not row.unit.startswith(PURCHASE_UNIT) and row.usd_rate is None:
            told[row.id] = f"{row.id} is in {row.unit} and states no rate of its own; write usd_rate beside it, such as 1.08"
        if not can_be_priced(row.item, ids):
            near = get_close_matches(row.item, (*ids, *OPEN_PRODUCTS), 1)
            told[row.item] = f"no item is called {row.item!r}" + (f"; the nearest is {near[0]!r}" if near else "")
    return tuple(told.values())


def currency_of(row: Price) -> str:
    """Return the currency of a purchase price; "" for a price of another unit, such as a GPU-hour."""
    currency = row.unit.partition(",")[0].strip()
    return currency if is_currency(currency) else ""


@lru_cache(maxsize=8)
def _in_other_currencies(prices: Shelf[Price]) -> dict[str, list[Price]]:
    found: dict[str, list[Price]] = {}
    for row in prices:
        if is_sound(row) and currency_of(row) not in ("", PURCHASE_UNIT) and row.usd_rate is None:
            found.setdefault(row.item, []).append(row)
    return found


def lowest_price(item: str, catalog: Catalog) -> float | None:
    """Return the lowest purchase price in USD of any row of the catalog for a product id; None where none has a number."""
    rows = _by_item(catalog.prices, PURCHASE_UNIT).get(item, ())
    return min((row.low for row in rows if row.low is not None), default=None)


def server_quote(node: Node, catalog: Catalog, answers: Answers) -> Quote | None:
    """Return the price of one unit of `node`; None where nothing is known, which is never turned into a sum of parts.

    In order: the person's own figure for their own server, the node's own price, that of any complete server with the same GPUs
    (item `server-8x-<gpu>`), and the published cost per GPU of a whole cluster, which includes its network and says so.
    """
    if node.id == OWN_SERVER_ID:
        price = answers.number("own_server.price") if answers.given("own_server.price") else None
        return None if price is None else Quote(price, price, "", YOURS, "high", Kind.YOU, "your own figure")
    exact = quote_of(node.id, catalog, answers)
    if exact is not None:
        return exact
    if node.is_rack or node.desktop:
        return None
    alike = quote_of(f"server-{node.gpu_count}x-{node.gpu}", catalog, answers)
    return alike if alike is not None else _all_in_quote(node, catalog)


def _all_in_quote(node: Node, catalog: Catalog) -> Quote | None:
    if node.gpu not in ALL_IN_FACTS:
        return None
    value = fact_value(catalog.facts, *ALL_IN_FACTS[node.gpu])
    low, _, high = value.ends("USD")
    note = f"estimate from the published cost per GPU of a whole cluster, {low:,.0f} to {high:,.0f} USD, network included"
    return Quote(
        low * node.gpu_count, high * node.gpu_count, value.date or "", ", ".join(value.sources), "low", note=note, covers_network=True
    )


def rental_rows(gpu: str, catalog: Catalog) -> tuple[Price, ...]:
    """Return every cloud price of a GPU-hour with a number, spot capacity too, the cheapest first."""
    rows = _by_item(catalog.prices, RENTAL_UNIT).get(gpu, [])
    return tuple(sorted(rows, key=lambda row: (SPOT in row.what, row.low or 0.0, row.id)))


def rental_range(gpu: str, catalog: Catalog, answers: Answers | None = None) -> tuple[float, float] | None:
    """Return the lowest and highest cloud price of a GPU-hour in USD, on demand: the person's own alone where given; None if unknown."""
    if answers is not None and (own := own_price(f"{RENT}{gpu}", answers, catalog)) is not None:
        return own.usd, own.usd
    rows = [row for row in _by_item(catalog.prices, RENTAL_UNIT).get(gpu, ()) if SPOT not in row.what]
    if not rows:
        return None
    return min(row.low for row in rows if row.low is not None), max(row.high for row in rows if row.high is not None)


def months(date: str) -> int:
    """Return the month of a date as months since year 0, for comparing ages; the end of a span, January where only a year is given.

    "2026-06-26" and "2026-06" are the same month. Returns 0 for a text without a year.
    """
    found = re.findall(r"(\d{4})(?:-(\d{2}))?", date)
    if not found:
        return 0
    year, month = found[-1]
    return int(year) * 12 + (int(month) - 1 if month else 0)


@lru_cache(maxsize=8)
def newest_month(prices: Shelf[Price]) -> int:
    """Return the month of the newest price with a number; prices are old or new beside it, since designs know no clock."""
    return max((months(row.date) for row in prices if row.low is not None), default=0)
