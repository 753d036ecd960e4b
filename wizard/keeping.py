"""What a design file holds beside the design: what it rests on, which answers conflict, and what was there before."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rules.comparison.rows import reasons_changed
from wizard.basis import basis_of
from wizard.files import design_tables

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from catalogs import Catalog
    from rules.design import Design

MOST_HISTORY = 20
"""Entries of history that a file keeps; the oldest go first."""


def saved_tables(
    design: Design, meta: Mapping[str, Any], catalog: Catalog, earlier: Mapping[str, Any] | None = None, *, search: bool = True
) -> dict[str, Any]:
    """Return the tables of a design file; without `search` no conflict sets are looked for.

    Of an `earlier` document the history is kept, and the conflict sets where its conflicts are still the same, since finding them
    takes a second or two.
    """
    document = earlier or {}
    tables = design_tables(design, meta)
    if not design.fits and not design.conflict_sets:
        if _same_conflicts(document, tables):
            tables = _with_rows(tables, document)
        elif search:
            from rules.conflicts import find_conflicts

            tables = design_tables(replace(design, conflict_sets=find_conflicts(design.answers, catalog, needs=False).sets), meta)
    tables["basis"] = basis_of(design, catalog)
    history = document.get("history", [])
    return tables | ({"history": list(history)[-MOST_HISTORY + 1 :]} if history else {})


def saved_text(design: Design, meta: Mapping[str, Any], catalog: Catalog, earlier: Mapping[str, Any] | None = None) -> str:
    """Return the text of a design file; the same design, meta and earlier document give the same bytes."""
    return text_of(saved_tables(design, meta, catalog, earlier))


def history_entry(before: Mapping[str, Any], now: Mapping[str, Any], causes: Iterable[str]) -> dict[str, Any]:
    """Return what history keeps of a design that is replaced: by what it was made, why it changed, and its reasons that changed."""
    meta = {key: value for key, value in before.get("meta", {}).items() if key in ("tool_version", "catalog_hash", "rules_hash")}
    reasons = [{"where": each.where, "before": each.before} for each in reasons_changed(before, now) if each.before]
    summary = before.get("design", {}).get("summary", {})
    chosen = {"name": summary["name"]} if isinstance(summary, dict) and "name" in summary else {}
    return meta | chosen | {"causes": list(causes), "reason": reasons}


def text_of(tables: Mapping[str, Any]) -> str:
    """Return tables as the text of a TOML file."""
    import tomli_w

    return tomli_w.dumps(tables)


def _same_conflicts(document: Mapping[str, Any], tables: Mapping[str, Any]) -> bool:
    same = all(_rules(document, key) == _rules(tables, key) for key in ("conflict", "policy"))
    return bool(document.get("conflict_set")) and document.get("answers") == tables["answers"] and same


def _rules(document: Mapping[str, Any], key: str) -> list[object]:
    return [row.get("rule", row.get("id")) for row in document.get(key, [])]


def _with_rows(tables: dict[str, Any], document: Mapping[str, Any]) -> dict[str, Any]:
    """Return tables with the conflict sets of an earlier document in their place, after the conflicts."""
    made: dict[str, Any] = {}
    for name, rows in tables.items():
        made[name] = rows
        if name == "conflict":
            made["conflict_set"] = document["conflict_set"]
    return made
