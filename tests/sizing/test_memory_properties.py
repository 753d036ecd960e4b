"""What holds of every plan, tried on plans drawn at random: terms add up to the peak, and who shares or recomputes more needs no more."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from itertools import pairwise

import pytest

from catalogs.quantities import quantity
from rules.sizing.memory import MemoryModel, estimate_memory
from rules.sizing.memory_software import FUSED_LOSS, MemoryOptions
from rules.sizing.pipeline import SCHEDULES
from rules.sizing.results import Plan
from tests.sizing.test_memory import workload

GIB = 2.0**30
MODELS = ("llama-3.2-1b", "llama-3.1-8b", "llama-3.1-405b", "mixtral-8x7b", "deepseek-v3", "gpt-oss-120b", "qwen3-30b-a3b")
PRECISIONS = ("bf16", "fp16", "fp8", "mxfp8", "nvfp4", "fp32")
OPTIMIZERS = ("adamw", "adamw_bf16", "adamw_8bit", "adafactor", "lion", "muon", "sgd")
ROUNDING = 1 + 1e-9
SAME_LOSS = MemoryOptions(loss_head=FUSED_LOSS)
"""Without it programs that share gradients are taken to have another loss than those that do not."""


def draws(seed, count=250):
    """Yield memory models with plans that their models allow, from one sequence of a token to a million tokens."""
    chosen = random.Random(seed)
    while count:
        kernel = MemoryModel(
            workload(
                model__preset=chosen.choice(MODELS), training__precision=chosen.choice(PRECISIONS),
                training__optimizer=chosen.choice(OPTIMIZERS), training__sequence_length=chosen.choice((1, 512, 8192, 131_072, 1_000_000)),
                training__global_batch=4096, workload__kind=chosen.choice(("pretraining", "fine_tuning_lora", "fine_tuning_qlora")),
            ),
            SAME_LOSS,
        )  # fmt: skip
        for _ in range(10):
            pipeline, tensor = chosen.choice((1, 2, 8, 16)), chosen.choice((1, 2, 8))
            schedule = chosen.choice(SCHEDULES) if pipeline > 1 else "1f1b"
            experts = [each for each in (1, 2, 4, 8) if kernel.shape.experts and kernel.shape.experts % each == 0]
            plan = Plan(
                tensor=tensor, pipeline=pipeline, context=chosen.choice((1, 4)), data=chosen.choice((8, 64, 512)),
                virtual_stages=chosen.choice((1, 2)) if pipeline > 1 and schedule == "1f1b" else 1, expert=chosen.choice(experts or [1]),
                zero_stage=chosen.choice((0, 1, 2, 3)), micro_batch=chosen.choice((1, 2, 1024)), schedule=schedule,
                recompute=chosen.choice(("none", "selective", "full")), recompute_layers=chosen.choice((0, 1, 3)),
                sequence_parallel=chosen.random() < 0.8,
            )  # fmt: skip
            yield kernel, plan
            count -= 1


@pytest.mark.parametrize("seed", [4, 16])
def test_terms_are_no_less_than_nothing_and_add_up_to_the_peak_of_the_fullest_stage(seed):
    """The verdict, the search and the table of stages rest on one figure."""
    for kernel, plan in draws(seed):
        found = estimate_memory(kernel.workload, plan, quantity(80, "GiB"), kernel)
        peak = kernel.peak_bytes(plan)
        assert 0 < peak[0] <= peak[1] <= peak[2] < math.inf
        for stage in found.stages_gib:
            assert all(0 <= low <= expected * ROUNDING <= high * ROUNDING**2 for low, expected, high in stage.values()), plan.label
        for end in range(3):
            fullest = max(sum(ends[end] for ends in stage.values()) for stage in found.stages_gib)
            assert fullest == pytest.approx(peak[end] / GIB, rel=1e-6), (kernel.shape.name, plan.label)


def test_recomputing_more_needs_no_more_memory():
    for kernel, plan in draws(5):
        for end in range(3):
            kinds = [kernel.peak_bytes(replace(plan, recompute=each, recompute_layers=0))[end] for each in ("none", "selective", "full")]
            assert kinds == sorted(kinds, reverse=True) or max(kinds[1] / kinds[0], kinds[2] / kinds[1]) <= ROUNDING, plan.label
        some = [kernel.peak_bytes(replace(plan, recompute="full", recompute_layers=each))[1] for each in (1, 2, 4, 0)]
        assert all(more <= less * ROUNDING for less, more in pairwise(some)), plan.label


def test_larger_micro_batches_need_no_less_memory():
    for kernel, plan in draws(6):
        sizes = [kernel.peak_bytes(replace(plan, micro_batch=each))[1] for each in (1, 2, 4, 64)]
        assert sizes == sorted(sizes), plan.label


def test_sharing_more_needs_no_more_memory():
    """On eight ranks and more: with the optimizer, gradients, then weights shared. In a pipeline gradients and weights stay whole, so that
    nothing is saved beyond stage 1, and what a layer's gradients take before they are added is all that comes on top."""
    for kernel, plan in draws(7):
        if not kernel.trained.full:
            continue
        peaks = [kernel.peak_bytes(replace(plan, zero_stage=stage))[1] for stage in range(4)]
        if plan.pipeline == 1:
            assert peaks == sorted(peaks, reverse=True), (kernel.shape.name, plan.label)
        else:
            part = max(kernel.stages(plan), key=lambda each: each.dense + each.routed)
            layer = 4 * (max(part.largest_unit, part.root) / plan.tensor + part.routed_unit / plan.expert)
            assert peaks[1] <= peaks[0]
            assert max(peaks[2:]) <= peaks[1] + 1.04 * layer, (kernel.shape.name, plan.label)
            assert min(peaks[2:]) >= 0.5 * peaks[1], "a pipeline accumulates gradients whole"
