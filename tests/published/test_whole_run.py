"""A whole run from tokens to days, through checkpoints, failures and restarts: Llama 3 405B on 16,384 H100 [arXiv:2407.21783].

Printed there: 15.6 trillion tokens and 3.8e25 FLOPs (§3.2), TP8 PP16 at 400 TFLOP/s per GPU for 16,384 GPUs (table 4), and in a snapshot of
54 days 419 unexpected interruptions with more than 90 % effective training time (§3.3.4).
"""

from __future__ import annotations

import pytest

from catalogs import load_catalog
from catalogs.quantities import quantity
from rules.advisor import consider
from rules.answers import Answers
from rules.sizing.reliability import effective_days, goodput_of
from rules.sizing.results import Range

GPUS, TOKENS, TRAINING_FLOPS, PRINTED_FLOPS_PER_GPU = 16_384, "15.6T", 3.8e25, 400e12
SNAPSHOT_DAYS, INTERRUPTIONS, EFFECTIVE = 54, 419, 0.90
ANSWERS = Answers.of(
    {
        "model": {"preset": "llama-3.1-405b"},
        "training": {"tokens": TOKENS, "global_batch": 2048, "sequence_length": 8192, "precision": "bf16"},
        "scale": {"mode": "fixed", "nodes": GPUS // 8},
        "preferences": {"nodes": ["nvidia-dgx-h100"]},
        "parallelism": {"mode": "given", "tensor": 8, "pipeline": 16, "context": 1},
    }
)


@pytest.fixture(scope="module")
def candidate():
    chosen = consider(ANSWERS, load_catalog()).ranking.chosen
    assert chosen is not None
    return chosen.candidate


def test_undisturbed_training_takes_what_flops_and_rate_say(candidate):
    """3.8e25 / (16,384 · 400e12) seconds are 67 days; the model may be off by its own range."""
    step = candidate.choice.step
    days = [15.6e12 / (2048 * 8192) * each.to("s").magnitude / 86_400 for each in (step.low, step.expected, step.high)]
    printed = TRAINING_FLOPS / (GPUS * PRINTED_FLOPS_PER_GPU) / 86_400
    assert printed == pytest.approx(67.1, abs=0.1)
    assert days[0] <= printed <= days[2]
    assert days[1] == pytest.approx(printed, rel=0.15)


def test_failures_and_checkpoints_leave_more_than_nine_tenths(candidate):
    found = candidate.reliability
    assert EFFECTIVE < found.goodput < 0.96
    assert found.job_mtbf.expected.to("hour").magnitude == pytest.approx(SNAPSHOT_DAYS * 24 / INTERRUPTIONS, rel=0.02)


def test_the_run_takes_its_days_over_the_effective_share(candidate):
    found, step = candidate.reliability, candidate.choice.step
    undisturbed = 15.6e12 / step.units_per_second / 86_400
    assert found.run_time.expected.to("day").magnitude == pytest.approx(undisturbed / found.goodput, rel=0.01)
    printed = TRAINING_FLOPS / (GPUS * PRINTED_FLOPS_PER_GPU) / 86_400 / EFFECTIVE
    assert found.run_time.low.to("day").magnitude <= printed <= found.run_time.high.to("day").magnitude


def test_the_work_of_the_snapshot_takes_54_days():
    """At least 0.9 · 54 = 48.6 days of progress were made in 54 days: with our failures, checkpoints and restarts they take 50 to 54."""
    catalog = load_catalog()
    goodput = goodput_of(catalog.gpus["nvidia-h100-sxm-80gb"], GPUS, catalog, 405e9 * 14)
    worked = quantity(EFFECTIVE * SNAPSHOT_DAYS, "day")
    days = effective_days(Range(worked, worked, worked), goodput)
    assert 50 <= days.expected.to("day").magnitude <= SNAPSHOT_DAYS
    assert days.low.to("day").magnitude <= SNAPSHOT_DAYS <= days.high.to("day").magnitude
