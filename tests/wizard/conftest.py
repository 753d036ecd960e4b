"""What the tests of the commands share: a home of their own, and one small design that is made once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rules.design import Design
from tests.wizard.calls import call

if TYPE_CHECKING:
    from pathlib import Path

SMALL = """
[workload]
kind = "fine_tuning_lora"
[model]
preset = "llama-3.1-8b"
[training]
sequence_length = 4096
global_batch = 64
[scale]
mode = "fixed"
nodes = 1
[preferences]
nodes = ["nvidia-dgx-h100"]
"""
"""One known server, so that one candidate is judged."""


@pytest.fixture(scope="session", autouse=True)
def own_home(tmp_path_factory):
    """No test reads or writes the person's own folders."""
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CONFIG_HOME", str(home / "config"))
        patch.setenv("XDG_STATE_HOME", str(home / "state"))
        yield home


@pytest.fixture(scope="session")
def small_answers(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("small") / "small.toml"
    path.write_text(SMALL, encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def small_design(small_answers) -> Path:
    path = small_answers.with_name("small-design.toml")
    called = call("design", small_answers, "-o", path)
    assert called.code in (0, 1), called.err
    return path


@pytest.fixture
def quick(monkeypatch):
    """Reading is what is tested here: a design of nothing stands in for the real one."""

    def nothing(answers, catalog, **options):
        return Design(answers, catalog.version, "", "", "", False, None, {}, (), (), (), (), ())

    monkeypatch.setattr("rules.advisor.advise", nothing)
    monkeypatch.setattr("wizard.replay.advise", nothing)
