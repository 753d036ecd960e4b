"""`cluster-wizard catalog list|show|check`: look at the facts and check them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rules.counting import counted
from wizard.cli import GOOD, NO, WRONG, add_catalog_option, add_json_option, narrate, open_catalog, print_json

if TYPE_CHECKING:
    import argparse

    from catalogs import Catalog

SHELVES = (
    "gpus", "nodes", "cpus", "nics", "switches", "cables", "storage", "racks", "pdus", "cooling", "software", "models", "prices", "facts",
    "collectives", "measurements", "measured_models", "recipes", "validation", "thresholds", "sources",
)  # fmt: skip


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="list|show|check")
    listing = actions.add_parser("list", help="list the records of one kind, or how many there are of each")
    listing.add_argument("kind", nargs="?", choices=SHELVES, metavar="KIND", help=", ".join(SHELVES))
    show = actions.add_parser("show", help="show a record with the source, date and kind of every value")
    show.add_argument("name", help="an id or alias")
    check = actions.add_parser("check", help="check units, sources, references and plausibility")
    for sub in (listing, show, check):
        add_catalog_option(sub)
        add_json_option(sub)


def run(options: argparse.Namespace) -> int:
    """List, show or check; check returns 1 with findings."""
    catalog = open_catalog(options.catalog)
    return {"list": _list, "show": _show, "check": _check}[options.action](catalog, options)


def _list(catalog: Catalog, options: argparse.Namespace) -> int:
    if options.kind is None:
        counts = {kind: len(getattr(catalog, kind)) for kind in SHELVES}
        if options.json:
            print_json(counts)
        else:
            for kind, count in counts.items():
                print(f"{kind:<16}{count:>6}")
        return GOOD
    rows = [_row(record) for record in getattr(catalog, options.kind)]
    if options.json:
        print_json(rows)
        return GOOD
    width = max((len(row["id"]) for row in rows), default=0) + 2
    for row in rows:
        marks = [str(row[key]) for key in ("status",) if row.get(key) not in (None, "available", "unknown")]
        marks += ["unverified"] if row.get("verified") is False else []
        print(f"{row['id']:<{width}}{row['name']}" + (f"  [{', '.join(marks)}]" if marks else ""))
    return GOOD


def _row(record: Any) -> dict[str, Any]:
    names = ("name", "title", "what", "fact", "topic", "conclusion")
    name = next((str(getattr(record, each)) for each in names if getattr(record, each, None)), record.id)
    row = {"id": record.id, "name": name}
    row |= {key: getattr(record, key) for key in ("vendor", "status", "verified") if hasattr(record, key)}
    return row


def _show(catalog: Catalog, options: argparse.Namespace) -> int:
    for kind in SHELVES:
        record = getattr(catalog, kind).get(options.name)
        if record is not None:
            dump = record.model_dump(mode="json", exclude_none=True)
            if options.json:
                print_json({"kind": kind, "record": dump})
            else:
                print(f"{kind}: {record.id}")
                _print_values(dump, "", catalog)
            return GOOD
    near = [found for kind in SHELVES if (found := getattr(catalog, kind).nearest(options.name))]
    narrate(
        f"cluster-wizard: nothing is called {options.name!r}"
        + (f"; near: {', '.join(near[:4])}" if near else "; 'catalog list' prints the kinds")
    )
    return WRONG


def _print_values(value: Any, prefix: str, catalog: Catalog) -> None:
    if isinstance(value, dict) and "value" in value and "source" in value:
        _print_sourced(value, prefix, catalog)
    elif isinstance(value, dict):
        for key, inner in value.items():
            if inner not in ([], {}, "") and key != "id":
                _print_values(inner, f"{prefix}.{key}" if prefix else key, catalog)
    elif isinstance(value, list) and value and isinstance(value[0], dict):
        for number, inner in enumerate(value, start=1):
            _print_values(inner, f"{prefix}[{number}]", catalog)
    else:
        print(f"  {prefix:<28} {', '.join(map(str, value)) if isinstance(value, list) else value}")


def _print_sourced(value: dict[str, Any], prefix: str, catalog: Catalog) -> None:
    ids = [value["source"]] if isinstance(value["source"], str) else value["source"]
    dates = [catalog.sources[id_].date for id_ in ids if id_ in catalog.sources and catalog.sources[id_].date]
    about = [str(value.get("kind", "")), ", ".join(ids), value.get("date") or (dates[0] if dates else "no date")]
    about += [f"from {value['range'][0]} to {value['range'][1]}"] if value.get("range") else []
    about += [] if value.get("verified", True) else ["not verified"]
    print(f"  {prefix:<28} {value['value']!s:<22} {' · '.join(part for part in about if part)}")
    if value.get("note"):
        print(f"  {'':<28} {value['note']}")
    for other in value.get("conflicts", []):
        print(f"  {'':<28} but {other['value']} says {other['source']} {other.get('note', '')}".rstrip())


def _check(catalog: Catalog, options: argparse.Namespace) -> int:
    from catalogs.lint import check

    problems = check(catalog)
    if options.json:
        print_json([vars(problem) for problem in problems])
    else:
        for problem in problems:
            print(f"{problem.record}: {problem.key}: {problem.message}; {problem.fix}")
    broken = sum(problem.check == "files_load" for problem in problems)
    unread = f" without {counted(broken, 'kind')} that could not be read" if broken else ""
    narrate(f"{sum(_loaded(catalog, kind) for kind in SHELVES)} records checked{unread}, {counted(len(problems), 'problem')}")
    return NO if problems else GOOD


def _loaded(catalog: Catalog, kind: str) -> int:
    """Return how many records of a kind there are, 0 where a file of it cannot be read."""
    from catalogs import CatalogError

    try:
        return len(getattr(catalog, kind))
    except CatalogError:
        return 0
