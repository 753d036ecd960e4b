"""Whole screens as text, with the small engine: without colour they must say everything. UPDATE_SCREENS=1 writes them anew."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.screen_text import screen_text
from tests.tui.support import NARROW, WIDE, interview, press, type_text

FOLDER = Path(__file__).parent / "screens"


def same_screen(name: str, shown: str) -> None:
    """Compare with the screen that is kept under `name`."""
    path = FOLDER / f"{name}.txt"
    if os.environ.get("UPDATE_SCREENS"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(shown, encoding="utf-8")
    assert shown == path.read_text(encoding="utf-8"), f"{path} differs; UPDATE_SCREENS=1 writes it anew: look at it before you keep it"


@pytest.mark.parametrize(("name", "size"), [("conflict-80x24", NARROW), ("conflict-120x36", WIDE)])
async def test_a_conflict_beside_the_questions(name, size):
    async with interview(size) as (app, pilot):
        await press(app, pilot, "pagedown", "pagedown", "tab", "tab")
        same_screen(name, await type_text(app, pilot, "500k USD"))


@pytest.mark.parametrize(("name", "size"), [("design-80x24", NARROW), ("design-120x36", WIDE)])
async def test_the_design(name, size):
    async with interview(size) as (app, pilot):
        same_screen(name, await press(app, pilot, "f4"))


async def test_an_invalid_answer_and_an_unknown_one():
    async with interview() as (app, pilot):
        await press(app, pilot, "pagedown", "pagedown", "tab")
        await type_text(app, pilot, "54 apples")
        await press(app, pilot, "tab", "tab", "tab", "f8")
        same_screen("invalid-and-unknown-80x24", screen_text(app))
