"""Signals that end the program: it saves first. SIGTERM comes from the system, SIGHUP from a terminal that was closed."""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SIGNALS = tuple(found for name in ("SIGTERM", "SIGHUP") if (found := getattr(signal, name, None)) is not None)
AFTER = 128
"""What is added to a signal's number for the exit code, as shells do."""


@dataclass
class Told:
    """Which signal came, 0 for none."""

    number: int = 0

    @property
    def exit_code(self) -> int:
        """Return the exit code that tells the signal, 0 where none came."""
        return AFTER + self.number if self.number else 0


@contextmanager
def leaving_on_signals(leave: Callable[[], Any]) -> Iterator[Told]:
    """Call `leave` in a thread of its own when a signal comes; the handlers before are put back at the end.

    A handler runs between any two instructions of the main thread, which may hold a lock just then: so it only starts the thread.
    """
    told = Told()

    def come(number: int, _frame: object) -> None:
        if not told.number:
            told.number = number
            threading.Thread(target=_leave, daemon=True).start()

    def _leave() -> None:
        with suppress(Exception):  # the program may be ending already
            leave()

    before = {each: signal.signal(each, come) for each in SIGNALS} if threading.current_thread() is threading.main_thread() else {}
    try:
        yield told
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
