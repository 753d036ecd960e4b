"""Jump: every place that can be gone to has a letter; the letter goes there."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.style import Style
from textual.widgets import Static

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual import events
    from textual.app import ComposeResult
    from textual.binding import BindingType

LETTERS = "abcdefghijklmnopqrstuvwxyz"
COLUMNS = 3


class JumpDialog(ModalScreen[str | None]):
    """Shows places as (hint, id, title); returns the id of the one whose hint was pressed or that was clicked."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "Close", show=False)]

    def __init__(self, places: Sequence[tuple[str, str, str]]) -> None:
        super().__init__()
        self._places = places

    def compose(self) -> ComposeResult:
        """Lay out the dialog."""
        with Vertical(classes="dialog"):
            yield Static(Content.styled("Go to", "bold"), classes="dialog-title")
            yield Static(self._table(), id="dialog-body")
            yield Static(Content.styled("a letter goes there  Esc closes", "$foreground-muted"), classes="dialog-keys")

    def _table(self) -> Content:
        width = max((len(title) for _, _, title in self._places), default=0) + 6
        columns = max(1, min(COLUMNS, (self.app.size.width * 9 // 10 - 4) // width))
        rows = [self._places[start : start + columns] for start in range(0, len(self._places), columns)]
        return Content("\n").join(Content("").join(self._cell(place, width) for place in row) for row in rows)

    def _cell(self, place: tuple[str, str, str], width: int) -> Content:
        hint, id_, title = place
        link = Style.from_meta({"@click": f"screen.dismiss('{id_}')"})
        return Content.assemble((f" {hint} ", "bold reverse"), f" {title:<{width - 4}}").stylize(link)

    def on_key(self, event: events.Key) -> None:
        """Go where the letter says."""
        found = next((id_ for hint, id_, _ in self._places if hint == event.character), None)
        if found is not None:
            event.stop()
            self.dismiss(found)
