"""Host memory and processors: what killed public runs, and what was enough."""

from __future__ import annotations

import pytest

from catalogs.quantities import magnitude
from rules.sizing.host import cores_needed
from tests.published.asking import asked, case, number

FULL: dict[str, object] = {"workload.kind": "fine_tuning_full", "scale.nodes": 1}


@case("ram-32b-744gb", "https://github.com/hiyouga/LlamaFactory/issues/6755")
def test_offload_of_32b_does_not_fit_744_gb_of_host_memory():
    """Qwen2.5-32B with full offload on one H100 NVL was killed: 27 bytes per parameter are 885 GB."""
    question: dict[str, object] = {
        **FULL, "model.parameters": "32.76B", "own_server.gpu": "nvidia-h100-nvl-94gb", "own_server.gpus": 1,
    }  # fmt: skip
    killed = asked(question, own_server__memory="744 GB")
    finding = killed.finding("storage_cpu.offload_memory")
    assert finding is not None
    assert number(finding.numbers["offload_gb"], "GB") == pytest.approx(885, rel=0.005)
    (memory,) = [remedy for remedy in finding.remedies if remedy.key == "own_server.memory"]
    assert magnitude(memory.value, "GB") >= 885
    assert asked(question, own_server__memory="1 TB").finding("storage_cpu.offload_memory") is None
    # the same by somebody who asks for the offload, as the run had it
    offloaded = {**question, "parallelism.offload": "parameters", "parallelism.zero_stage": 3}
    rejected = asked(offloaded, own_server__memory="744 GB")
    assert not rejected.accepted
    assert "storage_cpu.offload_does_not_fit" in rejected.rejections
    assert asked(offloaded, own_server__memory="1 TB").accepted


@case("ram-7b-94gb", "https://github.com/CVI-SZU/Linly/issues/83")
def test_offload_of_7b_takes_more_than_94_gb():
    """94 GB died; 160 GB (4 GPUs) to 178 GB (8) were used on a larger server."""
    question: dict[str, object] = {**FULL, "model.preset": "llama-2-7b", "own_server.gpu": "nvidia-rtx-3090", "own_server.gpus": 4}
    design = asked(question, own_server__memory="94 GB")
    assert design.finding("storage_cpu.offload_memory") is not None
    assert 160 <= design.fact("offload_gb") <= 200
    assert asked(question, own_server__memory="256 GB").finding("storage_cpu.offload_memory") is None


@case("ram-70b-fsdp-load", "https://github.com/hpcaitech/ColossalAI/issues/4931")
def test_every_rank_that_loads_the_whole_model_adds_up():
    """Llama 2 70B in fp32 on each of eight ranks: 280 GB × 8 = 2.24 TB; loaded by one rank or in shards, one copy is enough."""
    question: dict[str, object] = {
        "workload.kind": "fine_tuning_full", "scale.nodes": 4, "model.parameters": "70B", "training.sequence_length": 2048,
        "own_server.gpu": "nvidia-a100-sxm-80gb", "own_server.gpus": 8, "own_server.nics": 8, "own_server.nic_speed": "200 Gb/s",
    }  # fmt: skip
    design = asked(question, own_server__memory="1 TB")
    loading = design.finding("storage_cpu.naive_load")
    assert loading is not None
    assert number(loading.numbers["naive_load_gb"], "TB") == pytest.approx(2.24, abs=0.01)
    assert number(loading.numbers["naive_load_gb"], "GB") / 8 == pytest.approx(280, abs=1)
    assert "Load shard by shard, or on one rank and broadcast" in loading.because
    (memory,) = [remedy for remedy in loading.remedies if remedy.key == "own_server.memory"]
    assert "load sharded and leave the memory as it is" in memory.text
    assert "storage_cpu.naive_load" not in design.rejections
    assert asked(question, own_server__memory="3 TB").finding("storage_cpu.naive_load") is None


@case("cpu-deit-workers", "https://github.com/facebookresearch/deit/issues/81")
def test_workers_fit_the_cores():
    """Eight GPUs and 32 cores: 32 workers per process crawled, 4 worked; with 4 the rule asks for 44 cores."""
    assert cores_needed(8, 4) == 44
    assert cores_needed(8, 32) > 8 * 32 > cores_needed(8, 2) <= 32
    tolerated = _vision(32)
    assert tolerated.fact("workers_per_gpu") == 4
    assert tolerated.fact("cores_needed") == 44
    assert tolerated.finding("storage_cpu.cores_short") is not None
    assert "storage_cpu.cores_oversubscribed" not in tolerated.rejections
    assert "storage_cpu.cores_oversubscribed" in _vision(8).rejections


@case("cpu-imagenet-32", "https://github.com/pytorch/examples/issues/387")
@pytest.mark.parametrize(("cores", "flagged"), [(16, True), (44, False), (64, False)])
def test_images_need_cores(cores, flagged):
    """ImageNet on 8 GPUs: at least 32 cores were the answer; 16 are too few, 44 do."""
    design = _vision(cores)
    found = {"storage_cpu.cores_short", "storage_cpu.cores_oversubscribed"} & {each.rule for each in design.candidate.findings}
    assert bool(found) is flagged


def _vision(cores: int):
    return asked({
        "workload.kind": "vision", "model.preset": "vit-b-16", "training.precision": "fp16", "scale.nodes": 1,
        "own_server.gpu": "nvidia-v100-sxm-32gb", "own_server.gpus": 8, "own_server.cpu_cores": cores, "own_server.memory": "200 GB",
    })  # fmt: skip
