"""The validation as tables: aligned text of at most 100 columns, or Markdown for the docs."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rules.validation import FEWEST_FOR_CALIBRATION, NOISY, verdicts, worth_applying
from rules.validation_bars import TUNED
from rules.validation_repeats import FAR_APART, floor_of
from wizard.validation import why

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rules.validation import Calibration, MemoryScore, TimeScore
    from rules.validation_bars import Bar, Growth
    from wizard.validation import Validation

WIDTH = 100
NOTHING = "–"
MEMORY_COLUMNS = ("runs", "mean", "worst", "bias", "inside", "width")
TIME_COLUMNS = ("runs", "mean", "median", "p90", "bias", "null", "better")
MOST_UNANSWERED = 12
ABOUT = (
    "How far `cluster-wizard estimate` is from published runs, written by `make validation` and checked by a test. "
    "Run `cluster-wizard validate` for the figures of your version, `cluster-wizard validate RUNS.toml` for those of your own runs.",
    "Rates belong to a GPU and a precision and come from the catalog, with their sources; none belongs to a source, a model or a run. "
    "A few constants were read off published runs that stand below too: docs/step-time.md names them, with their errors on other runs. "
    "Runs are listed in `catalogs/measurements/`, one file for each source; what a source does not state about a run is left open.",
)
MEMORY_NOTE = (
    "Memory: the allocator's peak on the fullest GPU. mean and worst: absolute error; bias above 0: ours is high; inside: share of "
    "measured peaks within our range; width: median of (high − low)/expected."
)
TIME_NOTE = (
    "Time: error of tokens, images or samples per second. mean, median and p90 (90% of the runs are within): absolute; bias above 0: "
    "ours is fast. null: mean error of a model that gives every run the median FLOP/s of the other runs of its source, GPU and "
    "precision; better: whether ours is nearer on the same runs."
)
BARS_NOTE = "Each source by itself; null: the same measure of the null model, which is explained below."
NOISY_NOTE = f"By GPU and by regime, times of {', '.join(NOISY)} are left out: single runs, many of them in a framework's pathologies."


@dataclass(frozen=True)
class Table:
    """A table: title, a sentence on it, heads and rows. Columns after the first are numbers, set to the right, unless in `words`."""

    title: str
    note: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    words: tuple[int, ...] = (0,)


def percent(value: float | None, signed: bool = False) -> str:
    """Return a share as whole percent, a dash where it is unknown."""
    if value is None:
        return NOTHING
    text = f"{value:+,.0%}" if signed else f"{value:,.0%}"
    if text.strip("+-") != "0%":
        return text
    return "0%" if signed or not value else "below 1%"


def tables(validation: Validation) -> list[Table]:
    """Return the tables in the order of their weight; empty ones are left out."""
    made = [_bars(validation), _own(validation), _calibrations(validation)]
    for grouping, name in (("source", "source"), ("gpu", "GPU and precision"), ("regime", "regime")):
        made.append(_memory(validation.memory(grouping), name, MEMORY_NOTE if grouping == "source" else ""))
        note = _time_note(validation) if grouping == "source" else NOISY_NOTE if grouping == "gpu" and not validation.own else ""
        made.append(_time(validation.time(grouping), name, note))
    made += [_growths(validation), _choices(validation), _repeats(validation)]
    return [table for table in made if table.rows]


def _time_note(validation: Validation) -> str:
    printed = sorted({each.source for each in validation.outcomes if each.rate_basis == "flops"})
    return f"{TIME_NOTE} FLOP/s alone are printed by {', '.join(printed)}: sources count them differently." if printed else TIME_NOTE


def _bars(validation: Validation) -> Table:
    rows = tuple(
        (each.name, percent(each.value), percent(each.null), _limit(each), f"{each.runs:,}", _verdict(each)) for each in validation.bars
    )
    return Table("What is promised", BARS_NOTE if rows else "", ("promise", "measured", "null", "limit", "runs", "kept"), rows)


def _limit(bar: Bar) -> str:
    return f"≥ {percent(bar.limit)}" if bar.at_least else f"≤ {percent(bar.limit)}"


def _verdict(bar: Bar) -> str:
    return {True: "yes", False: "missed", None: NOTHING}[bar.met]


def _memory(scores: dict[str, MemoryScore], name: str, note: str) -> Table:
    rows = tuple(
        (
            group,
            f"{each.runs:,}",
            *map(percent, (each.mean, each.worst)),
            percent(each.bias, True),
            *map(percent, (each.inside, each.width)),
        )
        for group, each in scores.items()
    )
    return Table(f"Memory by {name}", note, (name, *MEMORY_COLUMNS), rows)


def _time(scores: dict[str, TimeScore], name: str, note: str) -> Table:
    rows = tuple((group, f"{each.runs:,}", *_timed(each)) for group, each in scores.items())
    return Table(f"Time by {name}", note, (name, *TIME_COLUMNS), rows)


def _timed(score: TimeScore) -> tuple[str, ...]:
    better = {True: "yes", False: "no", None: NOTHING}[score.beats_null]
    return (*map(percent, (score.mean, score.median, score.p90)), percent(score.bias, True), percent(score.null_mean), better)


def _growths(validation: Validation) -> Table:
    rows = tuple(
        (
            f"{each.model}, {each.precision}, {each.gpus_from:,} to {each.gpus_to:,} ({each.source} {each.table})",
            *map(percent, (each.measured, each.estimated)),
            percent(each.error, True),
            percent(each.null_error, True),
        )
        for each in validation.growths
    )
    note = (
        "Rate per GPU on the most GPUs over that on the fewest, one plan inside the data-parallel ranks; the null model expects 100%. "
        + growth_sentence(validation.growths)
    )
    return Table("Growth with the number of GPUs", note, ("run", "measured", "ours", "error", "null"), rows)


def growth_sentence(growths: Sequence[Growth]) -> str:
    """Return how often our growth is nearer to the measured one than the null model's, and where the null model's is, by whole percents."""
    errors = [(each, round(abs(each.error) * 100), round(abs(each.null_error) * 100)) for each in growths]
    nearer, behind = (sum(ours < null for _, ours, null in errors), [each for each, ours, null in errors if ours > null])
    even = len(errors) - nearer - len(behind)
    told = "; ".join(f"{each.model} in {each.precision} on {each.gpus_from:,} to {each.gpus_to:,} ({each.table})" for each in behind)
    where = f", the null model in {len(behind)}: {told}" if behind else ""
    lossless = sum(round(each.measured * 100) >= 100 for each in behind)
    why = f" Printed without any loss, as the null model says of every run: {lossless} of these {len(behind)}." if lossless else ""
    return f"By whole percents ours is nearer in {nearer} of {len(errors)}, as near in {even}{where}.{why}"


def _choices(validation: Validation) -> Table:
    rows = tuple((name, str(each.groups), percent(each.median), percent(each.p90)) for name, each in validation.choices.items())
    note = "Throughput lost by running the plan that the estimate rates fastest, over groups of one model on the same GPUs."
    return Table("Choice of the plan", note, ("source", "groups", "median", "p90"), rows)


def _repeats(validation: Validation) -> Table:
    """Return the plans whose own runs lie far apart, and what they leave to any estimate that does not know the release."""
    far = [each for each in validation.repeats if each.spread >= FAR_APART]
    rows = tuple(
        (
            f"{each.model}, {each.gpus} × {each.gpu}, {each.precision}, {each.plan} ({each.source})",
            str(each.runs), f"{each.slowest:,.0f}", f"{each.fastest:,.0f}", percent(each.spread), f"{each.ours:,.0f}",
        )
        for each in far
    )  # fmt: skip
    floor = floor_of(each for each in validation.outcomes if each.source in TUNED)
    left = (
        f" In NVIDIA's tuned tables {floor.plans} plans were run {floor.runs} times: the best constant of each would still be off by "
        f"{percent(floor.mean)} on average and {percent(floor.p90)} for 90% of the runs."
        if floor
        else ""
    )
    note = f"The same plan on the same GPUs by several releases of a framework, where the fastest beats the slowest by {FAR_APART:.0%}."
    return Table("One plan, several releases", note + left, ("run", "runs", "slowest", "fastest", "apart", "ours"), rows)


def _own(validation: Validation) -> Table:
    if not validation.own:
        return Table("Runs", "", (), ())
    rows = []
    for each in validation.outcomes:
        low, expected, high = each.memory or (None, None, None)
        numbers = (each.rate_measured, each.rate, each.memory_measured, expected)
        shown = [NOTHING if number is None else f"{number:,.4g}" for number in numbers]
        range_ = NOTHING if low is None else f"{low:.0f}–{high:.0f}"
        cells = (*shown[:2], percent(each.time_error, True), *shown[2:], range_, percent(each.memory_error, True), each.verdict)
        rows.append((each.id, *cells))
    columns = ("run", "rate", "ours", "error", "GiB", "ours", "range", "error", "verdict")
    return Table("Your runs", "Rates per second and GPU in tokens, images or samples.", columns, tuple(rows))


def _calibrations(validation: Validation) -> Table:
    rows = tuple(
        (
            f"{each.gpu}, {each.precision}",
            *_factor(each.time_runs, each.time_factor, each.time_range),
            *_factor(each.memory_runs, each.memory_factor, each.memory_range),
        )
        for each in validation.calibrations
    )
    note = (
        "Measured over ours: multiply our step times and memory with it. Worth doing from "
        f"{FEWEST_FOR_CALIBRATION} runs that are all off to the same side."
    )
    return Table("Calibration", note, ("GPU and precision", "runs", "step", "range", "runs", "memory", "range"), rows)


def _factor(runs: int, factor: float | None, range_: tuple[float, float] | None) -> tuple[str, str, str]:
    if factor is None or range_ is None:
        return "0", NOTHING, NOTHING
    return str(runs), f"{factor:.2f}", f"{range_[0]:.2f}–{range_[1]:.2f}"


def advice(found: Iterable[Calibration]) -> list[str]:
    """Return in sentences what the calibration of a person's own runs suggests."""
    lines = []
    for each in found:
        place = f"On {each.gpu} in {each.precision}"
        if worth_applying(each.time_runs, each.time_factor, each.time_range):
            lines.append(f"{place}, multiply our step times by {each.time_factor:.2f}: {each.time_runs} runs agree on the side.")
        if worth_applying(each.memory_runs, each.memory_factor, each.memory_range):
            lines.append(f"{place}, multiply our memory by {each.memory_factor:.2f}: {each.memory_runs} runs agree on the side.")
    return lines or [f"No calibration: fewer than {FEWEST_FOR_CALIBRATION} runs, or they are off to both sides, or by too little."]


def missed(validation: Validation) -> list[str]:
    """Return, for every promise that is missed, by how much and because of which runs."""
    found = [each for each in validation.bars if each.met is False and each.value is not None]
    return [f"{each.name}: {percent(each.value)} for {_limit(each)}. {each.cause}".rstrip(". ") + "." for each in found]


def as_text(validation: Validation) -> str:
    """Return the whole validation for a terminal."""
    parts = [_text(table) for table in tables(validation)]
    if validation.bars:
        lines = missed(validation)
        head = f"{len(lines)} of {len(validation.bars)} promises are missed" if lines else "Every promise is kept."
        parts.insert(1, "\n".join([head, *map(_wrapped, lines)]))
    if validation.own:
        parts.append("\n".join(map(_wrapped, advice(validation.calibrations))))
        near = [f"{name}: {what}: {text}" for name, texts in validation.nearest().items() for what, text in texts.items()]
        parts.append("\n".join(["Nearest published runs", *map(_wrapped, near)]))
    counts = verdicts(validation.outcomes)
    parts.append(
        f"{counts['refused']} of {counts['worked']:,} runs that worked are refused; "
        f"{counts['foreseen']} of {counts['died']} that died for lack of memory are foreseen"
    )
    if validation.unanswered:
        left = validation.unanswered
        shown = [_wrapped(f"{each.id}: {why(each)}") for each in left[:MOST_UNANSWERED]]
        more = [f"  and {len(left) - MOST_UNANSWERED} more"] if len(left) > MOST_UNANSWERED else []
        parts.append("\n".join([f"{len(left)} runs validate nothing", *shown, *more]))
    return "\n\n".join(parts)


def _wrapped(text: str) -> str:
    return textwrap.fill(text, WIDTH, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False)


def _text(table: Table) -> str:
    lines = [table.columns, *table.rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(table.columns))]
    widths[0] = min(widths[0], WIDTH - sum(widths[1:]) - 2 * (len(widths) - 1))
    made = [table.title.upper()]
    made += [textwrap.fill(table.note, WIDTH)] if table.note else []
    for line in lines:
        first = line[0] if len(line[0]) <= widths[0] else line[0][: widths[0] - 1] + "…"
        cells = [cell.rjust(width) for cell, width in zip(line[1:], widths[1:], strict=True)]
        made.append("  ".join([first.ljust(widths[0]), *cells]).rstrip())
    return "\n".join(made)


def as_markdown(validation: Validation) -> str:
    """Return the page of the docs."""
    parts = ["# How far the estimates are from measured runs", *ABOUT]
    for table in tables(validation):
        parts.append(f"## {table.title}")
        parts += [table.note] if table.note else []
        rule = ["---", *("---:" for _ in table.columns[1:])]
        parts.append("\n".join(_line(cells) for cells in (table.columns, rule, *table.rows)))
        if table.title == "What is promised":
            lines = missed(validation)
            parts.append("Where a promise is missed, by how much and because of which runs:" if lines else "Every promise is kept.")
            parts += ["\n".join(f"- {line}" for line in lines)] if lines else []
    return "\n\n".join(parts) + "\n"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
