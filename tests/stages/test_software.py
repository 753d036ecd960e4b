"""The software stage: what the support catalog says of a GPU, and what the stage states and writes."""

from __future__ import annotations

import pytest

from catalogs import load_catalog
from rules.answers import Answers
from rules.candidate import Context
from rules.proposals import candidate_of
from rules.sizing.software import precision_hardware, software_stack, support_rows, version_key
from rules.sizing.workload import describe_workload
from rules.stages import software


@pytest.fixture(scope="module")
def catalog():
    return load_catalog()


def assess(catalog, node, units, answers):
    given = Answers.of(answers)
    context = Context(given, catalog, describe_workload(given, catalog))
    record = catalog.nodes[node]
    candidate = candidate_of(record, catalog.gpus[record.gpu], units, context, "test")
    return candidate, context, software.assess(candidate, context)


@pytest.mark.parametrize(
    ("gpu", "toolkit", "pytorch", "library"),
    [
        ("nvidia-h100-sxm-80gb", "11.8", "", "NCCL"),
        ("nvidia-b200-sxm", "12.8", "2.7", "NCCL"),
        ("nvidia-b300-sxm", "13.0", "2.9", "NCCL"),
        ("nvidia-rtx-pro-6000-server", "12.8", "2.7", "NCCL"),
        ("amd-mi355x", "7.0", "2.8", "RCCL"),
        ("intel-gaudi-3", "", "", "HCCL"),
    ],
)
def test_lowest_versions(catalog, gpu, toolkit, pytorch, library):
    """NVIDIA CUTLASS (compute capabilities), pytorch issue 145949, rocm/primus 26.9."""
    stack = software_stack(catalog.gpus[gpu], "pytorch", "bf16", catalog)
    assert stack.toolkit.minimum == toolkit
    assert stack.framework.minimum == pytorch
    assert stack.collectives.name == library


def test_volta_was_dropped(catalog):
    """JuliaGPU/CUDA.jl issue 3132 and pytorch issue 190385: CUDA 12.9 and PyTorch 2.14 are the last."""
    stack = software_stack(catalog.gpus["V100"], "pytorch", "fp16", catalog)
    assert (stack.toolkit.status, stack.toolkit.maximum) == ("dropped", "12.9")
    assert (stack.framework.status, stack.framework.maximum) == ("frozen", "2.14")


def test_tensorflow_is_broken_on_workstation_blackwell_only(catalog):
    assert software_stack(catalog.gpus["nvidia-rtx-5090"], "tensorflow", "bf16", catalog).framework.status == "broken"
    assert software_stack(catalog.gpus["amd-mi300x"], "tensorflow", "bf16", catalog).framework.status == "supported"


def test_what_the_catalog_does_not_say_is_unknown(catalog):
    support = software_stack(catalog.gpus["H100"], "tensorflow", "bf16", catalog).framework
    assert (support.status, support.version) == ("unknown", "no version stated")


def test_a_pattern_means_no_other_gpu(catalog):
    """A wildcard that matches too much would give Ampere what Blackwell needs, or H200 what H20 needs."""
    ids = {row.id for row in support_rows(catalog.gpus["A100"], catalog)}
    assert {"cuda-ampere", "te-ampere", "pytorch-ampere-to-hopper"} <= ids
    assert not {"cuda-blackwell", "te-hopper", "rocm-cdna3", "cuda-ampere-86"} & ids


@pytest.mark.parametrize(
    ("gpu", "precision", "hardware", "kernels"),
    [
        ("A100", "fp8", False, None),
        ("V100", "bf16", False, None),
        ("H100", "fp8", True, True),
        ("H100", "mxfp8", True, False),
        ("nvidia-b200-sxm", "mxfp8", True, True),
        ("nvidia-rtx-pro-6000-server", "mxfp8", True, False),
        ("amd-mi355x", "mxfp8", True, True),
        ("nvidia-h100-sxm-80gb", "nvfp4", False, None),
        ("nvidia-gb200", "nvfp4", True, True),
    ],
)
def test_precisions(catalog, gpu, precision, hardware, kernels):
    """Transformer Engine support matrix: FP8 from compute capability 8.9, MXFP8 and NVFP4 on 10.0 and 10.3."""
    record = catalog.gpus[gpu]
    assert precision_hardware(precision, record) is hardware
    if kernels is not None:
        assert software_stack(record, "pytorch", precision, catalog).precision_in_software is kernels


def test_versions_compare_as_numbers():
    assert version_key("2.25.1") > version_key("2.9")
    assert version_key("570.172") > version_key("535.129")


def test_facts_are_those_declared_also_without_a_plan(catalog):
    names = {each.name for each in software.FACTS}
    for units, preset in ((8, "llama-3.1-8b"), (1, "llama-3.1-405b")):
        candidate, _, fact = assess(catalog, "nvidia-dgx-h100", units, {"model.preset": preset, "scale.nodes": units})
        assert set(fact) == names
        assert fact["has_plan"] is (candidate.choice is not None)
    assert fact["has_plan"] is False


def test_the_section_names_versions(catalog):
    candidate, context, _ = assess(catalog, "nvidia-dgx-b200", 8, {"model.preset": "llama-3.1-8b"})
    section = software.describe(candidate, context)["software"]
    assert section["toolkit"] == "CUDA: 12.8 or newer"
    assert section["framework"] == "PyTorch: 2.7 or newer"
    assert section["collectives"] == "NCCL: 2.25.1 or newer"


def test_the_support_rows_of_a_gpu_are_looked_up_once(catalog):
    assert support_rows(catalog.gpus["H100"], catalog) is support_rows(catalog.gpus["H100"], catalog)


def test_texts_name_the_framework_that_is_used(catalog):
    _, _, fact = assess(catalog, "nvidia-dgx-h100", 8, {"model.preset": "llama-3.1-8b", "software.framework": "jax"})
    words = f"{fact['collectives_callers']} {fact['sharding_name']}"
    assert "JAX" in words
    assert not any(name in words for name in ("PyTorch", "Megatron", "FSDP", "DeepSpeed"))


def test_sharding_inside_a_node_is_checked_with_activations(catalog):
    """70.55 billion x 16 bytes over eight GPUs are 131 GiB; activations and gathering come on top, and 179 GiB are there."""
    given = {"parallelism.tensor": 1, "parallelism.pipeline": 1, "parallelism.zero_stage": 3, "parallelism.micro_batch": 1}
    _, _, fact = assess(catalog, "nvidia-dgx-b200", 16, {"model.preset": "llama-3.1-70b", **given, "parallelism.recompute": "selective"})
    assert fact["shards_beyond_domain"] is True
    assert fact["domain_shard_gib"] > 131 + 50
    assert fact["domain_shard_fits"] is False
