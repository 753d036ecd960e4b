"""Numbers of the catalog by id, with an error that says which record or value is missing and where to add it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalogs.loading import CatalogError

if TYPE_CHECKING:
    from catalogs.loading import Shelf
    from catalogs.schema import Fact, Sourced, Threshold


def fact_value(facts: Shelf[Fact], fact: str, key: str) -> Sourced:
    """Return the value `key` of the fact `fact`; raises CatalogError naming what is missing."""
    record = facts.get(fact)
    if record is None:
        raise CatalogError(f"catalogs/facts: no fact {fact!r}, which sizing needs for its value {key!r}; add it or restore the catalog")
    value = record.values.get(key)
    if value is None:
        known = ", ".join(sorted(record.values)) or "nothing"
        raise CatalogError(f"catalogs/facts: the fact {fact!r} has no value {key!r}; it has {known}")
    return value


def threshold_number(thresholds: Shelf[Threshold], threshold: str, key: str = "") -> float:
    """Return the number of a threshold, or of its named value `key`; raises CatalogError where it is missing or text."""
    record = thresholds.get(threshold)
    if record is None:
        raise CatalogError(f"catalogs/thresholds: no threshold {threshold!r}, which sizing needs; add it or restore the catalog")
    value = record.values.get(key) if key else record.value
    if isinstance(value, (int, float)):
        return float(value)
    place = f"its value {key!r}" if key else "its value"
    raise CatalogError(f"catalogs/thresholds: the threshold {threshold!r} must have a number as {place}, not {value!r}")
