"""Published parameter totals of released models, counted from their configurations."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from rules.sizing.config_counts import count_config

ROWS = tomllib.loads((Path(__file__).parent / "model_configs.toml").read_text(encoding="utf-8"))["model"]
BY_ID = {row["id"]: row for row in ROWS}
EXACT_WITHIN = 1e-4
"""Hub totals count tensors: constants stored beside the weights, or biases left out, are less than this."""


def expected_from(row, count):
    """Return the total that a publisher would print who counts as the row's scope says."""
    if row["scope"] == "tied copy":
        return count.total + count.embedding
    if row["scope"] == "prediction":
        return count.total + count.mtp
    if row["scope"] == "copies":
        return count.total + count.mtp + count.embedding + count.head
    return count.total


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
def test_the_published_total(row):
    counted = expected_from(row, count_config(row["config"]))
    if "rounding" in row:
        within = max(row["rounding"] / 2, 0.01 * row["total"])
        assert abs(counted - row["total"]) <= within
    elif row["scope"] == "without tower":
        assert 0.99 * row["total"] <= counted < row["total"]
    else:
        assert counted == pytest.approx(row["total"], rel=EXACT_WITHIN)


@pytest.mark.parametrize("row", [row for row in ROWS if "active" in row], ids=lambda row: row["id"])
def test_the_published_active_parameters(row):
    # Publishers differ in whether embedding and head are active; their figures lie between.
    count = count_config(row["config"])
    least = count.active - count.embedding - count.head
    assert 0.94 * least <= row["active"] <= 1.06 * count.active


def test_most_published_totals_are_met_to_the_digit():
    exact = [row for row in ROWS if "rounding" not in row]
    met = [row for row in exact if expected_from(row, count_config(row["config"])) == row["total"]]
    assert len(met) >= 0.85 * len(exact)


def test_every_family_is_there():
    kinds = {row["config"]["model_type"] for row in ROWS}
    assert kinds >= {
        "gpt2", "opt", "bloom", "gpt_neox", "falcon", "mpt", "llama", "mistral", "mixtral", "qwen2", "qwen2_moe", "qwen3", "qwen3_moe",
        "qwen3_vl", "qwen3_vl_moe", "qwen3_5", "qwen3_5_moe", "gemma", "gemma2", "gemma3", "gemma4", "phi", "phi3", "phimoe", "deepseek",
        "deepseek_v32", "deepseek_v4", "kimi_k2", "kimi_linear", "glm", "glm4", "glm4_moe", "glm_moe_dsa", "gpt_oss", "minimax_m2",
        "cohere", "internlm2", "internlm3", "olmo", "olmo2", "olmo3", "olmoe", "nemotron", "nemotron_h", "jamba", "grok-1", "mllama", "vit",
        "clip", "siglip", "whisper", "t5", "exaone4", "starcoder2", "stablelm", "granite", "ernie4_5_moe", "mimo",
    }  # fmt: skip


def test_the_parts_of_gemma_3_12b():
    # vision encoder 417 M, embedding 1,012 M, the rest 10,759 M [Gemma 3, arXiv:2503.19786 table 1]; the tower here has its projector
    count = count_config(BY_ID["gemma-3-12b"]["config"])
    assert count.vision == pytest.approx(417e6, rel=0.015)
    assert count.embedding == pytest.approx(1012e6, rel=0.01)
    assert count.total - count.vision - count.embedding == pytest.approx(10759e6, rel=0.001)


def test_prediction_layers_of_deepseek_are_told_apart():
    # "671B of the main model weights and 14B of the multi-token-prediction module weights", the latter with its copies of embedding
    # and head [DeepSeek-V3 README]; V3.2 adds the indexer
    count = count_config(BY_ID["deepseek-v3.2"]["config"])
    assert count.total == pytest.approx(671e9, rel=0.003)
    assert count.mtp + count.embedding + count.head == pytest.approx(14e9, rel=0.05)


@pytest.mark.parametrize(("id_", "billions"), [("deepseek-v3.2", 671.9), ("glm-5.2", 743.4), ("kimi-linear-48b-a3b", 49.1)])
def test_a_file_that_leaves_out_the_width_of_experts_has_that_of_its_class(id_, billions):
    # transformers never takes the width of the dense layers for it, nine times as wide in DeepSeek-V3; published totals as above
    config = {key: value for key, value in BY_ID[id_]["config"].items() if key != "moe_intermediate_size"}
    assert count_config(config).total == pytest.approx(billions * 1e9, rel=0.001)


def test_flops_of_llama_3_405b():
    # 3.8e25 FLOPs over 15.6e12 tokens, most of them at 8,192 tokens [Llama 3, arXiv:2407.21783 §3.2]
    count = count_config(BY_ID["llama-3.1-405b"]["config"], 8192)
    assert count.flops_per_token == pytest.approx(3.8e25 / 15.6e12, rel=0.08)


def test_flops_of_gpt_neox_20b_follow_the_formula_of_megatron():
    # 72·l·h²·(1 + s/6h + V/12lh) per token without recomputation [Narayanan 2021, arXiv:2104.04473 eq. 3], half the scores if causal
    config = BY_ID["gpt-neox-20b"]["config"]
    layers, hidden, tokens, rows = 44, 6144, 2048, 50432
    megatron = 72 * layers * hidden**2 * (1 + tokens / (2 * 6 * hidden) + rows / (12 * layers * hidden))
    assert count_config(config, tokens).flops_per_token == pytest.approx(megatron, rel=0.001)


def test_a_sparse_model_costs_its_active_parameters():
    # 37 B active of 671 B: 6·37e9 = 2.2e11 per token and the scores [DeepSeek-V3, arXiv:2412.19437 §2.1]
    count = count_config(BY_ID["deepseek-v3.2"]["config"], 4096)
    assert 2.2e11 <= count.flops_per_token <= 3.3e11


@pytest.mark.parametrize(
    ("id_", "gigabytes", "within"),
    [
        ("llama-3-8b", 16.06, 0.005),  # four safetensors files of 16.06 GB
        ("gpt-oss-20b", 13.76, 0.02),  # 12.8 GiB checkpoint [OpenAI 2025, gpt-oss model card table 1]
        ("deepseek-v3.2", 677, 0.02),  # FP8 checkpoint of 689 GB with 12 GB of prediction layers
    ],
)
def test_bytes_as_stored(id_, gigabytes, within):
    config = dict(BY_ID[id_]["config"]) | {"torch_dtype": "bfloat16"}
    assert count_config(config).weights_bytes / 1e9 == pytest.approx(gigabytes, rel=within)
