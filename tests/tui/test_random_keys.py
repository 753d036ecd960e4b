"""Random keys never break the wizard: it stays up, its answers stay valid, and undo leads back to where they began."""

from __future__ import annotations

import random

import pytest

from rules.answers import parse_answer
from tests.tui.support import interview, press, rest

KEYS = (
    "tab", "shift+tab", "enter", "down", "up", "left", "right", "space", "pagedown", "pageup", "f1", "f2", "f3", "f4", "f7", "f8", "f9",
    "escape", "escape", "ctrl+z", "ctrl+y", "ctrl+l", "ctrl+p", "ctrl+s", "backspace",
    "delete", "1", "2", "3", "4", "8", "l", "a", "m", "question_mark", "comma",
)  # fmt: skip


@pytest.mark.parametrize("seed", range(3))
async def test_random_keys_leave_valid_answers_that_can_be_undone(seed):
    choose = random.Random(seed)
    async with interview(choose.choice([(80, 24), (120, 36), (60, 20)])) as (app, pilot):
        for _ in range(60):
            await pilot.press(choose.choice(KEYS))
        await rest(app, pilot)
        for key, value in app.work.answers.values.items():
            raw = list(value) if isinstance(value, tuple) else value
            assert parse_answer(key, raw) == value
        while len(app.screen_stack) > 1 and app.screen.is_modal:
            await pilot.press("escape")
        past = app.work.session.past
        first = past[0] if past else app.work.answers
        for _ in past:
            await app.action_undo_answer()
        await press(app, pilot)
        assert app.work.answers == first
