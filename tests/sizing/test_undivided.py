"""Why no plan divides: the part that was asked for, in words."""

from __future__ import annotations

import pytest

from catalogs import load_catalog
from rules.answers import Answers
from rules.sizing.plan_space import fixed_by
from rules.sizing.undivided import ANYTHING, undivided
from rules.sizing.workload import describe_workload


@pytest.mark.parametrize(
    ("preset", "parts", "gpus", "says"),
    [
        ("llama-3.1-70b", {"tensor": 3}, 96, "tensor 3 does not divide 64 attention heads"),
        ("llama-3.1-70b", {"tensor": 128}, 64, "tensor 128 does not divide 64 attention heads; tensor 128 does not divide 64 GPUs"),
        ("llama-3.1-70b", {"tensor": 8, "pipeline": 7}, 64, "tensor 8 × pipeline 7 does not divide 64 GPUs"),
        ("llama-3.1-70b", {"pipeline": 128}, 128, "pipeline 128 is more than 80 layers"),
        ("llama-3.1-70b", {"micro_batch": 3}, 64, "micro-batches of 3 do not divide a global batch of 128"),
        ("llama-3.1-70b", {"tensor": 1, "pipeline": 1, "context": 1}, 256, "256 data-parallel ranks do not divide a global batch of 128"),
        ("deepseek-v3", {"expert": 7}, 64, "expert 7 does not divide 256 experts"),
        ("llama-3.1-70b", {}, 64, ANYTHING),
    ],
)
def test_the_part_that_does_not_divide_is_named(preset, parts, gpus, says):
    """Llama 3.1 70B has 64 heads and 80 layers [arXiv:2407.21783 table 3], DeepSeek-V3 256 experts [arXiv:2412.19437]."""
    given = Answers.of(
        {"model.preset": preset, "training.global_batch": 128, **{f"parallelism.{key}": each for key, each in parts.items()}}
    )
    assert undivided(describe_workload(given, load_catalog()), gpus, fixed_by(given)) == says
