"""Plans that were tuned by hand and published: the search finds one that our own model rates at least as good, and says why."""

from __future__ import annotations

import pytest

from catalogs import load_catalog
from rules.answers import Answers
from rules.sizing.hardware import hardware_of
from rules.sizing.plan_report import report_plans
from rules.sizing.results import Plan
from rules.sizing.workload import describe_workload
from wizard.imports.run_machines import Machines

CATALOG = load_catalog()

PUBLISHED = {
    # model, training, GPU server or GPU, plan, source
    "Llama 3 405B on 16,384 H100": (
        {"model": {"preset": "llama-3.1-405b"}, "training": {"global_batch": 2048, "sequence_length": 8192, "precision": "bf16"}},
        "nvidia-dgx-h100",
        Plan(tensor=8, pipeline=16, data=128, zero_stage=1, micro_batch=1, virtual_stages=8, recompute="selective"),
        "arXiv:2407.21783 table 4; interleaving and recomputation are not stated",
    ),
    "DeepSeek-V3 on 2,048 H800": (
        {"model": {"preset": "deepseek-v3"}, "training": {"global_batch": 15_360, "sequence_length": 4096, "precision": "fp8"}},
        "H800",
        Plan(pipeline=16, expert=64, data=128, zero_stage=1, micro_batch=1, recompute="selective"),
        "arXiv:2412.19437 §3.2",
    ),
    "GPT 1T on 512 A100": (
        {"model": {"preset": "megatron-gpt-1t"}, "training": {"global_batch": 512, "sequence_length": 2048, "precision": "bf16"}},
        "nvidia-dgx-a100-640gb",
        Plan(tensor=8, pipeline=64, data=1, zero_stage=0, micro_batch=1, recompute="selective"),
        "arXiv:2205.05198 table 3",
    ),
}


def hardware(name: str):
    if name in CATALOG.nodes:
        node = CATALOG.nodes[name]
        return hardware_of(node, CATALOG.gpus[node.gpu], CATALOG)
    found = Machines(CATALOG).get(name)
    assert found is not None
    return found


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_search_finds_a_plan_at_least_as_good_and_explains_the_difference(name):
    sections, machine, plan, _ = PUBLISHED[name]
    report = report_plans(describe_workload(Answers.of(sections), CATALOG), hardware(machine), plan)
    assert report is not None
    assert report.own.plan == plan
    best = report.search.pareto[0]
    assert best.seconds <= report.own.seconds
    assert best.plan.gpus == plan.gpus
    assert report.search.enumerated == report.search.ranked + sum(report.search.rejected.values())
    assert any(each is report.own or each.plan == plan for _, each in report.listed)
    if best.seconds < 0.99 * report.own.seconds:
        assert len(report.difference) > 1
        assert report.search.found[0].plan.label in report.difference[0]


def test_llama_3s_own_plan_is_within_six_percent_of_the_best():
    """A model that finds a hand-tuned plan poor would be wrong: 16 months of tuning stand behind it [arXiv:2407.21783 §3.3]."""
    sections, machine, plan, _ = PUBLISHED["Llama 3 405B on 16,384 H100"]
    report = report_plans(describe_workload(Answers.of(sections), CATALOG), hardware(machine), plan)
    assert report is not None
    assert report.own.seconds <= 1.06 * report.search.pareto[0].seconds
