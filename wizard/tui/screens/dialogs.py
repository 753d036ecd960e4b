"""Dialogs over a screen: a text with choices, and a file name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from wizard.tui.widgets.pointed_list import PointedList

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult
    from textual.binding import BindingType

MOST_FILES = 200
WIDEST, AROUND_ACROSS, AROUND_DOWN = 100, 5, 8
"""Columns of a dialog at most, as in wizard.tcss; columns and lines of it that are border, title, keys and blanks."""


class TextDialog(ModalScreen[str | None]):
    """A text to read, and choices where there are any; returns the id of the choice, None where it was closed."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,f1,q", "dismiss(None)", "Close", show=False),
        Binding("enter", "take", "Choose", show=False, priority=True),
        Binding("up", "scroll(-1)", "Up", show=False),
        Binding("down", "scroll(1)", "Down", show=False),
        Binding("pageup", "scroll(-10)", "Page up", show=False),
        Binding("pagedown", "scroll(10)", "Page down", show=False),
    ]

    def __init__(self, title: str, text: Content, choices: Sequence[tuple[str, str]] = ()) -> None:
        super().__init__()
        self._title, self._text, self._choices = title, text, choices

    def compose(self) -> ComposeResult:
        """Lay out the dialog."""
        with Vertical(classes="dialog"):
            yield Static(Content.styled(self._title, "bold"), classes="dialog-title")
            with VerticalScroll(classes="dialog-text", can_focus=False):
                yield Static(self._text, id="dialog-body")
            if self._choices:
                yield PointedList(*(Option(Content(f"  {text}"), id=id_) for id_, text in self._choices), classes="dialog-choices")
            keys = "Enter chooses  Esc closes" if self._choices else "Esc closes"
            yield Static(Content.styled(keys, "$foreground-muted"), classes="dialog-keys")

    def on_mount(self) -> None:
        """Point at the first choice."""
        for choices in self.query(OptionList):
            choices.highlighted = 0
            self.set_focus(choices)
        self._fit()

    def on_resize(self) -> None:
        """Fit again."""
        self._fit()

    @property
    def text_width(self) -> int:
        """Return how many columns the text has."""
        return max(20, min(WIDEST, self.app.size.width * 9 // 10) - AROUND_ACROSS)

    def show_text(self, text: Content) -> None:
        """Show another text, where the dialog is still open."""
        self._text = text
        if self.is_attached:
            self.query_one("#dialog-body", Static).update(text)
            self._fit()

    def _fit(self) -> None:
        """Let a text that is longer than the screen scroll, with title and choices around it in place."""
        lines = len(self._text.wrap(self.text_width)) + len(self._choices) + AROUND_DOWN
        self.query_one(".dialog").set_class(lines > self.app.size.height * 9 // 10, "-long")

    def action_scroll(self, lines: int) -> None:
        """Scroll the text."""
        self.query_one(VerticalScroll).scroll_relative(y=lines, animate=False)

    def action_take(self) -> None:
        """Return the choice that is pointed at."""
        chosen = next((each.highlighted_option for each in self.query(OptionList)), None)
        self.dismiss(chosen.id if chosen is not None else None)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """A click chooses."""
        event.stop()
        self.dismiss(event.option_id)


class FileDialog(ModalScreen[Path | None]):
    """A file name: typed, or picked from the folder; returns the path, None where it was closed."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "Close", show=False),
        Binding("enter", "take", "Accept", show=False, priority=True),
        Binding("tab", "complete", "Complete the name", show=False, priority=True),
        Binding("down", "point(1)", "Next file", show=False, priority=True),
        Binding("up", "point(-1)", "Previous file", show=False, priority=True),
    ]

    def __init__(self, title: str, start: str, *, must_exist: bool) -> None:
        super().__init__()
        self._title, self._start, self._must_exist = title, start, must_exist
        self._confirmed: Path | None = None

    def compose(self) -> ComposeResult:
        """Lay out the dialog."""
        with Vertical(classes="dialog"):
            yield Static(Content.styled(self._title, "bold"), classes="dialog-title")
            yield Input(self._start, id="file-name", compact=True, select_on_focus=not self._must_exist)
            yield Static("", id="file-problem", classes="message")
            yield PointedList(id="files")
            yield Static(
                Content.styled("Enter accepts  Tab completes  Up, Down pick  Esc closes", "$foreground-muted"), classes="dialog-keys"
            )

    def on_mount(self) -> None:
        """List the folder."""
        self.query_one(OptionList).can_focus = False
        self.set_focus(self.query_one(Input))
        self._list()

    def on_input_changed(self, event: Input.Changed) -> None:
        """List what fits the typed name."""
        event.stop()
        self._confirmed = None
        self._say("")
        self._list()

    def _list(self) -> None:
        files = self.query_one(OptionList)
        files.clear_options()
        files.add_options(Option(Content(f"  {name}"), id=name) for name in _names_like(self.query_one(Input).value))
        files.highlighted = None

    def action_point(self, step: int) -> None:
        """Point at the next or the previous name."""
        files = self.query_one(OptionList)
        if files.option_count:
            files.highlighted = (-1 if files.highlighted is None and step > 0 else files.highlighted or 0) + step
            files.highlighted = files.highlighted % files.option_count if files.highlighted is not None else 0

    def action_complete(self) -> None:
        """Complete the name with the one that is pointed at, else the first."""
        files = self.query_one(OptionList)
        if files.option_count:
            self._put(str(files.get_option_at_index(files.highlighted or 0).id))

    def action_take(self) -> None:
        """Accept the name; a folder is entered, a file is returned."""
        files = self.query_one(OptionList)
        if files.highlighted_option is not None:
            self._put(str(files.highlighted_option.id))
        self._accept()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """A click picks a name."""
        event.stop()
        self._put(str(event.option_id))

    def _put(self, text: str) -> None:
        entry = self.query_one(Input)
        entry.value = text
        entry.cursor_position = len(text)

    def _accept(self) -> None:
        try:
            self._accept_text(self.query_one(Input).value.strip())
        except OSError as error:  # a name that is too long, a folder that may not be looked into
            self._say(f"this name cannot be used ({(error.strerror or str(error)).lower()})")

    def _accept_text(self, text: str) -> None:
        path = _path_of(text)
        if not text:
            self._say("type a file name, such as my-cluster.toml")
        elif path.is_dir():
            self._put(text.rstrip("/") + "/")
        elif self._must_exist and not path.exists():
            self._say("no such file")
        elif not self._must_exist and not path.parent.is_dir():
            self._say(f"the folder {path.parent} does not exist")
        elif not self._must_exist:
            self._accept_new(path if path.suffix else path.with_suffix(".toml"))
        else:
            self.dismiss(path)

    def _accept_new(self, path: Path) -> None:
        if path.exists() and self._confirmed != path:
            self._confirmed = path
            self._say(f"{path.name} exists; Enter again replaces it")
        else:
            self.dismiss(path)

    def _say(self, problem: str) -> None:
        line = self.query_one("#file-problem", Static)
        line.update(Content.styled(problem, "$text-error"))
        line.set_class(bool(problem), "-shown")


def _path_of(text: str) -> Path:
    """Return the path that a name means; one that begins with ~ and the name of nobody here stands for itself."""
    try:
        return Path(text).expanduser()
    except RuntimeError:
        return Path(text)


def _names_like(text: str) -> list[str]:
    """Return folders and TOML files whose names begin as typed, as text to put into the field."""
    head, _, start = text.rpartition("/")
    folder = _path_of(head + "/" if "/" in text else ".")
    try:
        found = sorted(folder.iterdir(), key=lambda path: (path.is_file(), path.name.lower()))
    except OSError:
        return []
    shown = [path for path in found if path.name.startswith(start) and not path.name.startswith(".")]
    prefix = f"{head}/" if "/" in text else ""
    names = [
        f"{prefix}{path.name}/" if path.is_dir() else f"{prefix}{path.name}" for path in shown if path.is_dir() or path.suffix == ".toml"
    ]
    return [name for name in names if name != text][:MOST_FILES]
