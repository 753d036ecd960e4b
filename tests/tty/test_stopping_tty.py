"""Signals that end the program: the answers are kept, the terminal is put right, and the exit code tells the signal."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

from tests.tty.terminal import LONGEST_WAIT_S, ROOT
from tests.tty.test_wizard_tty import terminal
from wizard.files import load

pytestmark = [pytest.mark.tty, pytest.mark.xdist_group("tty")]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_the_wizard_keeps_its_answers_when_it_is_told_to_end(tmp_path, number):
    with terminal(tmp_path) as shown:
        shown.wait("New design")
        shown.send("Enter", "1", "NPage", "NPage", "Tab", "5", "4", "Space", "d", "a", "y", "s")
        shown.wait("54 days")
        os.kill(shown.process(), number)
        kept = tmp_path / "state" / "cluster-wizard" / "autosave.toml"
        end = time.monotonic() + LONGEST_WAIT_S
        while time.monotonic() < end and shown.running():
            time.sleep(0.05)
        assert not shown.running()
    assert load(kept).answers.values["scale.deadline"] == "54 days"


def test_the_wizard_ends_with_its_terminal(tmp_path):
    """A window that is closed, a session that is killed: nothing stays behind, and the answers are kept."""
    with terminal(tmp_path) as shown:
        shown.wait("New design")
        shown.send("Enter", "1", "NPage", "NPage", "Tab", "5", "4", "Space", "d", "a", "y", "s")
        shown.wait("54 days")
        process = shown.process()
        shown.close()
        end = time.monotonic() + LONGEST_WAIT_S
        while time.monotonic() < end and lives(process):
            time.sleep(0.05)
        assert not lives(process)
    assert load(tmp_path / "state" / "cluster-wizard" / "autosave.toml").answers.values["scale.deadline"] == "54 days"


def lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def test_plain_keeps_its_answers_when_it_is_told_to_end(tmp_path):
    settings = {**os.environ, "PYTHONPATH": str(ROOT), "XDG_STATE_HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path)}
    command = [sys.executable, "-m", "wizard", "plain"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=settings) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"pretraining\nllama-3.1-70b\n")
        process.stdin.flush()
        for line in process.stdout:
            if b"Noted: Model is llama-3.1-70b" in line:
                break
        process.send_signal(signal.SIGTERM)
        assert process.wait(LONGEST_WAIT_S) == 128 + signal.SIGTERM
    assert load(tmp_path / "cluster-wizard" / "autosave.toml").answers.values["model.preset"] == "llama-3.1-70b"
