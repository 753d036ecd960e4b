"""Reliability: how often the job fails, what that costs, how many spares are kept, and whether the deadline holds with failures."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from catalogs.quantities import magnitude, quantity
from catalogs.schema import Kind
from rules.findings import Stage
from rules.guidance.reliability import RULES
from rules.own_server import OWN_SERVER_ID
from rules.scale import deadline_counts
from rules.sizing.checkpoint import in_words
from rules.sizing.completion import chance_of_finishing, chance_with_bands
from rules.sizing.data_wait import waited_for_data
from rules.sizing.failures import shelf_parts
from rules.sizing.reliability import (
    REPAIR_DAYS,
    SECONDS_PER_DAY,
    Goodput,
    effective_days,
    expected_case,
    failure_rate,
    goodput_of,
    interrupted_cases,
    job_mtbf,
    restart_seconds,
    run_seconds,
    spare_nodes,
)
from rules.sizing.results import BomLine, Range, ReliabilityEstimate
from rules.sizing.storage import reference_rates
from rules.stages.reliability_fields import FACTS
from rules.stages.reliability_sections import describe

if TYPE_CHECKING:
    from catalogs.quantities import Quantity
    from rules.candidate import Candidate, Context
    from rules.findings import Scalar
    from rules.sizing.reliability import FailureRate

STAGE = Stage.RELIABILITY
__all__ = ["FACTS", "RULES", "STAGE", "assess", "bill", "describe"]

SECONDS_PER_HOUR = 3600.0
SHELF = "spares_network"
"""Category of spare parts of the network: their sellers are those of the network, not of the servers."""


def _goodput(candidate: Candidate, context: Context) -> Goodput:
    """Return the goodput with the checkpoints that the storage stage planned."""
    state = magnitude(context.workload.checkpoint, "byte")
    _, usual = reference_rates(context.workload.data_kind, candidate.gpus, context.catalog)
    storage, offered = candidate.storage, None
    if storage is not None and storage.write_offered is not None:
        offered = state / magnitude(storage.checkpoint_write_time, "s")
    return goodput_of(
        candidate.gpu,
        candidate.gpus,
        context.catalog,
        state,
        usual_write=usual,
        offered_write=offered,
        run_s=run_seconds(candidate, context.workload),
        mode=storage.mode if storage is not None and storage.mode else context.answers.text("preferences.checkpoints"),
    )


def _data_wait(candidate: Candidate) -> float:
    """Return by what share every step is longer because storage reads, or processors decode, slower than the GPUs train."""
    return waited_for_data(candidate.facts.get(Stage.STORAGE_CPU, {}))


def _working_days(candidate: Candidate, context: Context) -> Range | None:
    """Return the days of training without failures, waits for data counted in; None without a plan or where the length is unknown."""
    choice, seconds = candidate.choice, run_seconds(candidate, context.workload)
    if choice is None or seconds is None:
        return None
    days = seconds / SECONDS_PER_DAY * (1 + _data_wait(candidate))
    expected = magnitude(choice.step.expected, "s")
    quick, slow = (magnitude(end, "s") / expected for end in (choice.step.low, choice.step.high))
    return Range(quantity(days * quick, "day"), quantity(days, "day"), quantity(days * slow, "day"))


def assess(candidate: Candidate, context: Context) -> dict[str, Scalar]:
    """Size failures, goodput, spares and the run's length, keep them on the candidate, and state the facts of the stage."""
    catalog = context.catalog
    rate = failure_rate(candidate.gpu, candidate.gpus, catalog)
    goodput = _goodput(candidate, context)
    working = _working_days(candidate, context)
    run = effective_days(working, goodput) if working is not None else None
    per_day = rate.expected * candidate.gpus
    spares = spare_nodes(candidate.gpu, candidate.gpus, candidate.nodes, catalog)
    candidate.reliability = _estimate(candidate, context, rate, goodput, run, spares)
    node = candidate.node
    return {
        "has_plan": candidate.choice is not None,
        "gpu": candidate.gpu.name,
        "node": node.name,
        "gpus": candidate.gpus,
        "nodes": candidate.nodes,
        "multi_node": candidate.nodes > 1,
        "own_machine": candidate.nodes == 1 and node.id == OWN_SERVER_ID,
        "is_rack": node.is_rack,
        "gpus_per_rack": node.gpu_count if node.is_rack else 0,
        "rate_basis": rate.basis,
        "rate_is_assumed": rate.kind is Kind.ASSUMED,
        "spare_nodes": spares,
        "spare_percent": 100.0 * spares / candidate.nodes,
        "spare_cost_percent": 100.0 / candidate.nodes,
        "nodes_out": per_day * REPAIR_DAYS,
        "repair_days": REPAIR_DAYS,
        "data_wait_percent": 100.0 * _data_wait(candidate),
        **_goodput_facts(goodput),
        **_run_facts(run, per_day, context),
        **_chance_facts(candidate, context, goodput, working),
    }


def _chance_facts(candidate: Candidate, context: Context, goodput: Goodput, working: Range | None) -> dict[str, Scalar]:
    """State the chance of meeting the deadline, by formula."""
    days = context.answers.number("scale.deadline") or 0.0
    if working is None or not deadline_counts(context.answers) or candidate.reliability is None:
        return {"chance_known": False, "chance_percent": 0.0, "chance_failures_percent": 0.0, "chance_words": "unknown"}
    cases = interrupted_cases(goodput, working, context.catalog)
    candidate.reliability = replace(candidate.reliability, cases=cases, deadline=quantity(days, "day"))
    alone = chance_of_finishing(expected_case(cases), days * SECONDS_PER_DAY)
    chance = chance_with_bands(cases, days * SECONDS_PER_DAY)
    words = f"{_percent(chance)} with the bands of speed and failure rate, {_percent(alone)} where both are as expected"
    return {
        "chance_known": True,
        "chance_percent": 100.0 * chance,
        "chance_failures_percent": 100.0 * alone,
        "chance_words": words,
    }


def _percent(share: float) -> str:
    """Return a chance in words: above 99 and below 1 % no digits are claimed."""
    return "more than 99 %" if share > 0.99 else "less than 1 %" if share < 0.01 else f"{share:.0%}".replace("%", " %")


def _goodput_facts(goodput: Goodput) -> dict[str, Scalar]:
    plan = goodput.checkpoints
    return {
        "mtbf_low_h": goodput.mtbf_low / SECONDS_PER_HOUR,
        "mtbf_h": goodput.mtbf / SECONDS_PER_HOUR,
        "mtbf_low": in_words(goodput.mtbf_low),
        "mtbf": in_words(goodput.mtbf),
        "mtbf_high": in_words(goodput.mtbf_high),
        "goodput_low_percent": 100.0 * goodput.low,
        "goodput_percent": 100.0 * goodput.expected,
        "goodput_high_percent": 100.0 * goodput.high,
        "restart": in_words(goodput.restart),
        "lost": in_words(plan.lost),
        "checkpoint_interval": in_words(plan.interval),
        "checkpoint_mode": plan.mode,
        "checkpoint_pause": in_words(plan.pause),
    }


def _run_facts(run: Range | None, failures_per_day: float, context: Context) -> dict[str, Scalar]:
    answers = context.answers
    low, expected, high = (run.low, run.expected, run.high) if run is not None else (None, None, None)
    days = 0.0 if expected is None else float(expected.magnitude)
    return {
        "run_known": run is not None,
        "run_low_days": 0.0 if low is None else float(low.magnitude),
        "run_days": days,
        "run_high_days": 0.0 if high is None else float(high.magnitude),
        **{name: _in_words(value) for name, value in (("run_time_low", low), ("run_time", expected), ("run_time_high", high))},
        "interruptions": days * failures_per_day,
        "deadline_given": deadline_counts(answers),
        "deadline_days": answers.number("scale.deadline") or 0.0,
    }


def _in_words(run: Quantity | None) -> str:
    return "unknown" if run is None else in_words(magnitude(run, "s"))


def _estimate(
    candidate: Candidate, context: Context, rate: FailureRate, goodput: Goodput, run: Range | None, spares: int
) -> ReliabilityEstimate:
    notes = [
        f"interruptions of the job as counted on {rate.basis}; a replacement rate of parts is another number",
        f"checkpoints {goodput.checkpoints.mode}, every {in_words(goodput.checkpoints.interval)}",
    ]
    if spares:
        notes.append(f"spares are counted for failed nodes that are back after {REPAIR_DAYS:g} days")
    usual = restart_seconds(context.catalog)[1]
    return ReliabilityEstimate(
        job_mtbf=job_mtbf(candidate.gpu, candidate.gpus, context.catalog),
        goodput_low=goodput.low,
        goodput=goodput.expected,
        goodput_high=goodput.high,
        spare_nodes=spares,
        restart_time=quantity(usual, "s"),
        run_time=run,
        notes=tuple(notes),
        goodput_of_job=goodput,
    )


def bill(candidate: Candidate, context: Context) -> list[BomLine]:
    """Return the spares: on the floor whole servers or trays of racks (whose price is not the rack's), on the shelf network parts."""
    return [*_spare_nodes(candidate), *_shelf(candidate, context)]


def _shelf(candidate: Candidate, context: Context) -> list[BomLine]:
    catalog = context.catalog
    lines = []
    for part in shelf_parts(candidate, catalog):
        record = catalog.switches.get(part.item) or catalog.cables.get(part.item)
        note = f"on the shelf: until the next delivery in {part.weeks:g} weeks"
        lines.append(BomLine(part.item, f"{record.name if record else part.item} (spare)", SHELF, part.stock, note=note))
    return lines


def _spare_nodes(candidate: Candidate) -> list[BomLine]:
    found, node = candidate.reliability, candidate.node
    if found is None or found.spare_nodes == 0:
        return []
    if node.is_rack:
        name = f"spare compute tray of {node.name}"
        return [BomLine(f"{node.id}-tray", name, "spares", found.spare_nodes, note="sold by the maker of the rack on request")]
    spares = math.ceil(found.spare_nodes)
    return [BomLine(node.id, f"{node.name} (spare)", "spares", spares)]
