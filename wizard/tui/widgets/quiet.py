"""A text that is painted again only when it changed, and laid out again only when it takes another room."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from textual.widgets import Static

if TYPE_CHECKING:
    from textual.content import Content
    from textual.css.styles import RulesMap


class Quiet(Static):
    """A static text that compares before it repaints: over a slow line every needless line costs, and a layout costs most of a key."""

    def __init__(self, content: Content | str = "", *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(content, id=id, classes=classes)
        self._shown: Content | None = None

    def put(self, content: Content) -> None:
        """Show `content`, unless it is shown already."""
        shown = self._shown
        if shown is None or shown.plain != content.plain or shown.spans != content.spans:
            self._shown = content
            before = self._lines()
            self.update(content, layout=False)
            if self._lines() != before or not before:
                self.refresh(layout=True)

    def _lines(self) -> int:
        """Return how many lines the content takes: what the style gives it, else as it wraps; 0 before it has a place."""
        width = self.content_size.width
        if not width or self.styles.is_auto_width:
            return 0
        return self.visual.get_height(cast("RulesMap", self.styles), width) if self.styles.is_auto_height else 1
