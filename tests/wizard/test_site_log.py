"""A log of a collective, named where the interview asks for the day of a measurement."""

from __future__ import annotations

import os
from datetime import datetime

import pytest

from rules.answers import Answers
from tests.wizard.calls import call
from tests.wizard.test_collective_log import GATHER, TWO_NODES
from wizard.files import FileError
from wizard.session import Session
from wizard.site_log import LOG_KEY, answered_by_log

DAY = "2026-11-03"


@pytest.fixture
def log(tmp_path):
    """The published log of two servers of 8 A100, written on a known day."""
    path = tmp_path / "nccl.log"
    path.write_text(TWO_NODES, "utf-8")
    noon = datetime.fromisoformat(f"{DAY}T12:00:00").timestamp()
    os.utime(path, (noon, noon))
    return path


def test_a_named_log_answers_all_that_it_says_in_one_step_of_undo(log):
    before = Session(Answers.of({"workload.kind": "pretraining"}))
    after = answered_by_log(before, LOG_KEY, f" {log} ")
    assert after is not None
    assert after.answers.text(LOG_KEY) == DAY
    assert after.answers.quantity("measured.all_reduce_between").to("GB/s").magnitude == pytest.approx(222.88)
    assert after.answers.count("measured.all_reduce_nodes") == 2
    assert after.undo().answers == before.answers


@pytest.mark.parametrize("text", ["2026-11-03", "", "no/such/file.log", "."])
def test_days_and_names_of_no_file_are_no_logs(text):
    assert answered_by_log(Session(), LOG_KEY, text) is None


def test_other_questions_take_no_logs(log):
    assert answered_by_log(Session(), "measured.node", str(log)) is None


def test_a_log_of_another_collective_says_why_it_is_not_taken(tmp_path):
    path = tmp_path / "gather.log"
    path.write_text(GATHER, "utf-8")
    with pytest.raises(FileError, match="all_gather"):
        answered_by_log(Session(), LOG_KEY, str(path))


def test_plain_mode_takes_the_name_of_a_log(log, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    called = call("plain", stdin=f"go {LOG_KEY}\n{log}\ngo measured.all_reduce_between\nquit\nquit\n".encode())
    assert f"Noted: Measured on site is {DAY}." in called.out
    assert "222.88 GB/s" in called.out
