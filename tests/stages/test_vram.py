"""Stage vram on candidates as the advisor proposes them: facts, sections and findings."""

from __future__ import annotations

import math

import pytest
import tomli_w

from catalogs import load_catalog
from rules.advisor import advise
from rules.answers import Answers
from rules.candidate import Context
from rules.engine import compile_rules, evaluate
from rules.findings import Stage
from rules.judging import limits
from rules.proposals import propose
from rules.sizing.workload import describe_workload
from rules.stages import vram

CATALOG = load_catalog()
ONE_H100 = {"scale.nodes": 1, "preferences.nodes": ["nvidia-dgx-h100"]}
SITUATIONS = {
    "dense": {**ONE_H100, "model.preset": "llama-3.1-8b"},
    "too large": {**ONE_H100, "model.preset": "llama-3.1-405b"},
    "mixture": {"scale.nodes": 64, "preferences.nodes": ["nvidia-dgx-b200"], "model.preset": "deepseek-v3"},
    "lora": {**ONE_H100, "model.preset": "llama-3.1-70b", "workload.kind": "fine_tuning_lora"},
    "vision": {**ONE_H100, "model.preset": "resnet50", "workload.kind": "vision"},
    "recommendation": {**ONE_H100, "model.preset": "dlrm-22.8b", "workload.kind": "recommendation"},
    "two devices per package": {
        "model.preset": "llama-3.1-8b", "scale.nodes": 1,
        "own_server.gpu": "amd-mi250x", "own_server.gpus": 4, "own_server.topology": "full_mesh",
    },
    "no plan divides": {**ONE_H100, "model.preset": "llama-3.1-8b", "parallelism.tensor": 3},
}  # fmt: skip


def judged(raw):
    answers = Answers.of(raw)
    context = Context(answers, CATALOG, describe_workload(answers, CATALOG))
    candidate = propose(context).candidates[0]
    fact = vram.assess(candidate, context)
    program = compile_rules(vram.RULES).stage(Stage.VRAM)
    return candidate, context, fact, evaluate(program, {**fact, **limits(vram.RULES, CATALOG)}, strict=True)


@pytest.mark.parametrize("raw", SITUATIONS.values(), ids=SITUATIONS)
def test_every_declared_fact_is_stated_and_finite(raw):
    _, _, fact, _ = judged(raw)
    assert set(fact) == {each.name for each in vram.FACTS}
    assert all(math.isfinite(value) for value in fact.values() if isinstance(value, float))


@pytest.mark.parametrize("raw", SITUATIONS.values(), ids=SITUATIONS)
def test_sections_can_be_written_as_toml(raw):
    candidate, context, _, _ = judged(raw)
    sections = vram.describe(candidate, context)
    assert set(sections) == {"workload", "memory"}
    assert tomli_w.dumps(sections)


def test_terms_add_up_to_the_expected_peak():
    """The sum is recomputed, never copied: the shown terms are the whole of the shown figure."""
    candidate, _, _, _ = judged(SITUATIONS["dense"])
    memory = candidate.choice.memory
    assert sum(term.to("GiB").magnitude for term in memory.terms.values()) == pytest.approx(memory.expected.to("GiB").magnitude)


def test_stages_are_shown_by_their_totals():
    """Sixteen stages of Llama 3 405B as published: the first holds most micro-batches, the middle ones a layer more [arXiv:2407.21783]."""
    raw = {
        "model.preset": "llama-3.1-405b", "training.sequence_length": 8192, "training.global_batch": 2048, "scale.nodes": 2048,
        "preferences.nodes": ["nvidia-dgx-h100"], "parallelism.tensor": 8, "parallelism.pipeline": 16, "parallelism.zero_stage": 1,
        "parallelism.micro_batch": 1, "parallelism.recompute": "none",
    }  # fmt: skip
    candidate, context, _, _ = judged(raw)
    section = vram.describe(candidate, context)["memory"]
    totals = section["stage_totals"]
    assert len(totals) == 16
    assert section["fullest_stage"] in (1, 2)
    assert totals[section["fullest_stage"] - 1] == section["expected"]
    assert "stages" not in section


def test_what_an_engine_needs_to_sample_is_said():
    """128 sequences on two engines of four GPUs; a token of Llama 3.1 70B keeps 2 × 80 × 8 × 128 × 2 B = 328 KB over them
    [arXiv:2505.09343 table 1], 0.625 GiB on each for 8,192 of them."""
    candidate, context, _, _ = judged({**SITUATIONS["lora"], "training.post_training": "grpo"})
    (told,) = [note for note in vram.describe(candidate, context)["memory"]["notes"] if "samples" in note]
    assert "64 sequences with each engine of 4 GPUs" in told
    assert "0.625 GiB of cache" in told
    assert "40 GiB" in told


def test_a_rejection_says_by_how_much():
    """405.9 billion parameters at 16 bytes are 6,048 GiB, 756 on each of 8 GPUs of 79.65 GiB."""
    _, _, fact, result = judged(SITUATIONS["too large"])
    assert fact["memory_needed_low_gib"] > 756
    assert fact["memory_capacity_gib"] == pytest.approx(79.65, abs=0.01)
    found = {each.rule: each for each in result.findings}
    assert float(found["vram.state_does_not_fit"].numbers["memory_needed_low_gib"].split()[0]) > 756
    assert "vram.more_gpus_needed" in found


def test_a_plan_that_cannot_divide_is_not_called_short_of_memory():
    _, _, fact, result = judged(SITUATIONS["no plan divides"])
    assert fact["memory_verdict"] == "no_plan"
    assert "vram.state_does_not_fit" not in {each.rule for each in result.findings}


def test_capacity_is_of_one_device():
    """MI250X: two devices of 64 GB each."""
    _, _, fact, _ = judged(SITUATIONS["two devices per package"])
    assert 60 < fact["memory_capacity_gib"] <= 64
    assert fact["memory_package_gib"] == pytest.approx(2 * fact["memory_capacity_gib"])


def test_the_bill_holds_the_servers():
    candidate, context, _, _ = judged(SITUATIONS["mixture"])
    assert [(line.item, line.quantity, line.category) for line in vram.bill(candidate, context)] == [("nvidia-dgx-b200", 64, "compute")]


def test_the_question_about_sustained_throughput_carries_the_plans_figures():
    candidate, _, fact, result = judged(SITUATIONS["dense"])
    asked = next(each for each in result.findings if each.rule == "vram.sustained_share")
    assert f"{candidate.choice.step.tflops_per_gpu:.0f}"[:2] in asked.good_answer
    assert 20 < fact["achieved_percent"] < 75


def test_a_table_row_of_another_variant_is_not_taken():
    """H100 NVL has 94 GB; the field's table gives 80 for the H100 of the SXM module."""
    from rules.sizing.memory_checks import published_capacity_gb

    assert published_capacity_gb(CATALOG.gpus["nvidia-h100-nvl-94gb"], CATALOG) is None
    assert published_capacity_gb(CATALOG.gpus["nvidia-h100-sxm-80gb"], CATALOG) == 80
    assert published_capacity_gb(CATALOG.gpus["nvidia-gb200"], CATALOG) == 186


LLAMA_13B = {
    "model.preset": "llama-2-13b", "workload.kind": "fine_tuning_full", "training.sequence_length": 2048, "scale.nodes": 1,
    "own_server.gpu": "nvidia-a100-sxm-40gb", "own_server.gpus": 4,
}  # fmt: skip
"""Under AdamW 13 billion parameters take 16 to 18 bytes each: 52 GB and more on each of four GPUs of 40 GB."""


def test_a_conflict_of_memory_names_computed_remedies_first():
    design = advise(Answers.of(LLAMA_13B), CATALOG)
    (conflict,) = [found for found in design.findings if found.rule == "vram.state_does_not_fit"]
    first = conflict.remedies[0]
    assert (first.key, first.value) == ("parallelism.offload", "optimizer")
    assert "GiB less on the fullest GPU" in first.text
    assert "% longer" in first.text
    assert {"scale.nodes", "workload.kind"} <= {each.key for each in conflict.remedies}
    row = design.document()["design"]["memory"]["remedy"][0]
    assert (row["key"], row["verdict"]) == ("parallelism.offload", "fits")
    assert row["saves"].endswith(" GiB")
    assert row["step_longer_by"].endswith(" %")


@pytest.mark.parametrize("exhaustive", [False, True])
def test_offload_is_searched_where_it_is_asked_for(exhaustive):
    """ZeRO-Offload trains 13 billion parameters on a single GPU of 32 GB [arXiv:2101.06840, abstract]."""
    answers = Answers.of({**LLAMA_13B, "parallelism.offload": "optimizer"})
    design = advise(answers, CATALOG, exhaustive=exhaustive)
    assert design.fits
    assert "offload optimizer" in design.plan
    single = Answers.of({**LLAMA_13B, "own_server.gpu": "nvidia-v100-sxm-32gb", "own_server.gpus": 1, "parallelism.offload": "optimizer"})
    alone = advise(single.with_value("training.precision", "fp16"), CATALOG, exhaustive=exhaustive)
    assert alone.document()["design"]["memory"]["verdict"] in ("fits", "at_risk")


def test_a_design_lists_every_stage_every_peak_and_the_host():
    raw = {
        "model.preset": "llama-3.1-405b", "scale.nodes": 1024, "preferences.nodes": ["nvidia-dgx-h100"], "parallelism.mode": "given",
        "parallelism.tensor": 8, "parallelism.pipeline": 16, "parallelism.context": 1, "parallelism.micro_batch": 1,
    }  # fmt: skip
    memory = advise(Answers.of(raw), CATALOG).document()["design"]["memory"]
    assert [stage["number"] for stage in memory["stage"]] == list(range(1, 17))
    assert sum(stage["layers"] for stage in memory["stage"]) == 126
    assert all(set(stage["terms"]) <= set(memory["basis"]) for stage in memory["stage"])
    assert [peak["name"] for peak in memory["peak"]] == ["initialisation", "checkpoint save", "checkpoint load"]
    assert {"pinned_checkpoint", "model_loading"} <= {part["name"] for part in memory["host"]}
