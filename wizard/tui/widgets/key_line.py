"""The last line: the keys that matter here, made from the action registry; each can be clicked. It fits 80 columns."""

from __future__ import annotations

from textual.content import Content
from textual.style import Style
from textual.widgets import Static

from wizard.tui.actions import Action, actions_of

NEEDLESS = {
    "start": ("show_design", "save_design"),
    "list": ("show_design",),
    "sliders": ("show_design",),
    "compare": ("show_design", "save_design", "next_page"),
    "look": ("show_design", "save_design", "open_row", "filter_rows", "previous_picture", "command_palette"),
}
"""By scope: actions that its line leaves out, so that it fits 80 columns; all are in help and palette."""


def line_actions(scope: str) -> list[Action]:
    """Return the actions that the key line of a screen names, in order."""
    order = {"previous_step": -1}
    needless = NEEDLESS.get(scope, ())
    return sorted((each for each in actions_of(scope) if each.line and each.id not in needless), key=lambda each: order.get(each.id, 0))


def key_line(scope: str) -> Content:
    """Return the line of a screen."""
    parts = []
    for action in line_actions(scope):
        link = Style.from_meta({"@click": f"app.perform_id('{action.id}')"})
        parts.append(Content.assemble((action.key, "bold $text-accent"), " ", action.line).stylize(link))
    return Content(" ") + Content("  ").join(parts)


class KeyLine(Static):
    """The key line of one screen."""

    def __init__(self, scope: str) -> None:
        super().__init__(key_line(scope), classes="key-line")
