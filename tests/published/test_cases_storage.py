"""Storage: checkpoints that were measured, capacity that was missed, and files that were too small."""

from __future__ import annotations

import pytest

from catalogs.quantities import magnitude
from rules.sizing.checkpoint import plan_checkpoints
from rules.sizing.host import offload_memory
from tests.published.asking import asked, case, catalog


@case("ref-bloom-checkpoint", "https://github.com/bigscience-workshop/bigscience/blob/master/train/tr11-176B-ml/README.md")
def test_checkpoints_of_bloom():
    """176.247 billion parameters: "2.3TB" are 2.47e12 bytes (2.24 TiB), saved in 40 s (57 to 63 GB/s) every three hours, 0.37 %."""
    design = asked({"model.preset": "bloom-176b", "scale.gpus": 384, "preferences.nodes": ["nvidia-dgx-a100-640gb"]})
    size = magnitude(design.considered.context.workload.checkpoint, "byte")
    assert 2.4e12 <= size <= 2.55e12
    assert size / 2**40 == pytest.approx(2.24, abs=0.02)
    plan = plan_checkpoints(size, 384, 2 * 86_400, catalog(), usual_write=1e12, offered_write=61.5e9)
    assert plan.mode == "synchronous"
    assert plan.pause == pytest.approx(40, rel=0.02)
    every_three_hours = plan_checkpoints(size, 384, 30 * 86_400, catalog(), usual_write=1e12, offered_write=61.5e9)
    assert every_three_hours.interval == pytest.approx(3 * 3600, rel=0.01)
    assert every_three_hours.stall_share == pytest.approx(0.0037, rel=0.03)
    weights = 2 * design.considered.context.workload.parameters.total
    assert weights / 2**30 == pytest.approx(329, rel=0.005), "the log prints 329GB for what are GiB"


@case("sto-small-files", "https://github.com/stas00/ml-engineering/blob/master/storage/README.md")
def test_small_files_have_a_system_of_their_own():
    """Blocks of 16 MiB under files of 16 KiB waste a factor of 1,024; a first import took 20 seconds to minutes."""
    design = asked({"model.preset": "llama-3.1-70b", "scale.nodes": 16, "preferences.nodes": ["nvidia-dgx-h100"]})
    uses = design.finding("storage_cpu.three_uses")
    assert uses is not None
    assert "system of their own" in uses.because
    small = design.finding("storage_cpu.small_files")
    assert "importing PyTorch" in small.ask
    limit = catalog().thresholds["sto-small-files"].values
    assert limit["large_block_high_mib"] * 1024 / 16 == 1024
    lines = [line for line in design.candidate.bom if line.category == "storage"]
    assert len(lines) >= 2


@case("sto-lustre-80", "https://github.com/stas00/ml-engineering/blob/master/insights/how-to-choose-cloud-provider.md")
def test_capacity_keeps_a_fifth_free():
    """100 TB that must always be writable are 125 TB to buy; the vendor says how much of it can be filled."""
    answers: dict[str, object] = {"model.preset": "llama-3.1-8b", "scale.nodes": 8, "preferences.nodes": ["nvidia-dgx-h100"]}
    small, large = (asked(answers, data__size=size) for size in ("100 TB", "200 TB"))
    assert large.fact("capacity_needed_tb") - small.fact("capacity_needed_tb") == pytest.approx(125)
    assert small.fact("capacity_needed_tb") >= 125
    assert "filled before writes slow down" in small.finding("storage_cpu.capacity_reserve").ask


@case("sto-trillion-bandwidth", "https://thedpol.com/www.linkedin.com/pulse/optimizing-checkpoint-bandwidth-llm-training-vast-data-hamcf")
@pytest.mark.parametrize("nodes", [512, 2048])
def test_a_trillion_parameters_need_no_terabyte_per_second(nodes):
    """85,000 real checkpoints: 14 TB, written in the background, stay well below 1 TB/s."""
    design = asked({"model.parameters": "1T", "scale.nodes": nodes, "preferences.nodes": ["nvidia-dgx-b200"]})
    assert design.fact("checkpoint_gb") == pytest.approx(14_000, rel=0.01)
    assert 50 <= design.fact("write_needed_gb_per_s") <= 500
    assert design.fact("checkpoint_mode") == "asynchronous"
    assert design.finding("storage_cpu.checkpoint_background") is not None
    assert design.fact("mtbf_h") > 0


@case("ram-32b-744gb", "https://github.com/hiyouga/LlamaFactory/issues/6755")
def test_offload_memory_in_both_units():
    """32.8 billion × 27 bytes: 885 GB, 824 GiB."""
    needed = offload_memory(32.76e9, catalog())
    assert needed / 1e9 == pytest.approx(885, rel=0.002)
    assert needed / 2**30 == pytest.approx(824, rel=0.002)


@case("tender-gsdc-memory-alternatives", "https://www.scribd.com/document/907653432/Revised-GEM-Bid-16th-May-2025")
@pytest.mark.parametrize(("gpu", "gpus", "memory_gb"), [("nvidia-h200-nvl-141gb", 2, 280), ("nvidia-h100-nvl-94gb", 4, 376)])
@pytest.mark.parametrize(
    ("preset", "flagged"), [("llama-3.1-8b", False), ("llama-2-13b", False), ("qwen1.5-14b", True), ("qwen3-32b", True)]
)
def test_two_bids_that_use_the_array_that_is_there(gpu, gpus, memory_gb, preset, flagged):
    """Two cards of 140 GB or four of 94 GB on a 32 Gb/s Fibre Channel port: 3.2 GB/s, over a minute from 13 billion parameters on."""
    design = asked(
        {
            "workload.kind": "fine_tuning_full",
            "model.preset": preset,
            "own_server.gpu": gpu,
            "own_server.gpus": gpus,
            "scale.nodes": 1,
            "data.existing_rate": "3.2 GB/s",
        }
    )
    assert gpus * design.candidate.gpu.memory.printed.to("GB") == pytest.approx(memory_gb, rel=0.02)
    found = design.finding("storage_cpu.shared_existing")
    assert "to write there" in found.because
    waits = design.fact("existing_checkpoint_s")
    assert waits == pytest.approx(magnitude(design.considered.context.workload.checkpoint, "byte") / 3.2e9, rel=1e-6)
    assert (design.finding("storage_cpu.existing_waits") is not None) is flagged
    assert not any(line.category == "storage" for line in design.candidate.bom), "no shared storage is bought"
    assert "bridges" in design.finding("interconnect.topology_question").ask
