"""Pipeline schedules: how many micro-batches a stage holds at its peak, what stands on it, and how long it idles.

Sources: 1F1B [Narayanan 2021, arXiv:2104.04473 §2.2]; interleaved 1F1B [Megatron Core, schedules]; the zero-bubble family
[Qi 2023, arXiv:2401.10241 table 1; Qi 2024, arXiv:2405.15362 for the V shape]; DualPipe [DeepSeek-V3, arXiv:2412.19437 table 2].
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rules.sizing.memory_states import StageParameters
    from rules.sizing.results import Plan

SCHEDULES = ("1f1b", "gpipe", "zb_h1", "zb_h2", "zb_v", "dualpipe")
"""Schedules that are known; 1f1b is interleaved where a plan has virtual stages."""
SCHEDULE_WORDS = {
    "1f1b": "1F1B",
    "gpipe": "GPipe: all forward passes, then all backward passes",
    "zb_h1": "ZB-H1: weight gradients fill the bubble, in the memory of 1F1B's first stage",
    "zb_h2": "ZB-H2: no bubble, in twice the activations of 1F1B",
    "zb_v": "ZB-V: two chunks of layers on each GPU, there and back; no bubble",
    "dualpipe": "DualPipe: micro-batches enter at both ends, on two copies of the weights",
}
CHUNKS = {"zb_v": 2, "dualpipe": 2}
"""Chunks of layers on each rank that a micro-batch passes one after the other, by schedule; others have their virtual stages."""


def in_flight(stage: int, stages: int, virtual: int, micro_batches: int, schedule: str = "1f1b") -> float:
    """Return how many micro-batches' activations of all its layers a pipeline stage holds at its peak.

    GPipe: m. 1F1B: min(m, p − r), so the first stage holds as many as there are stages.
    Interleaved: min(m·v, 2(p − r − 1) + (v − 1)p + 1) chunks of 1/v of its layers.
    ZB-H1: min(m, p) on every stage, since weight gradients wait for the bubble; ZB-H2 min(m, 2p − 1); ZB-V, two chunks per
    stage, min(m, p); DualPipe min(m, p + 1), on two copies of the weights.
    Raises ValueError for an unknown schedule.
    """
    if schedule == "1f1b":
        if virtual > 1:
            return min(micro_batches * virtual, 2 * (stages - stage - 1) + (virtual - 1) * stages + 1) / virtual
        return float(min(micro_batches, stages - stage))
    if schedule not in SCHEDULES:
        raise ValueError(f"no pipeline schedule is called {schedule!r}; known are {', '.join(SCHEDULES)}")
    most = {"gpipe": micro_batches, "zb_h1": stages, "zb_h2": 2 * stages - 1, "zb_v": stages, "dualpipe": stages + 1}[schedule]
    return float(min(micro_batches, most))


def idle_passes(schedule: str, stages: int, virtual: int, weight_share: float, forward_share: float) -> float:
    """Return for how many passes of a micro-batch through a stage, forward and backward, each stage idles in a step.

    `weight_share` and `forward_share`: what the gradients of weights (W) and the forward pass (F) take of such a pass, which is 1; the
    gradients of inputs (B) and what is recomputed take the rest. 1F1B and GPipe (p − 1), interleaved over v; ZB-H1 (p − 1)(F + B − W);
    ZB-H2 and ZB-V (p − 1)(F + B − 2W) or nothing; DualPipe (p/2 − 1)(F&B + B + W − 3W), F&B being taken as a whole pass.
    """
    if stages <= 1:
        return 0.0
    if schedule == "zb_h1":
        return (stages - 1) * max(0.0, 1 - 2 * weight_share)
    if schedule in ("zb_h2", "zb_v"):
        return (stages - 1) * max(0.0, 1 - 3 * weight_share)
    if schedule == "dualpipe":
        return (stages / 2 - 1) * max(0.0, 2 - forward_share - 3 * weight_share)
    return (stages - 1) / virtual


def chunks(plan: Plan) -> int:
    """Return how often a micro-batch passes a rank of the pipeline in one direction."""
    return CHUNKS.get(plan.schedule, plan.virtual_stages)


def recomputed_share(plan: Plan, layers: float) -> float:
    """Return the share of a stage's `layers` that recompute all their activations, where whole layers do: all, or so many of each stage."""
    if plan.recompute != "full":
        return 0.0
    return min(1.0, plan.recompute_layers / layers) if plan.recompute_layers and layers else 1.0


def has_loss(stage: int, stages: int, schedule: str) -> bool:
    """Return whether a stage has a loss: the last, the first where layers go there and back, both where micro-batches enter at both."""
    if schedule == "dualpipe":
        return stage in (0, stages - 1)
    return stage == (0 if schedule == "zb_v" else stages - 1)


def placed_parts(parts: tuple[StageParameters, ...], schedule: str) -> tuple[StageParameters, ...]:
    """Return the parameters of each rank: with ZB-V embedding and head share the first, with DualPipe each has a mirrored stage too."""
    if len(parts) == 1 or schedule not in CHUNKS:
        return parts
    first, last = parts[0], parts[-1]
    if schedule == "zb_v":
        ends = replace(
            first,
            dense=first.dense + last.root,
            root=first.root + last.root,
            largest_matrix=max(first.largest_matrix, last.largest_matrix),
        )
        return (ends, *parts[1:-1], replace(last, dense=last.dense - last.root, root=0.0, largest_matrix=first.largest_matrix))
    return tuple(
        replace(
            one,
            dense=one.dense + other.dense,
            routed=one.routed + other.routed,
            root=one.root + other.root,
            key_value=one.key_value + other.key_value,
        )
        for one, other in zip(parts, reversed(parts), strict=True)
    )
