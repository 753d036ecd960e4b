"""A value of the catalog with its source, and the types that say which unit a value must have."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict

from catalogs.quantities import QuantityError, magnitude, parse_quantity

if TYPE_CHECKING:
    from catalogs.quantities import Quantity


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


def _of(unit: str) -> Any:
    """Return a pydantic validator: the value must be a quantity that converts to `unit`."""

    def check(sourced: Sourced) -> Sourced:
        if not isinstance(sourced.value, str):
            raise ValueError(f"expected a quantity with a unit, such as '1 {unit}', got {sourced.value!r}")
        for text in (sourced.value, *(sourced.range or ())):
            try:
                magnitude(str(text), unit)
            except QuantityError as error:
                raise ValueError(f"{error}; expected a unit like {unit!r}") from error
        return sourced

    return AfterValidator(check)


def _count(sourced: Sourced) -> Sourced:
    if isinstance(sourced.value, (str, bool)):
        raise ValueError(f"expected a number without a unit, got {sourced.value!r}")
    return sourced


Bytes = Annotated[Sourced, _of("GB")]
Bandwidth = Annotated[Sourced, _of("GB/s")]
LinkSpeed = Annotated[Sourced, _of("Gb/s")]
Throughput = Annotated[Sourced, _of("TFLOP/s")]
Power = Annotated[Sourced, _of("W")]
Mass = Annotated[Sourced, _of("kg")]
Length = Annotated[Sourced, _of("m")]
Temperature = Annotated[Sourced, _of("degC")]
Airflow = Annotated[Sourced, _of("CFM")]
Voltage = Annotated[Sourced, _of("V")]
Current = Annotated[Sourced, _of("A")]
Money = Annotated[Sourced, _of("USD")]
Duration = Annotated[Sourced, _of("week")]
RackUnits = Annotated[Sourced, _of("U")]
Time = Annotated[Sourced, _of("s")]
Count = Annotated[Sourced, AfterValidator(_count)]
Text = Sourced
