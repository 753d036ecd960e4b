"""Memory of models that are no transformers: convolutional networks and recommendation models."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rules.sizing.memory_states import bytes_per_parameter
from rules.sizing.training_bytes import FP32_BYTES, embedding_factor

if TYPE_CHECKING:
    from rules.sizing.memory import MemoryModel, Terms
    from rules.sizing.results import ModelShape, Plan

RESNET_50_ELEMENTS = 11.1e6
"""Elements of all convolution outputs of ResNet-50 for one 224² image [Radosavovic 2020, arXiv:2003.13678; pycls, MODEL_ZOO.md]."""
RESNET_50_GMACS = 4.1
"""Forward multiply-adds of ResNet-50 for one 224² image, in billions [same table]."""
RESNET_50_PIXELS = 224.0**2
COPIES, FEWEST_COPIES, MOST_COPIES = 2.5, 2.0, 3.0
"""Tensors kept per convolution output: the output for batch normalisation, and what the next convolution reads. An activation function
that does not work in place also keeps its input (counted). 256 images in mixed precision, 128 in FP32, are the most that ResNet-50 trains
with on a V100 of 16 GB [Oneflow-Inc/DLPerf, NVIDIA resnet50v1.5]: no more than 2.7."""
CNN_ACTIVATION_EXPONENT = 0.5
"""Activations of a network grow with the root of its multiply-adds at fixed resolution [arXiv:2003.13678 §4.3]."""
FEWEST_OUTPUTS, MOST_OUTPUTS = 0.9, 2.9
"""Outputs of networks over those that this rule gives from ResNet-50: RegNetX 8.0GF has 0.91 times as many, EfficientNet-B5, of depthwise
convolutions, 2.8 times [pycls, MODEL_ZOO.md]."""
INTERACTION_TENSORS = 4.0
"""Pooled embeddings are kept on the sending and the receiving side of the exchange, forward and as gradients."""


SHARDINGS = ("balanced", "table", "row", "column")
"""How embedding tables are laid over GPUs [TorchRec, sharding types]: a planner's mixture, whole tables, rows, or columns of each."""


def table_share(tables: int, gpus: int, sharding: str) -> float:
    """Return the share of all tables' bytes on the fullest GPU.

    By rows or by columns every table is spread evenly, and a planner mixes both so that it comes out even [Mudigere 2022,
    arXiv:2104.05158 §4.2]. Whole tables: of `tables` equal ones a GPU has ⌈tables/gpus⌉, so that more GPUs than tables are idle;
    unequal ones are worse. Raises ValueError for an unknown sharding.
    """
    if sharding not in SHARDINGS:
        raise ValueError(f"no sharding of tables is called {sharding!r}; known are {', '.join(SHARDINGS)}")
    if sharding != "table" or tables <= 0:
        return 1.0 / gpus
    return -(-tables // gpus) / tables


def convolution_outputs(shape: ModelShape) -> float:
    """Return the elements of all convolution outputs for one image: as stated, else from ResNet-50's.

    They grow with the pixels, and at one resolution with the root of the multiply-adds.
    """
    if shape.forward_activations:
        return shape.forward_activations
    pixels = shape.image_size**2 / RESNET_50_PIXELS if shape.image_size else 1.0
    growth: float = (shape.forward_gmacs / pixels / RESNET_50_GMACS) ** CNN_ACTIVATION_EXPONENT
    return RESNET_50_ELEMENTS * pixels * growth


def convolution_ends(shape: ModelShape) -> tuple[float, float]:
    """Return the (low, high) factors of the activations of a convolutional network."""
    fewest, most = (1.0, 1.0) if shape.forward_activations else (FEWEST_OUTPUTS, MOST_OUTPUTS)
    return fewest * FEWEST_COPIES / COPIES, most * MOST_COPIES / COPIES


def other_stage_bytes(model: MemoryModel, plan: Plan) -> Terms:
    """Return the expected bytes of the allocator's terms of a data-parallel model without pipeline stages.

    CNN: all weights on every rank (shared as the ZeRO stage says); activations are `COPIES` of the outputs of its convolutions.
    Recommendation: tables with their optimizer state in fp32 (`table_share` of them on the fullest GPU),
    multilayer perceptrons on every rank; activations are the exchanged embeddings of the local batch.
    """
    shape, workload = model.shape, model.workload
    per_parameter = bytes_per_parameter(model.state, plan.zero_stage, float(plan.data), accumulates=False)
    gpus = plan.gpus
    if shape.kind == "recommendation":
        dense = shape.dense_parameters
        sharding = workload.embedding_sharding
        tables = FP32_BYTES * shape.embedding_parameters * table_share(shape.tables, gpus, sharding)
        parts = min(gpus, max(1, shape.embedding_dim)) if sharding == "column" else 1
        state = tables * (embedding_factor(workload.embedding_optimizer or workload.optimizer, shape.embedding_dim, parts) - 1)
        samples = plan.micro_batch
        exchanged = INTERACTION_TENSORS * samples * max(1, shape.tables) * max(1, shape.embedding_dim) * model.wide
        return tables + dense * per_parameter[0], dense * per_parameter[1], state + dense * per_parameter[2], exchanged, 0.0, 0.0
    size = shape.parameters
    per_image = convolution_outputs(shape) * COPIES * model.wide
    weights, gradients, optimizer = (size * each for each in per_parameter)
    return weights, gradients, optimizer, per_image * plan.micro_batch, 0.0, 0.0
