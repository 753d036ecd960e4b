"""The interview: the steps' questions, what is wrong, and what follows so far."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.containers import Container, Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.events import Click
from textual.style import Style

from rules.answers import AnswerError
from wizard.files import FileError
from wizard.interview import load_interview, needed_beside
from wizard.preferences import typed
from wizard.shown import answered, open_text, text_of, value_text
from wizard.site_log import answered_by_log, is_pasted_log
from wizard.tui.actions import bindings_of
from wizard.tui.keys_app import IDLE_TURNS, MOST_TURNS, PAUSE_S, QUICK_TURNS
from wizard.tui.screens.base import WizardScreen
from wizard.tui.widgets.design_pane import DesignPane
from wizard.tui.widgets.field_row import FieldRow
from wizard.tui.widgets.live_strip import ConflictBox, LiveStrip
from wizard.tui.widgets.messages import Answered, Entered
from wizard.tui.widgets.quiet import Quiet
from wizard.tui.widgets.step_bar import StepBar
from wizard.tui.widgets.text_entry import PickerEntry

if TYPE_CHECKING:
    from collections.abc import Iterable

    from textual.binding import BindingType
    from textual.widget import Widget

    from wizard.interview import Question
    from wizard.session import Session


class InterviewScreen(WizardScreen):
    """One screen for all steps. A step's fields are made when it is first entered, and hidden when it is left."""

    SCOPE = "interview"
    AUTO_FOCUS = ""
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of("interview")]

    def __init__(self) -> None:
        super().__init__()
        self.interview = load_interview()
        self.step = ""
        self.return_to_review = False
        self._before_edit: tuple[str, Session] | None = None
        self._answering = 0
        self._fitting = asyncio.Lock()

    def body(self) -> Iterable[Widget]:
        """Return step bar, questions beside the design, and the live strip."""
        yield StepBar(id="steps")
        yield Horizontal(
            Vertical(
                Quiet(id="intro"),
                VerticalScroll(
                    *(Container(id=f"step-{step.id}", classes="step") for step in self.interview.steps), id="fields", can_focus=False
                ),
                ConflictBox(id="conflict"),
                Quiet(id="hint"),
                id="questions",
            ),
            DesignPane(id="pane"),
            id="middle",
        )
        yield LiveStrip(id="strip")

    async def on_mount(self) -> None:
        """Enter the step that the work is at."""
        self.step = self.work.step or self.interview.steps[0].id
        await self.enter_step(self.step)

    # --- going from step to step

    def rows(self, step: str | None = None) -> list[FieldRow]:
        """Return the rows of a step, the current one by default, in order."""
        return [child for child in self.query_one(f"#step-{step or self.step}").children if isinstance(child, FieldRow)]

    async def enter_step(self, step: str, key: str = "") -> None:
        """Show a step and focus a field at once, so that the next key lands in it: of `key`, else the first invalid, else the first."""
        await self.settle()
        if step != self.step:
            self.work.visited |= {self.step}
        self.step = self.work.step = step
        self.wizard.keep()
        self._before_edit = None
        for each in self.interview.steps:
            self.query_one(f"#step-{each.id}").display = each.id == step
        await self._fit_rows()
        rows = self.rows()
        drafts = {name for name, _ in self.work.session.drafts}
        named = next((row for row in rows if row.key == key), None)
        chosen = named or next((row for row in rows if row.key in drafts), rows[0] if rows else None)
        if chosen is not None:
            self.set_focus(chosen.entry)
        self.show_work()
        if chosen is not None:
            self.call_after_refresh(chosen.scroll_visible, animate=False)

    async def _fit_rows(self) -> None:
        """Make and remove rows so that exactly the questions are there that are asked beside the answers."""
        async with self._fitting:
            await self._fit_rows_alone()

    async def _fit_rows_alone(self) -> None:
        place = self.query_one(f"#step-{self.step}")
        work = self.work
        wanted = self.interview.of_step(
            self.step, work.answers, first_only=work.first_only, sought=work.sought | needed_beside(work.answers)
        )
        there = {row.key: row for row in self.rows()}
        keys = {question.key for question in wanted}
        here = self.focused_row()
        for key, row in there.items():
            if key not in keys and row is not here:  # a field that is emptied to be filled anew stays
                await row.remove()
        if not there:
            await place.mount_all([self._make_row(question) for question in wanted])
            return
        above: FieldRow | None = None
        for question in wanted:
            row = there.get(question.key) or self._make_row(question)
            if question.key not in there:
                await (place.mount(row, before=0) if above is None else place.mount(row, after=above))
            above = row

    def _make_row(self, question: Question) -> FieldRow:
        return FieldRow(question, self.work.session, self.wizard.names, lambda: self.work.answers, self.work.design)

    async def settle(self) -> None:
        """Wait until the keys that the focused field was sent are answers, so that what follows builds on them.

        A key that moves the focus is handled at once, while those typed before it may still be on their way through the queues
        of the field and what it stands in.
        """
        idle = 0
        for turn in range(MOST_TURNS):
            await asyncio.sleep(0 if turn < QUICK_TURNS else PAUSE_S)
            chain = [self.focused, *self.focused.ancestors] if self.focused is not None else [self]
            busy = self._answering or any(each.message_queue_size for each in chain if each is not self.app)
            idle = 0 if busy else idle + 1
            if idle == IDLE_TURNS:
                return

    async def action_next_step(self) -> None:
        """Go to the next step; from the last one, or where a review sent us, to the review."""
        await self.settle()
        self._take_sure_match()
        steps = self._steps()
        at = steps.index(self.step)
        if self.return_to_review or at + 1 == len(steps):
            self.work.visited |= {self.step}
            self.return_to_review = False
            await self.wizard.action_review_answers()
        else:
            await self.enter_step(steps[at + 1])

    async def action_previous_step(self) -> None:
        """Go back a step; from the first one to the start page."""
        steps = self._steps()
        at = steps.index(self.step)
        if at:
            await self.enter_step(steps[at - 1])
        else:
            await self.settle()
            await self.wizard.action_start_page()

    def _steps(self) -> list[str]:
        """Return the steps that have questions now; the one that the person is at is always among them."""
        wanted = self.work.first_only
        return [
            step.id
            for step in self.interview.steps
            if step.id == self.step or self.interview.of_step(step.id, self.work.answers, first_only=wanted)
        ]

    async def action_all_questions(self) -> None:
        """Ask all questions, or only those that a first design needs."""
        await self.settle()
        self.work.first_only = not self.work.first_only
        await self.resync()
        count = sum(len(self.interview.of_step(step, self.work.answers, first_only=self.work.first_only)) for step in self._steps())
        told = "Only the questions of a first design are asked" if self.work.first_only else "All questions are asked"
        self.notify(f"{told}: {count}.", timeout=4)

    async def action_go_step(self, step: str) -> None:
        """Go to any step."""
        await self.enter_step(step)

    # --- going from field to field

    def focused_row(self) -> FieldRow | None:
        """Return the row that has the focus."""
        return next((each for each in self.focused.ancestors if isinstance(each, FieldRow)), None) if self.focused else None

    async def action_next_field(self) -> None:
        """Go to the next field; a name that is the only match is taken."""
        await self._leave(1)

    async def action_previous_field(self) -> None:
        """Go to the field before."""
        await self._leave(-1)

    async def action_field_below(self) -> None:
        """Go to the next name where names are offered, else to the next field."""
        await self._point(1)

    async def action_field_above(self) -> None:
        """Go to the name above where names are offered, else to the field before."""
        await self._point(-1)

    async def _leave(self, step: int) -> None:
        await self.settle()
        self._take_sure_match()
        await self._focus_beside(self.focused_row(), step)

    async def _point(self, step: int) -> None:
        await self.settle()
        row = self.focused_row()
        if row is None or not isinstance(row.entry, PickerEntry) or not row.entry.point(step):
            await self._focus_beside(row, step)

    async def _focus_beside(self, row: FieldRow | None, step: int) -> None:
        await self.settle()
        rows = self.rows()
        if not rows:
            return
        at = rows.index(row) + step if row in rows else 0
        self.set_focus(rows[at % len(rows)].entry)

    async def action_accept_field(self) -> None:
        """Accept the answer and go on, unless it is invalid; Enter in an open list of names takes the one that is pointed at."""
        await self.settle()
        row = self.focused_row()
        taken = row is not None and isinstance(row.entry, PickerEntry) and row.entry.take()
        if row is not None and taken:
            self.record(row.key, row.entry.value)
            await self._fit_rows()
        if row is not None and self.work.session.draft_of(row.key) is not None:
            self._stay(row)
            return
        rows = self.rows()
        if taken and not self.return_to_review and rows and row is rows[-1]:
            return  # the person chose from a list, and did not mean to leave the page
        if self.return_to_review or not rows or row is rows[-1]:
            await self.action_next_step()
        else:
            await self._focus_beside(row, 1)

    def _stay(self, row: FieldRow) -> None:
        """Stay on an answer that is not valid, with its message in view."""
        if isinstance(row.entry, PickerEntry) and row.entry.open:
            row.entry.action_close_matches()
        row.show(self.work.session, self.work.design)
        self.call_after_refresh(row.scroll_visible, animate=False)

    def _take_sure_match(self) -> None:
        row = self.focused_row()
        if row is not None and isinstance(row.entry, PickerEntry) and row.entry.sure and row.entry.take():
            self.record(row.key, row.entry.value)

    # --- answers

    @on(Answered)
    async def on_answered(self, event: Answered) -> None:
        """Record what was typed or picked; setting a field to what is stored records nothing."""
        event.stop()
        for row in self.rows():
            if row.key == event.key:
                row.entry.heard = row.entry.value if is_pasted_log(event.key, event.raw) else event.raw
        if event.raw == text_of(self.work.session, event.key):
            return
        self._answering += 1
        try:
            self.record(event.key, event.raw)
            await self._fit_rows()
        finally:
            self._answering -= 1

    def record(self, key: str, raw: str) -> None:
        """Answer, clear, or keep as a draft. All typing during one visit of a field is one step of undo."""
        base = self._before_edit[1] if self._before_edit and self._before_edit[0] == key else self.work.session
        self._before_edit = (key, base)
        session = base
        problem = self.wizard.names.problem(key, raw)
        if not raw.strip():
            session = base.clear(key)
        elif problem:
            session = base.draft(key, raw)
        else:
            try:
                session = answered_by_log(base, key, raw) or base.answer(key, typed(key, raw))
            except AnswerError:
                session = base.draft(key, raw)
            except FileError as error:
                session = base if is_pasted_log(key, raw) else base.draft(key, raw)
                self.wizard.notify(str(error), severity="error", timeout=12)
        self._tell_taken_back(key, session)
        self.wizard.change(session)

    def _tell_taken_back(self, key: str, session: Session) -> None:
        """Say which other answers a new one has taken away: no answer goes unseen."""
        before = self.work.answers
        gone = [each for each in before.values if each != key and each not in session.answers.values]
        for each in gone:
            question = self.interview.question(each)
            label = question.label.strip() if question is not None else each
            self.notify(f"{label} {value_text(each, before.values[each])} is taken back: both cannot hold. Undo brings it back.", timeout=8)

    @on(Click, "#conflict")
    def on_conflict_clicked(self) -> None:
        """Show what stands behind the conflict, with its remedies."""
        from wizard.tui.pages import finding_row

        design = self.work.design
        if design is not None and design.conflicts and not self.work.error:
            self.wizard.call_later(self.wizard.show_behind, finding_row(design.conflicts[0]))

    @on(Entered)
    def on_entered(self, event: Entered) -> None:
        """Explain the question that is focused in a line or two."""
        event.stop()
        if self._before_edit is not None and self._before_edit[0] != event.key:
            self._before_edit = None
            self.wizard.keep_field()
        self._show_hint()

    async def action_dont_know(self) -> None:
        """Answer the focused question with "I don't know"."""
        await self.settle()
        row = self.focused_row()
        if row is not None:
            self.record(row.key, "?")

    async def action_clear_answer(self) -> None:
        """Leave the focused question unanswered."""
        await self.settle()
        row = self.focused_row()
        if row is not None:
            self.record(row.key, "")

    # --- showing

    def heading(self) -> str:
        """Return where in the interview the person is."""
        steps = [step.id for step in self.interview.steps]
        return f"step {steps.index(self.step) + 1} of {len(steps)}"

    def show_work(self) -> None:
        """Show session and design as they are now."""
        if not self.is_mounted:
            return
        work = self.work
        self.show_title()
        self.query_one(StepBar).show(self.interview, work.session, self.step, work.visited, self.size.width)
        step = next(each for each in self.interview.steps if each.id == self.step)
        count = answered(self.interview, work.session, step.id, first_only=work.first_only)
        told = open_text(self.interview, work.session, step.id, work.design, first_only=work.first_only) or step.intro
        intro = Content.assemble((f"{step.title}  ", "bold"), f"{count}  ", (told, "$foreground-muted"))
        self.query_one("#intro", Quiet).put(intro)
        for row in self.rows():
            row.show(work.session, work.design)
        self.query_one(LiveStrip).show(work)
        self.query_one(ConflictBox).show(work, (self.query_one("#questions").content_size.width or self.size.width) - 2)
        if self.has_class("-wide"):
            self.query_one(DesignPane).show(work)
        self._show_hint()

    async def resync(self) -> None:
        """Show a session that changed elsewhere: questions may have come or gone."""
        self._before_edit = None
        row = self.focused_row()
        await self._fit_rows()
        if row is not None and row not in self.rows():
            await self._focus_beside(None, 0)
        self.show_work()

    def _show_hint(self) -> None:
        row = self.focused_row()
        if row is not None:
            question = row.question
            link = Style.from_meta({"@click": "app.perform_id('dont_know')"})
            unknown = Content.assemble(("F8", "bold $text-accent"), " I don't know").stylize(link)
            text = Content.assemble(
                (f" {question.ask}", "italic"), "\n ", unknown, (f"   Typical: {question.typical}", "$foreground-muted")
            )
            self.query_one("#hint", Quiet).put(text)
