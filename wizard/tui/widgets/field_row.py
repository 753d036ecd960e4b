"""One question on one line: label, field, where the value came from; under it what is wrong, and names that match."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Input, Static

from wizard.glyphs import sign
from wizard.names import Names, is_picked
from wizard.preferences import in_words, shown_answer, typed
from wizard.session import check_text
from wizard.shown import assumed_text, assumed_value, field_text, origin_of, read_in, same_answer, text_of, unknown_text, unused_text
from wizard.tui.widgets.choice_entry import ChoiceEntry
from wizard.tui.widgets.messages import Answered, Entered
from wizard.tui.widgets.quiet import Quiet
from wizard.tui.widgets.several_entry import SeveralEntry
from wizard.tui.widgets.text_entry import PickerEntry, TextEntry

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual import events
    from textual.app import ComposeResult

    from rules.answers import Answers, Value
    from rules.design import Design
    from wizard.interview import Question
from wizard.session import Session

Entry = TextEntry | ChoiceEntry
YOU = "you"
ORIGIN_WIDTH = 11
"""Columns of where a value came from; wizard.tcss has one more, which is blank."""


class MatchList(Static):
    """The names that match; a click takes one."""

    def __init__(self, row: FieldRow) -> None:
        super().__init__(classes="matches")
        self._row = row

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Take the name on the clicked line."""
        event.stop()
        self._row.take_match(event.y)


class FieldRow(Vertical):
    """A question's row. It shows the session and posts `Answered`; it keeps no answer of its own."""

    def __init__(
        self, question: Question, session: Session, names: Names, answers: Callable[[], Answers], design: Design | None = None
    ) -> None:
        super().__init__(classes="field")
        self._design = design
        self.question, self._names, self._answers = question, names, answers
        self.entry: Entry = self._make_entry(session)
        self._label = Quiet(self._label_text(here=False), classes="label")
        self._origin = Quiet(classes="origin")
        self._message = Quiet(classes="message")
        self._matches = MatchList(self)
        self._problem = self._note = ""
        self._session, self._design = session, design
        self._looked = names.ready

    def compose(self) -> ComposeResult:
        """Lay out the row."""
        with Horizontal(classes="line"):
            yield self._label
            yield self.entry
            yield self._origin
        if isinstance(self.entry, PickerEntry):
            yield self._matches
        yield self._message

    @property
    def key(self) -> str:
        """Return the key of the answer."""
        return self.question.key

    @property
    def problem(self) -> str:
        """Return what is wrong with the content, "" for nothing."""
        return self._problem

    def show(self, session: Session, design: Design | None) -> None:
        """Show the session's state of this answer, and what `design` assumes without it; text that means the answer stays as typed."""
        self._session, self._design = session, design
        self._show_stand_in()
        self._look_late()
        value, draft = session.answers.values.get(self.key), session.draft_of(self.key)
        on_its_way = self.entry.value != self.entry.heard
        stands = isinstance(self.entry, TextEntry) and draft is None and same_answer(self.key, self.entry.value, value)
        if not on_its_way and not stands:
            self.entry.show(text_of(session, self.key))
        origin = origin_of(session.answers, self.key, design)
        if origin[0] == YOU and (unit := read_in(self.key, self.entry.value)):
            both = f"{YOU}, in {unit}"
            origin = (both if len(both) <= ORIGIN_WIDTH else f"in {unit}", origin[1])
        choosing = isinstance(self.entry, PickerEntry) and self.entry.open
        if draft is not None:
            origin = ("choose one", "$foreground-muted") if choosing else ("invalid", "$text-error")
        self._origin.put(Content.assemble(origin))
        note = unknown_text(session.answers, self.key, design) or (unused_text(self.key, design) if value is not None else "")
        self._say(self._problem_of(draft, value) if draft is not None and not choosing else "", note)

    def _look_late(self) -> None:
        """Offer names for text that was typed before the catalog was loaded."""
        entry, ready = self.entry, self._names.ready
        if isinstance(entry, PickerEntry) and ready and not self._looked and entry.has_focus and entry.part():
            entry.look()
        self._looked = ready

    def _show_stand_in(self) -> None:
        """Show what is assumed where nothing is answered: as the marked choice, or in the empty field."""
        if isinstance(self.entry, ChoiceEntry):
            self.entry.show_assumed(assumed_value(self.key, self._design))
        elif (shown := self._placeholder()) != self.entry.placeholder:
            self.entry.placeholder = shown

    def _placeholder(self) -> str:
        stands_in = assumed_text(self.key, self._design)
        if stands_in:
            return f"{sign('assumed')} {stands_in}"
        return "type to search" if is_picked(self.key) else f"e.g. {shown_answer(self.key, self.question.field.example)}"

    def _problem_of(self, draft: str, value: Value | None) -> str:
        """Return what is wrong with a draft, and which answer the design goes by until it is right."""
        problem = self._check(draft)
        return f"{problem}; until then {in_words(field_text(self.key, value))} counts" if problem and value is not None else problem

    def _check(self, text: str) -> str:
        return check_text(self.key, typed(self.key, text)) or self._names.problem(self.key, text)

    def _say(self, problem: str, note: str) -> None:
        if (problem, note) != (self._problem, self._note):
            self._problem, self._note = problem, note
            mark, style = ("conflict", "$text-error") if problem else ("assumed", "$foreground-muted")
            text = problem or note
            self._message.put(Content.assemble((f"{sign(mark)} ", f"bold {style}"), (text, style)) if text else Content())
            self._message.set_class(bool(text), "-shown")

    def on_input_changed(self, event: Input.Changed) -> None:
        """Tell the screen what was typed; offer names that match it."""
        event.stop()
        if isinstance(self.entry, PickerEntry) and self.entry.has_focus:
            self.entry.look()
        self.post_message(Answered(self.key, event.value))

    def on_descendant_focus(self) -> None:
        """Mark the row, and tell the screen."""
        self._label.put(self._label_text(here=True))
        self.post_message(Entered(self.key))

    def on_descendant_blur(self) -> None:
        """Unmark the row; close the list of names."""
        self._label.put(self._label_text(here=False))
        if isinstance(self.entry, PickerEntry) and self.entry.open:
            self.entry.action_close_matches()

    def on_picker_entry_matches_changed(self) -> None:
        """Show the names that match."""
        assert isinstance(self.entry, PickerEntry)
        rows: list[str | tuple[str, str]] = []
        if self.entry.near and self.entry.matches:
            rows = [("  nothing has all of these words; most like them:\n", "$foreground-muted")]
        for number, each in enumerate(self.entry.matches):
            pointer, style = (sign("pointer"), "bold reverse") if number == self.entry.at else (" ", "")
            rows += ["\n" if number else "", (f"{pointer} {each.id}", style), (f"  {each.note}", "$foreground-muted")]
        if self.entry.more:
            rows.append((f"\n  {self.entry.more} more; type another word", "$foreground-muted"))
        self._matches.update(Content.assemble(*rows))
        self._matches.set_class(bool(self.entry.matches), "-shown")
        self.show(self._session, self._design)

    def take_match(self, index: int) -> None:
        """Take the match on line `index` of the list."""
        if not isinstance(self.entry, PickerEntry):
            return
        index -= int(self.entry.near)
        if 0 <= index < len(self.entry.matches):
            self.entry.take(index)
            self.screen.set_focus(self.entry)

    def _label_text(self, *, here: bool) -> Content:
        return Content.assemble((f"{sign('pointer') if here else ' '} {self.question.label}", "bold" if here else ""))

    def _make_entry(self, session: Session) -> Entry:
        declared, key = self.question.field, self.key
        text = text_of(session, key)
        if declared.choices:
            entry = (SeveralEntry if declared.kind == "names" else ChoiceEntry)(key, declared.choices, assumed_value(key, self._design))
            entry.show(text)
            return entry
        if is_picked(key):
            return PickerEntry(
                key,
                self._placeholder(),
                text,
                lambda part: self._names.matches(key, part, self._answers()),
                lambda part: self._names.nearest(key, part),
                several=declared.kind == "names",
            )
        return TextEntry(key, self._placeholder(), text)
