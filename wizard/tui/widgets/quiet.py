"""A text that is painted again only when it changed: over a slow line every needless line costs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.widgets import Static

if TYPE_CHECKING:
    from textual.content import Content


class Quiet(Static):
    """A static text that compares before it repaints."""

    def __init__(self, content: Content | str = "", *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(content, id=id, classes=classes)
        self._shown: Content | None = None

    def put(self, content: Content) -> None:
        """Show `content`, unless it is shown already."""
        shown = self._shown
        if shown is None or shown.plain != content.plain or shown.spans != content.spans:
            self._shown = content
            self.update(content)
