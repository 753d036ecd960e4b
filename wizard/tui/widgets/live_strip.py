"""The design in three lines under the questions; the first conflict above them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content

from wizard.tui.figures import conflict_lines, live_lines
from wizard.tui.widgets.quiet import Quiet

if TYPE_CHECKING:
    from wizard.work import Work


class LiveStrip(Quiet):
    """GPUs, plan, memory, step, days, power, price; conflicts, warnings, assumptions, questions."""

    def show(self, work: Work, *, late: bool = False) -> None:
        """Show the work; between an answer and its design only once the design is `late`, for it mostly comes at once."""
        if late or work.current or work.design is None or work.error:
            self.put(Content("\n").join(live_lines(work, max(20, self.content_size.width))))


class ConflictBox(Quiet):
    """What must be seen: an error, or the first conflict with its remedies; it takes no room where there is none."""

    def show(self, work: Work) -> None:
        """Show the work as it is now."""
        lines = conflict_lines(work)
        self.put(Content("\n").join(lines))
        self.set_class(bool(lines), "-shown")
