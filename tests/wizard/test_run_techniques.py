"""Training code recognised from what a row states: releases whose recipes fuse the kernels of experts."""

from __future__ import annotations

import json

import pytest

from catalogs import load_catalog
from tests.wizard.calls import call
from wizard.imports.run_machines import Machines

MODEL = """
[models."qwen3-30b"]
layers = 48
hidden = 2048
ffn = 6144
heads = 32
kv_heads = 4
head_dim = 128
vocab = 151936
experts = 128
topk = 8
moe_ffn = 768
"""


def rate(tmp_path, gpu: str, table: str, **stated: object) -> float:
    """Return the estimated tokens per second and GPU of Qwen3 30B on eight GPUs in MXFP8."""
    values = {"table": table, "gpu": gpu, "gpus": 8, "tp": 1, "pp": 1, "ep": 8, "micro_batch": 8 if gpu == "GB300" else 4, "seq_len": 4096}
    values |= stated
    lines = ['[[run]]\nid = "one"\nmodel = "qwen3-30b"\nprecision = "mxfp8"\nglobal_batch = 512\nzero_stage = 1']
    lines += [f"{key} = {json.dumps(value)}" for key, value in values.items()]
    path = tmp_path / "runs.toml"
    path.write_text("\n".join(lines) + MODEL, "utf-8")
    return call("estimate", str(path), "--json").json[0]["tokens_per_s_per_gpu"]


@pytest.mark.parametrize(("gpu", "measured"), [("GB300", 44_544), ("GB200", 39_936)])
def test_a_container_of_26_08_comes_within_a_tenth(tmp_path, gpu, measured):
    """Qwen3 30B A3B in MXFP8 [Megatron Bridge performance summary, 26.08]."""
    assert rate(tmp_path, gpu, "26.08 container, Qwen3_30B_a3B") == pytest.approx(measured, rel=0.10)


@pytest.mark.parametrize(
    ("gpu", "table", "fused"),
    [
        ("GB200", "26.06 container", True),
        ("GB200", "26.04.01 container", False),
        ("GB200", "", False),
        ("B200", "26.06 container", False),
        ("B200", "26.06.01 container", True),
    ],
)
def test_releases_that_fuse_experts_are_faster(tmp_path, gpu, table, fused):
    """On superchips since 26.06, on B200 since 26.06.01 [Megatron Bridge release notes 0.5.1]."""
    assert (rate(tmp_path, gpu, table) > 1.05 * rate(tmp_path, gpu, "25.11 container")) is fused


def test_the_release_is_a_field_of_its_own(tmp_path):
    assert rate(tmp_path, "GB200", "", release="26.08") == rate(tmp_path, "GB200", "26.08 container")
    assert rate(tmp_path, "GB200", "26.08 container", release="25.11") == rate(tmp_path, "GB200", "")
    assert rate(tmp_path, "GB200", "", fused_experts=True) == rate(tmp_path, "GB200", "", release="26.08")


def test_across_servers_a_token_goes_once_for_each_choice_unless_stated(tmp_path):
    """64-way dispatch over H100 takes 9,164 µs by NCCL's all-to-all, 4,626 µs by HybridEP [arXiv:2603.07685]."""
    many = {"gpus": 64, "ep": 64}
    assert rate(tmp_path, "H100-SXM-80GB", "", **many) == rate(tmp_path, "H100-SXM-80GB", "", exchange="alltoall", **many)
    assert rate(tmp_path, "H100-SXM-80GB", "", exchange="deepep", **many) > 1.1 * rate(tmp_path, "H100-SXM-80GB", "", **many)
    assert rate(tmp_path, "GB200", "") > rate(tmp_path, "GB200", "", exchange="alltoall")


@pytest.mark.parametrize(("key", "value"), [("release", "latest"), ("exchange", "pigeon")])
def test_what_is_not_known_of_the_code_is_said(tmp_path, key, value):
    assert rate(tmp_path, "GB200", "", **{key: value}) is None


def test_a_stated_network_counts_before_that_of_the_usual_server():
    """Servers of torchtitan's H100 have 400 Gb/s for each GPU, 50 GB/s [pytorch/torchtitan, benchmarks, hardware]."""
    machines = Machines(load_catalog())
    usual, stated = (machines.get("H100-96GB-HBM2e-500W", gbps) for gbps in (None, 400))
    assert stated.nic_bytes_per_s == 50e9
    assert usual.nic_bytes_per_s != 50e9
    assert not any("adapters" in each for each in stated.assumed)
