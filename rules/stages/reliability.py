"""Reliability: how often the job fails, what that costs, how many spares are kept, and whether the deadline holds with failures."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from catalogs.quantities import format_quantity, magnitude, quantity
from catalogs.schema import Kind
from rules.facts import FactField
from rules.findings import Stage
from rules.guidance.reliability import RULES
from rules.own_server import OWN_SERVER_ID
from rules.scale import deadline_counts
from rules.sizing.checkpoint import in_words
from rules.sizing.reliability import (
    REPAIR_DAYS,
    SECONDS_PER_DAY,
    Goodput,
    effective_days,
    failure_rate,
    goodput_of,
    job_mtbf,
    restart_seconds,
    run_seconds,
    spare_nodes,
)
from rules.sizing.results import BomLine, Range, ReliabilityEstimate
from rules.sizing.storage import reference_rates

if TYPE_CHECKING:
    from catalogs.quantities import Quantity
    from rules.candidate import Candidate, Context
    from rules.findings import Scalar
    from rules.sizing.reliability import FailureRate

STAGE = Stage.RELIABILITY
__all__ = ["FACTS", "RULES", "STAGE", "assess", "bill", "describe"]

SECONDS_PER_HOUR = 3600.0

FACTS: tuple[FactField, ...] = (
    FactField("has_plan", "whether a parallel plan was found"),
    FactField("run_known", "whether the length of the run is known"),
    FactField("gpu", "name of the GPU"),
    FactField("node", "name of the server"),
    FactField("gpus", "number of GPUs"),
    FactField("nodes", "number of scale-out nodes"),
    FactField("multi_node", "whether there is more than one node"),
    FactField("own_machine", "whether it is one machine that the person has or builds"),
    FactField("is_rack", "whether nodes are trays of a pre-integrated rack"),
    FactField("gpus_per_rack", "GPUs of the pre-integrated rack, 0 for servers"),
    FactField("mtbf_low_h", "mean time between job interruptions, lower end"),
    FactField("mtbf_h", "mean time between job interruptions"),
    FactField("mtbf_low", "the lower end in words"),
    FactField("mtbf", "the expected one in words"),
    FactField("mtbf_high", "the upper end in words"),
    FactField("rate_basis", "whose interruptions the rate was counted on"),
    FactField("rate_is_assumed", "whether no rate of this GPU is published"),
    FactField("interruptions", "interruptions expected over the run, 0 where its length is unknown"),
    FactField("goodput_low_percent", "share of time that makes progress, lower end"),
    FactField("goodput_percent", "share of time that makes progress"),
    FactField("goodput_high_percent", "share of time that makes progress, upper end"),
    FactField("restart", "time from a failure to training again, in words"),
    FactField("lost", "work that an average failure throws away, in words"),
    FactField("checkpoint_interval", "time between checkpoints, in words"),
    FactField("checkpoint_mode", "synchronous or asynchronous"),
    FactField("checkpoint_pause", "time for which a checkpoint stops the training, in words"),
    FactField("spare_nodes", "spare nodes"),
    FactField("spare_percent", "spare nodes over nodes"),
    FactField("spare_cost_percent", "what one more spare adds to the cluster"),
    FactField("nodes_out", "nodes out for repair at a time, on average"),
    FactField("repair_days", "time until a failed node is back"),
    FactField("run_low_days", "length of the run with failures, lower end"),
    FactField("run_days", "length of the run with failures"),
    FactField("run_high_days", "length of the run with failures, upper end"),
    FactField("run_time_low", "the lower end in words"),
    FactField("run_time", "the expected length in words"),
    FactField("run_time_high", "the upper end in words"),
    FactField("deadline_given", "whether a deadline must be met: one that was answered, or the assumed one where the size follows from it"),
    FactField("deadline_days", "the deadline"),
)


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
        mode=context.answers.text("preferences.checkpoints"),
    )


def _working_days(candidate: Candidate, context: Context) -> Range | None:
    """Return the days of undisturbed training, None without a plan or where the length of the run is unknown."""
    choice, seconds = candidate.choice, run_seconds(candidate, context.workload)
    if choice is None or seconds is None:
        return None
    days = seconds / SECONDS_PER_DAY
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
        **_goodput_facts(goodput),
        **_run_facts(run, per_day, context),
    }


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
    )


def describe(candidate: Candidate, context: Context) -> dict[str, dict[str, object]]:
    """Return the section "reliability" of the design."""
    del context
    found = candidate.reliability
    if found is None:
        return {}
    section: dict[str, object] = {
        "job_mtbf": format_quantity(found.job_mtbf.expected, "hour"),
        "job_mtbf_range": [format_quantity(found.job_mtbf.low, "hour"), format_quantity(found.job_mtbf.high, "hour")],
        "job_mtbf_kind": found.job_mtbf.kind.value,
        "goodput": round(found.goodput, 4),
        "goodput_range": [round(found.goodput_low, 4), round(found.goodput_high, 4)],
        "restart_time": format_quantity(found.restart_time, "s"),
        "spare_nodes": found.spare_nodes,
    }
    if found.run_time is not None:
        section["run_time"] = format_quantity(found.run_time.expected, "day")
        section["run_time_range"] = [format_quantity(found.run_time.low, "day"), format_quantity(found.run_time.high, "day")]
    return {"reliability": {**section, "notes": list(found.notes)}}


def bill(candidate: Candidate, context: Context) -> list[BomLine]:
    """Return the spare nodes: whole servers, or the trays of pre-integrated racks (whose price is not the rack's)."""
    del context
    found, node = candidate.reliability, candidate.node
    if found is None or found.spare_nodes == 0:
        return []
    if node.is_rack:
        name = f"spare compute tray of {node.name}"
        return [BomLine(f"{node.id}-tray", name, "spares", found.spare_nodes, note="sold by the maker of the rack on request")]
    spares = math.ceil(found.spare_nodes)
    return [BomLine(node.id, f"{node.name} (spare)", "spares", spares)]
