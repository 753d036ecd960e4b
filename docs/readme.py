"""Run the commands that README shows, in a folder with the files that it shows, and write or check their output.

    python docs/readme.py            write what the commands print now into README.md
    python docs/readme.py --check    exit 1 where README shows something else

A block of `console` holds lines of "$ command" followed by what it prints, standard output first; long outputs end with "…".
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

README = Path(__file__).parent.parent / "README.md"
FILE = re.compile(r"<!-- file: (?P<name>[\w./-]+) -->\n```\w*\n(?P<text>.*?)```", re.DOTALL)
CONSOLE = re.compile(r"```console\n(?P<text>.*?)```", re.DOTALL)
MOST_LINES = 14
WIDEST = 140


def printed(command: str, folder: Path) -> str:
    """Return what `command` prints in `folder`, shortened."""
    words = shlex.split(command)
    assert words[0] == "cluster-wizard", command
    environment = {**os.environ, "XDG_CONFIG_HOME": str(folder), "XDG_STATE_HOME": str(folder), "PYTHONPATH": str(README.parent)}
    run = subprocess.run(
        [sys.executable, "-m", "wizard", *words[1:]], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )  # fmt: skip
    lines = [line if len(line) <= WIDEST else line[: WIDEST - 1] + "…" for line in (run.stdout + run.stderr).rstrip().splitlines()]
    return "\n".join([*lines[: MOST_LINES - 1], "…"] if len(lines) > MOST_LINES else lines)


def filled(text: str) -> str:
    """Return README's text with the output of every command as it is now."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for block in FILE.finditer(text):
            path = folder / block["name"]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block["text"], encoding="utf-8")

        def block_of(found: re.Match[str]) -> str:
            commands = [line[2:] for line in found["text"].splitlines() if line.startswith("$ ")]
            parts = [f"$ {command}\n{printed(command, folder)}" for command in commands]
            return "```console\n" + "\n".join(parts) + "\n```"

        return CONSOLE.sub(block_of, text)


def main() -> int:
    """Write or check README; returns the exit code."""
    text = README.read_text(encoding="utf-8")
    now = filled(text)
    if "--check" in sys.argv:
        return int(now != text)
    README.write_text(now, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
