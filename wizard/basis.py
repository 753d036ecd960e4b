"""What a design rests on, written down with it: the values of its products, its rules and formulas by fingerprint.

A replay compares this with what is there now, and so names the value, rule or formula that a changed conclusion follows from.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from catalogs import Catalog
    from rules.design import Design

FINGERPRINT = 8
"""Hexadecimal digits of a fingerprint: two of a thousand differ by chance in one case of eight million."""
PRODUCTS = ("gpus", "nodes", "cpus", "nics", "switches", "cables", "storage", "racks", "pdus")
"""Shelves whose records stand in a bill of materials or in a server."""
PRICES = ("low", "high", "unit", "date")
_ABOUT = ("source", "note", "notes", "verified", "unverified", "conflicts", "aliases", "date", "range", "id", "dissents_from", "name")
"""Keys of a record that are about its values, and no values."""


def basis_of(design: Design, catalog: Catalog) -> dict[str, Any]:
    """Return the [basis] table of a design: `catalog` values by record and path, `rules` and `formulas` as fingerprints."""
    records = {name: values for name, record in _records(design, catalog) if (values := flat(record))}
    return {"rules": dict(rule_fingerprints()), "formulas": dict(formula_fingerprints()), "catalog": dict(sorted(records.items()))}


def _records(design: Design, catalog: Catalog) -> Iterator[tuple[str, Any]]:
    """Yield the records that the design rests on, by shelf and id."""
    names = [line.item for line in design.bom] + [design.chosen.partition("x-")[2]]
    node = catalog.nodes.get(names[-1]) if names[-1] else None
    if node is not None:
        nics = (*node.nics.compute, *node.nics.storage)
        names += [node.gpu, *(part.id for part in (*node.cpus, *nics))]
    preset = design.answers.text("model.preset")
    for name in dict.fromkeys(names):
        for shelf in PRODUCTS:
            record = getattr(catalog, shelf).get(name) if name else None
            if record is not None and record.id == name:
                yield f"{shelf}/{name}", record
    if preset and preset in catalog.models:
        yield f"models/{catalog.models[preset].id}", catalog.models[preset]
    for id_ in sorted({id_ for found in design.findings for id_ in found.thresholds}):
        if catalog.thresholds.get(id_) is not None:
            yield f"thresholds/{id_}", catalog.thresholds[id_]
    for price in catalog.prices:
        if price.item in names:
            yield f"prices/{price.id}", price
    for id_ in named_facts():
        if catalog.facts.get(id_) is not None:
            yield f"facts/{id_}", catalog.facts[id_]


@lru_cache(maxsize=1)
def named_facts() -> tuple[str, ...]:
    """Return the ids of the facts that the tables of origins name: those that every design rests on."""
    from rules.explanation.results import RESULTS
    from rules.findings import Stage
    from rules.origins import Origin, origins_of

    origins = [result.origin for result in RESULTS.values()]
    for stage in Stage:
        table = origins_of(stage)
        origins += [*table.facts.values(), *(each for each in table.sections.values() if isinstance(each, Origin))]
    names = {name.split(".")[1] for origin in origins for name in origin.inputs if name.startswith("fact.")}
    return tuple(sorted(names))


def values_now(name: str, catalog: Catalog) -> dict[str, str] | None:
    """Return the values of the record `shelf/id` as they are in the catalog, None where there is no such record."""
    shelf, _, id_ = name.partition("/")
    record = getattr(catalog, shelf).get(id_) if shelf in (*PRODUCTS, "models", "thresholds", "prices", "facts") else None
    return None if record is None else flat(record)


def flat(record: Any) -> dict[str, str]:
    """Return the values of a record by dotted path, as text."""
    return dict(_leaves("", record.model_dump(mode="json", exclude_none=True)))


def _leaves(path: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict) and "value" in value and "source" in value:
        ends = value.get("range")
        yield path, f"{value['value']}" + (f" ({ends[0]} to {ends[1]})" if ends else "")
    elif isinstance(value, dict):
        for key, inner in value.items():
            if key not in _ABOUT:
                yield from _leaves(f"{path}.{key}" if path else str(key), inner)
    elif isinstance(value, list):
        if value:
            yield path, ", ".join(_plain(each) for each in value)
    elif value not in ("", {}):
        yield path, str(value)


def _plain(value: Any) -> str:
    """Return an entry of a list as text: parts as "8 × id", tables by their values."""
    if isinstance(value, dict):
        return f"{value['count']} × {value['id']}" if set(value) == {"id", "count"} else " ".join(text for _, text in _leaves("", value))
    return str(value)


@lru_cache(maxsize=1)
def rule_fingerprints() -> Mapping[str, str]:
    """Return a fingerprint of each declared rule, the rules of a stage in one text: "fits:1a2b3c4d at_risk:…"."""
    from rules.stages import all_stages

    return {
        module.STAGE.value: " ".join(f"{rule.id.partition('.')[2]}:{_hash(repr(rule).encode())}" for rule in module.RULES)
        for module in all_stages()
    }


@lru_cache(maxsize=1)
def formula_fingerprints() -> Mapping[str, str]:
    """Return a fingerprint of each module of rules, the modules of a package in one text: "memory:1a2b3c4d step:…"."""
    import rules

    folder = Path(rules.__file__).parent
    found: dict[str, list[str]] = {}
    for path in sorted(folder.rglob("*.py")):
        package = ".".join(path.relative_to(folder.parent).parts[:-1])
        if path.stem != "__init__" and not package.startswith("rules.guidance"):
            found.setdefault(package, []).append(f"{path.stem}:{_hash(path.read_bytes())}")
    return {package: " ".join(rows) for package, rows in found.items()}


def unpacked(table: object) -> dict[str, str]:
    """Return packed fingerprints by full name: {"vram": "fits:1a…"} becomes {"vram.fits": "1a…"}; what is malformed is left out."""
    found: dict[str, str] = {}
    for prefix, text in table.items() if isinstance(table, dict) else ():
        for part in str(text).split():
            name, colon, fingerprint = part.rpartition(":")
            if colon:
                found[f"{prefix}.{name}"] = fingerprint
    return found


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:FINGERPRINT]
