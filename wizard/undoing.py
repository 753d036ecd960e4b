"""A fix can be undone: its entry in the history of a design file holds the answers that it changed, as they were and whence they came."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rules.answers import AnswerError, Answers, field_of
from wizard.files import FileError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from rules.remedies import Mended

KEY, VALUE, ORIGIN = "key", "value", "origin"
YOU = "you"


@dataclass(frozen=True)
class Undone:
    """The answers before a fix, the causes that its entry names, the keys that it had changed, and the history without it."""

    answers: Answers
    causes: tuple[str, ...]
    keys: tuple[str, ...]
    history: tuple[Mapping[str, Any], ...]


def kept_for_undo(mended: Mended) -> list[dict[str, Any]]:
    """Return, for each answer that remedies changed, what it was: `value` is left out where it was not answered."""
    before, after, rows = mended.before.answers, mended.after.answers, []
    for key in sorted({*before.values, *after.values}):
        if before.values.get(key) == after.values.get(key):
            continue
        row: dict[str, Any] = {KEY: key}
        if key in before.values:
            value = before.values[key]
            row[VALUE] = list(value) if isinstance(value, tuple) else value
            origin = before.provenance.get(key, YOU)
            row |= {ORIGIN: origin} if origin != YOU else {}
        rows.append(row)
    return rows


def undo(path: Path | str, answers: Answers, document: Mapping[str, Any] | None) -> Undone:
    """Return what stood before the last fix that the history of a design file holds; raises FileError where it holds none."""
    history = list((document or {}).get("history", []))
    number = next((at for at in range(len(history) - 1, -1, -1) if history[at].get("undo")), None)
    if number is None:
        raise FileError(path, "holds no fix that could be undone; 'fix DESIGN.toml -o OUT.toml' keeps what it changes in OUT.toml")
    entry, where = history[number], f"history {number + 1}: undo"
    rows = entry["undo"]
    if not isinstance(rows, list):
        raise FileError(path, f"{where}: expected a list of answers")
    before, keys = answers, []
    try:
        for row in rows:
            before = _with_row(before, row)
            keys.append(row[KEY])
    except (AnswerError, TypeError) as error:
        raise FileError(path, f"{where}: {error}") from None
    causes = entry.get("causes", [])
    said = tuple(str(each) for each in causes) if isinstance(causes, list) else ()
    return Undone(before, said, tuple(keys), (*history[:number], *history[number + 1 :]))


def _with_row(answers: Answers, row: object) -> Answers:
    if not isinstance(row, dict) or not isinstance(row.get(KEY), str) or set(row) - {KEY, VALUE, ORIGIN}:
        raise TypeError("expected a key, and the value and origin that it had")
    key, origin = row[KEY], row.get(ORIGIN, YOU)
    field_of(key)
    if not isinstance(origin, str) or not origin.isprintable():
        raise TypeError(f"{key}: expected a short text as its origin")
    return answers.with_value(key, row[VALUE], origin) if VALUE in row else answers.without(key)


def without_entry(document: Mapping[str, Any] | None, undone: Undone) -> dict[str, Any]:
    """Return a document whose history no longer holds the fix."""
    return {**(document or {}), "history": list(undone.history)}
