"""Runs that state no more than their table: what the published recipe behind it recomputes, sends and trains is known, and said."""

from __future__ import annotations

import json

import pytest

from tests.wizard.calls import call

MODELS = """
[models.gpt3-5b]
layers = 24
hidden = 4096
ffn = 16384
heads = 32
vocab = 51200
glu = false
tied_embeddings = true

[models.gpt3-175b]
layers = 96
hidden = 12288
ffn = 49152
heads = 96
vocab = 51200
glu = false
tied_embeddings = true
"""
PAXML = {"table": "v24.11.1 paxml-gpt3-5b", "model": "gpt3-5b", "gpu": "H100-SXM-80GB", "gpus": 16, "precision": "bf16", "seq_len": 2048}
SHARDED = {"tp": 1, "pp": 1, "zero_stage": 3, "micro_batch": 4, "global_batch": 64}


def estimate(tmp_path, **row: object) -> dict:
    """Return the estimate of one row."""
    path = tmp_path / "runs.toml"
    path.write_text("\n".join(['[[run]]\nid = "one"', *(f"{key} = {json.dumps(value)}" for key, value in row.items())]) + MODELS, "utf-8")
    return call("estimate", str(path), "--json").json[0]


def said(made: dict) -> str:
    """Return the note that names a recipe, or ""."""
    return next((note for note in made["notes"] if "published recipe" in note), "")


def test_paxml_5b_keeps_its_products(tmp_path):
    """0.634 s a step on 16 H100; CHECKPOINT_POLICY is SAVE_DOT_ONLY [dgxc-benchmarking, paxml/README_5b.md, paxml_mod_configs.py]."""
    made = estimate(tmp_path, **PAXML, **SHARDED)
    assert "recompute save_dot_only" in said(made)
    assert made["iteration_s"] == pytest.approx(0.634, rel=0.20)


def test_paxml_175b_recomputes_all_but_the_projections_of_attention(tmp_path):
    """7.47 s a step on 128 H100 in FP8, a run that no constant was read off [dgxc-benchmarking, paxml/README_175b.md]."""
    row = PAXML | SHARDED | {"table": "v24.11 paxml-gpt3-175b", "model": "gpt3-175b", "gpus": 128, "precision": "fp8"}
    made = estimate(tmp_path, **row | {"micro_batch": 2, "global_batch": 256})
    assert "recompute save_qkv_out_proj" in said(made)
    assert made["iteration_s"] == pytest.approx(7.47, rel=0.15)


def test_maxtext_keeps_queries_keys_and_values(tmp_path):
    """15.563 s a step on 128 H100 [dgxc-benchmarking v25.02.02]; remat_policy is save_qkv_proj [maxtext/configure.sh]."""
    row = PAXML | SHARDED | {"table": "v25.02.02 maxtext-llama3-70b", "model": "llama3-70b", "gpus": 128, "seq_len": 8192}
    made = estimate(tmp_path, **row | {"micro_batch": 2, "global_batch": 256})
    assert "recompute save_qkv_proj" in said(made)
    assert made["iteration_s"] == pytest.approx(15.563, rel=0.05)
    assert made["verdict"] != "does_not_fit"


def test_llama_70b_on_eight_gpus_trains_adapters(tmp_path):
    """2,643 tokens/s each on 8 H100, whose 640 GB do not train all weights [Megatron Bridge 26.06, llama3_70b_lora_8gpu]."""
    row = {"table": "26.06 container, LLAMA3_70B", "model": "llama3-70b", "gpu": "H100-SXM-80GB", "gpus": 8, "precision": "fp8-cs"}
    sizes = {"seq_len": 4096, "tp": 2, "pp": 4, "vpp": 20, "micro_batch": 1, "global_batch": 32, "zero_stage": 1}
    made = estimate(tmp_path, **row, **sizes)
    assert "workload lora" in said(made)
    assert made["tokens_per_s_per_gpu"] == pytest.approx(2643, rel=0.10)
    assert made["verdict"] != "does_not_fit"


def test_what_a_row_states_comes_first_and_other_tables_have_no_recipe(tmp_path):
    stated = estimate(tmp_path, **PAXML, **SHARDED, recompute="full")
    assert said(stated) == ""
    assert stated["iteration_s"] > estimate(tmp_path, **PAXML, **SHARDED)["iteration_s"] * 1.1
    assert said(estimate(tmp_path, **PAXML | {"table": "our own runs"}, **SHARDED)) == ""


@pytest.mark.parametrize(("gpus", "named"), [("GB200", "recompute"), ("GB300", "exchange alltoall")])
def test_gpt_oss_in_bf16_sends_tokens_by_all_to_all(tmp_path, gpus, named):
    """No moe_flex_dispatcher_backend in its BF16 recipes; on GB200 recompute_modules are layernorm and moe_act [Megatron Bridge]."""
    row = {"table": "26.04 container, GPT OSS 120B", "model": "gpt-oss-120b", "gpu": gpus, "gpus": 64, "precision": "bf16", "ep": 64}
    made = estimate(tmp_path, **row, seq_len=4096, tp=1, pp=1, micro_batch=4, global_batch=1280, zero_stage=1)
    assert "exchange alltoall" in said(made)
    assert named in said(made)


@pytest.mark.parametrize(
    ("gpu", "sizes", "recomputed"),
    [
        ("B200-SXM", {"pp": 8, "vpp": 2, "ep": 32}, "mla_up_proj, mlp"),
        ("B200-SXM", {"pp": 16, "ep": 8}, "mla_up_proj"),
        ("GB300", {"pp": 2, "vpp": 8, "ep": 32, "micro_batch": 2}, "mla_up_proj"),
    ],
)
def test_deepseek_recomputes_what_its_recipe_says(tmp_path, gpu, sizes, recomputed):
    """recompute_modules of the recipes [Megatron Bridge, deepseek_workload_base_configs.py]."""
    row = {
        "table": "26.04.01 container, DeepSeekV3",
        "model": "deepseek-v3",
        "gpu": gpu,
        "gpus": 256,
        "precision": "mxfp8",
        "seq_len": 4096,
    }
    made = estimate(tmp_path, **row | {"tp": 1, "zero_stage": 1, "micro_batch": 1, "global_batch": 4096} | sizes)
    named = said(made).partition("recompute selective: ")[2].split(", ")
    assert ", ".join(each for each in named if each in ("mla_up_proj", "mlp")) == recomputed
