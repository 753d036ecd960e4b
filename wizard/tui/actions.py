"""Every action of the wizard, once: bindings, key line, help and command palette are made from this list."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.binding import Binding

if TYPE_CHECKING:
    from collections.abc import Mapping

_SHOWN = {
    "pageup": "PgUp",
    "pagedown": "PgDn",
    "enter": "Enter",
    "escape": "Esc",
    "tab": "Tab",
    "shift+tab": "Shift+Tab",
    "space": "Space",
    "left": "Left",
    "right": "Right",
    "up": "Up",
    "down": "Down",
    "slash": "/",
    "plus": "+",
    "minus": "-",
    "less_than_sign": "<",
    "greater_than_sign": ">",
    "delete": "Del",
    "backspace": "Backspace",
}


@dataclass(frozen=True)
class Action:
    """One thing that a person can do.

    `id` is the name of the method `action_<id>`; `keys` are tried in order, the first is shown. `scope` is where it works:
    "everywhere" or the name of a screen. `line` is its short name in the key line ("" keeps it out), in the order of the list.
    `urgent` keys are handled before the focused widget sees them, so that fast typing lands in the right field.
    """

    id: str
    keys: tuple[str, ...]
    title: str
    text: str
    scope: str = "everywhere"
    line: str = ""
    urgent: bool = False

    @property
    def key(self) -> str:
        """Return the first key as shown: "PgDn", "^s", "F1"; "" where there is none."""
        keys = keys_of(self)
        return shown_key(keys[0]) if keys else ""

    @property
    def all_keys(self) -> str:
        """Return all keys as shown."""
        return ", ".join(shown_key(key) for key in keys_of(self))


_OWN_KEYS: dict[str, tuple[str, ...]] = {}
"""The person's own keys, by action: `wizard.tui.keymap` checks and sets them."""


def keys_of(action: Action) -> tuple[str, ...]:
    """Return the keys that an action has: the person's own, else those of the list."""
    return _OWN_KEYS.get(action.id, action.keys)


def take_keys(keymap: Mapping[str, tuple[str, ...]]) -> None:
    """Let actions have other keys from now on, in all that is shown; the bindings follow by Textual's own keymap."""
    _OWN_KEYS.clear()
    _OWN_KEYS.update(keymap)


def shown_key(key: str) -> str:
    """Return a key name as a person reads it."""
    if key.startswith("ctrl+"):
        return "^" + key.removeprefix("ctrl+")
    if key[:1] == "f" and key[1:].isdigit():
        return key.upper()
    return _SHOWN.get(key, key)


ACTIONS: tuple[Action, ...] = (
    # the interview
    Action("next_step", ("pagedown", "f3"), "Next step", "Go on to the next page of questions.", "interview", "next", urgent=True),
    Action("previous_step", ("pageup", "f2"), "Back", "Go back a page; nothing is lost.", "interview", "back", urgent=True),
    Action("next_field", ("tab",), "Next field", "Go to the next field.", "interview", urgent=True),
    Action("previous_field", ("shift+tab",), "Previous field", "Go to the field before.", "interview", urgent=True),
    Action("field_below", ("down",), "Down", "The next field, or the next of the names that match.", "interview", urgent=True),
    Action("field_above", ("up",), "Up", "The field above, or the name above.", "interview", urgent=True),
    Action("accept_field", ("enter",), "Accept", "Accept this answer and go to the next field.", "interview", urgent=True),
    Action("dont_know", ("f8",), "I don't know", "A marked assumption stands in, or the question stays open.", "interview"),
    Action("clear_answer", ("ctrl+l",), "Clear this answer", "Leave this question unanswered.", "interview"),
    Action("all_questions", (), "All questions or the first ten", "Ask all questions, or only those of a first design.", "interview"),
    # the start page
    Action("begin", ("enter",), "Choose", "Start with the line that is pointed at.", "start", "choose", urgent=True),
    # lists: review and design
    Action("open_row", ("enter",), "Open this line", "Review: change it. Design: how it was concluded.", "list", "open", urgent=True),
    Action("next_page", ("right", "tab", "f3"), "Next page", "Design: the next page. Review: the design.", "list", "page", urgent=True),
    Action("previous_page", ("left", "shift+tab", "f2"), "Previous page", "The page before, the questions at last.", "list", urgent=True),
    Action("close_page", ("escape",), "Back to the questions", "Return to the interview.", "list", "back"),
    Action("filter_rows", ("slash",), "Filter", "Show only the lines that hold the words that you type.", "list", "filter"),
    Action("ask_why_not", ("n",), "Why not …", "What stood against a GPU, server, fabric or plan, and what would admit it.", "list"),
    Action("ask_what_if", ("i",), "What if …", "One answer changed: the design beside the design as it is; keep it or drop it.", "list"),
    Action("fix_all", ("f",), "Fix all", "Apply the remedies of all conflicts, or of the warnings, on the side; keep or drop.", "list"),
    # the comparison
    Action("sort_next", ("s",), "Sort by the next figure", "By rank, GPUs, time, purchase, owning, power and so on.", "compare", "sort"),
    Action("sort_turn", ("r",), "Turn the order", "Largest first, or smallest first.", "compare"),
    Action("axes_next", ("a",), "Other axes", "Cost against time, cost against power, power against time.", "compare", "axes"),
    # the pictures
    Action("next_picture", ("space", "greater_than_sign"), "Next picture", "The one after this.", "look", "next"),
    Action("previous_picture", ("b", "less_than_sign"), "Picture before", "The one before this.", "look", "before"),
    Action("export_picture", ("e",), "Export this picture", "Write it to a file, as SVG or as text.", "look", "export"),
    Action("copy_picture", ("y",), "Copy this picture", "Put its text on the clipboard.", "look", "copy"),
    Action("try_recompute", ("r",), "What if: recompute more", "Memory and time with the next recomputation; keep or drop it.", "look"),
    Action("try_sharding", ("z",), "What if: another ZeRO stage", "Memory and time with the next ZeRO stage; keep or drop it.", "look"),
    Action("try_micro_batch", ("m",), "What if: another micro-batch", "Memory and time with half of it, from 1 with 2.", "look"),
    # the sliders
    Action("slide_down", ("left", "minus"), "Less", "Move the slider to the stop before.", "sliders", "less", urgent=True),
    Action("slide_up", ("right", "plus"), "More", "Move the slider to its next stop.", "sliders", "more", urgent=True),
    Action("slide_off", ("delete", "backspace"), "No limit", "Take the limit away.", "sliders", "off"),
    Action("leave_sliders", ("escape",), "Back", "Go back; what was moved stays.", "sliders", "back"),
    # everywhere
    Action("explain", ("f1",), "Help", "Why this is asked, what is typical, where to find it; and all keys.", line="help"),
    Action("show_design", ("f4",), "Show the design", "Figures, reasons, alternatives, rejections so far.", line="design"),
    Action("compare_candidates", ("f5", "ctrl+t"), "Compare candidates", "A table and a scatter of all; take another and see its price."),
    Action("look", ("f6", "ctrl+g"), "Pictures of the design", "Where memory, time, power and money go; fabric and racks."),
    Action("sliders", ("ctrl+r",), "Sliders", "Deadline, budget, power and price as sliders; the design follows."),
    Action("what_if", ("ctrl+n",), "What-if, on the side", "Change answers beside the base; again compares, then keep or drop."),
    Action("ask", ("alt+w",), "Ask: why, how, why not, what if", "The four questions about the line or the question that is pointed at."),
    Action("find_effects", (), "How certain the design is", "Ranges of the totals; what open answers, prices and rates could change."),
    Action("find_conflicts", (), "What cannot hold together", "The smallest sets of answers in conflict, and what would help."),
    Action("review_answers", ("f7",), "Check your answers", "All answers on one page, each can be changed from there."),
    Action("vendor_questions", ("f9",), "Questions for vendors", "What to ask before buying, and what a good answer is."),
    Action("undo_answer", ("ctrl+z",), "Undo", "Take back the last change of an answer."),
    Action("redo_answer", ("ctrl+y",), "Redo", "Do the change again that was taken back."),
    Action("jump", ("f12", "alt+j"), "Jump", "Every step, field and screen has a letter; the letter goes there."),
    Action("command_palette", ("ctrl+p",), "All commands", "Find any command, step or question by typing.", line="all"),
    Action("save_design", ("ctrl+s", "f10"), "Save", "Write the design with its reasons to a TOML file.", line="save"),
    Action("save_as", (), "Save under another name", "Write the design to another file."),
    Action("write_report", (), "Write the report", "Reasons, parts, pictures and questions, as a page that prints or as Markdown."),
    Action("copy_report", (), "Copy the report", "Put the report on the clipboard, as Markdown."),
    Action("compare_file", (), "Compare with a saved design", "Another design's figures, answers and reasons beside this one's."),
    Action("open_file", ("ctrl+o",), "Open a file", "Open a saved design or a file of answers."),
    Action("start_page", (), "Start page", "New design, examples, unfinished work. The work in hand is kept in the autosave."),
    Action("change_theme", (), "Change colours", "Choose another theme, light ones among them."),
    Action("quit", ("ctrl+q", "alt+q"), "Quit", "Leave; the answers are kept and offered at the next start.", line="quit"),
)  # fmt: skip


WIDER = {"compare": "list", "look": "list", "everywhere": ""}
"""By scope: the scope whose actions work there too; "everywhere" for those that are not named."""

HOMES = {"start": "start_page", "list": "show_design", "compare": "compare_candidates", "look": "look", "sliders": "sliders"}
"""By scope: the action that shows a screen on which its actions work."""


def action_of(id_: str) -> Action:
    """Return an action by its name."""
    return next(each for each in ACTIONS if each.id == id_)


def actions_of(scope: str) -> tuple[Action, ...]:
    """Return the actions that work on the screen called `scope`, its own first."""
    own = tuple(each for each in ACTIONS if each.scope == scope)
    wider = WIDER.get(scope, "everywhere")
    return own + actions_of(wider) if wider else own


def bindings_of(scope: str) -> list[Binding]:
    """Return Textual's bindings for the actions whose own scope is `scope`."""
    return [
        Binding(",".join(each.keys), each.id, each.title, show=False, priority=each.urgent, id=each.id)
        for each in ACTIONS
        if each.scope == scope and each.keys
    ]
