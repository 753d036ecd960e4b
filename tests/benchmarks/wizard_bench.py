"""What a person feels: the first paint, the echo of a key, the design after the last key, and what a key costs on a slow line."""

from __future__ import annotations

import asyncio
import os
import statistics
import tempfile
import time
from pathlib import Path

from tests.tty.pseudo import PseudoTerminal

STARTS, KEYS, DESIGNS = 7, 30, 12
BETWEEN_S = 0.25
"""Seconds between two keys, about as far apart as those of a person who types slowly: the engine works between them."""


def wizard_timings() -> None:
    """Print the timings with their budgets: on a quiet machine with two cores each must keep its own."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        paints = [_first_paint(home) for _ in range(STARTS)]
        print(f"{'first paint of the wizard':<58} median {statistics.median(paints):8.1f} ms   (budget 500)")
        echoes, costs = _keys(home)
        at_95 = sorted(echoes)[int(len(echoes) * 0.95)]
        print(f"{'echo of a key, 80x24':<58} median {statistics.median(echoes):8.1f} ms   (95 % within {at_95:.1f}, budget 50)")
        print(f"{'bytes of a key, 80x24':<58} median {statistics.median(costs):8.0f} B    (most {max(costs)}, budget 2000)")
        os.environ["XDG_STATE_HOME"] = os.environ["XDG_CONFIG_HOME"] = folder
        refreshes = asyncio.run(_refreshes())
        print(f"{'design after the last key, 8B by deadline':<58} median {statistics.median(refreshes):8.1f} ms   (budget 150)")


def _first_paint(home: Path) -> float:
    program = PseudoTerminal(home)
    try:
        program.read_until(b"New design")
        return (time.perf_counter() - program.started) * 1000
    finally:
        program.close()


def _keys(home: Path) -> tuple[list[float], list[int]]:
    """Return milliseconds until a key's first byte comes back, and the bytes that each costs, while the design follows each."""
    program = PseudoTerminal(home)
    try:
        program.read_until(b"New design")
        program.send(b"\r")
        program.read(5)
        program.send(b"\x1b[6~\x1b[6~\x1b[6~")
        program.read(3)
        echoes, costs = [], []
        for number in range(KEYS):
            program.read(BETWEEN_S)
            echoes.append(program.first_answer(b"abcdefghij"[number % 10 : number % 10 + 1]) * 1000)
            costs.append(len(program.read(BETWEEN_S)))
        return echoes, costs
    finally:
        program.close()


async def _refreshes() -> list[float]:
    """Return milliseconds from a key to the design that follows from it, the pause before the engine runs included."""
    from wizard.tui.app import WizardApp

    app, times = WizardApp(), []
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("enter")
        await _settled(app, pilot)
        await app.go_to_question("facility.total_power")
        for number in range(DESIGNS):
            await _settled(app, pilot)
            start = time.perf_counter()
            app.screen.record("facility.total_power", f"{500 + number} kW")
            while app.work.settled != app.work.generation:
                await asyncio.sleep(0.002)
            times.append((time.perf_counter() - start) * 1000)
    return times


async def _settled(app, pilot) -> None:
    while app.work.settled != app.work.generation or app._solving:
        await pilot.pause(0.02)


if __name__ == "__main__":
    wizard_timings()
