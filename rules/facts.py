"""The vocabulary of facts: every field that a stage states and a rule may read, with its unit and meaning.

The unit of a numeric field is the last word of its name (`memory_needed_low_gib`); `UNITS` says how it is shown. A stage
module declares its fields in a table `FACTS: tuple[FactField, ...]`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from catalogs.quantities import format_number

if TYPE_CHECKING:
    from rules.findings import Scalar

UNITS: dict[str, str] = {
    "gib": "GiB",
    "gb": "GB",
    "tb": "TB",
    "mb": "MB",
    "kb": "kB",
    "bytes": "B",
    "gbps": "Gb/s",
    "gb_per_s": "GB/s",
    "tflops": "TFLOP/s",
    "w": "W",
    "kw": "kW",
    "mw": "MW",
    "kg": "kg",
    "kpa": "kPa",
    "m": "m",
    "s": "s",
    "us": "µs",
    "ms": "ms",
    "h": "h",
    "days": "days",
    "weeks": "weeks",
    "years": "years",
    "usd": "USD",
    "usd_per_kwh": "USD/kWh",
    "percent": "%",
    "celsius": "°C",
    "cfm": "CFM",
    "v": "V",
    "a": "A",
    "u": "U",
}

HOURS_PER_DAY = 24


@dataclass(frozen=True)
class FactField:
    """A field of a stage's fact: its name (unit last), and what it means."""

    name: str
    meaning: str


@lru_cache(maxsize=4096)
def unit_of(name: str) -> str:
    """Return the shown unit of the field `name`, "" for counts, ratios, names and flags."""
    parts = name.split("_")
    for length in (3, 2, 1):
        suffix = "_".join(parts[-length:])
        if len(parts) > length and suffix in UNITS:
            return UNITS[suffix]
    return ""


def show(name: str, value: Scalar) -> str:
    """Return the value of a field as text with its unit: show("rack_power_kw", 40.8) == "40.8 kW"; less than a day is told in hours."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value
    unit = unit_of(name)
    if unit == "days" and 0 < abs(value) < 1:
        value, unit = value * HOURS_PER_DAY, "hours"
    digits = 4 if abs(value) < 10_000 else 6
    text = format_number(float(value), digits)
    if abs(value) >= 10_000:
        text = f"{float(text):,.0f}"
    return f"{text} {unit}" if unit and unit != "%" else f"{text}{' %' if unit else ''}"
