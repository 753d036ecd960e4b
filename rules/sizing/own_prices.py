"""Prices that a person names: which items they are of, in which currency, and at which rate that is counted in USD."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from catalogs.quantities import QuantityError, split
from rules.answers import RATES, USD, AnswerError

if TYPE_CHECKING:
    from catalogs import Catalog
    from rules.answers import Answers

PRICES = "budget.own_prices"
RENT = "rent:"
"""What stands before the GPU in a price of a rented GPU-hour: "rent:nvidia-h100-sxm-80gb = 2.10 USD"."""
BILLED_BY_NAME = ("nfs-file-server", "home-file-server", "parallel-file-system", "object-store")
"""Lines of the bill that are no product of the catalog: a quote of them is named like this."""
TRAY = "-tray"
DEAREST_USD = 1e9
"""No single item costs more: a hundred times the dearest rack of the catalog, in USD."""
LEAST_WORTH, MOST_WORTH = 1e-7, 1e6
"""No currency is worth less or more in USD: a hundredth of the weakest (the Lebanese pound, 1e-5), and far above any coin or ounce."""
SHELVES = ("nodes", "gpus", "switches", "nics", "cables", "storage", "racks", "pdus", "cooling", "cpus")
_CURRENCY = re.compile(r"[A-Z]{3}")
_AMOUNT = re.compile(r"(.*?)\s*([A-Z]{3})")


@dataclass(frozen=True)
class OwnPrice:
    """A price that the person named, per unit in USD, with the words that it was given in."""

    usd: float
    words: str


def exchange_rates(answers: Answers) -> dict[str, float]:
    """Return what one unit of each currency is worth in USD; USD itself is 1. Raises AnswerError for what is no rate."""
    return dict(_rates(answers.names(RATES)))


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
    for shelf in (getattr(catalog, each) for each in SHELVES):
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
        shelves = (catalog.gpus,) if item.startswith(RENT) else [getattr(catalog, each) for each in SHELVES]
        if any(name in shelf for shelf in shelves) or name in BILLED_BY_NAME or name.removesuffix(TRAY) in catalog.nodes:
            continue
        near = [each for shelf in shelves for each in shelf.near(name, 2, 0.6)][:3]
        told = f"the nearest: {', '.join(near)}" if near else f"products of the catalog and {', '.join(BILLED_BY_NAME)} have prices"
        raise AnswerError(PRICES, f"no item is called {name!r}; {told}")


@lru_cache(maxsize=64)
def _rates(given: tuple[str, ...]) -> tuple[tuple[str, float], ...]:
    rates = {USD: 1.0}
    for text in given:
        currency, value = _halves(RATES, text, "EUR = 1.08, what one euro is worth in USD")
        number, unit = _number(RATES, value)
        if not _CURRENCY.fullmatch(currency) or unit not in ("", USD) or number <= 0:
            raise AnswerError(RATES, f"{text!r}: expected a currency of three letters and its worth above zero, such as 'EUR = 1.08'")
        if not LEAST_WORTH <= number <= MOST_WORTH:
            raise AnswerError(RATES, f"{text!r}: no currency is worth so many USD; write what one unit is worth, such as 'EUR = 1.08'")
        if currency in rates and currency != USD:
            raise AnswerError(RATES, f"{currency!r} is given two rates; keep one of them")
        if currency == USD and number != 1.0:
            raise AnswerError(RATES, f"{text!r}: all is counted in USD, so one USD is worth 1; name another currency")
        rates[currency] = number
    return tuple(rates.items())


@lru_cache(maxsize=64)
def _prices(given: tuple[str, ...], rates_given: tuple[str, ...]) -> dict[str, OwnPrice]:
    rates, found = dict(_rates(rates_given)), {}
    for text in given:
        item, value = _halves(PRICES, text, "nvidia-dgx-h200 = 380k EUR")
        number, unit = _number(PRICES, value)
        currency = unit or USD
        if currency not in rates:
            known = f"give its worth in {RATES}, such as '{currency} = 1.08'" if _CURRENCY.fullmatch(currency) else "expected a currency"
            raise AnswerError(PRICES, f"{text!r}: no rate of {currency!r} is known; {known}")
        if number < 0:
            raise AnswerError(PRICES, f"{text!r}: a price is not below zero")
        if number * rates[currency] > DEAREST_USD:
            raise AnswerError(PRICES, f"{text!r}: nothing on a bill costs over {DEAREST_USD:,.0f} USD apiece; check amount and currency")
        if item in found:
            raise AnswerError(PRICES, f"{item!r} is given two prices; keep one of them")
        found[item] = OwnPrice(number * rates[currency], value if currency == USD else f"{value} at {rates[currency]:g} USD")
    return found


def _halves(key: str, text: str, example: str) -> tuple[str, str]:
    name, separator, value = text.partition("=")
    if not separator or not name.strip() or not value.strip():
        raise AnswerError(key, f"{text!r}: expected NAME = VALUE, such as {example}")
    return name.strip(), value.strip()


def _number(key: str, value: str) -> tuple[float, str]:
    """Return an amount and its currency: "380k EUR" is (380000.0, "EUR"); the currency is empty where none stands there."""
    found = _AMOUNT.fullmatch(value)
    try:
        return (split(f"{found.group(1)} {USD}")[0], found.group(2)) if found else split(value)
    except QuantityError as error:
        raise AnswerError(key, f"{value!r}: {error}") from error
