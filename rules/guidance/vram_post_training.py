"""Judgement of stage vram on what stands beside the trained model: reference, reward and critic models, the engine that samples."""

# ruff: noqa: E712 - `F.flag == True` declares a comparison; it is not a truth test

from __future__ import annotations

from rules.findings import Kind, Stage, Strength
from rules.guidance.declare import Ask, F, Rule

_STAGE = Stage.VRAM

POST_TRAINING_RULES: tuple[Rule, ...] = (
    Rule(
        id="vram.other_models",
        stage=_STAGE,
        kind=Kind.DECISION,
        strength=Strength.STRONG,
        when=(F.has_plan == True, F.other_model_count > 0),
        guidance=("G7.1", "G1a.1"),
        because=(
            "{post_training} keeps {other_model_count} model(s) of the same size beside the trained one; spread over all GPUs they take "
            "{other_models_gib} of the fullest GPU."
        ),
        decides=("memory.other_models", "{other_model_count} beside the trained one"),
    ),
    Rule(
        id="vram.rollout_engine",
        stage=_STAGE,
        kind=Kind.QUESTION,
        strength=Strength.STRONG,
        when=(F.has_plan == True, F.samples == True),
        guidance=("G7.1", "G1a.2"),
        because=(
            "{post_training} samples answers between training steps; the engine is {rollout}. Its cache and the time in which it samples "
            "are no part of this design."
        ),
        ask=Ask(
            to="your software team",
            ask="How much of each GPU does the engine that samples keep while the model trains, and which share of the time does it run?",
            good_answer="at most {headroom_gib} per GPU, or none: it sleeps, or has GPUs of its own",
        ),
    ),
)
"""Rules on post-training."""
