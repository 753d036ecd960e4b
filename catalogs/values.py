"""A value of the catalog with its source, and the types that say which unit a value must have."""

from __future__ import annotations

import math
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, field_validator

from catalogs.quantities import QuantityError, magnitude, parse_quantity

if TYPE_CHECKING:
    from catalogs.quantities import Quantity

LARGEST = 1e12
"""A value is at most so many of its field's unit (GB, GB/s, W, USD …), assumed: a million times what is sold; above it is a slip."""
LARGEST_NUMBER = 1e18
"""The same of a number without a unit, assumed: a thousand times the parameters of any model or the operations of any drive."""
LONGEST_NAME = 200
"""Characters of a name, assumed: it has to fit on a line of a table or a message."""
MOST_PIECES = 1_000_000
"""Largest plain number of pieces in one product, assumed: no switch, server or rack has a million of anything."""


class Kind(StrEnum):
    """How a number came about; every number in a design carries one."""

    MEASURED = "measured"
    DATASHEET = "datasheet"
    DERIVED = "derived"
    ESTIMATED = "estimated"
    ASSUMED = "assumed"
    YOU = "you"


class Record(BaseModel):
    """Base of all catalog records: immutable, and an unknown key is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Conflict(Record):
    """Another source's different value, kept beside the one that was chosen."""

    value: str | float | bool
    source: str
    note: str = ""


class Sourced(Record):
    """One value with where it comes from. Text values are quantities or names; numbers are counts and ratios."""

    value: str | int | float | bool
    source: str | tuple[str, ...]
    kind: Kind = Kind.DATASHEET
    range: tuple[str | float, str | float] | None = None
    date: str | None = None
    note: str = ""
    verified: bool = True
    conflicts: tuple[Conflict, ...] = ()

    @property
    def sources(self) -> tuple[str, ...]:
        """Return the ids of the sources, each an entry of `catalogs/sources.toml`."""
        return (self.source,) if isinstance(self.source, str) else self.source

    @property
    def quantity(self) -> Quantity:
        """Return the value as a pint quantity in the unit it was written in."""
        return parse_quantity(str(self.value))

    def to(self, unit: str) -> float:
        """Return the value as a plain number in `unit`."""
        if isinstance(self.value, (int, float)) and not isinstance(self.value, bool):
            return float(self.value)
        return magnitude(str(self.value), unit)

    def ends(self, unit: str) -> tuple[float, float, float]:
        """Return (low, expected, high) in `unit`; without a range all three are the value."""
        expected = self.to(unit)
        if self.range is None:
            return expected, expected, expected
        low, high = (float(end) if isinstance(end, (int, float)) else magnitude(end, unit) for end in self.range)
        return low, expected, high

    @field_validator("value", "range")
    @classmethod
    def _finite(cls, value: Any) -> Any:
        for each in value if isinstance(value, tuple) else (value,):
            if isinstance(each, float) and not math.isfinite(each):
                raise ValueError("expected a finite number")
        return value


def _of(unit: str, *, zero: bool = False, signed: bool = False) -> Any:
    """Return a pydantic validator: the value must be a quantity that converts to `unit`, finite, of sane size and above zero.

    `zero` allows nothing (a passive part draws 0 W), `signed` any sign (temperatures). The ends of a range likewise.
    """

    def check(sourced: Sourced) -> Sourced:
        if not isinstance(sourced.value, str):
            raise ValueError(f"expected a quantity with a unit, such as '1 {unit}', got {sourced.value!r}")
        ends = []
        for text in (sourced.value, *(sourced.range or ())):
            try:
                ends.append(magnitude(str(text), unit))
            except QuantityError as error:
                raise ValueError(f"{error}; expected a unit like {unit!r}") from error
            check_size(ends[-1], unit, zero=zero, signed=signed, shown=str(text))
        _check_order(sourced, ends)
        return sourced

    return AfterValidator(check)


def check_size(number: float, unit: str = "", *, zero: bool = False, signed: bool = False, shown: str = "") -> None:
    """Raise ValueError where a number, in `unit`, is not finite, larger than anything that exists, negative, or zero without `zero`."""
    shown = repr(shown or f"{number:g}")
    kind, largest = (f" {unit}", LARGEST) if unit else ("", LARGEST_NUMBER)
    if not math.isfinite(number) or abs(number) > largest:
        raise ValueError(f"{shown} is larger than anything that exists; expected at most {largest:,.0f}{kind}")
    if signed or number > 0 or (zero and number == 0):
        return
    raise ValueError(f"{shown} cannot be; expected {'zero or more' if zero else f'more than 0{kind}'}")


def _check_order(sourced: Sourced, ends: list[float]) -> None:
    if len(ends) > 1 and not ends[1] <= ends[0] <= ends[2]:
        raise ValueError(f"{sourced.value!r} is outside its range from {sourced.range[0]!r} to {sourced.range[1]!r}")  # type: ignore[index]


def _number(*, zero: bool = False, most: float = LARGEST_NUMBER) -> Any:
    """Return a pydantic validator: a number without a unit, finite, at most `most`, and above zero or (with `zero`) at least zero."""

    def check(sourced: Sourced) -> Sourced:
        ends = (sourced.value, *(sourced.range or ()))
        for each in ends:
            if isinstance(each, (str, bool)):
                raise ValueError(f"expected a number without a unit, got {each!r}")
            check_size(float(each), zero=zero)
            if float(each) > most:
                raise ValueError(f"expected at most {most:,.0f}, got {each!r}")
        _check_order(sourced, [float(each) for each in ends])
        return sourced

    return AfterValidator(check)


def _one_line(text: str) -> str:
    if not text.strip() or not text.isprintable():
        raise ValueError("expected a name on one line")
    return text


Name = Annotated[str, Field(max_length=LONGEST_NAME), AfterValidator(_one_line)]
Pieces = Annotated[int, Field(gt=0, le=MOST_PIECES)]
Bytes = Annotated[Sourced, _of("GB")]
Bandwidth = Annotated[Sourced, _of("GB/s")]
LinkSpeed = Annotated[Sourced, _of("Gb/s")]
Throughput = Annotated[Sourced, _of("TFLOP/s")]
Power = Annotated[Sourced, _of("W")]
PassivePower = Annotated[Sourced, _of("W", zero=True)]
Mass = Annotated[Sourced, _of("kg")]
Length = Annotated[Sourced, _of("m")]
Temperature = Annotated[Sourced, _of("degC", signed=True)]
Airflow = Annotated[Sourced, _of("CFM")]
Voltage = Annotated[Sourced, _of("V")]
Current = Annotated[Sourced, _of("A")]
Money = Annotated[Sourced, _of("USD", zero=True)]
Duration = Annotated[Sourced, _of("week")]
RackUnits = Annotated[Sourced, _of("U")]
Time = Annotated[Sourced, _of("s")]
Count = Annotated[Sourced, _number()]
CountOrNone = Annotated[Sourced, _number(zero=True)]
Share = Annotated[Sourced, _number(zero=True, most=1.0)]
Text = Sourced
