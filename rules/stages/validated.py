"""What a design says of each estimate: the nearest validated regime, its error, and whether this is an extrapolation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rules.regimes import Estimate, Regime, model_kind_of, nearest, nearest_text, parallelism_of

if TYPE_CHECKING:
    from rules.candidate import Candidate, Context
    from rules.sizing.results import Plan, Workload

TRAINED_IN_FULL = ("pretraining", "fine_tuning_full", "vision", "recommendation")
"""Kinds of training that published runs are of: every weight has a gradient, and one model is trained."""
MEASURED_OPTIMIZER = "adamw"
"""The optimizer of all language models whose memory was measured [catalogs/measurements]."""


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
    return nearest_text(nearest(context.catalog.validation, regime, what), what, unlike(plan, workload, what))


def unlike(plan: Plan, workload: Workload, what: Estimate) -> tuple[str, ...]:
    """Return what no published run has that an estimate was validated on, beside what makes a regime."""
    kind, optimizer, language = workload.kind, workload.optimizer, workload.unit == "token"
    found = {
        f"workload {kind}": kind not in TRAINED_IN_FULL,
        f"post-training {workload.post_training}": workload.post_training != "none",
        f"offload {plan.offload}": plan.offload != "none",
        f"optimizer {optimizer}": what is Estimate.MEMORY and language and optimizer != MEASURED_OPTIMIZER,
        "layers that are no transformer layers": workload.model.irregular,
    }
    return tuple(words for words, holds in found.items() if holds)
