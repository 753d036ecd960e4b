"""The acceptance plan as Markdown: checks, then each collective with its command, its curve and its limits."""

from __future__ import annotations

from typing import TYPE_CHECKING, TextIO

from rules.counting import counted
from rules.sizing.acceptance import LOOK_FROM_BYTES, PASS_FROM_BYTES, acceptance_plan
from rules.sizing.acceptance_commands import GIB
from rules.sizing.collectives import MIB
from wizard.exports.parts import chosen_of

if TYPE_CHECKING:
    from rules.advisor import Considered
    from rules.sizing.acceptance import CollectiveTest


def write(considered: Considered, stream: TextIO) -> None:
    """Write the plan in the order in which it is run."""
    candidate = chosen_of(considered)
    plan = acceptance_plan(candidate, considered.context)
    stream.write(f"# Acceptance of {candidate.units:,} × {candidate.node.name}, {candidate.gpus:,} GPUs\n\n")
    stream.write("Run the steps in this order; a later one says nothing while an earlier one fails.\n\n## Checks\n\n")
    for number, check in enumerate(plan.checks, start=1):
        stream.write(f"{number}. {check.what}: `{check.command}`\n   - passes with: {check.passes}\n")
    stream.write(f"\n## Collectives{f', with {plan.suite}' if plan.suite else ''}\n\n")
    stream.write(
        f"Bus bandwidth as these programs print it, in GB/s. From {_size(PASS_FROM_BYTES)} up less than the limit fails; from "
        f"{_size(LOOK_FROM_BYTES)} up less than the limit is looked into; below, latency rules and nothing is limited.\n"
    )
    for test in plan.tests:
        _test(test, stream)
    stream.write("\n## Beside the numbers\n\n")
    stream.writelines(f"- {note}\n" for note in plan.notes)


def _test(test: CollectiveTest, stream: TextIO) -> None:
    stream.write(f"\n### {test.called} on {test.where}\n\n")
    stream.write(f"{counted(test.nodes, 'node')}, {counted(test.ranks, 'GPU')}" + (f": `{test.command}`" if test.command else "") + "\n\n")
    stream.write("| message | expected | limit | below the limit |\n|---:|---:|---:|---|\n")
    for each in test.points:
        limit = "" if each.limit is None else _rate(each.limit)
        stream.write(f"| {_size(each.size)} | {_rate(each.expected)} | {limit} | {_below(each.limit, fails=each.fails)} |\n")


def _below(limit: float | None, *, fails: bool) -> str:
    return "" if limit is None else "fails" if fails else "look into it"


def _size(size: float) -> str:
    for unit, name in ((GIB, "GiB"), (MIB, "MiB"), (1024.0, "KiB")):
        if size >= unit:
            return f"{size / unit:g} {name}"
    return f"{size:g} B"


def _rate(bytes_per_s: float) -> str:
    return f"{bytes_per_s / 1e9:.3g}"
