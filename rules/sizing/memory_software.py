"""How training software uses memory where frameworks differ: loss head, gradients, layers, pipelines, and what is not known of it.

Constants are counted from what each technique keeps; none is fitted to a source.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from catalogs.quantities import magnitude, quantity
from rules.sizing.memory_activations import PLAIN_PYTORCH, ActivationOptions
from rules.sizing.results import Range

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rules.sizing.results import MemoryEstimate


@dataclass(frozen=True)
class LossHead:
    """Bytes per token and vocabulary entry on the last stage at the peak of the loss; `split`: over the tensor-parallel ranks."""

    expected: float
    low: float
    high: float
    split: bool = True


FUSED_LOSS = LossHead(4.0, 2.0, 10.0)
"""A fused loss keeps logits and their gradient in 16 bits [Megatron Core, `--cross-entropy-loss-fusion`; counted]. A chunked loss
keeps 2 at most; an unfused one of Megatron 10: logits, an fp32 copy, its gradient."""
PLAIN_LOSS = LossHead(10.0, 2.0, 14.0)
"""Fully sharded training of unknown software: from a chunked loss to an eager one."""
EAGER_LOSS = LossHead(14.0, 12.0, 16.0)
"""PyTorch's cross entropy in eager mode: 16-bit logits (2), then in the backward pass the log-softmax, its gradient and the gradient
of the fp32 logits (4 each); 12 where the logits are dropped before, 16 where a 16-bit gradient is there as well (counted)."""
COMPILED_LOSS = LossHead(12.0, 4.0, 14.0)
"""The same in a program of which parts are compiled: the loss is eager where only the layers are, fused where it is compiled too."""
UNSPLIT_LOSS = LossHead(14.0, 12.0, 20.0, split=False)
"""Every tensor-parallel rank gathers all logits: code without a vocabulary-parallel loss. At most the gathered parts and their joined
copy (2 each) are there beside the eager loss (counted)."""
ACCUMULATED_GRADIENT_BYTES = 6.0
"""Bytes per parameter where each gradient is made in 16 bits and added to a buffer in 32 bits beside it (counted)."""


@dataclass(frozen=True)
class MemoryOptions:
    """How the training software behaves where frameworks differ; the defaults are a Megatron Core or FSDP stack of today.

    `loss_head` None: fused, or plain with full sharding. `keeps_outputs`: the pipeline keeps what each micro-batch puts out until
    the step is over, logits on the last stage [torch.distributed.pipelining; PyTorch issue 159251], and has receive buffers for
    every one. `reserved`: the figure to compare with is what the allocator reserves, its cache included, as PyTorch programs log it.
    """

    activations: ActivationOptions = field(default_factory=ActivationOptions)
    loss_head: LossHead | None = None
    gradient_bytes: float | None = None
    schedule: str = "1f1b"
    keeps_outputs: bool = False
    reserved: bool = False


PLAIN_SOFTWARE = MemoryOptions(activations=PLAIN_PYTORCH, loss_head=EAGER_LOSS, gradient_bytes=ACCUMULATED_GRADIENT_BYTES, reserved=True)
"""The other end of what undescribed software can be: layers and loss in PyTorch operations, the loss split over tensor parallelism,
fp32 accumulation beside 16-bit gradients, and a peak that may be reserved memory."""


def between(estimates: Sequence[MemoryEstimate]) -> MemoryEstimate:
    """Return one estimate for a run that can have been any of several: from the lowest low to the highest high.

    Expected values and terms are means, stages those of the first. Raises ValueError without any.
    """
    if not estimates:
        raise ValueError("expected at least one estimate")
    first = estimates[0]
    if len(estimates) == 1:
        return first
    count, capacity = len(estimates), magnitude(first.capacity, "GiB")
    device = _hull([Range(each.low, each.expected, each.high) for each in estimates])
    names = dict.fromkeys(name for each in estimates for name in each.terms)
    terms = {
        name: quantity(sum(magnitude(each.terms[name], "GiB") for each in estimates if name in each.terms) / count, "GiB") for name in names
    }
    low, high = magnitude(device.low, "GiB"), magnitude(device.high, "GiB")
    return replace(
        first,
        low=device.low,
        expected=device.expected,
        high=device.high,
        terms=terms,
        largest_term=max(terms, key=lambda name: terms[name].magnitude),
        verdict="does_not_fit" if low > capacity else "fits" if high <= capacity else "at_risk",
        allocated=_hull([each.allocated for each in estimates if each.allocated is not None]),
    )


def _hull(ranges: Sequence[Range]) -> Range:
    low = min(magnitude(each.low, "GiB") for each in ranges)
    expected = sum(magnitude(each.expected, "GiB") for each in ranges) / len(ranges)
    high = max(magnitude(each.high, "GiB") for each in ranges)
    return Range(quantity(low, "GiB"), quantity(expected, "GiB"), quantity(high, "GiB"))
