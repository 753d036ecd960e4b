"""Several of a few choices: [x] for those that are taken. Arrows move, space or the mouse takes and leaves."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding

from rules.answers import UNKNOWN
from wizard.glyphs import sign
from wizard.shown import choice_label
from wizard.tui.widgets.choice_entry import ChoiceEntry

if TYPE_CHECKING:
    from textual.binding import BindingType


class SeveralEntry(ChoiceEntry):
    """Choices of which any number may be taken; the answer is their list."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "choose(-1)", "Go to the one before", show=False),
        Binding("right", "choose(1)", "Go to the next one", show=False),
        Binding("space", "flip", "Take or leave", show=False),
    ]

    def __init__(self, key: str, choices: tuple[str, ...], assumed: str = "") -> None:
        super().__init__(key, choices, assumed)
        self._at = 0

    @property
    def taken(self) -> tuple[str, ...]:
        """Return what is taken."""
        return tuple(part.strip() for part in self.value.split(",") if part.strip() in self.choices)

    def pick(self, value: str) -> None:
        """Take or leave one choice; "" and "unknown" stand for the whole answer."""
        if value in self.choices:
            self._at = self.choices.index(value)
            taken = set(self.taken) ^ {value}
            value = ", ".join(choice for choice in self.choices if choice in taken)
        super().pick(value)

    def action_choose(self, step: int) -> None:
        """Move to the next or the previous choice."""
        self._at = (self._at + step) % len(self.choices)
        self.refresh()

    def action_flip(self) -> None:
        """Take or leave the choice that the pointer is at."""
        self.pick(self.choices[self._at])

    def _style(self, choice: str) -> str:
        if self.has_focus and self.choices[self._at] == choice:
            return "bold reverse"
        return "bold $text-primary" if choice in self.taken else "$foreground-muted"

    def _text(self, choice: str) -> str:
        stands_in = choice in self.assumed and self.value in ("", UNKNOWN)
        mark = "[~]" if stands_in else sign("ticked" if choice in self.taken else "unticked")
        return f"{mark} {choice_label(choice)}"
