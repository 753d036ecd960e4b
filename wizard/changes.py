"""What the last answer changed in a design, and why. No screen."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rules.findings import Kind
from wizard.interview import load_interview
from wizard.shown import value_text
from wizard.summary import purchase_text, short_days, short_power

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rules.answers import Answers
    from rules.comparison.rows import Change
    from rules.design import Design, Figures

MOST_REASONS = 2
MOST_CAUSES = 2
"""Causes that a notice names; a small screen shows no more beside the design."""
ARROW = "→"
BECAUSE, WARNED = "because", "new warning:"
"""What leads a reason."""


def answers_changed(before: Answers, after: Answers) -> str:
    """Return the answers that differ: "Finish within 90 days → 54 days"; "" for none."""
    parts = []
    for key in dict.fromkeys([*after.values, *before.values]):
        if before.values.get(key) != after.values.get(key):
            question = load_interview().question(key)
            label = question.label.strip() if question is not None else key
            parts.append(f"{label} {value_text(key, before.values.get(key))} {ARROW} {value_text(key, after.values.get(key))}")
    return "; ".join(parts)


def figures_changed(previous: Design | None, design: Design, at_least: str = "≥") -> str:
    """Return the key figures that differ: "56.3 days → 48 days, 553M USD → 412M USD"; "" for none."""
    if previous is None or previous.figures is None or design.figures is None or previous.answers == design.answers:
        return ""
    pairs = [
        (previous.name.split(",")[0], design.name.split(",")[0]),
        (_shown(previous.figures.days, short_days), _shown(design.figures.days, short_days)),
        (_price(previous.figures, at_least), _price(design.figures, at_least)),
        (_shown(previous.figures.total_power_kw, short_power), _shown(design.figures.total_power_kw, short_power)),
    ]
    return ", ".join(f"{old} {ARROW} {new}" for old, new in pairs if old != new)


def _shown(value: float | None, write: Callable[[float], str]) -> str:
    return "unknown" if value is None else write(value)


def _price(figures: Figures, at_least: str) -> str:
    if figures.purchase_usd is None:
        return "price unknown"
    return purchase_text(figures, at_least=at_least)


def reasons(previous: Design | None, design: Design) -> list[tuple[str, str]]:
    """Return why a design is another than before: the rules' own words for what was decided anew, new conflicts and warnings first.

    Each with the words that lead it: a warning is what the change brings, not why it came about.
    """
    if previous is None or previous.answers == design.answers:
        return []
    order = (Kind.REJECT, Kind.WARNING, Kind.DECISION)
    before = {(found.rule, found.kind, found.decision, found.value) for found in previous.findings}
    rows = [
        (WARNED if kind is Kind.WARNING else BECAUSE, found.because)
        for kind in order
        for found in design.of_kind(kind)
        if (found.rule, kind, found.decision, found.value) not in before and (kind is not Kind.DECISION or found.value)
    ]
    return rows[:MOST_REASONS]


def stages_changed(previous: Design | None, design: Design) -> frozenset[str]:
    """Return the stages in which something was decided, warned of or rejected that was not before, or is no longer."""
    if previous is None or previous.answers == design.answers:
        return frozenset()
    kinds = (Kind.REJECT, Kind.WARNING, Kind.DECISION)

    def said(made: Design) -> set[tuple[str, Kind, str, str]]:
        return {(each.stage.value, each.kind, each.rule, each.value) for each in made.findings if each.kind in kinds}

    return frozenset(stage for stage, *_ in said(previous) ^ said(design))


def causes_text(causes: Sequence[str]) -> str:
    """Return the first causes of a design that comes out otherwise, without their hashes; the rest is counted."""
    more = len(causes) - MOST_CAUSES
    return "; ".join([*(each.partition(" (")[0] for each in causes[:MOST_CAUSES]), *([f"and {more} more"] if more > 0 else [])])


def difference(before: Design, after: Design, width: int, most_reasons: int | None = None) -> list[str]:
    """Return what differs between two designs: key figures that do, answers, reasons; at most `most_reasons`, the rest is counted."""
    from rules.comparison.compare import compare_designs
    from rules.comparison.figures import Verdict
    from rules.comparison.text import comparison_lines

    found = compare_designs(before.document(), after.document())
    found = replace(found, figures=tuple(each for each in found.figures if each.verdict is not Verdict.SAME))
    if most_reasons is None or len(found.reasons) <= most_reasons:
        return comparison_lines(found, width=width)
    shown = replace(found, reasons=_weighty(found.reasons)[:most_reasons])
    return [
        *comparison_lines(shown, width=width),
        "",
        f"{len(found.reasons) - most_reasons} more reasons changed; the command diff lists all",
    ]


def _weighty(reasons: Sequence[Change]) -> tuple[Change, ...]:
    """Return changed reasons with conflicts first, then warnings, then decisions."""
    order = ("conflict", "warning", "justification", "assumption", "question", "rejected")
    return tuple(sorted(reasons, key=lambda each: order.index(each.where.partition(" ")[0])))
