"""Answers that contradict each other, names that do not exist, and answers without effect."""

from __future__ import annotations

import pytest

from catalogs import load_catalog
from rules.advisor import advise
from rules.answer_checks import check_answers, doubtful_answers, unused_answers
from rules.answer_fields import FIELDS
from rules.answers import AnswerError, Answers, field_of, parse_answer
from rules.sizing.fabric.compute import technology_name
from rules.sizing.workload import describe_workload
from wizard.session import Session


@pytest.fixture(scope="module")
def catalog():
    return load_catalog()


def refused(raw, catalog):
    with pytest.raises(AnswerError) as error:
        describe_workload(Answers.of(raw), catalog)
    return error.value


def unused(catalog, **raw):
    answers = Answers.of({key.replace("__", "."): value for key, value in raw.items()})
    return {each.key: each.because for each in unused_answers(answers, describe_workload(answers, catalog))}


@pytest.mark.parametrize(("staff", "doubted"), [("2", True), ("999 USD/year", True), ("180000 USD/year", False), ("0 USD/year", False)])
def test_people_counted_where_money_is_asked_are_doubted(catalog, staff, doubted):
    answers = Answers.of({"budget.staff": staff})
    told = doubtful_answers(answers, describe_workload(answers, catalog))
    assert bool(told) is doubted
    assert not doubted or "not how many they are" in told[0]


def test_whatever_is_said_of_an_own_server_without_its_gpu_is_without_effect(catalog):
    keys = [each.key for each in FIELDS if each.key.startswith("own_server.") and each.key != "own_server.gpu"]
    assert set(keys) <= set(unused(catalog, **{key.replace(".", "__"): field_of(key).example for key in keys}))


@pytest.mark.parametrize("said", ["2:1", "2 : 1", "2", 2, 2.0])
def test_a_ratio_may_be_written_as_network_engineers_do(said):
    assert Answers.of({"preferences.oversubscription": said}).number("preferences.oversubscription") == 2


@pytest.mark.parametrize("said", ["1:2", "3:2", "1:1.16"])
def test_a_ratio_that_vendors_write_either_way_round_is_asked_back(said):
    """Juniper and AMD print demand to capacity, others downlink to uplink: "1:2" alone says nothing."""
    with pytest.raises(AnswerError, match="either way round"):
        Answers.of({"preferences.oversubscription": said})


def test_nodes_and_gpus_are_two_ways_to_say_one_thing(catalog):
    error = refused({"scale.nodes": 3, "scale.gpus": 1000}, catalog)
    assert error.key == "scale.gpus"
    assert "scale.nodes = 3" in str(error)
    assert "give one of the two" in str(error)
    check_answers(Answers.of({"scale.nodes": 3, "scale.gpus": "unknown"}), catalog)


def test_whoever_answers_again_has_changed_their_mind():
    session = Session().answer("scale.nodes", 3).answer("scale.gpus", 1000)
    assert session.answers.nested() == {"scale": {"gpus": 1000}}
    assert session.undo().answers.nested() == {"scale": {"nodes": 3}}
    assert session.answer("scale.nodes", "unknown").answers.count("scale.gpus") == 1000


@pytest.mark.parametrize(
    ("key", "name", "said"),
    [
        ("preferences.gpus", "nothing", "'cluster-wizard catalog list gpus' prints all"),
        ("preferences.gpus", "h1o0", "the nearest: nvidia-h100-"),
        ("preferences.gpus", "H100, nothing", "'nothing'"),
        ("preferences.nodes", "nothing", "'cluster-wizard catalog list nodes' prints all"),
        ("preferences.nodes", "dgx-h1000", "nvidia-dgx-h100"),
        ("preferences.vendors", "nvida", "the nearest: NVIDIA"),
        ("preferences.vendors", "zzz", "those of GPUs: AMD, "),
    ],
)
def test_a_name_that_is_none_is_named_with_its_key(key, name, said, catalog):
    error = refused({key: name}, catalog)
    assert error.key == key
    assert said in str(error)


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("own_server.nic_lanes", 7, "no slot has 7 lanes"),
    ],
)
def test_a_slot_that_there_is_not_is_refused(key, value, said, catalog):
    error = refused({"own_server.gpu": "nvidia-l40s", key: value}, catalog)
    assert error.key == key
    assert said in str(error)


@pytest.mark.parametrize("speed", ["10 Gb/s", "25 Gb/s", "56 Gb/s", "12.5 GB/s", "50 GB/s", "800 Gb/s", "1.6 Tb/s"])
def test_rates_of_ports_are_accepted_in_bits_and_in_bytes(speed, catalog):
    check_answers(Answers.of({"own_server.gpu": "nvidia-l40s", "own_server.nic_speed": speed, "own_server.nic_lanes": 32}), catalog)


def test_names_by_alias_and_makers_of_other_parts_are_names(catalog):
    check_answers(Answers.of({"preferences.gpus": "H100", "preferences.vendors": "arista, nvidia, weka"}), catalog)


@pytest.mark.parametrize(
    ("raw", "keys"),
    [
        ({}, set()),
        ({"model__embedding_parameters": "22B", "model__gmacs_per_sample": 4}, {"model.embedding_parameters", "model.gmacs_per_sample"}),
        ({"training__samples": "1M", "training__lora_rank": 8}, {"training.samples", "training.lora_rank"}),
        ({"workload__kind": "fine_tuning_lora", "training__lora_rank": 8}, set()),
        ({"workload__kind": "vision", "training__tokens": "1T", "training__sequence_length": 4096, "model__layers": 12},
         {"training.tokens", "training.sequence_length", "model.layers"}),
        ({"workload__kind": "recommendation", "model__embedding_parameters": "22B", "model__gmacs_per_sample": 1, "training__samples": 9},
         set()),
        ({"model__preset": "llama-3.1-8b", "model__active_parameters": "2B", "model__experts_per_token": 2},
         {"model.active_parameters", "model.experts_per_token"}),
        ({"model__active_parameters": "2B"}, {"model.active_parameters"}),
        ({"model__parameters": "30B", "model__active_parameters": "3B", "parallelism__expert": 8}, set()),
        ({"model__preset": "llama-3.1-8b", "parallelism__expert": 8}, {"parallelism.expert"}),
        ({"model__preset": "mixtral-8x7b", "model__expert_ffn_size": 14336}, set()),
        ({"scale__mode": "budget", "scale__nodes": 4}, {"scale.mode"}),
        ({"own_server__gpus": 4, "own_server__memory": "1 TB"}, {"own_server.gpus", "own_server.memory"}),
        ({"own_server__gpu": "H100", "preferences__gpus": "H200", "own_server__gpus": 4}, {"preferences.gpus"}),
    ],
)  # fmt: skip
def test_what_has_no_effect_is_said(raw, keys, catalog):
    assert set(unused(catalog, **raw)) == keys


def test_a_design_lists_it(catalog):
    answers = Answers.of({"scale.nodes": 2, "preferences.nodes": "nvidia-dgx-h100", "model.embedding_parameters": "22B"})
    notices = [each for each in advise(answers, catalog).document()["design"]["notices"] if each.startswith("not used")]
    assert notices == ["not used: model.embedding_parameters = 22B: only recommendation models have embedding tables of their own size"]


@pytest.mark.parametrize(
    "raw",
    [
        {"model.embedding_parameters": "22B"},
        {"training.samples": "1M"},
        {"model.preset": "llama-3.1-8b", "model.experts_per_token": 2},
        {"model.preset": "deepseek-v3", "model.key_value_heads": 16},
        {"workload.kind": "vision", "training.sequence_length": 4096},
    ],
)
def test_it_truly_has_none(raw, catalog):
    """Without the unused answer the workload is the same."""
    answers = Answers.of(raw)
    made = describe_workload(answers, catalog)
    for each in unused_answers(answers, made):
        answers = answers.without(each.key)
    assert dict(answers.values) != raw
    assert describe_workload(answers, catalog).parameters == made.parameters


@pytest.mark.parametrize(
    ("raw", "told"),
    [
        # 4,096 sequences of 8,192 tokens are 33.6 million tokens
        ({"training.global_batch": 4096, "training.sequence_length": 8192, "training.tokens": "10M"}, True),
        ({"training.global_batch": 4096, "training.sequence_length": 8192, "training.tokens": "34M"}, False),
        ({"training.global_batch": 4096, "training.sequence_length": 8192}, False),
        ({"workload.kind": "vision", "training.global_batch": 4096, "training.samples": 4000}, True),
        ({"workload.kind": "vision", "training.global_batch": 4096, "training.samples": 5000}, False),
    ],
)
def test_a_batch_larger_than_the_whole_run_is_doubted(raw, told, catalog):
    answers = Answers.of(
        {"model.preset": "vit-l-16" if "workload.kind" in raw else "llama-3.1-8b", "scale.mode": "fixed", "scale.nodes": 1, **raw}
    )
    doubts = [each for each in advise(answers, catalog).notices if "is more than the whole run" in each]
    assert bool(doubts) is told


@pytest.mark.parametrize(
    ("key", "text", "stored"),
    [
        ("budget.purchase", "€3M", "3M EUR"),
        ("budget.purchase", "3M €", "3M EUR"),
        ("budget.purchase", "£ 450k", "450k GBP"),
        ("budget.electricity_price", "€0.12/kWh", "0.12 EUR/kWh"),
        ("budget.purchase", "$3M", "$3M"),
    ],
)
def test_money_may_bear_the_sign_of_its_currency(key, text, stored):
    assert parse_answer(key, text) == stored


@pytest.mark.parametrize("text", ["€3M€", "€", "€ three", "¥3M"])
def test_a_sign_that_names_no_amount_or_no_one_currency_is_refused(text):
    with pytest.raises(AnswerError, match=r"such as '1\.5M USD'"):
        parse_answer("budget.purchase", text)


def test_an_own_server_may_state_the_rate_that_it_really_gets(catalog):
    """340 Gb/s of a node with four adapters, as a cloud measured them; 125 Gb/s of a virtual port."""
    answers = Answers.of({"own_server.gpu": "nvidia-a100-sxm-80gb", "own_server.gpus": 8, "own_server.nic_speed": "85 Gb/s"})
    check_answers(answers, catalog)
    assert technology_name("ethernet", 125.0) == "RoCEv2 at 125 Gb/s, as no port runs"
