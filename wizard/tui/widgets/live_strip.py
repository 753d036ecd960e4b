"""The design in three lines under the questions; the first conflict above them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content
from textual.widgets import Static

from wizard.tui.figures import conflict_lines, live_lines

if TYPE_CHECKING:
    from wizard.tui.work import Work


class LiveStrip(Static):
    """GPUs, plan, memory, step, days, power, price; conflicts, warnings, assumptions, questions."""

    def show(self, work: Work) -> None:
        """Show the work as it is now."""
        self.update(Content("\n").join(live_lines(work)))


class ConflictBox(Static):
    """What must be seen: an error, or the first conflict with its remedies; it takes no room where there is none."""

    def show(self, work: Work) -> None:
        """Show the work as it is now."""
        lines = conflict_lines(work)
        self.update(Content("\n").join(lines))
        self.set_class(bool(lines), "-shown")
