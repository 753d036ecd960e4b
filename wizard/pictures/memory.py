"""Where the GPU's memory goes: a bar for each pipeline stage, its expected terms stacked, with the capacity as a line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rules.sizing.memory_report import StageReport, stage_reports
from wizard.pictures import bars

if TYPE_CHECKING:
    from rules.advisor import Considered

TITLE = "Memory of a GPU by pipeline stage, expected, GiB"
MOST_ROWS = 16
"""Bars that are drawn; of more stages each bar shows the fullest of several neighbours."""
NOTHING = "No plan runs: there is no stage to show"
VERDICTS = {"fits": "fits", "at_risk": "is at risk", "does_not_fit": "does not fit"}


def _bars(considered: Considered) -> bars.Bars:
    chosen = considered.ranking.chosen
    choice = chosen.candidate.choice if chosen is not None else None
    if choice is None:
        return bars.Bars(TITLE, "GiB", (), notes=(NOTHING,))
    memory = choice.memory
    stages = stage_reports(memory, choice.plan, considered.context.workload.model.layers)
    worst = stages[memory.fullest]
    low, expected, high = (f"{each:.0f}" if each >= 10 else f"{each:.1f}" for each in worst.total)
    notes = (
        f"Stage {worst.number} of {len(stages)} is the fullest: {expected} GiB, {low} to {high}; it {VERDICTS[worst.verdict]}",
        f"Largest part: {worst.binding.replace('_', ' ')}",
    )
    return bars.Bars(
        TITLE,
        "GiB",
        tuple((name, {term: ends[1] for term, ends in stage.terms.items()}) for name, stage in _rows(stages)),
        memory.capacity.to("GiB").magnitude,
        "capacity",
        notes,
    )


def _rows(stages: tuple[StageReport, ...]) -> list[tuple[str, StageReport]]:
    """Return a name and a stage for each bar: the fullest of every group of neighbours where there are more stages than bars."""
    each = -(-len(stages) // MOST_ROWS)
    groups = [stages[start : start + each] for start in range(0, len(stages), each)]
    return [(_name(group), max(group, key=lambda stage: stage.total[1])) for group in groups]


def _name(group: tuple[StageReport, ...]) -> str:
    first, last = group[0].number, group[-1].number
    return f"stage {first}" if first == last else f"stages {first} to {last}"


text, svg = bars.both_ways(_bars)
"""Stages from first to last, each against the capacity of its GPU."""
