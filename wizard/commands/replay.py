"""`cluster-wizard replay DESIGN.toml…`: derive saved designs again and list what changed."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rules.counting import counted
from wizard.cli import GOOD, NO, WRONG, add_catalog_option, add_json_option, narrate, one_line, open_catalog, print_json

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from catalogs import Catalog
    from wizard.files import FileError
    from wizard.replay import Replay

FEWEST_TO_SHARE = 8
"""From so many designs on they are shared among processes: each takes a second to start."""
MOST_IN_A_ROW = 64
"""Designs that one process takes at a time: neighbours in a folder are often alike, and what one was sized from serves the next."""
_CATALOG: list[Any] = []
"""The catalog of a worker process, opened once."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("designs", nargs="+", metavar="DESIGN.toml")
    parser.add_argument("--update", action="store_true", help="write the design as it comes out now; its old reasons are kept as history")
    parser.add_argument(
        "--jobs", type=_jobs, default=0, metavar="N", help="processes that share the work; as many as processors by default"
    )
    add_catalog_option(parser)
    add_json_option(parser)


def _jobs(text: str) -> int:
    import argparse

    if not text.isdecimal() or not 1 <= int(text) <= 1024:
        raise argparse.ArgumentTypeError(f"expected a whole number from 1 to 1024, got {text[:40]!r}")
    return int(text)


def run(options: argparse.Namespace) -> int:
    """Replay; returns 0 where nothing differs, 1 where anything does, 2 where a file cannot be read, which keeps nobody from the others."""
    from wizard.files import FileError, write_atomically

    rows, differing, unread = [], 0, 0
    for path, result in zip(options.designs, _replayed(options), strict=True):
        if isinstance(result, FileError):
            if len(options.designs) == 1:
                raise result
            unread += 1
            rows.append({"file": path, "same": False, "causes": [], "changes": [], "error": result.message})
            narrate(one_line(f"cluster-wizard: {result}"))
            continue
        differing += bool(result.changes)
        rows.append(_row(result))
        if options.update and result.changes:
            write_atomically(result.path, result.text)
        if not options.json:
            _print(result)
    if options.json:
        print_json(rows)
    left = f", {unread} could not be read" if unread else ""
    narrate(f"{len(rows) - unread} replayed, {differing} differ" + (", updated" if options.update and differing else "") + left)
    return WRONG if unread else NO if differing else GOOD


def _replayed(options: argparse.Namespace) -> Iterator[Replay | FileError]:
    """Yield the outcome of each design in the order in which they are named; many are shared among processes."""
    jobs = min(
        options.jobs or len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1, len(options.designs)
    )
    if jobs < 2 or len(options.designs) < FEWEST_TO_SHARE:
        catalog = open_catalog(options.catalog)
        yield from (_outcome(path, catalog) for path in options.designs)
        return
    from concurrent.futures import ProcessPoolExecutor

    open_catalog(options.catalog)  # a broken catalog is told once, not by every process
    with ProcessPoolExecutor(jobs, initializer=_start, initargs=(options.catalog,)) as pool:
        yield from pool.map(_one, options.designs, chunksize=max(1, min(MOST_IN_A_ROW, len(options.designs) // (2 * jobs))))


def _start(folders: list[str]) -> None:
    _CATALOG[:] = [open_catalog(folders)]


def _outcome(path: str, catalog: Catalog) -> Replay | FileError:
    """Return the outcome of one design, or why its file cannot be replayed."""
    from wizard.files import FileError
    from wizard.replay import replay

    try:
        return replay(path, catalog)
    except FileError as error:
        return error


def _one(path: str) -> Replay | FileError:
    from wizard.files import FileError

    result = _outcome(path, _CATALOG[0])
    return result if isinstance(result, FileError) or result.changes else replace(result, tables={})


def _row(result: Replay) -> dict[str, Any]:
    changes = [{**vars(change), "because": list(why)} for change, why in zip(result.changes, result.because, strict=True)]
    return {"file": result.path, "same": not result.changes, "causes": list(result.causes), "changes": changes}


def _print(result: Replay) -> None:
    print(f"{result.path}: {'no difference' if not result.changes else counted(len(result.changes), 'difference')}")
    for cause in result.causes:
        print(f"  because {cause}")
    for change, why in zip(result.changes, result.because, strict=True):
        print(f"  {change.line()}")
        for each in why if len(result.causes) > 1 else ():
            print(f"      from: {each}")
