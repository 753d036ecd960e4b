"""Arithmetic of one layer against published measurements of kernels."""

from __future__ import annotations

import pytest

from catalogs import load_catalog
from catalogs.schema import Node
from rules.answers import Answers
from rules.sizing.compute import Arithmetic
from rules.sizing.hardware import hardware_of
from rules.sizing.model import shape_from_answers
from rules.sizing.results import ModelShape
from rules.sizing.techniques import FLASH_1, FLASH_2, TUNED

CATALOG = load_catalog()
B200_PEAK, H100_PEAK, A100_PEAK = 2250e12, 989e12, 312e12


def arithmetic(node: str, sequence: int = 4096, *, heads: int = 64, causal: bool = True, **techniques) -> Arithmetic:
    record = CATALOG.nodes[node]
    hardware = hardware_of(record, CATALOG.gpus[record.gpu], CATALOG)
    shape = ModelShape(
        "layer",
        "dense",
        layers=1,
        hidden_size=128 * heads,
        ffn_size=512 * heads,
        attention_heads=heads,
        key_value_heads=heads,
        head_dim=128,
    )
    return Arithmetic(shape, hardware, "bf16", sequence, causal, TUNED._replace(**techniques))


@pytest.mark.parametrize(
    ("experts", "rows", "columns", "inner", "share"),
    [
        # means of the measured forward, input-gradient and weight-gradient products
        (256, 128, 4096, 7168, 0.190),
        (128, 256, 4096, 7168, 0.274),
        (64, 512, 4096, 7168, 0.350),
        (32, 1024, 4096, 7168, 0.413),
        (20, 1232, 3072, 5120, 0.408),
        (40, 2460, 3072, 5120, 0.452),
    ],
)
def test_grouped_products_of_experts(experts, rows, columns, inner, share):
    """Share of the BF16 peak that grouped products reach on B200 by tokens per expert [SimuMax configs/system/b200_bf16_ceperm.json]."""
    seconds = arithmetic("nvidia-dgx-b200").product(rows, columns, inner, True, experts)
    assert 2 * experts * rows * columns * inner / seconds / B200_PEAK == pytest.approx(share, rel=0.15)


@pytest.mark.parametrize("gpu", [gpu.id for gpu in CATALOG.gpus if {"fp16", "bf16"} <= set(gpu.peak_dense)])
def test_fp16_trains_as_fast_as_bf16_where_the_peaks_agree(gpu):
    """Both are multiplied by the same units: datasheets print one figure for the two, but for Gaudi 3."""
    record = CATALOG.gpus[gpu]
    server = Node(id="s", name="s", vendor="any", gpu=gpu, gpu_count=8, topology="pcie", scale_up_domain=1, cooling="unknown")
    shape = ModelShape("layer", "dense", layers=1, hidden_size=8192, attention_heads=64, head_dim=128)
    rates = Arithmetic(shape, hardware_of(server, record, CATALOG), "bf16", 4096)
    same = record.peak_dense["fp16"].to("FLOP/s") == record.peak_dense["bf16"].to("FLOP/s")
    assert (rates.trained_rate("fp16") == pytest.approx(rates.trained_rate("bf16"))) is same
    assert rates.trained_rate("fp16") <= record.peak_dense["fp16"].to("FLOP/s") / record.devices


@pytest.mark.parametrize(
    ("sequence", "node", "techniques", "measured"),
    [
        (1024, "nvidia-dgx-h100", FLASH_2, 350e12),
        (16_384, "nvidia-dgx-h100", FLASH_2, 370e12),
        (16_384, "nvidia-dgx-h100", "fused", 648e12),
    ],
)
def test_attention_by_generation_of_its_kernels(sequence, node, techniques, measured):
    """Forward, head size 128, no mask, 16,384 tokens in all: FlashAttention-2 and -3 on H100 [arXiv:2407.08608 figure 5]."""
    layer = arithmetic(node, sequence, heads=16, causal=False, attention=techniques).layer(16_384, 1, False)
    assert 4 * 16_384 * sequence * 16 * 128 / layer.attention == pytest.approx(measured, rel=0.12)


def test_the_first_flash_attention_is_half_as_fast():
    """[arXiv:2307.08691 abstract]; MPT 1.3B at 65,536 tokens on A100 computes attention at about 105 TFLOP/s [LLM-Foundry tables]."""
    first = arithmetic("nvidia-dgx-a100-640gb", 65_536, heads=16, attention=FLASH_1).layer(65_536, 1, False)
    rate = 3.5 * 2 * 65_536 * 65_536 * 16 * 128 / (first.attention + first.attention_backward)
    assert rate == pytest.approx(105e12, rel=0.15)


def test_attention_of_b200_at_long_sequences():
    """0.50 of peak forward, 0.41 backward at 131,072 tokens [SimuMax, as above, counted without the masked half]; within 15 %."""
    layer = arithmetic("nvidia-dgx-b200", 131_072, heads=8).layer(131_072, 1, False)
    flops = 2 * 131_072**2 * 8 * 128
    assert flops / layer.attention / B200_PEAK == pytest.approx(0.50, rel=0.15)
    assert 2.5 * flops / layer.attention_backward / B200_PEAK == pytest.approx(0.41, rel=0.15)


def test_a_layer_of_few_tokens_waits_for_the_host_of_an_eight_gpu_server():
    """48 layers of Qwen3 30B A3B take 0.43 s for 4,096 tokens on B200 with x86 hosts [Megatron Bridge 25.11 and 26.02]; a whole step as
    one graph waits for no host [release notes 0.5.1].
    """
    qwen = ModelShape(
        "qwen3-30b-a3b", "moe", layers=48, hidden_size=2048, attention_heads=32, key_value_heads=4, head_dim=128, experts=128,
        experts_per_token=8, expert_ffn_size=768, attention="gqa", vocabulary_size=151_936,
    )  # fmt: skip
    record = CATALOG.nodes["nvidia-dgx-b200"]
    machine, before = hardware_of(record, CATALOG.gpus[record.gpu], CATALOG), TUNED._replace(fused_experts=False)
    code, graphed = Arithmetic(qwen, machine, "mxfp8", 4096, techniques=before), Arithmetic(qwen, machine, "mxfp8", 4096)
    own = code.layer(4096, 1, True, 8)
    made = code.launched(own, 0.0)
    assert graphed.launched(graphed.layer(4096, 1, True, 8), 0.0).wait == 0
    assert 48 * (made.forward + made.backward) == pytest.approx(0.43, rel=0.15)
    assert made.wait > made.products
    assert code.launched(own, made.wait).wait == pytest.approx(0.0, abs=1e-9), "the host launches on while tokens are on their way"
    assert made.forward == pytest.approx(0.003), "recomputing all of it takes the host a third of 9 ms more"


@pytest.mark.parametrize("node", ["nvidia-dgx-h100", "supermicro-as-8125gs-tnmr2-mi300x"])
@pytest.mark.parametrize("precision", ["fp32", "tf32"])
def test_head_and_attention_are_no_faster_than_the_precision_allows(node, precision):
    """No part of a step runs above the peak of its format: utilization stays below one, however large vocabulary and sequence are."""
    catalog = load_catalog()
    record = catalog.nodes[node]
    machine = hardware_of(record, catalog.gpus[record.gpu], catalog)
    answers = Answers.of({"model.preset": "llama-3.1-8b", "model.vocabulary_size": 2_000_000, "training.sequence_length": 8192})
    shape = shape_from_answers(answers, catalog)
    wide = Arithmetic(shape, machine, precision, 8192)
    narrow = Arithmetic(shape, machine, "bf16", 8192)
    assert sum(wide.head(8192, 1)) > 1.5 * sum(narrow.head(8192, 1))
    flops = 6.0 * 8192 * 2_000_000 * shape.hidden_size
    assert flops / sum(wide.head(8192, 1)) <= machine.rate(precision).peak


def test_an_eager_ring_moves_what_its_operators_read_and_write():
    """By hand, bytes per element of the output and step [torch 2.6, _attention.py].

    A step that sees all queries: cast 6, three operations of 12, 8 and 12, keys and values joined 8; one that sees half of them 3, 16, 8 to
    join the halves, 8. Backward: 8 and 16 to join keys, values and their gradients, 20 or 26 to add those, 13 or 10 for the queries'. A
    fused ring moves 10 and 12.
    """
    forward, backward = (46 + 35) / 2, ((8 + 16 + 20 + 13) + (8 + 16 + 26 + 10)) / 2
    fused, eager = (arithmetic("nvidia-dgx-h100", 65_536, heads=32, eager_ring=each) for each in (False, True))
    elements = 4 * 16_384 * 32 * 128
    moved = [
        (own - other) * fused.hardware.hbm_bytes_per_s * 0.75 / elements
        for own, other in zip(eager.ring_attention(16_384, 1, 4), fused.ring_attention(16_384, 1, 4), strict=True)
    ]
    assert moved == pytest.approx([forward - 10, backward - 12], rel=0.02)
