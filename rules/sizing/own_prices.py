"""Prices that a person names: which items they are of, in which currency, and at which rate that is counted in USD."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from typing import TYPE_CHECKING

from catalogs.knowledge import DEAREST_USD
from catalogs.priced import OPEN_PRODUCTS, PRODUCT_SHELVES, is_open
from rules.answers import RATES, USD, AnswerError
from rules.exchange import amount_of, halves, is_currency, rates_of
from rules.own_server import OWN_SERVER_ID

if TYPE_CHECKING:
    from catalogs import Catalog
    from rules.answers import Answers

PRICES = "budget.own_prices"
RENT = "rent:"
"""What stands before the GPU in a price of a rented GPU-hour: "rent:nvidia-h100-sxm-80gb = 2.10 USD"."""
OWN_SERVER_PRICE = "own_server.price"
TRAY = "-tray"


@dataclass(frozen=True)
class OwnPrice:
    """A price that the person named, per unit in USD, with the words that it was given in."""

    usd: float
    words: str


def exchange_rates(answers: Answers) -> dict[str, float]:
    """Return what one unit of each currency is worth in USD; USD itself is 1. Raises AnswerError for what is no rate."""
    return rates_of(answers.names(RATES))


def own_prices(answers: Answers) -> dict[str, OwnPrice]:
    """Return the person's own prices by item, in USD. Raises AnswerError for what is no price, or has no rate."""
    given = answers.names(PRICES)
    return _prices(given, answers.names(RATES)) if given else {}


def own_price(item: str, answers: Answers, catalog: Catalog) -> OwnPrice | None:
    """Return the person's own price of a product id, named by its id or any other name that the catalog knows it by; None without one."""
    given = own_prices(answers)
    if item in given or not given:
        return given.get(item)
    return next((price for name, price in given.items() if canonical(name, catalog) == item), None)


def canonical(name: str, catalog: Catalog) -> str:
    """Return the id of what a price is of: "dgx-h200" is nvidia-dgx-h200; the name itself where no product is called so."""
    bare = name.removeprefix(RENT)
    for shelf in (getattr(catalog, each) for each in PRODUCT_SHELVES):
        if bare in shelf:
            return name[: len(name) - len(bare)] + str(shelf[bare].id)
    return name


def check_own_prices(answers: Answers, catalog: Catalog) -> None:
    """Raise AnswerError where a price or rate cannot be read, or names an item that no bill can have."""
    exchange_rates(answers)
    seen: dict[str, str] = {}
    for item in own_prices(answers):
        id_ = canonical(item, catalog)
        if id_ in seen:
            raise AnswerError(PRICES, f"{seen[id_]!r} and {item!r} are one item with two prices; keep one of them")
        seen[id_] = item
        name = item.removeprefix(RENT)
        shelves = (catalog.gpus,) if item.startswith(RENT) else [getattr(catalog, each) for each in PRODUCT_SHELVES]
        if any(name in shelf for shelf in shelves) or is_open(name) or name.removesuffix(TRAY) in catalog.nodes:
            continue
        if name == OWN_SERVER_ID:
            raise AnswerError(PRICES, f"the price of a server of your own is an answer of its own: {OWN_SERVER_PRICE}")
        near = [*get_close_matches(name, OPEN_PRODUCTS, 1, 0.8), *(each for shelf in shelves for each in shelf.near(name, 2, 0.6))][:3]
        told = f"the nearest: {', '.join(near)}" if near else f"products of the catalog and {', '.join(OPEN_PRODUCTS)} have prices"
        raise AnswerError(PRICES, f"no item is called {name!r}; {told}")


@lru_cache(maxsize=64)
def _prices(given: tuple[str, ...], rates_given: tuple[str, ...]) -> dict[str, OwnPrice]:
    rates, found = rates_of(rates_given), {}
    for text in given:
        item, value = halves(PRICES, text, "nvidia-dgx-h200 = 380k EUR")
        number, unit = amount_of(PRICES, value)
        currency = unit or USD
        if currency not in rates:
            known = f"give its worth in {RATES}, such as '{currency} = 1.08'" if is_currency(currency) else "expected a currency"
            raise AnswerError(PRICES, f"{text!r}: no rate of {currency!r} is known; {known}")
        if number < 0:
            raise AnswerError(PRICES, f"{text!r}: a price is not below zero")
        if number * rates[currency] > DEAREST_USD:
            raise AnswerError(PRICES, f"{text!r}: nothing on a bill costs over {DEAREST_USD:,.0f} USD apiece; check amount and currency")
        if item in found:
            raise AnswerError(PRICES, f"{item!r} is given two prices; keep one of them")
        found[item] = OwnPrice(number * rates[currency], _words(value, unit, rates[currency]))
    return found


def _words(value: str, unit: str, rate: float) -> str:
    """Return an amount as it was given, with the currency that it is read in and its rate."""
    if not unit:
        return f"{value} {USD}"
    return value if unit == USD else f"{value} at {rate:g} USD"
