"""Each test of the screens has its own home for autosaves, no animation and no blinking."""

from __future__ import annotations

import gc

import pytest

from tests.tui.idle import wait_by_the_loop
from tests.tui.unpainted import leave_unpainted


@pytest.fixture(autouse=True)
def quiet_home(tmp_path, monkeypatch):
    """Keep state and configuration of the person who runs the tests out of them, and wait for the app by its loop."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    monkeypatch.chdir(tmp_path)
    wait_by_the_loop(monkeypatch)
    leave_unpainted(monkeypatch)


@pytest.fixture(autouse=True)
def no_collection_meanwhile():
    """Collect the garbage of an app once, after the test: its widgets hold each other, and looking for them meanwhile finds little."""
    gc.disable()
    yield
    gc.enable()
