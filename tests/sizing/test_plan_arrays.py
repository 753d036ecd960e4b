"""The exhaustive search: both forms of the model agree, every plan is accounted for, and the quick search comes near it."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalogs import load_catalog
from rules.answers import Answers
from rules.sizing.hardware import hardware_of
from rules.sizing.memory import MemoryModel
from rules.sizing.plan_arrays.footprint import Footprint
from rules.sizing.plan_arrays.space import Option, options_of, rows_of
from rules.sizing.plan_arrays.timing import Timing
from rules.sizing.plan_space import Fixed, divisors
from rules.sizing.plans import search
from rules.sizing.results import ModelShape, Plan
from rules.sizing.step import step_model
from rules.sizing.workload import describe_workload

CATALOG = load_catalog()
AGREEMENT = 1e-9
H100, GB200, A100 = "nvidia-dgx-h100", "nvidia-gb200-nvl72", "nvidia-dgx-a100-640gb"
LORA = {"workload": {"kind": "fine_tuning_lora"}, "model": {"preset": "llama-3.1-70b"}, "training": {"global_batch": 512}}
WORKLOADS = {
    "dense": (H100, {"model": {"preset": "llama-3.1-405b"}, "training": {"global_batch": 2048, "sequence_length": 8192}}),
    "gpt on A100": (A100, {"model": {"preset": "gpt-3-175b"}, "training": {"global_batch": 1536, "sequence_length": 2048}}),
    "latent attention, experts": (GB200, {"model": {"preset": "deepseek-v3"}, "training": {"precision": "mxfp8", "global_batch": 4608}}),
    "experts on 8 GPUs": (H100, {"model": {"preset": "qwen3-30b-a3b"}, "training": {"global_batch": 512, "sequence_length": 32_768}}),
    "Muon": (H100, {"model": {"preset": "llama-3.1-8b"}, "training": {"optimizer": "muon", "global_batch": 512}}),
    "LoRA": (H100, LORA),
    "QLoRA": (H100, {**LORA, "workload": {"kind": "fine_tuning_qlora"}}),
    "other models": (
        H100,
        {
            "workload": {"kind": "fine_tuning_full"},
            "model": {"preset": "llama-3.1-70b"},
            "training": {"global_batch": 512, "post_training": "ppo", "rollout": "awake"},
        },
    ),
    "pairs": (H100, {**LORA, "training": {"global_batch": 512, "post_training": "dpo"}}),
    "images": (A100, {"workload": {"kind": "vision"}, "model": {"preset": "vit-l-16"}, "training": {"global_batch": 4096}}),
}


@lru_cache(maxsize=16)
def kernels(name: str):
    node, sections = WORKLOADS[name]
    workload = describe_workload(Answers.of(sections), CATALOG)
    record = CATALOG.nodes[node]
    hardware = hardware_of(record, CATALOG.gpus[record.gpu], CATALOG)
    return workload, hardware, step_model(workload, hardware), MemoryModel(workload)


@st.composite
def plans(draw: st.DrawFn, shape: ModelShape, batch: int, gpus: int) -> Plan:
    """Any whole plan of `gpus` GPUs, sane or not."""
    tensor = draw(st.sampled_from([each for each in divisors(gpus) if shape.attention_heads % each == 0]))
    context = draw(st.sampled_from(divisors(gpus // tensor)))
    rest = gpus // (tensor * context)
    data = draw(st.sampled_from([each for each in divisors(rest) if batch % each == 0 and rest // each <= shape.layers]))
    pipeline = rest // data
    experts = [each for each in divisors(shape.experts) if tensor * context * data % each == 0] if shape.experts else [1]
    return Plan(
        tensor=tensor,
        context=context,
        pipeline=pipeline,
        data=data,
        expert=draw(st.sampled_from(experts)),
        micro_batch=draw(st.sampled_from(divisors(batch // data))),
        virtual_stages=draw(st.sampled_from(divisors(max(1, shape.layers // pipeline)))) if pipeline > 1 else 1,
        recompute=draw(st.sampled_from(["none", "selective", "full"])),
        zero_stage=draw(st.sampled_from([0, 1, 2, 3])),
    )


@pytest.mark.parametrize("name", WORKLOADS)
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_both_forms_of_the_model_agree(name, data):
    workload, hardware, model, kernel = kernels(name)
    gpus = data.draw(st.sampled_from([8, 24, 64, 256, 4096]))
    drawn = data.draw(st.lists(plans(workload.model, workload.global_batch, gpus), min_size=1, max_size=12))
    rows = rows_of(drawn, hardware.per_domain)
    timing, footprint = Timing(model, rows), Footprint(kernel, rows)
    for option in {Option(plan.recompute, plan.zero_stage) for plan in drawn}:
        seconds, peaks = timing.seconds(option), footprint.peaks(option)
        for row in range(len(drawn)):
            plan = rows.plan(row, option)
            assert seconds[row] == pytest.approx(model.time(plan).total, rel=AGREEMENT)
            assert [each[row] for each in peaks] == pytest.approx(kernel.peak_bytes(plan), rel=AGREEMENT)


@pytest.mark.parametrize("offload", ["optimizer", "parameters", "nvme"])
@pytest.mark.parametrize("name", ["dense", "QLoRA"])
def test_both_forms_agree_on_what_rests_on_the_host(name, offload):
    _, hardware, model, kernel = kernels(name)
    rows = rows_of([Plan(tensor=8, data=8), Plan(tensor=4, pipeline=2, data=8, micro_batch=2), Plan(data=64)], hardware.per_domain, offload)
    timing, footprint = Timing(model, rows), Footprint(kernel, rows)
    for option in options_of(Fixed(recompute="full"), lora=False):
        seconds, peaks = timing.seconds(option), footprint.peaks(option)
        for row in range(3):
            plan = rows.plan(row, option)
            assert plan.offload == offload
            assert seconds[row] == pytest.approx(model.time(plan).total, rel=AGREEMENT)
            assert [each[row] for each in peaks] == pytest.approx(kernel.peak_bytes(plan), rel=AGREEMENT)


@pytest.mark.parametrize("schedule", ["gpipe", "zb_h1", "zb_h2", "zb_v", "dualpipe"])
@pytest.mark.parametrize("name", ["dense", "QLoRA"])
def test_both_forms_agree_on_schedules_and_some_recomputed_layers(name, schedule):
    _, hardware, model, kernel = kernels(name)
    given = [Plan(tensor=8, data=8), Plan(tensor=4, pipeline=2, data=8, micro_batch=2), Plan(pipeline=4, data=16)]
    rows = rows_of(given, hardware.per_domain, schedule=schedule, recompute_layers=3)
    rows.modules = ("mlp", "norm")
    timing, footprint = Timing(model, rows), Footprint(kernel, rows)
    for option in options_of(Fixed(zero_stage=1), lora=False):
        seconds, peaks = timing.seconds(option), footprint.peaks(option)
        for row in range(3):
            plan = rows.plan(row, option)
            assert (plan.schedule, plan.recompute_layers) == (schedule, 3 if option.recompute == "full" else 0)
            assert plan.recompute_modules == (("mlp", "norm") if option.recompute == "selective" else ())
            assert seconds[row] == pytest.approx(model.time(plan).total, rel=AGREEMENT)
            assert [each[row] for each in peaks] == pytest.approx(kernel.peak_bytes(plan), rel=AGREEMENT)


def test_software_that_columns_do_not_know_is_refused():
    workload, _, _, kernel = kernels("dense")
    other = MemoryModel(workload, replace(kernel.options, keeps_outputs=True))
    with pytest.raises(ValueError, match="peak_bytes"):
        Footprint(other, rows_of([Plan()], 0))


def found(node: str, gpus: int, sections, *, exhaustive: bool = True):
    answers = Answers.of(sections)
    record = CATALOG.nodes[node]
    hardware = hardware_of(record, CATALOG.gpus[record.gpu], CATALOG)
    return search(describe_workload(answers, CATALOG), hardware, gpus, answers, exhaustive=exhaustive)


COUNTED = {
    "model": {"layers": 2, "hidden_size": 256, "attention_heads": 2, "vocabulary_size": 1000},
    "training": {"global_batch": 2, "sequence_length": 512},
}


def test_plans_of_a_small_model_counted_by_hand():
    """Two GPUs, two layers, two heads, two samples.

    One tensor, context or pipeline pair each: data parallelism of one, micro-batches of 1 and 2 samples; only the pipeline of 2 stages
    with 2 micro-batches may be interleaved, but each stage has one layer. That is 3 · 2 rows; the data-parallel pair has one sample each:
    1 row. Twelve options each: 84. With one data-parallel rank (context ranks count) three of four ZeRO stages have nothing to share:
    2 · 2 rows · 9. The remaining 48 are all small.
    """
    result = found(H100, 2, COUNTED)
    assert result.rejected["nothing to share between ranks: there is one data-parallel rank"] == 36
    assert result.ranked == 48
    assert result.enumerated == 84


@pytest.mark.parametrize("name", WORKLOADS)
def test_the_account_adds_up(name):
    node, sections = WORKLOADS[name]
    result = found(node, 1024, sections)
    assert result.complete
    assert result.enumerated == result.ranked + sum(result.rejected.values())
    assert result.found


def test_no_plan_beats_one_of_the_front_in_time_and_memory():
    result = found(H100, 1024, WORKLOADS["dense"][1])
    assert len(result.pareto) > 5
    assert result.pareto[0].seconds == min(each.seconds for each in result.found)
    for earlier, later in pairwise(result.pareto):
        assert earlier.seconds <= later.seconds
        assert earlier.memory[2] > later.memory[2]
    assert all(each.fits for each in result.pareto)
    for each in result.found:
        assert any(one.seconds <= each.seconds and one.memory[2] <= each.memory[2] for one in result.pareto)


def test_more_memory_would_be_faster_or_not():
    result = found(H100, 1024, WORKLOADS["dense"][1])
    assert result.unlimited is not None
    assert result.unlimited.seconds <= result.pareto[0].seconds


def test_what_fits_nowhere_names_the_plan_that_comes_nearest():
    result = found(H100, 8, WORKLOADS["dense"][1])
    assert result.found == ()
    assert result.ranked == 0
    assert result.nearest is not None
    assert result.enumerated == sum(result.rejected.values())


@pytest.mark.parametrize(
    ("node", "preset", "training"),
    [
        (H100, "llama-3.1-405b", {"global_batch": 2048, "sequence_length": 8192}),
        (H100, "deepseek-v3", {"global_batch": 8192, "sequence_length": 8192}),
        (H100, "qwen3-235b-a22b", {"global_batch": 8192, "sequence_length": 4096}),
        (H100, "llama-3.1-70b", {"global_batch": 4096, "sequence_length": 8192}),
        (H100, "deepseek-v3", {"global_batch": 15_360, "sequence_length": 4096}),
        (H100, "llama-3.1-405b", {"global_batch": 2048, "sequence_length": 131_072}),
        (A100, "megatron-gpt-1t", {"global_batch": 3072, "sequence_length": 2048}),
        (H100, "mixtral-8x22b-instruct", {"global_batch": 4096, "sequence_length": 8192}),
    ],
)
def test_the_quick_search_comes_within_three_percent_on_16384_gpus(node, preset, training):
    sections = {"model": {"preset": preset}, "training": training}
    quick, whole = (found(node, 16_384, sections, exhaustive=exhaustive) for exhaustive in (False, True))
    assert quick.found[0].fits
    assert quick.found[0].seconds <= 1.03 * whole.pareto[0].seconds


@pytest.mark.parametrize("preset", ["deepseek-v3", "qwen3-235b-a22b", "gpt-oss-120b"])
def test_the_quick_search_spreads_experts_over_four_servers_where_that_is_best(preset):
    quick, whole = (found(H100, 2048, {"model": {"preset": preset}}, exhaustive=exhaustive) for exhaustive in (False, True))
    assert quick.found[0].seconds <= 1.01 * whole.pareto[0].seconds


def test_given_parts_of_a_plan_bind_the_exhaustive_search():
    sections = {**WORKLOADS["dense"][1], "parallelism": {"mode": "given", "tensor": 8, "pipeline": 16, "zero_stage": 1, "micro_batch": 1}}
    result = found(H100, 1024, sections)
    assert {(each.plan.tensor, each.plan.pipeline, each.plan.zero_stage, each.plan.micro_batch) for each in result.found} == {(8, 16, 1, 1)}
    assert {option.zero_stage for option in options_of(Fixed(zero_stage=1), lora=False)} == {1}
