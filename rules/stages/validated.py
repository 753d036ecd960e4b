"""What a design says of each estimate: the nearest validated regime, its error, and whether this is an extrapolation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rules.regimes import Estimate, Regime, model_kind_of, nearest, nearest_text, parallelism_of

if TYPE_CHECKING:
    from rules.candidate import Candidate, Context
    from rules.sizing.results import Plan

TRAINED_IN_FULL = ("pretraining", "fine_tuning_full", "vision", "recommendation")
"""Kinds of training that published runs are of: every weight has a gradient, and one model is trained."""


def validated_by(candidate: Candidate, context: Context, what: Estimate) -> str:
    """Return the sentence for the section "memory" or "performance"; "" without a plan."""
    if candidate.choice is None:
        return ""
    plan, workload = candidate.choice.plan, context.workload
    regime = Regime(
        model_kind=model_kind_of(workload.model.kind),
        gpu=candidate.gpu.id,
        architecture=candidate.gpu.architecture,
        vendor=candidate.gpu.vendor,
        precision=workload.precision,
        parallelism=parallelism_of(plan),
        gpus=plan.gpus,
    )
    return nearest_text(nearest(context.catalog.validation, regime, what), what, _unlike(plan, workload.kind))


def _unlike(plan: Plan, kind: str) -> tuple[str, ...]:
    found = () if kind in TRAINED_IN_FULL else (f"workload {kind}",)
    return found if plan.offload == "none" else (*found, f"offload {plan.offload}")
