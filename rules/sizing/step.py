"""How long one optimizer step takes: the arithmetic of the slowest stage, what communication adds, the bubble, the optimizer.

`T = m · (slowest stage, exposed tensor, expert and context communication) + bubble + pipeline transfers + exposed data-parallel
communication + optimizer + stragglers`. Models without transformer layers are in `rules.sizing.throughput`.
Sources: Narayanan 2021 (arXiv:2104.04473) for pipeline and tensor parallelism, Rajbhandari 2020 (arXiv:1910.02054) for sharding,
Korthikanti 2022 (arXiv:2205.05198) for sequence parallelism and recomputation, arXiv:2603.07685 for experts.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from catalogs.quantities import quantity
from catalogs.sums import plain_sum
from rules.sizing import throughput
from rules.sizing.collectives import RAILS, Group, all_reduce_seconds, gather_seconds, group, point_to_point_seconds
from rules.sizing.compute import BYTES_16, Arithmetic, LayerTime
from rules.sizing.exposure import Exposure, exposure_of
from rules.sizing.offload import offload_seconds
from rules.sizing.parameters import embedding_parameters, layer_parameters, moe_layers, vision_tokens
from rules.sizing.pipeline import chunks, recomputed_share
from rules.sizing.placement import placed_domain, widest_straddling
from rules.sizing.recomputed import repeated_seconds
from rules.sizing.results import ModelShape, Plan, StepEstimate, Workload
from rules.sizing.step_parts import Block, Exchange, StepTime
from rules.sizing.techniques import TUNED, UNFUSED, Techniques
from rules.sizing.traffic import RECOMPUTED_TENSOR, inter_domain_bytes, largest_message_bytes, layer_traffic

if TYPE_CHECKING:
    from rules.sizing.hardware import Hardware

TRANSFORMERS = ("dense", "moe", "vision_transformer")
GRADIENT_BYTES = 4.0
"""Gradients are accumulated and reduced in 32 bit, Megatron's default for BF16 [Megatron-LM optimizer documentation]."""
OPTIMIZER_BYTES = 32.0
"""Bytes per parameter that an AdamW step reads and writes: master weights, two moments, gradient, 16-bit copy (counted)."""
OFFLOADED_BYTES = 16.0
"""Bytes per parameter over PCIe per step with the optimizer on the host: 32-bit gradients down, 16-bit weights up, twice [ZeRO-Offload]."""
WITHOUT_FUSED_ATTENTION = ("Volta",)
"""Architectures on which FlashAttention does not run, so that attention scores go through memory [Dao-AILab/flash-attention README:
Ampere and later]. A 126M GPT on one V100S takes 0.7 s a step so [aliyun/SimAI issue 166]; fused attention would halve it."""
STRAGGLER_FROM, STRAGGLER_PER_DOUBLING = 256, 0.005
"""Jitter grows with the job: half a percent per doubling beyond 256 GPUs; between what weak scaling shows in NVIDIA's recipes
(64 to 2,048 H100: none to 3 %) and in Llama 3 (43, 41, 38 % MFU) [dgxc-benchmarking; arXiv:2407.21783 table 4]. A proposal."""
LOW_SHARE, HIGH_SHARE = 0.85, 1.25
"""Range around the expected step time of models without experts: nine of ten published tuned runs lie inside it (dgxc, Megatron Bridge,
NeMo; 134 runs), and nine of ten of sources that had no part in it (LLM-Foundry, SimuMax and Aleph Alpha; 323 runs)."""
HIGH_SHARE_EXPERTS = 1.35
"""Upper end for mixtures of experts: nine of ten published tuned runs lie inside the range (150 runs), and 11 of 12 of sources that had no
part in it (SimuMax, arXiv:2603.07685). Software releases alone move one plan on the same GPUs by up to 73 % [Megatron Bridge performance
summary], and benchmarks balance by force what real routing does not."""


class StepModel:
    """The step time of one transformer on one hardware, for any plan; layers are computed once per sharding and kept."""

    def __init__(self, shape: ModelShape, arithmetic: Arithmetic, exposure: Exposure, global_batch: int, trained_share: float) -> None:
        self.shape, self.arithmetic, self.exposure = shape, arithmetic, exposure
        self.hardware, self.sequence = arithmetic.hardware, arithmetic.sequence
        adapters = RAILS if arithmetic.techniques.one_adapter else 1
        self.gathering = replace(self.hardware, nic_bytes_per_s=self.hardware.nic_bytes_per_s / adapters)
        self.global_batch, self.trained_share = global_batch, trained_share
        self.moe_layers = moe_layers(shape)
        self.layers = shape.layers + shape.mtp_layers
        self.moe_share = (self.moe_layers + (shape.mtp_layers if self.moe_layers else 0)) / self.layers
        self._dense, _ = layer_parameters(shape, moe=False) if self.moe_layers < shape.layers else (0.0, 0.0)
        self._moe, self._routed = layer_parameters(shape, moe=True) if self.moe_layers else (0.0, 0.0)
        self._embeddings = embedding_parameters(shape)
        self._blocks: dict[tuple[object, ...], Block] = {}
        self._layers: dict[tuple[object, ...], LayerTime] = {}
        self._heads: dict[tuple[float, int], float] = {}
        self._rings: dict[tuple[float, int, int], tuple[float, float]] = {}

    def block(self, plan: Plan) -> Block:
        """Return the average layer of the plan's sharding."""
        domain = placed_domain(plan, self.hardware.domain)
        sizes = (plan.tensor, plan.context, plan.micro_batch, plan.expert, plan.expert_tensor, plan.sequence_parallel, domain)
        key = (*sizes, plan.recompute_modules)
        found = self._blocks.get(key)
        if found is None:
            found = self._blocks[key] = self._make_block(plan)
        return found

    def _make_block(self, plan: Plan) -> Block:
        tokens = self.sequence * plan.micro_batch / plan.context
        share, sharded = self.moe_share, plan.sequence_parallel or plan.tensor == 1
        parts = []
        for weight, moe in ((1 - share, False), (share, True)):
            if weight:
                made = self._layer(tokens, plan.tensor, moe, plan.expert, plan.expert_tensor, sharded)
                if plan.context > 1:
                    ahead, behind = self._ring(tokens, plan.tensor, plan.context)
                    made = made._replace(attention=ahead, attention_backward=behind)
                parts.append((weight, moe, made))
        attention = plain_sum([weight * (made.attention + made.attention_backward) for weight, _, made in parts])
        traffic = layer_traffic(self.shape, self.hardware, self.exposure, plan, tokens, share, attention)
        if share:
            weight, moe, made = parts[-1]
            waited = traffic.expert / share + traffic.tensor + traffic.context
            parts[-1] = (weight, moe, self.arithmetic.launched(made, waited))
        products = elementwise = forward = cheap = 0.0
        code, named = self.arithmetic.techniques, plan.recompute_modules
        for weight, moe, made in parts:
            products += weight * (made.products + made.products_backward)
            beside = made.experts + made.experts_backward
            elementwise += weight * (made.elementwise + made.elementwise_backward + made.wait + beside)
            forward += weight * made.forward
            cheap += weight * repeated_seconds(self.shape, code, made, moe, named)
        head = self._head(tokens, plan.tensor)
        return Block(products, attention, elementwise, cheap, forward, head, traffic, tokens)

    def _layer(self, tokens: float, tensor: int, moe: bool, expert: int, expert_tensor: int, sharded: bool) -> LayerTime:
        """Return the arithmetic of a layer before its context ranks are known, kept: many plans leave a rank the same tokens."""
        key = (tokens, tensor, moe, expert, expert_tensor, sharded) if moe else (tokens, tensor, sharded)
        found = self._layers.get(key)
        if found is None:
            found = self._layers[key] = self.arithmetic.whole_layer(tokens, tensor, moe, expert, expert_tensor, sharded)
        return found

    def _ring(self, tokens: float, tensor: int, context: int) -> tuple[float, float]:
        """Return the attention of a layer on `context` ranks, forward and backward; kept, for experts change nothing about it."""
        found = self._rings.get((tokens, tensor, context))
        if found is None:
            found = self._rings[tokens, tensor, context] = self.arithmetic.ring_attention(tokens, tensor, context)
        return found

    def _head(self, tokens: float, tensor: int) -> float:
        """Return the seconds of output head and loss in both passes, one for each token that is predicted ahead; kept as well."""
        found = self._heads.get((tokens, tensor))
        if found is None:
            found = self._heads[tokens, tensor] = plain_sum(self.arithmetic.head(tokens, tensor)) * (1 + self.shape.mtp_layers)
        return found

    def rank_parameters(self, plan: Plan) -> tuple[float, float]:
        """Return (parameters replicated over data × context, routed-expert parameters) on the fullest rank."""
        layers = self.layers / plan.pipeline
        dense = layers * ((1 - self.moe_share) * self._dense + self.moe_share * self._moe)
        dense += plain_sum(self._embeddings) if plan.pipeline == 1 else max(self._embeddings)
        routed = layers * self.moe_share * self._routed / (plan.expert * plan.expert_tensor)
        return dense / plan.tensor, routed

    def micro_batches(self, plan: Plan) -> float:
        """Return the micro-batches per step and data-parallel rank."""
        return max(1.0, self.global_batch / (plan.micro_batch * plan.data))

    def time(self, plan: Plan) -> StepTime:
        """Return the seconds of one step by part."""
        block, count = self.block(plan), self.micro_batches(plan)
        stage, with_head = self._slowest(plan, block)
        repeats = count * stage
        share = recomputed_share(plan, self.layers / plan.pipeline)
        layer = block.layer(plan.recompute, share)
        mean = layer * self.layers / plan.pipeline
        bubble = block.idle(plan, layer) * (mean + block.head / plan.pipeline)
        data, optimizer = self._data_parallel(plan, layer * stage, count), self.optimizer_seconds(plan)
        parts = (
            repeats * block.products,
            repeats * block.attention,
            repeats * block.elementwise,
            count * block.head if with_head else 0.0,
            repeats * block.repeated(plan.recompute, share),
            repeats * block.traffic.tensor * (1 + share * (RECOMPUTED_TENSOR - 1)),
            repeats * block.traffic.expert,
            repeats * block.traffic.context,
            bubble,
            self._transfers(plan, block, count),
            data,
            optimizer,
        )
        measured = self.hardware.time_factor
        return StepTime._make(measured * part for part in (*parts, straggling(plan.gpus) * plain_sum(parts)))

    def bound(self, plan: Plan) -> float:
        """Return a lower bound of the step's seconds: micro-batches and bubble, without transfers, exchanges and optimizer."""
        block = self.block(plan)
        layer = block.layer(plan.recompute, recomputed_share(plan, self.layers / plan.pipeline))
        stage = layer * self.layers / plan.pipeline
        bubble = block.idle(plan, layer) * (stage + block.head / plan.pipeline)
        return self.hardware.time_factor * (self.micro_batches(plan) * stage + bubble)

    def _slowest(self, plan: Plan, block: Block) -> tuple[float, bool]:
        """Return (layers of the stage that sets the pace, whether it also has the head).

        Stages of equal size leave the head on top of the last one. Where layers do not divide but two more would, embedding and loss
        stand for a layer each, so that the first and the last stage have one less [Megatron-LM --account-for-embedding-in-pipeline-split,
        --account-for-loss-in-pipeline-split; so in the recipes of Llama 3.1 405B and Qwen3 235B; arXiv:2407.21783 §3.3.2]. Else all
        others are full and the last holds what is left, as in NVIDIA's layouts of DeepSeek-V3: 4 layers on each of 15 stages, one and the
        head on the 16th [Megatron Bridge].
        """
        pipeline = plan.pipeline
        if pipeline == 1:
            return float(self.layers), True
        if self.shape.layers % pipeline == 0 and not self.shape.mtp_layers:
            return self.shape.layers / pipeline, True
        accounted = (self.shape.layers + 2) % pipeline == 0 and not self.shape.mtp_layers
        more = -(-(self.layers + 2 * accounted) // pipeline)
        layer = block.layer(plan.recompute, recomputed_share(plan, self.layers / pipeline))
        left = more - 1 if accounted else max(0, self.layers - more * (pipeline - 1))
        return (float(more), False) if more * layer >= left * layer + block.head else (float(left), True)

    def transfer_seconds(self, plan: Plan, tokens: float) -> float:
        """Return the seconds of sending a micro-batch of `tokens` tokens from one stage to the next.

        Ranks of one tensor-parallel group send a share each, which the next stage gathers over its fast links [arXiv:2104.04473 §4.1].
        """
        size = BYTES_16 * tokens * self.shape.hidden_size / plan.tensor
        return point_to_point_seconds(self.hardware, plan.gpus <= self.hardware.domain, size)

    def _transfers(self, plan: Plan, block: Block, count: float) -> float:
        """Return the exposed seconds of sending activations between stages: all of the fill and drain, a share of the steady state.

        Without interleaving a stage waits for what it sends and receives: Megatron overlaps only where a stage has several chunks
        [Megatron-LM arguments, overlap_p2p_communication].
        """
        if plan.pipeline == 1:
            return 0.0
        once = self.transfer_seconds(plan, block.tokens)
        return 2 * once * ((plan.pipeline - 1) + transferred_share(self.exposure, chunks(plan)) * count * chunks(plan))

    def exchanges(self, plan: Plan) -> tuple[Exchange, ...]:
        """Return what data parallelism exchanges: the weights that all ranks share, and the routed experts among their own replicas."""
        dense, routed = self.rank_parameters(plan)
        spread, width = plan.data * plan.context, plan.expert * plan.expert_tensor
        domain = placed_domain(plan, self.hardware.domain)
        found = []
        for held, who in (
            (dense, group(spread, plan.tensor, domain)),
            (routed, group(max(1, spread * plan.tensor // width), width, domain)),
        ):
            if held and who.ranks > 1:
                sharded = plan.zero_stage == 3
                narrow = sharded and plan.pipeline == 1
                gradients = held * self.trained_share * (self.arithmetic.techniques.reduced_bytes if narrow else GRADIENT_BYTES)
                found.append(Exchange(who, gradients, held * BYTES_16 * (1.0 if sharded else self.trained_share)))
        return tuple(found)

    def _data_parallel(self, plan: Plan, pass_seconds: float, count: float) -> float:
        """Return the exposed seconds of gradient and parameter exchange. `pass_seconds` is one micro-batch on the stage."""
        once, each, left = self.exchange_seconds(plan)
        hidden = self.exposure.hidden * pass_seconds
        if plan.zero_stage == 3:
            waited = (max(self.exposure.sharded * one, one - hidden) for one in (once, each))
            return next(waited) + count * next(waited) + left
        whole = once + ((count - 1) * max(self.exposure.data * each, each - hidden) if plan.zero_stage == 2 else 0.0)
        return max(self.exposure.data * whole, whole - hidden) if self.exposure.data < 1 else whole

    def exchange_seconds(self, plan: Plan) -> tuple[float, float, float]:
        """Return the seconds of what data parallelism exchanges in training: once a step, in every micro-batch, and what no pass hides.

        Below stage 2 gradients are reduced once; stage 2 scatters them in every micro-batch, stage 3 gathers weights too. In a pipeline
        stage 3 gathers once and scatters after the last micro-batch, as memory is counted [PyTorch pipelining, backward_maybe_with_nosync;
        torchtitan, reshard_after_forward by default only without a pipeline].
        """
        exchanges, beside = self.exchanges(plan), self.exposure.in_training
        if plan.zero_stage == 3:
            gathered = plain_sum(self._gathered(plan, each) for each in exchanges) / beside
            left = plain_sum(self._replicated(plan, each) for each in exchanges)
            return (gathered, 0.0, left) if plan.pipeline > 1 else (0.0, gathered, left)
        if plan.zero_stage == 0:
            return plain_sum(all_reduce_seconds(self.hardware, each.who, each.gradients) for each in exchanges) / beside, 0.0, 0.0
        scattered = plain_sum(gather_seconds(self.hardware, each.who, each.gradients) for each in exchanges)
        gathered = plain_sum(gather_seconds(self.hardware, each.who, each.parameters) for each in exchanges)
        return (scattered + gathered) / beside, scattered / beside if plan.zero_stage == 2 else 0.0, 0.0

    def _gathered(self, plan: Plan, exchange: Exchange) -> float:
        """Return the seconds to gather weights twice (in a pipeline once) and scatter gradients once, layer by layer."""
        who, layers = self.shard_ranks(plan, exchange), self.layers / plan.pipeline
        parameters = gather_seconds(self.gathering, who, exchange.parameters / layers)
        return layers * (parameters * gathers(plan) + gather_seconds(self.gathering, who, exchange.gradients / layers))

    def _replicated(self, plan: Plan, exchange: Exchange) -> float:
        """Return the exposed seconds of reducing gradients among shard groups, once per step."""
        outer = self.replica_ranks(plan, exchange)
        if outer is None:
            return 0.0
        return self.exposure.data * all_reduce_seconds(self.hardware, outer, exchange.gradients / plan.shard_group)

    def shard_ranks(self, plan: Plan, exchange: Exchange) -> Group:
        """Return the ranks that share one copy of the states: the plan's shard group, or all ranks of the exchange."""
        who = exchange.who
        return Group(plan.shard_group, min(plan.shard_group, who.local)) if 0 < plan.shard_group < who.ranks else who

    def replica_ranks(self, plan: Plan, exchange: Exchange) -> Group | None:
        """Return the ranks of different shard groups that hold the same shard, or None where there is one shard group."""
        if not 0 < plan.shard_group < exchange.who.ranks:
            return None
        return group(exchange.who.ranks // plan.shard_group, plan.tensor * plan.shard_group, placed_domain(plan, self.hardware.domain))

    def optimizer_seconds(self, plan: Plan) -> float:
        """Return the seconds in which a rank updates its share of the parameters."""
        dense, routed = self.rank_parameters(plan)
        spread = plan.data * plan.context if plan.zero_stage else 1
        expert_spread = max(1, spread * plan.tensor // (plan.expert * plan.expert_tensor)) if plan.zero_stage else 1
        mine = (dense / spread + routed / expert_spread) * self.trained_share
        seconds = self.arithmetic.streamed(OPTIMIZER_BYTES * mine)
        micro_batches = max(1, self.global_batch // (plan.data * plan.micro_batch))
        return seconds + offload_seconds(plan, mine, self.hardware, micro_batches)


def gathers(plan: Plan) -> int:
    """Return how often stage 3 gathers weights: forward and backward of a micro-batch, or once a step where a pipeline keeps them."""
    return 1 if plan.pipeline > 1 else 2


def transferred_share(exposure: Exposure, chunks_of_stage: int) -> float:
    """Return the share of the transfers between stages that the steady state of a pipeline waits for."""
    return exposure.pipeline if chunks_of_stage > 1 else 1.0


def straggling(gpus: int) -> float:
    """Return the share of a step that a job of `gpus` GPUs waits for its slowest ranks."""
    return STRAGGLER_PER_DOUBLING * math.log2(gpus / STRAGGLER_FROM) if gpus > STRAGGLER_FROM else 0.0


def is_transformer(shape: ModelShape) -> bool:
    """Return whether a model is made of transformer layers, so that plans beyond data parallelism exist for it."""
    return shape.kind in TRANSFORMERS and shape.layers > 0


@lru_cache(maxsize=256)
def _model(
    shape: ModelShape, hardware: Hardware, kind: str, precision: str, sequence: int, batch: int, trained: float, techniques: Techniques
) -> StepModel:
    image = shape.kind == "vision_transformer"
    length = vision_tokens(shape) if image else sequence
    frozen = kind in ("fine_tuning_lora", "fine_tuning_qlora")
    arithmetic = Arithmetic(
        shape, hardware, precision, length, not image, techniques, trained if frozen else 1.0, kind == "fine_tuning_qlora"
    )
    return StepModel(shape, arithmetic, exposure_of(hardware, techniques, arithmetic.fuses_experts), batch, trained)


def step_model(workload: Workload, hardware: Hardware, *, techniques: Techniques = TUNED) -> StepModel:
    """Return the step model of a transformer workload on a hardware, kept between calls; raises ValueError for other models.

    `techniques` describes other training code than today's, for published runs; the workload says whether it fuses experts. On GPUs without
    FlashAttention scores go through memory.
    """
    if not is_transformer(workload.model):
        raise ValueError(f"{workload.model.name} has no transformer layers; use rules.sizing.throughput")
    if not workload.fused_experts:
        techniques = techniques._replace(fused_experts=False)
    trained = min(1.0, workload.trainable_parameters / workload.parameters.total) if workload.parameters.total else 1.0
    return _model(
        workload.model,
        hardware,
        workload.kind,
        workload.precision,
        workload.sequence_length,
        workload.global_batch,
        trained,
        techniques._replace(attention=UNFUSED, late_gradients=True) if hardware.architecture in WITHOUT_FUSED_ATTENTION else techniques,
    )


def estimate_step(workload: Workload, plan: Plan, hardware: Hardware, *, techniques: Techniques = TUNED) -> StepEstimate:
    """Return the time of one optimizer step of `workload` under `plan` on `hardware`, as a range, with its parts.

    The range is that of the sustained rate and of the model's error on published runs. `inter_node_bytes_per_gpu` counts what one GPU
    sends to other scale-up domains in a step.
    """
    if not is_transformer(workload.model):
        return throughput.estimate(workload, plan, hardware)
    model = step_model(workload, hardware, techniques=techniques)
    time, rate = model.time(plan), hardware.rate(workload.precision)
    total = time.total
    per_second = workload.global_batch * (workload.sequence_length if workload.unit == "token" else 1) / total
    flops = per_second * workload.flops_per_unit / plan.gpus
    block = model.block(plan)
    low = total * min(LOW_SHARE, rate.sustained / rate.high if rate.high else 1.0)
    high = total * max(HIGH_SHARE_EXPERTS if workload.model.experts else HIGH_SHARE, rate.sustained / rate.low if rate.low else 1.0)
    mean_layers = model.layers / plan.pipeline
    stage = block.layer(plan.recompute, recomputed_share(plan, mean_layers)) * mean_layers
    return StepEstimate(
        low=quantity(low, "s"),
        expected=quantity(total, "s"),
        high=quantity(high, "s"),
        terms={name: quantity(value, "s") for name, value in zip(StepTime._fields, time, strict=True) if value > 0},
        units_per_second=per_second,
        tflops_per_gpu=flops / 1e12,
        model_flops_utilization=flops / rate.peak,
        inter_node_bytes_per_gpu=quantity(inter_domain_bytes(model, plan), "B"),
        largest_message=quantity(largest_message_bytes(model, plan), "B"),
        exposed_share=time.exposed / total,
        hidden_budget=quantity(model.exposure.hidden * stage, "s"),
        notes=_notes(hardware, plan, rate.measured),
    )


def _notes(hardware: Hardware, plan: Plan, measured: bool) -> tuple[str, ...]:
    notes = [] if measured else [f"the sustained rate of {hardware.gpu} was not measured; it is estimated from its kin"]
    used, straddling = placed_domain(plan, hardware.domain), widest_straddling(plan, hardware.domain)
    if used < hardware.domain and plan.gpus > hardware.domain:
        notes.append(f"{used} of the {hardware.domain} GPUs of each scale-up domain train, so that groups stay inside")
    if straddling > 1:
        notes.append(f"groups of {straddling} do not divide a domain of {used} GPUs: those that lie in two set the pace")
    return (*notes, *(f"assumed: {each}" for each in hardware.assumed))
