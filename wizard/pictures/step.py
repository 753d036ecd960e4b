"""Where the seconds of a step go: arithmetic, recomputation, communication that is waited for by kind, bubble, optimizer, stops.

The chosen plan first, then the next best ones on the same scale.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rules.findings import Stage
from rules.sizing.data_wait import waited_for_data
from wizard.pictures.bars import Bars, both_ways, shown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rules.advisor import Considered
    from rules.sizing.results import StepEstimate

COMPUTE = ("products", "attention", "elementwise", "head", "arithmetic", "memory")
NAMES = {
    "recompute": "recomputation",
    "tensor_parallel": "waits: tensor parallel",
    "expert_parallel": "waits: experts",
    "context_parallel": "waits: context parallel",
    "pipeline_transfer": "waits: between stages",
    "data_parallel": "waits: gradients, weights",
    "exchange": "waits: embeddings",
    "pipeline_bubble": "pipeline bubble",
}
"""Parts of a step as the legend calls them; what is not here goes by its own name."""
MOST_ALTERNATIVES = 3
TITLE, NOTHING = "Where a step goes", "No plan is chosen: there is no step to show"


def _bars(considered: Considered) -> Bars:
    chosen = considered.ranking.chosen
    choice = chosen.candidate.choice if chosen else None
    if choice is None:
        return Bars(TITLE, "s", (), notes=(NOTHING,))
    others = choice.alternatives[:MOST_ALTERNATIVES]
    parts = {**_parts(choice.step), **_stalls(considered, choice.step)}
    rows = (("chosen", parts), *((f"next best {number}", _parts(step)) for number, (_, _, step) in enumerate(others, 1)))
    notes = [f"chosen: {choice.plan.label}", *(f"next best {number}: {plan.label}" for number, (plan, _, _) in enumerate(others, 1))]
    told = " + ".join(f"{name} {shown(amount)}" for name, amount in sorted(parts.items(), key=lambda item: -item[1]))
    notes.append(f"the chosen step: {told} s")
    low, high = (choice.step.low.to("s").magnitude, choice.step.high.to("s").magnitude)
    notes.append(f"expected; the chosen step may take {shown(low)} to {shown(high)} s")
    return Bars(TITLE, "s", rows, notes=tuple(notes))


def _stalls(considered: Considered, step: StepEstimate) -> dict[str, float]:
    """Return the seconds of a step in which training stands still: for checkpoints, spread over all steps, and for data that storage
    reads or processors decode too slowly; none where that is not known.
    """
    chosen = considered.ranking.chosen
    facts = chosen.candidate.facts.get(Stage.STORAGE_CPU, {}) if chosen else {}
    seconds, share = step.expected.to("s").magnitude, float(facts.get("stall_percent", 0.0)) / 100
    stalls = {
        "stops for checkpoints": seconds * share / (1 - share) if share < 1 else 0.0,
        "waits for data": seconds * waited_for_data(facts),
    }
    return {name: stall for name, stall in stalls.items() if stall > 0}


def _parts(step: StepEstimate) -> Mapping[str, float]:
    """Return the seconds of a step by part, in the words of the picture."""
    parts: dict[str, float] = {}
    for name, value in step.terms.items():
        called = "compute" if name in COMPUTE else NAMES.get(name, name)
        parts[called] = parts.get(called, 0.0) + value.to("s").magnitude
    return parts


text, svg = both_ways(_bars)
"""The chosen plan first; the notes name each plan in full."""
