"""Work that makes many designs can be watched and stopped: each design that begins is told to whoever watches in this thread."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_here = threading.local()


class StoppedError(Exception):
    """The watcher wants no more of it. No design is half made: what was found so far is dropped."""


@contextmanager
def watched(watch: Callable[[int], bool]) -> Iterator[None]:
    """Call `watch` with the number of designs begun, whenever one begins in this thread; where it returns False, StoppedError is raised."""
    before = getattr(_here, "watch", None), getattr(_here, "begun", 0)
    _here.watch, _here.begun = watch, 0
    try:
        yield
    finally:
        _here.watch, _here.begun = before


def design_begins() -> None:
    """Tell the watcher of this thread, if there is one, that a design begins; raises StoppedError where it wants no more."""
    watch = getattr(_here, "watch", None)
    if watch is None:
        return
    _here.begun += 1
    if not watch(_here.begun):
        raise StoppedError
