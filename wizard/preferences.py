"""How a person reads and writes numbers: decimal comma, currency, metric or imperial units. One setting per process; no files.

What is stored and what rules say stays in the catalog's own form (decimal point, USD, metric), so that a file means the same
everywhere; only figures that the wizard, `plain` and `report` print, and what a person types, go through here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from catalogs.quantities import QuantityError, format_number, split
from rules.answer_fields import PLURALS
from rules.answers import AnswerError, field_of

METRIC, IMPERIAL = "metric", "imperial"
POINT, COMMA = "point", "comma"
_NUMBER = re.compile(r"\d[\d.,]*")
_THOUSANDS = re.compile(r"[1-9]\d{0,2}(\.\d{3})+")
_SWAP = str.maketrans(".,", ",.")
_LENGTH_FT, _AREA_FT2, _MASS_LB, _FLOW_CFM, _RATE_GPM = 0.3048, 0.09290304, 0.45359237, 1.699010796, 3.785411784
"""One foot in metres, one square foot in square metres, one pound in kilograms (exact by the agreement of 1959); one cubic foot per
minute in cubic metres per hour; one US gallon per minute in litres per minute."""
_IMPERIAL = {
    "m": ("ft", 1 / _LENGTH_FT, 0.0),
    "m²": ("ft²", 1 / _AREA_FT2, 0.0),
    "kg": ("lb", 1 / _MASS_LB, 0.0),
    "m³/h": ("CFM", 1 / _FLOW_CFM, 0.0),
    "l/min": ("gal/min", 1 / _RATE_GPM, 0.0),
    "°C": ("°F", 1.8, 32.0),
    "degC": ("°F", 1.8, 32.0),
}
"""By metric unit: the imperial one, the factor, and what is added."""
_QUANTITY = re.compile(r"(-?\d[\d,]*(?:\.\d+)?) (m|m²|kg|m³/h|l/min|°C|degC)")
DIGITS = 4


@dataclass(frozen=True)
class Preferences:
    """What a person prefers. `per_usd` is how much of their currency one dollar is, at their own rate of `rate_date`."""

    decimal: str = POINT
    units: str = METRIC
    currency: str = "USD"
    per_usd: float = 1.0
    rate_date: str = ""
    region: str = ""


_current = Preferences()


def preferences() -> Preferences:
    """Return what is preferred in this process."""
    return _current


def use(chosen: Preferences) -> None:
    """Prefer this from now on."""
    global _current
    _current = chosen


def written(text: str) -> str:
    """Return a figure that was written with a decimal point as the person writes it. Only for figures: names hold points too."""
    return _NUMBER.sub(lambda found: found[0].translate(_SWAP), text) if _current.decimal == COMMA else text


def in_words(text: str) -> str:
    """Return a quantity whose unit is a word as one says it: "75 day" is "75 days"; any other text as it is."""
    number, _, unit = text.partition(" ")
    return f"{number} {PLURALS[unit]}" if unit in PLURALS and number != "1" and _NUMBER.fullmatch(number) else text


def in_units(text: str) -> str:
    """Return a quantity that stands alone ("27 °C", "12.3 m") in the preferred units; any other text as it is."""
    found = _QUANTITY.fullmatch(text) if _current.units == IMPERIAL else None
    if found is None:
        text = in_words(text)
        return written(text) if _STANDS_ALONE.fullmatch(text) else text
    unit, factor, added = _IMPERIAL[found[2]]
    return written(f"{format_number(float(found[1].replace(',', '')) * factor + added, DIGITS)} {unit}")


_STANDS_ALONE = re.compile(r"-?\d[\d,]*(\.\d+)?( ?%| [^\d\s]\S*)?")
"""A number alone or with one unit: what may be written with a comma."""


def from_dollars(amount: float) -> float:
    """Return an amount of dollars in the preferred currency."""
    return amount * _current.per_usd


def currency() -> str:
    """Return the code of the preferred currency."""
    return _current.currency


def own_note() -> str:
    """Return what stands beside figures in a currency or units of one's own: the rate, and that sentences keep USD and metric units.

    "" where there is nothing to say. Sentences of rules are the same in every file and for every reader.
    """
    notes = []
    if _current.currency != "USD":
        day = f" of {_current.rate_date}" if _current.rate_date else ""
        notes.append(
            f"figures are in {_current.currency} at your own rate{day}, 1 USD is {written(f'{_current.per_usd:g}')} {_current.currency}"
        )
    if _current.units == IMPERIAL:
        notes.append("lengths, weights and temperatures of figures are imperial")
    return "; ".join([*notes, "sentences keep USD and metric units"]) if notes else ""


def typed(key: str, text: str) -> str:
    """Return what a person typed for an answer in the stored form: decimal point, USD, and degrees with their scale.

    Text that cannot be brought into it is returned as it is, for the check to say what is wrong.
    """
    declared = field_of(key)
    if declared.kind not in ("quantity", "number", "count"):
        return text
    text = _pointed(text)
    if declared.kind == "quantity":
        text = _in_dollars(text) if "USD" in declared.unit else text
        if _current.units == IMPERIAL and declared.unit == "degC" and re.fullmatch(r"\s*-?\d+(\.\d+)?\s*", text):
            return f"{text.strip()} degF"
    return text


def _pointed(text: str) -> str:
    """Return the number at the start of a text with a decimal point, where commas are preferred: "1.500,5 kW" is "1500.5 kW".

    A point that cannot stand between thousands is a decimal point there too: "0.08" is no 8.
    """
    if _current.decimal != COMMA:
        return text
    return re.sub(r"^(\D*)([\d.,]+)", lambda found: found[1] + _number_pointed(found[2]), text)


def _number_pointed(number: str) -> str:
    decimal = "," not in number and number.count(".") == 1 and not _THOUSANDS.fullmatch(number)
    return number if decimal else number.replace(".", "").replace(",", ".")


def _in_dollars(text: str) -> str:
    code = _current.currency
    if code == "USD" or code.lower() not in text.lower():
        return text
    try:
        amount, unit = split(re.sub(code, "USD", text, flags=re.IGNORECASE))
    except QuantityError:
        return text
    return f"{format_number(amount / _current.per_usd, DIGITS + 2)} {unit}"


def shown_answer(key: str, text: str) -> str:
    """Return a stored answer as the person reads it; text that no number begins stays."""
    try:
        kind = field_of(key).kind
    except AnswerError:
        return text
    return written(text) if kind in ("quantity", "number", "count") else text
