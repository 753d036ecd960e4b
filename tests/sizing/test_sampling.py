"""The engine that samples: its cache per token against printed figures, what fits at once, and the least time."""

from __future__ import annotations

import pytest

from catalogs import load_catalog
from catalogs.quantities import quantity
from rules.sizing.memory import estimate_memory
from rules.sizing.memory_notes import memory_notes
from rules.sizing.memory_report import beside_training
from rules.sizing.model import shape_from_preset
from rules.sizing.results import Plan
from rules.sizing.sampling import Engine, at_once, cached_token_bytes, engine_of, least_seconds
from tests.sizing.test_memory import workload

CATALOG = load_catalog()
GIB = 2.0**30


@pytest.mark.parametrize(
    ("preset", "tensor", "printed"),
    [
        ("opt-13b", 1, 2 * 40 * 5120 * 2),  # 800 KB for a token: 2 · 5,120 · 40 · 2 [arXiv:2309.06180 §2]
        ("llama-3.1-405b", 1, 516_096),  # 516 KB [arXiv:2505.09343 table 1]
        ("llama-3.1-405b", 16, 516_096 / 8),  # eight heads are split over eight GPUs at most
        ("deepseek-v3", 1, 70_272),  # 70 KB [same]
        ("deepseek-v3", 8, 70_272),  # the latent is whole on each
        ("qwen2.5-72b", 1, 327_680),  # 328 KB [same]
    ],
)
def test_cache_of_a_token(preset, tensor, printed):
    assert cached_token_bytes(shape_from_preset(CATALOG.models[preset]), tensor) == pytest.approx(printed, rel=0.003)


def test_engine_of_a_step():
    """GRPO of Llama 3.1 8B on 8 GPUs, TP 2: four engines write 64 of 256 sequences each; 8,192 tokens take 0.5 GiB on each GPU."""
    base = {"workload__kind": "fine_tuning_full", "model__preset": "llama-3.1-8b", "training__sequence_length": 8192}
    made = workload(**base, training__global_batch=256, training__post_training="grpo", training__rollout="sleeping")
    plan = Plan(tensor=2, data=4, zero_stage=1)
    engine = engine_of(made, plan)
    assert engine is not None
    assert (engine.sequences, engine.sequence / GIB) == (64, 0.5)
    assert engine.weights == pytest.approx(8.03e9, rel=0.002)
    assert at_once(engine, 10 * GIB) == 20
    assert at_once(engine, 100 * GIB) == 64
    assert at_once(engine, -1.0) == 0
    assert engine_of(workload(**base), plan) is None
    told = " ".join(memory_notes(made, plan, 0))
    assert "64 sequences" in told
    assert "32 GiB" in told
    memory = estimate_memory(made, plan, quantity(80, "GiB"))
    (peak,) = [each for each in beside_training(memory, made, plan, CATALOG, 3.35e12) if each.name == "sampling"]
    # 2 B weights beside 12/4 B of master weights and moments, half of 8.03 billion parameters each, and the engine's
    assert peak.needed[1] - peak.needed[0] == pytest.approx(8.03e9 / 2 * 5 / GIB, rel=0.01)
    assert "of 64 sequences fit at once" in peak.most_where


def test_least_time_of_sampling():
    """At 2 TB/s, 16 GB of weights and 8 sequences of 1 GB that are half full take 10 ms a token: 1,000 tokens, twice, 20 s."""
    engine = Engine(16e9, 1e6, 16, 1000)
    assert least_seconds(engine, 8, 2e12) == pytest.approx(20.0)
