"""The program on a pseudo-terminal without tmux between: what it writes is counted byte by byte."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent


class PseudoTerminal:
    """The wizard on a terminal of a given size."""

    def __init__(self, home: Path, *arguments: str, size: tuple[int, int] = (80, 24)) -> None:
        self._ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
        settings = {key: value for key, value in os.environ.items() if key not in ("COLUMNS", "LINES")}
        settings |= {"XDG_STATE_HOME": str(home / "state"), "XDG_CONFIG_HOME": str(home / "config"), "PYTHONPATH": str(ROOT)}
        settings |= {"TERM": "xterm-256color", "LANG": "C.UTF-8"}
        command = [sys.executable, "-m", "wizard", *arguments]
        self.started = time.perf_counter()
        self._process = subprocess.Popen(
            command, stdin=theirs, stdout=theirs, stderr=theirs, env=settings, cwd=home, start_new_session=True
        )
        os.close(theirs)

    def read(self, seconds: float) -> bytes:
        """Return what is written within `seconds`; a cursor that blinks never lets it be quiet for long."""
        data, end = b"", time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if select.select([self._ours], [], [], left)[0]:
                data += os.read(self._ours, 65536)
        return data

    def read_until(self, text: bytes, most_seconds: float = 60.0) -> bytes:
        """Return what is written until `text` is among it."""
        data, end = b"", time.monotonic() + most_seconds
        while text not in data:
            if time.monotonic() > end:
                raise AssertionError(f"never wrote {text!r}; it wrote {data[-500:]!r}")
            if select.select([self._ours], [], [], 0.05)[0]:
                data += os.read(self._ours, 65536)
        return data

    def first_answer(self, keys: bytes) -> float:
        """Send keys and return the seconds until the first byte comes back."""
        start = time.perf_counter()
        os.write(self._ours, keys)
        select.select([self._ours], [], [], 10)
        return time.perf_counter() - start

    def send(self, keys: bytes) -> None:
        """Send keys."""
        os.write(self._ours, keys)

    def close(self) -> None:
        """End the program."""
        self._process.kill()
        self._process.wait()
        os.close(self._ours)
