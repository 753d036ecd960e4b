"""The program as a process: pipes, streams that are closed or full, a terminal that knows little, a person without a home."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.wizard.calls import ROOT, run


class TestProcesses:
    """What only a process of its own shows."""

    def test_a_reader_that_goes_away(self):
        command = f"{sys.executable} -m wizard catalog list models --json | head -c 10"
        done = subprocess.run(
            ["bash", "-o", "pipefail", "-c", command],
            capture_output=True,
            cwd=ROOT,
            timeout=60,
            check=False,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
        assert done.stderr == b""
        assert done.returncode == 0
        assert len(done.stdout) == 10

    def test_a_full_disk_behind_standard_output(self):
        if not Path("/dev/full").exists():
            pytest.skip("this system has no /dev/full")
        done = subprocess.run(
            ["bash", "-c", f"{sys.executable} -m wizard catalog list > /dev/full"],
            capture_output=True,
            cwd=ROOT,
            timeout=60,
            check=False,
            text=True,
        )
        assert done.returncode == 2
        assert len(done.stderr.splitlines()) == 1
        assert "No space left" in done.stderr

    @pytest.mark.parametrize(
        ("words", "code"), [("catalog list", 0), ("catalog show nothing", 2), ("no-such-command", 2), ("design --no-such-option", 2)]
    )
    @pytest.mark.parametrize("errors", ["2> /dev/full", "2>&1 >/dev/null | true"])
    def test_messages_that_cannot_be_written_change_nothing(self, words, code, errors):
        if not Path("/dev/full").exists():
            pytest.skip("this system has no /dev/full")
        command = f"{sys.executable} -m wizard {words} {errors}; exit ${{PIPESTATUS[0]}}"
        done = subprocess.run(["bash", "-c", command], capture_output=True, cwd=ROOT, timeout=60, check=False)
        assert done.returncode == code

    @pytest.mark.parametrize("name", ["/dev/stdout", "-"])
    def test_standard_output_by_its_name_in_a_pipe(self, small_answers, name, tmp_path):
        command = f"cd {tmp_path} && {sys.executable} -P -m wizard design '{small_answers}' -o {name} | cat"
        done = subprocess.run(["bash", "-c", command], capture_output=True, cwd=ROOT, timeout=60, check=False, text=True)
        assert tomllib.loads(done.stdout)["schema"] == 1
        assert f"wrote {name}" in done.stderr
        assert not list(tmp_path.glob("-*"))

    def test_another_pipe_by_its_name(self, small_answers):
        command = f"{sys.executable} -m wizard design '{small_answers}' -o /dev/fd/7 7>&1 >/dev/null | cat"
        done = subprocess.run(["bash", "-c", command], capture_output=True, cwd=ROOT, timeout=60, check=False, text=True)
        assert tomllib.loads(done.stdout)["schema"] == 1

    @pytest.mark.parametrize("words", ["design -", "estimate -", "fabric -", "params -", "validate -"])
    def test_a_closed_standard_input_is_said(self, words):
        command = f"{sys.executable} -m wizard {words} <&-"
        done = subprocess.run(["bash", "-c", command], capture_output=True, cwd=ROOT, timeout=60, check=False, text=True)
        assert (done.returncode, done.stdout) == (2, "")
        assert len(done.stderr.splitlines()) == 1
        assert "standard input: is closed" in done.stderr

    @pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
    @pytest.mark.parametrize("words", ["--version", "catalog list", "design -", "mine.toml", ""])
    def test_closed_streams(self, closed, words):
        done = subprocess.run(
            ["bash", "-c", f"{sys.executable} -m wizard {words} {closed}"],
            capture_output=True, cwd=ROOT, timeout=60, check=False, text=True, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        assert "Traceback" not in done.stderr
        assert done.returncode in (0, 1, 2)

    def test_a_terminal_that_knows_no_unicode(self):
        called = run("catalog", "show", "nvidia-h100-sxm-80gb", environment={"PYTHONIOENCODING": "ascii", "LC_ALL": "C"})
        assert called.code == 0
        assert called.err == ""
        assert " · " in called.out
        called = run("design", "-", stdin='[model]\npreset = "日本✗"\n'.encode(), environment={"PYTHONIOENCODING": "latin-1"})
        called.assert_one_message()

    def test_no_home(self):
        called = run("catalog", "list", "--json", environment={"HOME": "", "XDG_CONFIG_HOME": "", "XDG_STATE_HOME": ""})
        assert called.code == 0
        assert json.loads(called.out)["gpus"] >= 15


def test_a_person_who_has_no_home_at_all_has_no_own_catalog(monkeypatch):
    from wizard.places import autosave_path, own_catalog_folders

    def nowhere():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CONFIG_HOME")
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.setattr(Path, "home", nowhere)
    assert own_catalog_folders() == ()
    assert autosave_path().name == "autosave.toml"


def test_a_fault_of_the_program_gets_one_message_too(monkeypatch):
    from wizard.cli import guarded

    def fault():
        raise KeyError("nothing")

    lines = []
    monkeypatch.setattr("wizard.cli.narrate", lines.append)
    monkeypatch.delenv("CLUSTER_WIZARD_DEBUG", raising=False)
    assert guarded(fault) == 2
    assert len(lines) == 1
    assert "KeyError: 'nothing' (test_processes.py, line " in lines[0]
    monkeypatch.setenv("CLUSTER_WIZARD_DEBUG", "1")
    with pytest.raises(KeyError):
        guarded(fault)
