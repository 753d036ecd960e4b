"""What an estimate of memory assumes and leaves out, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rules.counting import counted
from rules.sizing.pipeline import SCHEDULE_WORDS
from rules.sizing.sampling import SAMPLING, engine_of

if TYPE_CHECKING:
    from rules.sizing.results import Plan, Workload

POST_TRAINING_NOTE = (
    "a step samples {sequences:,} sequences with each engine of {gpus}; one takes {one:.3g} GiB of cache on each at full length, "
    "all take {all:,.4g} GiB; an engine that is awake is counted with one, give what it is granted beyond as reserved memory"
)
TOWERS_NOTE = (
    "out of scope: activations of towers for sound, and for images of a shape that is not known; their parameters count as part of the "
    "layers; give what they take as reserved memory"
)
IRREGULAR_NOTE = (
    "out of scope: activations of layers that are no transformer layers (state space, linear attention, cross-attention); each is counted "
    "as a whole transformer layer, its parameters scaled to the stated total; measure one step before you rely on it"
)
TRAINED_TOWER_NOTE = "{share:.0%} of the tokens come from images; the first stage holds what their tower leaves, whose time is not counted"
FROZEN_TOWER_NOTE = "no token comes from images, or the tower for them is frozen: it leaves nothing for the backward pass"
PAIRS_NOTE = "both answers of a pair are held at once: a micro-batch counts as two sequences at least"
TABLE_NOTES = {
    "balanced": "embedding tables are assumed to spread evenly over the GPUs",
    "table": "whole embedding tables are placed, taken to be of one size; unequal ones fill one GPU more than others",
    "row": "embedding tables are split by rows; popular rows make some GPUs busier, not fuller",
    "column": "embedding tables are split by columns; each part of a row has optimizer state of its own",
}
"""What the layout of embedding tables means for memory, by `Workload.embedding_sharding`."""
OFFLOAD_NOTES = {
    "optimizer": "optimizer state is in host memory",
    "parameters": "optimizer state and parameters are in host memory",
    "nvme": "optimizer state and parameters are on the node's drives",
}
"""Where what is not on the GPU rests, by `Plan.offload`."""
UNKNOWN_OUTPUTS_NOTE = (
    "how many outputs the network's convolutions have is not known: taken from ResNet-50's by the multiply-adds; depthwise ones have more, "
    "up to the high end"
)
OPTIMIZER_NOTES = {
    "adamw_8bit": "8-bit AdamW: embeddings, which some libraries keep in 32 bits, are counted in 8",
    "adafactor": "Adafactor: a first moment is counted, which the low end leaves out; the factored second one is negligible",
    "sgd": "SGD: momentum is counted, which the low end leaves out",
    "muon": "Muon: embedding and head stay with AdamW and its two moments, as is counted; norms and biases are negligible",
}
"""What the count of an optimizer's state leaves out."""

LOW_PRECISION_NOTES = {
    "fp8": "FP8 weights and their transpose are counted; beside BF16 weights (without --fp8-param-gather) they take 2 bytes more",
    "mxfp8": "MXFP8 weights in both directions are counted; beside BF16 weights (without --fp8-param-gather) they take 2 bytes more",
    "nvfp4": "NVFP4 weights are counted in both directions beside BF16 weights; cast for each product they take 1.1 bytes less",
}
"""Which copies of the weights are counted, by precision."""
FIRST_FSDP_NOTE = (
    "the first version of PyTorch FSDP was seen to reserve 1.4 to 1.5 times its peak; the second (fully_shard) is counted here"
)
"""63 and 58 GB reserved for a peak of 42 GB [meta-llama/llama-cookbook issue 120], 29 for 19 GB [the same, pull request 650]."""
SCHEDULE_NOTE = (
    "1F1B is searched, interleaved where there are virtual stages; zero-bubble schedules and DualPipe where parallelism.schedule says so"
)
FULL_SHARDING = 3
GIB = 2.0**30


def memory_notes(workload: Workload, plan: Plan, fullest: int) -> tuple[str, ...]:
    """Return what is to be said of the memory of a plan; `fullest` is the place of its fullest stage."""
    shape = workload.model
    sharded = plan.zero_stage == FULL_SHARDING and plan.pipeline == 1 and plan.data * plan.context > 1
    said = {
        f"stage {fullest + 1} of {plan.pipeline} is the fullest": plan.pipeline > 1,
        SCHEDULE_NOTE: plan.pipeline > 1 and plan.schedule == "1f1b",
        SCHEDULE_WORDS.get(plan.schedule, ""): plan.pipeline > 1 and plan.schedule != "1f1b",
        "experts are assumed to receive equal shares of tokens; early in training a few receive far more": bool(shape.experts),
        OFFLOAD_NOTES.get(plan.offload, ""): plan.offload in OFFLOAD_NOTES,
        "multi-token-prediction layers stand on the last stage": bool(shape.mtp_layers),
        UNKNOWN_OUTPUTS_NOTE: shape.kind == "cnn" and not shape.forward_activations,
        TABLE_NOTES.get(workload.embedding_sharding, ""): shape.kind == "recommendation",
        IRREGULAR_NOTE: shape.irregular,
        TOWERS_NOTE: shape.has_towers and shape.tower is None,
        TRAINED_TOWER_NOTE.format(share=workload.image_share): shape.tower is not None and workload.image_share > 0,
        FROZEN_TOWER_NOTE: shape.tower is not None and not workload.image_share,
        PAIRS_NOTE: workload.post_training == "dpo",
        _sampling_note(workload, plan): workload.post_training in SAMPLING,
        OPTIMIZER_NOTES.get(workload.optimizer, ""): workload.optimizer in OPTIMIZER_NOTES,
        FIRST_FSDP_NOTE: sharded,
        LOW_PRECISION_NOTES.get(workload.precision, ""): workload.precision in LOW_PRECISION_NOTES and plan.zero_stage < FULL_SHARDING,
    }
    return tuple(note for note, holds in said.items() if holds)


def _sampling_note(workload: Workload, plan: Plan) -> str:
    engine = engine_of(workload, plan)
    if engine is None:
        return ""
    one = engine.sequence / GIB
    return POST_TRAINING_NOTE.format(sequences=engine.sequences, gpus=counted(plan.tensor, "GPU"), one=one, all=one * engine.sequences)
