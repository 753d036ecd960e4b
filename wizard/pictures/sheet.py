"""The sheet that SVG pictures are drawn on: one font, one set of colours, one frame."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import drawsvg

if TYPE_CHECKING:
    from collections.abc import Iterable

FONT = "DejaVu Sans, Verdana, sans-serif"
SIZE = 13
INK, FAINT, PAPER, ALARM = "#222222", "#8a8a8a", "#ffffff", "#b3261e"
COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#999999")
"""Eight colours that colour-blind people tell apart [Okabe and Ito, Color Universal Design, 2008]."""
MARGIN = 24
HEAD = 56
LETTER = 0.6
"""Width of a letter of DejaVu Sans in parts of its height, with some to spare."""
TITLE_SIZE = 18
TITLE_LETTER = 0.67 * TITLE_SIZE
"""Width of a letter of the title in pixels: the bold letters of DejaVu Sans take about two thirds of their height."""


def sheet(title: str, width: float, height: float) -> drawsvg.Drawing:
    """Return an empty sheet of `width` × `height` pixels with its title; draw below HEAD, within MARGIN. A long title widens it."""
    width = max(width, 2 * MARGIN + TITLE_LETTER * len(title))
    drawing = drawsvg.Drawing(width, height, font_family=FONT, font_size=SIZE)
    drawing.append(drawsvg.Rectangle(0, 0, width, height, fill=PAPER))
    drawing.append(label(title, MARGIN, MARGIN + 10, size=TITLE_SIZE, weight="bold"))
    return drawing


def note_lines(notes: Iterable[str], width: float) -> list[str]:
    """Return notes as lines that fit a sheet of `width` pixels."""
    return [line for note in notes for line in textwrap.wrap(note, int((width - 2 * MARGIN) / (LETTER * SIZE)))]


def label(
    words: str,
    x: float,
    y: float,
    *,
    size: float = SIZE,
    colour: str = INK,
    anchor: str = "start",
    weight: str = "normal",
    clear: bool = False,
) -> Any:
    """Return a line of text at its baseline; `anchor` is start, middle or end. `clear` keeps lines that it crosses off its letters."""
    around = {"stroke": PAPER, "stroke_width": 4, "paint_order": "stroke"} if clear else {}
    return drawsvg.Text(words, size, x, y, fill=colour, text_anchor=anchor, font_weight=weight, **around)


def box(x: float, y: float, width: float, height: float, *, fill: str = "none", stroke: str = INK) -> Any:
    """Return a rectangle."""
    return drawsvg.Rectangle(x, y, width, height, fill=fill, stroke=stroke)


def line(x1: float, y1: float, x2: float, y2: float, *, colour: str = INK, width: float = 1, dashed: bool = False) -> Any:
    """Return a straight line."""
    return drawsvg.Line(x1, y1, x2, y2, stroke=colour, stroke_width=width, **({"stroke_dasharray": "5 4"} if dashed else {}))


def finish(drawing: drawsvg.Drawing) -> str:
    """Return the sheet as a document that ends with a line break."""
    return str(drawing.as_svg()).rstrip("\n") + "\n"
