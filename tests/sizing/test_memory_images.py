"""Memory of models that look at images: transformers and convolutional networks, against batches that ran and did not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rules.sizing.memory import MemoryModel
from rules.sizing.memory_overheads import TERMS
from rules.sizing.results import ModelShape, Plan
from tests.sizing.test_memory import workload
from tests.sizing.test_memory_scope import GIB, state


def test_images_of_a_vision_transformer():
    """ViT-L/16 has 304 million parameters [arXiv:2010.11929 table 1] and 197 tokens an image."""
    vit = workload(workload__kind="vision", model__preset="vit-l-16", training__global_batch=1024)
    assert state(vit, Plan(data=8)) / 18 == pytest.approx(304e6, rel=0.02)
    assert vit.sequence_length == 197


V100_16 = 15.77 * GIB
"""What a V100 of 16 GB offers to CUDA."""

CONVOLUTIONAL = [
    # 8 V100 of 16 GB: ran or not. ResNet-50 in PyTorch, "max batch size = 256" in mixed precision [Oneflow-Inc/DLPerf, NVIDIA resnet50v1.5]
    ("resnet50", "fp16", 256, True),
    ("resnet50", "fp32", 128, True),
    ("resnet50", "fp16", 512, False),
    # the largest batch with Apex O2 on another cluster of V100 [NCSA HAL, distributed ResNet-50]
    ("resnet50", "fp16", 208, True),
    # batches of pycls, in FP32 [facebookresearch/pycls, MODEL_ZOO.md]
    ("resnext101-32x4d", "fp32", 32, True),
    ("efficientnet-b0", "fp32", 32, True),
    ("efficientnet-b4", "fp32", 16, True),
    # 48.5 million outputs an image, two copies of four bytes: 25 GB
    ("efficientnet-b4", "fp32", 64, False),
]


@pytest.mark.parametrize(("model", "precision", "batch", "ran"), CONVOLUTIONAL)
def test_batches_of_convolutional_networks(model, precision, batch, ran):
    made = workload(
        workload__kind="vision",
        model__preset=model,
        training__global_batch=8 * batch,
        training__optimizer="sgd",
        training__precision=precision,
    )
    low, _, _ = MemoryModel(made).peak_bytes(Plan(data=8, micro_batch=batch))
    assert (low <= V100_16) == ran


OUTPUTS = [
    # millions of outputs of all convolutions, of networks that are not in the catalog: multiply-adds, image, outputs [pycls, MODEL_ZOO.md]
    ("ResNet-152", 11.5, 224, 22.6),
    ("RegNetX-3.2GF", 3.2, 224, 11.4),
    ("RegNetX-8.0GF", 8.0, 224, 14.1),
    ("RegNetY-32GF", 32.3, 224, 30.3),
    ("ResNeXt-50", 4.2, 224, 14.4),
    ("EfficientNet-B2", 1.0, 260, 13.8),
    ("EfficientNet-B5", 9.9, 456, 98.9),
]


@pytest.mark.parametrize(("gmacs", "image", "outputs"), [row[1:] for row in OUTPUTS], ids=[row[0] for row in OUTPUTS])
def test_range_of_networks_whose_outputs_are_not_known(gmacs, image, outputs):
    shape = ModelShape("some network", "cnn", forward_gmacs=gmacs, parameters=30e6, image_size=image)
    made = replace(workload(workload__kind="vision", model__preset="resnet50", training__global_batch=512), model=shape)
    kernel, plan, at = MemoryModel(made), Plan(data=8, micro_batch=64), TERMS.index("activations")
    expected, (down, up) = kernel.allocated_terms(plan)[0][at], kernel.ends(plan)[at]
    # two copies where activation functions work in place, three where not, in 16 bits
    assert expected * down <= 2 * 2 * 64 * outputs * 1e6
    assert expected * up >= 3 * 2 * 64 * outputs * 1e6
