"""Why a design comes out otherwise than it was saved: which catalog value, rule or formula changed, and which conclusions rest on it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from wizard.basis import formula_fingerprints, rule_fingerprints, unpacked, values_now
from wizard.versions import is_shared

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from catalogs import Catalog
    from rules.comparison.rows import Change
    from rules.explanation.closure import Roots

MOST_PER_CHANGE = 3
"""Causes that are named beside one conclusion; all of them stand in the list."""
ABSENT = "nothing"
_SHELVES = {
    "gpu": "gpus", "node": "nodes", "cpu": "cpus", "nic": "nics", "switch": "switches", "compute_switch": "switches",
    "front_switch": "switches", "cable": "cables", "storage": "storage", "pdu": "pdus", "rack": "racks", "price": "prices",
    "server_price": "prices", "rental": "prices", "preset": "models", "fact": "facts", "threshold": "thresholds",
}  # fmt: skip
"""The shelf of each kind of catalog value that origins name."""
EXPLAIN = ("rules.whynot.", "rules.explanation.", "rules.comparison.")
"""Modules that tell of designs and make none: nothing in a design follows from a change of them."""
_ROLES = {"failures": "facts", "carbon": "facts", "electricity": "facts", "cooling": "facts", "support": "facts"}
"""Kinds of facts that origins name by what they are for; which record it is depends on the design."""


@dataclass(frozen=True)
class Cause:
    """One thing that changed. `kind` is catalog, rule, formula, policy, tool or file; `name` is a record and path, a rule, a module."""

    kind: str
    name: str
    before: str = ""
    after: str = ""

    def __str__(self) -> str:
        if self.kind == "catalog":
            return f"the catalog's {self.name} changed from {self.before or ABSENT} to {self.after or ABSENT}"
        if self.kind == "file":
            return self.name
        what = "was added" if not self.before else "was removed" if not self.after else f"changed ({self.before} → {self.after})"
        return f"{self.kind} {self.name} {what}"


def causes_of(saved: Mapping[str, Any], now: Mapping[str, Any], catalog: Catalog) -> tuple[Cause, ...]:
    """Return what changed between two documents of a design: the saved one and what follows from its answers now.

    A design that was saved without a [basis] names its catalog and rules by hashes alone; then the hashes are the cause.
    """
    basis, meta, new = saved.get("basis"), saved.get("meta", {}), now.get("meta", {})
    found: list[Cause] = []
    if isinstance(basis, dict):
        found += _fingerprints("rule", basis.get("rules"), rule_fingerprints())
        found += _fingerprints("formula", basis.get("formulas"), formula_fingerprints())
        found += _catalog(basis.get("catalog"), catalog)
    if not any(each.kind == "catalog" for each in found):
        found += _hash("catalog_hash", "the catalog outside of what this design rests on" if basis else "the catalog", meta, new)
    if not any(each.kind in ("rule", "formula") for each in found):
        found += _hash("rules_hash", "the rules or formulas", meta, new)
    found += _hash("policies_hash", "the policies of the site", meta, new)
    if not found:
        found += _hash("tool_version", "the tool's version", meta, new)
    if is_shared(meta):
        found.insert(
            0, Cause("file", "the file was shared without prices, budget and terms: they are found again from the catalog's own prices")
        )
    return tuple(found) or (Cause("file", "neither catalog nor rules changed: the file itself was edited"),)


def _hash(key: str, label: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Cause]:
    old, new = (str(each.get(key, "not named")) for each in (before, after))
    return [Cause("file", f"{label} changed ({old} → {new})")] if old != new else []


def _fingerprints(kind: str, before: object, after: Mapping[str, str]) -> list[Cause]:
    old, new = unpacked(before), unpacked(after)
    names = [*old, *(name for name in new if name not in old)] if old else []
    changed = [name for name in names if old.get(name) != new.get(name) and not name.startswith(EXPLAIN)]
    return [Cause(kind, name, old.get(name, ""), new.get(name, "")) for name in changed]


def _catalog(before: object, catalog: Catalog) -> list[Cause]:
    found = []
    for record, values in before.items() if isinstance(before, dict) else ():
        now = values_now(record, catalog) or {}
        if not isinstance(values, dict):
            continue
        for path in [*values, *(path for path in now if path not in values)]:
            old, new = str(values.get(path, "")), now.get(path, "")
            if old != new:
                found.append(Cause("catalog", f"{record} {path}".strip(), old, new))
    return found


def attributed(change: Change, causes: Iterable[Cause], chosen_changed: bool) -> tuple[str, ...]:
    """Return what a changed conclusion follows from, as far as the tables of origins lead from it to something that changed."""
    listed = [each for each in causes if each.kind != "file"]
    rule = _rule_of(change.where)
    direct = [each for each in listed if each.kind == "rule" and each.name == rule]
    found = direct or [each for each in listed if _rests_on(change.where, rule, each)]
    if found:
        more = len(found) - MOST_PER_CHANGE
        return (*(str(each) for each in found[:MOST_PER_CHANGE]), *((f"and {more} more",) if more > 0 else ()))
    if chosen_changed:
        return ("another candidate is chosen",)
    return ()


def _rests_on(where: str, rule: str, cause: Cause) -> bool:
    table, _, rest = where.partition(".")
    if cause.kind == "catalog":
        record, _, path = cause.name.partition(" ")
        if table == "bom":
            return record.startswith("prices/") or record.partition("/")[2] in rest
        return any(_names(each, record, path) for each in _roots_of(table, rest, rule).catalog)
    if cause.kind == "formula":
        return any(each.startswith(f"{cause.name}.") for each in _roots_of(table, rest, rule).formulas)
    return False


def _names(origin: str, record: str, path: str) -> bool:
    """Return whether a catalog value as origins name it is the value at `path` of a record, a part of it or what holds it."""
    root, _, inner = origin.partition(".")
    shelf, _, id_ = record.partition("/")
    if _SHELVES.get(root) != shelf:
        return _ROLES.get(root) == shelf
    if root in ("fact", "threshold"):
        name, _, inner = inner.partition(".")
        if name != id_:
            return False
        path = path.removeprefix("values.")
    return not inner or inner.startswith(path) or path.startswith(inner)


def _roots_of(table: str, rest: str, rule: str) -> Roots:
    from rules.cases import all_rules
    from rules.explanation.closure import Roots, rule_roots, section_roots
    from rules.findings import Stage

    if rule in all_rules():
        return rule_roots(all_rules()[rule])
    found = Roots()
    if table == "design":
        for stage in Stage:
            found |= section_roots(stage, rest)
    return found


def _rule_of(where: str) -> str:
    """Return the rule that a place in the document belongs to: "warning.power.total_tight.because" is of power.total_tight."""
    from rules.cases import all_rules

    table, _, rest = where.partition(".")
    if table in ("design", "answers", "bom", "alternative"):
        return ""
    words = rest.replace("/", ".").split(".")
    pairs = (f"{first}.{second.partition('#')[0]}" for first, second in pairwise(words))
    return next((pair for pair in pairs if pair in all_rules()), "")
