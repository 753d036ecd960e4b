"""Memory per GPU against measured and published figures. Peaks of a framework's allocator are compared with `allocated`."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalogs import load_catalog
from catalogs.quantities import quantity
from rules.answers import Answers
from rules.sizing.memory import MemoryModel, estimate_memory
from rules.sizing.memory_activations import ActivationOptions
from rules.sizing.memory_checks import device_capacity, gathered_checkpoint, initialisation_peak, minimum_memory, quick_gpus
from rules.sizing.memory_overheads import TERMS
from rules.sizing.memory_software import COMPILED_LOSS, EAGER_LOSS, MemoryOptions
from rules.sizing.memory_states import stage_layers
from rules.sizing.results import ModelShape, Plan
from rules.sizing.workload import describe_workload

GIB = 2.0**30
CATALOG = load_catalog()


def workload(**raw):
    return describe_workload(Answers.of({key.replace("__", "."): value for key, value in raw.items()}), CATALOG)


def with_shape(base, **changes):
    """Return the workload with another shape, its parameters counted again."""
    from rules.sizing.parameters import count_parameters

    shape = replace(base.model, **changes)
    counted = count_parameters(shape, base.sequence_length)
    return replace(base, model=shape, parameters=counted, trainable_parameters=counted.total)


def allocated(made, plan, options=None):
    estimate = estimate_memory(made, plan, quantity(80, "GiB"), MemoryModel(made, options))
    return tuple(end.to("GiB").magnitude for end in (estimate.allocated.low, estimate.allocated.expected, estimate.allocated.high))


def verdict(made, plan, gpu, options=None):
    return estimate_memory(made, plan, device_capacity(CATALOG.gpus[gpu]), MemoryModel(made, options)).verdict


# ------------------------------------------------------------------------------------------------ measured runs

LLAMA_12 = {"preset": "llama-3-70b", "layers": 12}
DEEPSEEK_4 = {"preset": "deepseek-v2", "layers": 4, "dense_layers": 1}
SIMUMAX = [
    # Megatron-LM on 8 B200, ZeRO-1, fused cross entropy, no recomputation: peak allocated GiB [SimuMax, B200 v1.2 release summary]
    (LLAMA_12, 4096, Plan(tensor=1, pipeline=2, data=4, zero_stage=1), 16, 66.55),
    (LLAMA_12, 4096, Plan(tensor=2, data=4, zero_stage=1), 16, 60.68),
    (LLAMA_12, 4096, Plan(tensor=4, data=2, zero_stage=1), 8, 39.07),
    (LLAMA_12, 4096, Plan(tensor=8, data=1, zero_stage=1), 4, 28.29),
    (LLAMA_12, 32_768, Plan(tensor=2, context=4, data=1, zero_stage=1), 4, 68.43),
    (LLAMA_12, 32_768, Plan(tensor=1, context=8, data=1, zero_stage=1), 4, 104.51),
    (LLAMA_12, 131_072, Plan(tensor=2, context=4, data=1, zero_stage=1), 4, 112.67),
    (LLAMA_12, 131_072, Plan(tensor=1, context=8, data=1, zero_stage=1), 4, 147.99),
    (DEEPSEEK_4, 4096, Plan(expert=8, data=8, zero_stage=1), 32, 45.63),
    (DEEPSEEK_4, 4096, Plan(pipeline=2, expert=4, data=4, zero_stage=1), 16, 44.70),
]


def simumax(row):
    model, sequence, plan, batch, measured = row
    changes = {key: value for key, value in model.items() if key != "preset"}
    base = workload(model__preset=model["preset"], training__sequence_length=sequence, training__global_batch=batch)
    return allocated(with_shape(base, **changes), plan), measured


@pytest.mark.parametrize("row", SIMUMAX, ids=[f"{row[0]['preset']}-{row[1]}-{row[2].label}".replace(" ", "-") for row in SIMUMAX])
def test_megatron_on_b200(row):
    (low, expected, high), measured = simumax(row)
    assert low <= measured <= high
    assert expected == pytest.approx(measured, rel=0.03)


PER_OPERATION = ActivationOptions(selective=("alternate_products",))


@pytest.mark.parametrize(
    ("gpus", "loss", "measured"), [(8, EAGER_LOSS, 82.4), (128, EAGER_LOSS, 67.0), (8, COMPILED_LOSS, 77.0), (128, COMPILED_LOSS, 62.0)]
)
def test_fully_sharded_llama_8b(gpus, loss, measured):
    """torchtitan on H100: Llama 3 8B, sequences of 8,192, micro-batch 2, every second product recomputed [benchmarks, December 2024]."""
    made = workload(model__preset="llama-3.1-8b", training__sequence_length=8192, training__global_batch=2 * gpus)
    options = MemoryOptions(activations=PER_OPERATION, loss_head=loss, keeps_outputs=True, reserved=True)
    low, expected, high = allocated(made, Plan(data=gpus, zero_stage=3, micro_batch=2, recompute="selective"), options)
    assert low <= measured <= high
    assert expected == pytest.approx(measured, rel=0.05)


def test_bf16_gradients_are_inside_the_range():
    """NeMo keeps gradients in 16 bits: Llama 3.1 8B, CP 2, DP 4 on 8 H100 peaks at 70,833,405,952 bytes [dgxc-benchmarking log]."""
    made = workload(model__preset="llama-3.1-8b", training__sequence_length=8192, training__global_batch=128)
    plan = Plan(context=2, data=4, zero_stage=1)
    low, _, high = allocated(made, plan)
    assert low <= 70_833_405_952 / GIB <= high
    assert allocated(made, plan, MemoryOptions(gradient_bytes=2.0))[1] == pytest.approx(70_833_405_952 / GIB, rel=0.06)


def test_deepseek_v3_on_256_gpus():
    """PP 4, VPP 4, EP 64, no recomputation: optimizer 32.1 GB, activations 131.0 GB, 199.5 GB in all [arXiv:2603.07685 table 3]."""
    made = workload(model__preset="deepseek-v3", training__sequence_length=4096, training__global_batch=8192)
    plan = Plan(pipeline=4, virtual_stages=4, expert=64, data=64, zero_stage=1)
    low, expected, high = (end * GIB / 1e9 for end in allocated(made, plan))
    assert low <= 199.5 <= high
    assert expected == pytest.approx(199.5, rel=0.08)


def test_fsdp_7b_on_four_a100_40gb():
    """29 GB reserved on each of 4 A100-40GB, full sharding [meta-llama/llama-cookbook issue 100]."""
    made = workload(
        workload__kind="fine_tuning_full", model__preset="llama-2-7b", training__sequence_length=1024, training__global_batch=64
    )
    plan = Plan(data=4, zero_stage=3, recompute="full")
    low, _, high = allocated(made, plan)
    assert low <= 29e9 / GIB <= high
    assert verdict(made, plan, "nvidia-a100-sxm-40gb") == "fits"


# ------------------------------------------------------------------------------------------------ published formulas

GPT_22B = ModelShape(
    "GPT 22B", "dense", layers=48, hidden_size=6144, ffn_size=24_576, attention_heads=64, key_value_heads=64, head_dim=96,
    vocabulary_size=51_200, gated_ffn=False, tied_embeddings=True,
)  # fmt: skip
CLASSIC = MemoryOptions(activations=ActivationOptions(quadratic_attention=True, dropout=True, selective=("core_attention",)))
KORTHIKANTI = [
    # activations in GiB of the first pipeline stage [Korthikanti 2022, arXiv:2205.05198 figure 1, as transcribed by Calculon]
    ("22B", 48, 6144, 64, 1, 1, 4, "none", False, 59.25),
    ("22B", 48, 6144, 64, 1, 1, 4, "selective", True, 9.5625),
    ("175B", 96, 12_288, 96, 8, 3, 1, "none", False, 66.84375),
    ("175B", 96, 12_288, 96, 8, 3, 1, "selective", True, 12.3516),
    ("530B", 105, 20_480, 128, 35, 3, 1, "none", False, 114.0234),
    ("530B", 105, 20_480, 128, 35, 3, 1, "selective", True, 23.0762),
    ("1T", 128, 25_600, 160, 64, 1, 1, "none", False, 131.25),
    ("1T", 128, 25_600, 160, 64, 1, 1, "selective", True, 26.5625),
]


@pytest.mark.parametrize("row", KORTHIKANTI, ids=[f"{row[0]}-{row[7]}" for row in KORTHIKANTI])
def test_activations_of_korthikanti(row):
    _, layers, hidden, heads, pipeline, virtual, micro_batch, recompute, sequence_parallel, published = row
    base = workload(model__preset="llama-3.1-8b", training__sequence_length=2048, training__global_batch=1024)
    shape = replace(
        GPT_22B,
        layers=layers,
        hidden_size=hidden,
        ffn_size=4 * hidden,
        attention_heads=heads,
        key_value_heads=heads,
        head_dim=hidden // heads,
    )
    model = MemoryModel(replace(base, model=shape), CLASSIC)
    plan = Plan(8, pipeline, virtual, micro_batch=micro_batch, recompute=recompute, sequence_parallel=sequence_parallel)
    terms = dict(zip(TERMS, model.allocated_terms(plan)[0], strict=True))
    assert terms["activations"] / GIB == pytest.approx(published, rel=0.002)


def test_state_of_gpt_175b():
    """18 bytes per parameter: 45.6 GiB on each of 64 GPUs at TP 8, PP 8 [Korthikanti 2022 figure 1]; 16 would give 40.9."""
    made = workload(model__preset="gpt-3-175b", training__sequence_length=2048, training__global_batch=64, training__precision="fp16")
    terms = MemoryModel(made).allocated_terms(Plan(tensor=8, pipeline=8))
    mean = sum(sum(stage[:3]) for stage in terms) / len(terms) / GIB
    assert 44.0 <= mean <= 47.5


def test_zero_2_shares_gradients():
    """2.851 billion parameters on 8 ranks: between 2P + 14P/N and 2P + 18P/N bytes, not 17.1e9 [DeepSpeed pull request 5099]."""
    made = workload(model__parameters="2.851B", training__global_batch=64)
    state = sum(MemoryModel(made).allocated_terms(Plan(data=8, zero_stage=2))[0][:3])
    assert 10.69e9 <= state <= 12.12e9


def test_distributed_optimizer():
    """6 + 12/D bytes per parameter [Megatron-LM theoretical_memory_usage.py]: 7.5 on 8 ranks."""
    made = workload(model__preset="llama-3.1-8b")
    state = sum(MemoryModel(made).allocated_terms(Plan(data=8, zero_stage=1))[0][:3])
    assert state / made.parameters.total == pytest.approx(7.5, rel=1e-3)


def test_lora_is_far_below_full_training():
    """Frozen weights need neither gradients nor moments: under 35 % of full fine-tuning [DeepSpeed issue 5304]."""
    full = workload(workload__kind="fine_tuning_full", model__preset="llama-2-7b", training__sequence_length=512)
    lora = workload(workload__kind="fine_tuning_lora", model__preset="llama-2-7b", training__sequence_length=512)
    plan = Plan(recompute="full")
    assert MemoryModel(lora).peak_bytes(plan)[1] < 0.35 * MemoryModel(full).peak_bytes(plan)[1]


def test_qlora_65b_on_one_48gb_gpu():
    """A 65B is fine-tuned in 4 bits on one 48 GB GPU, 16 bits need more than 780 GB [Dettmers 2023, arXiv:2305.14314 abstract]."""
    made = workload(
        workload__kind="fine_tuning_qlora", model__parameters="65B", training__sequence_length=512, training__global_batch=16,
    )  # fmt: skip
    assert verdict(made, Plan(recompute="full"), "nvidia-rtx-6000-ada") != "does_not_fit"
    full = replace(made, kind="fine_tuning_full", trainable_parameters=made.parameters.total)
    assert MemoryModel(full).peak_bytes(Plan(recompute="full"))[1] > 780e9


@pytest.mark.parametrize(
    ("preset", "optimizer", "gib"), [("dlrm-113b", "sgd", 421.0), ("dcnv2-22.8b", "adamw", 250.0), ("dcnv2-4.2b", "adamw", 48.0)]
)
def test_embedding_tables(preset, optimizer, gib):
    """421 GiB of tables train with SGD in 421 GiB, 84.9 GiB with Adam in 250, 15.6 in 48 [NVIDIA DeepLearningExamples, DLRM and DCNv2]."""
    made = workload(workload__kind="recommendation", model__preset=preset, training__optimizer=optimizer)
    terms = MemoryModel(made).allocated_terms(Plan(data=8, micro_batch=8192))[0]
    assert 8 * sum(terms[:3]) / GIB == pytest.approx(gib, rel=0.03)


def test_experts_follow_their_own_data_parallel_ranks():
    """Experts' optimizer state is shared by the ranks that hold the same experts, not by all [Megatron-LM issue 4050]:
    671 billion parameters on 256 GPUs, EP 64, PP 4: 32.1 GB of master weights and moments [arXiv:2603.07685 table 3]."""
    made = workload(model__preset="deepseek-v3", training__sequence_length=4096, training__global_batch=8192)
    stages = MemoryModel(made).allocated_terms(Plan(pipeline=4, virtual_stages=4, expert=64, data=64, zero_stage=1))
    mean = sum(stage[TERMS.index("optimizer")] for stage in stages) / len(stages)
    assert mean / 1e9 == pytest.approx(32.1, rel=0.05)


@pytest.mark.parametrize("change", [{"experts_per_token": 16}, {"expert_ffn_size": 4096}, {"shared_expert_ffn_size": 8192}])
def test_experts_enter_the_activations(change):
    """Top-k, expert width and shared experts change the activations [Megatron-LM pull request 6782: they did not]."""
    base = workload(model__preset="deepseek-v3", training__sequence_length=4096)
    plan, index = Plan(expert=8, data=8), TERMS.index("activations")
    before = MemoryModel(base).allocated_terms(plan)[0][index]
    assert MemoryModel(with_shape(base, **change)).allocated_terms(plan)[0][index] > 1.05 * before


# ------------------------------------------------------------------------------------------------ verdicts

LLAMA_405B = {"model__preset": "llama-3.1-405b", "training__sequence_length": 8192, "training__global_batch": 2048}
PUBLISHED = [
    # runs that worked and must never be refused
    ("Llama 3, arXiv:2407.21783 table 4", LLAMA_405B, Plan(8, 16, data=64, zero_stage=1), "nvidia-h100-sxm-80gb"),
    ("Llama 3, arXiv:2407.21783 table 4", LLAMA_405B, Plan(8, 16, data=128, zero_stage=2), "nvidia-h100-sxm-80gb"),
    (
        "Llama 3, arXiv:2407.21783 table 4",
        {**LLAMA_405B, "training__sequence_length": 131_072, "training__global_batch": 128},
        Plan(8, 16, context=16, data=8, zero_stage=1),
        "nvidia-h100-sxm-80gb",
    ),
    (
        "LLM-Foundry: MPT-30B at 916 tokens/s per GPU",
        {"model__preset": "mpt-30b", "training__sequence_length": 2048, "training__global_batch": 768},
        Plan(data=8, zero_stage=3, micro_batch=3, recompute="full"),
        "nvidia-a100-sxm-80gb",
    ),
    (
        "Korthikanti 2022 table 5: 530B on 280 A100, 37.83 s per step",
        {"model__preset": "megatron-gpt-530b", "training__sequence_length": 2048, "training__global_batch": 280},
        Plan(8, 35, 3, data=1, recompute="selective"),
        "nvidia-a100-sxm-80gb",
    ),
]


@pytest.mark.parametrize(("source", "raw", "plan", "gpu"), PUBLISHED, ids=[f"{row[0][:20]}-{row[2].label}" for row in PUBLISHED])
def test_published_runs_are_not_refused(source, raw, plan, gpu):
    assert verdict(workload(**raw), plan, gpu) != "does_not_fit", source


def test_70b_on_eight_h200_is_refused():
    """Full fine-tuning of a 70B with ZeRO-3 on 8 H200 runs out of memory [hiyouga/LlamaFactory issue 7282]."""
    made = workload(
        workload__kind="fine_tuning_full", model__preset="llama-3.1-70b", training__sequence_length=1024, training__global_batch=8
    )
    assert verdict(made, Plan(data=8, zero_stage=3, recompute="full"), "nvidia-h200-sxm-141gb") == "does_not_fit"
    assert verdict(made, Plan(data=16, zero_stage=3, recompute="full"), "nvidia-h200-sxm-141gb") == "fits"


def test_optimizer_changes_the_answer():
    """13B on 4 A100-40GB does not fit with Adam; Lion keeps 4 bytes less per parameter [LLM-Foundry, 12 GB per billion parameters]."""
    adam, lion = (workload(model__parameters="13B", training__optimizer=name, training__sequence_length=2048) for name in ("adamw", "lion"))
    plan = Plan(data=4, zero_stage=3, recompute="full")
    assert verdict(adam, plan, "nvidia-a100-sxm-40gb") == "does_not_fit"
    saved = MemoryModel(adam).peak_bytes(plan)[1] - MemoryModel(lion).peak_bytes(plan)[1]
    assert saved == pytest.approx(13e9, rel=0.08)


def test_a_constant_part_remains_when_gpus_are_added():
    """GPT-J 6B under ZeRO-3 took about 13 GB on 2 and on 4 GPUs, an estimator said 0.77 [DeepSpeed issue 4093]."""
    made = workload(workload__kind="fine_tuning_full", model__preset="gpt-j-6b", training__sequence_length=2048)
    two, four = (MemoryModel(made).peak_bytes(Plan(data=count, zero_stage=3)) for count in (2, 4))
    assert four[1] / two[1] > 0.6
    assert four[2] >= 12e9


def test_runtime_takes_at_least_a_gibibyte():
    """An independent repeat found about 2 GB beside what an estimator counted [taehokim20/LLMem issue 1]."""
    made = workload(model__preset="llama-3.2-1b")
    terms = estimate_memory(made, Plan(data=8), quantity(80, "GiB")).terms
    assert terms["runtime_context"].to("GiB").magnitude + terms["communicators"].to("GiB").magnitude >= 1.0


def test_83_gb_fit_into_80_gib():
    """83 GB used are 77.3 GiB, which an 80 GiB card has [meta-pytorch/torchtune pull request 1348]."""
    made = workload(model__preset="llama-3.1-8b")
    estimate = estimate_memory(made, Plan(data=8, zero_stage=1), quantity(83, "GB"))
    assert estimate.capacity.to("GiB").magnitude == pytest.approx(77.3, abs=0.05)


def test_b200_offers_what_its_driver_reports():
    """183,359 MiB, 179 GiB: a need of 185 GiB does not fit, although 192 GB are printed elsewhere [ml-engineering book]."""
    assert device_capacity(CATALOG.gpus["nvidia-b200-sxm"]).to("GiB").magnitude == pytest.approx(179.06, abs=0.05)


def test_a_dual_die_card_is_two_devices():
    """MI250X: 128 GB as two devices of 64 GB each [AMD datasheet]."""
    assert device_capacity(CATALOG.gpus["amd-mi250x"]).to("GiB").magnitude < 65


# ------------------------------------------------------------------------------------------------ beside the peak


def test_peaks_at_start_and_at_a_checkpoint():
    """A 7B built whole takes 27 GB in fp32 on every rank; the gathered weights of a 70B are 141 GB [llama-cookbook issues 100 and 332]."""
    assert initialisation_peak(workload(model__preset="llama-2-7b"), CATALOG) == pytest.approx(27e9, rel=0.01)
    lora = workload(workload__kind="fine_tuning_lora", model__preset="llama-3.1-70b")
    assert gathered_checkpoint(lora, CATALOG) == pytest.approx(141e9, rel=0.01)


def test_first_guess_of_the_field():
    """80B on GPUs of 80 GB: 23 GPUs [ml-engineering book, ai-battlefield]."""
    assert quick_gpus(80e9, 80.0, CATALOG) == 23


def test_minimum_is_below_every_plan():
    made = workload(model__preset="llama-3.1-405b")
    least = minimum_memory(made, 64, 8)
    for plan in (
        Plan(8, 8, zero_stage=1),
        Plan(8, 4, data=2, zero_stage=1, recompute="full"),
        Plan(data=64, zero_stage=3, recompute="full"),
    ):
        assert least.low <= MemoryModel(made).peak_bytes(plan)[0]


def test_layers_of_llama_405b_on_16_stages():
    """126 layers on 16 stages: the first and the last hold one layer less [arXiv:2407.21783 §3.3.2]."""
    assert stage_layers(126, 16) == (7, *[8] * 14, 7)


PLANS = st.builds(
    Plan,
    tensor=st.sampled_from((1, 2, 4, 8)),
    pipeline=st.sampled_from((1, 2, 4, 8, 16)),
    virtual_stages=st.sampled_from((1, 2)),
    context=st.sampled_from((1, 2)),
    expert=st.just(1),
    data=st.sampled_from((1, 4, 32)),
    zero_stage=st.integers(0, 3),
    micro_batch=st.sampled_from((1, 2)),
    recompute=st.sampled_from(("none", "selective", "full")),
)
DENSE = MemoryModel(workload(model__preset="llama-3.1-70b"))
MIXTURE = MemoryModel(workload(model__preset="deepseek-v3"))


@settings(max_examples=150, deadline=None)
@given(plan=PLANS, expert=st.sampled_from((1, 4)), mixture=st.booleans())
def test_the_fast_path_finds_the_fullest_stage(plan, expert, mixture):
    model = MIXTURE if mixture else DENSE
    plan = replace(plan, expert=expert) if mixture else plan
    low, expected, high = model.peak_bytes(plan)
    ends = [model.total_range(stage, plan) for stage in model.allocated_terms(plan)]
    assert (low, expected, high) == pytest.approx(tuple(max(each) for each in zip(*ends, strict=True)))
    assert 0 < low <= expected <= high


@settings(max_examples=100, deadline=None)
@given(plan=PLANS)
def test_recomputing_and_sharding_never_take_more(plan):
    for stronger in (replace(plan, recompute="full"), replace(plan, zero_stage=1) if plan.zero_stage == 0 else plan):
        assert DENSE.peak_bytes(stronger)[1] <= DENSE.peak_bytes(plan)[1] * (1 + 1e-9)


@settings(max_examples=50, deadline=None)
@given(plan=PLANS, smaller=st.floats(1, 400), more=st.floats(0, 400))
def test_more_memory_never_makes_a_verdict_worse(plan, smaller, more):
    order = ("does_not_fit", "at_risk", "fits")
    verdicts = [estimate_memory(DENSE.workload, plan, quantity(size, "GiB"), DENSE).verdict for size in (smaller, smaller + more)]
    assert order.index(verdicts[0]) <= order.index(verdicts[1])


def test_offload_moves_the_optimizer_to_the_host():
    """Of 16 bytes per parameter, ZeRO-Offload leaves the 2 of the weights on the GPU [Ren 2021, arXiv:2101.06840 §4]."""
    made = workload(workload__kind="fine_tuning_full", model__preset="llama-3.1-8b", training__sequence_length=512)
    terms = MemoryModel(made).allocated_terms(Plan(zero_stage=3, recompute="full", offload="optimizer"))[0]
    assert sum(terms[:3]) / made.parameters.total == pytest.approx(2.0)
