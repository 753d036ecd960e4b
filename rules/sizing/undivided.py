"""Which part of a plan that was asked for divides nothing: heads, layers, experts, GPUs or the batch."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from rules.sizing.step import is_transformer

if TYPE_CHECKING:
    from rules.sizing.plan_space import Fixed
    from rules.sizing.results import Workload

ANYTHING = "heads, layers, experts and the batch leave none"


def undivided(workload: Workload, gpus: int, fixed: Fixed) -> str:
    """Return in words why no plan with the `fixed` parts runs on `gpus` devices; what is wrong with single parts first."""
    shape, batch = workload.model, workload.global_batch
    if not is_transformer(shape):
        return ANYTHING
    tensor, pipeline, context, expert, micro = fixed.tensor, fixed.pipeline, fixed.context, fixed.expert, fixed.micro_batch
    found = []
    if tensor and shape.attention_heads % tensor:
        found.append(f"tensor {tensor:,} does not divide {shape.attention_heads:,} attention heads")
    if pipeline and pipeline > shape.layers:
        found.append(f"pipeline {pipeline:,} is more than {shape.layers:,} layers")
    if expert and shape.experts and shape.experts % expert:
        found.append(f"expert {expert:,} does not divide {shape.experts:,} experts")
    named = {name: size for name, size in (("tensor", tensor), ("pipeline", pipeline), ("context", context)) if size}
    inside = prod(named.values())
    if gpus % inside:
        sizes = " × ".join(f"{name} {size:,}" for name, size in named.items())
        found.append(f"{sizes} does not divide {gpus:,} GPUs")
    if micro and batch % micro:
        found.append(f"micro-batches of {micro:,} do not divide a global batch of {batch:,}")
    data = gpus // inside
    if len(named) == len(("tensor", "pipeline", "context")) and not found and batch % (data * (micro or 1)):
        found.append(f"{data:,} data-parallel ranks do not divide a global batch of {batch:,}")
    return "; ".join(found) or ANYTHING
