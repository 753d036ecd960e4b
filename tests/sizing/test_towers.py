"""Towers for images: their shape from a configuration, and what they leave on the first stage, counted by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from catalogs import load_catalog
from rules.sizing.memory import MemoryModel
from rules.sizing.model import shape_from_preset
from rules.sizing.plan_arrays.footprint import Footprint
from rules.sizing.plan_arrays.space import Option, rows_of
from rules.sizing.results import Plan
from rules.sizing.towers import Tower, tower_of
from tests.sizing.test_memory import workload
from wizard.interview import load_interview

CATALOG = load_catalog()
MULTIMODAL = [preset for preset in CATALOG.models if preset.kind == "multimodal"]
QWEN = Tower(27, 1152, 4304, 16, False, 4.0)
"""Qwen3-VL-8B: 27 layers of 1,152, 16 heads, FFN 4,304, 2 × 2 patches to a token [its config.json, vision_config]."""


def test_shape_of_a_tower():
    assert tower_of(CATALOG.models["qwen3-vl-8b"].config) == QWEN
    # 64 × 64 patches of an image of 896 become 256 tokens [Gemma 3, arXiv:2503.19786 §2]
    assert tower_of(CATALOG.models["gemma-3-12b"].config).patches_per_token == 16
    # 32 local and 8 global layers [Llama 3.2 11B Vision, config.json]
    assert tower_of(CATALOG.models["llama-3.2-11b-vision"].config).layers == 40
    assert tower_of({"hidden_size": 4096}) is None
    assert tower_of({"vision_config": {"depth": 27}}) is None


def test_what_a_tower_leaves():
    """Per patch and layer: 16·h for norms, queries, keys, values and output, 4·f for a plain FFN [arXiv:2205.05198 §4 without dropout and
    quadratic part], 4 B log-sum-exp per head; 27 layers, four patches a token, 4,096 tokens of images: 15.8 GB."""
    made = workload(model__preset="qwen3-vl-8b", training__sequence_length=8192, training__image_tokens="50 %")
    kernel, plain = MemoryModel(made), MemoryModel(replace(made, image_share=0.0))
    by_hand = 4096 * 4 * 27 * (16 * 1152 + 4 * 4304 + 4 * 16)
    one = Plan(data=8, zero_stage=3)
    assert kernel.allocated_terms(one)[0][3] - plain.allocated_terms(one)[0][3] == pytest.approx(by_hand, rel=1e-3)
    # four micro-batches in flight on the first of four stages, none on the others
    four = Plan(pipeline=4, data=2)
    added = [with_it[3] - without[3] for with_it, without in zip(kernel.allocated_terms(four), plain.allocated_terms(four), strict=True)]
    assert added == pytest.approx([4 * by_hand, 0, 0, 0], rel=1e-3)
    whole = replace(one, recompute="full")
    # 2 B of each patch's 1,152 at the entry of each layer
    assert kernel.tower(whole).kept == 4096 * 4 * 27 * 2 * 1152


def test_columns_count_towers_too():
    made = workload(model__preset="qwen3-vl-8b", training__sequence_length=8192, training__global_batch=64)
    assert made.image_share == 0.5
    kernel = MemoryModel(made)
    plans = [Plan(data=8), Plan(tensor=2, pipeline=4, data=1), Plan(pipeline=2, data=4, micro_batch=2)]
    footprint = Footprint(kernel, rows_of(plans, 0))
    for option in (Option("none", 1), Option("selective", 1), Option("full", 1)):
        peaks = footprint.peaks(option)
        for row in range(3):
            assert np.array(peaks)[:, row] == pytest.approx(kernel.peak_bytes(footprint.rows.plan(row, option)))


def test_adapters_leave_the_tower_frozen():
    assert workload(model__preset="qwen3-vl-8b", workload__kind="fine_tuning_lora").image_share == 0
    assert "training.image_tokens" in workload(model__preset="qwen3-vl-8b").assumed
    assert workload(model__preset="llama-3.1-8b").image_share == 0


def test_images_are_asked_about_for_every_model_whose_tower_is_known():
    (question,) = [each for each in load_interview().questions if each.key == "training.image_tokens"]
    known = {preset.id for preset in MULTIMODAL if shape_from_preset(preset).tower is not None}
    assert set(question.when["model.preset"]) == known
