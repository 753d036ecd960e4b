"""Compare two designs: key figures, changed answers, changed reasons, and what else differs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rules.comparison.figures import FigurePair, Verdict, pairs_of
from rules.comparison.rows import COMPARED, REASONS, Change, changes_in, reasons_changed

if TYPE_CHECKING:
    from collections.abc import Mapping

NOTHING = "no design"


@dataclass(frozen=True)
class Comparison:
    """Two designs side by side. `before` and `after` name what each chose; `others` are differences outside figures and reasons."""

    before: str
    after: str
    fits: tuple[bool, bool]
    figures: tuple[FigurePair, ...]
    answers: tuple[Change, ...]
    reasons: tuple[Change, ...]
    others: tuple[Change, ...]

    @property
    def differs(self) -> bool:
        """Return whether anything at all differs."""
        changed = any(each.verdict is not Verdict.SAME for each in self.figures)
        return changed or bool(self.answers or self.reasons or self.others) or self.before != self.after

    def document(self) -> dict[str, Any]:
        """Return the comparison as plain data."""
        return {
            "before": {"name": self.before, "fits": self.fits[0]},
            "after": {"name": self.after, "fits": self.fits[1]},
            "differs": self.differs,
            "figures": [each.document() for each in self.figures],
            "answers": [vars(each) for each in self.answers],
            "reasons": [vars(each) for each in self.reasons],
            "others": [vars(each) for each in self.others],
        }


def compare_designs(before: Mapping[str, Any], after: Mapping[str, Any]) -> Comparison:
    """Compare two documents of designs (`Design.document()`, or the tables of a design file)."""
    answers = changes_in(("answers", "policy"), before, after)
    others = changes_in(tuple(table for table in COMPARED if table not in (*REASONS, "answers", "policy")), before, after)
    return Comparison(
        name_of(before),
        name_of(after),
        (fits(before), fits(after)),
        pairs_of(before, after),
        tuple(Change(each.where.removeprefix("answers."), each.before, each.after) for each in answers),
        tuple(reasons_changed(before, after)),
        tuple(others),
    )


def name_of(document: Mapping[str, Any]) -> str:
    """Return what a design chose, by name."""
    summary = document.get("design", {}).get("summary", {})
    return str(summary.get("name") or NOTHING) if isinstance(summary, dict) else NOTHING


def fits(document: Mapping[str, Any]) -> bool:
    """Return whether a design meets every answer, by its own words."""
    summary = document.get("design", {}).get("summary", {})
    return bool(isinstance(summary, dict) and summary.get("fits"))
