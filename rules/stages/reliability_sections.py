"""The design sections of stage reliability: failures and goodput, single failures, the shelf, the chance of the deadline."""

from __future__ import annotations

from functools import lru_cache
from statistics import fmean
from typing import TYPE_CHECKING

from catalogs.quantities import format_quantity, magnitude, quantity
from rules.findings import Stage
from rules.sizing.completion import chance_of_finishing, chance_with_bands, completion, simulated_times
from rules.sizing.failures import NO_RATE, hours_in_words, shelf_parts, single_failures
from rules.sizing.reliability import SECONDS_PER_DAY, expected_case

if TYPE_CHECKING:
    from rules.candidate import Candidate, Context
    from rules.sizing.completion import Interrupted
    from rules.sizing.results import ReliabilityEstimate

SEED = 2407
"""Seed of the simulation, so that the same answers give the same design."""
MOST_EVENTS, FEWEST_RUNS, MOST_RUNS = 8_000, 4, 400
"""Failures that are simulated at most, unless fewer runs than the least would be left."""
LONGEST_SHOWN_S = 1e12


def describe(candidate: Candidate, context: Context) -> dict[str, dict[str, object]]:
    """Return the section "reliability" of the design: failures, spares, single failures and the chance of the deadline."""
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
    wait = float(candidate.facts.get(Stage.RELIABILITY, {}).get("data_wait_percent", 0.0))
    if wait > 0.0:
        section["data_wait"] = f"{wait:.3g} % longer steps, counted in the run's time"
    if found.run_time is not None:
        section["run_time"] = format_quantity(found.run_time.expected, "day")
        section["run_time_range"] = [format_quantity(found.run_time.low, "day"), format_quantity(found.run_time.high, "day")]
    section |= {"single_failure": _single_failures(candidate, context), "shelf": _shelf(candidate, context)}
    sections: dict[str, dict[str, object]] = {"reliability": {**section, "notes": list(found.notes)}}
    if found.cases and found.deadline is not None:
        sections["reliability.deadline"] = _deadline(found)
    return sections


def _deadline(found: ReliabilityEstimate) -> dict[str, object]:
    """Return the chance of the deadline by formula and by a simulation of events, which counts every failure one by one."""
    assert found.deadline is not None
    deadline, expected = magnitude(found.deadline, "s"), expected_case(found.cases)
    mean = completion(expected)
    runs = simulated_runs(expected)
    rows: dict[str, object] = {
        "deadline": format_quantity(found.deadline, "day"),
        "chance": round(chance_with_bands(found.cases, deadline), 3),
        "chance_failures_alone": round(chance_of_finishing(expected, deadline), 3),
        "simulated_runs": runs,
    }
    if runs:
        times = simulation(expected, runs)
        rows |= {
            "chance_simulated": round(sum(each <= deadline for each in times) / runs, 3),
            "simulated_seed": SEED,
            "simulated_mean": format_quantity(quantity(fmean(times) / SECONDS_PER_DAY, "day"), "day"),
        }
    if mean.mean < LONGEST_SHOWN_S:
        rows["mean"] = format_quantity(quantity(mean.mean / SECONDS_PER_DAY, "day"), "day")
        rows["standard_deviation"] = format_quantity(quantity(mean.deviation / SECONDS_PER_DAY, "day"), "day")
    return rows


def simulated_runs(run: Interrupted) -> int:
    """Return how many runs are simulated: as many as their failures allow in a few hundredths of a second.

    None (0) where even one run has more failures than that: years of failing are left to the formula.
    """
    failures = max(1.0, completion(run).mean / run.mtbf)
    if failures > MOST_EVENTS:
        return 0
    return int(min(MOST_RUNS, max(FEWEST_RUNS, MOST_EVENTS / failures)))


@lru_cache(maxsize=64)
def simulation(run: Interrupted, runs: int) -> tuple[float, ...]:
    """Return the simulated times of a run; kept, so that an answer that does not touch the run costs nothing."""
    return tuple(simulated_times(run, runs, SEED))


def _single_failures(candidate: Candidate, context: Context) -> list[dict[str, object]]:
    found = candidate.reliability
    if found is None or found.goodput_of_job is None:
        return []
    per_hour = candidate.cost.per_gpu_hour if candidate.cost is not None else None
    rows = []
    for each in single_failures(candidate, found.goodput_of_job, found.spare_nodes, context.catalog):
        row: dict[str, object] = {"part": each.part, "count": each.count, "meaning": each.meaning}
        row["per_year"] = NO_RATE if each.per_year is None else float(f"{each.per_year:.3g}")
        row |= {"effect": each.effect, "stops_gpus": each.stopped, "lasts": hours_in_words(each.hours)}
        row["gpu_hours"] = float(f"{each.gpu_hours:.3g}")
        if per_hour is not None and each.gpu_hours > 0:
            row["cost"] = format_quantity(quantity(each.gpu_hours * magnitude(per_hour.expected, "USD/hour"), "USD"), "USD")
        rows.append(row)
    return rows


def _shelf(candidate: Candidate, context: Context) -> list[dict[str, object]]:
    """Return the parts on the shelf, with how many are replaced in a year: devices that fail, not jobs that are interrupted."""
    catalog = context.catalog
    rows: list[dict[str, object]] = []
    for part in shelf_parts(candidate, catalog):
        record = catalog.switches.get(part.item) or catalog.cables.get(part.item)
        low, high = part.per_year
        rows.append(
            {
                "part": record.name if record else part.item,
                "in_use": part.count,
                "replaced_per_year": [float(f"{low:.3g}"), float(f"{high:.3g}")],
                "delivery": f"{part.weeks:g} week",
                "stock": part.stock,
            }
        )
    return rows
