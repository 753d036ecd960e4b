"""Models beside the one that is trained: what preference training and reinforcement learning add to a GPU and to the host.

DPO keeps a frozen reference of the same size [Rafailov 2023, arXiv:2305.18290 §4]. GRPO keeps a reference, and no critic [Shao 2024,
arXiv:2402.03300 §4.1]; rewards are taken to come from rules. PPO keeps a reference, a reward model and a critic that is trained itself
[Ouyang 2022, arXiv:2203.02155 §3.5], all taken to be of the trained model's size. Adapters train beside a base that serves as the
reference too. The engine that samples answers shares the GPUs or has its own; one that sleeps keeps its weights in host memory [vLLM, sleep
mode, level 1].
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from rules.sizing.sampling import SAMPLING, engine_of
from rules.sizing.training_bytes import BF16_BYTES, state_bytes

if TYPE_CHECKING:
    from rules.sizing.results import Plan, Workload

METHODS = ("none", "dpo", "grpo", "ppo")
"""Ways of post-training that keep models beside the trained one; "none": supervised training."""
ROLLOUTS = ("separate", "sleeping", "awake")
"""Where the engine that samples is: on GPUs of its own, on these and asleep while they train, on these all the time."""
ROLLOUT_WORDS = {
    "separate": "on GPUs of its own",
    "sleeping": "on these GPUs, its weights in host memory while the model trains",
    "awake": "on these GPUs all the time",
}
SEQUENCES_AT_ONCE = {"dpo": 2}
"""Sequences that a micro-batch has at least: the loss of DPO is of both answers of a pair, which go through the model together
[Rafailov 2023, eq. 7; TRL, DPOTrainer]."""
ADAPTER_KINDS = ("fine_tuning_lora", "fine_tuning_qlora")


class OtherModels(NamedTuple):
    """How many models of the trained one's size a method keeps: frozen ones, and ones that are trained."""

    frozen: int
    trained: int


OTHER_MODELS: dict[str, OtherModels] = {
    "none": OtherModels(0, 0),
    "dpo": OtherModels(1, 0),
    "grpo": OtherModels(1, 0),
    "ppo": OtherModels(2, 1),
}


def other_models(workload: Workload) -> OtherModels:
    """Return the models beside the trained one; with adapters the base without them is the reference, so that one frozen model is less."""
    found = OTHER_MODELS[workload.post_training]
    shared = workload.kind in ADAPTER_KINDS and found.frozen > 0
    return OtherModels(found.frozen - shared, found.trained)


def other_model_bytes(workload: Workload, plan: Plan) -> tuple[float, float, float]:
    """Return (low, expected, high) bytes on one GPU of all models beside the trained one, and of an engine that is awake on it.

    Expected: spread over all GPUs of the job. Low: frozen ones rest in host memory. High: they are split as far as tensor and pipeline
    parallelism go and repeated over data-parallel ranks, trained ones in their weights and gradients. An awake engine keeps its weights,
    split over the tensor-parallel ranks, and the cache of one sequence at least; more takes what it is granted.
    """
    models = other_models(workload)
    size, state = workload.parameters.total, state_bytes(workload.precision, workload.optimizer)
    sampler = engine_of(workload, plan) if workload.rollout == "awake" else None
    engine = sampler.weights + sampler.sequence if sampler is not None else 0.0
    spread = models.trained * state.total * size / plan.gpus
    frozen = models.frozen * BF16_BYTES * size
    split = max(1, plan.tensor * plan.pipeline)
    optimizer = models.trained * (state.master + state.moments) * size / plan.gpus
    repeated = models.trained * (state.weight + state.gradient) * size / split
    return engine + spread, engine + spread + frozen / plan.gpus, engine + max(spread, optimizer + repeated) + frozen / split


def rollout_host_bytes(workload: Workload) -> float:
    """Return the bytes of host memory of one copy of the engine's weights that sleep there, 0 where none does."""
    sleeps = workload.post_training in SAMPLING and workload.rollout == "sleeping"
    return BF16_BYTES * workload.parameters.total if sleeps else 0.0
