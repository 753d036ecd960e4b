"""`cluster-wizard replay DESIGN.toml…`: derive saved designs again and list what changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wizard.cli import GOOD, NO, add_catalog_option, add_json_option, narrate, open_catalog, print_json

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("designs", nargs="+", metavar="DESIGN.toml")
    parser.add_argument("--update", action="store_true", help="write the design as it comes out now")
    add_catalog_option(parser)
    add_json_option(parser)


def run(options: argparse.Namespace) -> int:
    """Replay; returns 0 where nothing differs, 1 where anything does."""
    from wizard.files import write_atomically
    from wizard.replay import replay

    catalog = open_catalog(options.catalog)
    rows, differing = [], 0
    for path in options.designs:
        result = replay(path, catalog)
        differing += bool(result.changes)
        rows.append(
            {"file": path, "same": not result.changes, "causes": list(result.causes), "changes": [vars(each) for each in result.changes]}
        )
        if options.update and result.changes:
            write_atomically(path, result.text)
        if not options.json:
            _print(result.path, result.changes, result.causes)
    if options.json:
        print_json(rows)
    narrate(f"{len(rows)} replayed, {differing} differ" + (", updated" if options.update and differing else ""))
    return NO if differing else GOOD


def _print(path: str, changes: tuple, causes: tuple[str, ...]) -> None:  # type: ignore[type-arg]
    print(f"{path}: {'no difference' if not changes else f'{len(changes)} differences'}")
    for cause in causes:
        print(f"  because {cause}")
    for change in changes:
        if not change.before or not change.after:
            print(f"  {'+' if change.after else '-'} {change.where}: {change.after or change.before}")
        else:
            print(f"  ~ {change.where}: {change.before} → {change.after}")
