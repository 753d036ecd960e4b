"""The start page: go on with unfinished work, start new, start from a situation or an example, open a file."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, ClassVar

from textual.content import Content
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from rules.answers import shortened
from rules.counting import counted
from wizard.cli import one_line
from wizard.kept import Unfinished, unfinished
from wizard.places import examples_folder
from wizard.shown import choice_label
from wizard.situations import load_situations
from wizard.tui.actions import bindings_of
from wizard.tui.screens.base import WizardScreen
from wizard.tui.widgets.pointed_list import PointedList
from wizard.tui.widgets.quiet import Quiet

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from textual.binding import BindingType
    from textual.widget import Widget

    from wizard.work import Work

TITLE_WIDTH = 38
BESIDE_TEXT = TITLE_WIDTH + 5
"""Columns beside what a line says: the pointer, the title and the gaps."""
_TOLD = (("workload", "kind"), ("model", "preset"), ("model", "parameters"))
"""Answers that tell one unfinished design from another."""
MOST_READ = 100_000
"""Characters of an autosave that are read to say what it holds; a larger one says nothing here."""


class StartScreen(WizardScreen):
    """Where a person begins. Everything is one key or one click away."""

    SCOPE = "start"
    AUTO_FOCUS = "#starts"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of("start")]

    def __init__(self) -> None:
        super().__init__()
        self._unfinished: list[Unfinished] = []
        self._examples: list[Path] = []
        self._texts: dict[str, str] = {}

    def body(self) -> Iterable[Widget]:
        """Return the greeting and the list."""
        yield Static(
            Content.assemble(
                ("Design a GPU training cluster, and know why it is as it is.\n", "bold"),
                ("Answer what you know, leave the rest; the design follows every answer. Nothing is final.", "$foreground-muted"),
            ),
            id="greeting",
        )
        yield PointedList(id="starts")
        yield Quiet(id="about")

    def on_mount(self) -> None:
        """Fill the list."""
        self.refresh_list()
        self.show_work()

    def refresh_list(self) -> None:
        """Fill the list with what there is now."""
        rows = list(self._rows())
        self._texts = {id_: text for id_, _, text in rows}
        self.query_one(PointedList).refill(_option(*row) if row[0] else _heading(row[1]) for row in rows)

    def _rows(self) -> Iterable[tuple[str, str, str]]:
        """Yield the lines as (id, title, what it is); headings have no id."""
        work = self.work
        self._unfinished = [each for each in unfinished() if work.kept is None or each.place != work.kept.place]
        if not work.untouched:
            yield "continue", f"Go on with {one_line(work.name)}", f"{_answered(work)}, {work.state}"
        for number, found in enumerate(self._unfinished):
            title = f"Resume {one_line(found.path.name)}" if found.path else "Resume unfinished work"
            ago, held = f"kept {_ago(found.when)}", "" if found.path else _held(found.place)
            yield f"resume:{number}", title, f"{ago}, {one_line(str(found.path))}" if found.path else f"{held}, {ago}" if held else ago
        yield "new", "New design", "from the first question"
        yield "first", "First design in ten questions", "the rest refines it, whenever you like"
        yield "open", "Open a file", "a saved design, or a file of answers"
        yield "", "Start from a situation", ""
        for situation in load_situations():
            yield f"situation:{situation.id}", situation.title, situation.text
        self._examples = sorted(examples_folder().glob("*.toml")) if examples_folder().is_dir() else []
        if self._examples:
            yield "", "Start from an example design", ""
        for number, path in enumerate(self._examples):
            yield f"example:{number}", path.stem, _description(path)

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """Say in full what the list has no room for."""
        event.stop()
        text = self._texts.get(event.option_id or "", "")
        self.query_one("#about", Quiet).put(Content.styled(text if len(text) > self.size.width - BESIDE_TEXT else "", "$foreground-muted"))

    def show_work(self) -> None:
        """Show the title, and what was cut at this width."""
        super().show_work()
        starts = self.query_one(PointedList)
        if starts.highlighted_option is not None:
            starts.post_message(OptionList.OptionHighlighted(starts, starts.highlighted_option, starts.highlighted or 0))

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """A click chooses."""
        event.stop()
        self.app.call_later(self.begin, event.option_id or "")  # it closes this screen, which would wait for this handler

    async def action_begin(self) -> None:
        """Enter chooses what is highlighted."""
        option = self.query_one(PointedList).highlighted_option
        if option is not None:
            await self.begin(option.id or "")

    async def begin(self, choice: str) -> None:
        """Start as chosen."""
        kind, _, which = choice.partition(":")
        if kind == "continue":
            await self.wizard.continue_work()
        elif kind == "new":
            await self.wizard.start_new()
        elif kind == "first":
            await self.wizard.start_new(first_only=True)
        elif kind == "open":
            await self.wizard.action_open_file()
        elif kind == "resume":
            await self.wizard.resume(self._unfinished[int(which)])
        elif kind == "situation":
            await self.wizard.start_situation(which)
        elif kind == "example":
            await self.wizard.start_example(self._examples[int(which)])


def _option(id_: str, title: str, text: str) -> Option:
    return Option(Content.assemble("   ", (f"{title:<{TITLE_WIDTH}}", "bold"), (f" {text}", "$foreground-muted")), id=id_)


def _heading(text: str) -> Option:
    return Option(Content.assemble(("\n" + text, "bold $text-accent")), disabled=True)


def _answered(work: Work) -> str:
    return counted(len(work.session.answers.values), "answer")


def _held(place: Path) -> str:
    """Return in a few words what an autosave holds, so that two of them can be told apart: "12 answers: LoRA, llama-3.1-70b"."""
    import tomllib

    try:
        with place.open(encoding="utf-8") as stream:
            answers = tomllib.loads(stream.read(MOST_READ)).get("answers", {})
        number = sum(len(section) for section in answers.values())
        named = [answers.get(section, {}).get(key) for section, key in _TOLD]
    except (OSError, ValueError, TypeError, AttributeError):
        return ""
    names = ", ".join(choice_label(str(each)) for each in named if each)
    return counted(number, "answer") + (f": {shortened(one_line(names))}" if names else "")


def _ago(when: float) -> str:
    minutes = max(0.0, time.time() - when) / 60
    if minutes < 1.5:
        return "a minute ago"
    if minutes < 90:
        return f"{minutes:.0f} minutes ago"
    return f"{minutes / 60:.0f} hours ago" if minutes < 60 * 36 else f"{minutes / 60 / 24:.0f} days ago"


def _description(path: Path) -> str:
    """Return the first sentence of a design's notes, else its name, without reading the whole design."""
    import tomllib

    try:
        with path.open(encoding="utf-8") as stream:
            head = stream.read(4000)
        table = head.partition("[meta]")[2].partition("\n[")[0]
        meta = tomllib.loads(table)
    except (OSError, ValueError):
        return ""
    notes = str(meta.get("notes") or meta.get("name") or "")
    return notes.partition(". ")[0].removesuffix(".")
