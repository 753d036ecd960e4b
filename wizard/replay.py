"""Derive a saved design again and list every conclusion that changed, with what it follows from."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rules.advisor import advise
from rules.answers import AnswerError
from rules.comparison.rows import COMPARED, Change, changes_in
from wizard.causes import attributed, causes_of
from wizard.files import FileError, load
from wizard.keeping import history_entry, saved_tables, text_of
from wizard.versions import meta_of

if TYPE_CHECKING:
    from pathlib import Path

    from catalogs import Catalog
    from rules.answers import Answers
    from rules.design import Design

MOST_KEPT = 32
"""Designs that are kept while many are replayed: of a thousand files, many hold the same answers under another name."""
_DERIVED: deque[tuple[Answers, Catalog, Design]] = deque(maxlen=MOST_KEPT)


@dataclass(frozen=True)
class Replay:
    """The outcome of one replay. `because` says for each change what it follows from; `tables` are the design as it comes out now."""

    path: str
    changes: tuple[Change, ...]
    causes: tuple[str, ...]
    tables: Mapping[str, Any] = field(repr=False)
    because: tuple[tuple[str, ...], ...] = ()

    @property
    def text(self) -> str:
        """Return the design as it comes out now as the text of its file."""
        return text_of(self.tables)


def replay(path: Path | str, catalog: Catalog) -> Replay:
    """Derive the design at `path` again; raises FileError where it is no design file or its answers no longer hold."""
    loaded = load(path)
    if loaded.document is None:
        raise FileError(path, "holds answers but no design yet; make one with 'cluster-wizard design FILE -o OUT.toml'")
    try:
        design = _derived(loaded.answers, catalog)
    except AnswerError as error:
        raise FileError(path, f"{error}; the design can no longer be derived") from None
    return compared(loaded.document, design, catalog, path, whole=True)


def _derived(answers: Answers, catalog: Catalog) -> Design:
    """Return the design that follows from the answers; of files with the same answers it is derived once."""
    for kept, under, design in _DERIVED:
        if kept == answers and under is catalog:
            return design
    design = advise(answers, catalog)
    _DERIVED.append((answers, catalog, design))
    return design


def compared(document: Mapping[str, Any], design: Design, catalog: Catalog, path: Path | str, *, whole: bool = False) -> Replay:
    """Compare a saved design's `document` with the design that follows from its answers now.

    `whole`: find conflict sets anew where the conflicts are others, which takes a second or two; without it they are not compared.
    """
    saved = document.get("meta", {})
    meta = meta_of(str(saved.get("name", "design")), catalog, saved)
    tables = saved_tables(design, meta, catalog, document, search=whole)
    now = plain(tables)
    compared_tables = tuple(table for table in COMPARED if whole or table != "conflict_set")
    changes = changes_in(compared_tables, document, now)
    if not changes:
        return Replay(str(path), (), (), now)
    causes = causes_of(document, now, catalog)
    moved = document.get("design", {}).get("summary", {}).get("chosen") != now["design"]["summary"].get("chosen")
    because = tuple(attributed(each, causes, moved) for each in changes)
    said = tuple(str(each) for each in causes)
    now["history"] = [*now.get("history", []), history_entry(document, now, said)]
    return Replay(str(path), tuple(changes), said, now, because)


def plain(value: Any) -> Any:
    """Return tables as a file of them is read back: lists for tuples, plain texts for names of a list."""
    if isinstance(value, str):
        return value if type(value) is str else str(value)
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    return value
