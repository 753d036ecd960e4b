"""Bytes that training keeps per parameter and per activation element, by precision and optimizer.

Sources: mixed precision with fp32 master weights and fp32 main gradients, 18 bytes per parameter with AdamW [ml-engineering
book, training/performance; Megatron Core optimizer documentation]; optimizers [ml-engineering, same page; Dettmers 2021,
arXiv:2110.02861 for 8-bit; Chen 2023, arXiv:2302.06675 for Lion; Jordan 2024 for Muon]; quantised base weights [Dettmers 2023,
arXiv:2305.14314 §3]; FP8 and micro-scaled formats [Transformer Engine documentation; OCP MX 1.0].
"""

from __future__ import annotations

from dataclasses import dataclass

FP32_BYTES = 4.0
"""Bytes of an fp32 number."""
BF16_BYTES = 2.0
"""Bytes of a bf16 or fp16 number."""
MAIN_GRADIENT_BYTES = 4.0
"""Gradients are accumulated in fp32, the default of Megatron Core for bf16 and of fp32-reduced FSDP."""
NF4_BYTES = 4.127 / 8
"""A parameter in 4-bit NormalFloat with doubly quantised constants, 4.127 bits [arXiv:2305.14314 §3]."""
FP8_INPUT_BYTES = 1.0
"""Bytes of a matrix product's saved input in FP8 [Transformer Engine]."""
MXFP8_INPUT_BYTES = 1.0 + 1.0 / 32
"""The same in MXFP8: one scale byte per 32 elements [OCP Microscaling Formats 1.0 §5.2]."""
NVFP4_INPUT_BYTES = 0.5 + 1.0 / 16
"""The same in NVFP4: one scale byte per 16 elements [NVIDIA, Transformer Engine documentation]."""

WEIGHT_BYTES: dict[str, tuple[float, float, float]] = {
    "fp8": (1.0, 2.0, 4.0),
    "mxfp8": (2 * MXFP8_INPUT_BYTES, 2 * MXFP8_INPUT_BYTES, BF16_BYTES + 2 * MXFP8_INPUT_BYTES),
    "nvfp4": (BF16_BYTES, BF16_BYTES + 2 * NVFP4_INPUT_BYTES, BF16_BYTES + 2 * NVFP4_INPUT_BYTES),
}
"""Bytes per parameter of a layer that products read in low precision, at least, expected and at most, where weights are not sharded. FP8
weights may be all there is (`--fp8-param-gather`), with their transpose where the hardware cannot read it otherwise (Hopper), or both may
be cached beside BF16 weights; MXFP8 and NVFP4 have scales of their own in each direction, and NVFP4 is cast from BF16 weights for each
product or cached. Programs that shard weights fully cast for each product [Transformer Engine, handling transposes, and FP8 weight
caching; Megatron-LM, fp8_param_gather; torchao]."""

THRESHOLDS_IN_FORMULAS = {
    "vram-bytes-adam-18": "rules.sizing.training_bytes.state_bytes",
    "vram-bytes-adam-16": "rules.sizing.training_bytes.state_bytes",
    "vram-optimizer-bytes": "rules.sizing.training_bytes.OPTIMIZER_BYTES",
    "vram-peft": "rules.sizing.memory_states.TrainedShare",
}
"""Thresholds of the catalog that these tables apply: id -> where."""


@dataclass(frozen=True)
class StateBytes:
    """Bytes per trained parameter: the weights that the products read, gradients, fp32 master weights, optimizer moments."""

    weight: float
    gradient: float
    master: float
    moments: float

    @property
    def total(self) -> float:
        """Return the sum without any sharding."""
        return self.weight + self.gradient + self.master + self.moments


OPTIMIZER_BYTES: dict[str, float] = {
    "adamw": 8.0,
    "adamw_bf16": 4.0,
    "adamw_8bit": 2.0,
    "adafactor": 4.0,
    "lion": 4.0,
    "lion_8bit": 1.0,
    "muon": 4.0,
    "sgd": 4.0,
    "adagrad": 4.0,
}
"""Moments per parameter: two fp32 for AdamW (two bf16, two 8-bit), one in 8 bits for 8-bit Lion, one fp32 for momentum, Lion, Muon,
Adagrad, and Adafactor with a first moment; Adafactor's factored second moment is a row and a column per matrix and is left out."""

NARROW_OPTIMIZERS = ("adamw_bf16", "adamw_8bit", "lion_8bit")
"""Optimizers whose moments are in 16 or 8 bits whatever the weights are."""

LEAST_MOMENTS: dict[str, float] = {"adafactor": 0.0, "sgd": 0.0}
"""Moments of optimizers that run without momentum too: Adafactor unless beta1 is given [Transformers], SGD unless momentum is [PyTorch]."""

ROOT_MOMENTS: dict[str, float] = {"muon": 4.0}
"""Bytes that embedding and head keep beyond a layer's parameter: Muon takes matrices of layers alone and leaves the rest to AdamW with a
second fp32 moment [Jordan 2024; Moonlight, arXiv:2502.16982 §2.2]. Norms are too few to count."""

EMBEDDING_FACTOR: dict[str, float] = {"sgd": 1.0, "adamw": 3.0, "adamw_bf16": 2.0, "adamw_8bit": 1.5}
"""Memory of an embedding table with its optimizer, as a multiple of its fp32 weights: plain SGD keeps none, Adam two more
[NVIDIA DeepLearningExamples, DLRM with SGD and DCNv2 with Adam]; other optimizers are taken row-wise: (1 + 1/dim)."""

_INPUT_BYTES = {"fp8": FP8_INPUT_BYTES, "mxfp8": MXFP8_INPUT_BYTES, "nvfp4": NVFP4_INPUT_BYTES, "fp32": FP32_BYTES, "tf32": FP32_BYTES}


def state_bytes(precision: str, optimizer: str) -> StateBytes:
    """Return the bytes per trained parameter.

    With bf16 and fp16: 2 weight + 4 gradient + 4 master + moments, 18 with AdamW (16 where a framework keeps 16-bit gradients,
    which the low end of the range covers). FP8, MXFP8 and NVFP4 count like bf16: `WEIGHT_BYTES`
    says what their copies take on a GPU, of which none is saved. FP32 and TF32: 4 weight + 4 gradient + moments.
    Raises KeyError for an unknown optimizer.
    """
    moments = OPTIMIZER_BYTES[optimizer]
    if precision in ("fp32", "tf32"):
        return StateBytes(FP32_BYTES, FP32_BYTES, 0.0, moments)
    return StateBytes(BF16_BYTES, MAIN_GRADIENT_BYTES, FP32_BYTES, moments)


def narrow_state_bytes(precision: str, optimizer: str) -> StateBytes:
    """Return the same for weights in 16 bits that have no 32-bit copy: gradients and moments in 16 bits too, 8 bytes with AdamW.

    PyTorch makes gradients and optimizer state in the type of their parameter; optimizers of fewer bits keep theirs
    [PyTorch, torch.optim; Lightning, precision "bf16-true"]. With FP32 there is nothing to leave out. Raises KeyError.
    """
    whole = state_bytes(precision, optimizer)
    if not whole.master:
        return whole
    moments = whole.moments if optimizer in NARROW_OPTIMIZERS else whole.moments / 2
    return StateBytes(whole.weight, BF16_BYTES, 0.0, moments)


def element_bytes(precision: str) -> float:
    """Return the bytes of an activation element that is kept in the training's wide type."""
    return FP32_BYTES if precision in ("fp32", "tf32") else BF16_BYTES


def product_input_bytes(precision: str) -> float:
    """Return the bytes of an element that is kept only as the input of a matrix product, quantised where the products are."""
    return _INPUT_BYTES.get(precision, BF16_BYTES)


def embedding_factor(optimizer: str, dim: int, parts: int = 1) -> float:
    """Return the memory of an embedding table with its optimizer state over its fp32 weights; `dim` is the embedding dimension.

    `parts`: into how many parts columns are split; an optimizer by rows keeps its value for each part of a row.
    """
    return EMBEDDING_FACTOR.get(optimizer, 1.0 + parts / max(1, dim))
