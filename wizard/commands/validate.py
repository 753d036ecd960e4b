"""`cluster-wizard validate [RUNS.toml]`: how far the estimates are from published runs, or from your own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rules.counting import counted
from wizard.cli import GOOD, WRONG, add_catalog_option, add_json_option, narrate, open_catalog, print_json

if TYPE_CHECKING:
    import argparse

    from catalogs import Catalog
    from wizard.validation import Validation

PUBLISHED = "the catalog's measurements"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "runs", nargs="?", metavar="RUNS.toml", help="your own measured runs, as estimate reads them; '-' reads standard input"
    )
    form = parser.add_mutually_exclusive_group()
    add_json_option(form)
    form.add_argument("--markdown", action="store_true", help="print the page of the docs")
    form.add_argument("--regimes", action="store_true", help="print the validated regimes as a catalog file")
    add_catalog_option(parser)


def run(options: argparse.Namespace) -> int:
    """Validate and print; returns 0: a missed promise is an answer, not a failure. 2 where values of a row cannot be read."""
    from wizard import validation_tables
    from wizard.imports.run_outcomes import LEFT_OUT, UNREAD
    from wizard.validation import as_json

    catalog = open_catalog(options.catalog)
    found = _validation(options.runs, catalog)
    wrong = {each.id: note for each in found.outcomes for note in each.notes if note.startswith((LEFT_OUT, UNREAD))}
    for name, note in wrong.items():
        narrate(f"cluster-wizard: {options.runs}: {name}: {note}")
    if wrong and len(wrong) == len(found.outcomes):
        return WRONG
    if options.json:
        print_json(as_json(found))
    elif options.markdown:
        print(validation_tables.as_markdown(found), end="")
    elif options.regimes:
        print(_regimes(found), end="")
    else:
        print(validation_tables.as_text(found))
    narrate(_summary(found))
    return WRONG if wrong else GOOD


def _validation(runs: str | None, catalog: Catalog) -> Validation:
    from wizard.files import STANDARD_INPUT, read_standard_input, read_toml
    from wizard.imports.run_outcomes import outcomes_of, published_document
    from wizard.validation import Validation

    if runs is None:
        return Validation(tuple(outcomes_of(published_document(catalog), PUBLISHED, catalog)), own=False)
    piped = runs == "-"
    document = read_standard_input() if piped else read_toml(runs)
    outcomes = outcomes_of(document, STANDARD_INPUT if piped else runs, catalog)
    return Validation(tuple(outcomes), own=True, regimes=tuple(catalog.validation))


def _summary(found: Validation) -> str:
    sources = {each.source for each in found.outcomes}
    kept = sum(each.met is True for each in found.bars)
    told = f", {kept} of {len(found.bars)} promises kept" if found.bars else ""
    return f"{counted(len(found.outcomes), 'run')} of {counted(len(sources), 'source')}{told}"


def _regimes(found: Validation) -> str:
    """Return the validated regimes as the text of a catalog file, one per line."""
    lines = ["# How far estimates are off by kind of run. Written by `make validation`; do not edit.\n", "regime = [\n"]
    for each in found.to_regimes():
        values = each.model_dump(exclude_none=True)
        lines.append("  { " + ", ".join(f"{key} = {_toml(value)}" for key, value in values.items()) + " },\n")
    return "".join([*lines, "]\n"])


def _toml(value: object) -> str:
    if isinstance(value, (tuple, list)):
        return f"[{', '.join(map(_toml, value))}]"
    return f'"{value}"' if isinstance(value, str) else f"{value:g}" if isinstance(value, float) else str(value)
