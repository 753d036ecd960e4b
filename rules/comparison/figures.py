"""The key figures of a design as a vector, read from its document, and two such vectors side by side."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from catalogs.quantities import grouped

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Document = Mapping[str, Any]

SHOWN_DIGITS = 4
"""Figures of a design file have four significant digits; those that agree in all of them are the same. Counts are exact."""
UNKNOWN = "unknown"
MILLION = 1e6


class Verdict(StrEnum):
    """How the second of two figures stands to the first."""

    SAME = "same"
    BETTER = "better"
    WORSE = "worse"
    OPEN = "unknown"


@dataclass(frozen=True)
class KeyFigure:
    """One key figure: its id, its name, its unit ("" for counts and ratios), whether less of it is better, and how it is read."""

    id: str
    label: str
    unit: str
    less_is_better: bool
    read: Callable[[Document], float | None]


@dataclass(frozen=True)
class FigurePair:
    """A key figure of two designs; None where a design does not know it. `lower_bound` marks totals that leave out unknown prices."""

    id: str
    label: str
    unit: str
    before: float | None
    after: float | None
    verdict: Verdict
    lower_bound: tuple[bool, bool] = (False, False)

    def texts(self, *, short: bool = False) -> tuple[str, str]:
        """Return both figures as text with their unit; `short` writes "92.39M" for 92,390,000."""
        return (
            _shown(self.before, self.unit, bound=self.lower_bound[0], short=short),
            _shown(self.after, self.unit, bound=self.lower_bound[1], short=short),
        )

    @property
    def change(self) -> str:
        """Return by how much the figure changed ("+12 %", "−3"), "" where that cannot be said."""
        if self.before is None or self.after is None or self.verdict is Verdict.SAME:
            return ""
        if self.before == 0 or self.id in ("conflicts", "warnings"):
            return f"{self.after - self.before:+,.4g}".replace("-", "\N{MINUS SIGN}")
        return f"{(self.after / self.before - 1) * 100:+,.1f} %".replace("-", "\N{MINUS SIGN}")

    def document(self) -> dict[str, Any]:
        """Return the pair as plain data."""
        row: dict[str, Any] = {"id": self.id, "label": self.label, "unit": self.unit, "before": self.before, "after": self.after}
        return row | {"verdict": self.verdict.value, "lower_bound": list(self.lower_bound)}


def _shown(value: float | None, unit: str, *, bound: bool, short: bool) -> str:
    if value is None:
        return UNKNOWN
    if short and abs(value) >= MILLION:
        text = f"{grouped(value / MILLION, SHOWN_DIGITS)}M"
    else:
        text = f"{value:,.0f}" if value.is_integer() else grouped(value, SHOWN_DIGITS)
    return f"{'≥ ' if bound else ''}{text} {unit}".strip()


def _summary(name: str) -> Callable[[Document], float | None]:
    return lambda document: _number(_at(document, "design", "summary", name))


def _count(table: str) -> Callable[[Document], float | None]:
    return lambda document: float(len(document.get(table, [])))


def _pue(document: Document) -> float | None:
    return _number(_at(document, "design", "power", "pue"))


def _switches(document: Document) -> float | None:
    """Return the switches of all networks; None where the design has no word on networks at all."""
    networks = _at(document, "design", "fabric")
    if not isinstance(networks, dict):
        return None
    tables = [each["switches"] for each in networks.values() if isinstance(each, dict) and isinstance(each.get("switches"), dict)]
    return float(sum(count for table in tables for count in table.values() if isinstance(count, int)))


def _at(document: Any, *path: str) -> Any:
    for part in path:
        document = document.get(part) if isinstance(document, dict) else None
    return document


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


KEY_FIGURES: tuple[KeyFigure, ...] = (
    KeyFigure("gpus", "GPUs", "", True, _summary("gpus")),
    KeyFigure("nodes", "nodes", "", True, _summary("nodes")),
    KeyFigure("racks", "racks", "", True, _summary("racks")),
    KeyFigure("power", "power of the site", "kW", True, _summary("total_power_kw")),
    KeyFigure("pue", "PUE", "", True, _pue),
    KeyFigure("purchase", "purchase", "USD", True, _summary("purchase_usd")),
    KeyFigure("ownership", "ownership", "USD", True, _summary("ownership_usd")),
    KeyFigure("days", "days of the run", "d", True, _summary("days")),
    KeyFigure("step", "step time", "s", True, _summary("step_s")),
    KeyFigure("mfu", "MFU", "", False, _summary("mfu")),
    KeyFigure("switches", "switches", "", True, _switches),
    KeyFigure("cable", "cable length", "m", True, _summary("cable_m")),
    KeyFigure("conflicts", "conflicts", "", True, _count("conflict")),
    KeyFigure("warnings", "warnings", "", True, _count("warning")),
)
"""The vector of a design. For the same work less of everything is better, but for the share of the peak that is used."""
MONEY = ("purchase", "ownership")


def pairs_of(before: Document, after: Document) -> tuple[FigurePair, ...]:
    """Return the key figures of two design documents side by side; figures that neither knows are left out."""
    rows = []
    for figure in KEY_FIGURES:
        old, new = figure.read(before), figure.read(after)
        if old is None and new is None:
            continue
        bounds = (_is_open(before), _is_open(after)) if figure.id in MONEY else (False, False)
        rows.append(FigurePair(figure.id, figure.label, figure.unit, old, new, _verdict(old, new, figure), bounds))
    return tuple(rows)


def _is_open(document: Document) -> bool:
    return bool(_at(document, "design", "summary", "purchase_open"))


def _verdict(before: float | None, after: float | None, figure: KeyFigure) -> Verdict:
    if before is None or after is None:
        return Verdict.OPEN
    exact = before.is_integer() and after.is_integer()
    if before == after or (not exact and f"{before:.{SHOWN_DIGITS}g}" == f"{after:.{SHOWN_DIGITS}g}"):
        return Verdict.SAME
    return Verdict.BETTER if (after < before) is figure.less_is_better else Verdict.WORSE
