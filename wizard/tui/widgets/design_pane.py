"""The design beside the questions, on terminals that are wide enough."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.containers import VerticalScroll
from textual.content import Content

from wizard.tui.figures import overview
from wizard.tui.widgets.quiet import Quiet

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from wizard.work import Work

MARGIN = 4


class DesignPane(VerticalScroll, can_focus=False):
    """What the answers so far lead to."""

    def compose(self) -> ComposeResult:
        """Lay out the pane."""
        yield Quiet(id="design-text")

    def show(self, work: Work) -> None:
        """Show the work as it is now."""
        if work.design is None:
            text = Content(work.error or "The design appears here as you answer.")
        else:
            text = Content("\n").join(overview(work.design, max(20, self.size.width - MARGIN), work.previous))
        self.query_one("#design-text", Quiet).put(text)
