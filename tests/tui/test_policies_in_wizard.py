"""Whatever the wizard starts with, it comes under the policies of the site; a file of policies that cannot be read is one message."""

from __future__ import annotations

import pytest

from tests.tui.support import WIDE, rest, wizard
from wizard.places import config_folder
from wizard.tui.screens.start import StartScreen

POLICY = """
[[policy]]
id = "light-servers"
when = [{ field = "node_power_kw", is = ">", value = "8 kW" }]
severity = "reject"
message = "No server above 8 kW here; {node} draws {node_power_kw}."
"""
STARTS = ("new", "first", "situation:fine-tune")


def in_folder(text: str) -> None:
    folder = config_folder() / "policies"
    folder.mkdir(parents=True)
    (folder / "hall.toml").write_text(text, "utf-8")


@pytest.mark.parametrize("start", STARTS)
async def test_new_work_comes_under_them(start):
    in_folder(POLICY)
    async with wizard(WIDE) as (app, pilot):
        await app.screen.begin(start)
        await rest(app, pilot)
        assert [each.id for each in app.work.session.answers.policies] == ["light-servers"]


@pytest.mark.parametrize("start", STARTS)
async def test_broken_ones_are_a_message_and_the_start_page_stays(start):
    in_folder("[[policy")
    async with wizard(WIDE) as (app, pilot):
        await app.screen.begin(start)
        await rest(app, pilot)
        assert isinstance(app.screen, StartScreen)
        (told,) = app._notifications
        assert "hall.toml" in told.message
