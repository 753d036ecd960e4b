"""The screen as plain text, for golden files and assertions. The one place that looks inside Textual's compositor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from textual.app import App


def screen_lines(app: App[Any]) -> list[str]:
    """Return the lines of the screen in front, with what shows of the screens beneath a dialog."""
    strips = app.screen._compositor.render_strips()
    return ["".join(segment.text for segment in strip).rstrip() for strip in strips]


def screen_text(app: App[Any]) -> str:
    """Return the screen in front as one text."""
    return "\n".join(screen_lines(app)) + "\n"
