"""Pasted text that holds escape characters stays text.

Textual reads on between the marks of a bracketed paste, finds an escape character there, and hands what follows it to the app as keys: a
coloured log would press Ctrl+G or Enter. Terminals mostly take escape characters out of what they paste; tmux and some others do not.
"""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

from textual._xterm_parser import XTermParser

if TYPE_CHECKING:
    from collections.abc import Iterable

    from textual.message import Message

ESCAPE, START, END = "\x1b", "\x1b[200~", "\x1b[201~"
_CONTROLS = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|.)?|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]", re.DOTALL)
"""An escape sequence (colours, a title) or another control character; line ends and tabs are text."""


class PasteCleaner:
    """Takes control characters out of what is pasted, and leaves all else as it comes; text may come in pieces."""

    def __init__(self) -> None:
        self._held, self._pasting = "", False

    def clean(self, data: str) -> str:
        """Return what may be handed on; the inside of a paste is held back until it is whole."""
        rest, done = self._held + data, ""
        self._held = ""
        while rest:
            mark = END if self._pasting else START
            before, found, after = rest.partition(mark)
            if not found and self._pasting:
                self._held = rest
                return done
            if not found:
                cut = _cut(before)
                before, self._held = before[: len(before) - cut], before[len(before) - cut :]
            done += (START + _CONTROLS.sub("", before) + END) if self._pasting else before
            self._pasting = self._pasting != bool(found)
            rest = after
        return done


def _cut(text: str) -> int:
    """Return how many letters at the end may be the start of a paste's first mark. Two letters may be keys, and are not waited with."""
    return next((size for size in range(len(START) - 1, 2, -1) if text.endswith(START[:size])), 0)


class CleanParser(XTermParser):
    """Textual's parser behind a cleaner."""

    def __init__(self, debug: bool = False) -> None:
        super().__init__(debug)
        self._cleaner = PasteCleaner()

    def feed(self, data: str) -> Iterable[Message]:
        """Hand on events for input without what a paste must not hold; no data is the end of input."""
        cleaned = self._cleaner.clean(data)
        return super().feed(cleaned) if cleaned or not data else ()


def paste_as_text() -> None:
    """Let Textual's driver read input through the cleaner."""
    if sys.platform != "win32":
        from textual.drivers import linux_driver

        vars(linux_driver)["XTermParser"] = CleanParser
