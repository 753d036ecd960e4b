"""A list whose chosen line carries a pointer, so that it is seen without colour; every line begins with a blank for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.segment import Segment
from textual.strip import Strip
from textual.widgets import OptionList

from wizard.glyphs import sign

if TYPE_CHECKING:
    from collections.abc import Iterable

    from textual.widgets.option_list import Option


class PointedList(OptionList):
    """An option list with a pointer. `refill` keeps the line that was pointed at, by its id."""

    def __init__(self, *options: Option, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(*options, id=id, classes=classes, compact=True)

    def refill(self, options: Iterable[Option], *, follow: bool = False) -> None:
        """Show other options; the pointer and the scroll position stay where the same line is there again, else go to the top.

        `follow`: where the line stands elsewhere now, as in another order, a pointer that was in sight stays in sight.
        """
        before, top, seen = self.highlighted_option, self.scroll_y, follow and self._in_sight()
        kept = before.id if before is not None else None
        self.clear_options()
        self.add_options(options)
        usable = [index for index, option in enumerate(self.options) if not option.disabled]
        same = next((index for index in usable if kept is not None and self.options[index].id == kept), None)
        self.highlighted = same if same is not None else usable[0] if usable else None
        self.call_after_refresh(self._scroll_back, top if same is not None else 0, self.highlighted, seen)

    def _in_sight(self, top: float | None = None) -> bool:
        """Return whether the pointer's line is shown, where the lines from `top` on are; by default as they are now."""
        top = self.scroll_y if top is None else top
        at = next((row for row, line in enumerate(self._lines) if line == (self.highlighted, 0)), None)
        return at is not None and top <= at < top + self.size.height

    def _scroll_back(self, top: float, pointed: int | None, seen: bool) -> None:
        """Show the lines from `top` on, unless a key has moved the pointer meanwhile, or it was `seen` and would not be."""
        if self.highlighted == pointed and (self._in_sight(top) or not seen):
            self.scroll_to(y=top, animate=False)
        else:
            self.scroll_to_highlight()

    def action_page_up(self) -> None:
        """Go up a page; a list that is hidden has no pages."""
        if self.size.height:
            super().action_page_up()  # type: ignore[no-untyped-call]

    def action_page_down(self) -> None:
        """Go down a page; a list that is hidden has no pages."""
        if self.size.height:
            super().action_page_down()  # type: ignore[no-untyped-call]

    def render_line(self, y: int) -> Strip:
        """Return a line, with the pointer in its first cell where it begins the chosen option."""
        strip = super().render_line(y)
        line = self.scroll_offset.y + y
        if self.highlighted is None or line >= len(self._lines) or self._lines[line] != (self.highlighted, 0) or not strip.cell_length:
            return strip
        first = next(iter(strip), None)
        return Strip([Segment(sign("pointer"), first.style if first else None), *strip.crop(1)], strip.cell_length)
