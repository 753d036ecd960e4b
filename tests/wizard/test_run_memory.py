"""What a row tells of the software's memory: techniques recognised from its own settings, and ranges where it tells nothing."""

from __future__ import annotations

import pytest

from tests.published.asking import catalog
from tests.wizard.calls import call
from wizard.imports.run_estimate import estimate_rows
from wizard.imports.run_rows import RunRow

MODEL = """
[models."llama3-8b"]
layers = 32
hidden = 4096
ffn = 14336
heads = 32
kv_heads = 8
vocab = 128256
"""
RUN = """
[[run]]
id = "one"
model = "llama3-8b"
gpu = "H100-SXM-80GB"
precision = "bf16"
micro_batch = 2
"""


def estimated(tmp_path, **values):
    """Return the estimate of one row with these values besides the common ones."""
    lines = [f"{key} = {str(value).lower() if isinstance(value, bool) else repr(value)}" for key, value in values.items()]
    path = tmp_path / "runs.toml"
    common = RUN.replace('precision = "bf16"\n', "") if "precision" in values else RUN
    path.write_text(common + "\n".join(lines) + MODEL, "utf-8")
    return call("estimate", str(path), "--json").json[0]


def test_checkpointing_by_operation(tmp_path):
    """torchtitan, 128 H100, eager: 67.0 GiB; the layers are compiled: 62.0 GiB [benchmarks, Llama 3 8B, December 2024]."""
    common = {"seq_len": 8192, "gpus": 128, "tp": 1, "pp": 1, "dp": 128, "global_batch": 256, "recompute": "selective-op", "zero_stage": 2}
    eager, compiled = (estimated(tmp_path, **common, compile=flag)["memory_gib"] for flag in (False, True))
    assert eager["expected"] == pytest.approx(67.0, rel=0.03)
    assert compiled["expected"] == pytest.approx(62.0, rel=0.03)
    assert compiled["low"] < eager["low"]


def test_code_with_kernels_of_its_own_does_not_split_its_loss(tmp_path):
    """At TP 4 the logits of 16,384 tokens at 14 B and 128,256 entries are 27.4 GiB whole and 6.8 GiB split."""
    common = {"seq_len": 8192, "gpus": 4, "tp": 4, "pp": 1, "dp": 1, "global_batch": 64, "recompute": "full", "zero_stage": 1}
    named = estimated(tmp_path, **common, kernel="flash_attention2")["memory_gib"]
    assert named["terms"]["loss_head"] == pytest.approx(27.4, abs=0.05)
    assert estimated(tmp_path, **common)["memory_gib"]["terms"]["loss_head"] < 6.8


def test_undescribed_software_has_a_wide_range_and_says_why(tmp_path):
    common = {"seq_len": 2048, "gpus": 8, "tp": 2, "pp": 1, "dp": 4, "global_batch": 64, "zero_stage": 1}
    told, untold = estimated(tmp_path, **common, recompute="none"), estimated(tmp_path, **common)
    assert untold["memory_gib"]["high"] > 1.2 * told["memory_gib"]["high"]
    assert untold["memory_gib"]["high"] - untold["memory_gib"]["low"] > 1.5 * (told["memory_gib"]["high"] - told["memory_gib"]["low"])
    assert any("software is not described" in note for note in untold["notes"])
    assert not any("software is not described" in note for note in told["notes"])


def test_an_unstated_sequence_length_reaches_down_to_half(tmp_path):
    """Llama 3 8B was trained on sequences of 8,192 tokens [arXiv:2407.21783 §3.4.1]."""
    common = {"gpus": 8, "tp": 2, "pp": 1, "dp": 4, "global_batch": 64, "zero_stage": 1, "recompute": "full", "model": "llama-3.1-8b"}
    path = tmp_path / "runs.toml"
    path.write_text(RUN.replace('model = "llama3-8b"\n', "") + "\n".join(f"{key} = {value!r}" for key, value in common.items()), "utf-8")
    found = call("estimate", str(path), "--json").json[0]
    assert any("goes down to that of" in note for note in found["notes"])


LLAMA_2 = {"model": "llama-2-7b", "gpu": "H800-SXM-80GB", "gpus": 8, "precision": "bf16"}
PR_482 = [
    # Megatron-LM on 8 H800: tp, pp, dp, micro-batch, global batch, GB at the peak [Megatron-LM pull request 482, README of the tool]
    (1, 1, 8, 2, 2048, 69.1),
    (2, 1, 4, 4, 512, 55.7),
    (1, 2, 4, 2, 2048, 49.8),
    (8, 1, 1, 4, 128, 28.8),
]


@pytest.mark.parametrize(("tensor", "pipeline", "data", "micro_batch", "batch", "gigabytes"), PR_482)
def test_a_row_of_sizes_alone_is_megatron_at_its_defaults(tmp_path, tensor, pipeline, data, micro_batch, batch, gigabytes):
    sizes = {"tp": tensor, "pp": pipeline, "dp": data, "micro_batch": micro_batch, "global_batch": batch}
    path = tmp_path / "runs.toml"
    path.write_text('[[run]]\nid = "one"\n' + "\n".join(f"{key} = {value!r}" for key, value in {**LLAMA_2, **sizes}.items()), "utf-8")
    found = call("estimate", str(path), "--json").json[0]
    memory = found["memory_gib"]
    assert memory["low"] <= gigabytes * 1e9 / 2**30 <= memory["high"]
    assert memory["high"] - memory["low"] <= 0.4 * memory["expected"]
    assert found["verdict"] != "does_not_fit"
    assert any("defaults of Megatron-LM" in note for note in found["notes"])


def test_adapters_of_70b_fit_eight_gpus(tmp_path):
    """The recipe llama3_70b_lora_8gpu_h100_fp8cs runs at TP 2, PP 4 [Megatron Bridge]; all weights trained would take 18 B each."""
    row = (
        '[[run]]\nid = "one"\nmodel = "llama-3.1-70b"\ngpu = "H100-SXM-80GB"\ngpus = 8\nprecision = "fp8-cs"\nseq_len = 4096\ntp = 2\n'
        "pp = 4\nvpp = 20\nzero_stage = 1\nmicro_batch = 1\nglobal_batch = 32\n"
    )
    path = tmp_path / "runs.toml"
    path.write_text(row, "utf-8")
    whole = call("estimate", str(path), "--json").json[0]
    path.write_text(row + 'workload = "lora"\n', "utf-8")
    adapters = call("estimate", str(path), "--json").json[0]
    assert whole["verdict"] == "does_not_fit"
    assert adapters["verdict"] != "does_not_fit"
    # 735 TFLOP/s at 2,643 tokens/s: 278 GFLOP per token, against 433 of full training at this length
    assert adapters["tflops_per_gpu"] / adapters["tokens_per_s_per_gpu"] * 1e3 == pytest.approx(735 / 2.643, rel=0.05)


def test_a_row_that_does_not_fit_names_remedies(tmp_path):
    """Llama 2 13B under AdamW takes 18 bytes × 13 billion: 58 GB on each of four GPUs of 40 GB."""
    path = tmp_path / "runs.toml"
    path.write_text(
        '[[run]]\nid = "tight"\nmodel = "llama-2-13b"\ngpu = "A100-SXM-40GB"\ngpus = 4\nprecision = "bf16"\nseq_len = 2048\n'
        'sharding = "FSDP"\ntp = 1\npp = 1\nzero_stage = 3\nmicro_batch = 1\nglobal_batch = 64\nrecompute = "full"\n',
        "utf-8",
    )
    found = call("estimate", str(path), "--json").json[0]
    assert found["verdict"] == "does_not_fit"
    remedies = [note for note in found["notes"] if note.startswith("remedy: ")]
    assert any("GiB less on the fullest GPU" in each and "a step" in each and "it fits then" in each for each in remedies)
    printed = call("estimate", str(path)).out
    assert "tight does not fit" in printed
    assert remedies[0] in printed
    device = found["device"]
    assert device["expected"] > found["memory_gib"]["expected"], "context and communicators stand beside what the allocator holds"
    assert {"runtime_context", "communicators", "fragmentation"} <= set(device["terms"])
    assert sum(ends["expected"] for ends in device["terms"].values()) == pytest.approx(device["expected"], rel=1e-4)
    (stage,) = device["stages"]
    assert (stage["layers"], stage["verdict"], stage["binding"]) == (40, "does_not_fit", "optimizer")
    first = found["remedies"][0]
    assert first["verdict"] == "fits"
    assert device["expected"] - first["expected_gib"] == pytest.approx(first["saved_gib"], rel=1e-4)


A800 = [
    # Llama 7B on 8 A800 with DeepSpeed 0.14.2, sequences of 4,096: ZeRO stage, recomputation, offload, micro-batch, GiB at the peak
    # [gist chenyaofo/d4cd6a20ab4b95cb3a49491747e2139a]
    (2, "none", "none", 1, 44.8),
    (2, "full", "none", 4, 38.6),
    (2, "full", "optimizer", 1, 16.9),
    (3, "full", "none", 2, 20.4),
    (3, "full", "optimizer", 2, 9.4),
    (3, "full", "none", 8, 39.1),
]


@pytest.mark.parametrize(("stage", "recompute", "offload", "micro_batch", "measured"), A800)
def test_sharding_programs_can_be_any(tmp_path, stage, recompute, offload, micro_batch, measured):
    path = tmp_path / "runs.toml"
    path.write_text(
        '[[run]]\nid = "one"\nmodel = "llama-2-7b"\ngpu = "A100-SXM-80GB"\ngpus = 8\nprecision = "bf16"\nseq_len = 4096\ntp = 1\npp = 1\n'
        f'zero_stage = {stage}\nrecompute = "{recompute}"\noffload = "{offload}"\nmicro_batch = {micro_batch}\nglobal_batch = 64\n',
        "utf-8",
    )
    memory = call("estimate", str(path), "--json").json[0]["memory_gib"]
    assert memory["low"] <= measured <= memory["high"]


@pytest.mark.parametrize(("stage", "offload", "micro_batch", "measured"), [(row[0], *row[2:]) for row in A800[:1] + A800[2:]])
def test_unstated_recomputation_of_a_sharding_program_is_none_to_all(tmp_path, stage, offload, micro_batch, measured):
    """The same runs by somebody who does not say that they recompute: programs differ in what they do unless told."""
    stated = {"gpus": 8, "seq_len": 4096, "zero_stage": stage, "offload": offload, "micro_batch": micro_batch, "global_batch": 64}
    run = {"model": "llama-2-7b", "gpu": "A100-SXM-80GB", "precision": "bf16", **stated}
    (found,) = estimate_rows([RunRow("one", run)], {}, catalog())
    assert found["memory_gib"]["low"] <= measured <= found["memory_gib"]["high"]
    assert any("recomputation is not stated" in note for note in found["notes"])
    (megatron,) = estimate_rows([RunRow("one", run | {"zero_stage": 1})], {}, catalog())
    assert not any("recomputation is not stated" in note for note in megatron["notes"])


def test_schedules_and_offloads_that_nobody_knows(tmp_path):
    common = {"seq_len": 4096, "gpus": 8, "tp": 1, "pp": 8, "dp": 1, "vpp": 1, "global_batch": 64, "zero_stage": 1, "recompute": "none"}
    flat, double = (estimated(tmp_path, **common, schedule=each)["memory_gib"]["terms"] for each in ("1f1b", "zb-h2"))
    # 2p − 1 micro-batches instead of p [arXiv:2401.10241 table 1], on the first of 8 stages
    assert double["activations"] == pytest.approx(15 / 8 * flat["activations"], rel=1e-4)
    assert "no pipeline schedule" in estimated(tmp_path, **common, schedule="zigzag")["notes"][0]
    assert "offload 'moon' is not known" in estimated(tmp_path, **common, offload="moon")["notes"][0]


def test_llama_405b_is_never_refused(tmp_path):
    """TP 8, PP 16 on 16,384 H100 of 80 GB, 8,192 tokens, no recomputation: 400 TFLOP/s per GPU [arXiv:2407.21783 table 4, §3.3.2]."""
    path = tmp_path / "runs.toml"
    path.write_text(
        '[[run]]\nid = "one"\nmodel = "llama-3.1-405b"\ngpu = "H100-SXM-80GB"\ngpus = 16384\nprecision = "bf16"\nseq_len = 8192\n'
        'tp = 8\npp = 16\nzero_stage = 1\nmicro_batch = 1\nglobal_batch = 2048\nrecompute = "none"\n',
        "utf-8",
    )
    found = call("estimate", str(path), "--json").json[0]
    assert found["verdict"] in ("fits", "at_risk")
    assert found["memory_gib"]["low"] < 79.6, "it ran on 80 GB"
    assert any("needs the least memory" in note for note in found["notes"]), "interleaving, which is not stated, would take more"


SPELLINGS = [
    # one way of writing, and another that means the same
    ({"precision": "bf16"}, {"precision": "bf16-mixed"}),
    ({"precision": "bf16"}, {"precision": "bfloat16"}),
    ({"precision": "fp16"}, {"precision": "16-mixed"}),
    ({"precision": "fp8"}, {"precision": "fp8_e4m3 (current scaling)"}),
    ({"precision": "mxfp8"}, {"precision": "fp8-block128"}),
    ({"optimizer": "adamw_8bit"}, {"optimizer": "paged_adamw_8bit"}),
    ({"optimizer": "adamw_8bit"}, {"optimizer": "bnb.AdamW8bit"}),
    ({"optimizer": "muon"}, {"optimizer": "DistMuon"}),
    ({"optimizer": "sgd"}, {"optimizer": "SGD with momentum"}),
    ({"offload": "optimizer"}, {"offload": "cpu"}),
    ({"offload": "optimizer"}, {"offload": True}),
    ({"offload": "optimizer"}, {"optimizer": "DeepSpeedCPUAdam"}),
    ({"offload": "parameters"}, {"cpu_offload": True}),
    ({"schedule": "1f1b"}, {"schedule": "Interleaved1F1B"}),
    ({"schedule": "zb_v"}, {"schedule": "ZBVZeroBubble"}),
    ({"schedule": "gpipe"}, {"schedule": "GPipe"}),
    ({"recompute": "full"}, {"recompute": True}),
    ({"recompute": "full"}, {"gradient_checkpointing": True}),
    ({"recompute": "full"}, {"recompute": "uniform 1"}),
    ({"recompute": "full:2"}, {"recompute_granularity": "full", "recompute_method": "block", "recompute_num_layers": 2}),
    ({"recompute": "none"}, {"recompute": False}),
    ({"recompute": "selective:mlp,layernorm"}, {"recompute": "selective", "recompute_modules": ["mlp", "layernorm"]}),
    ({"recompute": "none", "vpp": 1}, {"recompute": "none", "vpp": 0, "ep": 0}),
]


@pytest.mark.parametrize(("known", "other"), SPELLINGS)
def test_settings_are_read_as_code_and_papers_write_them(tmp_path, known, other):
    common = {"seq_len": 4096, "gpus": 16, "tp": 1, "pp": 4, "dp": 4, "global_batch": 64, "zero_stage": 1, "vpp": 1}
    common |= {} if "recompute" in known else {"recompute": "none"}
    one, same = (estimated(tmp_path, **{**common, **each})["memory_gib"] for each in (known, other))
    assert one is not None
    assert one == same


def test_some_layers_of_a_row(tmp_path):
    """Of the 8 layers of each of 4 stages, 2 keep their input alone, 2 B × 2 × 4,096 × 4,096 = 1/16 GiB for each of four micro-batches;
    one layer at a time is whole while it is computed again [Megatron-LM, --recompute-method block]."""
    common = {"seq_len": 4096, "gpus": 16, "tp": 1, "pp": 4, "dp": 4, "global_batch": 64, "zero_stage": 1, "vpp": 1}
    none, some, other = (
        estimated(tmp_path, **common, recompute=each)["memory_gib"]["terms"]["activations"] for each in ("none", "block 2", "every 4")
    )
    layer = none / 4 / 8
    assert none - some == pytest.approx(8 * (layer - 1 / 16) - layer, rel=1e-3)
    assert other == some


def test_weights_in_16_bits_alone(tmp_path):
    """8.03 billion parameters: 2 B weight, 2 B gradient, 4 B moments, 59.8 GiB, without a 32-bit copy [Lightning, "bf16-true"]."""
    common = {"seq_len": 512, "gpus": 1, "tp": 1, "pp": 1, "dp": 1, "global_batch": 2, "zero_stage": 0, "recompute": "full"}
    row = estimated(tmp_path, **common, precision="bf16-true")["memory_gib"]["terms"]
    assert sum(row[name] for name in ("parameters", "gradients", "optimizer")) == pytest.approx(8.03e9 * 8 / 2**30, rel=0.01)


def test_who_shards_needs_no_other_sizes(tmp_path):
    rows = [estimated(tmp_path, seq_len=4096, gpus=8, global_batch=16, recompute="full", sharding=each) for each in ("full_shard", "FSDP2")]
    assert rows[0]["memory_gib"] == rows[1]["memory_gib"] is not None
    assert rows[0]["memory_gib"]["terms"]["optimizer"] == pytest.approx(8.03e9 * 12 / 8 / 2**30, rel=0.01)


def test_post_training_of_a_row_has_its_other_models(tmp_path):
    """A frozen reference of 8.03 billion parameters in 16 bits, spread over 8 GPUs, is 1.9 GiB [arXiv:2402.03300 §4.1]."""
    common = {"seq_len": 4096, "gpus": 8, "tp": 8, "pp": 1, "dp": 1, "global_batch": 16, "recompute": "full", "zero_stage": 1}
    plain, reinforced = (estimated(tmp_path, **common, workload=each)["device"] for each in ("sft", "GRPO"))
    assert "other_models" not in plain["terms"]
    assert reinforced["terms"]["other_models"]["expected"] == pytest.approx(8.03e9 * 2 / 8 / 2**30, rel=0.01)


def test_memory_of_a_gpu_that_the_catalog_does_not_know(tmp_path):
    """A row may state what its GPU has: 8.03 billion parameters at 16 to 18 bytes do not fit 80 GiB, and do fit 192 GiB."""
    path = tmp_path / "runs.toml"
    row = RUN.replace("H100-SXM-80GB", "A900 of tomorrow") + "seq_len = 1024\ngpus = 1\ntp = 1\nglobal_batch = 2\nzero_stage = 0\n"
    found = []
    for size in ("", "gpu_mem_gib = 80\n", "gpu_mem_gib = 192\n"):
        path.write_text(row + size + MODEL, "utf-8")
        found.append(call("estimate", str(path), "--json").json[0])
    assert [each["verdict"] for each in found] == ["unknown", "does_not_fit", "fits"]
    assert [each["device"]["capacity"] for each in found] == [None, 80, 192]
    assert all(each["iteration_s"] is None for each in found)


def test_a_model_of_which_only_the_size_is_stated(tmp_path):
    """Seven billion parameters keep 18 bytes each, 117 GiB, whatever their shape is."""
    path = tmp_path / "runs.toml"
    row = RUN.replace("llama3-8b", "mine") + 'seq_len = 512\ngpus = 1\ntp = 1\nglobal_batch = 2\nzero_stage = 0\nrecompute = "full"\n'
    path.write_text(row + "[models.mine]\nparams_b = 7\n", "utf-8")
    found = call("estimate", str(path), "--json").json[0]
    state = sum(found["memory_gib"]["terms"][name] for name in ("parameters", "gradients", "optimizer"))
    assert state == pytest.approx(7e9 * 18 / 2**30, rel=0.01)
    assert any("typical dense model" in note for note in found["notes"])
    path.write_text(row + '[models.mine]\nparams_b = 7\nhybrid = "shape not collected"\n', "utf-8")
    assert call("estimate", str(path), "--json").json[0]["memory_gib"] is None
