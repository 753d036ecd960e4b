"""The scope of the memory model, item by item: each technique against what a paper, a manual or a measured run says of it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from catalogs import load_catalog
from catalogs.quantities import magnitude, quantity
from rules.answers import AnswerError
from rules.sizing.memory import MemoryModel, estimate_memory
from rules.sizing.memory_activations import ActivationOptions, layer_activations
from rules.sizing.memory_overheads import TERMS
from rules.sizing.memory_post_training import other_model_bytes, other_models, rollout_host_bytes
from rules.sizing.parameters import embedding_parameters
from rules.sizing.pipeline import in_flight
from rules.sizing.results import Plan
from rules.sizing.training_bytes import state_bytes
from tests.sizing.test_memory import with_shape, workload

CATALOG = load_catalog()
GIB = 2.0**30
B = 1e9


def state(made, plan, options=None):
    """Return bytes of weights, gradients and optimizer on the fullest stage."""
    stages = MemoryModel(made, options).allocated_terms(plan)
    return max(sum(stage[:3]) for stage in stages)


def term(made, plan, name, options=None, stage=0):
    return MemoryModel(made, options).allocated_terms(plan)[stage][TERMS.index(name)]


LLAMA_8B = {"model__preset": "llama-3.1-8b", "training__sequence_length": 8192, "training__global_batch": 64}
PARAMETERS = 8.03e9

SHARDING = [
    # bytes per parameter on 8 ranks with AdamW in BF16: ZeRO, arXiv:1910.02054 §5 with 4-byte gradients (K = 12)
    ("ZeRO-0", Plan(data=8), 18.0),
    ("ZeRO-1: 6 + 12/8 [Megatron-LM, distributed optimizer]", Plan(data=8, zero_stage=1), 7.5),
    ("ZeRO-2: 2 + 16/8", Plan(data=8, zero_stage=2), 4.0),
    ("ZeRO-3: 16/8 [torchtitan]", Plan(data=8, zero_stage=3), 2.0),
    ("hybrid: sharded over 8 of 64 [PyTorch FSDP, HYBRID_SHARD]", Plan(data=64, zero_stage=3, shard_group=8), 2.0),
    ("context parallelism counts as data parallelism for the optimizer", Plan(data=4, context=2, zero_stage=1), 7.5),
    ("ZeRO-Offload: 2 bytes stay, gradients are sharded out [arXiv:2101.06840 §4]", Plan(data=8, zero_stage=2, offload="optimizer"), 2.0),
    ("ZeRO-3 with the optimizer offloaded: 2/8", Plan(data=8, zero_stage=3, offload="optimizer"), 0.25),
    ("ZeRO-3 with parameters offloaded", Plan(data=8, zero_stage=3, offload="parameters"), 0.0),
    ("ZeRO-Infinity on drives [arXiv:2104.07857]", Plan(data=8, zero_stage=3, offload="nvme"), 0.0),
]


@pytest.mark.parametrize(("plan", "each"), [row[1:] for row in SHARDING], ids=[row[0] for row in SHARDING])
def test_sharding_and_offload(plan, each):
    assert state(workload(**LLAMA_8B), plan) / PARAMETERS == pytest.approx(each, rel=0.002, abs=1e-6)


OPTIMIZERS = [
    # bytes of moments per parameter
    ("adamw", 8.0),  # two in 32 bits
    ("adamw_bf16", 4.0),  # two in 16 bits [DeepSeek-V3, arXiv:2412.19437 §3.3.3]
    ("adamw_8bit", 2.0),  # two in 8 bits [arXiv:2110.02861]
    ("adafactor", 4.0),  # a first moment; the second is factored [arXiv:1804.04235]
    ("lion", 4.0),  # one momentum [arXiv:2302.06675]
    ("muon", 4.0 + 4.0 * 1.0507 / 8.03),  # one momentum in the layers, two in embedding and head [Jordan 2024]
    ("sgd", 4.0),  # one momentum
]


@pytest.mark.parametrize(("optimizer", "moments"), OPTIMIZERS)
def test_optimizers(optimizer, moments):
    """2 weight + 4 gradient + 4 master + moments [ml-engineering book, training/performance]."""
    found = state(workload(**LLAMA_8B, training__optimizer=optimizer), Plan()) / PARAMETERS
    assert found == pytest.approx(10 + moments, rel=0.002)


WITHOUT_MOMENTUM = [
    # Adafactor of Transformers keeps no first moment unless beta1 is given; SGD of PyTorch has no momentum unless it is given
    ("adafactor", 4.0 / 8.0),
    ("sgd", 4.0 / 8.0),
    ("adamw", 1.0),
]


@pytest.mark.parametrize(("optimizer", "least"), WITHOUT_MOMENTUM)
def test_optimizers_that_may_run_without_momentum(optimizer, least):
    kernel = MemoryModel(workload(**LLAMA_8B, training__optimizer=optimizer))
    assert kernel.ends(Plan(data=8, zero_stage=1))[TERMS.index("optimizer")] == pytest.approx((least, 1.03))


MUON = [
    # billions of matrices in layers, and of embedding and head, of which Muon leaves the latter to AdamW [Jordan 2024; Moonlight,
    # arXiv:2502.16982 §2.2]; 8 bytes of moments there, 4 in the layers
    ("llama-3.1-8b", 8.03 - 1.0507, 1.0507),
    ("llama-3.2-1b", 1.2358 - 0.2627, 0.2627),
]


@pytest.mark.parametrize(("model", "layers", "root"), MUON)
def test_muon_leaves_embeddings_to_adamw(model, layers, root):
    made = workload(model__preset=model, training__optimizer="muon", training__sequence_length=4096, training__global_batch=64)
    expected = (4 + 4) * layers * B + (4 + 8) * root * B  # master weights and moments
    assert term(made, Plan(), "optimizer") == pytest.approx(expected, rel=0.002)
    assert term(made, Plan(data=8, zero_stage=1), "optimizer") == pytest.approx(expected / 8, rel=0.002)
    assert term(made, Plan(tensor=2, data=4, zero_stage=3), "optimizer") == pytest.approx(expected / 8, rel=0.002)


PRECISIONS = [
    # bytes per element of a product's saved input
    ("bf16", 2.0),
    ("fp16", 2.0),
    ("fp8", 1.0),
    ("mxfp8", 1.0 + 1 / 32),  # one scale for 32 elements [OCP MX 1.0 §5.2]
    ("nvfp4", 0.5 + 1 / 16),  # one scale for 16 elements [Transformer Engine]
]


@pytest.mark.parametrize(("precision", "each"), PRECISIONS)
def test_low_precision_keeps_inputs_of_products_small(precision, each):
    """Per token and layer: two norm outputs and the down projection's input are kept in the precision of the products."""
    shape = workload(**LLAMA_8B).model
    kept = layer_activations(shape, precision, 8192, "none", ActivationOptions(), moe=False)
    # counted for Llama 3 8B: norm inputs 2·2h, gate and up 2·2f, the rest follows the precision: 2h + f elements
    expected = 4 * 4096 + 4 * 14_336 + each * (2 * 4096 + 14_336)
    attention = 2 * 2 * 4096 + 4 * 32  # queries and output, and a log-sum-exp per head
    assert kept.whole + kept.split - attention == pytest.approx(expected)


WEIGHTS = [
    # bytes per parameter of a layer below full sharding: at least, expected, at most
    ("bf16", 2.0, 2.0, 2.0),
    # FP8 weights alone where products take any layout; with their transpose, as on Hopper; and both cached beside BF16 weights
    # [Transformer Engine, "Handling transposes"; Megatron-LM, --fp8-param-gather: "do not use any other intermediate dtype"]
    ("fp8", 1.0, 2.0, 4.0),
    # both directions have scales of their own, one byte for 32 elements [OCP MX 1.0]
    ("mxfp8", 2.0625, 2.0625, 4.0625),
    # BF16 weights cast for each product, or both directions cached beside them, half a byte and a scale for 16 elements
    ("nvfp4", 2.0, 3.125, 3.125),
]


@pytest.mark.parametrize(("precision", "least", "expected", "most"), WEIGHTS)
def test_copies_of_weights_in_low_precision(precision, least, expected, most):
    made = workload(**LLAMA_8B, training__precision=precision)
    kernel, plan, root = MemoryModel(made), Plan(data=8, zero_stage=1), 1.0507 * B
    found = kernel.allocated_terms(plan)[0][TERMS.index("parameters")]
    down, up = kernel.ends(plan)[TERMS.index("parameters")]
    # embedding and head stay in BF16
    assert found == pytest.approx(expected * (PARAMETERS - root) + 2 * root, rel=0.002)
    assert down * found <= 1.001 * (least * (PARAMETERS - root) + 2 * root)
    assert up * found >= most * (PARAMETERS - root) + 2 * root
    assert (down, up) == pytest.approx((least / expected, 1.02 * most / expected))
    # full sharding gathers what it needs and keeps no copy
    assert term(made, Plan(data=8, zero_stage=3), "parameters") == 0.0


def test_fp32_has_no_second_copy():
    """4 weight + 4 gradient + 8 moments: 16 bytes [ml-engineering book, training/performance]."""
    assert state_bytes("fp32", "adamw").total == 16.0


RECOMPUTED = [
    # what each module of selective recomputation drops per token of a DeepSeek-V3 layer [arXiv:2603.07685 §4, table 4]
    ("norm", 4 * 7168),
    ("mla_up_projection", 2 * (2 * 128 * 192 + 128 * 128)),
]


@pytest.mark.parametrize(("module", "dropped"), RECOMPUTED)
def test_modules_of_selective_recomputation(module, dropped):
    shape = workload(model__preset="deepseek-v3").model
    options = ActivationOptions(selective=(module,))
    kept, plain = (layer_activations(shape, "bf16", 4096, each, options, moe=True) for each in ("selective", "none"))
    assert plain.whole + plain.split - kept.whole - kept.split == pytest.approx(dropped)


def test_full_recomputation_keeps_two_bytes_per_element():
    """2·s·b·h for each layer [arXiv:2205.05198 §5]; the layer that is made again is smaller than the logits, which are gone by then."""
    made = workload(**LLAMA_8B)
    layer = 8192 * (4096 * 13 + 6 * 14_336 + 4 * 32)
    assert layer < term(made, Plan(recompute="full"), "loss_head")
    assert term(made, Plan(recompute="full"), "activations") == pytest.approx(32 * 8192 * 2 * 4096)


def test_quadratic_attention_and_flash():
    """5·a·s bytes more per token with dropout [arXiv:2205.05198 eq. 1]; a log-sum-exp per head with FlashAttention [arXiv:2205.14135]."""
    shape = workload(**LLAMA_8B).model
    flash = layer_activations(shape, "bf16", 2048, "none", ActivationOptions(), moe=False)
    quadratic = layer_activations(shape, "bf16", 2048, "none", ActivationOptions(quadratic_attention=True, dropout=True), moe=False)
    assert quadratic.split - flash.split == pytest.approx(5 * 32 * 2048 - 4 * 32)


def test_packed_sequences_take_the_memory_of_their_tokens():
    """Eight documents of 1,024 tokens packed into one sequence: kernels keep nothing between tokens [FlashAttention, varlen]."""
    whole, short = (
        workload(model__preset="llama-3.1-8b", training__sequence_length=length, training__global_batch=64) for length in (8192, 1024)
    )
    packed = term(whole, Plan(micro_batch=1), "activations")
    assert packed == pytest.approx(term(short, Plan(micro_batch=8), "activations"))


SCHEDULES = [
    # micro-batches that the first of 8 stages holds
    ("gpipe", 64.0),
    ("1f1b", 8.0),
    ("zb_h1", 8.0),  # p [arXiv:2401.10241 table 1]
    ("zb_h2", 15.0),  # 2p − 1 [same]
    ("zb_v", 8.0),  # p, on all stages alike [arXiv:2405.15362]
    ("dualpipe", 9.0),  # p + 1 [arXiv:2412.19437 table 2]
]


@pytest.mark.parametrize(("schedule", "held"), SCHEDULES)
def test_pipeline_schedules(schedule, held):
    assert in_flight(0, 8, 1, 64, schedule) == held
    made = workload(model__preset="llama-3.1-70b", training__sequence_length=4096, training__global_batch=64)
    plan = Plan(pipeline=8, micro_batch=1)
    one = term(made, replace(plan, pipeline=1), "activations") / 80
    assert term(made, replace(plan, schedule=schedule), "activations") == pytest.approx(held * 10 * one)


def test_adapters_and_quantised_bases():
    """LoRA keeps 2 bytes of a frozen parameter, QLoRA 4.127 bits in the layers [arXiv:2305.14314 §3]; embeddings stay in 16 bits."""
    lora, qlora = (workload(workload__kind=f"fine_tuning_{kind}", model__preset="llama-2-7b") for kind in ("lora", "qlora"))
    assert term(lora, Plan(), "parameters") / 6.738e9 == pytest.approx(2.0, rel=0.02)
    root = sum(embedding_parameters(qlora.model))
    expected = (6.738e9 - root) * 4.127 / 8 + 2 * root
    assert term(qlora, Plan(), "parameters") == pytest.approx(expected, rel=0.03)


def test_multi_token_prediction():
    """DeepSeek-V3: 671 billion parameters, and 14 billion of the prediction module, embedding and head counted in it once more
    [deepseek-ai/DeepSeek-V3, README_WEIGHTS: 11.5 billion of its own, shared embedding and head of 0.9 billion each]."""
    made = workload(model__preset="deepseek-v3", training__sequence_length=4096, training__global_batch=8192)
    without = with_shape(made, mtp_layers=0)
    plan = Plan(pipeline=16, expert=64, data=128, zero_stage=1)
    parts, plain = (MemoryModel(each).stages(plan) for each in (made, without))
    own = sum(part.dense + part.routed for part in parts) - sum(part.dense + part.routed for part in plain)
    assert own == pytest.approx(11.5e9, rel=0.02)
    assert parts[:-1] == plain[:-1], "it stands on the last stage"
    assert term(made, plan, "loss_head", stage=-1) == pytest.approx(2 * term(without, plan, "loss_head", stage=-1))


POST_TRAINING = [
    # models of the trained one's size beside it, frozen and trained
    ("dpo", "full", (1, 0)),  # arXiv:2305.18290 §4
    ("grpo", "full", (1, 0)),  # arXiv:2402.03300 §4.1
    ("ppo", "full", (2, 1)),  # arXiv:2203.02155 §3.5
    ("dpo", "lora", (0, 0)),
    ("ppo", "lora", (1, 1)),
]


@pytest.mark.parametrize(("method", "kind", "expected"), POST_TRAINING)
def test_models_of_post_training(method, kind, expected):
    made = workload(workload__kind=f"fine_tuning_{kind}", model__preset="llama-3.1-8b", training__post_training=method)
    assert tuple(other_models(made)) == expected


def test_both_answers_of_a_pair_are_held_at_once():
    """The loss of DPO is of both answers' likelihoods, which go through the model together [arXiv:2305.18290 eq. 7; TRL, DPOTrainer,
    concatenated_forward]: the smallest micro-batch is two sequences."""
    base = {"workload__kind": "fine_tuning_full", "model__preset": "llama-3.1-8b", "training__sequence_length": 2048}
    supervised, pairs = (workload(**base, training__post_training=method) for method in ("none", "dpo"))
    one, two = Plan(data=8, zero_stage=3, micro_batch=1), Plan(data=8, zero_stage=3, micro_batch=2)
    for name in ("activations", "loss_head"):
        assert term(pairs, one, name) == term(pairs, two, name) == term(supervised, two, name) == 2 * term(supervised, one, name)


def test_four_models_of_reinforcement_learning():
    """PPO: 18 bytes per parameter of the policy and of the critic, 2 of reference and reward model: 40 in all over 8 GPUs."""
    made = workload(workload__kind="fine_tuning_full", model__preset="llama-3.1-8b", training__post_training="ppo")
    plan = Plan(data=8, zero_stage=3, recompute="full")
    _, expected, high = other_model_bytes(made, plan)
    assert expected * 8 / PARAMETERS == pytest.approx(40 - 18, rel=0.002)
    assert high > expected
    terms = estimate_memory(made, plan, quantity(80, "GiB")).terms
    assert magnitude(terms["other_models"], "GiB") == pytest.approx(22 * PARAMETERS / 8 / GIB, rel=0.002)


def test_engine_that_samples():
    """Awake it keeps 2 bytes per parameter over its tensor-parallel ranks; asleep the same on the host [vLLM, sleep mode, level 1]."""
    base = {"workload__kind": "fine_tuning_full", "model__preset": "llama-3.1-8b", "training__post_training": "grpo"}
    away, awake, asleep = (workload(**base, training__rollout=where) for where in ("separate", "awake", "sleeping"))
    plan = Plan(tensor=2, data=4, zero_stage=1)
    # and keys and values of one sequence: 2 × 32 layers × 8 heads / 2 × 128 × 2 B for each of its tokens [arXiv:2309.06180 §2]
    cache = awake.sequence_length * 2 * 32 * 4 * 128 * 2
    assert other_model_bytes(awake, plan)[1] - other_model_bytes(away, plan)[1] == pytest.approx(PARAMETERS + cache, rel=0.002)
    assert other_model_bytes(asleep, plan) == other_model_bytes(away, plan)
    assert rollout_host_bytes(asleep) == pytest.approx(2 * PARAMETERS, rel=0.002)
    assert rollout_host_bytes(awake) == 0.0


def test_what_post_training_cannot_be():
    with pytest.raises(AnswerError, match="fine-tuning"):
        workload(workload__kind="pretraining", model__preset="llama-3.1-8b", training__post_training="ppo")


def test_memory_that_others_take():
    """A cloud's network software took 5 GiB of every GPU [ml-engineering, how to choose a cloud provider]."""
    made, taken = workload(**LLAMA_8B), workload(**LLAMA_8B, training__reserved_memory="5 GiB")
    plan = Plan(data=8, zero_stage=1)
    free, less = (MemoryModel(each).peak_bytes(plan) for each in (made, taken))
    assert [after - before for before, after in zip(free, less, strict=True)] == pytest.approx([5 * GIB] * 3)
    assert magnitude(estimate_memory(taken, plan, quantity(80, "GiB")).terms["reserved"], "GiB") == pytest.approx(5)


TABLES = [
    # what the fullest of 8 GPUs holds of 26 tables
    ("balanced", 1 / 8),
    ("row", 1 / 8),
    ("column", 1 / 8),
    ("table", 4 / 26),  # four of 26 tables on two GPUs, three on the others
]


@pytest.mark.parametrize(("sharding", "share"), TABLES)
def test_layouts_of_embedding_tables(sharding, share):
    """DLRM of 22.8 billion parameters: 26 tables of 84.9 GiB with SGD [NVIDIA DeepLearningExamples, DLRM]."""
    made = workload(
        workload__kind="recommendation", model__preset="dlrm-22.8b", training__optimizer="sgd", training__embedding_sharding=sharding
    )
    weights = term(made, Plan(data=8, micro_batch=8192), "parameters")
    assert weights / GIB == pytest.approx(84.9 * share, rel=0.03)


def test_optimizer_of_tables():
    """Adam keeps two more of each weight, Adagrad by rows one number for a row of 128 [NVIDIA DCNv2: 84.9 GiB become 250; FBGEMM]."""
    adam, adagrad, dense = (
        workload(workload__kind="recommendation", model__preset="dlrm-22.8b", training__optimizer="adamw", **more)
        for more in ({}, {"training__embedding_optimizer": "adagrad"}, {"training__embedding_optimizer": "sgd"})
    )
    plan = Plan(data=8, micro_batch=8192)
    kept = [8 * term(each, plan, "optimizer") for each in (adam, adagrad, dense)]
    assert (kept[0] - kept[2]) / GIB == pytest.approx(250 - 84.9, rel=0.03)
    assert (kept[1] - kept[2]) / GIB == pytest.approx(84.9 / 128, rel=0.03)
    split = replace(adagrad, embedding_sharding="column")
    assert 8 * term(split, plan, "optimizer") - kept[2] == pytest.approx(8 * (kept[1] - kept[2]), rel=0.01)
    assert magnitude(adam.checkpoint, "GB") == pytest.approx(3 * magnitude(dense.checkpoint, "GB"), rel=0.01)


@pytest.mark.parametrize(("model", "said"), [("nemotron-h-56b", True), ("jamba-v0.1", True), ("t5-11b", True), ("llama-3.1-8b", False)])
def test_layers_that_are_no_transformer_layers_are_out_of_scope_and_said_so(model, said):
    """54 of Nemotron-H 56B's 118 blocks are Mamba mixers, 54 feed-forwards, 10 attention: none is a whole layer [arXiv:2504.03624]."""
    made = workload(model__preset=model, training__sequence_length=4096, training__global_batch=64)
    notes = estimate_memory(made, Plan(data=8, zero_stage=3), quantity(80, "GiB")).notes
    assert any(note.startswith("out of scope: activations of layers that are no transformer layers") for note in notes) is said


@pytest.mark.parametrize(("schedule", "stages"), [("1f1b", (3,)), ("zb_v", (0,)), ("dualpipe", (0, 3))])
def test_the_stages_with_a_loss(schedule, stages):
    """DualPipe's micro-batches enter at both ends and leave at both, where each has a copy of the head [arXiv:2412.19437 §3.2.1]."""
    kernel = MemoryModel(workload(**LLAMA_8B))
    terms = kernel.allocated_terms(Plan(pipeline=4, data=2, zero_stage=1, schedule=schedule))
    assert tuple(stage for stage, each in enumerate(terms) if each[TERMS.index("loss_head")]) == stages
