"""Conflicts taken apart: only the answers that cannot hold together, each to be changed, and the smallest change of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content
from textual.widgets.option_list import Option

from rules.counting import counted
from wizard.glyphs import sign
from wizard.interview import load_interview
from wizard.shown import value_text
from wizard.tui.screens.lists import ListScreen, hanging
from wizard.tui.widgets.live_strip import LiveStrip
from wizard.tui.widgets.pointed_list import PointedList
from wizard.tui.widgets.quiet import Quiet

if TYPE_CHECKING:
    from collections.abc import Iterable

    from textual.widget import Widget

    from rules.answers import Answers
    from rules.conflicts import Conflicts
    from rules.smallest import SmallestChange


class ConflictScreen(ListScreen):
    """The minimal sets. Enter on an answer changes it; Enter on a change shows before and after."""

    def __init__(self, conflicts: Conflicts, answers: Answers) -> None:
        super().__init__()
        self.conflicts, self._answers = conflicts, answers
        self._changes: dict[str, SmallestChange] = {}

    def body(self) -> Iterable[Widget]:
        """Return the list above the live strip."""
        yield Quiet(id="intro")
        yield PointedList(id="rows")
        yield LiveStrip(id="strip")

    def heading(self) -> str:
        """Return how many sets there are."""
        count = len(self.conflicts.sets)
        return counted(count, "conflict")

    def show_work(self) -> None:
        """Show the sets; they are those of the answers that they were found for."""
        self.show_title()
        stale = self.work.answers != self._answers
        told = "answers changed since; Esc, then look again" if stale else "each set is as small as can be; change one answer of it"
        self.query_one("#intro", Quiet).put(Content.assemble((" What cannot hold together", "bold"), (f"   {told}", "$foreground-muted")))
        self.query_one(PointedList).refill(self._options())
        self.query_one(LiveStrip).show(self.work)

    def _options(self) -> Iterable[Option]:
        width = self.size.width - 1
        for number, each in enumerate(self.conflicts.sets):
            head = Content.assemble((f"\n{sign('conflict')} {number + 1}  ", "bold $text-error"), (each.sentence, "bold"))
            yield Option(head, disabled=True)
            for key in each.keys:
                if self._kept(f"{key} {_label(key)}"):
                    shown = value_text(key, self._answers.value(key)) if not key.startswith("policy.") else ""
                    yield Option(Content(f"   Change  {_label(key):<24} {shown}"), id=f"{number}|{key}")
            for change in each.changes:
                id_ = f"{number}|{change.key}|{change.after}"
                self._changes[id_] = change
                if self._kept(f"{change.key} {change.text}"):
                    text = Content.assemble(("   Smallest change  ", "$foreground-muted"), f"{_label(change.key)}: {change.text}")
                    yield Option(hanging(text, width), id=id_)

    def _kept(self, text: str) -> bool:
        return all(word in text.lower() for word in self.filter.lower().split())

    async def open_row(self, id_: str) -> None:
        """Change an answer, or show what its smallest change does."""
        change = self._changes.get(id_)
        if change is not None:
            self.wizard.asker.try_change(change.key, change.after or None, f"{_label(change.key)}: {change.text}")
        elif id_.split("|")[1].startswith("policy."):
            self.wizard.asker.policy_held(id_.split("|")[1])
        else:
            await self.wizard.go_to_question(id_.split("|")[1])


def _label(key: str) -> str:
    question = load_interview().question(key)
    return question.label.strip() if question is not None else key
