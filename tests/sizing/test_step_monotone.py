"""Hardware that is faster in one thing makes no step slower: links, adapters, memory, arithmetic, on random plans."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from catalogs import load_catalog
from rules.answers import Answers
from rules.sizing.hardware import hardware_of
from rules.sizing.results import Plan
from rules.sizing.step import step_model
from rules.sizing.workload import describe_workload

CATALOG = load_catalog()
NODE = CATALOG.nodes["nvidia-dgx-h100"]
HARDWARE = hardware_of(NODE, CATALOG.gpus[NODE.gpu], CATALOG)
FASTER = ("nic_bytes_per_s", "scale_up_bytes_per_s", "hbm_bytes_per_s")
PLANS = 150


def plans(experts: bool) -> list[Plan]:
    """Return random plans, with experts on as many ranks as there are."""
    chosen, made = random.Random(3), []
    while len(made) < PLANS:
        tensor, context, data = chosen.choice((1, 2, 4, 8)), chosen.choice((1, 2, 4)), chosen.choice((8, 16, 32, 64))
        expert = chosen.choice((1, 8, 16, 32)) if experts else 1
        if expert <= tensor * context * data:
            made.append(
                Plan(
                    tensor=tensor, pipeline=chosen.choice((1, 2, 4, 8)), context=context, expert=expert, data=data,
                    zero_stage=chosen.choice((0, 1, 2, 3)), micro_batch=chosen.choice((1, 2, 4)),
                    recompute=chosen.choice(("none", "selective", "full")),
                )
            )  # fmt: skip
    return made


@pytest.mark.parametrize(("preset", "sequence"), [("llama-3.1-70b", 8192), ("deepseek-v3", 4096)])
def test_a_faster_part_never_makes_a_step_slower(preset, sequence):
    answers = Answers.of({"model": {"preset": preset}, "training": {"global_batch": 15_360, "sequence_length": sequence}})
    workload = describe_workload(answers, CATALOG)
    slow = step_model(workload, HARDWARE)
    for key in FASTER:
        fast = step_model(workload, replace(HARDWARE, **{key: 1.5 * getattr(HARDWARE, key)}))
        for plan in plans(workload.model.experts > 0):
            assert fast.time(plan).total <= slow.time(plan).total * (1 + 1e-12), (key, plan.label)
