"""Step times of columns of plans: what `StepModel.time` adds up for one plan, for all rows at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rules.sizing.pipeline import CHUNKS, idle_passes
from rules.sizing.placement import placed_domain
from rules.sizing.plan_arrays.space import Option
from rules.sizing.plan_arrays.tables import spread
from rules.sizing.step import straggling
from rules.sizing.traffic import RECOMPUTED_TENSOR

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rules.sizing.plan_arrays.space import Rows
    from rules.sizing.plan_arrays.tables import Reals, Whole
    from rules.sizing.step import StepModel

BASE, SELECTIVE = Option("none", 0), Option("selective", 0)


class Timing:
    """The times of `rows` under `model`, for any option; what no option changes is worked out once. Seconds."""

    def __init__(self, model: StepModel, rows: Rows) -> None:
        self.model, self.rows = model, rows
        self.pipeline = rows.pipeline.astype(np.float64)
        self.count = np.maximum(1.0, model.global_batch / (rows.micro_batch * rows.data))
        blocks = spread((rows.tensor, rows.context, rows.micro_batch, rows.expert), self._block)
        self.plain, self.selective, self.full, self.head, self.tensor, self.crossing, self.tokens, self.products = blocks
        self.where = (rows.tensor, rows.pipeline, rows.expert, self._places())
        once = spread((rows.tensor, rows.context, rows.micro_batch), self._transfer)[0]
        chunks = np.broadcast_to(CHUNKS.get(rows.schedule, rows.virtual), rows.virtual.shape)
        steady = np.where(chunks > 1, model.exposure.pipeline, 1.0) * self.count * chunks
        self.transfers = np.where(rows.pipeline > 1, 2 * once * ((self.pipeline - 1) + steady), 0.0)
        self._exchanged: dict[int, Reals] = {}
        self._updated: dict[bool, Reals] = {}

    def _places(self) -> Whole:
        """Return how many GPUs of each scale-up domain the plans use: beside it, exchanges depend on tensor × pipeline × experts only."""
        domain = self.model.hardware.domain
        keys = (self.rows.tensor, self.rows.context, self.rows.expert)
        used: Whole = spread(keys, lambda row: (placed_domain(self.rows.plan(row, BASE), domain),))[0].astype(np.int64)
        return used

    def _block(self, row: int) -> Sequence[float]:
        """Return, per layer and micro-batch: arithmetic, recomputations, head, tensor-parallel time, the rest; tokens; products."""
        block = self.model.block(self.rows.plan(row, SELECTIVE))
        arithmetic = block.products + block.attention + block.elementwise
        crossing = block.traffic.expert + block.traffic.context
        times = (arithmetic, block.recompute_selective, block.recompute_full, block.head, block.traffic.tensor, crossing)
        return *times, block.tokens, block.products

    def _transfer(self, row: int) -> Sequence[float]:
        plan = self.rows.plan(row, BASE)
        return (self.model.transfer_seconds(plan, self.model.block(plan).tokens),)

    def seconds(self, option: Option) -> Reals:
        """Return the seconds of a step of every row."""
        model, full = self.model, option.recompute == "full"
        share = self._share() if full else 0.0
        repeated = share * self.full if full else self.selective if option.recompute == "selective" else 0.0
        layer = self.plain + repeated + self.tensor * (1 + share * (RECOMPUTED_TENSOR - 1)) + self.crossing
        stage, with_head = self._slowest(layer)
        mean = layer * model.layers / self.pipeline
        bubble = self._idle(layer) * (mean + self.head / self.pipeline)
        busy = self.count * (stage * layer + np.where(with_head, self.head, 0.0))
        total = busy + bubble + self.transfers + self._data_parallel(option, layer * stage) + self._optimizer(option)
        gpus = int(self.rows.tensor[0] * self.rows.context[0] * self.rows.pipeline[0] * self.rows.data[0])
        found: Reals = total * (1.0 + straggling(gpus)) * model.hardware.time_factor
        return found

    def _share(self) -> Reals | float:
        """Return the share of the layers of a stage that recompute everything."""
        chosen = self.rows.recompute_layers
        return np.minimum(1.0, chosen * self.pipeline / self.model.layers) if chosen else 1.0

    def _idle(self, layer: Reals) -> Reals:
        """Return the passes of a micro-batch through a stage that the schedule idles."""
        if self.rows.schedule == "1f1b":
            found: Reals = (self.pipeline - 1) / self.rows.virtual
            return found
        weights, forward = self.products / 3 / layer, self.full / layer
        columns = zip(self.rows.pipeline.tolist(), self.rows.virtual.tolist(), weights.tolist(), forward.tolist(), strict=True)
        return np.array([idle_passes(self.rows.schedule, *each) for each in columns])

    def _slowest(self, layer: Reals) -> tuple[Reals, Reals]:
        """Return (layers of the stage that sets the pace, whether it also has the head), as `StepModel` does."""
        model, stages = self.model, self.rows.pipeline
        even = (model.shape.layers % stages == 0) & (not model.shape.mtp_layers)
        accounted = ((model.shape.layers + 2) % stages == 0) & (not model.shape.mtp_layers)
        more = -(-(model.layers + 2 * accounted) // stages)
        left = np.where(accounted, more - 1, np.maximum(0, model.layers - more * (stages - 1)))
        longest = more * layer >= left * layer + self.head
        uneven = np.where(longest, more, left).astype(np.float64)
        found = np.where(stages == 1, float(model.layers), np.where(even, model.shape.layers / self.pipeline, uneven))
        return found, (stages == 1) | even | ~longest

    def _data_parallel(self, option: Option, pass_seconds: Reals) -> Reals:
        exposure, zero = self.model.exposure, option.zero_stage
        once, each, left = self._exchange(zero)
        hidden = exposure.hidden * pass_seconds
        if zero == 3:
            first, others = (np.maximum(exposure.sharded * one, one - hidden) for one in (once, each))
            waited: Reals = first + self.count * others + left
            return waited
        whole: Reals = once + (self.count - 1) * np.maximum(exposure.data * each, each - hidden) if zero == 2 else once
        if exposure.data < 1:
            whole = np.maximum(exposure.data * whole, whole - hidden)
        return whole

    def _exchange(self, zero: int) -> Reals:
        found = self._exchanged.get(zero)
        if found is None:
            option = Option("none", zero)
            found = spread(self.where, lambda row: self.model.exchange_seconds(self.rows.plan(row, option)))
            self._exchanged[zero] = found
        return found

    def _optimizer(self, option: Option) -> Reals:
        sharded = option.zero_stage > 0
        found = self._updated.get(sharded)
        if found is None:
            whole = Option("none", int(sharded))
            keys = self.where[:3] if self.rows.offload == "none" else (self.rows.sharding, self.rows.micro_batch)
            found = spread(keys, lambda row: (self.model.optimizer_seconds(self.rows.plan(row, whole)),))[0]
            self._updated[sharded] = found
        return found
