"""Dialogs that ask for one line, and that show long work: how far it is, with a key that stops it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from rules.counting import counted
from wizard.glyphs import sign
from wizard.tui.widgets.pointed_list import PointedList

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual.app import ComposeResult
    from textual.binding import BindingType

BAR = 40
MOST_SUGGESTED = 8
TICK_S = 0.1
"""How often the progress is drawn: often enough to be seen moving, seldom enough for a slow line."""


class PromptDialog(ModalScreen[str | None]):
    """Asks for one line of text; returns it, None where it was closed. `suggest` offers what the text may mean."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "Close", show=False),
        Binding("enter", "take", "Accept", show=False, priority=True),
        Binding("down", "point(1)", "Next", show=False, priority=True),
        Binding("up", "point(-1)", "Previous", show=False, priority=True),
    ]

    def __init__(self, title: str, hint: str, start: str = "", suggest: Callable[[str], Sequence[str]] | None = None) -> None:
        super().__init__()
        self._title, self._hint, self._start, self._suggest = title, hint, start, suggest

    def compose(self) -> ComposeResult:
        """Lay out the dialog."""
        with Vertical(classes="dialog"):
            yield Static(Content.styled(self._title, "bold"), classes="dialog-title")
            yield Input(self._start, id="prompt", compact=True, select_on_focus=False, placeholder=self._hint)
            yield PointedList(id="suggestions", classes="dialog-choices")
            yield Static(Content.styled("Enter accepts  Up, Down pick  Esc closes", "$foreground-muted"), classes="dialog-keys")

    def on_mount(self) -> None:
        """Offer what there is."""
        self.query_one(OptionList).can_focus = False
        entry = self.query_one(Input)
        entry.cursor_position = len(entry.value)
        self.set_focus(entry)
        self._offer()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Offer what the text may mean."""
        event.stop()
        self._offer()

    def _offer(self) -> None:
        found = self._suggest(self.query_one(Input).value) if self._suggest else []
        offered = self.query_one(OptionList)
        offered.clear_options()
        offered.add_options(Option(Content(f"  {text}"), id=text) for text in list(found)[:MOST_SUGGESTED])
        offered.highlighted = None

    def action_point(self, step: int) -> None:
        """Point at the next or the previous suggestion."""
        offered = self.query_one(OptionList)
        if offered.option_count:
            at = -1 if offered.highlighted is None and step > 0 else offered.highlighted or 0
            offered.highlighted = (at + step) % offered.option_count

    def action_take(self) -> None:
        """Return the suggestion that is pointed at, else the text."""
        chosen = self.query_one(OptionList).highlighted_option
        self._use(str(chosen.id) if chosen is not None else self.query_one(Input).value.strip())

    def _use(self, text: str) -> None:
        """Return a text; one that waits for a value, "scale.nodes=", goes into the field for it to be written, unless it stands there."""
        entry = self.query_one(Input)
        if text.endswith("=") and entry.value != text:
            entry.value, entry.cursor_position = text, len(text)
        else:
            self.dismiss(text or None)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """A click takes a suggestion."""
        event.stop()
        self._use(event.option_id or "")


class ProgressDialog(ModalScreen[Any]):
    """Shows how far long work is; Esc stops it. `run` does the work in a thread; its result is returned, None where it was stopped.

    `run` is called with a function that it must call whenever a part begins, with how many have begun; False means to stop.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "stop", "Stop", show=False, priority=True)]

    def __init__(self, title: str, run: Callable[[Callable[[int], bool]], Any], most: int, noun: str = "design") -> None:
        super().__init__()
        self._title, self._run, self._most, self._noun = title, run, most, noun
        self.begun = 0
        self.stopped = False

    def compose(self) -> ComposeResult:
        """Lay out the dialog."""
        with Vertical(classes="dialog"):
            yield Static(Content.styled(self._title, "bold"), classes="dialog-title")
            yield Static("", id="progress")
            yield Static(Content.styled("Esc stops it; nothing is changed", "$foreground-muted"), classes="dialog-keys")

    def on_mount(self) -> None:
        """Begin."""
        self._draw()
        self.set_interval(TICK_S, self._draw)
        self.app.run_worker(self._work, thread=True, group="long", exit_on_error=False)

    def _work(self) -> None:
        found = self._run(self._begins)
        self.app.call_from_thread(self._done, found)

    def _begins(self, number: int) -> bool:
        self.begun = number
        return not self.stopped and self.app.is_running

    def _done(self, found: Any) -> None:
        if self.is_attached:
            self.dismiss(None if self.stopped else found)

    def _draw(self) -> None:
        done = min(BAR, round(self.begun / self._most * BAR))
        told = "stopping …" if self.stopped else f"{counted(self.begun, self._noun)}, {self._most} at most"
        self.query_one("#progress", Static).update(Content(f"{sign('bar') * done}{sign('free') * (BAR - done)}  {told}"))

    def action_stop(self) -> None:
        """Stop at the next part."""
        self.stopped = True
        self._draw()
