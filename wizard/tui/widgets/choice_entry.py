"""A choice on one or two lines: ● for the chosen, ~ for what is assumed, ○ for the rest. Arrows, digits, initials and mouse choose.

"?" is "I don't know" and is shown as such; the space bar confirms what is assumed, and never changes a given answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding
from textual.content import Content
from textual.widget import Widget

from rules.answers import UNKNOWN
from wizard.glyphs import sign
from wizard.shown import choice_label
from wizard.tui.widgets.messages import Answered

if TYPE_CHECKING:
    from textual import events
    from textual.binding import BindingType
    from textual.geometry import Size

GAP = 2


class ChoiceEntry(Widget, can_focus=True):
    """The choices of a question; choosing one posts `Answered`. `heard` is the choice that the session knows of."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "choose(-1)", "Choose the one before", show=False),
        Binding("right", "choose(1)", "Choose the next one", show=False),
        Binding("space", "confirm", "Choose what is assumed", show=False),
        Binding("delete,backspace", "empty", "Choose none", show=False),
    ]

    def __init__(self, key: str, choices: tuple[str, ...], assumed: str = "") -> None:
        super().__init__(classes="choice")
        self.key, self.choices, self.assumed = key, choices, assumed
        self.value = self.heard = ""

    def show(self, text: str) -> None:
        """Show a stored answer without recording it."""
        self.heard = UNKNOWN if text == "?" else text
        self._put(self.heard)

    def _put(self, value: str) -> None:
        if value != self.value:
            self.value = value
            self.refresh(layout=True)

    def show_assumed(self, value: str) -> None:
        """Show what stands in for a missing answer; "" for nothing."""
        if value != self.assumed:
            self.assumed = value
            self.refresh(layout=True)

    def pick(self, value: str) -> None:
        """Choose, and tell the screen."""
        self._put(value)
        self.post_message(Answered(self.key, value))

    def action_choose(self, step: int) -> None:
        """Choose the next or the previous one; from none, what is assumed or the first."""
        if self.value in self.choices:
            self.pick(self.choices[(self.choices.index(self.value) + step) % len(self.choices)])
        else:
            self.pick(self.assumed if self.assumed in self.choices else self.choices[0])

    def action_confirm(self) -> None:
        """Make what is assumed the answer; an answer that was given stays as it is."""
        if not self.value and self.assumed in self.choices:
            self.pick(self.assumed)

    def action_empty(self) -> None:
        """Leave the question unanswered."""
        self.pick("")

    def on_key(self, event: events.Key) -> None:
        """Choose by digit, by initial, or "?" for "I don't know"."""
        character = (event.character or "").lower()
        if character == "?":
            self.pick(UNKNOWN)
        elif character.isdigit() and 1 <= int(character) <= len(self.choices):
            self.pick(self.choices[int(character) - 1])
        elif character.isalpha():
            self._pick_initial(character)
        else:
            return
        event.stop()

    def _pick_initial(self, letter: str) -> None:
        start = self.choices.index(self.value) + 1 if self.value in self.choices else 0
        order = (*self.choices[start:], *self.choices[:start])
        found = next((choice for choice in order if choice_label(choice).lower().startswith(letter) or choice.startswith(letter)), None)
        if found:
            self.pick(found)

    def on_click(self, event: events.Click) -> None:
        """Choose what was clicked."""
        x, y = event.x - self.gutter.left, event.y - self.gutter.top
        for row, line in enumerate(self._layout(self.size.width)):
            for choice, left, text in line:
                if row == y and left <= x < left + len(text):
                    self.pick(choice)
                    return

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Return the number of lines that the choices take."""
        del container, viewport
        return len(self._layout(width))

    def render(self) -> Content:
        """Return the choices, wrapped between choices only."""
        pieces: list[str | tuple[str, str]] = []
        for number, line in enumerate(self._layout(self.size.width)):
            pieces += ["\n"] if number else []
            at = 0
            for choice, left, text in line:
                pieces += [" " * (left - at), (text, self._style(choice))]
                at = left + len(text)
        return Content.assemble(*pieces)

    def _style(self, choice: str) -> str:
        if choice == self.value:
            return "bold $text-primary" if not self.has_focus else "bold reverse"
        return "" if choice == self.assumed and not self.value else "$foreground-muted"

    def _text(self, choice: str) -> str:
        stands_in = choice == self.assumed and self.value in ("", UNKNOWN)
        return f"{sign('on' if choice == self.value else 'assumed' if stands_in else 'off')} {choice_label(choice)}"

    def _layout(self, width: int) -> list[list[tuple[str, int, str]]]:
        """Return lines of (choice, column, text) that fit into `width`."""
        lines: list[list[tuple[str, int, str]]] = [[]]
        at = 0
        for choice in self.choices:
            text = self._text(choice)
            if lines[-1] and at + len(text) > max(width, 1):
                lines.append([])
                at = 0
            lines[-1].append((choice, at, text))
            at += len(text) + GAP
        return lines
