"""Screens that are lists of lines behind which more stands: the review of the answers, and the design."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from wizard.glyphs import sign
from wizard.interview import load_interview
from wizard.shown import answered, assumed_text, origin_of, value_text
from wizard.tui.actions import bindings_of
from wizard.tui.figures import overview
from wizard.tui.pages import TABS, only_matching, page_rows, tabs
from wizard.tui.row import Row, heading
from wizard.tui.screens.base import WizardScreen
from wizard.tui.widgets.live_strip import LiveStrip
from wizard.tui.widgets.pointed_list import PointedList
from wizard.tui.widgets.quiet import Quiet

if TYPE_CHECKING:
    from collections.abc import Iterable

    from textual import events
    from textual.binding import BindingType
    from textual.widget import Widget

    from wizard.work import Work

MARGIN = 4
ARROW = "→"
MOST_CHANGES = 60
"""Changes of a saved design that are listed; the command has them all."""
INDENT = 3
"""Columns before the text of a line: blank, sign, blank. Further lines of it begin below the text."""


def hanging(text: Content, width: int) -> Content:
    """Return the text wrapped so that its further lines are indented."""
    if text.cell_length < width and "\n" not in text.plain:
        return text
    lines = [line for part in text.split("\n") for line in part.wrap(max(20, width - INDENT))]
    return Content("\n").join([lines[0], *(Content(" " * INDENT) + line for line in lines[1:])])


def changes_row(work: Work) -> Row:
    """Return the line that says that a saved design comes out otherwise now; behind it what changed, and why."""
    text = f"Derived again: {work.changed_text} since it was saved; saving keeps what is shown here"
    behind = [Content(f"Because {cause}.") for cause in work.causes] + [Content("")]
    for change in work.changes[:MOST_CHANGES]:
        told = f"{change.before or 'absent'} {ARROW} {change.after or 'absent'}"
        behind.append(Content.assemble((f"{change.where}: ", "$foreground-muted"), told))
    if len(work.changes) > MOST_CHANGES:
        behind.append(Content(f"… and {len(work.changes) - MOST_CHANGES} more; 'cluster-wizard replay' lists all"))
    return Row(Content.assemble((f" {sign('warning')} ", "$text-warning"), text), "Derived again", tuple(behind))


def _by_id(rows: Iterable[Row]) -> dict[str, Row]:
    """Return rows by an id that stays the same for the same line while others come and go."""
    found: dict[str, Row] = {}
    for row in rows:
        name = f"{row.rule}|{row.title or row.text.plain}"
        found[f"{name}|{sum(key.startswith(name) for key in found)}"] = row
    return found


class ListScreen(WizardScreen):
    """A list with pages. Enter opens the line, arrows change the page, Esc goes back to the questions."""

    SCOPE = "list"
    AUTO_FOCUS: ClassVar[str] = "#rows"
    FILTER_HINT: ClassVar[str] = "type words; Enter goes to the lines, Esc shows all"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of("list")]

    def on_mount(self) -> None:
        """Fill the list."""
        self.show_work()
        self.set_focus(self.query_one(self.AUTO_FOCUS))

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """A click opens a line."""
        event.stop()
        self.app.call_later(self.action_open_row)  # it may close this screen, which would wait for this handler

    async def action_open_row(self) -> None:
        """Open the line that is pointed at; in the filter, go to the lines."""
        if isinstance(self.focused, Input):
            self._leave_filter(empty=False)
            return
        option = self.query_one(PointedList).highlighted_option
        if option is not None and option.id is not None:
            await self.open_row(option.id)

    async def open_row(self, id_: str) -> None:
        """Open one line."""

    def foot(self) -> Iterable[Widget]:
        """Return the field for the filter, which is not shown until it is asked for."""
        yield Input(placeholder=self.FILTER_HINT, id="filter", compact=True, select_on_focus=False)

    @property
    def filter(self) -> str:
        """Return the text of the filter."""
        return self.query_one("#filter", Input).value.strip()

    def action_filter_rows(self) -> None:
        """Let the person type what lines must hold."""
        entry = self.query_one("#filter", Input)
        entry.add_class("-shown")
        self.set_focus(entry)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Show what the filter keeps."""
        event.stop()
        self.show_work()

    def _leave_filter(self, *, empty: bool) -> None:
        entry = self.query_one("#filter", Input)
        if empty:
            entry.value = ""
        entry.set_class(bool(entry.value), "-shown")
        self.set_focus(self.query_one("#rows"))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Let the arrows move in the filter's text while it is typed."""
        del parameters
        return not (isinstance(self.focused, Input) and action in ("next_page", "previous_page"))

    def on_key(self, event: events.Key) -> None:
        """Down leaves the filter for the lines that it keeps."""
        if event.key == "down" and isinstance(self.focused, Input):
            event.stop()
            self._leave_filter(empty=False)

    def action_ask_why_not(self) -> None:
        """Ask what stood against something; the line that is pointed at says what, where it can."""
        self.wizard.asker.ask_why_not(self.named_product())

    def action_ask_what_if(self) -> None:
        """Ask what another answer would change; the line that is pointed at says which, where it can."""
        self.wizard.asker.ask_what_if(self.named_answer())

    def action_fix_all(self) -> None:
        """Apply all remedies on the side, and show what they change."""
        from wizard.tui.mending import fix_all

        fix_all(self.wizard)

    def named_product(self) -> str:
        """Return the product that the line is about, "" for none."""
        return ""

    def named_answer(self) -> str:
        """Return the answer that the line is about, "" for none."""
        return ""

    def pointed_row(self) -> Row | None:
        """Return the line of the design that is pointed at, None where the list is of something else."""
        return None

    def pointed(self) -> str:
        """Return the id of the line that is pointed at, "" for none."""
        option = next((each.highlighted_option for each in self.query(PointedList)), None)
        return (option.id or "") if option is not None else ""

    async def action_next_page(self) -> None:
        """Go to the next page."""

    async def action_previous_page(self) -> None:
        """Go to the page before."""

    async def action_close_page(self) -> None:
        """Leave the filter, else go back to the questions."""
        if isinstance(self.focused, Input) or self.filter:
            self._leave_filter(empty=True)
        else:
            await self.wizard.back_to_interview()


class TabScreen(ListScreen):
    """A tab of the design; Left and Right go to the tabs beside it."""

    tab = ""

    def show_tabs(self) -> None:
        """Show the names of the tabs."""
        self.query_one("#pages", Quiet).put(tabs(self.tab))

    async def action_next_page(self) -> None:
        """Show the next tab; after the last the first."""
        await self._turn(1)

    async def action_previous_page(self) -> None:
        """Show the tab before; before the first, go back to where we came from."""
        if self.tab == next(iter(TABS)):
            await self.wizard.back()
        else:
            await self._turn(-1)

    async def _turn(self, step: int) -> None:
        names = list(TABS)
        await self.wizard.action_show_tab(names[(names.index(self.tab) + step) % len(names)])


class ReviewScreen(ListScreen):
    """All answers on one page; Enter changes one and comes back here."""

    def body(self) -> Iterable[Widget]:
        """Return the list above the live strip."""
        yield Static(
            Content.assemble((" Check your answers", "bold"), ("   Enter changes one; F3 or → shows the design", "$foreground-muted")),
            id="intro",
        )
        yield PointedList(id="rows")
        yield LiveStrip(id="strip")

    def heading(self) -> str:
        """Return how much is answered."""
        return "review"

    def show_work(self) -> None:
        """Show the answers as they are now."""
        self.show_title()
        self.query_one(PointedList).refill(self._options())
        self.query_one(LiveStrip).show(self.work)

    def _options(self) -> Iterable[Option]:
        session, answers = self.work.session, self.work.answers
        for step in (interview := load_interview()).steps:
            count = answered(interview, session, step.id)
            yield Option(Content.assemble((f"\n{step.title}", "bold $text-accent"), (f"  {count}", "$foreground-muted")), disabled=True)
            for question in interview.of_step(step.id, answers):
                if not all(word in f"{question.label} {question.ask} {step.title}".lower() for word in self.filter.lower().split()):
                    continue
                origin, style = origin_of(answers, question.key, self.work.design)
                draft = session.draft_of(question.key)
                stands_in = assumed_text(question.key, self.work.design) if not answers.given(question.key) else ""
                if stands_in:
                    stands_in, origin = f"{sign('assumed')} {stands_in}", origin.removeprefix(f"{sign('assumed')} ")
                shown = stands_in or value_text(question.key, answers.values.get(question.key))
                value = (f"{shown:<34}", "bold" if answers.given(question.key) else "$foreground-muted")
                if draft is not None:
                    value, origin, style = (f"{sign('conflict')} {draft:<32}", "bold $text-error"), "not valid yet", "$text-error"
                yield Option(Content.assemble(f"   {question.label.strip():<22}", value, (origin, style)), id=question.key)

    def named_answer(self) -> str:
        """Return the answer of the line."""
        return self.pointed()

    async def open_row(self, id_: str) -> None:
        """Change one answer."""
        await self.wizard.change_answer(id_)

    async def action_next_page(self) -> None:
        """Go on to the design."""
        await self.wizard.action_show_design()

    async def action_previous_page(self) -> None:
        """Go back to the questions."""
        await self.wizard.back_to_interview()


class DesignScreen(TabScreen):
    """The design: choice, figures, every reason, alternatives, rejections, assumptions, parts, numbers, questions."""

    def __init__(self, page: str = "reasons") -> None:
        super().__init__()
        self.tab = page
        self._rows: dict[str, Row] = {}

    @property
    def page(self) -> str:
        """Return the page that is shown."""
        return self.tab

    def body(self) -> Iterable[Widget]:
        """Return the pages' names, and the overview beside the list on wide terminals."""
        yield Quiet(id="pages")
        yield Horizontal(
            VerticalScroll(Static("", id="overview"), id="overview-pane", can_focus=False), PointedList(id="rows"), id="middle"
        )

    def heading(self) -> str:
        """Return whether the design is that of the answers as they are."""
        return (
            ""
            if self.work.current
            else "the last answers are being worked in"
            if not self.work.error
            else f"{sign('conflict')} not up to date"
        )

    def show_work(self) -> None:
        """Show the page as it is now."""
        self.show_title()
        self.show_tabs()
        beside = self.page == "reasons" and self.has_class("-wide")
        self.query_one("#overview-pane").display = beside
        design = self.work.design
        if design is None:
            rows = [heading(self.work.why_no_design)]
        else:
            rows = page_rows(self.page, design, self._list_width(beside=beside) - 1)
            lines = overview(design, self._overview_width(beside=beside), self.work.previous)
            if self.work.error:
                lines = [Content.assemble((f"{sign('conflict')} {self.work.error}", "bold $text-error")), Content(""), *lines]
            if beside:
                self.query_one("#overview", Static).update(Content("\n").join(lines))
            elif self.page == "reasons":
                rows = [*(Row(Content(" ") + line) for line in lines), heading(""), *rows]
            if self.page == "reasons" and self.work.changes and self.work.session.is_saved:
                rows = [changes_row(self.work), *rows]
        rows = only_matching(rows, self.filter) if self.filter else rows
        width = self._list_width(beside=beside)
        self._rows = _by_id(rows)
        options = [Option(hanging(row.text, width), id=id_, disabled=row.is_heading) for id_, row in self._rows.items()]
        self.query_one(PointedList).refill(options)

    def _overview_width(self, *, beside: bool) -> int:
        return max(20, (self.size.width * 9 // 20 if beside else self.size.width) - MARGIN)

    def _list_width(self, *, beside: bool) -> int:
        return self.size.width - (self.size.width * 9 // 20 if beside else 0) - 1

    def go_page(self, page: str) -> None:
        """Show a page from its top."""
        self.tab = page
        self.query_one(PointedList).highlighted = None
        self.show_work()

    def pointed_row(self) -> Row | None:
        """Return the line that is pointed at."""
        return self._rows.get(self.pointed())

    def named_product(self) -> str:
        """Return the product of a line that is about one."""
        row = self.pointed_row()
        return row.product if row is not None else ""

    def named_answer(self) -> str:
        """Return the answer that the line's first remedy changes."""
        row = self.pointed_row()
        return row.remedies[0].key if row is not None and row.remedies else ""

    async def open_row(self, id_: str) -> None:
        """Show what stands behind a line."""
        row = self._rows[id_]
        if row.action:
            await self.wizard.perform_id(row.action)
        else:
            self.wizard.show_behind(row)
