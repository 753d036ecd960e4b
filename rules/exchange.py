"""What currencies are worth: the rates that a person names, and amounts with their currency."""

from __future__ import annotations

import re
from functools import lru_cache

from catalogs.quantities import QuantityError, split
from rules.answers import RATES, SIGNS, USD, AnswerError, with_currency_named

LEAST_WORTH, MOST_WORTH = 1e-7, 1e6
"""No currency is worth less or more in USD: a hundredth of the weakest (the Lebanese pound, 1e-5), and far above any coin or ounce."""
_CURRENCY = re.compile(r"[A-Z]{3}")
_AMOUNT = re.compile(r"(.*?)\s*([A-Z]{3})")


def rates_of(given: tuple[str, ...]) -> dict[str, float]:
    """Return what one unit of each currency is worth in USD, by the answer to RATES; USD itself is 1. Raises AnswerError."""
    return dict(_rates(given))


def is_currency(text: str) -> bool:
    """Return whether a text is written as the code of a currency: three capital letters."""
    return _CURRENCY.fullmatch(text) is not None


@lru_cache(maxsize=64)
def _rates(given: tuple[str, ...]) -> tuple[tuple[str, float], ...]:
    rates = {USD: 1.0}
    for text in given:
        currency, value = halves(RATES, text, "EUR = 1.08, what one euro is worth in USD")
        currency = SIGNS.get(currency, currency)
        number, unit = amount_of(RATES, value)
        if not is_currency(currency) or unit not in ("", USD) or number <= 0:
            raise AnswerError(RATES, f"{text!r}: expected a currency of three letters and its worth above zero, such as 'EUR = 1.08'")
        if not LEAST_WORTH <= number <= MOST_WORTH:
            raise AnswerError(RATES, f"{text!r}: no currency is worth so many USD; write what one unit is worth, such as 'EUR = 1.08'")
        if currency in rates and currency != USD:
            raise AnswerError(RATES, f"{currency!r} is given two rates; keep one of them")
        if currency == USD and number != 1.0:
            raise AnswerError(RATES, f"{text!r}: all is counted in USD, so one USD is worth 1; name another currency")
        rates[currency] = number
    return tuple(rates.items())


def halves(key: str, text: str, example: str) -> tuple[str, str]:
    """Return what stands before and after the sign of equality; raises AnswerError of `key` with the example."""
    name, separator, value = text.partition("=")
    if not separator or not name.strip() or not value.strip():
        raise AnswerError(key, f"{text!r}: expected NAME = VALUE, such as {example}")
    return name.strip(), value.strip()


def amount_of(key: str, value: str) -> tuple[float, str]:
    """Return an amount and its currency: "380k EUR" and "€380k" are (380000.0, "EUR"); it is empty where none stands there."""
    found = _AMOUNT.fullmatch(with_currency_named(value))
    try:
        return (split(f"{found.group(1)} {USD}")[0], found.group(2)) if found else split(value)
    except QuantityError as error:
        raise AnswerError(key, f"{value!r}: {error}") from error
