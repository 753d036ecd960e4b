"""`cluster-wizard estimate RUNS.toml`: memory and step time of given training runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rules.counting import counted
from wizard.cli import GOOD, WRONG, add_catalog_option, add_json_option, narrate, open_catalog, print_json

if TYPE_CHECKING:
    import argparse

RATE = "tokens/s/GPU"
COLUMNS = ("id", "s/step", "from", "to", RATE, "TFLOP/s/GPU", "MFU", "GiB", "from", "to", "verdict")
UNKNOWN = "?"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("runs", metavar="RUNS.toml", help="[[run]] or [[memory]] tables and [models.*]; '-' reads standard input")
    parser.add_argument("--notes", action="store_true", help="print below the table what was assumed for each row")
    add_catalog_option(parser)
    add_json_option(parser)


def run(options: argparse.Namespace) -> int:
    """Estimate every row and print the results in order; returns 0, or 2 where a row cannot be read: the others are answered even so."""
    from wizard.files import STANDARD_INPUT, read_standard_input, read_toml
    from wizard.imports.run_estimate import estimate_rows
    from wizard.imports.run_rows import problem_of, read_rows

    piped = options.runs == "-"
    document = read_standard_input() if piped else read_toml(options.runs)
    rows, models = read_rows(document, STANDARD_INPUT if piped else options.runs)
    problems = [f"{row.id}: {problem}" for row in rows if (problem := problem_of(row, models))]
    for problem in problems:
        narrate(f"cluster-wizard: {STANDARD_INPUT if piped else options.runs}: {problem}")
    if len(problems) == len(rows):
        return WRONG
    results = estimate_rows(rows, models, open_catalog(options.catalog))
    code = WRONG if problems else GOOD
    if options.json:
        print_json(results)
        return code
    _print_table(results)
    if not options.notes:
        _print_reasons(results)
        _print_remedies(results)
    if options.notes:
        for result in results:
            print(f"\n{result['id']}")
            for note in [*_step_note(result), *result["notes"]]:
                print(f"  {note}")
    unanswered = sum(result["tflops_per_gpu"] is None for result in results)
    told = "" if options.notes else "; --notes prints what was assumed"
    narrate(f"{counted(len(results), 'row')}, {unanswered} without a time{told}")
    return code


def _print_table(results: list[dict[str, Any]]) -> None:
    lines = [COLUMNS, *map(_cells, results)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(COLUMNS))]
    for line in lines:
        middle = [cell.rjust(width) for cell, width in zip(line[1:-1], widths[1:-1], strict=True)]
        print("  ".join([line[0].ljust(widths[0]), *middle, line[-1]]).rstrip())


def _print_reasons(results: list[dict[str, Any]]) -> None:
    """Print below the table why rows have no time."""
    for result in results:
        if result["tflops_per_gpu"] is None and result["notes"]:
            print(f"\n{result['id']}: {result['notes'][0]}")


def _step_note(result: dict[str, Any]) -> list[str]:
    """Return where the step goes, in a line."""
    from wizard.plan_list import spent

    terms = result["step_terms"]
    return [f"the step of {result['iteration_s']:.4g} s: {spent(terms)}"] if terms else []


def _print_remedies(results: list[dict[str, Any]]) -> None:
    """Print below the table what would make rows fit that do not."""
    from wizard.imports.run_estimate import REMEDY, TOGETHER

    for result in results:
        remedies = [note for note in result["notes"] if note.startswith((REMEDY, TOGETHER))]
        if result["verdict"] == "does_not_fit" and remedies:
            print(f"\n{result['id']} does not fit")
            for remedy in remedies:
                print(f"  {remedy}")


def _cells(result: dict[str, Any]) -> tuple[str, ...]:
    memory = result["memory_gib"] or {}
    seconds, span = result["iteration_s"], result["step_range"]
    steps = [seconds, *((seconds * span[end] for end in ("low", "high")) if seconds is not None and span else (None, None))]
    share = result["mfu"]
    sizes = [memory.get(key) for key in ("expected", "low", "high")]
    return (
        result["id"],
        *map(_number, steps),
        _rate(result),
        _number(result["tflops_per_gpu"]),
        UNKNOWN if share is None else f"{share:.1%}",
        *(UNKNOWN if size is None else f"{size:.1f}" for size in sizes),
        result["verdict"],
    )


def _number(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:,.4g}"


def _rate(result: dict[str, Any]) -> str:
    """Return the tokens per second and GPU, or the images or samples per second of the whole job with their name."""
    for unit in ("images", "samples"):
        if result[f"{unit}_per_s"] is not None:
            return f"{_number(result[f'{unit}_per_s'])} {unit}/s"
    return _number(result["tokens_per_s_per_gpu"])
