"""A scatter of candidates as lines of text: readable without colour, at any width."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wizard.comparing import CHOSEN, FITS, REJECTED, UNPRICED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wizard.comparing import Column, Entry

MARKS = {CHOSEN: ("◆", "@"), FITS: ("●", "o"), UNPRICED: ("?", "?"), REJECTED: ("×", "x")}
"""By state: the mark of a candidate, and its form in ASCII."""
DOMINATED = ("∙", ".")
LEAST_WIDTH, LEAST_HEIGHT = 24, 4
_ORDER = (REJECTED, UNPRICED, "dominated", FITS, CHOSEN)
"""What is drawn over what where several fall into one cell: the later over the earlier."""


@dataclass(frozen=True)
class Cell:
    """A mark of the scatter: where it is, what it says, how many candidates fall into it."""

    column: int
    line: int
    mark: str
    kind: str
    count: int


def kind_of(entry: Entry) -> str:
    """Return what an entry is drawn as: its state, or "dominated"."""
    return "dominated" if entry.state == FITS and entry.dominated_by else entry.state


def mark_of(kind: str, *, ascii_only: bool = False) -> str:
    """Return the mark of a kind."""
    return (DOMINATED if kind == "dominated" else MARKS[kind])[1 if ascii_only else 0]


def cells(rows: Sequence[Entry], across: Column, up: Column, width: int, height: int, *, ascii_only: bool = False) -> list[Cell]:
    """Return the marks of the candidates whose two figures are known, on logarithmic axes from the least to the largest value."""
    known = [(row, x, y) for row in rows if (x := row.value(across)) and (y := row.value(up))]
    if not known:
        return []
    xs, ys = [math.log(x) for _, x, _ in known], [math.log(y) for _, _, y in known]
    found: dict[tuple[int, int], list[str]] = {}
    for (row, _, _), x, y in zip(known, xs, ys, strict=True):
        place = _at(x, min(xs), max(xs), width), height - 1 - _at(y, min(ys), max(ys), height)
        found.setdefault(place, []).append(kind_of(row))
    made = []
    for (column, line), kinds in sorted(found.items()):
        top = max(kinds, key=_ORDER.index)
        made.append(Cell(column, line, mark_of(top, ascii_only=ascii_only), top, len(kinds)))
    return made


def _at(value: float, low: float, high: float, size: int) -> int:
    return (size - 1) // 2 if high - low < 1e-9 else round((value - low) / (high - low) * (size - 1))


def lines(rows: Sequence[Entry], across: Column, up: Column, width: int, height: int, *, ascii_only: bool = False) -> list[str]:
    """Return the scatter with its axes and a legend, at most `width` columns wide; one line where there is nothing to draw."""
    inner, height = max(LEAST_WIDTH, width) - 12, max(LEAST_HEIGHT, height)
    marks = cells(rows, across, up, inner, height, ascii_only=ascii_only)
    if not marks:
        return [f"nothing to draw: no candidate has both {across.title} and {up.title}"]
    grid = [[" "] * inner for _ in range(height)]
    for cell in marks:
        grid[cell.line][cell.column] = cell.mark
    known = [row for row in rows if row.value(across) and row.value(up)]
    ends = {column.id: sorted(row.value(column) or 0.0 for row in known) for column in (across, up)}
    bar, corner, rule = ("|", "+", "-") if ascii_only else ("│", "└", "─")
    labels = [""] * height
    labels[0], labels[-1] = up.text(ends[up.id][-1]), up.text(ends[up.id][0])
    drawn = [f"{label:>10} {bar}{''.join(line)}".rstrip() for label, line in zip(labels, grid, strict=True)]
    low, high = across.text(ends[across.id][0]), across.text(ends[across.id][-1])
    middle = f"{across.title}, {up.title} upwards"
    axis = f"{low}{middle:^{max(0, inner - len(low) - len(high))}}{high}"
    if len(axis) > inner:
        axis = f"{low}{high:>{max(1, inner - len(low))}}"
    return [*drawn, f"{'':>10} {corner}{rule * inner}"[:width], f"{'':>12}{axis}"[:width], *_legend(rows, width, ascii_only=ascii_only)]


def _legend(rows: Sequence[Entry], width: int, *, ascii_only: bool) -> list[str]:
    words = {CHOSEN: "chosen", FITS: "fits", "dominated": "another is better in all", UNPRICED: "price unknown", REJECTED: "rejected"}
    there = {kind_of(row) for row in rows}
    pieces = [f"{mark_of(kind, ascii_only=ascii_only)} {text}" for kind, text in words.items() if kind in there]
    made = [""]
    for piece in pieces:
        if made[-1] and len(made[-1]) + len(piece) + 2 > width:
            made.append("")
        made[-1] += f"  {piece}" if made[-1] else piece
    return made
