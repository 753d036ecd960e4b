"""A comparison as lines of text: figures in columns, then answers and reasons."""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING

from rules.comparison.figures import Verdict
from rules.counting import counted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rules.comparison.compare import Comparison
    from rules.comparison.figures import FigurePair
    from rules.comparison.rows import Change

WIDTH = 100
LABEL_WIDTH = 18
LEAST_NAME = 7
"""Columns that a name over a column of figures keeps."""
_NUMBER = re.compile(r"\d[\d.,]*")
MOST_REASONS = 40
"""Reasons that are written out; the rest is counted. All are in the JSON."""


def comparison_lines(comparison: Comparison, names: tuple[str, str] = ("before", "after"), width: int = WIDTH) -> list[str]:
    """Return the lines of a comparison, at most `width` columns wide as far as words allow."""
    if not comparison.differs:
        return ["no difference"]
    lines = [f"{label}: {said}" for label, said in zip(names, (_head(comparison, 0), _head(comparison, 1)), strict=True)]
    lines += ["", *(figure_lines(comparison.figures, names, width) if comparison.figures else ["no key figure differs"])]
    alike = [each for each in comparison.reasons if only_numbers(each)]
    others = sorted((each for each in comparison.reasons if each not in alike), key=lambda each: "+-~".index(each.mark))
    for title, changes in (("answers", comparison.answers), ("reasons", others)):
        if changes:
            lines += ["", title, *change_lines(changes, width)]
    if alike:
        lines += ["", f"{counted(len(alike), 'reason is', 'reasons are')} the same but for {'its' if len(alike) == 1 else 'their'} numbers"]
    if comparison.others:
        lines += ["", f"{counted(len(comparison.others), 'other difference')} in the sections and the bill of materials"]
    return lines


def only_numbers(change: Change) -> bool:
    """Return whether a reason is the same sentence with other numbers."""
    before, after = (_NUMBER.sub("#", text) for text in (change.before, change.after))
    return before == after


def _head(comparison: Comparison, side: int) -> str:
    name = (comparison.before, comparison.after)[side]
    return name if comparison.fits[side] else f"{name} (with conflicts)"


def figure_lines(figures: Iterable[FigurePair], names: tuple[str, str] = ("before", "after"), width: int = WIDTH) -> list[str]:
    """Return the figures in columns: name, both values, the change, and whether it is better or worse in words.

    Where that is wider than `width`, numbers from a million on are written short; then names are cut in the middle.
    """
    listed = list(figures)
    lines = _columns(listed, names, short=False)
    if max(map(len, lines)) > width:
        lines = _columns(listed, names, short=True)
    over = max(map(len, lines)) - width
    return _columns(listed, _cut(names, over), short=True) if over > 0 else lines


def _cut(names: tuple[str, str], over: int) -> tuple[str, str]:
    """Return the names with the longer one cut in its middle by `over` columns, and the other one no longer."""
    most = max(LEAST_NAME, max(map(len, names)) - over)
    first, second = (name if len(name) <= most else f"{name[: most // 2]}…{name[len(name) - (most - most // 2 - 1) :]}" for name in names)
    return first, second


def _columns(figures: Iterable[FigurePair], names: tuple[str, str], *, short: bool) -> list[str]:
    words = {Verdict.SAME: ""}
    rows = [(each.label, *each.texts(short=short), each.change, words.get(each.verdict, each.verdict.value)) for each in figures]
    table = [("", *names, "change", ""), *rows]
    widths = [max(len(row[column]) for row in table) for column in range(len(table[0]))]
    return [
        "  ".join(
            [row[0].ljust(max(widths[0], LABEL_WIDTH)), *(row[n].rjust(widths[n]) for n in (1, 2, 3)), row[4].ljust(widths[4])]
        ).rstrip()
        for row in table
    ]


def change_lines(changes: Iterable[Change], width: int = WIDTH, most: int = MOST_REASONS) -> list[str]:
    """Return changes one after the other, wrapped, at most `most` of them."""
    listed = list(changes)
    lines: list[str] = []
    for each in listed[:most]:
        lines += textwrap.wrap(each.line(), width, initial_indent="  ", subsequent_indent="      ", break_long_words=False)
    if len(listed) > most:
        lines.append(f"  and {len(listed) - most} more")
    return lines
