"""The hall from above: rows of racks with what stands in each, and the cables that run between them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from textwrap import wrap
from typing import TYPE_CHECKING

from catalogs.sums import plain_sum
from rules.counting import counted
from rules.sizing.fabric.floor import ROW_RACKS
from rules.sizing.fabric.media import medium_words
from rules.sizing.fabric.schedule import schedule_of
from rules.sizing.placed import placed_racks
from rules.sizing.standing import places_words
from wizard.pictures.sheet import COLOURS, FAINT, HEAD, INK, MARGIN, box, finish, label, line, sheet
from wizard.preferences import in_units, written

if TYPE_CHECKING:
    from collections.abc import Callable

    from rules.advisor import Considered
    from rules.sizing.placed import PlacedRack

TITLE = "Rows of racks and their cables"
NO_RACKS = "No racks: no design, or machines that stand in a room."
MOST_LINKS = 60_000
"""Links that a picture counts one by one; of larger networks the schedule tells."""
MOST_ROWS, EDGE_ROWS = 12, 4
"""Rows that are drawn; of more, the first and the last EDGE_ROWS and those in the middle."""
LETTERS = {"compute": "c", "network": "N", "storage": "S"}
FILLS = {"compute": "#cfe3f3", "network": "#d4ebdf", "storage": "#ecd9e6"}
SVG_LETTERS = 140
"""Letters of a line below the drawing that its width holds."""
LARGEST = 8
"""Bundles that are named: those of most links."""
RACK_PX, RACK_HIGH, ROW_PX, BUNDLE_NAME_PX = 42, 40, 96, 112
TOP_PX, BUNDLE_PX = 44, 5.5
"""From the title to the first row, with room for LARGEST bundles that are each BUNDLE_PX above the one before."""


@dataclass(frozen=True)
class Hall:
    """Racks by rows, links by pair of racks, and by medium with their longest run; nothing is counted of very large networks."""

    rows: tuple[tuple[PlacedRack, ...], ...]
    bundles: Counter[tuple[str, str]]
    media: Counter[str]
    longest: dict[str, float]
    metres: float
    counted: bool


def text(considered: Considered, width: int, ascii: bool = False) -> list[str]:
    """Return each row as a line of racks, then the bundles of most cables and what carries them."""
    hall = _hall(considered)
    if hall is None:
        return [TITLE, *wrap(NO_RACKS, width)]
    racks, rows = sum(map(len, hall.rows)), len(hall.rows)
    tanks = sum(rack.tank for row in hall.rows for rack in row)
    standing = f"{places_words(racks - tanks, tanks)} in {counted(rows, 'row')}"
    lines = wrap(f"{TITLE}: {standing}; {'t tanks' if tanks else 'c nodes'}, N network, S storage", width)
    cell = 2 if width >= 8 + 2 * ROW_RACKS else 1
    for number, row in _drawn_rows(hall):
        if row is None:
            lines.append("...")
            continue
        drawn = "".join(f"{'t' if rack.tank else LETTERS.get(rack.kind, '?'):<{cell}}" for rack in row)
        first, last = row[0].name, row[-1].name
        lines.append(f"{number:>4}  {drawn.rstrip():<{cell * ROW_RACKS}}  {first} to {last}"[:width])
    for words in _cable_words(hall):
        lines += wrap(words, width, subsequent_indent="  ")
    return [each.replace("–", "-") if ascii else each for each in lines]


def svg(considered: Considered) -> str:
    """Return the rows from above, and an arc for each of the largest bundles."""
    hall = _hall(considered)
    if hall is None:
        drawing = sheet(TITLE, 700, 120)
        drawing.append(label(NO_RACKS, MARGIN, HEAD + 20))
        return finish(drawing)
    rows = _drawn_rows(hall)
    bundles = _between(hall).most_common(LARGEST)
    words = [part for each in _cable_words(hall, named=False) for part in wrap(each, SVG_LETTERS)]
    lines = len(words) + bool(bundles)
    drawing = sheet(TITLE, 2 * MARGIN + 60 + RACK_PX * ROW_RACKS, HEAD + TOP_PX - 24 + ROW_PX * len(rows) + 20 * lines + MARGIN)
    centre: dict[str, tuple[float, float]] = {}
    for index, (number, row) in enumerate(rows):
        y = HEAD + TOP_PX + index * ROW_PX
        if row is None:
            drawing.append(label(_left_out(rows, index), MARGIN + 60, y + 24))
            continue
        drawing.append(label(f"row {number}", MARGIN, y + 24, size=11))
        drawing.append(line(MARGIN + 52, y - 10, MARGIN + 60 + RACK_PX * ROW_RACKS, y - 10, colour=FAINT, dashed=True))
        for column, rack in enumerate(row):
            x = MARGIN + 60 + column * RACK_PX
            drawing.append(box(x, y, RACK_PX - 4, RACK_HIGH, fill=FILLS.get(rack.kind, "none"), stroke=INK))
            drawing.append(label(rack.name, x + (RACK_PX - 4) / 2, y + 24, anchor="middle", size=10))
            centre[rack.name] = (x + (RACK_PX - 4) / 2, y)
    foot = HEAD + TOP_PX + 6 + ROW_PX * len(rows)
    for index, each in enumerate(words):
        drawing.append(label(each, MARGIN, foot + 20 * index, size=11))
    for index, ((first, second), count) in enumerate(bundles):
        x, y, colour = MARGIN + BUNDLE_NAME_PX * index, foot + 20 * len(words), COLOURS[index % len(COLOURS)]
        drawing.append(label(f"{first}–{second} {count:,}", x + 20, y, size=11))
        if first in centre and second in centre:
            drawing.append(line(x, y - 4, x + 14, y - 4, colour=colour, width=3))
            _bundle(drawing.append, centre[first], centre[second], count, colour, BUNDLE_PX * index)
    return finish(drawing)


def _left_out(rows: list[tuple[int, tuple[PlacedRack, ...] | None]], index: int) -> str:
    """Name the rows that are left out between the one before and the one after."""
    first, last = rows[index - 1][0] + 1, rows[index + 1][0] - 1
    return f"… row {first}" if first == last else f"… rows {first} to {last}"


def _bundle(
    put: Callable[[object], object], first: tuple[float, float], second: tuple[float, float], count: int, colour: str, higher: float
) -> None:
    """Draw a bundle up to the tray over its row, along it `higher` than the first one, and down again, a little beside the others."""
    (x1, y1), (x2, y2) = first, second
    width = min(3.0, 1.0 + count / 200)
    tray, beside = min(y1, y2) - 10 - higher, higher / 3 - 6
    x1, x2 = x1 + beside, x2 + beside
    put(line(x1, y1, x1, tray, colour=colour, width=width))
    put(line(x1, tray, x2, tray, colour=colour, width=width))
    put(line(x2, tray, x2, y2, colour=colour, width=width))


def _hall(considered: Considered) -> Hall | None:
    chosen = considered.ranking.chosen
    racks = placed_racks(chosen.candidate, considered.context) if chosen is not None else ()
    if chosen is None or not racks:
        return None
    rows = tuple(racks[start : start + ROW_RACKS] for start in range(0, len(racks), ROW_RACKS))
    bundles: Counter[tuple[str, str]] = Counter()
    media: Counter[str] = Counter()
    longest: dict[str, float] = {}
    fabric = chosen.candidate.fabric
    networks = [each for each in (fabric.compute, fabric.storage, fabric.out_of_band) if each is not None] if fabric is not None else []
    links = sum(sum(network.links.values()) for network in networks)
    lengths: dict[str, float] = {}
    if links > MOST_LINKS:
        for network in networks:
            media.update(network.media)
        return Hall(rows, bundles, media, longest, 0.0, counted=False)
    for row in schedule_of(chosen.candidate, considered.context):
        bundles[row.lower.rack, row.upper.rack] += 1
        media[row.medium] += 1
        longest[row.medium] = max(longest.get(row.medium, 0.0), row.run_m)
        lengths[row.label] = row.length_m  # links that share a cable have its label
    return Hall(rows, bundles, media, longest, plain_sum(lengths.values()), counted=True)


def _drawn_rows(hall: Hall) -> list[tuple[int, tuple[PlacedRack, ...] | None]]:
    """Return (number, racks) of the rows to draw, None for rows that are left out."""
    count = len(hall.rows)
    if count <= MOST_ROWS:
        return list(enumerate(hall.rows, start=1))
    middle = count // 2
    wanted = sorted({*range(EDGE_ROWS), *range(middle - 2, middle + 2), *range(count - EDGE_ROWS, count)})
    drawn: list[tuple[int, tuple[PlacedRack, ...] | None]] = []
    for before, index in zip((-1, *wanted), wanted, strict=False):
        if index > before + 1:
            drawn.append((0, None))
        drawn.append((index + 1, hall.rows[index]))
    return drawn


def _between(hall: Hall) -> Counter[tuple[str, str]]:
    """Return the links between two racks, whichever is named first."""
    found: Counter[tuple[str, str]] = Counter()
    for pair, count in hall.bundles.items():
        if pair[0] != pair[1]:
            first, second = sorted(pair, key=lambda name: (name[0], len(name), name))
            found[first, second] += count
    return found


def _cable_words(hall: Hall, *, named: bool = True) -> list[str]:
    """Return what carries the links and how many there are; `named`: with the largest bundles."""
    if not hall.media:
        return ["no cables between nodes"]
    if not hall.counted:
        return [
            "links by medium: " + ", ".join(f"{count:,} {medium_words(medium)}" for medium, count in sorted(hall.media.items())),
            "too many to follow in a picture; the cable schedule names each (export cables-csv)",
        ]
    inside = sum(count for (first, second), count in hall.bundles.items() if first == second)
    largest = ", ".join(f"{first}–{second} {count:,}" for (first, second), count in _between(hall).most_common(LARGEST))
    each = ((medium_words(medium), count, hall.longest[medium]) for medium, count in sorted(hall.media.items()))
    media = ", ".join(f"{count:,} {medium} up to {in_units(f'{longest:.3g} m')}" for medium, count, longest in each)
    count = len(_between(hall))
    bundles = counted(count, "bundle")
    drawn = f", of which the largest {LARGEST} are drawn" if count > LARGEST and not named else ""
    return [
        f"links by medium: {media}; {written(f'{hall.metres / 1000:,.1f}')} km bought in all",
        f"{inside:,} links stay in their rack, {sum(_between(hall).values()):,} run between racks in {bundles}{drawn}",
        *([f"largest bundles: {largest}"] if largest and named else []),
    ]
