"""Tables of the design's section "memory": stages by term, peaks beside training, the host's memory, and what would lower the peak."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from catalogs.quantities import format_quantity
from rules.findings import Remedy
from rules.sizing.hardware import hardware_of
from rules.sizing.memory_remedies import MemoryRemedy, remedies, together
from rules.sizing.memory_report import BASIS, StageReport, beside_training, host_terms, stage_reports
from rules.sizing.plans import search
from rules.sizing.power_cap import capped_hardware

if TYPE_CHECKING:
    from rules.candidate import Candidate, Context
    from rules.findings import Finding
    from rules.sizing.memory_ranges import Ends
    from rules.sizing.results import Plan

DIGITS = 3
LEAST_SHOWN = 0.01
"""GiB of a host's memory below which a part is not worth a line."""
TIGHT = ("vram.at_risk", "vram.state_does_not_fit", "vram.likely_short", "vram.headroom_small")
"""Findings whose remedies are those that were computed, the cheapest first, before what takes another machine or another workload."""

PLAN_KEYS = (
    "parallelism.micro_batch",
    "parallelism.recompute",
    "parallelism.recompute_layers",
    "parallelism.zero_stage",
    "parallelism.offload",
)
"""Answers on the plan whose effect is always computed."""


def memory_tables(candidate: Candidate, context: Context) -> dict[str, object]:
    """Return the tables of a candidate that has a plan."""
    assert candidate.choice is not None, "only a plan has stages"
    plan, memory, workload = candidate.choice.plan, candidate.choice.memory, context.workload
    bandwidth = hardware_of(candidate.node, candidate.gpu, context.catalog).hbm_bytes_per_s
    peaks = beside_training(memory, workload, plan, context.catalog, bandwidth)
    hosts = host_terms(workload, plan, candidate.node, candidate.nodes, context.catalog)
    stages = stage_reports(memory, plan, workload.model.layers)
    present = {name for each in stages for name in each.terms}
    made: dict[str, object] = {
        "stage": [_stage_row(each) for each in stages],
        "basis": {name: f"{kind.value}: {words}" for name, (kind, words) in BASIS.items() if name in present},
        "peak": [{"name": each.name, **_ends(each.needed), "verdict": each.verdict, "most_where": each.most_where} for each in peaks],
        "host": [{"name": each.name, **_ends(each.needed), "for": each.why} for each in hosts if each.needed[2] >= LEAST_SHOWN],
    }
    if memory.verdict != "fits":
        made |= remedy_tables(candidate, context)
    return made


def computed_remedies(candidate: Candidate, context: Context) -> tuple[tuple[MemoryRemedy, ...], tuple[MemoryRemedy, ...]]:
    """Return (single remedies, those on top of each other) of the candidate's plan, or of the nearest one where none runs."""
    whole = hardware_of(candidate.node, candidate.gpu, context.catalog)
    hardware = capped_hardware(whole, candidate.node, candidate.gpu, context.answers)
    plan: Plan | None = candidate.choice.plan if candidate.choice else None
    if plan is None:
        nearest = search(context.workload, hardware, candidate.gpus, context.answers).nearest
        plan = nearest.plan if nearest is not None else None
    if plan is None:
        return (), ()
    return remedies(context.workload, plan, hardware), together(context.workload, plan, hardware)


def with_computed_remedies(candidate: Candidate, context: Context) -> list[Finding]:
    """Return the candidate's findings; those on memory that is short or tight name the computed remedies before the declared ones.

    A declared change of the plan that saves nothing here is left out.
    """
    if not any(found.rule in TIGHT for found in candidate.findings):
        return candidate.findings
    single, _ = computed_remedies(candidate, context)
    computed = tuple(Remedy(each.key, each.value, each.words) for each in single)
    replaced = {*PLAN_KEYS, *(each.key for each in computed)}
    findings = []
    for found in candidate.findings:
        if found.rule in TIGHT:
            found = replace(found, remedies=(*computed, *(each for each in found.remedies if each.key not in replaced)))
        findings.append(found)
    return findings


def remedy_tables(candidate: Candidate, context: Context) -> dict[str, object]:
    """Return the tables of remedies: single ones, and where none is enough those on top of each other."""
    single, combined = computed_remedies(candidate, context)
    made: dict[str, object] = {"remedy": [_remedy_row(each) for each in single]} if single else {}
    if combined and not any(each.verdict == "fits" for each in single):
        made["together"] = [_remedy_row(each) for each in combined]
    return made


def _remedy_row(remedy: MemoryRemedy) -> dict[str, object]:
    row: dict[str, object] = {
        "key": remedy.key,
        "value": remedy.value,
        "text": remedy.text,
        "saves": _gib(remedy.saved_gib),
        "expected": _gib(remedy.expected_gib),
        "high": _gib(remedy.high_gib),
        "verdict": remedy.verdict,
        "step": format_quantity(remedy.step_seconds, "s", DIGITS),
        "step_longer_by": f"{100 * remedy.slower:.1f} %",
    }
    if remedy.host_gib:
        row["host_memory_per_gpu"] = _gib(remedy.host_gib)
    return row


def _stage_row(stage: StageReport) -> dict[str, object]:
    return {
        "number": stage.number,
        "layers": stage.layers,
        **_ends(stage.total),
        "verdict": stage.verdict,
        "binding": stage.binding,
        "terms": {name: _range(ends) for name, ends in stage.terms.items()},
    }


def _ends(ends: Ends) -> dict[str, object]:
    return {"expected": _gib(ends[1]), "low": _gib(ends[0]), "high": _gib(ends[2])}


def _range(ends: Ends) -> str:
    return f"{_gib(ends[1])} ({_number(ends[0])} to {_number(ends[2])})"


def _gib(value: float) -> str:
    return f"{_number(value)} GiB"


def _number(value: float) -> str:
    """Return a number in three digits without exponent."""
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}" if abs(value) >= 0.001 else "0"
