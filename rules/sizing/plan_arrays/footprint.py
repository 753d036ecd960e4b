"""Peak memory of columns of plans: what `MemoryModel.peak_bytes` finds for one plan, for all rows at once. Bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rules.sizing.memory import PREFETCHED_UNITS, WEIGHT_GRADIENT_BYTES
from rules.sizing.memory_overheads import FULL_SHARDING, TERMS
from rules.sizing.pipeline import has_loss, in_flight
from rules.sizing.plan_arrays.space import Option
from rules.sizing.plan_arrays.tables import spread

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rules.sizing.memory import MemoryModel
    from rules.sizing.plan_arrays.space import Rows
    from rules.sizing.plan_arrays.tables import Reals, Whole

MOST_CANDIDATES = 4
"""Stages of which one is the fullest: the first two, the one with the most layers in between, the last."""
STAGE_FIELDS = ("layers", "dense_layers", "dense", "routed", "root", "largest_unit", "largest_matrix", "routed_unit", "key_value")
BASE = Option("none", 1)
ACTIVATIONS, WORKING_SET = TERMS.index("activations"), TERMS.index("working_set")
LARGE = 1e12
"""So many bytes show the slope of what is added to the allocator's peak, beside which no fixed part is lost in rounding."""


class _Sharded(NamedTuple):
    """What a ZeRO stage decides: factors[end][term], loss[stage], rest[stage][end]."""

    factors: list[list[Reals]]
    loss: list[Reals]
    rest: list[list[Reals]]


class _Stage:
    """The parameters of one candidate stage of every row, and how many micro-batches it holds."""

    def __init__(self, values: Reals) -> None:
        (self.layers, self.dense_layers, self.dense, self.routed, self.root, self.unit, self.matrix, self.routed_unit, self.key_value) = (
            values[: len(STAGE_FIELDS)]
        )
        self.last, self.flying, self.first = values[len(STAGE_FIELDS)] > 0, values[len(STAGE_FIELDS) + 1], values[len(STAGE_FIELDS) + 2] > 0


class Footprint:
    """The peaks of `rows` under a memory `kernel` of a transformer with its default software, for any option."""

    def __init__(self, kernel: MemoryModel, rows: Rows) -> None:
        if kernel.options.keeps_outputs or not kernel.transformer:
            raise ValueError("columns of plans are those of transformers with today's software; use MemoryModel.peak_bytes")
        self.kernel, self.rows = kernel, rows
        self.tensor, self.pipelined = rows.tensor.astype(np.float64), rows.pipeline > 1
        self.ranks = (rows.data * rows.context).astype(np.float64)
        self.expert_ranks = np.maximum(1.0, rows.tensor * rows.context * rows.data / rows.expert)
        self.entries = kernel.tokens * np.maximum(rows.micro_batch, kernel.least_micro_batch) / rows.context * kernel.vocabulary
        micro = np.maximum(1, kernel.workload.global_batch // (rows.data * rows.micro_batch))
        self.stages = [self._stage(number, micro) for number in range(MOST_CANDIDATES if rows.pipeline.max() > 1 else 1)]
        kinds: tuple[Whole, ...] = tuple(
            (each > 1).astype(np.int64) for each in (rows.tensor, rows.pipeline, rows.context, rows.expert, rows.data)
        )
        if kernel.workload.post_training != "none":
            # models beside the trained one are cut by tensor and pipeline parallelism too
            kinds = (*kinds, rows.tensor, rows.pipeline)
        self.device = spread(kinds, lambda row: kernel.device_range((0.0, 0.0, 0.0), rows.plan(row, BASE)))
        ends = (kernel.device_range((size, size, size), rows.plan(0, BASE)) for size in (LARGE, 0.0))
        self.slopes = tuple((large - none) / LARGE for large, none in zip(*ends, strict=True))
        self._zeros: dict[int, _Sharded] = {}
        self._recomputed: dict[str, list[tuple[Reals, Reals]]] = {}

    def _stage(self, number: int, micro: Reals) -> _Stage:
        """Return the candidate stages called `number`; rows with fewer candidates repeat their first."""
        kernel, rows = self.kernel, self.rows

        def values(row: int) -> Sequence[float]:
            parts = kernel.stages(rows.plan(row, BASE))
            candidates = kernel.candidate_stages(rows.plan(row, BASE))
            index = candidates[number] if number < len(candidates) else candidates[0]
            flying = in_flight(index, len(parts), int(rows.virtual[row]), int(micro[row]), rows.schedule)
            lost = has_loss(index, len(parts), rows.schedule)
            return [*(getattr(parts[index], name) for name in STAGE_FIELDS), float(lost), flying, float(index == 0)]

        # beyond so many micro-batches a stage holds as many as it ever will
        enough = np.minimum(micro, 2 * rows.pipeline + 1)
        return _Stage(spread((rows.pipeline, rows.virtual, enough), values))

    def peaks(self, option: Option) -> tuple[Reals, Reals, Reals]:
        """Return (low, expected, high) bytes of the fullest GPU of every row."""
        sharded, flying = self._sharded(option), self._flying(option)
        peaks = [np.zeros(len(self.rows)) for _ in range(3)]
        for number, (activations, again) in enumerate(flying):
            again = np.maximum(0.0, again - sharded.loss[number])
            beside = ACTIVATIONS if option.recompute == "full" else WORKING_SET
            for end, factors in enumerate(sharded.factors):
                total = sharded.rest[number][end] + factors[ACTIVATIONS] * activations + factors[beside] * again
                np.maximum(peaks[end], total, out=peaks[end])
        low, expected, high = (peak * slope + offset for peak, slope, offset in zip(peaks, self.slopes, self.device, strict=True))
        return low, expected, high

    def _sharded(self, option: Option) -> _Sharded:
        """Return what the ZeRO stage decides: the factors of each term, and by stage the loss and the sum of all that no layer keeps."""
        found = self._zeros.get(option.zero_stage)
        if found is None:
            factors, losses, rest = self._factors(option), self._loss(option), []
            shared = self._per_parameter(option, self.ranks)
            among = self._per_parameter(option, np.minimum(self.ranks, self.expert_ranks))
            loss = [np.where(stage.last, losses, 0.0) for stage in self.stages]
            for stage, lost in zip(self.stages, loss, strict=True):
                weights, gradients, optimizer = self._states(option, stage, shared, among)
                terms = (weights, gradients, optimizer, np.zeros(1), lost, self._working_set(option, stage))
                rest.append([self._sum(terms, each) for each in factors])
            found = self._zeros[option.zero_stage] = _Sharded(factors, loss, rest)
        return found

    def _sum(self, terms: Sequence[Reals], factors: Sequence[Reals]) -> Reals:
        total = np.zeros(len(self.rows))
        for term, factor in zip(terms, factors, strict=True):
            total += term * factor
        return total

    def _factors(self, option: Option) -> list[list[Reals]]:
        """Return the factors of each term for low, expected and high: those of one byte of it alone."""
        kernel, count = self.kernel, len(TERMS)

        def of(row: int) -> Sequence[float]:
            plan = self.rows.plan(row, option)
            units = (tuple(float(term == other) for other in range(count)) for term in range(count))
            return [end for unit in units for end in kernel.allocated_range(unit, plan)]  # type: ignore[arg-type]

        table = spread((self.pipelined.astype(np.int64),), of)
        return [[table[3 * term + end] for term in range(count)] for end in range(3)]

    def _flying(self, option: Option) -> list[tuple[Reals, Reals]]:
        """Return by stage the bytes of activations that layers keep, and of one layer while it is recomputed."""
        found = self._recomputed.get(option.recompute)
        if found is None:
            keys = (self.rows.tensor, self.rows.context, self.rows.micro_batch)
            layers = spread(keys, lambda row: self.kernel.micro_batch_bytes(self.rows.plan(row, option)))
            tower = spread(keys, lambda row: self.kernel.tower(self.rows.plan(row, option)))
            full = option.recompute == "full"
            found = self._recomputed[option.recompute] = [self._kept(stage, layers, tower, full=full) for stage in self.stages]
        return found

    def _kept(self, stage: _Stage, layers: Reals, tower: Reals, *, full: bool) -> tuple[Reals, Reals]:
        plain, mixed, plain_again, mixed_again = layers
        with_experts = stage.layers - stage.dense_layers
        kept = stage.dense_layers * plain + with_experts * mixed
        if full and self.rows.recompute_layers:
            share = np.minimum(1.0, self.rows.recompute_layers / stage.layers)
            kept = share * kept + (1 - share) * (stage.dense_layers * plain_again + with_experts * mixed_again)
        kept = stage.flying * (kept + np.where(stage.first, tower[0], 0.0))
        again = np.maximum(np.where(stage.dense_layers > 0, plain_again, 0.0), np.where(with_experts > 0, mixed_again, 0.0))
        again = np.maximum(again, np.where(stage.first, tower[1], 0.0))
        return kept, again

    def _loss(self, option: Option) -> Reals:
        def of(row: int) -> Sequence[float]:
            head = self.kernel.loss_head(self.rows.plan(row, option))
            return head.expected, float(head.split)

        size, split = spread((self.pipelined.astype(np.int64),), of)
        found: Reals = size * self.entries / np.where(split > 0, self.tensor, 1.0)
        return found

    def _states(self, option: Option, stage: _Stage, shared: Reals, among: Reals) -> tuple[Reals, Reals, Reals]:
        """Return bytes of weights, gradients and optimizer on a rank, as `MemoryModel._states` does.

        `shared` and `among` are the bytes per parameter outside and inside the routed experts.
        """
        shape, trained = self.kernel.shape, self.kernel.trained
        dense, routed = stage.dense / self.tensor, stage.routed / self.rows.expert
        heads = shape.key_value_heads
        if heads and shape.attention != "mla":
            dense = dense + np.where(self.tensor > heads, stage.key_value * (1.0 / heads - 1.0 / self.tensor), 0.0)
        root = stage.root / self.tensor
        if trained.full:
            weights, gradients, optimizer = (dense * one + routed * other for one, other in zip(shared, among, strict=True))
            if self.kernel.copies and option.zero_stage < FULL_SHARDING:
                weights = weights + self.kernel.copies * (dense - root + routed)
            if self.kernel.root_share:
                optimizer = optimizer + self.kernel.root_share * root * shared[2]
            return weights, gradients, optimizer
        frozen = root * trained.frozen_root_bytes + (dense - root + routed) * trained.frozen_bytes
        adapters = trained.share * (dense + routed)
        sharing = self.ranks if option.zero_stage == 3 else 1.0
        return frozen / sharing + adapters * shared[0], adapters * shared[1], adapters * shared[2]

    def _per_parameter(self, option: Option, ranks: Reals) -> Reals:
        kernel, offload = self.kernel, self.rows.offload

        def of(row: int) -> tuple[float, float, float]:
            return kernel.per_parameter(option.zero_stage, float(ranks[row]), bool(self.pipelined[row]), offload)

        return spread((np.unique(ranks, return_inverse=True)[1], self.pipelined.astype(np.int64)), of)

    def _working_set(self, option: Option, stage: _Stage) -> Reals:
        """Return the bytes of weight gradients and gathered weights, as `MemoryModel._working_set` does."""
        kernel, zero = self.kernel, option.zero_stage
        layer = stage.unit / self.tensor + stage.routed_unit / self.rows.expert
        root = stage.root / self.tensor
        if not kernel.trained.full:
            gathers = zero == 3 or kernel.trained.frozen_bytes < kernel.wide
            found: Reals = kernel.wide * (PREFETCHED_UNITS * layer + (root if zero == 3 else 0.0)) * float(gathers)
            return found
        single: Reals = WEIGHT_GRADIENT_BYTES * stage.matrix / self.tensor
        if zero < 2:
            return single
        working: Reals = np.maximum(single, kernel.unit_gradient * np.maximum(layer, root))
        if zero == 3:
            working = working + np.where(self.pipelined, 0.0, kernel.wide * (PREFETCHED_UNITS * layer + root))
        return working
