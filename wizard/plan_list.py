"""All plans of a design as lines and as a document: the account, the front of time and memory, the design's own plan, what limits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rules.advisor import Considered
    from rules.sizing.plan_report import PlanReport
    from rules.sizing.plan_results import Found

GIB = 2.0**30
MILLISECONDS_BELOW = 0.1
MOST_LISTED = 24
"""Plans of the front that are printed; `--json` has all."""
NO_PLANS = "no plan is chosen, so there is nothing to search through; see the conflicts of the design"
OTHER_TERMS = {"memory": "bytes through memory", "exchange": "exchange of embeddings", "overhead": "fixed cost of a step"}
"""Parts of the step of models without transformer layers in words."""
DATA_PARALLEL = "this kind of model trains data parallel only: there is one plan"


def report_of(considered: Considered) -> PlanReport | str:
    """Return the report on the plans of the chosen (or nearest) candidate, or why there is none."""
    from rules.sizing.plan_report import NARROWER, report_plans
    from rules.sizing.software import precision_software, support_rows
    from rules.stages.interconnect import hardware_for

    chosen = considered.ranking.chosen
    candidate = chosen.candidate if chosen else None
    if candidate is None or candidate.choice is None:
        return NO_PLANS
    context = considered.context
    rows = support_rows(candidate.gpu, context.catalog)
    trained = tuple(each for each in NARROWER if precision_software(each, candidate.gpu, rows))
    found = report_plans(context.workload, hardware_for(candidate, context), candidate.choice.plan, trained)
    return DATA_PARALLEL if found is None else found


def lines_of(report: PlanReport, name: str, precision: str) -> list[str]:
    """Return the report as lines."""
    search = report.search
    out = [f"Plans of {name}: {search.enumerated:,} = {search.ranked:,} ranked + {sum(search.rejected.values()):,} ruled out"]
    out += [f"  {count:>12,}  {reason}" for reason, count in sorted(search.rejected.items(), key=lambda each: -each[1])]
    out += ["", "The best is the simplest within half a percent of the fastest; none beats the others in both time and memory."]
    out += ["step, s   peak GiB (low to high)   plan"]
    rows = report.listed
    shown = [row for number, row in enumerate(rows) if number < MOST_LISTED or "own" in row[0]]
    out += [f"{_row(each)}   {each.plan.label}{_mark(what)}" for what, each in shown]
    if len(rows) > len(shown):
        out.append(f"… and {len(rows) - len(shown)} more that need less memory and take longer; --json lists all")
    place = f"is number {report.rank:,} of {search.ranked:,}" if report.rank else "may run out of memory, so it is not ranked"
    out += ["", f"The design's own plan {place}."]
    out += [f"  {line}" for line in report.difference]
    out += ["What limits the best:", *(f"  {line}" for line in report.limits)]
    for other, each in report.precisions:
        out.append(f"In {other} instead of {precision}: {each.plan.label}, {each.seconds:.4g} s a step")
    return out


def spent(terms: Mapping[str, float]) -> str:
    """Return the seconds of a step by what they are spent on in words, the longest first."""
    from rules.sizing.plan_report import WORDS

    words = WORDS | OTHER_TERMS
    return ", ".join(f"{words.get(name, name)} {_time(each)}" for name, each in sorted(terms.items(), key=lambda item: -item[1]))


def _time(seconds: float) -> str:
    return f"{seconds:,.4g} s" if seconds >= MILLISECONDS_BELOW else f"{seconds * 1e3:.3g} ms"


def only_plan(considered: Considered, name: str) -> tuple[dict[str, Any], list[str]]:
    """Return the one plan of a model that trains data parallel only, as a document and as lines: its step, its memory, what takes it."""
    from rules.sizing.plan_results import Found

    chosen = considered.ranking.chosen
    choice = chosen.candidate.choice if chosen else None
    assert choice is not None, "there is a plan whose kind was told"
    memory = tuple(each.to("byte").magnitude for each in (choice.memory.low, choice.memory.expected, choice.memory.high))
    seconds = choice.step.expected.to("s").magnitude
    own = _plan(Found(choice.plan, seconds, memory, choice.memory.verdict == "fits"))
    parts = spent({name: each.to("s").magnitude for name, each in choice.step.terms.items()})
    document = {
        "candidate": name,
        "precision": considered.context.workload.precision,
        "enumerated": 1,
        "ranked": 1,
        "ruled_out": {},
        "fastest": [own],
        "pareto": [own],
        "own": own | {"rank": 1},
        "difference": [],
        "limits": [parts],
        "other_precisions": {},
    }
    peak = f"{memory[0] / GIB:,.1f} to {memory[2] / GIB:,.1f} GiB"
    lines = [f"Plans of {name}: {DATA_PARALLEL}", f"  {choice.plan.label}: {_time(seconds)} a step, peak {peak}", f"  {parts}"]
    return document, lines


def _row(found: Found) -> str:
    low, _, high = (each / GIB for each in found.memory)
    return f"{found.seconds:>7.4g}   {f'{low:,.1f} to {high:,.1f}':<22}"


def _mark(what: str) -> str:
    words = {"fastest": "best", "own": "the design's own", "fastest, own": "best, the design's own", "front, own": "the design's own"}
    return f"  <- {words[what]}" if what in words else ""


def document_of(report: PlanReport, name: str, precision: str) -> dict[str, Any]:
    """Return the report as plain data."""
    search = report.search
    return {
        "candidate": name,
        "precision": precision,
        "enumerated": search.enumerated,
        "ranked": search.ranked,
        "ruled_out": dict(sorted(search.rejected.items())),
        "fastest": [_plan(each) for each in search.found[:1]],
        "pareto": [_plan(each) for each in search.pareto],
        "own": _plan(report.own) | {"rank": report.rank},
        "difference": list(report.difference),
        "limits": list(report.limits),
        "other_precisions": {other: _plan(each) for other, each in report.precisions},
    }


def _plan(found: Found) -> dict[str, Any]:
    low, expected, high = (round(each / GIB, 3) for each in found.memory)
    return {
        "plan": found.plan.label,
        "step_s": float(f"{found.seconds:.6g}"),
        "peak_gib": {"low": low, "expected": expected, "high": high},
        "fits": found.fits,
    }
