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
INSET = 14
"""Pixels between the frame of a chart and its outermost points."""
LEGEND_ROW, NOTES_APART = 24, 8
"""Pixels of a row of the legend, and between the legend and the notes."""
LARGER = {"∙": "•"}
"""Marks that fill a cell of text and would be a speck on a sheet."""
ALONE = 0.1
"""How far an axis goes beyond its only value: by a factor of 10^0.1 where it is logarithmic, else by a tenth."""


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
    """Points (x, y) that belong together: drawn with `mark`, joined to a curve or not; `labels` name points, "" for most.

    `colour` is a number of the sheet's colours, for what has the same colour in every picture; else that of its place.
    """

    name: str
    mark: str
    points: tuple[tuple[float, float], ...]
    joined: bool = False
    labels: tuple[str, ...] = ()
    colour: int | None = None


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
        return _range(self.x, [x for x, _ in points]), _range(self.y, [y for _, y in points])


def _range(axis: Axis, values: list[float]) -> tuple[float, float]:
    places = [axis.place(value) for value in values]
    low, high = min(places), max(places)
    if high - low < 1e-12:
        margin = ALONE if axis.logarithmic else abs(high) * ALONE or 1.0
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
    from wizard.pictures import sheet

    notes = sheet.note_lines(chart.notes, width)
    drawn = [(number, each) for number, each in enumerate(chart.series) if each.points]
    rows = _legend_rows(drawn, width)
    foot = 90 + NOTES_APART + LEGEND_ROW * (len(rows) - 1)
    height = height - 90 + foot if drawn else sheet.HEAD + sheet.MARGIN
    drawing = sheet.sheet(chart.title, width, height + 24 * len(notes))
    if drawn:
        plot = _Plot(
            chart, sheet.MARGIN + 70, width - sheet.MARGIN - 60, sheet.HEAD + 24, height - NOTES_APART - 90 - LEGEND_ROW * (len(rows) - 1)
        )
        _axes(drawing.append, chart, plot)
        for number, each in drawn:
            _series(drawing.append, plot, each, _colour(number, each))
        for row, entries in enumerate(rows):
            for x, number, each in entries:
                _legend(drawing.append, each, _colour(number, each), x, plot.bottom + 70 + LEGEND_ROW * row)
    for number, note in enumerate(notes):
        drawing.append(sheet.label(note, sheet.MARGIN, height + 24 * number, colour=sheet.FAINT))
    return sheet.finish(drawing)


@dataclass(frozen=True)
class _Plot:
    """Where a chart's frame stands on the sheet; points keep INSET from it, so that no mark hides what is written at an axis."""

    chart: Chart
    left: float
    right: float
    top: float
    bottom: float

    def at(self, x: float, y: float) -> tuple[float, float]:
        """Return the pixels of a point."""
        (x_low, x_high), (y_low, y_high) = self.chart.ranges()
        across = (self.chart.x.place(x) - x_low) / (x_high - x_low)
        up = (self.chart.y.place(y) - y_low) / (y_high - y_low)
        return self.share(across, up)

    def share(self, across: float, up: float) -> tuple[float, float]:
        """Return the pixels of a place that is so far along each axis, from 0 to 1."""
        wide, high = self.right - self.left - 2 * INSET, self.bottom - self.top - 2 * INSET
        return self.left + INSET + across * wide, self.bottom - INSET - up * high


def _axes(put: Callable[[object], object], chart: Chart, plot: _Plot) -> None:
    """Draw the frame, what is measured, and the values at TICKS places of each axis."""
    from wizard.pictures import sheet

    (x_low, x_high), (y_low, y_high) = chart.ranges()
    put(sheet.label(chart.y.words, sheet.MARGIN, sheet.HEAD + 8))
    put(sheet.label(chart.x.words, (plot.left + plot.right) / 2, plot.bottom + 44, anchor="middle"))
    for index in range(TICKS):
        share = index / (TICKS - 1)
        x, y = plot.share(share, share)
        put(sheet.line(plot.left, y, plot.right, y, colour="#dddddd"))
        put(sheet.label(chart.y.show(chart.y.value(y_low + share * (y_high - y_low))), plot.left - 8, y + 4, anchor="end"))
        put(sheet.label(chart.x.show(chart.x.value(x_low + share * (x_high - x_low))), x, plot.bottom + 20, anchor="middle"))
    put(sheet.box(plot.left, plot.top, plot.right - plot.left, plot.bottom - plot.top))


def _series(put: Callable[[object], object], plot: _Plot, series: Series, colour: str) -> None:
    """Draw the points of a series, as a curve where they are joined, and the labels that some of them have."""
    import drawsvg

    from wizard.pictures import sheet

    placed = [plot.at(x, y) for x, y in series.points]
    if series.joined and len(placed) > 1:
        put(drawsvg.Lines(*(value for point in sorted(placed) for value in point), stroke=colour, stroke_width=2, fill="none"))
    for index, (x, y) in enumerate(placed):
        put(drawsvg.Circle(x, y, 3, fill=colour) if series.joined else _mark(series, x, y + 5, colour))
        if index < len(series.labels) and series.labels[index]:
            put(sheet.label(series.labels[index], x, y - 14, anchor="middle", clear=True))


def _mark(series: Series, x: float, y: float, colour: str) -> object:
    from wizard.pictures import sheet

    return sheet.label(LARGER.get(series.mark, series.mark), x, y, size=17, colour=colour, anchor="middle", weight="bold")


def _colour(number: int, series: Series) -> str:
    from wizard.pictures import sheet

    return sheet.COLOURS[(number if series.colour is None else series.colour) % len(sheet.COLOURS)]


def _legend_rows(drawn: list[tuple[int, Series]], width: int) -> list[list[tuple[float, int, Series]]]:
    """Return where each series stands in the legend, row by row: as many to a row as fit."""
    from wizard.pictures import sheet

    first = sheet.MARGIN + 70.0
    rows: list[list[tuple[float, int, Series]]] = [[]]
    x = first
    for number, each in drawn:
        wide = 12 + sheet.LETTER * sheet.SIZE * len(each.name) + 36
        if rows[-1] and x + wide > width - sheet.MARGIN:
            rows.append([])
            x = first
        rows[-1].append((x, number, each))
        x += wide
    return rows


def _legend(put: Callable[[object], object], series: Series, colour: str, x: float, y: float) -> None:
    """Draw what stands for a series, a piece of its curve or its mark, and its name."""
    import drawsvg

    from wizard.pictures import sheet

    if series.joined:
        put(sheet.line(x - 10, y - 4, x + 6, y - 4, colour=colour, width=2))
        put(drawsvg.Circle(x - 2, y - 4, 3, fill=colour))
    else:
        put(_mark(series, x, y + 1, colour))
    put(sheet.label(series.name, x + 12, y))


def both_ways(describe: Callable[[Considered], Chart]) -> tuple[Callable[..., list[str]], Callable[[Considered], str]]:
    """Return the functions `text` and `svg` of a picture that is one chart; the marks are ASCII already, so `ascii` changes nothing."""

    def as_text(considered: Considered, width: int, ascii: bool = False) -> list[str]:
        del ascii
        return text(describe(considered), width)

    def as_svg(considered: Considered) -> str:
        return svg(describe(considered))

    return as_text, as_svg
