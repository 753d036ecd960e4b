"""Bars in text: parts of a whole, each with its own pattern, so that they read without colour and at 80 columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content

from catalogs.sums import plain_sum
from wizard.glyphs import sign
from wizard.pictures.bars import shown as in_digits

if TYPE_CHECKING:
    from collections.abc import Mapping

PATTERNS = ("bar", "bar_2", "bar_3", "bar_4")
_COLOURS = ("$primary", "$secondary", "$warning", "$accent")
SMALLEST_SHARE = 0.005
"""Parts below half a per cent of the whole are summed up as "other"; they would not fill a cell of any bar."""
MOST_PARTS = len(PATTERNS)


def parts_shown(terms: Mapping[str, float], whole: float) -> list[tuple[str, float]]:
    """Return the largest parts by falling size, the rest as "other"."""
    rows = sorted(((name, value) for name, value in terms.items() if value > 0), key=lambda row: -row[1])
    kept = [row for row in rows if row[1] >= SMALLEST_SHARE * whole]
    kept = kept[:MOST_PARTS] if len(kept) == len(rows) and len(kept) <= MOST_PARTS else kept[: MOST_PARTS - 1]
    other = plain_sum(value for _, value in rows) - plain_sum(value for _, value in kept)
    return [*kept, ("other", other)] if other > 1e-9 * max(whole, 1e-9) else kept


def stacked(terms: Mapping[str, float], whole: float, width: int) -> Content:
    """Return a bar of `width` cells in which each part takes its share of `whole`; what is left is free.

    A part that is there has at least one cell, so that it is never lost to rounding.
    """
    shown = parts_shown(terms, whole) if whole > 0 else []
    pieces: list[tuple[str, str]] = []
    used = 0
    for number, (_, value) in enumerate(shown):
        cells = min(max(1, round(value / whole * width)), max(0, width - used - (len(shown) - 1 - number)))
        pieces.append((sign(PATTERNS[number]) * cells, _COLOURS[number]))
        used += cells
    pieces.append((sign("free") * max(0, width - used), "$foreground-muted"))
    return Content.assemble(*pieces)


def legend(terms: Mapping[str, float], whole: float, unit: str, width: int) -> list[Content]:
    """Return the parts in words, in lines of at most `width`: "█ activations 127  ▓ gradients 47.5  GiB"."""
    lines, used = [Content("")], 0
    for number, (name, value) in enumerate(parts_shown(terms, whole)):
        text = f" {name.replace('_', ' ')} {in_digits(value)}  "
        piece = Content.assemble((sign(PATTERNS[number]), _COLOURS[number]), text)
        if used and used + len(text) - 1 > width:
            lines, used = [*lines, Content("")], 0
        lines[-1] += piece
        used += len(text) + 1
    lines[-1] += Content.styled(unit, "$foreground-muted")
    return lines
