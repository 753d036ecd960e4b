"""A log of a collective in the interview: its file's name, or the log itself pasted, answers what was measured on site."""

from __future__ import annotations

import pytest
from textual.events import Paste

from tests.tui.support import interview, press, rest, row, type_text
from tests.wizard.test_collective_log import GATHER, TWO_NODES


async def at_the_question(app, pilot):
    await press(app, pilot, "pagedown", "pagedown", "pagedown", "pagedown")
    row(app, "measured.date").entry.focus()
    await rest(app, pilot)


async def test_the_name_of_a_log_answers_what_it_says(tmp_path):
    (tmp_path / "nccl.log").write_text(TWO_NODES, "utf-8")
    async with interview() as (app, pilot):
        await at_the_question(app, pilot)
        await type_text(app, pilot, "./nccl.log")
        answers = app.work.answers
        assert answers.quantity("measured.all_reduce_between").to("GB/s").magnitude == pytest.approx(222.88)
        assert answers.count("measured.all_reduce_nodes") == 2
        await press(app, pilot, "ctrl+z")
        assert not app.work.answers.given("measured.all_reduce_between")


async def test_a_log_that_cannot_be_used_says_why_and_answers_nothing(tmp_path):
    (tmp_path / "gather.log").write_text(GATHER, "utf-8")
    async with interview() as (app, pilot):
        await at_the_question(app, pilot)
        await type_text(app, pilot, "./gather.log")
        assert any("all_gather" in each.message for each in app._notifications)
        assert not app.work.answers.given("measured.all_reduce_inside")


async def test_a_pasted_log_answers_what_it_says_as_of_today():
    async with interview() as (app, pilot):
        await at_the_question(app, pilot)
        row(app, "measured.date").entry.post_message(Paste(TWO_NODES))
        await rest(app, pilot)
        answers = app.work.answers
        assert answers.text("measured.date") == "2023-11-14", "the day that the tests' clock stands at"
        assert answers.count("measured.all_reduce_nodes") == 2
        assert row(app, "measured.date").entry.value == "2023-11-14"


async def test_pasted_text_of_several_lines_that_is_no_log_answers_nothing():
    async with interview() as (app, pilot):
        await at_the_question(app, pilot)
        row(app, "measured.date").entry.post_message(Paste("one\ntwo\n"))
        await rest(app, pilot)
        assert app.work.answers.values == {}
        assert any("no rows of sizes" in each.message for each in app._notifications)
