"""Derive a saved design again and list every conclusion that changed, with what may have caused it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rules.advisor import advise
from rules.answers import AnswerError
from rules.comparison.rows import COMPARED, Change, changes_in
from wizard.files import FileError, design_text, load, parse_toml
from wizard.versions import meta_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from catalogs import Catalog
    from rules.design import Design


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
    changes = changes_in(COMPARED, document, now)
    return Replay(str(path), tuple(changes), tuple(_causes(saved, meta)) if changes else (), text)


def _causes(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    names = {"catalog_hash": "the catalog", "rules_hash": "the rules or formulas", "tool_version": "the tool's version"}
    found = [
        f"{label} changed ({before.get(key, 'not named')} → {now[key]})" for key, label in names.items() if before.get(key) != now[key]
    ]
    return found or ["neither catalog nor rules changed: the file itself was edited"]
