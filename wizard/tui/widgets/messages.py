"""What the fields tell the screen."""

from __future__ import annotations

from textual.message import Message


class Answered(Message):
    """A field's content changed: `raw` is what was typed or picked, "" where it was emptied."""

    def __init__(self, key: str, raw: str) -> None:
        super().__init__()
        self.key, self.raw = key, raw


class Entered(Message):
    """A field got the focus."""

    def __init__(self, key: str) -> None:
        super().__init__()
        self.key = key
