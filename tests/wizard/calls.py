"""Call the program as a person does, in this process or in one of its own."""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

from wizard.__main__ import main
from wizard.cli import DEBUG, FAULT

ROOT = Path(__file__).parent.parent.parent


@dataclass(frozen=True)
class Called:
    """What a call returned and printed."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    def assert_one_message(self) -> None:
        """The call was refused as a person may expect: exit code 2, nothing on stdout, one line on stderr, no traceback."""
        assert self.code == 2, (self.code, self.out[:500], self.err[:500])
        assert self.out == ""
        lines = self.err.splitlines()
        assert len(lines) == 1, self.err[:2000]
        assert lines[0].startswith("cluster-wizard"), lines[0]
        assert "Traceback" not in lines[0]
        assert lines[0].isprintable(), ascii(lines[0])
        assert len(lines[0]) <= 1200, f"{len(lines[0])} characters: {lines[0][:300]}"


class Stream(io.TextIOWrapper):
    """A text stream over bytes in memory, as stdin and stdout are."""

    def __init__(self, data: bytes = b"") -> None:
        super().__init__(io.BytesIO(data), encoding="utf-8", newline="")

    def text(self) -> str:
        self.flush()
        return self.buffer.getvalue().decode("utf-8", "replace")  # type: ignore[attr-defined]


def call(*arguments: object, stdin: bytes | None = None) -> Called:
    """Call the program in this process; an exception that it lets through fails the test."""
    out, err = Stream(), io.StringIO()
    # with DEBUG an exception that nobody expects comes through
    with (
        mock.patch.dict(os.environ, {DEBUG: "1"}),
        mock.patch.object(sys, "stdin", Stream(stdin or b"")),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        code = main([str(each) for each in arguments])
    assert FAULT not in err.getvalue(), err.getvalue()
    return Called(code, out.text(), err.getvalue())


def run(*arguments: object, stdin: bytes | None = None, environment: dict[str, str] | None = None, **options: Any) -> Called:
    """Call the program in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "wizard", *map(str, arguments)],
        input=stdin if stdin is not None else b"",
        capture_output=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), **(environment or {})},
        cwd=options.pop("cwd", ROOT),
        timeout=120,
        check=False,
        **options,
    )
    return Called(done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace"))


def options_of(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    """Return every option of a parser and of the commands below it."""
    found = [action for action in parser._actions if action.option_strings]
    below = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    return found + [option for action in below for inner in action.choices.values() for option in options_of(inner)]
