"""Candidates as points over two of their figures: one chart, for the comparison on the screen and for the pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rules.counting import counted
from wizard.comparing import CHOSEN, FITS, REJECTED, UNPRICED
from wizard.pictures.chart import Axis, Chart, Series

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wizard.comparing import Column, Entry

DOMINATED = "dominated"
MARKS = {REJECTED: ("×", "x"), UNPRICED: ("?", "?"), DOMINATED: ("∙", "."), FITS: ("●", "o"), CHOSEN: ("◆", "@")}
"""By kind: the mark of a candidate, and its form in ASCII. Where several fall into one cell, the later kind is drawn over the earlier."""
_COLOURS = {REJECTED: 7, UNPRICED: 3, DOMINATED: 4, FITS: 2, CHOSEN: 5}
"""By kind: its number among the colours of the sheet, so that the chosen one looks the same in every picture."""
_WORDS = {
    REJECTED: "rejected",
    UNPRICED: "price unknown",
    DOMINATED: "another is better in all",
    FITS: "fits",
    CHOSEN: "chosen",
}


def kind_of(entry: Entry) -> str:
    """Return what an entry is drawn as: its state, or "dominated"."""
    return DOMINATED if entry.state == FITS and entry.dominated_by else entry.state


def mark_of(kind: str, *, ascii_only: bool = False) -> str:
    """Return the mark of a kind."""
    return MARKS[kind][1 if ascii_only else 0]


def scatter(rows: Sequence[Entry], across: Column, up: Column, *, title: str = "", ascii_only: bool = False) -> Chart:
    """Return the candidates whose two figures are known, on logarithmic axes; notes say how many are not, or that none is."""
    points: dict[str, list[tuple[float, float]]] = {kind: [] for kind in MARKS}
    for row in rows:
        x, y = row.value(across), row.value(up)
        if x and y:
            points[kind_of(row)].append((x, y))
    series = tuple(
        Series(_WORDS[kind], mark_of(kind, ascii_only=ascii_only), tuple(found), colour=_COLOURS[kind])
        for kind, found in points.items()
        if found
    )
    x_axis, y_axis = (Axis(each.title, "", logarithmic=True, show=each.text) for each in (across, up))
    left_out = bool(rows) and not points[CHOSEN] and any(kind_of(row) == CHOSEN for row in rows)
    return Chart(title, x_axis, y_axis, series, _notes(len(rows), sum(map(len, points.values())), across, up, chosen_left_out=left_out))


def _notes(everyone: int, drawn: int, across: Column, up: Column, *, chosen_left_out: bool) -> tuple[str, ...]:
    if not drawn:
        return (f"nothing to draw: no candidate has both {across.title} and {up.title}",)
    if drawn == everyone:
        return ()
    chosen = "; the chosen one is among them" if chosen_left_out else ""
    return (f"{everyone - drawn} of {counted(everyone, 'candidate')} not drawn: {across.title} or {up.title} unknown{chosen}",)
