"""One-line diagram of the power: utility, generator, UPS, circuits of every kind of rack with their ratings, and what a lost path does."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import shorten, wrap
from typing import TYPE_CHECKING

from catalogs.quantities import magnitude
from rules.findings import Stage
from rules.sizing.facility import size_facility
from rules.sizing.feeds import FeedTerms, choose_feed
from rules.sizing.placed import alike, placed_racks
from rules.sizing.standing import stands_in_racks
from wizard.pictures.bars import shown

if TYPE_CHECKING:
    from rules.advisor import Considered
    from rules.candidate import Candidate, Context
    from rules.sizing.feeds import Feed

TITLE = "Power, one line"
NOTHING = "Power is not known: the vendor publishes neither the system's nor the GPUs' power."
TREE = {False: ("│", "├─ ", "└─ ", "▼"), True: ("|", "+- ", "`- ", "v")}
WIDTH, BOX, STEP, RACK_BOX = 980, 62, 90, 60
STAGE_COLUMNS, BRANCH_COLUMNS = 62, 116
"""Letters of a line in a box of the line and of a branch, at the sizes at which they are written."""
MOST_PATHS = 6
"""Paths that are drawn as lines of their own."""


@dataclass(frozen=True)
class Branch:
    """The circuits of one kind of rack: how many racks, the kW of each, and what feeds it; `cords` of a machine on a desk, else 0."""

    title: str
    racks: int
    power_kw: float
    feed: Feed | None
    cords: int = 0

    @property
    def parts(self) -> tuple[str, ...]:
        """Return the branch in up to three parts: the load, its circuits, and what a lost path does."""
        load = f"{self.racks:,} × {shown(self.power_kw)} kW" if self.racks > 1 else f"{shown(self.power_kw)} kW"
        head = f"{self.title}: {load}"
        if self.feed is None:
            return head, "no circuit of the catalog fits the feed"
        if self.cords and self.feed.circuits > self.cords:
            return head, f"more than one {self.feed.pdu.name} carries continuously, {shown(self.feed.each_kw)} kW"
        usable = magnitude(self.feed.usable, "kW")
        assumed = ", assumed" if self.feed.assumed else ""
        circuits = f"on {self.feed.text}{assumed}: {shown(usable)} kW continuous, {self.power_kw / usable:.0%} loaded"
        if self.feed.paths < 2:
            return head, circuits
        lost = "the rest carries it" if self.feed.survives(self.power_kw) else "what hangs on it stops"
        return head, circuits, f"{self.feed.paths} paths; when one is lost, {lost}"


@dataclass(frozen=True)
class _Stage:
    """A piece of the line between utility and racks."""

    name: str
    words: str
    aside: bool = False


@dataclass(frozen=True)
class _Line:
    """The diagram: what stands above the racks, in order (`aside` where it hangs beside the line), and the branches."""

    above: tuple[_Stage, ...]
    branches: tuple[Branch, ...]


def text(considered: Considered, width: int, ascii: bool = False) -> list[str]:
    """Return the diagram from the utility down to the racks."""
    line = _line(considered)
    if line is None:
        return [TITLE, *wrap(NOTHING, width)]
    bar, branch, last, arrow = TREE[ascii]
    lines = [TITLE]
    for stage in line.above:
        first, rest = (branch, f"{bar}  ") if stage.aside else ("", "   ")
        lines += [*wrap(f"{stage.name}: {stage.words}", width, initial_indent=first, subsequent_indent=rest), bar]
    lines[-1] = arrow
    for index, each in enumerate(line.branches):
        end = index == len(line.branches) - 1
        rest = "   " if end else f"{bar}  "
        for number, words in enumerate(each.parts):
            first = (last if end else branch) if number == 0 else f"{rest} "
            lines += wrap(words, width, initial_indent=first, subsequent_indent=f"{rest}   ")
    return [_plain(each) if ascii else each for each in lines]


def _plain(words: str) -> str:
    return words.replace("×", "x")


def _line(considered: Considered) -> _Line | None:
    chosen = considered.ranking.chosen
    if chosen is None or chosen.candidate.facility is None:
        return None
    candidate, context = chosen.candidate, considered.context
    return _Line(_above(candidate, context), _branches(candidate, context))


def _above(candidate: Candidate, context: Context) -> tuple[_Stage, ...]:
    design, fact, answers = candidate.facility, candidate.facts.get(Stage.POWER, {}), context.answers
    assert design is not None
    total, it = magnitude(design.total_power, "kW"), magnitude(design.it_power_maximum, "kW")
    limit = answers.number("facility.total_power")
    of = f" of {shown(limit)} kW that are there" if limit else ", the limit was not said"
    rows = [_Stage("Utility", f"{shown(total)} kW at most{of}")]
    if stands_in_racks(candidate.node, candidate.units, answers):
        rows.append(_Stage("Generator", str(fact.get("generator_words", "not said"))))
        rows.append(_Stage("Cooling and losses", f"{shown(total - it)} kW, a PUE of {shown(design.pue)} ({design.pue_basis})", aside=True))
        rows.append(_Stage("UPS", f"{fact.get('ups_words', 'not said')}; {shown(it)} kW of equipment behind it"))
    return tuple(rows)


def _branches(candidate: Candidate, context: Context) -> tuple[Branch, ...]:
    sizing = size_facility(candidate, context)
    kinds = alike(placed_racks(candidate, context))
    if not kinds:
        unit_kw = magnitude(sizing.draw.maximum, "kW") if sizing.draw else 0.0
        return (Branch(candidate.node.name, candidate.units, unit_kw, sizing.feed, 1 if candidate.node.desktop else 0),)
    answers = context.answers
    feed, terms = answers.text("facility.feed"), FeedTerms.of(answers)
    return tuple(
        Branch(
            f"{kind.first.words} {kind.title}",
            len(kind.names),
            kind.first.power_kw,
            choose_feed(kind.first.power_kw, feed, context.catalog, terms=terms),
        )
        for kind in kinds
    )


def svg(considered: Considered) -> str:
    """Return the diagram as an SVG document: boxes down the middle, the racks at the foot."""
    from wizard.pictures import sheet

    line = _line(considered)
    if line is None:
        drawing = sheet.sheet(TITLE, WIDTH, sheet.HEAD + 60)
        drawing.append(sheet.label(NOTHING, sheet.MARGIN, sheet.HEAD + 20))
        return sheet.finish(drawing)
    stages = [stage for stage in line.above if not stage.aside]
    height = sheet.HEAD + STEP * len(stages) + (RACK_BOX + 18) * len(line.branches) + sheet.MARGIN
    drawing = sheet.sheet(TITLE, WIDTH, height)
    y, trunk = float(sheet.HEAD), sheet.MARGIN + 40
    for stage in line.above:
        if stage.aside:
            drawing.append(sheet.line(trunk, y - 14, sheet.MARGIN + 470, y - 14, width=2))
            drawing.append(sheet.line(sheet.MARGIN + 470, y - 14, sheet.MARGIN + 470, y, width=2))
            _stage(drawing, stage, sheet.MARGIN + 440, y)
            continue
        _stage(drawing, stage, sheet.MARGIN, y)
        drawing.append(sheet.line(trunk, y + BOX, trunk, y + STEP, width=2))
        y += STEP
    foot = y + (RACK_BOX + 18) * (len(line.branches) - 1) + _path_y(line.branches[-1])[-1] + 1 if line.branches else y
    drawing.append(sheet.line(trunk, y - (STEP - BOX), trunk, foot, width=2))
    for each in line.branches:
        _branch(drawing, each, trunk, y)
        y += RACK_BOX + 18
    return sheet.finish(drawing)


def _stage(drawing: object, stage: _Stage, x: float, y: float) -> None:
    from wizard.pictures import sheet

    add = drawing.append  # type: ignore[attr-defined]
    add(sheet.box(x, y, 420, BOX, fill="#f3f3f3"))
    add(sheet.label(stage.name, x + 10, y + 18, weight="bold"))
    for number, words in enumerate(wrap(stage.words, STAGE_COLUMNS)[:2]):
        add(sheet.label(words, x + 10, y + 36 + 15 * number, size=11))


def _path_y(branch: Branch) -> list[float]:
    """Return how far below the top of a branch's box each of its paths is drawn."""
    paths = min(MOST_PATHS, branch.feed.paths) if branch.feed is not None else 1
    return [RACK_BOX / 2 + 9 * (path - (paths - 1) / 2) for path in range(paths)]


def _branch(drawing: object, branch: Branch, trunk: float, y: float) -> None:
    """Draw the racks of a branch; every path that feeds them is a line of its own."""
    from wizard.pictures import sheet

    add = drawing.append  # type: ignore[attr-defined]
    for at in (y + below for below in _path_y(branch)):
        add(sheet.line(trunk, at, trunk + 60, at, width=2))
        add(sheet.box(trunk + 26, at - 3, 8, 6, fill=sheet.PAPER))
    add(sheet.box(trunk + 60, y, WIDTH - trunk - 60 - sheet.MARGIN, RACK_BOX, fill="#cfe3f3"))
    for number, words in enumerate(branch.parts):
        short = shorten(words, BRANCH_COLUMNS, placeholder=" …")
        add(sheet.label(short, trunk + 70, y + 18 + 17 * number, size=12, weight="bold" if number == 0 else "normal"))
