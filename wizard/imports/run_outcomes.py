"""Measured runs beside their estimates: the published ones of the catalog, or a person's own table of runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rules.regimes import Regime, model_kind_of, parallelism_of
from rules.validation import Outcome
from wizard.imports.run_estimate import estimate_rows
from wizard.imports.run_machines import Machines
from wizard.imports.run_models import Unanswerable
from wizard.imports.run_rows import ROW_TABLES, problem_of, read_rows
from wizard.imports.run_table import interpret

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalogs import Catalog
    from wizard.imports.run_rows import RunRow
    from wizard.imports.run_table import RunCase

GB_PER_GIB = 2.0**30 / 1e9
TERA = 1e12
MEASURED = (
    "iteration_s", "tokens_per_s_per_gpu", "tflops_per_gpu", "images_per_s", "samples_per_s", "peak_mem_gib", "peak_mem_gb",
)  # fmt: skip
LEFT_OUT, UNREAD = "left out: ", "not read: "
"""How the notes begin of a measured value and of a run that cannot be read."""
OWN = "own"
"""Source of a person's own runs that name none."""


def published_document(catalog: Catalog) -> dict[str, Any]:
    """Return the catalog's measured runs as a table of runs with the shapes of their models."""
    models = {each.id: shape for each in catalog.measured_models if (shape := each.row())}
    return {"run": [each.row() for each in catalog.measurements], "models": models}


def outcomes_of(document: Mapping[str, Any], path: str, catalog: Catalog) -> list[Outcome]:
    """Return every row of a table of runs, measured and estimated, in order; raises FileError for what cannot be read.

    A row whose estimate cannot be made has None for it, and notes that say why.
    """
    rows, models = read_rows(document, path)
    raws = document[next(name for name in ROW_TABLES if name in document)]
    machines = Machines(catalog)
    estimates = estimate_rows(rows, models, catalog)
    made = []
    for row, raw, estimate in zip(rows, raws, estimates, strict=True):
        measured, wrong = _measured(raw)
        unread = [f"{UNREAD}{problem}" for problem in (problem_of(row, models),) if problem]
        estimate["notes"] = [*unread, *wrong, *(() if unread else estimate["notes"])]
        try:
            case = interpret(row, models, catalog, machines)
        except Unanswerable:
            case = None
        made.append(_outcome(row, raw, measured, estimate, case, catalog))
    return made


def _measured(raw: Mapping[str, Any]) -> tuple[dict[str, float], list[str]]:
    """Return the measured values of a row, and a note for each that is no number above 0 and is left out."""
    found, wrong = {}, []
    for key in MEASURED:
        value = raw.get(key)
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < float("inf"):
            wrong.append(f"{LEFT_OUT}{key}: expected a number above 0, as it was measured, got {str(value)[:40]!r}")
        else:
            found[key] = float(value)
    if not isinstance(raw.get("source", OWN), str):
        wrong.append(f"{LEFT_OUT}source: expected a text in quotes, such as the name of the cluster")
    return found, wrong


def _outcome(
    row: RunRow, raw: Mapping[str, Any], measured: dict[str, float], estimate: dict[str, Any], case: RunCase | None, catalog: Catalog
) -> Outcome:
    regime = _regime(row, case, catalog)
    rate, measured_rate, basis = _rates(measured, estimate, case)
    memory = estimate["memory_gib"]
    peak = measured.get("peak_mem_gib") or (measured["peak_mem_gb"] / GB_PER_GIB if "peak_mem_gb" in measured else None)
    return Outcome(
        id=row.id,
        source=raw["source"] if isinstance(raw.get("source"), str) else OWN,
        table=str(raw.get("table", "")),
        model=row.text("model"),
        regime=regime,
        plan=case.plans[0].label if case else "",
        sequence_length=case.workload.sequence_length if case else 0,
        memory_measured=peak,
        memory=(memory["low"], memory["expected"], memory["high"]) if memory else None,
        rate_measured=measured_rate,
        rate=rate,
        rate_basis=basis,
        flops=estimate["tflops_per_gpu"],
        verdict=estimate["verdict"],
        worked=raw.get("fits") is not False,
        notes=tuple(estimate["notes"]),
        step_range=(estimate["step_range"]["low"], estimate["step_range"]["high"]) if estimate["step_range"] else None,
    )


def _regime(row: RunRow, case: RunCase | None, catalog: Catalog) -> Regime:
    gpu = catalog.gpus.get(row.text("gpu"))
    names = (gpu.id, gpu.architecture, gpu.vendor) if gpu is not None else (row.text("gpu") or "unknown", "unknown", "unknown")
    if case is None:
        return Regime("dense", *names, row.text("precision") or "bf16", "", row.count("gpus") or 1)
    plan = case.plans[0]
    kind = model_kind_of(case.workload.model.kind)
    return Regime(kind, *names, case.workload.precision, parallelism_of(plan), plan.gpus)


def _rates(measured: dict[str, float], estimate: dict[str, Any], case: RunCase | None) -> tuple[float | None, float | None, str]:
    """Return (estimated, measured) units per second and GPU, and what the measured one is based on: step, rate or flops."""
    flops = estimate["tflops_per_gpu"]
    if case is None:
        return None, None, ""
    gpus, workload = case.plans[0].gpus, case.workload
    rate = estimate["tokens_per_s_per_gpu"] or (flops * TERA / workload.flops_per_unit if flops and workload.flops_per_unit else None)
    if "tokens_per_s_per_gpu" in measured:
        return rate, measured["tokens_per_s_per_gpu"], "rate"
    if "iteration_s" in measured and case.batch_stated:
        return rate, workload.global_batch * workload.sequence_length / measured["iteration_s"] / gpus, "step"
    whole = measured.get("images_per_s") or measured.get("samples_per_s")
    if whole:
        return rate, whole / gpus, "rate"
    if "tflops_per_gpu" in measured and rate and flops:
        return rate, rate * measured["tflops_per_gpu"] / flops, "flops"
    return rate, None, ""
