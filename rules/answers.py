"""Answers: what the person said, and where each value came from.

Answers are a flat mapping from dotted keys ("facility.rack_power") to plain values: text with a unit for quantities, numbers,
names, or lists of names. `FIELDS` declares every key. A key that is absent was not answered; a key that is `UNKNOWN` was
answered with "I don't know". Both are resolved to the field's assumption, which `Answers.assumptions` lists.
"""

from __future__ import annotations

import difflib
import math
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from catalogs.quantities import QuantityError, format_number, magnitude, number_in_words, quantity, split

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from catalogs.quantities import Quantity
    from rules.policies import Policy

from rules.answer_fields import FIELDS, PLURALS, RATIO, AnswerField

Value = str | int | float | bool | tuple[str, ...]
UNKNOWN = "unknown"
LONGEST_NAME = 200
MOST_NAMES = 100
FLOAT_DIGITS = 15
"""Decimal digits that a floating-point number keeps."""
MOST_SHOWN = 60
"""Characters of a wrong value that a message repeats."""
NUMBERS = ("quantity", "number", "count")
"""Kinds of answers that are a number."""
USD = "USD"
SIGNS = {"€": "EUR", "£": "GBP"}
"""Signs that one currency has to itself; that of yen and yuan is two currencies'."""
_SIGNED = re.compile(r"([€£]?)\s*([-+\d][^€£/]*?)\s*([€£]?)(\s*/.*)?")
_CURRENCY = re.compile(r"[^A-Za-z]*(?:[kKMBGT]|thousand|million|billion|trillion)?\s*([A-Z]{3})(?=$|\s*/)")
RATES = "budget.exchange_rates"
_BY_KEY = {each.key: each for each in FIELDS}


class AnswerError(ValueError):
    """An answer that cannot be used: which key, what was expected, and the nearest valid value."""

    def __init__(self, key: str, message: str) -> None:
        super().__init__(f"{shortened(key)}: {message}")
        self.key, self.message = key, message


def shortened(text: str, most: int = MOST_SHOWN) -> str:
    """Return a text for a message: its beginning, where it is longer than `most` characters."""
    return text if len(text) <= most else f"{text[:most]}…"


def _got(raw: object) -> str:
    return shortened(repr(raw))


def field_of(key: str) -> AnswerField:
    """Return the declaration of `key`; raises AnswerError with the nearest key."""
    found = _BY_KEY.get(key)
    if found is None:
        near = difflib.get_close_matches(key, _BY_KEY, n=1, cutoff=0.5)
        hint = f"; did you mean {near[0]!r}?" if near else f"; the sections are {', '.join(sections())}"
        raise AnswerError(key, "no such answer" + hint)
    return found


def sections() -> tuple[str, ...]:
    """Return the sections of the answers in interview order."""
    return tuple(dict.fromkeys(each.key.split(".")[0] for each in FIELDS))


def parse_answer(key: str, raw: object) -> Value:
    """Check one raw value (typed text or a TOML value) against its field and return it in its stored form.

    Raises AnswerError: the message says what was expected and gives an example.
    """
    declared = field_of(key)
    if isinstance(raw, str) and raw.strip().lower() in (UNKNOWN, "?", "i don't know"):
        return UNKNOWN
    return _PARSERS[declared.kind](declared, raw)


def _parse_quantity(declared: AnswerField, raw: object) -> Value:
    if isinstance(raw, bool) or not isinstance(raw, (str, int, float)):
        raise AnswerError(declared.key, f"expected a quantity such as {declared.example!r}, got {_got(raw)}")
    text = _named(declared, _one_line(declared, raw if isinstance(raw, str) else _written(raw)))
    currency = foreign_currency(declared, text)
    try:
        if currency:
            if magnitude(text.replace(currency, USD, 1), declared.unit) < 0:
                raise AnswerError(declared.key, f"{text!r} is below zero")
            return text
        number, unit = split(text)
        if not unit:
            text = f"{text} {declared.unit if number == 1 else PLURALS.get(declared.unit, declared.unit)}"
        value = magnitude(text, declared.unit)
    except QuantityError as error:
        raise AnswerError(declared.key, f"{error}; expected a quantity in {declared.shown_unit}, such as {declared.example!r}") from error
    check_range(declared, value, number)
    return text


def _named(declared: AnswerField, text: str) -> str:
    """Return an amount of money with its currency by name; any other text as it is."""
    return with_currency_named(text) if declared.unit.startswith(USD) else text


def with_currency_named(text: str) -> str:
    """Return "3M EUR" of "€3M" and of "3M €"; a text without such a sign as it is."""
    found = _SIGNED.fullmatch(text)
    if found is None:
        return text
    before, amount, after, per = found.groups()
    sign = before or after
    return f"{amount} {SIGNS[sign]}{per or ''}" if sign and not (before and after) else text


def foreign_currency(declared: AnswerField, text: str) -> str:
    """Return the currency that an amount of money is written in, where it is not USD: "EUR" of "3M EUR"; "" otherwise."""
    found = _CURRENCY.match(text) if declared.unit.startswith(USD) else None
    return found.group(1) if found and found.group(1) != USD else ""


def _written(raw: float) -> str:
    """Return a plain number as text without an exponent, as far as it has a finite one."""
    text = str(raw)
    return format_number(float(raw), FLOAT_DIGITS) if "e" in text and math.isfinite(raw) else text


def _one_line(declared: AnswerField, raw: str) -> str:
    """Return typed text with its blanks made plain; raises AnswerError where a line break or tab stands inside it."""
    text = raw.strip()
    if not all(letter.isprintable() or letter in "\u00a0\u2009\u202f" for letter in text):
        raise AnswerError(declared.key, f"expected one line such as {declared.example!r}, got {_got(raw)}")
    return " ".join(text.split())


def check_range(declared: AnswerField, value: float, shown: float) -> None:
    """Raise AnswerError where a value, in the field's unit, is outside what the field allows."""
    if not math.isfinite(value):
        raise AnswerError(declared.key, f"expected a finite number, got {shown}")
    low, high = declared.minimum, declared.maximum
    if (low is None or value >= low) and (high is None or value <= high):
        return
    unit = f" {declared.shown_unit}" if declared.unit else ""
    if low is not None and high is not None:
        ends = f"from {number_in_words(low)} to {number_in_words(high)}{unit}"
    else:
        ends = f"at least {number_in_words(low)}{unit}" if low is not None else f"at most {number_in_words(high or 0.0)}{unit}"
    raise AnswerError(declared.key, f"{number_in_words(value)}{unit} is outside what can be: {ends}, such as {declared.example!r}")


def _parse_number_text(declared: AnswerField, raw: object) -> Value:
    """Check a number and keep it as it was written ("15.6T"), so that a file shows what the person said."""
    number = _parse_number(declared, raw)
    if "%" in declared.units_ignored and 0 < number <= 1 and (not isinstance(raw, str) or raw.strip()[-1].isdigit()):
        raise AnswerError(declared.key, f"{number:g} can be a share or a percentage; write '{number:g} %' or '{100 * number:g} %'")
    if isinstance(raw, str):
        return _one_line(declared, raw)
    return int(number) if number == int(number) else number


def _parse_number(declared: AnswerField, raw: object) -> float:
    if isinstance(raw, bool) or not isinstance(raw, (str, int, float)):
        raise AnswerError(declared.key, f"expected a number such as {declared.example!r}, got {_got(raw)}")
    if isinstance(raw, str):
        raw = _one_line(declared, raw)
    try:
        number, unit = split(str(raw)) if isinstance(raw, str) else (float(raw), "")
    except (QuantityError, OverflowError) as error:
        raise AnswerError(declared.key, f"{error}; expected a number such as {declared.example!r}") from error
    if unit.startswith(":") and RATIO in declared.units_ignored and (unit := unit.replace(" ", "")) != RATIO:
        raise AnswerError(declared.key, f"{raw} can be read either way round; write down over up as one number, such as 3 or 3:1")
    if unit and unit not in declared.units_ignored:
        raise AnswerError(declared.key, f"expected a plain number such as {declared.example!r}, got the unit {unit!r}")
    check_range(declared, number, number)
    return number


def _parse_count(declared: AnswerField, raw: object) -> Value:
    number = _parse_number(declared, raw)
    if number != int(number):
        raise AnswerError(declared.key, f"expected a whole number such as {declared.example!r}, got {number_in_words(number)}")
    return int(number)


def _parse_choice(declared: AnswerField, raw: object) -> Value:
    if not isinstance(raw, str):
        raise AnswerError(declared.key, f"expected one of {', '.join(declared.choices)}, got {_got(raw)}")
    plain = raw.strip().lower().replace("-", "_").replace(" ", "_")
    if plain in declared.choices:
        return plain
    near = difflib.get_close_matches(plain, declared.choices, n=1, cutoff=0.4)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    raise AnswerError(declared.key, f"{_got(raw)} is not one of {', '.join(declared.choices)}{hint}")


def _parse_name(declared: AnswerField, raw: object) -> Value:
    name = _name(raw)
    if name is None:
        raise AnswerError(declared.key, f"expected a name such as {declared.example!r}, got {_got(raw)}")
    return name


def _name(raw: object) -> str | None:
    """Return one name with its blanks made plain, or None: a name is text of sane length that can be shown on one line."""
    name = " ".join(raw.split()) if isinstance(raw, str) and len(raw) <= LONGEST_NAME else ""
    return name if name and name.isprintable() else None


def _parse_names(declared: AnswerField, raw: object) -> Value:
    parts: Sequence[object] = raw if isinstance(raw, (list, tuple)) else ()
    if isinstance(raw, str):
        parts = [part for part in raw[: MOST_NAMES * LONGEST_NAME].split(",") if part.strip()]
    names = tuple(name for part in parts if (name := _name(part)) is not None)
    if not names or len(names) > MOST_NAMES or len(names) != len(parts):
        raise AnswerError(declared.key, f"expected a list of names such as {declared.example!r}, got {_got(raw)}")
    if declared.choices:
        return tuple(str(_parse_choice(declared, name)) for name in names)
    return names


_PARSERS = {
    "quantity": _parse_quantity,
    "number": _parse_number_text,
    "count": _parse_count,
    "choice": _parse_choice,
    "name": _parse_name,
    "names": _parse_names,
}


@dataclass(frozen=True)
class Answers:
    """The answers of a person: `values` in stored form by key, `provenance` by key (you, preset, imported …), the site's own rules."""

    values: Mapping[str, Value] = field(default_factory=dict)
    provenance: Mapping[str, str] = field(default_factory=dict)
    policies: tuple[Policy, ...] = ()

    @classmethod
    def of(cls, raw: Mapping[str, object], origin: str = "you") -> Answers:
        """Check and keep raw values by dotted key, or nested tables as in a TOML file; raises AnswerError for the first wrong one."""
        values = {key: parse_answer(key, value) for key, value in flatten(raw).items()}
        return cls(values, dict.fromkeys(values, origin))

    def with_value(self, key: str, raw: object, origin: str = "you") -> Answers:
        """Return answers with `key` set; raises AnswerError."""
        values, provenance = {**self.values, key: parse_answer(key, raw)}, {**self.provenance, key: origin}
        return replace(self, values=values, provenance=provenance)

    def without(self, key: str) -> Answers:
        """Return answers in which `key` is not answered."""
        field_of(key)
        return replace(
            self,
            values={name: value for name, value in self.values.items() if name != key},
            provenance={name: value for name, value in self.provenance.items() if name != key},
        )

    def with_policies(self, policies: Iterable[Policy]) -> Answers:
        """Return the same answers under the given policies of the site."""
        return replace(self, policies=tuple(policies))

    def given(self, key: str) -> bool:
        """Return whether the person gave a value (not absent and not "I don't know")."""
        return key in self.values and self.values[key] != UNKNOWN

    def value(self, key: str) -> Value | None:
        """Return the given value, else the field's assumption (None where it has none)."""
        found = self.values.get(key, UNKNOWN)
        return field_of(key).assumed if found == UNKNOWN else found

    def text(self, key: str) -> str:
        """Return the value as text, "" where there is none."""
        value = self.value(key)
        return "" if value is None else ", ".join(value) if isinstance(value, tuple) else str(value)

    def names(self, key: str) -> tuple[str, ...]:
        """Return the value as a tuple of names, empty where there is none."""
        value = self.value(key)
        return value if isinstance(value, tuple) else () if value is None else (str(value),)

    def number(self, key: str) -> float | None:
        """Return the value as a plain number in the field's own unit, None where there is none or the answer is no number."""
        value, declared = self.value(key), field_of(key)
        if value is None or isinstance(value, tuple) or declared.kind not in NUMBERS:
            return None
        if declared.kind == "quantity":
            currency = foreign_currency(declared, str(value))
            if currency:
                return magnitude(str(value).replace(currency, USD, 1), declared.unit) * self.worth_of(currency, key)
            return magnitude(str(value), declared.unit)
        return split(value)[0] if isinstance(value, str) else float(value)

    def worth_of(self, currency: str, key: str) -> float:
        """Return what one unit of a currency is worth in USD, as the answers say; raises AnswerError of `key` where they do not."""
        from rules.exchange import rates_of  # its errors are those of answers

        rates = rates_of(self.names(RATES))
        if currency not in rates:
            raise AnswerError(key, f"no rate of {currency!r} is known; give its worth in {RATES}, such as '{currency} = 1.08'")
        return rates[currency]

    def count(self, key: str) -> int | None:
        """Return the value as a whole number, None where there is none."""
        number = self.number(key)
        return None if number is None else int(number)

    def quantity(self, key: str) -> Quantity | None:
        """Return the value as a pint quantity in the field's unit, None where there is none."""
        number = self.number(key)
        return None if number is None else quantity(number, field_of(key).unit)

    def assumptions(self) -> dict[str, str]:
        """Return, by key, the reason of every assumption that stands in for a missing answer."""
        return {each.key: each.reason for each in FIELDS if each.assumed is not None and not self.given(each.key)}

    def nested(self) -> dict[str, dict[str, object]]:
        """Return the answers as the tables of a TOML file, in the order of FIELDS."""
        tables: dict[str, dict[str, object]] = {}
        for each in FIELDS:
            if each.key in self.values:
                section, _, name = each.key.partition(".")
                value = self.values[each.key]
                tables.setdefault(section, {})[name] = list(value) if isinstance(value, tuple) else value
        return tables


def flatten(raw: Mapping[str, object]) -> dict[str, object]:
    """Return nested answer tables as dotted keys; keys that are dotted already stay. Raises AnswerError for a key that is there twice."""
    flat: dict[str, object] = {}

    def keep(key: str, value: object) -> None:
        if key in flat:
            raise AnswerError(key, "given twice, once with its section in the key; keep one of them")
        flat[key] = value

    for key, value in raw.items():
        if isinstance(value, dict):
            for name, inner in value.items():
                if isinstance(inner, dict):
                    raise AnswerError(f"{key}.{name}", "expected a value, got a table")
                keep(f"{key}.{name}", inner)
        else:
            keep(key, value)
    return flat
