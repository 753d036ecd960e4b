"""How training software uses memory where frameworks differ: loss head, gradients, layers, pipelines, and what is not known of it.

Constants are counted from what each technique keeps; none is fitted to a source.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from catalogs.quantities import magnitude, quantity
from rules.sizing.memory_activations import PLAIN_PYTORCH, ActivationOptions
from rules.sizing.memory_overheads import TERMS
from rules.sizing.memory_ranges import Ends, either, likely, outermost
from rules.sizing.results import Range

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rules.sizing.memory_estimate import MemoryEstimate


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
COMPILED_LOSS = LossHead(12.0, 2.0, 14.0)
"""A program of which parts are compiled: 12 to 14 where only the layers are and the loss is eager; 4 where it is compiled too (16-bit
logits and their gradient), 2 where it goes chunk by chunk (counted)."""
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
    `offload`: what rests on the host under every plan, as `Plan.offload`. `gradients_known`: gradients are kept in the type that is
    counted, 32 bits unless `gradient_bytes` says otherwise. `master`: 32-bit weights are kept beside those in 16 bits.
    """

    activations: ActivationOptions = field(default_factory=ActivationOptions)
    loss_head: LossHead | None = None
    gradient_bytes: float | None = None
    keeps_outputs: bool = False
    reserved: bool = False
    gradients_known: bool = False
    offload: str = "none"
    master: bool = True


PLAIN_SOFTWARE = MemoryOptions(activations=PLAIN_PYTORCH, loss_head=EAGER_LOSS, gradient_bytes=ACCUMULATED_GRADIENT_BYTES, reserved=True)
"""The other end of what undescribed software can be: layers and loss in PyTorch operations, the loss split over tensor parallelism,
fp32 accumulation beside 16-bit gradients, and a peak that may be reserved memory."""


def between(estimates: Sequence[MemoryEstimate]) -> MemoryEstimate:
    """Return one estimate for a run that can have been any of several: outermost ends, means of the expected values.

    What the run can have been decides the verdict. The allocator's peak is that of a run that worked: what is not expected to fit where
    others do is no part of it. Stages are those of the first. Raises ValueError without any.
    """
    if not estimates:
        raise ValueError("expected at least one estimate")
    first = estimates[0]
    if len(estimates) == 1:
        return first
    capacity = magnitude(first.capacity, "GiB")
    device = outermost([(magnitude(each.low, "GiB"), magnitude(each.expected, "GiB"), magnitude(each.high, "GiB")) for each in estimates])
    able = [each for each in estimates if magnitude(each.expected, "GiB") <= capacity] or list(estimates)
    reported = {name: either([_reported(each, name) for each in able]) for name in (*TERMS, "fragmentation")}
    terms = {name: quantity(ends[1], "GiB") for name, ends in _named(able).items()}
    return replace(
        first,
        low=quantity(device[0], "GiB"),
        expected=quantity(device[1], "GiB"),
        high=quantity(device[2], "GiB"),
        terms=terms,
        largest_term=max(terms, key=lambda name: terms[name].magnitude),
        verdict="does_not_fit" if device[0] > capacity else "fits" if device[2] <= capacity else "at_risk",
        allocated=gib_range(likely(reported.values())),
    )


def gib_range(ends: Ends) -> Range:
    """Return (low, expected, high) in GiB as a range of quantities."""
    return Range(quantity(ends[0], "GiB"), quantity(ends[1], "GiB"), quantity(ends[2], "GiB"))


def _reported(estimate: MemoryEstimate, name: str) -> Ends:
    """Return a term of what the allocator reports: nothing of what it holds back unless reserved memory is meant."""
    if name == "fragmentation" and not estimate.reserved:
        return 0.0, 0.0, 0.0
    return estimate.stages_gib[estimate.fullest].get(name, (0.0, 0.0, 0.0))


def _named(estimates: Sequence[MemoryEstimate]) -> dict[str, Ends]:
    names = dict.fromkeys(name for each in estimates for name in each.terms)
    return {name: outermost([each.stages_gib[each.fullest].get(name, (0.0, 0.0, 0.0)) for each in estimates]) for name in names}
