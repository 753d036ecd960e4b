"""Whatever holds the program up, a signal ends it: a wizard whose terminal is gone must not stay behind."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

STUCK = """
import signal, time
from wizard.stopping import leaving_on_signals
with leaving_on_signals({leave}):
    signal.raise_signal({number})
    time.sleep(60)
"""


@pytest.mark.parametrize("leave", ["lambda: None", "lambda: time.sleep(60)"], ids=["the program is stuck", "saving is stuck"])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_program_that_is_stuck_ends(number, leave):
    program = STUCK.format(leave=leave, number=int(number))
    assert subprocess.run([sys.executable, "-c", program], timeout=30, check=False).returncode == 128 + number
