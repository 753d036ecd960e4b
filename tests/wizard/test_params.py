"""`cluster-wizard params`: what it prints, its schema, defaults of classes, refusals by name, and files that are no configuration."""

from __future__ import annotations

import json
import os
import random
import tomllib
from pathlib import Path

import pytest

from tests.wizard.calls import call
from wizard.schemas import validator

LLAMA = {
    "model_type": "llama",
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "vocab_size": 128256,
    "tie_word_embeddings": False,
    "max_position_embeddings": 8192,
    "torch_dtype": "bfloat16",
}
"""Llama 3 8B: 8,030,261,248 parameters [Hugging Face Hub, safetensors total of meta-llama/Meta-Llama-3-8B]."""
LLAMA_TOTAL = 8_030_261_248
QWEN_MOE = {
    "model_type": "qwen3_moe",
    "hidden_size": 2048,
    "num_hidden_layers": 48,
    "num_attention_heads": 32,
    "num_key_value_heads": 4,
    "head_dim": 128,
    "intermediate_size": 6144,
    "moe_intermediate_size": 768,
    "num_experts": 128,
    "num_experts_per_tok": 8,
    "decoder_sparse_step": 1,
    "mlp_only_layers": [],
    "vocab_size": 151936,
    "tie_word_embeddings": False,
}
"""Qwen3-30B-A3B: 30.5 B parameters, 3.3 B active [Qwen3 technical report, arXiv:2505.09388 table 2]."""
PUBLISHED = tomllib.loads((Path(__file__).parent.parent / "published" / "model_configs.toml").read_text(encoding="utf-8"))["model"]


def count(config, *arguments):
    return call("params", "-", "--json", *arguments, stdin=json.dumps(config).encode())


def refused(config):
    called = count(config)
    called.assert_one_message()
    return called.err


class TestOutput:
    def test_the_contract(self):
        called = count(LLAMA)
        assert called.code == 0
        assert list(validator("params").iter_errors(called.json)) == []
        assert called.json["total"] == called.json["active"] == LLAMA_TOTAL
        assert called.json["embedding"] == called.json["head"] == 128256 * 4096
        assert (called.json["mtp"], called.json["vision"]) == (0, 0)
        assert called.json["family"] == "Llama"
        assert called.json["weights_bytes"] == 2 * LLAMA_TOTAL
        assert sum(called.json["by_part"].values()) == LLAMA_TOTAL

    def test_every_published_configuration_fits_the_schema(self):
        check = validator("params")
        for row in PUBLISHED:
            called = count(row["config"])
            assert called.code == 0, row["id"]
            assert list(check.iter_errors(called.json)) == [], row["id"]

    def test_text_shows_the_parts_and_what_was_assumed(self, tmp_path):
        path = tmp_path / "config.json"
        path.write_text(json.dumps(QWEN_MOE))
        called = call("params", path)
        assert called.code == 0
        for words in (
            "30,532,122,624",
            "routed experts",
            "active per text token",
            "FLOPs per token",
            "note: the file states no number format",
        ):
            assert words in called.out

    def test_a_file_is_read_as_standard_input_is(self, tmp_path):
        path = tmp_path / "config.json"
        path.write_text(json.dumps(LLAMA))
        assert call("params", path, "--json").json == count(LLAMA).json


class TestSequence:
    def test_the_default_is_the_models_own_length_up_to_4096(self):
        assert count(LLAMA).json["sequence_length"] == 4096
        assert count(LLAMA | {"max_position_embeddings": 2048}).json["sequence_length"] == 2048

    def test_a_longer_sequence_costs_more_per_token_by_its_scores_alone(self):
        short, long = (count(LLAMA, "--seq", length).json["flops_per_token"] for length in ("2048", "4096"))
        # 3 passes · 2·s·a·d per layer for the causal half of both products [Korthikanti 2022, arXiv:2205.05198 eq. 7]
        assert long - short == pytest.approx(3 * 2 * 2048 * 4096 * 32)

    def test_a_window_bounds_what_a_token_sees(self):
        wide = count(LLAMA | {"model_type": "mistral"}, "--seq", "8192").json
        narrow = count(LLAMA | {"model_type": "mistral", "sliding_window": 1024}, "--seq", "8192").json
        assert narrow["total"] == wide["total"]
        assert narrow["flops_per_token"] < wide["flops_per_token"]

    def test_a_longer_sequence_than_the_file_states_is_said(self):
        assert any("longer than the 8192" in note for note in count(LLAMA, "--seq", "16384").json["notes"])

    @pytest.mark.parametrize("length", ["0", "-5", "1.5", "many", "1e3", "99999999999999"])
    def test_an_impossible_one_is_one_message(self, length):
        called = call("params", "-", "--seq", length, stdin=json.dumps(LLAMA).encode())
        called.assert_one_message()
        assert "--seq" in called.err


class TestExperts:
    def test_active_parameters_leave_out_experts_not_visited(self):
        found = count(QWEN_MOE).json
        assert found["total"] == pytest.approx(30.5e9, rel=0.002)
        assert found["active"] == pytest.approx(3.3e9, rel=0.02)

    def test_a_dense_layer_now_and_then(self):
        every_second = count(QWEN_MOE | {"decoder_sparse_step": 2}).json
        one = 3 * 2048 * 768 * 128
        assert every_second["by_part"]["routed_experts"] == 24 * one
        assert every_second["by_part"]["dense_ffn"] == 24 * 3 * 2048 * 6144
        assert count(QWEN_MOE | {"mlp_only_layers": [0, 1]}).json["by_part"]["routed_experts"] == 46 * one

    def test_more_experts_per_token_than_there_are(self):
        assert "cannot visit 129 of 128" in refused(QWEN_MOE | {"num_experts_per_tok": 129})


class TestDefaultsOfClasses:
    def test_what_a_nested_table_leaves_out_is_taken_from_its_class_and_said(self):
        # Gemma 3 4B: 4,300,079,472 parameters [Hugging Face Hub, google/gemma-3-4b-pt]; its file has three sizes of the text model
        text = {
            "hidden_size": 2560,
            "intermediate_size": 10240,
            "model_type": "gemma3_text",
            "num_hidden_layers": 34,
            "sliding_window": 1024,
        }
        vision = {
            "hidden_size": 1152, "image_size": 896, "intermediate_size": 4304, "model_type": "siglip_vision_model",
            "num_attention_heads": 16, "num_hidden_layers": 27, "patch_size": 14, "vision_use_head": False,
        }  # fmt: skip
        found = count({"model_type": "gemma3", "text_config": text, "vision_config": vision}).json
        assert found["total"] == 4_300_079_472
        assert any("vocab_size = 262208" in note for note in found["notes"])

    def test_tying_follows_the_class_where_the_file_is_silent(self):
        silent = {key: value for key, value in LLAMA.items() if key != "tie_word_embeddings"}
        assert count(silent).json["total"] == LLAMA_TOTAL
        assert count(silent | {"model_type": "gemma", "head_dim": 128}).json["head"] == 0

    def test_a_width_of_heads_that_is_not_the_quotient(self):
        # Mistral Nemo: heads of 128, not 5120/32 = 160; 12,247,782,400 parameters [Hugging Face Hub, mistralai/Mistral-Nemo-Base-2407]
        nemo = LLAMA | {"model_type": "mistral", "hidden_size": 5120, "num_hidden_layers": 40, "vocab_size": 131072, "head_dim": 128}
        assert count(nemo).json["total"] == 12_247_782_400

    def test_null_is_absent(self):
        assert count(LLAMA | {"head_dim": None, "quantization_config": None}).json["total"] == LLAMA_TOTAL

    def test_a_text_model_without_its_tower_is_said_loudly(self):
        text = {key: value for key, value in LLAMA.items() if key != "model_type"} | {"model_type": "mistral"}
        found = count({"model_type": "mistral3", "text_config": text}).json
        assert found["total"] == LLAMA_TOTAL
        assert any(note.startswith("CAUTION") and "vision" in note for note in found["notes"])


class TestBytes:
    @pytest.mark.parametrize(
        ("dtype", "width"), [("float32", 4), ("float16", 2), ("bfloat16", 2), ("float8_e4m3fn", 1), ("torch.bfloat16", 2)]
    )
    def test_the_stated_format(self, dtype, width):
        assert count(LLAMA | {"torch_dtype": dtype}).json["weights_bytes"] == width * LLAMA_TOTAL

    def test_four_bits_keep_embedding_and_head(self):
        found = count(LLAMA | {"quantization_config": {"quant_method": "awq", "bits": 4, "group_size": 128}}).json
        # The AWQ checkpoint of Llama 3 8B is 5.74 GB [Hugging Face Hub, casperhansen/llama-3-8b-instruct-awq]
        assert found["weights_bytes"] == pytest.approx(5.74e9, rel=0.02)

    def test_an_unknown_method_is_said(self):
        found = count(LLAMA | {"quantization_config": {"quant_method": "magic"}}).json
        assert found["weights_bytes"] == 2 * LLAMA_TOTAL
        assert any("magic" in note for note in found["notes"])


class TestRefusals:
    @pytest.mark.parametrize(
        "kind", ["rwkv", "xlstm", "zamba2", "recurrent_gemma", "llada", "diffusion_gemma", "swin", "gemma3n", "kimi_k3"]
    )
    def test_kinds_that_are_not_counted_are_refused_by_name(self, kind):
        assert kind in refused(LLAMA | {"model_type": kind})

    def test_a_part_of_a_diffusion_pipeline(self):
        assert "FluxTransformer2DModel" in refused({"_class_name": "FluxTransformer2DModel", "num_layers": 19})

    def test_an_unknown_decoder_is_counted_with_a_loud_note(self):
        found = count(LLAMA | {"model_type": "llamaish"}).json
        assert found["total"] == LLAMA_TOTAL
        assert any(note.startswith("CAUTION") and "'llamaish'" in note for note in found["notes"])

    @pytest.mark.parametrize(
        "odd", [{"mamba_d_state": 16}, {"vision_config": {"depth": 2}}, {"linear_num_key_heads": 4}, {"is_encoder_decoder": True}]
    )
    def test_an_unknown_model_with_other_layers_is_refused(self, odd):
        assert "strangeformer" in refused(LLAMA | {"model_type": "strangeformer"} | odd)

    def test_an_unknown_kind_of_layer(self):
        assert "'wobbly_attention'" in refused(LLAMA | {"layer_types": ["wobbly_attention"] * 32})

    def test_an_unknown_tower(self):
        config = {"model_type": "llava", "text_config": LLAMA, "vision_config": {"model_type": "eagle_eye", "hidden_size": 8}}
        assert "'eagle_eye'" in refused(config)


WRONG = {
    "nothing": (b"", "not JSON"),
    "a sentence": (b"eight billion, please", "not JSON"),
    "TOML": (b"hidden_size = 4096\n", "not JSON"),
    "half a file": (b'{"model_type": "llama",', "not JSON"),
    "a list": (b"[1, 2]", "holds a list"),
    "a text": (b'"llama"', "holds a string"),
    "null": (b"null", "holds null"),
    "a number": (b"7", "single value"),
    "an empty table": (b"{}", "model_type: missing"),
    "no UTF-8": (b'{"model_type": "\xff"}', "not UTF-8"),
    "UTF-16": ('{"model_type": "llama"}'.encode("utf-16"), "not UTF-8"),
    "binary": (bytes(range(256)), "not UTF-8"),
    "deep lists": (b'{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "deep"),
    "deep tables": (b'{"a":' * 60 + b"1" + b"}" * 60, "deep"),
    "ten megabytes": (b'{"a": "' + b"x" * 10_000_000 + b'"}', "larger than"),
    "a number of thousands of digits": (b'{"model_type": "llama", "hidden_size": ' + b"9" * 5000 + b"}", "JSON"),
    "no type": (json.dumps({**LLAMA, "model_type": None}).encode(), "model_type: missing"),
    "a type that is a number": (json.dumps({**LLAMA, "model_type": 7}).encode(), "model_type"),
}
VALUES = {
    "not a number": (float("nan"), "nan"),
    "infinite": (float("inf"), "inf"),
    "negative": (-4096, "-4096"),
    "zero": (0, "got 0"),
    "a fraction": (4096.5, "4096.5"),
    "a text": ("4096", "'4096'"),
    "true": (True, "True"),
    "a list": ([4096], "[4096]"),
    "a table": ({"a": 1}, "{'a': 1}"),
    "beyond all bounds": (10**30, "up to"),
    "control characters": ("a\u001b[31m\n", "hidden_size"),
}


class TestOddInput:
    @pytest.mark.parametrize("name", WRONG)
    def test_what_is_no_configuration_is_one_message(self, name):
        data, words = WRONG[name]
        called = call("params", "-", stdin=data)
        called.assert_one_message()
        assert words in called.err

    @pytest.mark.parametrize("name", VALUES)
    def test_an_impossible_size_is_named(self, name):
        value, words = VALUES[name]
        message = refused(LLAMA | {"hidden_size": value})
        assert "hidden_size" in message
        assert words in message

    @pytest.mark.parametrize("key", ["hidden_size", "num_hidden_layers", "num_attention_heads", "vocab_size", "intermediate_size"])
    def test_a_missing_size_is_named_or_said(self, key):
        config = {name: value for name, value in LLAMA.items() if name != key}
        called = count(config)
        if key == "intermediate_size":
            assert any("intermediate_size = 11008" in note for note in called.json["notes"])
        else:
            called.assert_one_message()
            assert f"{key}: missing" in called.err

    def test_heads_that_cannot_share(self):
        assert "cannot share 7" in refused(LLAMA | {"num_key_value_heads": 7})

    def test_a_width_that_heads_do_not_divide(self):
        assert "head_dim" in refused(LLAMA | {"hidden_size": 4097})

    def test_a_million_layers(self):
        assert "num_hidden_layers" in refused(LLAMA | {"num_hidden_layers": 1_000_000})

    def test_a_list_shorter_than_the_layers(self):
        assert "expected 32, one per layer" in refused(LLAMA | {"layer_types": ["full_attention"] * 3})

    def test_a_folder_names_the_file_inside(self, tmp_path):
        called = call("params", tmp_path)
        called.assert_one_message()
        assert "is a folder" in called.err
        (tmp_path / "config.json").write_text("{}")
        assert str(tmp_path / "config.json") in call("params", tmp_path).err

    def test_no_such_file(self, tmp_path):
        called = call("params", tmp_path / "config.json")
        called.assert_one_message()
        assert "no such file" in called.err

    @pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
    def test_a_file_that_may_not_be_read(self, tmp_path):
        path = tmp_path / "config.json"
        path.write_text("{}")
        path.chmod(0)
        called = call("params", path)
        called.assert_one_message()
        assert "permissions" in called.err

    def test_a_byte_order_mark_is_no_fault(self):
        called = call("params", "-", "--json", stdin=b"\xef\xbb\xbf" + json.dumps(LLAMA).encode())
        assert called.json["total"] == LLAMA_TOTAL


ODD_VALUES = [None, True, False, 0, 1, 2, 3, -1, 7.5, 1e300, float("nan"), "", "auto", "x" * 300, [], [1], [[1]], [{}], ["a"], {}, {"a": 1}]


@pytest.mark.parametrize("row", PUBLISHED[::4], ids=lambda row: row["id"])
def test_any_key_spoilt_is_an_answer_or_one_message(row):
    chance = random.Random(row["id"])
    for _ in range(40):
        config = json.loads(json.dumps(row["config"]))
        inner = [value for value in config.values() if isinstance(value, dict) and value]
        table = chance.choice([config, *inner])
        table[chance.choice(list(table))] = chance.choice(ODD_VALUES)
        called = count(config)
        if called.code == 0:
            assert list(validator("params").iter_errors(called.json)) == []
            assert called.json["active"] <= called.json["total"]
        else:
            called.assert_one_message()
