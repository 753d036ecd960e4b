"""The design in three lines under the questions; the first conflict above them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content

from wizard.tui.figures import conflict_lines, live_lines, shortened
from wizard.tui.widgets.quiet import Quiet

if TYPE_CHECKING:
    from wizard.work import Work


class LiveStrip(Quiet):
    """GPUs, plan, memory, step, days, power, price; conflicts, warnings, assumptions, questions."""

    def show(self, work: Work, *, late: bool = False) -> None:
        """Show the work; between an answer and its design only once the design is `late`, for it mostly comes at once."""
        if late or work.current or work.design is None or work.error:
            self.put(Content("\n").join(live_lines(work, max(20, self.content_size.width))))


MOST_LINES, MOST_REMEDY = 4, 2
"""Lines of the box, and of what would help in it: of a long conflict the reason is cut, not the way out."""


class ConflictBox(Quiet):
    """What must be seen: an error, or the first conflict with its remedies; it takes no room where there is none."""

    def show(self, work: Work, width: int) -> None:
        """Show the work as it is now, in lines of `width`."""
        lines = conflict_lines(work)
        remedy = [line for each in lines[1:] for line in shortened(each, width, MOST_REMEDY)]
        reason = [line for each in lines[:1] for line in shortened(each, width, MOST_LINES - len(remedy))]
        self.put(Content("\n").join([*reason, *remedy]))
        self.set_class(bool(lines), "-shown")
