"""Rack elevations: what stands in which rack unit, blank units, power and weight of every kind of rack; racks alike are folded."""

from __future__ import annotations

import math
from textwrap import wrap
from typing import TYPE_CHECKING

from rules.counting import counted
from rules.sizing.placed import alike, placed_racks
from rules.sizing.standing import places_words
from wizard.pictures.bars import shown
from wizard.preferences import in_units

if TYPE_CHECKING:
    from rules.advisor import Considered
    from rules.sizing.placed import Alike, Slot

TITLE = "Racks"
NO_RACKS = ("Nothing stands in racks: ", "no candidate was found", "a machine in a room, or power that is not published")
COLUMN, GAP = 38, 2
"""Columns of one rack in text, and between two."""
OPEN = ("cluster", "equipment")
"""Binding limits that are none: there is nothing more to put in."""
MOST_KINDS = 8
"""Kinds of racks that are drawn; further ones are named."""
LINES = {False: ("┌", "│", "└", "─", "·"), True: ("+", "|", "+", "-", ".")}
"""How a device is drawn over its rack units: top, middle, bottom, a single unit, and a blank unit."""
UNIT_PX, RACK_PX, HEAD_PX, COLUMN_PX = 11, 210, 78, 262
PER_ROW = 4
FILLS = {"node": "#cfe3f3", "switch": "#d4ebdf", "manager": "#f6ead1", "server": "#f6ead1", "storage": "#ecd9e6"}


def text(considered: Considered, width: int, ascii: bool = False) -> list[str]:
    """Return the elevations side by side, as many as `width` holds, from the top rack unit down."""
    kinds = _kinds(considered)
    if not kinds:
        return [TITLE, *wrap(_why_none(considered), width)]
    across = min(len(kinds), max(1, (width + GAP) // (COLUMN + GAP)))
    wide = (width - GAP * (across - 1)) // across
    columns = [_column(kind, wide, ascii=ascii) for kind in kinds[:MOST_KINDS]]
    lines = [_title(kinds)[:width]]
    for start in range(0, len(columns), across):
        row = columns[start : start + across]
        height = max(map(len, row))
        padded = [[*column, *[""] * (height - len(column))] for column in row]
        lines += [(" " * GAP).join(f"{cell:<{wide}}" for cell in cells).rstrip() for cells in zip(*padded, strict=True)]
        lines.append("")
    if len(kinds) > MOST_KINDS:
        lines += wrap(_more(kinds), width)
    return lines[:-1] if not lines[-1] else lines


def _kinds(considered: Considered) -> tuple[Alike, ...]:
    chosen = considered.ranking.chosen
    return alike(placed_racks(chosen.candidate, considered.context)) if chosen is not None else ()


def _more(kinds: tuple[Alike, ...]) -> str:
    """Name the kinds of racks that are not drawn."""
    left = kinds[MOST_KINDS:]
    return f"and {counted(len(left), 'more kind')}: {'; '.join(kind.title for kind in left)}"


def _why_none(considered: Considered) -> str:
    return NO_RACKS[0] + NO_RACKS[1 if considered.ranking.chosen is None else 2] + "."


def _title(kinds: tuple[Alike, ...]) -> str:
    tanks = sum(len(kind.names) for kind in kinds if kind.first.tank)
    count = sum(len(kind.names) for kind in kinds)
    words = places_words(count - tanks, tanks) if tanks else f"{count:,}"
    head = "Tanks and racks" if tanks else TITLE
    return f"{head}: {words} in {counted(len(kinds), 'kind')}, the first of each kind drawn"


def _head(kind: Alike) -> list[str]:
    """Return what is said above a rack: its names, power and air, weight and units, and what binds it."""
    rack = kind.first
    weight = in_units(f"{rack.weight_kg:,.0f} kg") if rack.weight_kg is not None else "weight not stated"
    many = f"{kind.title}, {len(kind.names)} alike" if len(kind.names) > 1 else kind.title
    blank = rack.units - rack.used_units
    return [
        f"{rack.words}: {many}",
        f"{shown(rack.power_kw)} kW, {weight}",
        f"{rack.used_units} of {rack.units} U, {blank} blank",
        "not full" if rack.binding in OPEN else f"bound by {rack.binding_words}",
    ]


def _column(kind: Alike, width: int, *, ascii: bool) -> list[str]:
    """Return a rack as lines of `width` columns."""
    top, middle, bottom, single, free = LINES[ascii]
    rows: dict[int, str] = {}
    for slot in kind.first.slots:
        high = max(1, math.ceil(slot.height_u - 1e-9))
        inside = _inside(slot)
        for step in range(high):
            unit = slot.unit + high - 1 - step
            mark = single if high == 1 else top if step == 0 else bottom if step == high - 1 else middle
            rows[unit] = f"{mark} {inside[step] if step < len(inside) else ''}".rstrip()
    units = range(kind.first.units, 0, -1)
    return [cut(line, width, ascii=ascii) for line in (*_head(kind), *(f"{unit:>2} {rows.get(unit, free)}" for unit in units))]


def cut(line: str, width: int, *, ascii: bool) -> str:
    """Return a line of at most `width` columns that says so where it was longer."""
    sign = "..." if ascii else "…"
    return line if len(line) <= width else line[: width - len(sign)] + sign


def _inside(slot: Slot) -> list[str]:
    """Return the lines inside a device: what it is called, its product, its power."""
    power = f"{shown(slot.power_kw)} kW" if slot.power_kw is not None else "power not known"
    height = "" if slot.height_stated else ", height not stated"
    high = math.ceil(slot.height_u - 1e-9)
    if high <= 1:
        return [f"{slot.label}, {power}{height}"]
    return [f"{slot.label}, {power}", slot.name] if high == 2 else [slot.label, slot.name, power + height]


def svg(considered: Considered) -> str:
    """Return the elevations as an SVG document, PER_ROW kinds of racks to a row."""
    from wizard.pictures import sheet

    kinds = _kinds(considered)
    if not kinds:
        drawing = sheet.sheet(TITLE, 640, sheet.HEAD + 60)
        drawing.append(sheet.label(_why_none(considered), sheet.MARGIN, sheet.HEAD + 20))
        return sheet.finish(drawing)
    tall = HEAD_PX + UNIT_PX * max(kind.first.units for kind in kinds) + 30
    rows = math.ceil(min(MOST_KINDS, len(kinds)) / PER_ROW)
    wide = 2 * sheet.MARGIN + COLUMN_PX * min(PER_ROW, len(kinds))
    more = sheet.note_lines([_more(kinds)], wide) if len(kinds) > MOST_KINDS else []
    foot = sheet.HEAD + rows * tall + sheet.MARGIN
    drawing = sheet.sheet(_title(kinds), wide, foot + 24 * len(more))
    for line, words in enumerate(more):
        drawing.append(sheet.label(words, sheet.MARGIN, foot + 24 * line))
    for index, kind in enumerate(kinds[:MOST_KINDS]):
        x, y = sheet.MARGIN + COLUMN_PX * (index % PER_ROW), sheet.HEAD + tall * (index // PER_ROW)
        _draw(drawing, kind, x, y)
    return sheet.finish(drawing)


def _draw(drawing: object, kind: Alike, x: float, y: float) -> None:
    """Draw one rack with its head at (x, y); every fifth rack unit is numbered."""
    from wizard.pictures import sheet

    add = drawing.append  # type: ignore[attr-defined]
    rack = kind.first
    for line, words in enumerate(_head(kind)):
        add(sheet.label(words, x, y + 14 * (line + 1), size=11, weight="bold" if line == 0 else "normal"))
    left, top = x + 24, y + HEAD_PX
    add(sheet.box(left, top, RACK_PX, UNIT_PX * rack.units))
    for unit in range(1, rack.units + 1):
        base = top + UNIT_PX * (rack.units - unit)
        add(sheet.line(left, base, left + RACK_PX, base, colour="#e4e4e4"))
        if unit % 5 == 0 or unit == 1:
            add(sheet.label(str(unit), left - 5, base + UNIT_PX - 2, size=9, colour=sheet.FAINT, anchor="end"))
    for slot in rack.slots:
        high = UNIT_PX * slot.height_u
        base = top + UNIT_PX * (rack.units - slot.unit + 1) - high
        add(sheet.box(left, base, RACK_PX, high, fill=FILLS.get(slot.kind, sheet.PAPER)))
        for line, words in enumerate(_inside(slot)):
            if line == 0 or high >= 13 * (line + 1):
                add(sheet.label(words, left + 5, base + 9 + 13 * line, size=9))
