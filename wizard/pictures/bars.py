"""Stacked bars, described once: rows of parts against a common scale, with a limit, as text and as SVG."""

from __future__ import annotations

import math
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING

from catalogs.sums import plain_sum
from wizard.preferences import written

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rules.advisor import Considered

PATTERNS, ASCII_PATTERNS = "█▓▒░▚▞▤▦", "#=+-*%o:"
FREE, ASCII_FREE = "·", "."
SMALLEST_SHARE = 0.005
"""Parts below half a per cent of the scale are summed up as "other": they would not fill a cell."""
OTHER = "other"
ROW, GAP, NAMES = 26, 12, 150
LIMIT_NAME = 20
"""Pixels below the bars for the words of their limit, which stand between them and the legend."""


@dataclass(frozen=True)
class Bars:
    """Rows of (name, part → amount) in `unit`; `limit` marks a capacity on every row, whose words are `limit_name`."""

    title: str
    unit: str
    rows: tuple[tuple[str, Mapping[str, float]], ...]
    limit: float | None = None
    limit_name: str = ""
    notes: tuple[str, ...] = ()

    @property
    def scale(self) -> float:
        """Return the amount that fills a bar."""
        return max([plain_sum(parts.values()) for _, parts in self.rows] + [self.limit or 0.0, 1e-12])

    @property
    def parts(self) -> tuple[str, ...]:
        """Return the parts that are drawn, largest first over all rows; the smallest and those past the patterns are OTHER."""
        largest: dict[str, float] = {}
        for _, parts in self.rows:
            for name, amount in parts.items():
                largest[name] = max(largest.get(name, 0.0), amount)
        names = sorted((name for name, amount in largest.items() if amount >= SMALLEST_SHARE * self.scale), key=lambda name: -largest[name])
        kept = names if len(names) == len(largest) and len(names) <= len(PATTERNS) else names[: len(PATTERNS) - 1]
        return (*kept, *((OTHER,) if any(name not in kept for name in largest) else ()))

    def drawn(self, parts: Mapping[str, float]) -> tuple[float, ...]:
        """Return a row's amounts in the order of `parts`."""
        names = self.parts
        rest = plain_sum(amount for name, amount in parts.items() if name not in names)
        return tuple(rest if name == OTHER and OTHER not in parts else parts.get(name, 0.0) for name in names)


def shown(amount: float) -> str:
    """Return an amount in three digits without exponent, as the person writes numbers: 0.45, 12.3, 1,240."""
    return written(f"{amount:,.0f}" if abs(amount) >= 100 else f"{amount:.3g}")


def text(bars: Bars, width: int, *, ascii: bool = False) -> list[str]:
    """Return the bars as lines of at most `width` columns: a row each, then what the patterns mean."""
    if not bars.rows:
        return [bars.title[:width], *(line for note in bars.notes for line in textwrap.wrap(note, width))]
    patterns, free, mark = (ASCII_PATTERNS, ASCII_FREE, "|") if ascii else (PATTERNS, FREE, "│")
    totals = [shown(plain_sum(parts.values())) for _, parts in bars.rows]
    names = min(max(len(name) for name, _ in bars.rows), width // 3)
    cells = max(8, width - names - max(map(len, totals)) - 2)
    lines = [bars.title[:width]]
    for (name, parts), total in zip(bars.rows, totals, strict=True):
        strip = ""
        for pattern, amount in zip(patterns, bars.drawn(parts), strict=False):
            strip += pattern * (min(max(1, round(amount / bars.scale * cells)), cells - len(strip)) if amount > 0 else 0)
        strip += free * (cells - len(strip))
        if bars.limit is not None:
            at = min(cells - 1, max(0, round(bars.limit / bars.scale * cells) - 1))
            strip = strip[:at] + mark + strip[at + 1 :]
        lines.append(f"{name[:names]:<{names}} {strip} {total}")
    entries = [f"{pattern} {name.replace('_', ' ')}" for pattern, name in zip(patterns, bars.parts, strict=False)]
    if bars.limit is not None:
        entries.append(f"{mark} {bars.limit_name} {shown(bars.limit)}")
    return [*lines, *joined([*entries, f"in {bars.unit}"], width), *(line for note in bars.notes for line in textwrap.wrap(note, width))]


def joined(entries: list[str], width: int) -> list[str]:
    """Return the entries of a legend, as many to a line as fit."""
    lines = [""]
    for entry in entries:
        longer = f"{lines[-1]}  {entry}" if lines[-1] else entry
        lines = [*lines[:-1], longer] if len(longer) <= width else [*lines, entry]
    return [line[:width] for line in lines]


def svg(bars: Bars, width: int = 900) -> str:
    """Return the bars as an SVG document."""
    from wizard.pictures import sheet

    notes = sheet.note_lines(bars.notes, width)
    legend = 24 * max(1, math.ceil(len(bars.parts) / 4)) + LIMIT_NAME + 24 if bars.rows else 20
    height = sheet.HEAD + len(bars.rows) * (ROW + GAP) + legend + 24 * len(notes)
    drawing = sheet.sheet(bars.title, width, height)
    totals = [f"{shown(plain_sum(parts.values()))} {bars.unit}" for _, parts in bars.rows]
    left, room = sheet.MARGIN + NAMES, width - 2 * sheet.MARGIN - NAMES - sheet.LETTER * sheet.SIZE * max(map(len, totals), default=0) - 12
    y = float(sheet.HEAD)
    beside = []
    for (name, parts), total in zip(bars.rows, totals, strict=True):
        drawing.append(sheet.label(name, left - 8, y + 17, anchor="end"))
        x = float(left)
        for colour, amount in zip(sheet.COLOURS, bars.drawn(parts), strict=False):
            drawing.append(sheet.box(x, y, amount / bars.scale * room, ROW, fill=colour, stroke=sheet.PAPER))
            x += amount / bars.scale * room
        beside.append(sheet.label(total, x + 6, y + 17, clear=True))
        y += ROW + GAP
    if bars.limit is not None:
        at = left + bars.limit / bars.scale * room
        drawing.append(sheet.line(at, sheet.HEAD - 8, at, y, colour=sheet.ALARM, width=2, dashed=True))
        drawing.append(sheet.label(f"{bars.limit_name} {shown(bars.limit)}", at, y + 12, colour=sheet.ALARM, anchor="middle"))
    for each in beside:  # over the line of the limit, which may cross them
        drawing.append(each)
    for number, (colour, name) in enumerate(zip(sheet.COLOURS, bars.parts, strict=False)):
        x, row = sheet.MARGIN + (number % 4) * (width - 2 * sheet.MARGIN) / 4, y + LIMIT_NAME + 16 + 24 * (number // 4)
        drawing.append(sheet.box(x, row - 11, 14, 14, fill=colour, stroke=colour))
        drawing.append(sheet.label(name.replace("_", " "), x + 20, row))
    y += legend
    for note in notes:
        drawing.append(sheet.label(note, sheet.MARGIN, y, colour=sheet.FAINT))
        y += 24
    return sheet.finish(drawing)


def both_ways(describe: Callable[[Considered], Bars]) -> tuple[Callable[..., list[str]], Callable[[Considered], str]]:
    """Return the functions `text` and `svg` of a picture that is bars; bars without rows say in their notes why there is nothing."""

    def as_text(considered: Considered, width: int, ascii: bool = False) -> list[str]:
        return text(describe(considered), width, ascii=ascii)

    def as_svg(considered: Considered) -> str:
        return svg(describe(considered))

    return as_text, as_svg
