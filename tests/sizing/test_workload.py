"""Workloads from answers: defaults follow published practice, and say so."""

from __future__ import annotations

import pytest

from catalogs import load_catalog
from rules.answers import AnswerError, Answers
from rules.sizing.workload import describe_workload


@pytest.fixture(scope="module")
def catalog():
    return load_catalog()


def workload(catalog, **raw):
    return describe_workload(Answers.of({key.replace("__", "."): value for key, value in raw.items()}), catalog)


def test_no_answers_at_all(catalog):
    made = describe_workload(Answers(), catalog)
    assert made.unit == "token"
    for key in (
        "model.preset",
        "workload.kind",
        "training.precision",
        "training.sequence_length",
        "training.tokens",
        "training.global_batch",
    ):
        assert key in made.assumed


def test_chinchilla_tokens(catalog):
    """A 70B is trained on 1.4 trillion tokens when compute is used best [Hoffmann 2022, arXiv:2203.15556]."""
    made = workload(catalog, model__parameters="70B")
    assert made.units_total == pytest.approx(1.4e12, rel=0.01)


def test_given_values_are_no_assumptions(catalog):
    made = workload(
        catalog, model__preset="llama-3.1-405b", training__tokens="15.6T", training__sequence_length=8192, training__global_batch=2048
    )
    assert made.units_total == pytest.approx(15.6e12)
    assert not {"model.preset", "training.tokens", "training.sequence_length", "training.global_batch"} & set(made.assumed)


def test_large_models_take_large_batches(catalog):
    """Llama 3 405B: 16 million tokens per step; DeepSeek-V3: 63 million [arXiv:2407.21783 §3.4.1; arXiv:2412.19437 §4.2]."""
    for preset, tokens in (("llama-3.1-405b", 16e6), ("deepseek-v3", 63e6)):
        made = workload(catalog, model__preset=preset)
        assert made.global_batch * made.sequence_length == pytest.approx(tokens, rel=0.1)


@pytest.mark.parametrize(("rank", "trainable"), [(64, 159_907_840), (16, 39_976_960)])
def test_lora_parameters_of_llama_7b(rank, trainable, catalog):
    """Adapters of rank 64 on all linear layers hold 4,997,120 parameters per layer (per-tensor list in polite-flamingo issue 3)."""
    made = workload(catalog, workload__kind="fine_tuning_lora", model__preset="llama-2-7b", training__lora_rank=rank)
    assert made.trainable_parameters == trainable


def test_lora_checkpoint_holds_the_adapters_only(catalog):
    """159.9 million adapter parameters at 14 bytes are 2.2 GB, not the 94 GB of the 7B model."""
    made = workload(catalog, workload__kind="fine_tuning_lora", model__preset="llama-2-7b", training__lora_rank=64)
    assert made.checkpoint.to("GB").magnitude == pytest.approx(2.24, rel=0.01)


def test_frozen_weights_save_a_third_of_the_flops(catalog):
    full = workload(catalog, workload__kind="fine_tuning_full", model__preset="llama-2-7b")
    lora = workload(catalog, workload__kind="fine_tuning_lora", model__preset="llama-2-7b")
    assert lora.flops_per_unit / full.flops_per_unit == pytest.approx(2 / 3)


def test_checkpoint_of_a_70b(catalog):
    """70 billion parameters at 14 bytes are 980 GB; MLPerf Storage 2.0 saves 912 GB (12.9 bytes) for Llama 3 70B."""
    made = workload(catalog, model__preset="llama-3.1-70b")
    assert made.checkpoint.to("GB").magnitude == pytest.approx(988, rel=0.01)


def test_dataset_bytes_follow_the_vocabulary(catalog):
    """A token takes two bytes below 65,500 entries, else four [Megatron Core, indexed_dataset]."""
    small = workload(catalog, model__preset="llama-2-7b", training__tokens="2T")
    large = workload(catalog, model__preset="llama-3.1-8b", training__tokens="2T")
    assert small.dataset.to("TB").magnitude == pytest.approx(4.0)
    assert large.dataset.to("TB").magnitude == pytest.approx(8.0)


def test_stated_data_size_wins(catalog):
    made = workload(catalog, model__preset="llama-3.1-8b", data__size="30 TB")
    assert made.dataset.to("TB").magnitude == pytest.approx(30.0)


def test_imagenet(catalog):
    """1.28 million images for 90 epochs: 115 million images; 141 GB at 110 kB each [Russakovsky 2015; Goyal 2017]."""
    made = workload(catalog, workload__kind="vision", model__preset="resnet50")
    assert (made.unit, made.data_kind) == ("image", "image")
    assert made.units_total == pytest.approx(115.3e6, rel=0.01)
    assert made.dataset.to("GB").magnitude == pytest.approx(141, rel=0.01)
    assert made.flops_per_unit == pytest.approx(24.6e9, rel=0.01)


def test_an_image_costs_a_vision_transformer_all_its_patches(catalog):
    """ViT-L/16 at 224²: 61.6 G multiply-adds forward [torchvision], about 370 GFLOP per trained image."""
    made = workload(catalog, workload__kind="vision", model__preset="vit-l-16")
    assert made.flops_per_unit == pytest.approx(3 * 2 * 61.55e9, rel=0.03)
    assert made.sequence_length == 197


def test_recommendation_model(catalog):
    made = workload(catalog, workload__kind="recommendation", model__embedding_parameters="22.8B")
    assert (made.unit, made.data_kind, made.sequence_length) == ("sample", "tabular", 1)
    assert made.parameters.total == pytest.approx(22.8e9, rel=0.001)


@pytest.mark.parametrize(
    ("raw", "key"),
    [
        ({"workload.kind": "recommendation", "model.preset": "llama-3.1-8b"}, "model.preset"),
        ({"workload.kind": "pretraining", "model.preset": "resnet50"}, "workload.kind"),
        ({"workload.kind": "vision", "model.preset": "deepseek-v3"}, "model.preset"),
        ({"workload.kind": "fine_tuning_lora", "model.parameters": "1M", "training.lora_rank": 60000}, "training.lora_rank"),
    ],
)
def test_combinations_that_cannot_be(raw, key, catalog):
    with pytest.raises(AnswerError) as error:
        describe_workload(Answers.of(raw), catalog)
    assert error.value.key == key
    assert "expected" in str(error.value)


def test_assumed_numbers_are_written_for_reading(catalog):
    """Twenty tokens for each of 8.03 billion parameters."""
    said = describe_workload(Answers(), catalog).assumed["training.tokens"]
    assert said.startswith("160.6 billion: ")


def test_assumed_key_value_heads_are_an_assumption(catalog):
    made = describe_workload(Answers.of({"model.preset": "llama-3.1-8b", "model.attention_heads": 12}), catalog)
    assert made.assumed["model.key_value_heads"].startswith("6: ")
    own = describe_workload(Answers.of({"model.preset": "llama-3.1-8b"}), catalog)
    assert "model.key_value_heads" not in own.assumed
