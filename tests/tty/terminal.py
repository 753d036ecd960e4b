"""The real program in a real terminal: tmux, one server per test, waiting for what the screen says."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
LONGEST_WAIT_S = 60.0
"""A loaded machine may take this long for what normally takes half a second; a test that waits longer has failed."""


def need_tmux() -> None:
    """Fail where CI has no tmux, skip by name elsewhere."""
    if shutil.which("tmux") is None:
        if os.environ.get("CI") == "true":
            pytest.fail("tmux is not installed; the tests of the real terminal need it (apt-get install tmux)")
        pytest.skip("needs tmux: apt-get install tmux")


class Terminal:
    """A tmux session that runs the wizard."""

    def __init__(self, home: Path, *arguments: str, size: tuple[int, int] = (80, 24), environment: dict[str, str] | None = None) -> None:
        need_tmux()
        self._socket = f"cluster-wizard-{uuid.uuid4().hex[:12]}"
        variables = {
            "XDG_STATE_HOME": str(home / "state"), "XDG_CONFIG_HOME": str(home / "config"), "PYTHONPATH": str(ROOT), "LANG": "C.UTF-8",
            **(environment or {}),
        }  # fmt: skip
        settings = [f"{name}={value}" for name, value in variables.items()]
        without = ["-u", "COLUMNS", "-u", "LINES"]  # pytest sets them, and they would override the terminal's own size
        command = shlex.join(["env", *without, *settings, sys.executable, "-m", "wizard", *arguments])
        self._tmux("-f", os.devnull, "new-session", "-d", "-x", str(size[0]), "-y", str(size[1]), "-c", str(home), f"exec {command}")

    def _tmux(self, *arguments: str) -> str:
        done = subprocess.run(["tmux", "-L", self._socket, *arguments], capture_output=True, text=True, check=False)
        return done.stdout

    def screen(self) -> str:
        """Return what the terminal shows."""
        return self._tmux("capture-pane", "-p")

    def wait(self, *texts: str) -> str:
        """Return the screen as soon as it shows all texts; fails with the screen where it never does."""
        end = time.monotonic() + LONGEST_WAIT_S
        shown = ""
        while time.monotonic() < end:
            shown = self.screen()
            if all(text in shown for text in texts):
                return shown
            time.sleep(0.02)
        raise AssertionError(f"never showed {texts}; the screen is:\n{shown}")

    def send(self, *keys: str) -> None:
        """Send keys in one burst, as a paste or a slow line delivers them."""
        self._tmux("send-keys", *keys)

    def process(self) -> int:
        """Return the number of the program's process."""
        return int(self._tmux("display-message", "-p", "#{pane_pid}"))

    def running(self) -> bool:
        """Return whether the program runs: its terminal goes with it."""
        return bool(self._tmux("list-panes", "-F", "#{pane_pid}").strip())

    def resize(self, columns: int, lines: int) -> None:
        """Make the terminal larger or smaller."""
        self._tmux("resize-window", "-x", str(columns), "-y", str(lines))

    def paste(self, text: str) -> None:
        """Paste text as a terminal does, between the marks of a bracketed paste."""
        self._tmux("set-buffer", text)
        self._tmux("paste-buffer", "-p")

    def click(self, column: int, line: int) -> None:
        """Press and release the left mouse button on a cell, counted from 0, as a terminal reports it (SGR)."""
        for letter in "Mm":
            self._tmux("send-keys", "-l", f"\x1b[<0;{column + 1};{line + 1}{letter}")

    def coloured(self) -> str:
        """Return what the terminal shows with its escape sequences."""
        return self._tmux("capture-pane", "-p", "-e")

    def kill_program(self) -> None:
        """Kill the program, not the terminal, without any chance to tidy up; wait until it is gone."""
        os.kill(self.process(), signal.SIGKILL)
        end = time.monotonic() + LONGEST_WAIT_S
        while time.monotonic() < end and self.running():
            time.sleep(0.02)

    def close(self) -> None:
        """End this test's tmux server."""
        self._tmux("kill-server")
