"""Screens that are lists of lines behind which more stands: the review of the answers, and the design."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.style import Style
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from wizard.interview import load_interview
from wizard.tui.actions import bindings_of
from wizard.tui.figures import overview
from wizard.tui.glyphs import sign
from wizard.tui.pages import PAGES, Row, heading
from wizard.tui.screens.base import WizardScreen
from wizard.tui.shown import origin_of, value_text
from wizard.tui.widgets.live_strip import LiveStrip

if TYPE_CHECKING:
    from collections.abc import Iterable

    from textual.binding import BindingType
    from textual.widget import Widget

MARGIN = 4


class ListScreen(WizardScreen):
    """A list with pages. Enter opens the line, arrows change the page, Esc goes back to the questions."""

    SCOPE = "list"
    AUTO_FOCUS = "#rows"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of("list")]

    def on_mount(self) -> None:
        """Fill the list."""
        self.show_work()
        self.set_focus(self.query_one("#rows"))

    def fill(self, options: Iterable[Option]) -> None:
        """Show options; the line that was pointed at stays, by its place, where the list changed."""
        rows = self.query_one("#rows", OptionList)
        at = rows.highlighted
        rows.clear_options()
        rows.add_options(options)
        usable = [index for index, option in enumerate(rows.options) if not option.disabled]
        rows.highlighted = next((index for index in usable if at is not None and index >= at), usable[0] if usable else None)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """A click opens a line."""
        event.stop()
        self.call_later(self.action_open_row)

    async def action_open_row(self) -> None:
        """Open the line that is pointed at."""
        option = self.query_one("#rows", OptionList).highlighted_option
        if option is not None and option.id is not None:
            await self.open_row(option.id)

    async def open_row(self, id_: str) -> None:
        """Open one line."""

    async def action_next_page(self) -> None:
        """Go to the next page."""

    async def action_previous_page(self) -> None:
        """Go to the page before."""

    async def action_close_page(self) -> None:
        """Go back to the questions."""
        await self.wizard.back_to_interview()


class ReviewScreen(ListScreen):
    """All answers on one page; Enter changes one and comes back here."""

    def body(self) -> Iterable[Widget]:
        """Return the list above the live strip."""
        yield Static(
            Content.assemble((" Check your answers", "bold"), ("   Enter changes one; F3 or → shows the design", "$text-muted")), id="intro"
        )
        yield OptionList(id="rows", compact=True)
        yield LiveStrip("", id="strip")

    def heading(self) -> str:
        """Return how much is answered."""
        return "review"

    def show_work(self) -> None:
        """Show the answers as they are now."""
        self.show_title()
        self.fill(self._options())
        self.query_one(LiveStrip).show(self.work)

    def _options(self) -> Iterable[Option]:
        session, answers = self.work.session, self.work.answers
        for step in (interview := load_interview()).steps:
            yield Option(Content.styled(f"\n{step.title}", "bold $text-accent"), disabled=True)
            for question in interview.of_step(step.id, answers):
                origin, style = origin_of(answers, question.key)
                draft = session.draft_of(question.key)
                shown = value_text(question.key, answers.values.get(question.key))
                value = (f"{shown:<34}", "bold" if answers.given(question.key) else "$text-muted")
                if draft is not None:
                    value, origin, style = (f"{sign('conflict')} {draft:<32}", "bold $text-error"), "not valid yet", "$text-error"
                yield Option(Content.assemble(f"   {question.label.strip():<22}", value, (origin, style)), id=question.key)

    async def open_row(self, id_: str) -> None:
        """Change one answer."""
        await self.wizard.change_answer(id_)

    async def action_next_page(self) -> None:
        """Go on to the design."""
        await self.wizard.action_show_design()

    async def action_previous_page(self) -> None:
        """Go back to the questions."""
        await self.wizard.back_to_interview()


class DesignScreen(ListScreen):
    """The design: choice, figures, every reason, alternatives, rejections, assumptions, parts, numbers, questions."""

    def __init__(self, page: str = "reasons") -> None:
        super().__init__()
        self.page = page
        self._rows: list[Row] = []

    def body(self) -> Iterable[Widget]:
        """Return the pages' names, and the overview beside the list on wide terminals."""
        yield Static("", id="pages")
        yield Horizontal(
            VerticalScroll(Static("", id="overview"), id="overview-pane", can_focus=False), OptionList(id="rows", compact=True), id="middle"
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
        self._show_pages()
        beside = self.page == "reasons" and self.has_class("-wide")
        self.query_one("#overview-pane").display = beside
        design = self.work.design
        if design is None:
            self._rows = [heading(self.work.error or "the design is being worked out")]
        else:
            rows = PAGES[self.page][1](design)
            lines = overview(design, self._overview_width(beside=beside))
            if self.work.error:
                lines = [Content.assemble((f"{sign('conflict')} {self.work.error}", "bold $text-error")), Content(""), *lines]
            if beside:
                self.query_one("#overview", Static).update(Content("\n").join(lines))
            elif self.page == "reasons":
                rows = [*(Row(Content(" ") + line) for line in lines), heading(""), *rows]
            self._rows = rows
        self.fill(Option(row.text, id=str(number), disabled=row.is_heading) for number, row in enumerate(self._rows))

    def _overview_width(self, *, beside: bool) -> int:
        return max(20, (self.size.width * 9 // 20 if beside else self.size.width) - MARGIN)

    def _show_pages(self) -> None:
        pieces: list[Content] = []
        for id_, (title, _) in PAGES.items():
            style = "bold reverse" if id_ == self.page else "$text-muted"
            pieces.append(Content.styled(f" {title} ", style).stylize(Style.from_meta({"@click": f"screen.go_page('{id_}')"})))
        self.query_one("#pages", Static).update(Content("").join(pieces))

    def action_go_page(self, page: str) -> None:
        """Show a page from its top."""
        self.page = page
        self.query_one("#rows", OptionList).highlighted = None
        self.show_work()

    async def action_next_page(self) -> None:
        """Show the next page; after the last the first."""
        self._turn(1)

    async def action_previous_page(self) -> None:
        """Show the page before; before the first, go back to where we came from."""
        if self.page == next(iter(PAGES)):
            await self.wizard.back()
        else:
            self._turn(-1)

    def _turn(self, step: int) -> None:
        pages = list(PAGES)
        self.action_go_page(pages[(pages.index(self.page) + step) % len(pages)])

    async def open_row(self, id_: str) -> None:
        """Show what stands behind a line."""
        self.wizard.show_behind(self._rows[int(id_)])
