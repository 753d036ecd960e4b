"""Which of the three streams must be the terminal."""

from __future__ import annotations

import os
import pty
import subprocess
import sys

import pytest

from tests.tty.terminal import LONGEST_WAIT_S, ROOT

pytestmark = [pytest.mark.tty, pytest.mark.xdist_group("tty")]


def test_a_redirected_standard_error_is_one_message_on_the_terminal_and_in_the_log(tmp_path):
    ours, theirs = pty.openpty()
    try:
        with (tmp_path / "log").open("wb") as log:
            command, home = [sys.executable, "-m", "wizard"], str(tmp_path)
            settings = {**os.environ, "PYTHONPATH": str(ROOT), "XDG_STATE_HOME": home, "XDG_CONFIG_HOME": home}
            done = subprocess.run(command, stdin=theirs, stdout=theirs, stderr=log, env=settings, timeout=LONGEST_WAIT_S, check=False)
        shown = os.read(ours, 4000).decode()
    finally:
        os.close(ours)
        os.close(theirs)
    assert done.returncode == 2
    for text in (shown, (tmp_path / "log").read_text()):
        assert "draws on standard error" in text
        assert len(text.splitlines()) == 1
