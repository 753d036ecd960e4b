"""The differences of two design documents, place by place: tables key by key, lists of tables row by row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

KEYED = {
    "bom": ("category", "item"),
    "justification": ("rule", "decision"),
    "assumption": ("key",),
    "warning": ("rule",),
    "conflict": ("rule",),
    "alternative": ("candidate",),
    "rejected": ("candidate", "rule"),
    "reentry": ("edge",),
    "dissent": ("rule", "taken"),
    "question": ("rule", "to"),
    "conflict_set": ("answers",),
    "policy": ("id",),
}
"""The tables that hold rows, and the keys that tell their rows apart."""
COMPARED = ("answers", "design", *KEYED)
NAMED_BY = ("key", "name", "number", "part", "task", "input", "what")
"""The keys that tell rows apart inside a section and inside another row; the first that all of them have."""
REASONS = ("justification", "conflict", "warning", "assumption", "question", "rejected")
"""The tables whose rows are reasons: what a rule or the search said."""


NONE = "none"
"""A list or table with nothing in it."""
NOTHING = "nothing"
"""An empty text among other values."""
ROW = "row"
"""A row that no key tells apart from the others."""


@dataclass(frozen=True)
class Change:
    """One conclusion that differs: where, what it was and what it is now ("" where it was or is absent)."""

    where: str
    before: str
    after: str

    @property
    def mark(self) -> str:
        """Return "+" for what is new, "-" for what is gone, "~" for what is another."""
        return "~" if self.before and self.after else "+" if self.after else "-"

    def line(self) -> str:
        """Return the change as one line of text."""
        if self.mark != "~":
            return f"{self.mark} {self.where}: {self.after or self.before}"
        return f"~ {self.where}: {self.before} → {self.after}"


def changes_in(tables: tuple[str, ...], before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Change]:
    """Return every difference of two documents in the named tables."""
    return [change for table in tables for change in compare(table, before.get(table), after.get(table))]


def compare(where: str, before: Any, after: Any) -> list[Change]:
    """Return the differences of two values, tables key by key and lists of tables row by row."""
    if before == after:
        return []
    if where in KEYED:
        before, after = (by_key(rows or [], KEYED[where]) for rows in (before, after))
    elif _rows(before) or _rows(after):
        names = _named_by([*(before or []), *(after or [])])
        before, after = (by_key(rows or [], names) for rows in (before, after))
    if isinstance(before, dict) and isinstance(after, dict):
        keys = list(dict.fromkeys([*before, *after]))
        return [change for key in keys for change in compare(f"{where}.{key}", before.get(key), after.get(key))]
    return [Change(where, text_of(before), text_of(after))]


def _rows(value: Any) -> bool:
    """Return whether a value is a list of tables with one in it."""
    return isinstance(value, list) and bool(value) and all(isinstance(each, dict) for each in value)


def _named_by(rows: list[Any]) -> tuple[str, ...]:
    """Return the key that tells rows apart; none where they have none in common, then they are told apart by their place."""
    return next(((name,) for name in NAMED_BY if all(isinstance(row, dict) and name in row for row in rows)), ())


def reasons_changed(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Change]:
    """Return the reasons that are new, gone or worded otherwise, one row per finding; candidates are told apart by their server."""
    found = []
    for table in REASONS:
        old, new = (by_key(document.get(table, []), _identity(table)) for document in (before, after))
        for key in dict.fromkeys([*old, *new]):
            change = Change(f"{table} {key.rstrip('/')}", _said(old.get(key)), _said(new.get(key)))
            if change.before != change.after:
                found.append(change)
    return found


def _identity(table: str) -> tuple[str, ...]:
    return ("name", "rule") if table == "rejected" else KEYED[table]


def _said(row: Any) -> str:
    """Return what a row of reasons says: what was decided and why."""
    if not isinstance(row, dict):
        return ""
    value, because = str(row.get("value", "")), str(row.get("because") or row.get("ask") or "")
    return f"{value}: {because}" if value and because else value or because


def by_key(rows: Any, names: tuple[str, ...]) -> dict[str, Any]:
    """Return rows by their identity, with a number where several rows share one."""
    keyed: dict[str, Any] = {}
    seen: dict[str, int] = {}
    for row in rows if isinstance(rows, list) else []:
        label = "/".join(_plain(row.get(name, "")) for name in names) if isinstance(row, dict) else str(row)
        label = label or ROW
        seen[label] = seen.get(label, 0) + 1
        keyed[label if seen[label] == 1 else f"{label}#{seen[label]}"] = row
    return keyed


def _plain(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def text_of(value: Any) -> str:
    """Return a value of a document as text, "" where it is absent; a row as its sentence."""
    if value is None:
        return ""
    if isinstance(value, dict):
        said = value.get("because") or value.get("ask") or value.get("value")
        return str(said) if said else ", ".join(f"{key} {_inner(inner)}" for key, inner in value.items()) or NONE
    if isinstance(value, (list, tuple)):
        return ", ".join(_inner(each) for each in value) or NONE
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def _inner(value: Any) -> str:
    """Return a value that stands among others, what holds several in brackets."""
    text = text_of(value) or NOTHING
    return f"({text})" if isinstance(value, (dict, list, tuple)) and text != NONE else text
