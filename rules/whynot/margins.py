"""By how much a rule rejected a candidate: its comparisons with the numbers on both sides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from catalogs.quantities import grouped
from rules.explanation.numbers import words
from rules.facts import show
from rules.guidance.declare import Scaled

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rules.findings import Scalar
    from rules.guidance.declare import Comparison, Rule

_ABOVE, _BELOW = (">", ">="), ("<", "<=")


@dataclass(frozen=True)
class Margin:
    """One comparison of numbers that held against a candidate. `by` is how far the field is over or under the limit, as a share."""

    field: str
    value: str
    limit: str
    by: float

    @property
    def text(self) -> str:
        """Return the margin as text: "node power 10.2 kW, 27.5 % above 8 kW"."""
        way = "above" if self.by > 0 else "below"
        return f"{words(self.field)} {self.value}, {grouped(abs(self.by) * 100, 3)} % {way} {self.limit}"

    def document(self) -> dict[str, Any]:
        """Return the margin as plain data."""
        return {"field": self.field, "value": self.value, "limit": self.limit, "by": float(f"{self.by:.4g}"), "text": self.text}


def margins_of(rule: Rule, fact: Mapping[str, Scalar]) -> tuple[Margin, ...]:
    """Return by how much each comparison of numbers in a rule holds over a fact; equalities have no margin."""
    found = (_margin(each, fact) for each in rule.when if each.operator in (*_ABOVE, *_BELOW))
    return tuple(each for each in found if each is not None)


def _margin(comparison: Comparison, fact: Mapping[str, Scalar]) -> Margin | None:
    left = fact.get(comparison.left)
    right = comparison.right
    if isinstance(right, Scaled):
        other = fact.get(right.field)
        limit = None if other is None or isinstance(other, (str, bool)) else float(other) * right.factor
    else:
        limit = None if isinstance(right, (str, bool)) else float(right)
    if left is None or isinstance(left, (str, bool)) or not limit:
        return None
    by = float(left) / limit - 1.0
    if by == 0 or (by > 0) is not (comparison.operator in _ABOVE):
        return None
    return Margin(comparison.left, show(comparison.left, left), show(comparison.left, limit), by)
