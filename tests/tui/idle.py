"""Waiting until an app has nothing left to do, by what its event loop still holds rather than by guessing from the time that it computes.

Textual's pilot sleeps 20 ms twice per key, takes a process that computes little meanwhile for idle, and sends a message through every
widget to see it come back. The loop itself knows: nothing is ready to run, and no timer comes up within the time of one frame. That is
surer, and takes no longer than the work.
"""

from __future__ import annotations

import asyncio
from typing import Any

FRAME_S = 1 / 60
"""How often Textual draws: a timer that comes up later than this is a pause of the app's own, and nobody waits for it here."""
SOON_S = FRAME_S + 0.005


async def idle(_min_sleep: float = 0, max_sleep: float = 5) -> None:
    """Return when nothing is ready to run and no timer is about to come up, or after `max_sleep` seconds."""
    loop: Any = asyncio.get_running_loop()
    until = loop.time() + max_sleep
    while loop.time() < until:
        await asyncio.sleep(0)
        if loop._ready:
            continue
        due = min((timer.when() for timer in loop._scheduled if not timer.cancelled()), default=until + SOON_S)
        wait = due - loop.time()
        if wait > SOON_S:
            return
        await asyncio.sleep(max(0.0, wait))


async def all_handled(_pilot: Any, timeout: float = 30) -> bool:
    """Return when every widget has handled what it was sent: then the loop is idle."""
    await idle(max_sleep=timeout)
    return True


async def at_once(_min_sleep: float = 0) -> None:
    """Send the next key without waiting for what this one does: all keys of one press come as a burst, as a quick typist sends them."""
    await asyncio.sleep(0)


def wait_by_the_loop(monkeypatch: Any) -> None:
    """Let Textual's pilot wait in this way, after all keys of one press."""
    monkeypatch.setattr("textual.pilot.wait_for_idle", idle)
    monkeypatch.setattr("textual.app.wait_for_idle", at_once)
    monkeypatch.setattr("textual.pilot.Pilot._wait_for_screen", all_handled)
