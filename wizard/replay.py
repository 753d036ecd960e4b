"""Derive a saved design again and list every conclusion that changed, with what may have caused it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rules.advisor import advise
from rules.answers import AnswerError
from wizard.files import FileError, design_text, load, parse_toml
from wizard.versions import meta_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from catalogs import Catalog
    from rules.design import Design

_KEYED = {
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
}
_COMPARED = ("answers", "design", *_KEYED)


@dataclass(frozen=True)
class Change:
    """One conclusion that differs: where, what it was and what it is now ("" where it was or is absent)."""

    where: str
    before: str
    after: str


@dataclass(frozen=True)
class Replay:
    """The outcome of one replay: the changes and which of catalog, rules and tool differ from when it was saved."""

    path: str
    changes: tuple[Change, ...]
    causes: tuple[str, ...]
    text: str


def replay(path: Path | str, catalog: Catalog) -> Replay:
    """Derive the design at `path` again; raises FileError where it is no design file or its answers no longer hold."""
    loaded = load(path)
    if loaded.document is None:
        raise FileError(path, "holds answers but no design yet; make one with 'cluster-wizard design FILE -o OUT.toml'")
    try:
        design = advise(loaded.answers, catalog)
    except AnswerError as error:
        raise FileError(path, f"{error}; the design can no longer be derived") from None
    return compared(loaded.document, design, catalog, path)


def compared(document: Mapping[str, Any], design: Design, catalog: Catalog, path: Path | str) -> Replay:
    """Compare a saved design's `document` with the design that follows from its answers now."""
    saved = document.get("meta", {})
    meta = meta_of(str(saved.get("name", "design")), catalog, saved)
    text = design_text(design, meta)
    now = parse_toml(text.encode(), path)
    changes = [change for table in _COMPARED for change in _compare(table, document.get(table), now.get(table))]
    return Replay(str(path), tuple(changes), tuple(_causes(saved, meta)) if changes else (), text)


def _causes(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    names = {"catalog_hash": "the catalog", "rules_hash": "the rules or formulas", "tool_version": "the tool's version"}
    found = [
        f"{label} changed ({before.get(key, 'not named')} → {now[key]})" for key, label in names.items() if before.get(key) != now[key]
    ]
    return found or ["neither catalog nor rules changed: the file itself was edited"]


def _compare(where: str, before: Any, after: Any) -> list[Change]:
    """Return the differences of two values, tables key by key and lists of tables row by row."""
    if before == after:
        return []
    if where in _KEYED:
        before, after = (_by_key(rows or [], _KEYED[where]) for rows in (before, after))
    if isinstance(before, dict) and isinstance(after, dict):
        keys = list(dict.fromkeys([*before, *after]))
        return [change for key in keys for change in _compare(f"{where}.{key}", before.get(key), after.get(key))]
    return [Change(where, _text(before), _text(after))]


def _by_key(rows: Any, names: tuple[str, ...]) -> dict[str, Any]:
    """Return rows by their identity, with a number where several rows share one."""
    keyed: dict[str, Any] = {}
    for row in rows if isinstance(rows, list) else []:
        label = "/".join(str(row.get(name, "")) for name in names) if isinstance(row, dict) else str(row)
        number = sum(key.split("#")[0] == label for key in keyed)
        keyed[f"{label}#{number + 1}" if number else label] = row
    return keyed


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, dict):
        return str(value.get("because") or value.get("ask") or value.get("value") or value)
    return str(value)
