"""The app at its very base: a page is painted once it has come together, and what stands on the terminal is not written to it again.

Whatever changes a layout makes Textual paint the whole screen, half a dozen times while a page is built: 20 to 30 kB for a page of
80×24, which has 2 kB of text. Over a slow line, every byte is time that the person waits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.control import Control
from textual._compositor import ChopsUpdate, CompositorUpdate, LayoutUpdate
from textual.app import App

if TYPE_CHECKING:
    from rich.console import Console
    from textual.screen import Screen


HOLD_S = 0.02
"""How long a changed layout waits for further changes before it is painted: about a frame."""


class Written(CompositorUpdate):
    """An update that is text already."""

    def __init__(self, text: str) -> None:
        self.text = text

    def render_segments(self, console: Console) -> str:
        """Return what is written to the terminal."""
        del console
        return self.text


class Painted:
    """What stands on the terminal, line by line; None for lines of which parts were painted since."""

    def __init__(self) -> None:
        self._lines: list[str | None] = []
        self._width = 0
        self._parts = ""

    def __bool__(self) -> bool:
        return bool(self._lines)

    def forget(self) -> None:
        """Know nothing: something else may have written to the terminal."""
        self._lines, self._parts = [], ""

    def without_known(self, update: Any, console: Console) -> Any:
        """Return what has to be painted of an update, and take it as painted."""
        if isinstance(update, LayoutUpdate) and update.region.offset == (0, 0):
            now = ["".join(strip.render(console) for strip in line) for line in update.strips]
            same_size = (len(self._lines), self._width) == (len(now), update.region.width)
            before = self._lines if same_size else [None] * len(now)
            self._lines, self._width, self._parts = list(now), update.region.width, ""
            return Written("".join(f"{_move_to(row)}{line}" for row, line in enumerate(now) if line != before[row]))
        if not isinstance(update, ChopsUpdate):
            self.forget()
            return update
        for row, _, _ in update.spans:
            if row < len(self._lines):
                self._lines[row] = None
        parts, before_parts = update.render_segments(console), self._parts
        self._parts = parts
        return Written("" if parts == before_parts else parts)


def _move_to(row: int) -> str:
    return Control.move_to(0, row).segment.text


class FrugalApp(App[int]):
    """Paints what differs. After a suspension, and when the terminal gets the focus again, all is painted anew."""

    def __init__(self) -> None:
        super().__init__()
        self._painted = Painted()
        self._held = False

    def _display(self, screen: Screen[Any], renderable: Any) -> None:
        """Paint an update; a changed layout soon, with all that changes until then. What Textual calls for every paint."""
        writes = self._running and not self._closed and not self.is_headless and self._driver is not None and not self._batch_count
        if not writes or renderable is None:
            super()._display(screen, renderable)
        elif self._held:
            pass  # all is painted in a moment
        elif isinstance(renderable, LayoutUpdate) and self._painted:
            self._held = True
            self.set_timer(HOLD_S, self._paint_all)
        else:
            super()._display(screen, self._painted.without_known(renderable, self.console))

    def _paint_all(self) -> None:
        self._held = False
        if self.screen_stack:
            screen = self.screen
            update = screen._compositor.render_update(full=True, screen_stack=self._background_screens)
            super()._display(screen, self._painted.without_known(update, self.console))

    def _resume_signal(self) -> None:
        self._painted.forget()
        super()._resume_signal()

    def on_app_focus(self) -> None:
        """Paint all lines with the next layout: the terminal may show something else by now."""
        self._painted.forget()
