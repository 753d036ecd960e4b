"""Charts over two axes, described once: points or curves, as text and as SVG."""

from __future__ import annotations

import math
import textwrap
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from wizard.pictures.bars import joined, shown

if TYPE_CHECKING:
    from collections.abc import Callable

    from rules.advisor import Considered

TICKS = 5


@dataclass(frozen=True)
class Axis:
    """An axis: what it measures, in which unit, whether its steps are powers, and how its values are written."""

    name: str
    unit: str
    logarithmic: bool = False
    show: Callable[[float], str] = shown

    def place(self, value: float) -> float:
        """Return the value on the axis's own scale; raises ValueError for a value below or at zero on a logarithmic one."""
        return math.log10(value) if self.logarithmic else value

    def value(self, place: float) -> float:
        """Return the value at a place."""
        return 10**place if self.logarithmic else place

    @property
    def words(self) -> str:
        """Return name and unit."""
        return f"{self.name}, {self.unit}" if self.unit else self.name


@dataclass(frozen=True)
class Series:
    """Points (x, y) that belong together: drawn with `mark`, joined to a curve or not; `labels` name points, "" for most."""

    name: str
    mark: str
    points: tuple[tuple[float, float], ...]
    joined: bool = False
    labels: tuple[str, ...] = ()


@dataclass(frozen=True)
class Chart:
    """Series over two axes; later series are drawn over earlier ones."""

    title: str
    x: Axis
    y: Axis
    series: tuple[Series, ...]
    notes: tuple[str, ...] = ()

    def ranges(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Return from where to where each axis goes, in places."""
        points = [point for each in self.series for point in each.points]
        return _range([self.x.place(x) for x, _ in points]), _range([self.y.place(y) for _, y in points])


def _range(places: list[float]) -> tuple[float, float]:
    low, high = min(places), max(places)
    if high - low < 1e-12:
        margin = abs(high) * 0.1 or 1.0
        return low - margin, high + margin
    return low, high


def text(chart: Chart, width: int, height: int = 16) -> list[str]:
    """Return the chart as lines of at most `width` columns; the marks are the series' own, so give plain ones for ASCII."""
    if not any(each.points for each in chart.series):
        return [chart.title[:width], *(line for note in chart.notes for line in textwrap.wrap(note, width))]
    (x_low, x_high), (y_low, y_high) = chart.ranges()
    ticks = {round(index * (height - 1) / (TICKS - 1)) for index in range(TICKS)}
    names = {row: chart.y.show(chart.y.value(y_high - (y_high - y_low) * row / (height - 1))) for row in ticks}
    left = max(map(len, names.values())) + 1
    columns = max(10, width - left - 1)
    cells = [[" "] * columns for _ in range(height)]
    for each in chart.series:
        for x, y in _filled(chart, each, columns) if each.joined else each.points:
            column = round((chart.x.place(x) - x_low) / (x_high - x_low) * (columns - 1))
            row = round((y_high - chart.y.place(y)) / (y_high - y_low) * (height - 1))
            cells[row][column] = each.mark
    lines = [chart.title[:width], chart.y.words[:width]]
    lines += [f"{names.get(row, ''):>{left - 1}} |{''.join(cells[row])}"[:width] for row in range(height)]
    lines.append((" " * left + "+" + "-" * columns)[:width])
    low, high = chart.x.show(chart.x.value(x_low)), chart.x.show(chart.x.value(x_high))
    middle = chart.x.words[: max(0, columns - len(low) - len(high) - 2)]
    lines.append((" " * (left + 1) + low + middle.center(columns - len(low) - len(high)) + high)[:width])
    named = [f"{each.mark} {each.name}" for each in chart.series if each.points]
    return [*lines, *joined(named, width), *(line for note in chart.notes for line in textwrap.wrap(note, width))]


def _filled(chart: Chart, series: Series, columns: int) -> list[tuple[float, float]]:
    """Return the curve through a series' points, one point per column."""
    points = sorted(series.points)
    made = list(points[:1])
    for (x1, y1), (x2, y2) in pairwise(points):
        place1, place2 = chart.x.place(x1), chart.x.place(x2)
        made += [
            (chart.x.value(place1 + (place2 - place1) * step / columns), y1 + (y2 - y1) * step / columns) for step in range(1, columns)
        ]
        made.append((x2, y2))
    return made


def svg(chart: Chart, width: int = 900, height: int = 520) -> str:
    """Return the chart as an SVG document."""
    import drawsvg

    from wizard.pictures import sheet

    notes = sheet.note_lines(chart.notes, width)
    if not any(each.points for each in chart.series):
        height = sheet.HEAD + sheet.MARGIN
    drawing = sheet.sheet(chart.title, width, height + 24 * len(notes))
    if any(each.points for each in chart.series):
        (x_low, x_high), (y_low, y_high) = chart.ranges()
        left, right, top, bottom = sheet.MARGIN + 70, width - sheet.MARGIN - 60, sheet.HEAD + 24, height - 90
        drawing.append(sheet.label(chart.y.words, sheet.MARGIN, sheet.HEAD + 8))
        drawing.append(sheet.label(chart.x.words, (left + right) / 2, bottom + 44, anchor="middle"))
        for index in range(TICKS):
            share = index / (TICKS - 1)
            x, y = left + share * (right - left), bottom - share * (bottom - top)
            drawing.append(sheet.line(left, y, right, y, colour="#dddddd"))
            drawing.append(sheet.label(chart.y.show(chart.y.value(y_low + share * (y_high - y_low))), left - 8, y + 4, anchor="end"))
            drawing.append(sheet.label(chart.x.show(chart.x.value(x_low + share * (x_high - x_low))), x, bottom + 20, anchor="middle"))
        drawing.append(sheet.box(left, top, right - left, bottom - top))
        for number, each in enumerate(chart.series):
            colour = sheet.COLOURS[number % len(sheet.COLOURS)]
            placed = [
                (
                    left + (chart.x.place(x) - x_low) / (x_high - x_low) * (right - left),
                    bottom - (chart.y.place(y) - y_low) / (y_high - y_low) * (bottom - top),
                )
                for x, y in each.points
            ]
            if each.joined and len(placed) > 1:
                flat = [value for point in sorted(placed) for value in point]
                drawing.append(drawsvg.Lines(*flat, stroke=colour, stroke_width=2, fill="none"))
            for index, (x, y) in enumerate(placed):
                drawing.append(
                    drawsvg.Circle(x, y, 3, fill=colour)
                    if each.joined
                    else sheet.label(each.mark, x, y + 5, size=17, colour=colour, anchor="middle", weight="bold")
                )
                if index < len(each.labels) and each.labels[index]:
                    drawing.append(sheet.label(each.labels[index], x + 8, y + 4))
            drawing.append(sheet.label(each.mark, left + number * 170, bottom + 71, size=17, colour=colour, anchor="middle", weight="bold"))
            drawing.append(sheet.label(each.name, left + 12 + number * 170, bottom + 70))
    for number, note in enumerate(notes):
        drawing.append(sheet.label(note, sheet.MARGIN, height + 24 * number, colour=sheet.FAINT))
    return sheet.finish(drawing)


def both_ways(describe: Callable[[Considered], Chart]) -> tuple[Callable[..., list[str]], Callable[[Considered], str]]:
    """Return the functions `text` and `svg` of a picture that is one chart; the marks are ASCII already, so `ascii` changes nothing."""

    def as_text(considered: Considered, width: int, ascii: bool = False) -> list[str]:
        del ascii
        return text(describe(considered), width)

    def as_svg(considered: Considered) -> str:
        return svg(describe(considered))

    return as_text, as_svg
