"""The interconnect stage: facts with and without a plan, the sections of the design, and what the links are worth."""

from __future__ import annotations

import math

from catalogs import load_catalog
from rules.answers import Answers
from rules.candidate import Candidate, Context
from rules.findings import Stage
from rules.guidance.checks import check_rules
from rules.sizing.hardware import hardware_of
from rules.sizing.plans import search_plans
from rules.sizing.workload import describe_workload
from rules.stages import interconnect

CATALOG = load_catalog()
NAMES = {field.name for field in interconnect.FACTS}


def candidate(node: str, units: int, **sections) -> tuple[Candidate, Context]:
    answers = Answers.of(sections)
    workload = describe_workload(answers, CATALOG)
    record = CATALOG.nodes[node]
    gpu = CATALOG.gpus[record.gpu]
    choice = search_plans(workload, hardware_of(record, gpu, CATALOG), units * record.gpu_count, answers)
    made = Candidate(f"{units}x-{node}", record, gpu, units, units * record.trays, units * record.gpu_count, choice)
    return made, Context(answers, CATALOG, workload)


def facts(node: str, units: int, **sections):
    made, context = candidate(node, units, **sections)
    stated = interconnect.assess(made, context)
    assert set(stated) == NAMES
    assert all(math.isfinite(value) for value in stated.values() if isinstance(value, float))
    return stated


def test_rules_are_well_formed():
    thresholds = [each.id for each in CATALOG.thresholds]
    problems = check_rules(
        interconnect.RULES,
        facts={Stage.INTERCONNECT: interconnect.FACTS},
        thresholds=thresholds,
        modules={"interconnect": interconnect.RULES},
    )
    assert problems == []


def test_h100_server_links():
    stated = facts("nvidia-dgx-h100", 8, model={"preset": "llama-3.1-70b"})
    assert stated["scale_up_gb_per_s"] == 450
    assert stated["scale_up_printed_gb_per_s"] == 900
    assert stated["domain_gpus"] == 8
    assert stated["network_per_gpu_gbps"] == 400
    assert stated["multi_domain"] is True
    assert 450 <= stated["all_reduce_gb_per_s"] <= 480  # 480 at 8 GiB, NVIDIA/nccl-tests issue 212


def test_one_rack_is_one_domain():
    stated = facts("nvidia-gb200-nvl72", 1, model={"preset": "llama-3.1-70b"}, training={"global_batch": 576})
    assert stated["multi_node"] is True
    assert stated["multi_domain"] is False
    assert stated["domain_gpus"] == 72


def test_a_candidate_without_a_plan_states_neutral_values():
    stated = facts("nvidia-dgx-h100", 1, workload={"kind": "fine_tuning_full"}, model={"preset": "llama-3.1-70b"})
    assert stated["has_plan"] is False
    assert stated["tensor"] == 1
    assert stated["step_s"] == 0
    made, context = candidate("nvidia-dgx-h100", 1, workload={"kind": "fine_tuning_full"}, model={"preset": "llama-3.1-70b"})
    assert set(interconnect.describe(made, context)) == {"node_map", "acceptance"}
    assert interconnect.bill(made, context) == []


def test_shares_of_the_step_make_a_whole():
    stated = facts("nvidia-dgx-h100", 8, model={"preset": "llama-3.1-70b"})
    assert 90 <= stated["arithmetic_percent"] + stated["exposed_percent"] + stated["bubble_percent"] <= 100.1


def test_tensor_parallelism_makes_the_link_decide():
    wide = facts("nvidia-dgx-h100", 8, model={"preset": "llama-3.1-70b"}, parallelism={"tensor": 8})
    assert wide["link_decides"] is True
    assert wide["step_over_pcie_s"] > 1.25 * wide["step_s"]


def test_describe_prints_the_plan_and_its_range():
    made, context = candidate("nvidia-dgx-h100", 8, model={"preset": "llama-3.1-70b"}, training={"tokens": "1T"})
    sections = interconnect.describe(made, context)
    assert made.choice is not None
    assert sections["parallelism"]["plan"] == made.choice.plan.label
    assert sections["performance"]["step"].endswith(" s")
    assert sections["performance"]["run_without_failures"].endswith(" day")


def test_low_precision_on_a_gpu_without_it():
    stated = facts("nvidia-dgx-a100-640gb", 2, model={"preset": "llama-3.1-8b"}, training={"precision": "fp8"})
    assert stated["precision_native"] is False
    assert stated["native_precision"] == "bf16"
    assert stated["peak_tflops"] == 312


def test_two_gpus_of_a_full_mesh_have_one_link_between_them():
    """MI300X: seven links of 64 GB/s one way, 448 in all; a switch gives any two the whole rate."""
    mesh = facts("supermicro-as-8125gs-tnmr2-mi300x", 1, model={"preset": "llama-3.1-8b"})
    assert mesh["scale_up_gb_per_s"] == 448
    assert mesh["pair_gb_per_s"] == 64
    switched = facts("nvidia-dgx-h100", 1, model={"preset": "llama-3.1-8b"})
    assert switched["pair_gb_per_s"] == switched["scale_up_gb_per_s"] == 450


def test_how_a_gpu_reaches_its_adapter():
    for node, path, command in (
        ("nvidia-dgx-h100", "pcie", "nvidia-smi topo -m"),
        ("supermicro-as-8125gs-tnmr2-mi300x", "pcie", "rocm-smi --showtopo"),
        ("nvidia-gb200-nvl72", "processor", "nvidia-smi topo -m"),
    ):
        stated = facts(node, 1, model={"preset": "llama-3.1-8b"})
        assert (stated["adapter_path"], stated["topology_command"]) == (path, command)
