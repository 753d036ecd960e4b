"""What sits on a GPU beside the tensors of the training program, and how far each term of the estimate may be off.

Sources: context 0.5 to 2 GiB and torch.distributed 1 to 2 GiB [ml-engineering book, training/performance]; NCCL's default of
4 MiB per channel buffer [NCCL documentation, NCCL_BUFFSIZE]; memory reserved over memory allocated, 1.028 to 1.093 with median
1.040 over 43 Megatron runs on B200 [SimuMax v1.2 release summary].
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rules.sizing.results import Plan


GIB = 2.0**30
MIB = 2.0**20

TERMS = ("parameters", "gradients", "optimizer", "activations", "loss_head", "working_set")
"""The allocator's terms, in the order in which the kernel returns them."""
_REPLICATED = (1.0, 0.5, 1.0, 0.90, 0.5, 0.5)
TERM_LOW = (_REPLICATED, _REPLICATED, (1.0, 0.5, 1.0, 0.85, 0.2, 0.5), (1.0, 1.0, 1.0, 0.85, 0.2, 0.4))
_FUSED = (1.02, 1.03, 1.03, 1.10, 2.5, 1.5)
_PLAIN = (1.02, 1.03, 1.03, 1.10, 1.4, 1.5)
TERM_HIGH = (_FUSED, _FUSED, _PLAIN, _PLAIN)
"""Ends of each term over its expected value, by ZeRO stage. Buffers are padded by 1 to 2 % [Megatron Core].
Gradients: half where a framework keeps them in 16 bits, which fully sharded training does not. Activations: the spread of a
tensor-by-tensor count against published runs. Loss head: 2 bytes per token and entry in a chunked loss, 10 in an unfused one
of Megatron, 14 in an eager one of PyTorch.
Working set: fused gradient accumulation needs none of
it; without prefetching, one layer less is gathered."""
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
    "vram-bytes-adam-16": "rules.sizing.memory_overheads.TERM_LOW",
    "vram-dist-init": "rules.sizing.memory_overheads.communicator_bytes",
}
"""Thresholds of the catalog that these formulas apply: id -> where."""


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
