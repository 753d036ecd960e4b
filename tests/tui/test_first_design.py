"""A first design in ten questions; what is still open, and what stands on it."""

from __future__ import annotations

import re

from tests.screen_text import screen_text
from tests.tui.support import NARROW, press, rest, type_text, wizard


async def test_ten_questions_lead_to_a_first_design_and_the_rest_can_be_asked_then():
    async with wizard(NARROW) as (app, pilot):
        await press(app, pilot, "down", "enter")
        seen = []
        assert "0 of 3 answered" in screen_text(app)
        text = screen_text(app)
        while "Check your answers" not in text:
            seen += [each.key for each in app.screen.rows()]
            text = await press(app, pilot, "pagedown")
        assert 8 <= len(seen) <= 10
        assert {"workload.kind", "scale.mode", "facility.total_power"} <= set(seen)
        assert app.work.design is not None
        await app.go_to_step("training")
        screen = app.screen
        assert [each.key for each in screen.rows()] == ["training.tokens"]
        await screen.action_all_questions()
        await rest(app, pilot)
        assert len(screen.rows()) > 5


async def test_a_step_says_what_is_open_and_how_many_assumptions_stand_on_it():
    async with wizard(NARROW) as (app, pilot):
        await press(app, pilot, "enter", "pagedown", "pagedown", "tab", "tab")
        text = await type_text(app, pilot, "3M USD")
        told = " ".join(text.split())
        assert re.search("Open: Size is decided by, Finish within, [^,]+ …; 1 of 1 assumption stands on them[.]", told)
