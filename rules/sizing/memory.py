"""Peak memory per GPU of a training plan, by term and pipeline stage, as a range.

`MemoryModel` is the kernel of the plan search: plain floats in bytes, with everything that does not change from plan to plan
computed once. `estimate_memory` is the public form: quantities, terms per stage and a verdict.

The model is profile-free: bytes are counted tensor by tensor (see `memory_activations` and `memory_states`) on the fullest
stage of a 1F1B or interleaved pipeline. Constants that are not counted carry a source where they are defined.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from catalogs.quantities import magnitude, quantity
from catalogs.sums import plain_sum
from rules.sizing.memory_activations import LayerBytes, layer_activations
from rules.sizing.memory_estimate import MemoryEstimate
from rules.sizing.memory_notes import memory_notes
from rules.sizing.memory_other import convolution_ends, other_stage_bytes
from rules.sizing.memory_overheads import (
    FRAGMENTATION,
    FULL_SHARDING,
    TERMS,
    communicator_bytes,
    context_bytes,
    term_ends,
)
from rules.sizing.memory_post_training import SEQUENCES_AT_ONCE, other_model_bytes
from rules.sizing.memory_ranges import Ends, likely, outer, term_ranges
from rules.sizing.memory_software import FUSED_LOSS, PLAIN_LOSS, LossHead, MemoryOptions, gib_range
from rules.sizing.memory_states import (
    StageParameters,
    bytes_per_parameter,
    gathered_gradient_bytes,
    stage_parameters,
    trained_share,
)
from rules.sizing.parameters import vision_tokens
from rules.sizing.pipeline import has_loss, in_flight, placed_parts, recomputed_share
from rules.sizing.towers import TowerBytes, tower_bytes
from rules.sizing.training_bytes import LEAST_MOMENTS, ROOT_MOMENTS, WEIGHT_BYTES, element_bytes, narrow_state_bytes, state_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalogs.quantities import Quantity
    from rules.sizing.results import ModelShape, Plan, Workload

WEIGHT_GRADIENT_BYTES = 4.0
"""Bytes per entry of the largest weight's gradient while it waits to be added to the fp32 buffer [Megatron Core without
`--gradient-accumulation-fusion`; counted]."""
KEPT_LOGITS_BYTES = 4.0
"""Bytes per token and vocabulary entry of logits that are kept to the end of a step: each in 16 bits, and all once more when they are
joined [torch.distributed.pipelining, merge_chunks; counted]. Part of the working set,
whose ends cover 2 (not joined) to 6 (an fp32 copy)."""
PREFETCHED_UNITS = 2.0
"""Fully sharded training holds the unit that computes and the one that is fetched ahead [PyTorch FSDP documentation]."""
NO_TOWER = TowerBytes(0.0, 0.0)
TRANSFORMERS = ("dense", "moe", "vision_transformer")

THRESHOLDS_IN_FORMULAS = {
    "vram-logits": "rules.sizing.memory.MemoryModel",
    "vram-pp-stage0": "rules.sizing.pipeline.in_flight",
}
"""Thresholds of the catalog that these formulas apply: id -> where."""

Terms = tuple[float, float, float, float, float, float]


class MemoryModel:
    """Peak memory of plans of one workload. `peak_bytes` is the fast path of the plan search; all figures are bytes."""

    def __init__(self, workload: Workload, options: MemoryOptions | None = None) -> None:
        self.options = options or MemoryOptions()
        self.shape: ModelShape = workload.model
        self.workload = workload
        state = (state_bytes if self.options.master else narrow_state_bytes)(workload.precision, workload.optimizer)
        self.state = state if self.options.gradient_bytes is None else replace(state, gradient=self.options.gradient_bytes)
        # of what a parameter keeps in the optimizer, the share that embedding and head keep beyond it
        least = state.master + LEAST_MOMENTS.get(workload.optimizer, state.moments)
        self.least_optimizer = least / (state.master + state.moments)
        self.root_share = ROOT_MOMENTS.get(workload.optimizer, 0.0) / (state.master + state.moments)
        least, weight, most = WEIGHT_BYTES.get(workload.precision, (state.weight,) * 3)
        self.copies, self.weight_ends = weight - state.weight, (least / weight, most / weight)
        self.trained = trained_share(workload.kind, workload.trainable_parameters, workload.parameters.total)
        self.transformer = self.shape.kind in TRANSFORMERS
        self.tokens = vision_tokens(self.shape) if self.shape.kind == "vision_transformer" else workload.sequence_length
        self.least_micro_batch = SEQUENCES_AT_ONCE.get(workload.post_training, 1)
        self.wide = element_bytes(workload.precision)
        # every multi-token-prediction layer has logits and a loss of its own
        self.vocabulary = self.shape.vocabulary_size * (1 + self.shape.mtp_layers) if self.transformer else 0
        self._layers: dict[tuple[str, tuple[str, ...]], tuple[LayerBytes, LayerBytes]] = {}
        self._activations: dict[tuple[object, ...], tuple[float, float, float, float]] = {}
        self._stages: dict[tuple[int, int, str], tuple[StageParameters, ...]] = {}
        self._candidates: dict[tuple[int, int, str], tuple[int, ...]] = {}
        self._ends: dict[tuple[int, bool], tuple[tuple[float, float], ...]] = {}
        self.unit_gradient = gathered_gradient_bytes(self.state)

    def micro_batches(self, plan: Plan) -> int:
        """Return the micro-batches of one step on each data-parallel rank, at least one."""
        return max(1, self.workload.global_batch // (plan.data * plan.micro_batch))

    def stages(self, plan: Plan) -> tuple[StageParameters, ...]:
        """Return the parameters of every pipeline stage of the plan."""
        key = (plan.pipeline, plan.virtual_stages, plan.schedule)
        found = self._stages.get(key)
        if found is None:
            parts = stage_parameters(self.shape, plan.pipeline, plan.virtual_stages)
            found = self._stages[key] = placed_parts(parts, plan.schedule)
        return found

    def _layer_bytes(self, recompute: str, modules: tuple[str, ...] = ()) -> tuple[LayerBytes, LayerBytes]:
        found = self._layers.get((recompute, modules))
        if found is None:
            options = self.options.activations.with_modules(modules)
            plain = layer_activations(self.shape, self.workload.precision, self.tokens, recompute, options, moe=False)
            mixed = layer_activations(self.shape, self.workload.precision, self.tokens, recompute, options, moe=True)
            found = self._layers[recompute, modules] = (plain, mixed)
        return found

    def micro_batch_bytes(self, plan: Plan) -> tuple[float, float, float, float]:
        """Return bytes per micro-batch of a plain and of a mixed layer, and of both while they are recomputed (0 else)."""
        tensor, experts_tensor = plan.tensor, plan.expert_tensor
        key = (tensor, experts_tensor, plan.context, plan.micro_batch, plan.sequence_parallel, plan.recompute, plan.recompute_modules)
        found = self._activations.get(key)
        if found is None:
            tokens = self.tokens * max(plan.micro_batch, self.least_micro_batch) / plan.context
            whole_by = tensor if plan.sequence_parallel else 1
            key_value_by = min(tensor, max(1, self.shape.key_value_heads))

            def bytes_of(layer: LayerBytes) -> float:
                routed = (layer.routed + layer.gathered * experts_tensor) / tensor
                split = layer.whole / whole_by + layer.split / tensor + layer.key_value / key_value_by
                return tokens * (layer.never_split + split + routed)

            plain, mixed = (bytes_of(layer) for layer in self._layer_bytes("none"))
            if plan.recompute == "none":
                found = (plain, mixed, 0.0, 0.0)
            elif plan.recompute == "full":
                layer_input = tokens * self._layer_bytes("none")[0].layer_input / whole_by
                found = (layer_input, layer_input, plain, mixed)
            else:
                kept, kept_mixed = (bytes_of(layer) for layer in self._layer_bytes(plan.recompute, plan.recompute_modules))
                found = (kept, kept_mixed, plain - kept, mixed - kept_mixed)
            self._activations[key] = found
        return found

    def stage_terms(self, plan: Plan, stage: int) -> Terms:
        """Return the expected bytes of the allocator's terms on one stage, in the order of `TERMS`.

        Parameters, gradients, optimizer: per-parameter bytes times what tensor and expert parallelism leave on the rank.
        Activations: micro-batches in flight × layers × bytes of a layer, plus one layer where whole layers are recomputed. Loss head:
        so many bytes × s·b·V/(t·c) on the last stage, one micro-batch; it is gone when the first layer is recomputed, so that the
        larger of both counts. Working set: the largest weight gradient, what sharding gathers, and the parts of one layer that selective
        recomputation makes again.
        """
        part, stages = self.stages(plan)[stage], plan.pipeline
        weights, gradients, optimizer = self._states(plan, part)
        plain, mixed, plain_again, mixed_again = self.micro_batch_bytes(plan)
        tower = self.tower(plan) if stage == 0 else NO_TOWER
        flying = in_flight(stage, stages, plan.virtual_stages, self.micro_batches(plan), plan.schedule)
        with_experts = part.layers - part.dense_layers
        kept = part.dense_layers * plain + with_experts * mixed
        if plan.recompute == "full":
            share = recomputed_share(plan, part.layers)
            kept = share * kept + (1 - share) * (part.dense_layers * plain_again + with_experts * mixed_again)
        again = max(tower.again, plain_again if part.dense_layers else 0.0, mixed_again if with_experts else 0.0)
        loss, working = 0.0, self._working_set(plan, part)
        if has_loss(stage, stages, plan.schedule):
            head = self.loss_head(plan)
            sequences = max(plan.micro_batch, self.least_micro_batch)
            entries = self.tokens * sequences / plan.context * self.vocabulary / (plan.tensor if head.split else 1)
            loss = head.expected * entries
            again = max(0.0, again - loss)
            if self.options.keeps_outputs and stages > 1:
                working += KEPT_LOGITS_BYTES * entries * self.micro_batches(plan)
        activations = flying * (kept + tower.kept)
        if plan.recompute == "full":
            activations += again
        else:
            working += again
        if self.options.keeps_outputs and stages > 1:
            activations += self._pipeline_buffers(plan, stage)
        return weights, gradients, optimizer, activations, loss, working

    def tower(self, plan: Plan) -> TowerBytes:
        """Return what the tower for images leaves of a micro-batch on the first stage: nothing without images, or where it is frozen."""
        if self.shape.tower is None or not self.workload.image_share:
            return NO_TOWER
        tokens = self.tokens * max(plan.micro_batch, self.least_micro_batch) / plan.context
        images = self.workload.image_share * tokens
        options = self.options.activations.with_modules(plan.recompute_modules)
        return tower_bytes(self.shape.tower, self.workload.precision, images, plan, options)

    def loss_head(self, plan: Plan) -> LossHead:
        """Return the loss head of the software: as stated, else fused, or plain with full sharding and no pipeline."""
        return self.options.loss_head or (PLAIN_LOSS if plan.zero_stage >= 2 and plan.pipeline == 1 else FUSED_LOSS)

    def _pipeline_buffers(self, plan: Plan, stage: int) -> float:
        """Return bytes of receive buffers and kept outputs of a pipeline that holds them for every micro-batch of a step."""
        split = plan.tensor if plan.sequence_parallel else 1
        boundary = self.wide * self.tokens * plan.micro_batch / plan.context * self.shape.hidden_size / split
        first, last = stage == 0, stage == plan.pipeline - 1
        kinds = plan.virtual_stages * 3 - first - 2 * last
        return boundary * self.micro_batches(plan) * kinds

    def _states(self, plan: Plan, part: StageParameters) -> tuple[float, float, float]:
        """Return bytes of weights, gradients and optimizer on a rank of the stage; key and value heads are repeated beyond their number."""
        tensor = plan.tensor
        expert_ranks = max(1.0, tensor * plan.context * plan.data / (plan.expert * plan.expert_tensor))
        dense, routed = part.dense / tensor, part.routed / (plan.expert * plan.expert_tensor)
        heads = self.shape.key_value_heads
        if heads and tensor > heads and self.shape.attention != "mla":
            dense += part.key_value * (1.0 / heads - 1.0 / tensor)
        return self._state_terms(plan, part, dense, routed, expert_ranks)

    def _state_terms(
        self, plan: Plan, part: StageParameters, dense: float, routed: float, expert_ranks: float
    ) -> tuple[float, float, float]:
        """Return bytes of weights, gradients and optimizer of a rank that holds `dense` and `routed` parameters."""
        ranks = float(plan.shard_group or plan.data * plan.context)
        gathered = plan.pipeline > 1
        weight, gradient, optimizer = self.per_parameter(plan.zero_stage, ranks, gathered, plan.offload)
        weight_e, gradient_e, optimizer_e = self.per_parameter(plan.zero_stage, min(ranks, expert_ranks), gathered, plan.offload)
        share, root = self.trained.share, part.root / plan.tensor
        if self.trained.full:
            moments = dense + self.root_share * root
            copies = self.copies * (dense - root + routed) if plan.zero_stage < FULL_SHARDING else 0.0
            weights = dense * weight + routed * weight_e + copies
            return weights, dense * gradient + routed * gradient_e, moments * optimizer + routed * optimizer_e
        sharing = ranks if plan.zero_stage == 3 else 1.0
        frozen = (root * self.trained.frozen_root_bytes + (dense - root + routed) * self.trained.frozen_bytes) / sharing
        adapters = share * (dense + routed)
        return frozen + adapters * weight, adapters * gradient, adapters * optimizer

    def per_parameter(self, zero_stage: int, ranks: float, gathered: bool, offload: str = "none") -> tuple[float, float, float]:
        """Return the bytes of (weights, gradients, optimizer) that a parameter takes on a rank when `ranks` share it.

        Offload puts master weights and moments on the host, and gradients as they are made [ZeRO-Offload, arXiv:2101.06840 §4.1]; a
        pipeline (`gathered`) and the distributed optimizer of stage 1 accumulate them on the GPU [Megatron Core, optimizer CPU offload].
        """
        weight, gradient, optimizer = bytes_per_parameter(self.state, zero_stage, ranks, gathered)
        offload = self.options.offload if offload == "none" else offload
        if offload == "none":
            return weight, gradient, optimizer
        if zero_stage == 3 and not gathered:
            weight = self.state.weight / ranks if offload == "optimizer" else 0.0
        return weight, gradient if gathered or zero_stage == 1 else 0.0, 0.0

    def _working_set(self, plan: Plan, part: StageParameters) -> float:
        """Return the bytes of weight gradients before they are added or reduced, and of weights that are gathered.

        Below ZeRO-2 the largest single weight's gradient in 32 bits. ZeRO-2: one layer's gradients. ZeRO-3: also embedding and
        head whole and two layers' weights. LoRA: weights only; QLoRA unpacks a layer's weights to 16 bits while it computes.
        """
        layer = part.largest_unit / plan.tensor + part.routed_unit / (plan.expert * plan.expert_tensor)
        root = part.root / plan.tensor
        if not self.trained.full:
            gathers = plan.zero_stage == 3 or self.trained.frozen_bytes < self.wide
            whole_root = root if plan.zero_stage == 3 else 0.0
            return self.wide * (PREFETCHED_UNITS * layer + whole_root) if gathers else 0.0
        single = WEIGHT_GRADIENT_BYTES * part.largest_matrix / plan.tensor
        if plan.zero_stage < 2:
            return single
        gradients = max(single, self.unit_gradient * max(layer, root))
        if plan.zero_stage == 2 or plan.pipeline > 1:
            return gradients
        return self.wide * (PREFETCHED_UNITS * layer + root) + gradients

    def candidate_stages(self, plan: Plan) -> tuple[int, ...]:
        """Return the stages of which one is the fullest: in between, micro-batches in flight fall from stage to stage.

        With DualPipe they are as many everywhere, and the stage in between with the most weights, its mirrored one's included, counts.
        """
        key = (plan.pipeline, plan.virtual_stages, plan.schedule)
        found = self._candidates.get(key)
        if found is None:
            parts, stages = self.stages(plan), plan.pipeline
            mirrored = plan.schedule == "dualpipe"
            held = [part.dense + part.routed if mirrored else part.layers - 0.5 * part.dense_layers for part in parts]
            inner = max(range(1, stages - 1), key=lambda at: (held[at], -at), default=1)
            found = self._candidates[key] = tuple(sorted({0, min(1, stages - 1), min(inner, stages - 1), stages - 1}))
        return found

    def allocated_terms(self, plan: Plan) -> tuple[Terms, ...]:
        """Return the allocator's terms of every pipeline stage."""
        if not self.transformer:
            return (other_stage_bytes(self, plan),)
        return tuple(self.stage_terms(plan, stage) for stage in range(plan.pipeline))

    def peak_bytes(self, plan: Plan) -> tuple[float, float, float]:
        """Return (low, expected, high) bytes of the fullest GPU, everything on the device included."""
        if not self.transformer:
            return self.total_range(other_stage_bytes(self, plan), plan)
        low = expected = high = 0.0
        for stage in self.candidate_stages(plan):
            found = self.allocated_range(self.stage_terms(plan, stage), plan)
            low, expected, high = max(low, found[0]), max(expected, found[1]), max(high, found[2])
        return self.device_range((low, expected, high), plan)

    def allocated_range(self, terms: Terms, plan: Plan) -> tuple[float, float, float]:
        """Return (low, expected, high) of the allocator's peak from the expected terms of one stage."""
        low = high = expected = 0.0
        for value, (down, up) in zip(terms, self.ends(plan), strict=True):
            low += value * down
            expected += value
            high += value * up
        return low, expected, high

    def ends(self, plan: Plan) -> tuple[tuple[float, float], ...]:
        """Return the (low, high) factors of each allocator's term, in the order of `TERMS`."""
        key = (plan.zero_stage, plan.pipeline > 1)
        ends = self._ends.get(key)
        if ends is None:
            weights, gradients, *others = term_ends(plan.zero_stage, self.loss_head(plan), plan.pipeline > 1)
            gradients = (1.0, gradients[1]) if self.options.gradients_known else gradients
            others[0] = (others[0][0] * self.least_optimizer, others[0][1])
            if self.trained.full and plan.zero_stage < FULL_SHARDING:
                weights = (weights[0] * self.weight_ends[0], weights[1] * self.weight_ends[1])
            if self.shape.kind == "cnn":
                others[1] = convolution_ends(self.shape)
            ends = self._ends[key] = (weights, gradients, *others)
        return ends

    def total_range(self, terms: Terms, plan: Plan) -> tuple[float, float, float]:
        """Return (low, expected, high) of the whole device: the allocator's peak, fragmentation, communicators, context."""
        return self.device_range(self.allocated_range(terms, plan), plan)

    def device_range(self, allocated: tuple[float, float, float], plan: Plan) -> tuple[float, float, float]:
        """Return (low, expected, high) of the whole device from those of the allocator's peak."""
        low, expected, high = allocated
        context, groups = context_bytes(), communicator_bytes(plan)
        other = other_model_bytes(self.workload, plan) if self.workload.post_training != "none" else (0.0, 0.0, 0.0)
        taken = self.workload.reserved_gib * GIB
        return (
            low * (1 + FRAGMENTATION[0]) + context[0] + groups[0] + other[0] + taken,
            expected * (1 + FRAGMENTATION[1]) + context[1] + groups[1] + other[1] + taken,
            high * (1 + FRAGMENTATION[2]) + context[2] + groups[2] + other[2] + taken,
        )


def estimate_memory(workload: Workload, plan: Plan, capacity: Quantity, model: MemoryModel | None = None) -> MemoryEstimate:
    """Return the peak memory of the fullest GPU under `plan` against `capacity` (a quantity of bytes per device).

    The verdict is that of the outer range (`verdict_of`).
    `model` saves rebuilding the kernel where several plans of one workload are estimated.
    """
    kernel = model or MemoryModel(workload)
    stages = kernel.allocated_terms(plan)
    fullest = max(range(len(stages)), key=lambda stage: plain_sum(stages[stage]))
    reserved = kernel.options.reserved
    near = {0, min(1, len(stages) - 1), fullest, len(stages) - 1}
    ranges = {number: _stage_ranges(kernel, plan, stages[number]) for number in sorted(near)}
    low, expected, high = (max(ends) for ends in zip(*(likely(_reported(stage, reserved)) for stage in ranges.values()), strict=True))
    reported = gib_range((low, expected, high))
    low, expected, high = kernel.peak_bytes(plan)
    limit = magnitude(capacity, "byte")
    terms = {name: quantity(each[1], "GiB") for name, each in ranges[fullest].items()}
    return MemoryEstimate(
        low=quantity(low / GIB, "GiB"),
        expected=quantity(expected / GIB, "GiB"),
        high=quantity(high / GIB, "GiB"),
        capacity=quantity(limit / GIB, "GiB"),
        terms=terms,
        every_stage=lambda: tuple(_stage_ranges(kernel, plan, stage) for stage in stages),
        fullest=fullest,
        reserved=reserved,
        largest_term=max(terms, key=lambda name: terms[name].magnitude),
        verdict=verdict_of((low, expected, high), limit),
        notes=memory_notes(workload, plan, fullest),
        allocated=reported,
    )


def verdict_of(needed: Ends, capacity: float) -> str:
    """Return fits where even the high end is within the capacity, does_not_fit where even the low end exceeds it, else at_risk."""
    return "does_not_fit" if needed[0] > capacity else "fits" if needed[2] <= capacity else "at_risk"


def _stage_ranges(kernel: MemoryModel, plan: Plan, terms: Terms) -> dict[str, Ends]:
    """Return (low, expected, high) in GiB of each term on a stage, the runtime's own included, without those that are nothing."""
    found = dict(zip(TERMS, term_ranges(terms, kernel.ends(plan)), strict=True))
    low, expected, high = outer(found.values())
    found["fragmentation"] = (low * FRAGMENTATION[0], expected * FRAGMENTATION[1], high * FRAGMENTATION[2])
    found["other_models"] = other_model_bytes(kernel.workload, plan)
    found["reserved"] = (kernel.workload.reserved_gib * GIB,) * 3
    found["communicators"] = communicator_bytes(plan)
    found["runtime_context"] = context_bytes()
    return {name: (ends[0] / GIB, ends[1] / GIB, ends[2] / GIB) for name, ends in found.items() if ends[2] > 0}


def _reported(stage: Mapping[str, Ends], reserved: bool) -> list[Ends]:
    """Return the terms of what an allocator reports as its peak: its own, and what it holds back where the reserved memory is meant."""
    return [ends for name, ends in stage.items() if name in TERMS or (reserved and name == "fragmentation")]


GIB = 2.0**30
