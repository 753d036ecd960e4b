"""Screens that are not painted for a driver that throws the picture away.

Textual's headless driver gets every update and drops it. The tests read the screen at rest, and drawing it then draws every widget: what
would fail while painting fails there. Painting in between is a sixth of what the tests of the screens compute.
"""

from __future__ import annotations

from typing import Any

from textual._compositor import visible_screen_stack


def nothing(compositor: Any, full: bool = False, screen_stack: Any = None, simplify: bool = False) -> None:
    """Do what an update does beside painting: remember the screens that lie under this one, and what is no longer waiting to be drawn."""
    del full, simplify
    visible_screen_stack.set([] if screen_stack is None else screen_stack)
    compositor._dirty_regions.clear()


def leave_unpainted(monkeypatch: Any) -> None:
    """Paint nothing that nobody sees."""
    monkeypatch.setattr("textual._compositor.Compositor.render_update", nothing)
