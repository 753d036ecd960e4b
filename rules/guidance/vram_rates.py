"""Rules on what the GPU's matrix units and memory sustain: precision, throughput under load, memory bandwidth."""

# ruff: noqa: E712 - `F.flag == True` declares a comparison; it is not a truth test

from __future__ import annotations

from rules.findings import Kind, Stage, Strength
from rules.guidance.declare import Ask, F, Fix, Rule

_STAGE = Stage.VRAM
_OTHER_GPU = Fix("preferences.gpus", "name a GPU that computes in this format")

HIGHEST_RIDGE = 250.0
"""Sustained 16-bit operations per byte of memory traffic up to which memory keeps pace as on the GPUs of the large published runs: 134
(A100) to 230 (GB300) by the catalog's sustained rates and bandwidths. Above are cards with less memory bandwidth for their arithmetic."""

RATE_RULES: tuple[Rule, ...] = (
    Rule(
        id="vram.bandwidth",
        stage=_STAGE,
        kind=Kind.DECISION,
        strength=Strength.STRONG,
        when=(F.operations_per_byte <= HIGHEST_RIDGE,),
        guidance=("G1d.1",),
        because=(
            "{gpu} reads {memory_kind} at {memory_bandwidth_gb_per_s}, {operations_per_byte} sustained 16-bit operations per byte: norms, "
            "activation functions and optimizer steps, which do few operations per byte, run at the memory's speed."
        ),
        decides=("memory.technology", "{memory_kind} at {memory_bandwidth_gb_per_s}"),
        sources=("ml-engineering-accelerators",),
        judgement="the GPUs of the large published runs lie at 134 (A100) to 230 (GB300) operations per byte; 250 is beyond them",
    ),
    Rule(
        id="vram.bandwidth_low",
        stage=_STAGE,
        kind=Kind.WARNING,
        strength=Strength.ADVICE,
        when=(F.operations_per_byte > HIGHEST_RIDGE,),
        guidance=("G1d.1",),
        because=(
            "{gpu} reads {memory_kind} at {memory_bandwidth_gb_per_s}, but sustains {operations_per_byte} 16-bit operations per byte, more "
            "than the GPUs of large runs (A100 134, B200 196, H100 224): norms, activation functions and optimizer steps take a larger "
            "share of its step."
        ),
        fix=(Fix("preferences.gpus", "name a GPU with more memory bandwidth for its arithmetic"),),
        sources=("ml-engineering-accelerators",),
        judgement="the GPUs of the large published runs lie at 134 (A100) to 230 (GB300) operations per byte; 250 is beyond them",
    ),
    Rule(
        id="vram.precision_unsupported",
        stage=_STAGE,
        kind=Kind.REJECT,
        strength=Strength.HARD,
        when=(F.precision_in_gpu == False,),
        guidance=("G1b.2",),
        thresholds=("sw-fp8-hw",),
        because="The matrix units of {gpu} compute in {gpu_precisions}; {precision} is not among them.",
        fix=(Fix("training.precision", "train in BF16, which every current data-centre GPU has", "bf16"), _OTHER_GPU),
        priority=30,
    ),
    Rule(
        id="vram.rate_estimated",
        stage=_STAGE,
        kind=Kind.WARNING,
        strength=Strength.ADVICE,
        when=(F.precision_in_gpu == True, F.sustained_measured == False),
        guidance=("G1b.3",),
        because=(
            "No sustained rate of {gpu} in {precision} was measured: {sustained_tflops}, {sustained_percent} of its peak, is what kindred "
            "GPUs reach. The time of a step rests on it."
        ),
        ask=Ask(
            to="GPU vendor",
            ask="Which rate does {gpu} hold for an hour on square {precision} matrix products of 8,192 and more, at its power limit?",
            good_answer="at least {sustained_tflops}",
        ),
    ),
    Rule(
        id="vram.sustained_share",
        stage=_STAGE,
        kind=Kind.QUESTION,
        strength=Strength.STRONG,
        when=(F.has_plan == True,),
        writes=("asked_share",),
        guidance=("G5.6", "G1b.3"),
        because=(
            "The design counts on {achieved_tflops} of model arithmetic per GPU, {achieved_percent} of the dense peak of {peak_tflops}."
        ),
        ask=Ask(
            to="server vendor",
            ask=(
                "Which share of peak does a training run like {model} in {precision} on {gpu_count} of {gpu} sustain over a day, and at "
                "which clocks and power?"
            ),
            good_answer="at least {achieved_tflops} per GPU ({achieved_percent} of {peak_tflops}), measured over a day",
        ),
    ),
    Rule(
        id="vram.throughput",
        stage=_STAGE,
        kind=Kind.DECISION,
        strength=Strength.STRONG,
        when=(F.precision_in_gpu == True,),
        guidance=("G1b.1", "G1b.3"),
        because=(
            "In {precision} large matrix products run at {sustained_tflops} on {gpu}, {sustained_percent} of the dense peak of "
            "{peak_tflops}; candidates are compared by the first figure."
        ),
        decides=("performance.matrix_rate", "{sustained_tflops} sustained in {precision}"),
    ),
)
