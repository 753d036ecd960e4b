"""The list of public cases: every case has a test or a line in the README that says what it needs, and never both as done."""

from __future__ import annotations

import re
from pathlib import Path

FOLDER = Path(__file__).parent
README = (FOLDER / "README.md").read_text(encoding="utf-8")
MARK = re.compile(r'@case\(\s*"([a-z0-9-]+)",')
OPEN_ROW = re.compile(r"^\| `([a-z0-9-]+)` \| ([a-z_]+) \| (.+) \|$", re.MULTILINE)
KIND_ROW = re.compile(r"^\| ([a-z_]+) \| (\d+) \| (\d+) \|$", re.MULTILINE)


def marked() -> set[str]:
    """Return the ids of the cases that a test names; `case` itself refuses one without a published source."""
    return {id_ for path in FOLDER.glob("test_cases_*.py") for id_ in MARK.findall(path.read_text(encoding="utf-8"))}


def test_most_cases_are_executable():
    still_open = {id_ for id_, _, _ in OPEN_ROW.findall(README)}
    done = marked() - still_open
    counted = KIND_ROW.findall(README)
    assert len(done) == sum(int(executable) for _, executable, _ in counted) >= 60
    assert len(done) + len(still_open) == sum(int(all_) for _, _, all_ in counted) == 79


def test_open_cases_say_what_they_need():
    rows = OPEN_ROW.findall(README)
    kinds = {kind: int(all_) - int(executable) for kind, executable, all_ in KIND_ROW.findall(README)}
    for kind, missing in kinds.items():
        assert sum(kind == each for _, each, _ in rows) == missing, kind
    assert all(len(needs) > 30 for _, _, needs in rows)
