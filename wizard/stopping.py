"""Signals that end the program: it saves first. SIGTERM comes from the system, SIGHUP from a terminal that was closed."""

from __future__ import annotations

import os
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
GRACE_S = 3.0
"""How long tidying up may take. Where the terminal is gone, writing to it never ends, and the program would stay for ever."""


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

    The program ends at the latest GRACE_S after the signal: by then everything worth keeping must be kept.

    A handler runs between any two instructions of the main thread, which may hold a lock just then: so it only starts the thread.
    """
    told, ended = Told(), threading.Event()

    def come(number: int, _frame: object) -> None:
        if not told.number:
            told.number = number
            threading.Thread(target=_leave, daemon=True).start()
            threading.Thread(target=_end, daemon=True).start()

    def _leave() -> None:
        with suppress(Exception):  # the program may be ending already
            leave()

    def _end() -> None:
        if not ended.wait(GRACE_S):
            os._exit(told.exit_code)

    before = {each: signal.signal(each, come) for each in SIGNALS} if threading.current_thread() is threading.main_thread() else {}
    try:
        yield told
    finally:
        ended.set()
        for each, handler in before.items():
            signal.signal(each, handler)
