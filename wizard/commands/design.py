"""`cluster-wizard design ANSWERS.toml`: design without questions."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from rules.counting import counted
from wizard.cli import GOOD, NO, WRONG, add_catalog_option, add_json_option, add_policy_option, narrate, open_catalog, print_json

if TYPE_CHECKING:
    import argparse

    from rules.answers import Answers
    from rules.design import Design
    from wizard.files import Loaded

DEVICES = ("/dev/", "/proc/")
"""Where names of outputs stand that are no names of designs: /dev/stdout."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("answers", nargs="?", help="a file of answers, or a design to make anew; '-' reads standard input")
    parser.add_argument("-o", "--output", metavar="OUT.toml", help="write the design here instead of to standard output")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", dest="changes", help="set one answer; may be repeated")
    parser.add_argument(
        "--measured",
        action="append",
        default=[],
        metavar="LOG",
        help="a log of all_reduce_perf (nccl-tests, rccl-tests); may be repeated",
    )
    parser.add_argument("--exhaustive", action="store_true", help="search every plan and judge every candidate; takes longer")
    add_catalog_option(parser)
    add_policy_option(parser)
    add_json_option(parser)


def run(options: argparse.Namespace) -> int:
    """Design; returns 0, or 1 where the design has conflicts."""
    from rules.advisor import advise
    from rules.conflicts import with_conflict_sets
    from wizard.files import write_atomically
    from wizard.keeping import saved_tables, saved_text
    from wizard.policies import under_policies
    from wizard.versions import meta_of

    if options.answers is None and not options.changes:
        narrate("cluster-wizard: design needs a file of answers or at least one --set KEY=VALUE; '--help' shows how to call it")
        return WRONG
    if options.output is not None and not options.output.strip():
        narrate("cluster-wizard: -o: expected the name of a file; without -o the design goes to standard output")
        return WRONG
    loaded = _read(options.answers)
    answers = _with_logs(under_policies(loaded, options.policy), options.measured)
    for change in options.changes:
        key, separator, value = change.partition("=")
        if not separator:
            narrate(f"cluster-wizard: --set {change!r}: expected KEY=VALUE, such as --set scale.nodes=8")
            return WRONG
        answers = answers.with_value(key.strip(), value.strip()) if value.strip() else answers.without(key.strip())
    catalog = open_catalog(options.catalog)
    design = with_conflict_sets(advise(answers, catalog, exhaustive=options.exhaustive), catalog)
    meta = meta_of(_name(options, loaded), catalog, loaded.meta or _earlier(options.output))
    if options.output is not None:
        write_atomically(options.output, saved_text(design, meta, catalog))
    if options.json:
        print_json(saved_tables(design, meta, catalog))
    elif options.output is None:
        sys.stdout.write(saved_text(design, meta, catalog))
    _narrate(design, options.output)
    return GOOD if design.fits else NO


def _with_logs(answers: Answers, paths: list[str]) -> Answers:
    """Return the answers with what logs of collectives say, and the day of the latest log where no date was given."""
    from wizard.site_log import LOG_KEY, log_answers

    days = []
    for path in paths:
        found = log_answers(path)
        days.append(str(found.pop(LOG_KEY)))
        for key, value in found.items():
            answers = answers.with_value(key, value, f"log {Path(path).name}"[:60])
    return answers.with_value(LOG_KEY, max(days), "log") if days and not answers.given(LOG_KEY) else answers


def _read(name: str | None) -> Loaded:
    from rules.answers import Answers
    from wizard.files import STANDARD_INPUT, Loaded, interpret, load, read_standard_input

    if name is None:
        return Loaded(None, Answers())
    if name == "-":
        return interpret(read_standard_input(), STANDARD_INPUT)
    return load(name)


def _name(options: argparse.Namespace, loaded: Loaded) -> str:
    given, output = loaded.meta.get("name"), options.output
    if output and output.startswith(DEVICES):
        output = None
    return str(given) if given else Path(output or options.answers or "design").stem.strip("-") or "design"


def _earlier(output: str | None) -> dict[str, object]:
    """Return the meta table of the file that is about to be replaced, so that its date of creation is kept."""
    from wizard.files import FileError, load

    if not output or not Path(output).is_file():
        return {}
    try:
        return dict(load(output).meta)
    except FileError:
        return {}


def _narrate(design: Design, output: str | None) -> None:
    """Tell in a few lines what came out."""
    from rules.findings import Kind
    from rules.sizing.prices import NOT_COUNTED
    from rules.sizing.site_measured import NOT_USED
    from wizard.summary import headline

    for line in headline(design):
        narrate(line)
    for conflict in design.conflicts:
        narrate(f"✗ CONFLICT {conflict.because}")
        for remedy in conflict.remedies:
            narrate(f"    fix: {remedy.text}" + (f" ({remedy.key} = {remedy.value})" if remedy.value else ""))
    for each in design.conflict_sets:
        narrate(f"    {each.sentence}")
        for change in each.changes[:1]:
            narrate(f"        smallest change: {change.key}: {change.text}")
    for notice in design.notices:
        if notice.startswith((NOT_USED, NOT_COUNTED)):
            narrate(f"▲ {notice}")
    warnings, questions = len(design.of_kind(Kind.WARNING)), len(design.of_kind(Kind.QUESTION))
    counts = ((warnings, "warning"), (len(design.assumptions), "assumption"), (questions, "vendor question"))
    narrate(", ".join(counted(number, noun) for number, noun in counts))
    if output:
        narrate(f"wrote {output}")
