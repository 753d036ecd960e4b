"""The one pint registry, and the reading and writing of quantities as text.

Text is split into a number and a unit before pint sees it; units are cached, so that a quantity costs a few microseconds
instead of the 80 that pint's own parser takes. The registry is built on first use, never at import.
"""

from __future__ import annotations

import math
import re
import sys
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pint import Quantity as PintQuantity
    from pint import Unit, UnitRegistry
    from pint.util import UnitsContainer

    Quantity = PintQuantity[Any]

_BLANKS = " \u00a0\u2009\u202f"
_NUMBER = re.compile(rf"^\s*([+-]?(?:\d[\d_{_BLANKS},']*(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?)\s*(.*?)\s*$")
_GROUPED = re.compile(rf"[+-]?(\d{{1,3}}([{_BLANKS},'])\d{{3}}(\2\d{{3}})*|\d+(_\d+)*)?(\.\d+)?([eE][+-]?\d+)?")
"""How digits may be grouped: in threes by one kind of mark, or by underscores between digits."""
_LONGEST_TEXT = 200
LARGEST, SMALLEST = 1e30, 1e-30
"""Larger numbers are no quantities of this field in any unit, smaller ones are zero; products of a few others would not be finite."""
_SCALES = {"k": 1e3, "K": 1e3, "M": 1e6, "B": 1e9, "G": 1e9, "T": 1e12, "P": 1e15}
_SCALES |= {"thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12}
_COUNTED = ("USD", "token", "tokens", "parameter", "parameters", "sample", "samples", "image", "images", "sequence", "sequences", "")
_POWER = re.compile(r"(?<=[^\W\d_])\s*(\*\*|\^)\s*-?\d(?!\s*(\d|\.|\*\*|\^))")
_POWERS = re.compile(r"\*\*|\^")
"""A unit may carry a power of one digit ("s**2"); pint would work out any tower of powers, for hours."""
_BITS = re.compile(r"(?<![A-Za-z])([kMGTP]?)b(?=$|[/ *])")
_LINE_RATE = re.compile(r"^([kMGT]?)(?:bps|bE)$")
_SPELLINGS = {"°C": "degC", "° C": "degC", "C": "degC", "°F": "degF", "kVA": "kV*A"}
_SPELLINGS |= {"$": "USD", "US$": "USD", "yr": "year", "CFM": "cfm", "RU": "U"}
_SPELLINGS |= {
    f"{mass}/{area}{two}": f"{force}/{area}**2"
    for mass, force, area in (("kg", "kgf", "m"), ("lb", "lbf", "ft"))
    for two in ("²", "2", "^2")
}
_SPELLINGS |= {"psf": "lbf/ft**2"} | {f"t/m{two}": "force_metric_ton/m**2" for two in ("²", "2", "^2")}
"""Loads of floors are said by mass: 500 kg/m² is what 500 kg weigh on a square metre. The catalog's masses per area are written kg/m**2."""
_SHOWN = (("gigabit", "Gb"), ("terabit", "Tb"), ("megabit", "Mb"), ("bit", "b"), ("degC", "°C"), ("A*kV", "kVA"))
_DEFINITIONS = (
    "USD = [currency]",
    "FLOP = [computation]",
    "token = [token] = _ = tokens",
    "parameter = []",
    "sample = [sample]",
    "image = 1 sample",
    "sequence = [sequence]",
    "rack_unit = 44.45 millimeter = U",
    "cubic_foot_per_minute = foot ** 3 / minute = CFM = cfm",
    "percent = 0.01 = %",
)


class QuantityError(ValueError):
    """A text that is not a quantity of the expected kind; the message says what was expected and gives an example."""


@contextmanager
def _without_numpy() -> Iterator[None]:
    """Hide NumPy while pint is imported: pint loads it where it can, for arrays of quantities, which nothing here has; it takes 80 ms."""
    hidden = "numpy" not in sys.modules
    if hidden:
        sys.modules["numpy"] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        if hidden:
            del sys.modules["numpy"]


@lru_cache(maxsize=1)
def registry() -> UnitRegistry[Any]:
    """Return the process's unit registry, built on first use with a cache on disk where the machine allows one."""
    with _without_numpy():
        from pint import UnitRegistry

    try:
        units: UnitRegistry[Any] = UnitRegistry(cache_folder=":auto:", on_redefinition="ignore")
    except OSError:
        units = UnitRegistry(on_redefinition="ignore")
    for definition in _DEFINITIONS:
        if definition.split(" ")[0] not in units:
            units.define(definition)
    return units


def quantity(value: float, unit: str) -> Quantity:
    """Return `value` in `unit` as a pint quantity; `unit` is any unit text that `parse_quantity` reads."""
    kind, units = _parts(unit)
    made: Quantity = object.__new__(kind)  # pint's own constructor asks seven questions first, which takes 15 times as long
    made._magnitude, made._units = value, units
    return made


@lru_cache(maxsize=4096)
def _parts(unit: str) -> tuple[type[Quantity], UnitsContainer]:
    """Return the registry's class of quantities and the unit as a quantity holds it."""
    return registry().Quantity, _unit(unit)._units


@lru_cache(maxsize=4096)
def _unit(text: str) -> Unit:
    """Return the pint unit that `text` names, with the data-centre spellings (Gb/s, kVA, °C) understood."""
    spelled = _SPELLINGS.get(text, text)
    spelled = _LINE_RATE.sub(r"\1bit/s", _BITS.sub(r"\1bit", spelled))
    if _POWERS.search(_POWER.sub("", spelled)):
        raise QuantityError(f"unknown unit {text!r}")
    spelled = spelled.replace("FLOPS", "FLOP/s").replace("FLOPs", "FLOP").replace("°", "deg").replace("%", "percent")
    try:
        return registry().Unit(spelled)
    except Exception as error:  # pint raises many kinds for odd text
        raise QuantityError(f"unknown unit {text!r}") from error


@lru_cache(maxsize=4096)
def _factor(unit: str, target: str) -> float | None:
    """Return the factor from `unit` to `target`, or None where the conversion has an offset (temperatures)."""
    source, wanted = _unit(unit), _unit(target)
    if source.dimensionality != wanted.dimensionality:
        raise QuantityError(f"{unit!r} is not a unit of the kind of {target!r}")
    if "deg" in str(source) or "kelvin" in str(source):
        return None
    return float(registry().Quantity(1.0, source).to(wanted).magnitude)


def split(text: str) -> tuple[float, str]:
    """Split "1.5M USD" into (1500000.0, "USD"); blanks, commas and apostrophes may group digits in threes, underscores anyhow.

    Raises QuantityError where the text has no finite number of sane size or is absurdly long.
    """
    if len(text) > _LONGEST_TEXT:
        raise QuantityError(f"a text of {len(text)} characters is not a quantity")
    text = re.sub(r"^\s*(?:US)?\$\s*([^/]*?)\s*(/.*)?$", r"\1 USD\2", text)
    found = _NUMBER.match(text)
    if not found:
        raise QuantityError(f"{text!r} does not start with a number")
    written, unit = found.group(1).strip(), found.group(2)
    if "," in written and not re.fullmatch(r"[+-]?\d{1,3}(,\d{3})+(\.\d+)?", written):
        raise QuantityError(f"{text!r}: write a decimal point, not a comma")
    if re.match(r"[.,]\d", unit):  # "4.000,5 kW" or "1.234.567 kW"
        raise QuantityError(f"{text!r}: write one decimal point, and group digits with blanks, such as '4 000.5'")
    if not _GROUPED.fullmatch(written):
        raise QuantityError(f"{text!r}: write digits together or in groups of three, such as '4 000' or '4_000'")
    number = float(re.sub(rf"[_{_BLANKS},']", "", written))
    if not math.isfinite(number):
        raise QuantityError(f"{text!r} is not a finite number")
    if abs(number) > LARGEST:
        raise QuantityError(f"{text!r} is larger than any quantity can be")
    number = number if abs(number) >= SMALLEST else 0.0
    if unit == "K" and text[: found.start(2)] != text[: found.start(2)].rstrip():
        return number, unit  # "4 K" is kelvin, "4K" four thousand
    return _scaled(number, unit)


def _scaled(number: float, unit: str) -> tuple[float, str]:
    """Apply a counting suffix (30B, 450M USD, 15.6 T tokens) where the unit is one that people count in thousands."""
    head, _, rest = unit.partition(" ")
    rest = rest.strip()
    if head in _SCALES and (rest in _COUNTED or rest.startswith("USD/")):
        return number * _SCALES[head], rest
    return number, unit


@lru_cache(maxsize=16384)
def _text_magnitude(text: str, unit: str) -> float:
    number, written = split(text)
    if written == unit:
        return number
    factor = _factor(written, unit)
    if factor is not None:
        return number * factor
    return float(registry().Quantity(number, _unit(written)).to(_unit(unit)).magnitude)


def magnitude(value: str | Quantity, unit: str) -> float:
    """Return `value` (text or quantity) as a plain number in `unit`; raises QuantityError for another dimension."""
    if isinstance(value, str):
        return _text_magnitude(value, unit)
    factor = _between(value._units, unit)  # `units` would make a new Unit at every call
    if factor is not None:
        return float(value.magnitude) * factor
    return float(value.to(_unit(unit)).magnitude)


@lru_cache(maxsize=4096)
def _between(container: UnitsContainer, target: str) -> float | None:
    """Return the factor from the unit that a quantity holds to `target`, None where the conversion has an offset; raises QuantityError."""
    units, wanted = registry().Unit(container), _unit(target)
    if units.dimensionality != wanted.dimensionality:
        raise QuantityError(f"a quantity in {units} is not one in {target!r}")
    if any(scale in str(units) for scale in ("deg", "kelvin")):
        return None
    return float(registry().Quantity(1.0, units).to(wanted).magnitude)


def parse_quantity(text: str, unit: str | None = None) -> Quantity:
    """Read `text` as a quantity; with `unit`, of that dimension and converted to it. Raises QuantityError."""
    number, written = split(text)
    if unit is None:
        return registry().Quantity(number, _unit(written))
    return quantity(magnitude(text, unit), unit)


def format_quantity(value: Quantity | float, unit: str | None = None, digits: int = 4) -> str:
    """Write a quantity as text that `parse_quantity` reads back: "10.2 kW", "400 Gb/s", "1236000 USD".

    `unit` is the unit to show (kept as written); without it the quantity's own. `digits` are significant digits.
    """
    if isinstance(value, (int, float)):
        number, shown = float(value), unit or ""
    elif unit is not None:
        number, shown = magnitude(value, unit), unit
    else:
        number, shown = float(value.magnitude), f"{value.units:~C}"
    for long, short in _SHOWN:
        shown = shown.replace(long, short)
    return f"{format_number(number, digits)} {shown}".strip()


def format_number(number: float, digits: int = 4) -> str:
    """Write a number with `digits` significant digits, without exponent and without trailing zeros; whole parts are kept."""
    if not math.isfinite(number):
        return str(number)
    if abs(number) < SMALLEST:
        return "0"
    places = max(0, digits - 1 - math.floor(math.log10(abs(number))))
    text = f"{number:.{places}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


_WORDS = ((1e12, "trillion"), (1e9, "billion"))
_POWERS_FROM = 1e18
"""From here on a number for reading is written as a power of ten: its digits would fill lines."""


def number_in_words(number: float, digits: int = 4) -> str:
    """Write a number for reading: "160.6 billion", "2,048", "0.000055", and from 10^18 on as a power of ten: "3.8 × 10^25"."""
    if abs(number) >= _POWERS_FROM:
        return _as_power(number, digits)
    for size, word in _WORDS:
        if abs(number) >= size:
            return f"{grouped(number / size, digits)} {word}"
    return grouped(number, max(digits, len(str(int(abs(number))))))


def grouped(number: float, digits: int = 4) -> str:
    """Write a number with `digits` significant digits, its thousands grouped by commas; from 10^18 on as a power of ten."""
    if abs(number) >= _POWERS_FROM:
        return _as_power(number, digits)
    whole, point, fraction = format_number(float(f"{number:.{digits}g}"), digits).partition(".")
    return f"{int(whole):,}{point}{fraction}" if whole.lstrip("-").isdigit() and int(whole) else f"{whole}{point}{fraction}"


def _as_power(number: float, digits: int) -> str:
    if not math.isfinite(number):
        return str(number)
    mantissa, _, exponent = f"{number:.{max(1, digits) - 1}e}".partition("e")
    short = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
    power = f"10^{int(exponent)}"
    return {"1": power, "-1": f"-{power}"}.get(short, f"{short} × {power}")
