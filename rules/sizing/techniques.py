"""What a training code does or leaves out, as far as it changes the time of a step; every technique has a published effect.

A design plans with today's tuned code. A published run may come from other code: attention kernels of an earlier generation, norms and
activations that run operator by operator, collectives that wait. None of this names a source; it is read off what a run states.
"""

from __future__ import annotations

from typing import NamedTuple

FUSED, FLASH_2, FLASH_1, UNFUSED = "fused", "flash_2", "flash_1", "unfused"
"""Attention kernels: those of the GPU's own generation (cuDNN, FlashAttention-3), FlashAttention-2, FlashAttention 1, scores in memory."""


LAUNCH_S, EAGER_LAUNCH_S = 3e-6, 30e-6
"""Fixed cost of a small kernel, in seconds: launched from a graph or ahead of time; by the host as a framework's defaults do
[SimuMax configs/system/b200_bf16_ceperm.json: 30 µs per memory-bound operator]."""


class Techniques(NamedTuple):
    """The techniques of a training code.

    `eager`: norms, rotary embeddings and activations are operators of their own. `overlapped`: collectives of tensor and expert
    parallelism run beside the arithmetic where the hardware's code can. `asynchronous`: those of tensor parallelism do so in part, as in
    PyTorch. `late_gradients`: gradients are reduced after the backward pass.
    `waiting_shards`: parameters that are gathered layer by layer are in part waited for (PyTorch FSDP). `reduced_bytes`: per gradient
    that fully sharded ranks exchange. `every_other_product`: selective recomputation repeats every other matrix product. `launch_s`:
    fixed cost of a small kernel in seconds. `one_adapter`: what fully sharded ranks gather and scatter reaches a server through one of
    its adapters. `fused_experts`: where the GPU has such kernels (Blackwell, MXFP8, gated experts), an expert's activation and casts
    happen inside its products, the exchange puts tokens where experts read them and overlaps with arithmetic, and no size is read back: a
    whole step is one graph. `plain_exchange`: tokens go to their experts by NCCL's all-to-all, once for each
    choice. `eager_ring`: what context-parallel ranks merge and send goes operator by operator, as in PyTorch.
    """

    attention: str = FUSED
    eager: bool = False
    overlapped: bool = True
    asynchronous: bool = False
    late_gradients: bool = False
    waiting_shards: bool = False
    reduced_bytes: float = 2.0
    every_other_product: bool = False
    launch_s: float = LAUNCH_S
    one_adapter: bool = False
    fused_experts: bool = True
    plain_exchange: bool = False
    eager_ring: bool = False


TUNED = Techniques()
"""Today's tuned code: Megatron Core with Transformer Engine, or compiled code of the same standard; experts fused as since container
26.06 [Megatron Bridge release notes 0.5.1: fused grouped products and whole-iteration graphs for DeepSeek-V3 and Qwen3]."""
CLASSIC = Techniques(attention=UNFUSED, overlapped=False, late_gradients=True)
"""Megatron-LM of 2021 and 2022: fused softmax but no FlashAttention; gradients reduced after the backward pass [Korthikanti 2022]."""
FIRST_SHARDED = CLASSIC._replace(one_adapter=True)
"""Full sharding of 2021: GPT 175B takes 65 s a step on 768 A100 and as long on 1,536 with half the work for each, 530B three times as long,
which is its weights through one 200G adapter of each server three times [Narayanan 2021, arXiv:2104.04473 table 2, ZeRO-3]. One adapter of
eight is inferred from the 175B runs, not published: the 530B runs, held out, are then off by 12 % on average; an adapter count fitted to
530B leaves 175B off by 9 %. With all eight the six runs are off by 148 %. No other source ran this code."""
