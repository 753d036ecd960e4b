"""What experts cost beside their products, by hand, and what fusing their kernels saves."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rules.sizing.results import ModelShape, Plan
from rules.sizing.step import step_model
from rules.sizing.techniques import TUNED as TUNED_CODE
from tests.sizing.test_step import hardware, workload

QWEN3_30B = ModelShape(
    "qwen3-30b", "moe", layers=48, hidden_size=2048, ffn_size=6144, attention_heads=32, key_value_heads=4, head_dim=128,
    vocabulary_size=151_936, attention="gqa", experts=128, experts_per_token=8, expert_ffn_size=768,
)  # fmt: skip


def test_fused_experts_leave_out_what_activation_cast_and_permutation_move():
    """By hand for Qwen3 30B, bytes per token and layer: 8 experts × 768 × (6 activation + 4 cast) forward, twice as much backward;
    8 × 2,048 × 8 to reorder in either pass; 446,464 in all, at 0.75 of the memory's bandwidth. 16 local experts take 22 kernels of 7 µs.
    """
    machine, plan = hardware("nvidia-gb200-nvl72"), Plan(expert=8, data=8, zero_stage=1, micro_batch=4)
    work = workload(QWEN3_30B, 4096, 512, "mxfp8")
    fused, plain = (
        step_model(work, machine, techniques=TUNED_CODE._replace(fused_experts=each)).block(plan).elementwise for each in (True, False)
    )
    assert plain - fused == pytest.approx(446_464 * 4 * 4096 / (0.75 * machine.hbm_bytes_per_s) + 16 * 22 * 7e-6)


def test_biases_of_experts_are_added_in_passes_of_their_own():
    """By hand: 8 experts × 2,048 elements × (28 + 40) bytes per token and layer; a bias of dense layers is part of their products."""
    machine, plan = hardware("nvidia-gb200-nvl72"), Plan(expert=8, data=8, zero_stage=1, micro_batch=4)
    biased, bare = (
        step_model(workload(replace(QWEN3_30B, ffn_bias=each), 4096, 512), machine).block(plan).elementwise for each in (True, False)
    )
    assert biased - bare == pytest.approx(8 * 2048 * 68 * 4 * 4096 / (0.75 * machine.hbm_bytes_per_s))


def test_inside_a_domain_only_whole_step_graphs_hide_the_exchange_of_experts():
    """Recipes overlap exchanges that cross servers and those of whole-step graphs [Megatron Bridge, moe_a2a_overlap]."""
    rack, plan = hardware("nvidia-gb200-nvl72"), Plan(expert=8, data=8, zero_stage=1, micro_batch=4)
    traffic = {
        precision: step_model(workload(QWEN3_30B, 4096, 512, precision), rack).block(plan).traffic.expert for precision in ("mxfp8", "bf16")
    }
    assert traffic["bf16"] == pytest.approx(2 * traffic["mxfp8"])


@pytest.mark.parametrize(("node", "precision"), [("nvidia-gb200-nvl72", "bf16"), ("nvidia-dgx-h100", "fp8")])
def test_other_formats_and_gpus_have_no_fused_experts(node, precision):
    work, plan = workload(QWEN3_30B, 4096, 512, precision), Plan(expert=8, data=8, zero_stage=1, micro_batch=4)
    fused, plain = (
        step_model(work, hardware(node), techniques=TUNED_CODE._replace(fused_experts=each)).block(plan).elementwise
        for each in (True, False)
    )
    assert fused == plain


def test_a_workload_whose_release_runs_experts_one_by_one_is_planned_so():
    machine, plan = hardware("nvidia-gb200-nvl72"), Plan(expert=8, data=8, zero_stage=1, micro_batch=4)
    today = workload(QWEN3_30B, 4096, 512, "mxfp8")
    before = step_model(replace(today, fused_experts=False), machine).time(plan).total
    assert before == step_model(today, machine, techniques=TUNED_CODE._replace(fused_experts=False)).time(plan).total
    assert before > 1.2 * step_model(today, machine).time(plan).total


def test_what_enters_an_experts_activation_is_clamped_in_passes_of_its_own():
    """By hand, 16 bits: both halves are clamped (read, written: 8 bytes per neuron) and concatenated (8); backward the clamps read gradient
    and input and write (12), and the halves are concatenated (8). Fused experts clamp inside their products."""
    machine, plan = hardware("nvidia-gb200-nvl72"), Plan(expert=8, data=8, zero_stage=1, micro_batch=4)
    again = replace(plan, recompute="selective", recompute_modules=("activation",))
    moved = 8 * 768 * 4 * 4096 / (0.75 * machine.hbm_bytes_per_s)
    bf16, fused = (
        [step_model(workload(replace(QWEN3_30B, ffn_clamped=each), 4096, 512, precision), machine) for each in (True, False)]
        for precision in ("bf16", "mxfp8")
    )
    clamped, free = (each.block(plan).elementwise for each in bf16)
    assert clamped - free == pytest.approx(36 * moved)
    repeated = [each.block(again).repeated("selective", 0.0) for each in bf16]
    assert repeated[0] - repeated[1] == pytest.approx(16 * moved)
    assert fused[0].block(plan).elementwise == fused[1].block(plan).elementwise
