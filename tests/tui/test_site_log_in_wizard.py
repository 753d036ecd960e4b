"""A log of a collective in the interview: its file's name, or the log itself pasted, answers what was measured on site."""

from __future__ import annotations

import pytest
from textual.events import Paste

from tests.tui.support import interview, press, rest, row, type_text
from tests.wizard.test_collective_log import GATHER, TWO_NODES


async def test_a_log_named_or_pasted_answers_what_it_says_and_what_cannot_be_used_answers_nothing(tmp_path):
    (tmp_path / "nccl.log").write_text(TWO_NODES, "utf-8")
    (tmp_path / "gather.log").write_text(GATHER, "utf-8")
    async with interview() as (app, pilot):
        await app.go_to_question("measured.date")
        await rest(app, pilot)
        # pasted text of several lines that is no log
        row(app, "measured.date").entry.post_message(Paste("one\ntwo\n"))
        await rest(app, pilot)
        assert app.work.answers.values == {}
        assert any("no rows of sizes" in each.message for each in app._notifications)
        # a log that cannot be used says why
        await press(app, pilot, "ctrl+l")
        await type_text(app, pilot, "./gather.log")
        assert any("all_gather" in each.message for each in app._notifications)
        assert not app.work.answers.given("measured.all_reduce_inside")
        # the name of a log
        await press(app, pilot, "ctrl+l")
        await type_text(app, pilot, "./nccl.log")
        answers = app.work.answers
        assert answers.quantity("measured.all_reduce_between").to("GB/s").magnitude == pytest.approx(222.88)
        assert answers.count("measured.all_reduce_nodes") == 2
        await press(app, pilot, "ctrl+z")
        assert not app.work.answers.given("measured.all_reduce_between")
        # the log itself
        row(app, "measured.date").entry.post_message(Paste(TWO_NODES))
        await rest(app, pilot)
        answers = app.work.answers
        assert answers.text("measured.date") == "2023-11-14", "the day that the tests' clock stands at"
        assert answers.count("measured.all_reduce_nodes") == 2
        assert row(app, "measured.date").entry.value == "2023-11-14"
