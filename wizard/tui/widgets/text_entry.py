"""A field for typed answers, and one that offers names of the catalog while a person types."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding
from textual.geometry import Size
from textual.message import Message
from textual.reactive import Reactive
from textual.widgets import Input

from wizard.names import MOST_MATCHES
from wizard.site_log import is_pasted_log
from wizard.tui.widgets.messages import Answered

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual import events
    from textual.binding import BindingType

    from wizard.names import Name

    Find = Callable[[str], list[Name]]


class TextEntry(Input):
    """One line of text for one answer. Text is checked by the session, never refused while typing.

    `heard` is the text that the session knows of; where the field holds another, what was typed is still on its way.
    """

    virtual_size: Reactive[Size] = Reactive(Size(0, 0))
    """How far the text can be scrolled; the field is as wide as ever, so a key lays nothing out anew."""

    def __init__(self, key: str, placeholder: str, text: str) -> None:
        super().__init__(value=text, placeholder=placeholder, compact=True, select_on_focus=False)
        self.key = key
        self.heard = text

    def _on_paste(self, event: events.Paste) -> None:
        """Take all lines of a pasted log; of other text Textual takes the first line."""
        if is_pasted_log(self.key, event.text):
            event.stop()
            event.prevent_default()
            self.post_message(Answered(self.key, event.text))

    def show(self, text: str) -> None:
        """Show a stored answer without recording it."""
        self.heard = text
        if text != self.value:
            with self.prevent(Input.Changed):
                self.value = text
            self.cursor_position = len(text)


class PickerEntry(TextEntry):
    """A field for names: Up and Down go through what matches, Enter takes it. With `several`, names are parted by commas.

    Where nothing matches, what is most like the typed text is offered (`near`); of that nothing is taken unless pointed at.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "close_matches", "Close the list", show=False),
    ]

    class MatchesChanged(Message):
        """What matches, or which match is pointed at, changed."""

    def __init__(self, key: str, placeholder: str, text: str, find: Find, nearest: Find, *, several: bool) -> None:
        super().__init__(key, placeholder, text)
        self._find, self._nearest, self._several = find, nearest, several
        self.matches: list[Name] = []
        self.more = 0
        self.near = False
        self.at = 0
        self._pointed = False

    @property
    def open(self) -> bool:
        """Return whether matches are offered."""
        return bool(self.matches)

    def part(self) -> str:
        """Return the name being typed: all of the text, or what follows the last comma."""
        return self.value.rsplit(",", 1)[-1].strip() if self._several else self.value.strip()

    def look(self) -> None:
        """Find what matches the typed text, else what is most like it; nothing is offered for a name that is complete."""
        part = self.part()
        found = self._find(part) if part not in ("", "?") else []
        self.near = not found and part not in ("", "?")
        self._offer(self._nearest(part) if self.near else [] if any(each.id == part for each in found) else found)
        self.at, self._pointed = -1 if self.near else 0, False
        self.post_message(self.MatchesChanged())

    def point(self, step: int) -> bool:
        """Point at the next match, or offer all names where nothing is typed; False where there is nothing to point at."""
        if not self.matches and step > 0 and self.part():
            self.look()
            self.at = -1
        if not self.matches:
            if step < 0 or self.part():
                return False
            self._offer(self._find(""))
            self.near, self.at = False, 0
        elif self.at + step < 0 or self.at + step >= len(self.matches):
            return False
        else:
            self.at += step
        self._pointed = True
        self.post_message(self.MatchesChanged())
        return bool(self.matches)

    def take(self, index: int | None = None) -> bool:
        """Take a match into the field; False where none is offered."""
        at = self.at if index is None else index
        if not self.matches or at < 0:
            return False
        chosen = self.matches[at].id
        head = self.value.rsplit(",", 1)[0] + ", " if self._several and "," in self.value else ""
        self.value = head + chosen
        self.cursor_position = len(self.value)
        self.action_close_matches()
        return True

    @property
    def sure(self) -> bool:
        """Return whether leaving the field takes the match: the person pointed at it, or it is the only one."""
        return bool(self.matches) and (self._pointed or (len(self.matches) == 1 and not self.near))

    def action_close_matches(self) -> None:
        """Offer nothing until something is typed."""
        self._offer([])
        self.post_message(self.MatchesChanged())

    def _offer(self, found: list[Name]) -> None:
        self.matches, self.more = found[:MOST_MATCHES], max(0, len(found) - MOST_MATCHES)
