"""`cluster-wizard export DESIGN.toml --to FORMAT`: a design as a file for another tool."""

from __future__ import annotations

import difflib
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from wizard.cli import GOOD, NO, WRONG, add_catalog_option, add_json_option, narrate, one_line, open_catalog, print_json

if TYPE_CHECKING:
    import argparse

LIST = "list"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("design", nargs="?", metavar="DESIGN.toml", help="a design, or answers to make one from")
    parser.add_argument("--to", required=True, metavar="FORMAT", help="the format; 'list' prints them all")
    parser.add_argument("-o", "--output", metavar="PATH", help="write to this file instead of to standard output")
    add_catalog_option(parser)
    add_json_option(parser)


def run(options: argparse.Namespace) -> int:
    """Write the design; returns 0, 1 where it has conflicts or nothing of that kind, 2 for a wrong call."""
    from wizard.exports import formats

    if options.to == LIST:
        return _list(options)
    names = [each.id for each in formats()]
    if options.to not in names:
        near = difflib.get_close_matches(options.to.lower(), names, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        return _wrong(f"--to: no format is called {options.to!r}{hint}; 'cluster-wizard export --to list' prints them all")
    if options.design is None:
        return _wrong("export needs a design; 'cluster-wizard export --help' shows how to call it")
    if options.json:
        return _wrong("--json goes with '--to list' only: what is written is the format's own")
    if options.output is not None and not options.output.strip():
        return _wrong("-o: expected the name of a file; without -o the export goes to standard output")
    if options.output is not None and is_same_file(options.design, options.output):
        return _wrong(f"-o: {options.output} is the design itself, which the export would replace; choose another name")
    return _export(options)


def is_same_file(design: str, output: str) -> bool:
    """Return whether both names lead to one file that is there."""
    try:
        return Path(design).is_file() and Path(design).samefile(output)
    except (OSError, ValueError):  # one of them is not there, or is no name: said where it is opened
        return False


def _export(options: argparse.Namespace) -> int:
    from rules.advisor import consider
    from wizard.exports import NothingToExport
    from wizard.exports import write as write_all
    from wizard.exports.shared import write_shared
    from wizard.files import load, open_atomically
    from wizard.policies import under_policies
    from wizard.versions import is_shared

    loaded = load(options.design)
    write = write_shared if is_shared(loaded.meta) else write_all
    considered = consider(under_policies(loaded), open_catalog(options.catalog))
    try:
        if options.output is None:
            write(options.to, considered, sys.stdout)
        else:
            with open_atomically(options.output) as stream:
                write(options.to, considered, stream)
    except NothingToExport as nothing:
        narrate(one_line(f"cluster-wizard: {options.design}: nothing to export as {options.to}: {nothing}"))
        return NO
    if options.output is not None:
        narrate(f"wrote {options.output}")
    if considered.ranking.good:
        return GOOD
    narrate(f"{options.design}: the design has conflicts; 'cluster-wizard design {options.design}' tells them")
    return NO


def _list(options: argparse.Namespace) -> int:
    from wizard.exports import formats

    rows = formats()
    if options.json:
        print_json([{"format": each.id, "file": each.file, "text": each.text} for each in rows])
        return GOOD
    width = max(len(each.id) for each in rows) + 2
    for each in rows:
        print(f"{each.id:<{width}}{each.text} ({each.file})")
    return GOOD


def _wrong(message: str) -> int:
    narrate(one_line(f"cluster-wizard: {message}"))
    return WRONG
