"""The candidates side by side: a table by any figure, a scatter over it, and the price of taking another one."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.content import Content
from textual.style import Style
from textual.widgets.option_list import Option

from rules.counting import counted
from wizard.comparing import BY_ID, CHOSEN, COLUMNS, FITS, REJECTED, Column, Entry, FilterError, entries_of, in_order, matching, price_of
from wizard.glyphs import ascii_only, sign
from wizard.pictures import chart
from wizard.scatter import MARKS, kind_of, mark_of, scatter
from wizard.tui.actions import bindings_of
from wizard.tui.pages import COMPARE
from wizard.tui.screens.dialogs import TextDialog
from wizard.tui.screens.lists import TabScreen
from wizard.tui.widgets.pointed_list import PointedList
from wizard.tui.widgets.quiet import Quiet
from wizard.work import Pinned

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from textual.binding import BindingType
    from textual.widget import Widget

AXES = (("cost", "days"), ("power", "days"), ("cost", "power"), ("price", "gpus"))
"""Pairs of figures that the scatter can show: across, upwards."""
LEAST_NAME, CELL = 26, 12
PLOT_SHARE, LEAST_PLOT, MOST_PLOT, AROUND_PLOT = 3, 4, 14, 5
"""The plot takes a third of the screen's lines, within these bounds; five more are its axes, its legend and what it leaves out."""
STYLES = {CHOSEN: "bold $text-primary", FITS: "", REJECTED: "$text-error", "dominated": "$foreground-muted"}
PIN = "preferences.nodes"


class CompareScreen(TabScreen):
    """All candidates. `s` sorts by the next figure, `r` turns the order, `/` filters, `a` changes the axes, Enter opens one."""

    SCOPE = "compare"
    FILTER_HINT: ClassVar[str] = "words and limits, such as: h200 days<60 cost<12M USD; Enter goes to the lines, Esc shows all"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of("compare")]
    tab = COMPARE

    def __init__(self) -> None:
        super().__init__()
        self.by, self.falling, self.axes = "", False, 0
        self._entries: dict[str, Entry] = {}

    def body(self) -> Iterable[Widget]:
        """Return tabs, scatter, the columns' names and the table."""
        yield Quiet(id="pages")
        yield Quiet(id="plot")
        yield Quiet(id="pinned")
        yield Quiet(id="columns")
        yield PointedList(id="rows")

    def heading(self) -> str:
        """Return how the rows are sorted."""
        return f"by {BY_ID[self.by].title if self.by else 'rank'}{', largest first' if self.falling else ''}"

    def show_work(self) -> None:
        """Show the candidates of the design as it is now."""
        self.show_title()
        self.show_tabs()
        design, problem = self.work.design, ""
        everyone = entries_of(design, self.work.considered) if design is not None else []
        try:
            kept = matching(everyone, self.filter)
        except FilterError as error:
            kept, problem = everyone, str(error)
        shown = in_order(kept, self.by, falling=self.falling)
        self._entries = {entry.id: entry for entry in shown}
        self._show_plot(kept)
        self._show_pinned()
        columns = self._columns()
        self.query_one("#columns", Quiet).put(self._head(columns, problem, len(shown), len(everyone)))
        rows = [Option(self._line(entry, columns), id=entry.id) for entry in shown]
        why = "no candidate passes the filter" if everyone else self.work.why_no_design
        self.query_one(PointedList).refill(rows or [Option(Content(f"   {why}"), disabled=True)], follow=True)

    def _show_plot(self, rows: Sequence[Entry]) -> None:
        across, up = (BY_ID[name] for name in AXES[self.axes])
        width = max(40, self.size.width - 4)
        height = max(LEAST_PLOT, min(MOST_PLOT, self.size.height // PLOT_SHARE - AROUND_PLOT))
        drawn = chart.text(scatter(rows, across, up, ascii_only=ascii_only()), width, height)
        kinds = {mark_of(kind, ascii_only=ascii_only()): kind for kind in MARKS}
        self.query_one("#plot", Quiet).put(Content("\n").join(_coloured(line, kinds) for line in drawn if line))

    def _show_pinned(self) -> None:
        """Say what the pinned candidate costs beside the one that the reasons chose, as long as the answers are those of that choice."""
        pinned, line = self.work.pinned, self.query_one("#pinned", Quiet)
        holds = pinned is not None and pinned.answers.values == self.work.answers.values
        line.put(Content.assemble(("Pinned: ", "bold"), pinned.price) if pinned is not None and holds else Content())
        line.display = holds

    def _columns(self) -> list[Column]:
        """Return the figures that there is room for; the one that is sorted by is always among them."""
        room = max(1, (self.size.width - 6 - LEAST_NAME) // CELL)
        chosen = list(COLUMNS[:room])
        if self.by and BY_ID[self.by] not in chosen:
            chosen[-1] = BY_ID[self.by]
        return chosen

    def _name_width(self, columns: Sequence[Column]) -> int:
        return max(LEAST_NAME, self.size.width - 6 - CELL * len(columns))

    def _head(self, columns: Sequence[Column], problem: str, shown: int, everyone: int) -> Content:
        if problem:
            return Content.styled(f"{sign('conflict')} {problem}", "$text-error")
        count = ("" if shown == everyone else f"{shown} of ") + counted(everyone, "candidate")
        pieces = [Content.styled(f"{'':3}{count:<{self._name_width(columns)}}", "$foreground-muted").stylize(_sorts(""))]
        for column in columns:
            arrow = ("<" if self.falling else ">") if column.id == self.by else ""
            style = "bold underline" if column.id == self.by else "$foreground-muted"
            pieces.append(Content.styled(f"{arrow + column.title:>{CELL}}", style).stylize(_sorts(column.id)))
        return Content("").join(pieces)

    def _line(self, entry: Entry, columns: Sequence[Column]) -> Content:
        kind = kind_of(entry)
        style, width = STYLES.get(kind, ""), self._name_width(columns)
        mark = mark_of(kind, ascii_only=ascii_only())
        name = shortened_inside(entry.name, width - 1)
        figures = "".join(f"{entry.text(column, sign('at_least')):>{CELL}}" for column in columns)
        return Content.assemble((f"  {mark} ", style), (f"{name:<{width}}", style), (figures, style))

    # --- order

    def action_sort_next(self) -> None:
        """Sort by the next figure; after the last by rank again."""
        order = ["", *BY_ID]
        self.sort_by(order[(order.index(self.by) + 1) % len(order)])

    def action_sort_turn(self) -> None:
        """Turn the order."""
        self.falling = not self.falling
        self.show_work()

    def action_sort(self, by: str) -> None:
        """Sort by a column that was clicked; again turns the order."""
        self.falling = by == self.by and not self.falling
        self.by = by
        self.show_work()

    def sort_by(self, by: str) -> None:
        """Sort by a figure, "" for the rank, smallest first or best first."""
        self.by, self.falling = by, False
        self.show_work()

    def action_axes_next(self) -> None:
        """Show two other figures in the scatter."""
        self.axes = (self.axes + 1) % len(AXES)
        self.show_work()

    # --- one candidate

    async def open_row(self, id_: str) -> None:
        """Show a candidate beside the chosen one; it can be pinned."""
        entry = self._entries.get(id_)
        design = self.work.design
        if entry is None or design is None:
            return
        chosen = next((each for each in entries_of(design, self.work.considered) if each.state == CHOSEN), entry)

        async def picked(choice: str | None) -> None:
            if choice:
                price = f"{price_of(chosen, entry)} than {chosen.name}" if chosen.id != entry.id else ""
                await self._pin(entry, price, pinned=choice == "pin")

        self.app.push_screen(TextDialog(entry.name, _beside(chosen, entry), self._choices(entry)), picked)

    def named_product(self) -> str:
        """Return the server of the line."""
        entry = self._entries.get(self.pointed())
        return entry.node if entry is not None else ""

    def _choices(self, entry: Entry) -> list[tuple[str, str]]:
        rows = []
        if entry.node and not (entry.state == CHOSEN and self.work.answers.given(PIN)):
            rows.append(("pin", "Pin it: consider this server only"))
        if self.work.answers.given(PIN):
            rows.append(("free", "Pin nothing: let the reasons decide again"))
        return rows

    async def _pin(self, entry: Entry, price: str, *, pinned: bool) -> None:
        session = self.work.session.answer(PIN, entry.node) if pinned else self.work.session.clear(PIN)
        self.work.pinned = Pinned(price, session.answers) if pinned and price else None
        self.wizard.change(session)
        told = f"Pinned {entry.name}." if pinned else "Nothing is pinned."
        self.notify(f"{told} Undo takes it back.", timeout=8)


def shortened_inside(name: str, width: int) -> str:
    """Return a name in at most `width` cells; what is left out is in the middle, since names of servers often differ at their end."""
    if len(name) <= width:
        return name
    end = (width - 1) // 2
    return f"{name[: width - 1 - end]}…{name[-end:]}"


def _coloured(line: str, kinds: Mapping[str, str]) -> Content:
    """Return a line of the plot, each mark in the colour of its kind; only lines with the upward axis have marks."""
    shown = Content(line)
    start = line.find("|")
    for at in range(start + 1, len(line)) if start >= 0 else ():
        if line[at] in kinds:
            shown = shown.stylize(STYLES.get(kinds[line[at]], ""), at, at + 1)
    return shown


def _sorts(by: str) -> Style:
    return Style.from_meta({"@click": f"screen.sort('{by}')"})


def _beside(chosen: Entry, entry: Entry) -> Content:
    """Return what is known of a candidate: why it stands where it does, and its figures beside those of the chosen one."""
    states = {CHOSEN: "It is the chosen one.", FITS: "It meets every answer.", REJECTED: "It is rejected."}
    rows = [
        Content(states.get(entry.state, "Its price is unknown, so it is ranked apart.")),
        Content.styled(entry.plan, "$foreground-muted"),
    ]
    if entry.because:
        rows.append(Content(entry.because))
    if entry.dominated_by:
        rows.append(Content(f"{entry.dominated_by} is at least as good in cost, time and power, and better in one of them."))
    if entry is not chosen and entry.id != chosen.id:
        rows += [Content(""), Content.assemble(("Instead of the chosen one: ", "bold"), price_of(chosen, entry))]
    rows += [Content(""), Content.styled(f"{'':<14}{'this one':>14}{'chosen':>14}", "$foreground-muted")]
    bound = sign("at_least")
    rows += [Content(f"{column.title:<14}{entry.text(column, bound):>14}{chosen.text(column, bound):>14}") for column in COLUMNS]
    return Content("\n").join(rows)
