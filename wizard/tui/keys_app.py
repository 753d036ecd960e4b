"""The app below all: keys that come in a burst act one after the other, each on what the one before has left."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING

from textual import events

from wizard.tui.frugal_app import FrugalApp

if TYPE_CHECKING:
    from textual.message_pump import MessagePump

QUICK_TURNS, MOST_TURNS, PAUSE_S, IDLE_TURNS = 60, 160, 0.003, 2
"""Turns to wait for what a key does: at once, then in small pauses, at most a third of a second; quiet for so many turns."""


MODIFIED = frozenset(("alt", "ctrl", "super", "meta", "hyper"))
"""What a key is held down with where it writes no letter."""


class KeysApp(FrugalApp):
    """Hands on keys and pastes one by one.

    Textual acts on some keys at once, while those before them are still on their way through the queues of the widgets, or still
    open a screen: of Down and Enter in one burst, as a paste or a slow line delivers them, Enter would come first.
    """

    def __init__(self) -> None:
        super().__init__()
        self._waiting: deque[events.Key | events.Paste] = deque()
        self._acting = False

    async def on_event(self, event: events.Event) -> None:
        """Hand on an event; a key waits until what came before it is done."""
        if isinstance(event, events.Key) and MODIFIED & {*event.key.split("+")[:-1]}:
            event.character = None  # Alt and j arrive as Escape and j: a field would take the letter, and no action would have the key
        if not isinstance(event, (events.Key, events.Paste)) or event.is_forwarded:
            await super().on_event(event)
        elif self._acting:
            self._waiting.append(event)
        else:
            await self._act(event)

    async def _act(self, event: events.Key | events.Paste) -> None:
        self._acting = True
        try:
            await super().on_event(event)
        finally:
            self.call_later(self._look, 0, 0)

    async def _look(self, turn: int, idle: int) -> None:
        """Look whether the last key is done; once it is, the next one acts."""
        await asyncio.sleep(0 if turn < QUICK_TURNS else PAUSE_S)
        idle = idle + 1 if self._key_can_act() else 0
        if idle < IDLE_TURNS and turn < MOST_TURNS:
            self.call_later(self._look, turn + 1, idle)
        elif self._waiting:
            await self._act(self._waiting.popleft())
        else:
            self._acting = False

    def _key_can_act(self) -> bool:
        """Return whether the next key would find what it is meant for: nothing is on its way, and what has the focus has its place."""
        focused = self.focused
        placed = focused is None or bool(focused.size) or not all(each.display for each in focused.ancestors_with_self)
        return self.screen.is_mounted and placed and not any(each.message_queue_size for each in self._in_reach())

    def _in_reach(self) -> list[MessagePump]:
        """Return what a key passes on its way: the focused widget, all that it stands in, and the app."""
        return [self.focused, *self.focused.ancestors] if self.focused is not None else [self.screen, self]
