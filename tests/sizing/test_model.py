"""Parameters and FLOPs against published counts."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalogs import load_catalog
from rules.answers import AnswerError, Answers
from rules.sizing.model import count_parameters, shape_from_answers, shape_from_preset
from rules.sizing.typical_shapes import typical_dense, typical_moe
from rules.sizing.workload import describe_workload


@pytest.fixture(scope="module")
def catalog():
    return load_catalog()


EXACT = {
    # integers counted from the released weights (safetensors index or keras-hub preset metadata), main model, tied embeddings once
    "llama-3.1-8b": 8_030_261_248,
    "llama-3.1-70b": 70_553_706_496,
    "llama-2-7b": 6_738_415_616,
    "gpt2": 124_439_808,
    "mixtral-8x7b": 46_702_792_704,
    "qwen2.5-72b": 72_706_203_648,
    "qwen3-235b-a22b": 235_093_634_560,
    "gpt-oss-120b": 116_829_156_672,
    "bloom-176b": 176_247_271_424,
}


@pytest.mark.parametrize(("preset", "published"), EXACT.items())
def test_counts_of_released_weights(preset, published, catalog):
    assert count_parameters(shape_from_preset(catalog.models[preset]), 4096).total == pytest.approx(published, rel=1e-3)


MULTIMODAL = {
    # all tensors of the released weights, vision tower and projector included [Hugging Face, safetensors metadata]
    "qwen3-vl-8b": 8_767_123_696,
    "llama-3.2-11b-vision": 10_642_941_475,
    "gemma-3-12b": 12_187_325_040,
    "qwen3-vl-235b-a22b": 235_670_022_896,
}


@pytest.mark.parametrize(("preset", "published"), MULTIMODAL.items())
def test_towers_count_in_the_total(preset, published, catalog):
    shape = shape_from_preset(catalog.models[preset])
    assert count_parameters(shape, 4096).total == pytest.approx(published, rel=0.01)
    assert shape.has_towers


def test_a_changed_preset_keeps_its_share_of_towers(catalog):
    """Half of the layers of Jamba, 51.6 billion parameters of which 0.54 billion are embedding and head, are 26 billion."""
    halved = describe_workload(Answers.of({"model.preset": "jamba-v0.1", "model.layers": 16}), catalog)
    assert halved.parameters.total == pytest.approx((51.57e9 - 0.54e9) / 2 + 0.54e9, rel=0.02)


OTHER_SCOPE = {
    "falcon-7b": "the published total holds the embedding twice",
    "qwen1.5-0.5b": "the published total holds the tied embedding twice",
    "mimo-7b": "the published total holds the multi-token-prediction layer",
    "deepseek-v3.2": "the published total holds an indexer and the multi-token-prediction layer",
    "glm-4.5": "the published total holds the multi-token-prediction layer",
    "glm-5.2": "the published total holds the multi-token-prediction layer and an indexer",
    "internlm-7b": "the published total is the name's 7B",
    "opt-13b": "the published total is the name's 13B",
}


def test_every_dense_and_mixture_preset_is_within_one_percent(catalog):
    """The published totals of the catalog, but for those that count something else, each with its reason."""
    off = {}
    for preset in catalog.models:
        if preset.kind not in ("dense", "moe") or preset.published_parameters is None or preset.id in OTHER_SCOPE:
            continue
        counted = count_parameters(shape_from_preset(preset), 4096).total
        error = counted / preset.published_parameters.to("1") - 1
        if abs(error) > 0.01:
            off[preset.id] = round(error, 4)
    assert off == {}


@pytest.mark.parametrize(
    ("preset", "active"),
    [("deepseek-v3", 37e9), ("deepseek-v2", 21e9), ("mixtral-8x7b", 12.9e9), ("qwen3-235b-a22b", 22e9)],
)
def test_active_parameters(preset, active, catalog):
    """Figures of the model cards: DeepSeek-V3 37B, V2 21B, Mixtral 12.9B, Qwen3 22B."""
    assert count_parameters(shape_from_preset(catalog.models[preset]), 4096).active == pytest.approx(active, rel=0.03)


@pytest.mark.parametrize(("preset", "gflops"), [("deepseek-v2", 155.0), ("deepseek-v3", 250.0)])
def test_training_flops_per_token(preset, gflops, catalog):
    """arXiv:2505.09343 table 2, sequences of 4,096 tokens, causal attention: 155 and 250 GFLOP per token."""
    counted = count_parameters(shape_from_preset(catalog.models[preset]), 4096)
    assert counted.flops_per_token / 1e9 == pytest.approx(gflops, rel=0.01)


def test_training_flops_of_llama_405b(catalog):
    """2.54 TFLOP per token at 8,192 tokens with causal attention (folu.me, DeepSeek-V3 against Llama 3)."""
    counted = count_parameters(shape_from_preset(catalog.models["llama-3.1-405b"]), 8192)
    assert counted.flops_per_token / 1e12 == pytest.approx(2.54, rel=0.01)


def test_mtp_layer_is_apart(catalog):
    """DeepSeek-V3: 671B main model; its model card gives 14B for the module, shared embedding and head (1.85B) included, rounded up."""
    counted = count_parameters(shape_from_preset(catalog.models["deepseek-v3"]), 4096)
    assert counted.total == pytest.approx(671e9, rel=1e-3)
    assert counted.mtp + 2 * counted.embedding == pytest.approx(14e9, rel=0.05)


def test_gated_ffn_of_an_explicit_shape(catalog):
    """Qwen1.5-72B by its shape: 72.3B, where a two-matrix FFN would give 56.2B (EleutherAI cookbook issue 36)."""
    answers = Answers.of(
        {
            "model.layers": 80,
            "model.hidden_size": 8192,
            "model.ffn_size": 24576,
            "model.attention_heads": 64,
            "model.key_value_heads": 64,
            "model.vocabulary_size": 152064,
        }
    )
    assert count_parameters(shape_from_answers(answers, catalog), 4096).total == pytest.approx(72.3e9, rel=0.01)


@pytest.mark.parametrize(
    ("preset", "published"),
    [("megatron-gpt-145b", 145.6e9), ("megatron-gpt-530b", 529.6e9), ("megatron-gpt-1t", 1008e9), ("gpt-3-175b", 174.6e9)],
)
def test_gpt_of_the_megatron_papers(preset, published, catalog):
    """Narayanan 2021 table 1 and Korthikanti 2022 table 3."""
    assert count_parameters(shape_from_preset(catalog.models[preset]), 2048).total == pytest.approx(published, rel=0.005)


def test_resnet_50_flops(catalog):
    """4.1 G multiply-adds forward are 24.6 GFLOP per trained image [He 2015; torchvision]."""
    counted = count_parameters(shape_from_preset(catalog.models["resnet50"]), 1)
    assert counted.flops_per_token == pytest.approx(24.6e9, rel=0.01)
    assert counted.total == pytest.approx(25_557_032, rel=1e-3)


@settings(max_examples=60, deadline=None)
@given(exponent=st.floats(5.0, 14.0))
def test_a_typical_shape_has_the_stated_size(exponent):
    shape = typical_dense(10.0**exponent)
    assert count_parameters(shape, 4096).total == pytest.approx(10.0**exponent, rel=0.01)
    assert shape.assumed
    assert shape.attention_heads % shape.key_value_heads == 0


@pytest.mark.parametrize(("total", "active"), [(671e9, 37e9), (235e9, 22e9), (1e12, 32e9), (30.5e9, 3.3e9)])
def test_a_typical_mixture_has_both_sizes(total, active):
    """Totals and active parameters of DeepSeek-V3, Qwen3-235B, Kimi K2, Qwen3-30B."""
    counted = count_parameters(typical_moe(total, active), 4096)
    assert counted.total == pytest.approx(total, rel=0.01)
    assert counted.active == pytest.approx(active, rel=0.01)


def test_a_typical_large_shape_divides_over_a_server():
    for size in (7e9, 13e9, 30e9, 70e9, 405e9):
        shape = typical_dense(size)
        assert shape.attention_heads % 8 == 0
        assert shape.layers % 4 == 0


@pytest.mark.parametrize(
    ("raw", "key"),
    [
        ({"model.preset": "lama-3.1-70b-x"}, "model.preset"),
        ({"model.preset": "llama-3.1-8b", "model.parameters": "70B"}, "model.parameters"),
        ({"model.parameters": "30B", "model.active_parameters": "40B"}, "model.active_parameters"),
        ({"model.preset": "llama-3.1-8b", "model.attention_heads": 30, "model.key_value_heads": 8}, "model.key_value_heads"),
        ({"model.experts": 2, "model.experts_per_token": 1024}, "model.experts_per_token"),
        ({"model.parameters": "70B", "model.experts": 2, "model.experts_per_token": 1024}, "model.experts_per_token"),
        ({"model.preset": "mixtral-8x7b", "model.experts_per_token": 9}, "model.experts_per_token"),
        ({"model.preset": "deepseek-v3", "model.experts": 4}, "model.experts"),
        ({"model.layers": 8, "model.hidden_size": 8, "model.attention_heads": 4096}, "model.attention_heads"),
        ({"model.preset": "llama-3.1-8b", "model.hidden_size": 16}, "model.hidden_size"),
    ],
)
def test_contradictions_name_the_answer(raw, key, catalog):
    with pytest.raises(AnswerError) as error:
        shape_from_answers(Answers.of(raw), catalog)
    assert error.value.key == key


@pytest.mark.parametrize(
    ("raw", "heads"),
    [
        ({"model.layers": 12, "model.hidden_size": 1536, "model.attention_heads": 12}, 6),
        ({"model.preset": "llama-3.1-8b", "model.attention_heads": 30}, 6),
        ({"model.preset": "llama-3.1-8b", "model.attention_heads": 4}, 4),
        ({"model.attention_heads": 7}, 7),
        ({"model.preset": "llama-2-7b", "model.attention_heads": 40}, 40),
    ],
)
def test_assumed_key_value_heads_divide_the_stated_heads(raw, heads, catalog):
    """Grouped queries share eight key-value heads where eight divides the heads; every head keeps its own in multi-head attention."""
    assert shape_from_answers(Answers.of(raw), catalog).key_value_heads == heads


def test_nothing_said_means_llama_8b(catalog):
    shape = shape_from_answers(Answers(), catalog)
    assert (shape.layers, shape.hidden_size, shape.assumed) == (32, 4096, True)


def test_overrides_change_a_preset(catalog):
    shape = shape_from_answers(Answers.of({"model.preset": "llama-3.1-8b", "model.layers": 16}), catalog)
    assert shape.layers == 16
    assert count_parameters(shape, 4096).total < 5e9


def test_sliding_windows_cost_less(catalog):
    """gpt-oss-120b: half of the layers see 128 tokens, so twice the context costs less than twice the attention [gpt-oss model card]."""
    shape = shape_from_preset(catalog.models["gpt-oss-120b"])
    assert shape.sliding_window == 128
    short, long = (count_parameters(shape, tokens).flops_per_token for tokens in (4096, 131_072))
    everywhere = 131_072 / 4096
    assert long < short * everywhere / 2


def test_a_hybrid_keeps_its_stated_total(catalog):
    """Nemotron 3 Nano: 31.6B in all, which its attention layers alone would not give [model card]."""
    assert count_parameters(shape_from_preset(catalog.models["nemotron-3-nano-30b-a3b"]), 4096).total == pytest.approx(31.6e9, rel=0.01)


def test_tables_answered_beside_a_preset_replace_its_own(catalog):
    """A third of a trillion table entries beside the 113B preset is a model of 300B, not of 113B."""
    answers = Answers.of({"workload.kind": "recommendation", "model.preset": "dlrm-113b", "model.embedding_parameters": "300B"})
    shape = shape_from_answers(answers, catalog)
    assert shape.embedding_parameters == 300e9
    assert count_parameters(shape, 1).total > 300e9
