"""What sits on a GPU beside the tensors of the training program, and how far each term of the estimate may be off.

Sources: context 0.5 to 2 GiB and torch.distributed 1 to 2 GiB [ml-engineering book, training/performance]; NCCL's default of
4 MiB per channel buffer [NCCL documentation, NCCL_BUFFSIZE]; memory reserved over memory allocated, 1.028 to 1.093 with median
1.040 over 43 Megatron runs on B200 [SimuMax v1.2 release summary].
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rules.sizing.memory_software import LossHead
    from rules.sizing.results import Plan


GIB = 2.0**30
MIB = 2.0**20

TERMS = ("parameters", "gradients", "optimizer", "activations", "loss_head", "working_set")
"""The allocator's terms, in the order in which the kernel returns them."""
STATE_ENDS = ((1.0, 1.02), (0.5, 1.03), (1.0, 1.03))
"""Ends of parameters, gradients and optimizer over their expected values. Buffers are padded by 1 to 2 % [Megatron Core]. Gradients:
half where a framework keeps them in 16 bits, which fully sharded training does not."""
FULL_SHARDING = 3
ACTIVATION_ENDS = (0.94, 1.06)
SHARDED_ACTIVATION_ENDS = (0.85, 1.10)
"""Ends of activations: a tensor-by-tensor count was within 2 % of 22 Megatron runs without recomputation, taken three times as wide
[SimuMax, B200 v1.2 release summary]; more where PyTorch programs shard."""
WORKING_SET_ENDS = (0.5, 1.5)
SHARDED_WORKING_SET_ENDS = (0.64, 1.5)
"""Ends of the working set: fused gradient accumulation needs none of it. Full sharding holds at least embedding and head, one layer
and its gradient: 0.64 of the expected set for Llama 3 70B, more for smaller models (counted)."""
FRAGMENTATION = (0.0, 0.040, 0.093)
"""Reserved over allocated memory, less one: median and maximum of 43 runs; expandable segments can bring it near nothing."""
CONTEXT = (0.5 * GIB, 1.0 * GIB, 2.0 * GIB)
"""CUDA context and loaded kernels."""
CHANNEL_BUFFER = 4 * MIB
CHANNELS = 32
DISTRIBUTED = (2 * CHANNELS * CHANNEL_BUFFER, 1.0 * GIB, 2.0 * GIB)
"""Communicators of one group: send and receive buffers of 32 channels at least, 1 to 2 GiB as observed."""
FURTHER_GROUP = (0.0, CHANNELS * CHANNEL_BUFFER, 2 * CHANNELS * CHANNEL_BUFFER)
"""Buffers of each further communication group."""

THRESHOLDS_IN_FORMULAS = {
    "vram-cuda-context": "rules.sizing.memory_overheads.context_bytes",
    "vram-bytes-adam-16": "rules.sizing.memory_overheads.term_ends",
    "vram-dist-init": "rules.sizing.memory_overheads.communicator_bytes",
}
"""Thresholds of the catalog that these formulas apply: id -> where."""


def term_ends(zero_stage: int, loss_head: LossHead, pipelined: bool) -> tuple[tuple[float, float], ...]:
    """Return the (low, high) factors of each allocator's term over its expected value, in the order of `TERMS`.

    A pipeline (`pipelined`) keeps weights gathered, so that nothing of the working set hangs on prefetching.
    """
    weights, gradients, optimizer = STATE_ENDS
    loss = (loss_head.low / loss_head.expected, loss_head.high / loss_head.expected)
    if zero_stage >= FULL_SHARDING:
        working = WORKING_SET_ENDS if pipelined else SHARDED_WORKING_SET_ENDS
        return weights, (1.0, gradients[1]), optimizer, SHARDED_ACTIVATION_ENDS, loss, working
    activations = SHARDED_ACTIVATION_ENDS if zero_stage == FULL_SHARDING - 1 else ACTIVATION_ENDS
    return weights, gradients, optimizer, activations, loss, WORKING_SET_ENDS


def context_bytes() -> tuple[float, float, float]:
    """Return (low, expected, high) bytes of the runtime's context on a GPU."""
    return CONTEXT


def communicator_bytes(plan: Plan) -> tuple[float, float, float]:
    """Return (low, expected, high) bytes of communicator buffers on a GPU: none on a single GPU, more with each kind of group."""
    groups = (plan.tensor > 1) + (plan.pipeline > 1) + (plan.context > 1) + (plan.expert > 1) + (plan.data > 1)
    if not groups:
        return 0.0, 0.0, 0.0
    further = groups - 1
    low, expected, high = DISTRIBUTED
    return low + further * FURTHER_GROUP[0], expected + further * FURTHER_GROUP[1], high + further * FURTHER_GROUP[2]
