"""What all full screens share: title line, key line, and the message where the terminal is too small."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, cast

from textual.content import Content
from textual.screen import Screen
from textual.widgets import Static

from wizard.cli import one_line
from wizard.glyphs import sign
from wizard.tui.widgets.key_line import KeyLine
from wizard.tui.widgets.quiet import Quiet

if TYPE_CHECKING:
    from collections.abc import Iterable

    from textual import events
    from textual.app import ComposeResult
    from textual.widget import Widget

    from wizard.tui.app import WizardApp
    from wizard.work import Work

SMALLEST_WIDTH, SMALLEST_HEIGHT, WIDE = 76, 21, 110
SIZES_ACROSS: list[tuple[int, str]] = [(0, "-tiny"), (SMALLEST_WIDTH, "-narrow"), (WIDE, "-wide")]
SIZES_DOWN: list[tuple[int, str]] = [(0, "-low"), (SMALLEST_HEIGHT, "-tall")]


class WizardScreen(Screen[None]):
    """A full screen of the wizard; `SCOPE` names its actions in the registry."""

    SCOPE: ClassVar[str] = "everywhere"

    @property
    def wizard(self) -> WizardApp:
        """Return the app."""
        return cast("WizardApp", self.app)

    @property
    def work(self) -> Work:
        """Return the work in hand."""
        return self.wizard.work

    def body(self) -> Iterable[Widget]:
        """Return what stands between title and keys."""
        return ()

    def foot(self) -> Iterable[Widget]:
        """Return what stands between the body and the keys."""
        return ()

    def compose(self) -> ComposeResult:
        """Lay out the screen."""
        yield Quiet(id="title")
        yield from self.body()
        yield from self.foot()
        yield KeyLine(self.SCOPE)
        yield Static(
            f"The terminal is too small.\n\nThe wizard needs {SMALLEST_WIDTH} columns and {SMALLEST_HEIGHT} lines; make the window larger, "
            "or the letters smaller.\nNothing is lost. Ctrl+Q quits and keeps your answers.",
            id="too-small",
        )

    def on_resize(self, event: events.Resize) -> None:
        """Write anew what depends on the width."""
        del event
        self.call_after_refresh(self.show_work)

    def heading(self) -> str:
        """Return what stands at the right of the title."""
        return ""

    def show_title(self) -> None:
        """Show program, design, whether it is saved, and where the person is."""
        work, joint = self.work, f" {sign('separator')} "
        right = self.heading()
        around = len(f" cluster-wizard{joint}{joint}{work.state}  {right} ")
        left = f" cluster-wizard{joint}{_shortened(one_line(work.name), self.size.width - around)}{joint}{work.state}"
        space = self.size.width - len(left) - len(right) - 1
        self.query_one("#title", Quiet).put(Content.assemble((left, "bold"), " " * max(1, space), right))

    def show_work(self) -> None:
        """Show the work as it is now; called after every change."""
        self.show_title()


def _shortened(name: str, width: int) -> str:
    return name if len(name) <= width else f"{name[: max(3, width - 1)]}…"
