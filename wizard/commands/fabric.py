"""`cluster-wizard fabric SPECS.toml`: switches, links, cages and modules of given fabrics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wizard.cli import GOOD, NO, WRONG, add_json_option, narrate, print_json

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence

    from rules.sizing.fabric import FabricCounts

TABLE = "fabric"
LINKS = ("node_leaf", "leaf_spine", "spine_core")
COLUMNS = ("id", "leaf", "spine", "core", "tiers", "node-leaf", "leaf-spine", "spine-core", "manager", "down:up")
LINK_COLUMNS = ("fabric", "tier", "plane", "speed (Gb/s)", "a device", "a port", "b device", "b port", "breakout")
UNKNOWN = "?"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "specs", metavar="SPECS.toml", help="[[fabric]] tables, each with an id and an input table; '-' reads standard input"
    )
    add_json_option(parser)
    parser.add_argument("--links", action="store_true", help="print every link of the fabrics with both ends as CSV, as it is wired")


def run(options: argparse.Namespace) -> int:
    """Count the fabrics and print them; returns 1 where one of them cannot be built."""
    from wizard.files import STANDARD_INPUT, read_standard_input, read_toml

    if options.links and options.json:
        narrate("cluster-wizard: --links prints CSV and --json prints counts; give one of them")
        return WRONG
    piped = options.specs == "-"
    document = read_standard_input() if piped else read_toml(options.specs)
    if options.links:
        return _print_links(_tables(document, STANDARD_INPUT if piped else options.specs))
    counted = [_count(table, place) for place, table in _tables(document, STANDARD_INPUT if piped else options.specs)]
    if options.json:
        print_json([row for row, _, _ in counted])
    else:
        _print_table([(row, counts) for row, counts, _ in counted])
    impossible = sum(refused for _, _, refused in counted)
    if impossible:
        narrate(f"cluster-wizard: {impossible} of {len(counted)} fabrics cannot be built; the notes say why")
    return NO if impossible else GOOD


def _print_links(tables: Sequence[tuple[_Place, Mapping[str, Any]]]) -> int:
    """Print the links of every fabric as they are told, none of them kept; returns 1 where a fabric cannot be built."""
    import csv
    import sys

    from rules.sizing.fabric.inputs import FabricInput
    from rules.sizing.fabric.links import Wiring

    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(LINK_COLUMNS)
    impossible = 0
    for place, table in tables:
        row, counts, refused = _count(table, place)
        impossible += refused
        if counts is None:
            narrate(f"cluster-wizard: {row['id']}: {'; '.join(row['notes'])}")
            continue
        for link in Wiring.of(row["id"], FabricInput.of(table["input"]), counts.plane).links():
            ends = (*link.lower[:2], *link.upper[:2])
            writer.writerow((row["id"], link.tier, link.plane, f"{link.speed_gbps:g}", *ends, link.breakout))
    return NO if impossible else GOOD


class _Place:
    """Where a table stands, for messages: the file and the fabric's id."""

    def __init__(self, path: str, id_: str) -> None:
        self.path, self.id = path, id_

    def fault(self, message: str) -> Exception:
        """Return the error that names the file and the fabric."""
        from wizard.files import FileError

        return FileError(self.path, f"fabric {self.id}: {message}")


def _tables(document: Mapping[str, Any], path: str) -> list[tuple[_Place, Mapping[str, Any]]]:
    """Return the [[fabric]] tables with their places; raises FileError where there are none, or one has no id or that of another."""
    from rules.answers import shortened
    from wizard.files import FileError

    rows = document.get(TABLE)
    if not isinstance(rows, list) or not rows or not all(isinstance(row, dict) for row in rows):
        raise FileError(path, "holds no [[fabric]] tables; write one for each fabric, with an id and an input table")
    found: list[tuple[_Place, Mapping[str, Any]]] = []
    numbers: dict[str, int] = {}
    for number, row in enumerate(rows, start=1):
        if not isinstance(row.get("id"), str) or not row["id"]:
            raise FileError(path, f"fabric {number}: id: expected a text in quotes; give each fabric a name")
        name = shortened(repr(row["id"]))
        if (first := numbers.setdefault(row["id"], number)) != number:
            raise FileError(path, f"fabric {number}: id: {name} is that of fabric {first} already; give each fabric a name of its own")
        found.append((_Place(path, name), row))
    return found


def _count(table: Mapping[str, Any], place: _Place) -> tuple[dict[str, Any], FabricCounts | None, bool]:
    """Return (the row to print, the counts, whether the fabric is impossible); raises FileError for an input that cannot be read."""
    from rules.sizing.fabric import FabricImpossible, FabricInput, FabricInputError, count_fabric

    given = table.get("input")
    if given is None:
        return _row(table["id"], None, ["no [fabric.input] table: nothing to count from"]), None, False
    if not isinstance(given, dict):
        raise place.fault(f"input: expected a table, got {given!r}")
    try:
        counts = count_fabric(FabricInput.of(given))
    except FabricInputError as error:
        raise place.fault(f"input: {error}") from None
    except FabricImpossible as error:
        return _row(table["id"], None, [f"cannot be built: {error.reason}", f"nearest that can be built: {error.nearest}"]), None, True
    return _row(table["id"], counts), counts, False


def _row(id_: str, counts: FabricCounts | None, notes: list[str] | None = None) -> dict[str, Any]:
    if counts is None:
        unknown = dict.fromkeys(("leaf", "spine", "core", "tiers"))
        return {
            "id": id_,
            **unknown,
            "links": dict.fromkeys(LINKS),
            "manager_links": None,
            "cages": {},
            "modules": {},
            "notes": notes or [],
        }
    return {"id": id_, **counts.row()}


def _print_table(rows: Sequence[tuple[dict[str, Any], FabricCounts | None]]) -> None:
    """Print one aligned line per fabric, then the notes of each."""
    lines = [COLUMNS, *(_cells(row, counts) for row, counts in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(COLUMNS))]
    for line in lines:
        cells = [line[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(line[1:], widths[1:], strict=True))]
        print("  ".join(cells).rstrip())
    for row, _ in rows:
        for number, note in enumerate(row["notes"]):
            if number == 0:
                print(f"\n{row['id']}")
            print(f"  {note}")
        shown = [f"{side} {number:,}" for side, number in row["modules"].items() if number]
        if shown:
            print(f"  modules by tier and side: {', '.join(shown)}")


def _cells(row: dict[str, Any], counts: FabricCounts | None) -> tuple[str, ...]:
    numbers = [row["leaf"], row["spine"], row["core"], row["tiers"], *row["links"].values(), row["manager_links"]]
    ratio = f"{counts.oversubscription:.3g}:1" if counts else UNKNOWN
    return (row["id"], *(UNKNOWN if number is None else f"{number:,}" for number in numbers), ratio)
