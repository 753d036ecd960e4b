"""Parameters on each pipeline stage, and how many bytes each keeps once the data-parallel ranks share them (ZeRO 0 to 3).

Sources: ZeRO [Rajbhandari 2020, arXiv:1910.02054 §5]; the distributed optimizer, 6 + 12/D bytes per parameter [Megatron-LM,
theoretical_memory_usage.py]; expert parameters are shared among the ranks of their own data-parallel group only [Megatron-LM
issue 4050]; fully sharded training keeps 16 to 18 bytes per parameter and rank plus what it gathers [DeepSpeed issue 4527].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rules.sizing.parameters import counted_total, embedding_parameters, layer_parameters, stated_share
from rules.sizing.training_bytes import BF16_BYTES, FP32_BYTES, NF4_BYTES, StateBytes

if TYPE_CHECKING:
    from rules.sizing.results import ModelShape

THRESHOLDS_IN_FORMULAS = {
    "vram-dist-optimizer": "rules.sizing.memory_states.bytes_per_parameter",
    "vram-zero2": "rules.sizing.memory_states.bytes_per_parameter",
    "vram-zero3": "rules.sizing.memory_states.bytes_per_parameter",
    "vram-moe": "rules.sizing.memory_states.stage_parameters",
}
"""Thresholds of the catalog that these formulas apply: id -> where."""


@dataclass(frozen=True)
class StageParameters:
    """Parameters of one pipeline stage before tensor and expert parallelism: outside and inside the routed experts.

    `largest_unit` is the largest part outside the experts that fully sharded training gathers at once (a layer), `largest_matrix`
    the largest single weight (the head, or gate and up projection as one), `root` embedding and head, gathered through the step,
    `key_value` the projections of keys and values, which tensor parallelism repeats beyond their heads.
    """

    layers: int
    dense_layers: int
    dense: float
    routed: float
    root: float
    largest_unit: float
    largest_matrix: float
    routed_unit: float
    key_value: float = 0.0


@dataclass(frozen=True)
class TrainedShare:
    """What is trained: `share` of the parameters has gradients and optimizer state; frozen weights cost `frozen_bytes` each.

    Full training has share 1. LoRA keeps the base in 16 bits, QLoRA in 4 bits; embeddings and head stay in 16 bits.
    """

    share: float = 1.0
    frozen_bytes: float = BF16_BYTES
    frozen_root_bytes: float = BF16_BYTES

    @property
    def full(self) -> bool:
        """Return whether every parameter is trained."""
        return self.share >= 1.0


def trained_share(kind: str, trainable: float, total: float) -> TrainedShare:
    """Return what is trained for the answer `workload.kind`; `trainable` and `total` are numbers of parameters."""
    if kind == "fine_tuning_lora":
        return TrainedShare(trainable / total)
    if kind == "fine_tuning_qlora":
        return TrainedShare(trainable / total, NF4_BYTES)
    return TrainedShare()


def stage_layers(layers: int, stages: int) -> tuple[int, ...]:
    """Return the layers of each pipeline stage.

    Where they do not divide, the last stage (with the loss head) and then the first (with the embedding) hold one layer less,
    as in the 126 layers of Llama 3 405B on 16 stages [arXiv:2407.21783 §3.3.2]; further gaps follow from the end.
    """
    full = -(-layers // stages)
    gaps = full * stages - layers
    order = ([stages - 1, 0] if stages > 1 else [0]) + list(range(stages - 2, 0, -1))
    short = set(order[:gaps])
    return tuple(full - (stage in short) for stage in range(stages))


def stage_parameters(shape: ModelShape, stages: int, virtual: int) -> tuple[StageParameters, ...]:
    """Return the parameters of every pipeline stage of a transformer; tied embeddings are held by the first and the last stage.

    Routed experts count in full (memory follows total, not active parameters). With `virtual` > 1 the layers of a stage are
    chunks spread over the depth, so the leading dense layers of a mixture fall to the stages of the first chunks. Layers that predict
    further tokens, each with a projection of 2h·h, stand on the last stage and share embedding and head [DeepSeek-V3, arXiv:2412.19437
    §2.2].
    """
    per_stage = stage_layers(shape.layers, stages)
    share = stated_share(shape, counted_total(shape))
    plain = share * layer_parameters(shape, moe=False)[0]
    mixed, routed = (share * part for part in layer_parameters(shape, moe=True)) if shape.experts else (0.0, 0.0)
    embedding, head = embedding_parameters(shape)
    tied_head = head or (embedding if stages > 1 else 0.0)
    made, start = [], 0
    wide = (2 if shape.gated_ffn else 1) * shape.hidden_size
    mixed_matrix = wide * max(shape.shared_expert_ffn_size, shape.expert_ffn_size)
    predicting = shape.mtp_layers * (2.0 * shape.hidden_size**2 + 3.0 * shape.hidden_size)
    for stage, count in enumerate(per_stage):
        further, chunk = shape.mtp_layers if stage == stages - 1 else 0, -(-count // virtual)
        begin = stage * chunk if virtual > 1 else start
        leading = max(0, min(chunk if virtual > 1 else count, shape.dense_layers - begin)) if shape.experts else count
        root = (embedding if stage == 0 else 0.0) + (tied_head + shape.hidden_size if stage == stages - 1 else 0.0)
        with_experts = count - leading + (further if shape.experts else 0)
        leading += 0 if shape.experts else further
        made.append(
            StageParameters(
                layers=count + further,
                dense_layers=leading,
                dense=leading * plain + with_experts * mixed + root + (predicting if further else 0.0),
                routed=with_experts * routed,
                root=root,
                largest_unit=max(plain if leading else 0.0, mixed if with_experts else 0.0),
                largest_matrix=max(wide * shape.ffn_size if leading else mixed_matrix, tied_head if stage == stages - 1 else 0.0),
                routed_unit=routed if with_experts else 0.0,
                key_value=2.0 * count * shape.hidden_size * shape.key_value_heads * shape.head_dim,
            )
        )
        start += count
    return tuple(made)


def bytes_per_parameter(state: StateBytes, zero_stage: int, ranks: float, accumulates: bool) -> tuple[float, float, float]:
    """Return the bytes per parameter of (weights, gradients, optimizer) on a rank when `ranks` share them.

    ZeRO-0 shares nothing, ZeRO-1 the optimizer with its master weights (6 + 12/D with AdamW), ZeRO-2 also the gradients
    (2 + 16/D, within the 2 + 14/D … 18/D of DeepSpeed), ZeRO-3 also the weights, whose shard is the fp32 master itself
    (16/D with AdamW). `accumulates`: in a pipeline weights and gradients stay whole on the rank through the micro-batches
    although stage 2 or 3 is asked for; torchtitan's 405B runs show it (82.5 GiB where 16/D would leave 17), and DeepSpeed refuses both
    stages there [DeepSpeed, "ZeRO-2 and ZeRO-3 are incompatible with pipeline parallelism"].
    """
    optimizer = state.master + state.moments
    weight, gradient = state.weight, state.gradient
    if zero_stage == 0:
        return weight, gradient, optimizer
    if zero_stage == 1:
        return weight, gradient, optimizer / ranks
    if accumulates:
        return weight, gradient, optimizer / ranks
    if zero_stage == 2:
        return weight, gradient / ranks, optimizer / ranks
    shard = 0.0 if state.master else weight
    return shard / ranks, gradient / ranks, optimizer / ranks


def gathered_gradient_bytes(state: StateBytes) -> float:
    """Return the bytes per parameter of a gradient before it is reduced to its shard: in the type of the products."""
    return FP32_BYTES if state.weight == FP32_BYTES else BF16_BYTES
