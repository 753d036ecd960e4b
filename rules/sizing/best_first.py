"""The bounded plan search, best first: fast enough to answer while a person types, and deterministic.

Candidates are taken by a lower bound of their step time, put back with their time under the cheapest options (sharding of states,
recomputation), and put back again under the cheapest with which they fit in memory. The first that comes out so is the fastest. Plans
within half a percent of it yield to the simplest.
"""

from __future__ import annotations

import heapq
import math
from bisect import bisect_left
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

from catalogs.sums import plain_sum
from rules.sizing import throughput
from rules.sizing.placement import placed
from rules.sizing.plan_kept import Remembered, memory_model
from rules.sizing.plan_results import NO_MEMORY, SIMPLER_WITHIN, Found, PlanSearch, simplest_first
from rules.sizing.plan_space import enumerate_shardings, micro_batches, sequence_of, state_options, virtual_stages
from rules.sizing.results import Plan
from rules.sizing.some_layers import with_fewer_layers
from rules.sizing.step import StepModel, is_transformer, step_model

if TYPE_CHECKING:
    from rules.sizing.plan_kept import Question
    from rules.sizing.plan_space import Sharding, Space

KEPT_ALTERNATIVES = 4
MOST_CHECKS = 3_000
"""Candidates taken from the queue before the search stops."""
MOST_AT_RISK = 64
"""Plans at risk, by their lower bound, of which the fastest are kept where none surely fits."""
RECOMPUTING = 24
"""Plans that are kept where one of the fastest computes all activations again: of another, fewer layers may be enough."""
MOST_TRIALS = 24
"""Plans that are tried for whether one is in time, before the whole search is asked."""
LORA_KINDS = ("fine_tuning_lora", "fine_tuning_qlora")
ROUNDED = 1.0 + 1e-9
"""What is added up in another order may be larger by so much."""
Peak = tuple[float, float, float]
_FLOORS: WeakKeyDictionary[StepModel, dict[tuple[object, ...], float]] = WeakKeyDictionary()
"""The least seconds of a layer by model, sharding and micro-batch, which no number of GPUs changes."""


class _Entry(NamedTuple):
    """A candidate in the queue: first by a lower bound, then by its time under the cheapest options, then by what fits in memory.

    `order` makes entries differ, so that plans are never compared; `rest` are the options still to be tried.
    """

    seconds: float
    complexity: int
    size: int
    order: int
    plan: Plan
    rest: tuple[tuple[str, int], ...]
    timed: bool
    memory: Peak | None = None


class BestFirst:
    """One search: the queue of candidates and what has come of them. What surely takes longer than `limit` seconds is left out."""

    def __init__(self, question: Question, limit: float = math.inf) -> None:
        self.limit = limit
        self.workload, self.hardware, self.fixed = question.workload, question.hardware, question.fixed
        self.ranks = question.gpus * self.hardware.devices
        self.capacity = self.hardware.memory_bytes
        self.memory = memory_model(Remembered(self.workload, self.fixed.offload))
        self.model: StepModel | None = step_model(self.workload, self.hardware) if is_transformer(self.workload.model) else None
        self.lora = self.workload.kind in LORA_KINDS
        self.enumerated = 0
        self.rejected: dict[str, int] = {}
        self.nearest: Found | None = None
        self.queue: list[_Entry] = []
        fixed = self.fixed
        self.fixed_plan = Plan(schedule=fixed.schedule, recompute_layers=fixed.recompute_layers, recompute_modules=fixed.recompute_modules)
        self.floors = _FLOORS.setdefault(self.model, {}) if self.model is not None else {}

    def run(self) -> PlanSearch:
        """Return the plans that fit, fastest first; those at risk only where none fits."""
        space = self._space()
        self.rejected.update(space.ruled_out)
        for sharding in space.shardings:
            self._enter(sharding)
        fitting, risky = self._drain()
        found = fitting or self._least_risky(risky)
        if self.model is not None:
            found = with_fewer_layers(found, self.memory, self.capacity, self.fixed, self._seconds)
        return PlanSearch(simplest_first(found), self.enumerated + sum(space.ruled_out.values()), self.rejected, self.nearest)

    def reaches(self, seconds: float) -> bool | None:
        """Return whether the fastest plan takes at most `seconds`: False where surely none does, None where only a whole search can tell.

        Half a percent is left for the simpler plan that the whole search may prefer.
        """
        self.limit = SIMPLER_WITHIN * seconds
        trials: list[tuple[float, int, Plan, tuple[tuple[str, int], ...]]] = []
        for sharding in self._space().shardings:
            per_rank, sizes, options = self._choices(sharding)
            for size in sizes:
                plan = self._in_time(sharding, size, per_rank // size, options[0])
                if plan is not None:
                    trials.append((self._bound(plan), len(trials), plan, options))
        if not trials:
            return False
        enough, open_ = seconds / SIMPLER_WITHIN, len(trials) > MOST_TRIALS
        for _, _, plan, options in sorted(trials)[:MOST_TRIALS]:
            if self._fits_within(enough, plan, options):
                return True
            open_ = open_ or self._may_be_in_time(plan, options)
        return None if open_ else False

    def _may_be_in_time(self, plan: Plan, options: tuple[tuple[str, int], ...]) -> bool:
        """Return whether a plan under its cheapest options may be within the limit, however it is interleaved and whatever its memory."""
        lowest = min(zero_stage for _, zero_stage in options)
        micro = self.workload.global_batch // (plan.data * plan.micro_batch)
        each = (varied(plan, zero_stage=lowest, virtual_stages=virtual) for virtual in self._virtual_stages(plan.pipeline, micro))
        return any(self._seconds(interleaved) <= self.limit for interleaved in each)

    def _fits_within(self, seconds: float, plan: Plan, options: tuple[tuple[str, int], ...]) -> bool:
        """Return whether a plan surely fits under the first options with which it does, and then takes at most `seconds`."""
        for recompute, zero_stage in options:
            tried = varied(plan, recompute=recompute, zero_stage=zero_stage)
            if self.memory.peak_bytes(tried)[2] <= self.capacity:
                return self._seconds(tried) <= seconds
        return False

    def _space(self) -> Space:
        shape, batch, length = self.workload.model, self.workload.global_batch, self.workload.sequence_length
        return enumerate_shardings(shape, self.hardware, self.ranks, batch, length, self.fixed, exhaustive=False)

    def _least_risky(self, risky: list[Found]) -> list[Found]:
        """Return the plans at risk that are expected to fit, else the one that comes nearest to it."""
        expected = sorted((each for each in risky if each.memory[1] <= self.capacity), key=lambda each: each.seconds)
        return expected[: KEPT_ALTERNATIVES + 1] or sorted(risky, key=lambda each: each.memory[1])[:1]

    def _enter(self, sharding: Sharding) -> None:
        """Queue the cheapest options of a sharding for each micro-batch and interleaving, unless even the most frugal cannot fit."""
        per_rank, sizes, options = self._choices(sharding)
        if not sizes:
            self._reject("the micro-batch does not divide the batch of a data-parallel rank", 1)
            return
        if self.limit < math.inf:
            sizes = tuple(size for size in sizes if self._in_time(sharding, size, per_rank // size, options[0]) is not None)
            if not sizes:
                return
        frugal = self._plan(sharding, sizes[0], 1, options[-1])
        if self._out_of_memory(frugal):
            count = len(sizes) * len(options)
            self.enumerated += count
            self._reject(NO_MEMORY, count)
            return
        while self._out_of_memory(self._plan(sharding, sizes[0], 1, options[0])):
            self.enumerated += len(sizes)
            self._reject(NO_MEMORY, len(sizes))
            options = options[1:]
        first_too_large = bisect_left(sizes, True, 1, key=lambda size: self._exceeds(self._plan(sharding, size, 1, options[-1])))
        if first_too_large < len(sizes):
            self._reject(NO_MEMORY, len(options))
        for size in sizes[:first_too_large]:
            for virtual in self._virtual_stages(sharding.pipeline, per_rank // size):
                self._push(self._plan(sharding, size, virtual, options[0], self.hardware.per_domain), options[1:])

    def _choices(self, sharding: Sharding) -> tuple[int, tuple[int, ...], tuple[tuple[str, int], ...]]:
        """Return the samples of a data-parallel rank in a step, its micro-batches, and its options in the order of what they cost."""
        per_rank = max(1, self.workload.global_batch // sharding.data)
        tokens = sequence_of(self.workload.model, self.workload.sequence_length) // sharding.context if self.model else 1
        sizes, options = micro_batches(per_rank, tokens, self.fixed.micro_batch), state_options(sharding, self.fixed, lora=self.lora)
        if self.model is None and sizes:
            return per_rank, _data_parallel_sizes(per_rank), options[:1]
        return per_rank, sizes, options

    def _in_time(self, sharding: Sharding, size: int, micro: int, cheapest: tuple[str, int]) -> Plan | None:
        """Return the quickest plan of a sharding with a micro-batch, whatever its memory; None where it surely is not within the limit.

        The most interleaving idles least. What a layer takes at least, known for all pipelines at once, rules most out before that.
        """
        if self.model is not None:
            layer = self._layer_floor(sharding, size, cheapest)
            if micro * layer * self.model.layers / sharding.pipeline > ROUNDED * self.limit:
                return None
        virtual = self._virtual_stages(sharding.pipeline, micro)[-1]
        plan = self._plan(sharding, size, virtual, cheapest, self.hardware.per_domain)
        return plan if self._bound(plan) <= self.limit else None

    def _layer_floor(self, sharding: Sharding, size: int, cheapest: tuple[str, int]) -> float:
        """Return the seconds than which no layer of a micro-batch takes less, whatever the pipeline and the recomputation; kept."""
        assert self.model is not None
        hardware = self.hardware
        here = placed(self.ranks, hardware.domain, sharding.tensor * sharding.context, sharding.expert, hardware.per_domain)
        known = sharding.tensor, sharding.context, sharding.expert, size, here, self.fixed.recompute_modules
        floor = self.floors.get(known)
        if floor is None:
            block = self.model.block(self._plan(sharding, size, 1, cheapest, hardware.per_domain))
            floor = self.floors[known] = hardware.time_factor * block.layer("none", 0.0)
        return floor

    def _virtual_stages(self, pipeline: int, micro: int) -> tuple[int, ...]:
        """Return the interleavings of a pipeline with `micro` micro-batches."""
        if self.model is None:
            return (1,)
        return virtual_stages(self.workload.model.layers, pipeline, micro, exhaustive=False, schedule=self.fixed.schedule)

    def _plan(self, sharding: Sharding, micro_batch: int, virtual: int, options: tuple[str, int], per_domain: int = 0) -> Plan:
        """Return the plan of a sharding with what the answers fix of its pipeline."""
        return varied(
            self.fixed_plan,
            tensor=sharding.tensor,
            pipeline=sharding.pipeline,
            virtual_stages=virtual,
            context=sharding.context,
            expert=sharding.expert,
            data=sharding.data,
            zero_stage=options[1],
            micro_batch=micro_batch,
            recompute=options[0],
            per_domain=per_domain,
        )

    def _push(self, plan: Plan, rest: tuple[tuple[str, int], ...]) -> None:
        self.enumerated += 1 + len(rest)
        complexity = plan.tensor * plan.pipeline * plan.context * plan.virtual_stages
        heapq.heappush(self.queue, _Entry(self._bound(plan), complexity, plan.micro_batch, self.enumerated, plan, rest, timed=False))

    def _bound(self, plan: Plan) -> float:
        """Return a lower bound of the step time in seconds, without what data parallelism and transfers add."""
        if self.model is None:
            return plain_sum(throughput.time(self.workload, plan, self.hardware))
        return self.model.bound(plan)

    def _seconds(self, plan: Plan) -> float:
        return self.model.time(plan).total if self.model is not None else self._bound(plan)

    def _drain(self) -> tuple[list[Found], list[Found]]:
        """Take candidates by their lower bound, then by their time, until enough fit or the checks are used up."""
        fitting: list[Found] = []
        risky: list[Found] = []
        checks, most = MOST_CHECKS, KEPT_ALTERNATIVES
        while self.queue and checks and len(fitting) <= most:
            checks -= 1
            entry = heapq.heappop(self.queue)
            if entry.seconds > self.limit and self._too_slow(entry.plan):
                continue
            if entry.memory is not None:
                fitting.append(Found(entry.plan, entry.seconds, entry.memory, True))
                most = RECOMPUTING if entry.plan.recompute == "full" else most
                continue
            if not entry.timed:
                heapq.heappush(self.queue, entry._replace(seconds=self._least_seconds(entry), timed=True))
                continue
            at_risk = self._settle(entry)
            if at_risk is not None and len(risky) < MOST_AT_RISK:
                risky.append(at_risk)
        return fitting, [found._replace(seconds=self._seconds(found.plan)) for found in ([] if fitting else risky)]

    def _too_slow(self, plan: Plan) -> bool:
        """Return whether a plan that is not within the limit cannot be brought there by recomputing fewer layers."""
        if plan.recompute != "full" or self.fixed.recompute is not None:
            return True
        return self._bound(varied(plan, recompute="none")) > self.limit

    def _least_seconds(self, entry: _Entry) -> float:
        """Return the seconds under the entry's first recomputation and its lowest ZeRO stage: higher ones exchange more."""
        lowest = min(entry.plan.zero_stage, *(zero_stage for _, zero_stage in entry.rest), 3)
        plan = entry.plan
        return self._seconds(plan if plan.zero_stage == lowest else varied(plan, zero_stage=lowest))

    def _put_back(self, entry: _Entry, options: tuple[tuple[str, int], ...]) -> None:
        """Queue the options that recompute more but shard less than those that fit: the exchange may cost more than the arithmetic."""
        if options:
            self.enumerated += 1
            plan = varied(entry.plan, recompute=options[0][0], zero_stage=options[0][1])
            left = entry._replace(plan=plan, rest=options[1:], order=self.enumerated)
            heapq.heappush(self.queue, left._replace(seconds=self._least_seconds(left)))

    def _settle(self, entry: _Entry) -> Found | None:
        """Put a candidate back with its exact time under the cheapest options with which it fits; return the cheapest at risk instead."""
        at_risk: Found | None = None
        plan = entry.plan
        for index, (recompute, zero_stage) in enumerate(((plan.recompute, plan.zero_stage), *entry.rest)):
            tried = plan if index == 0 else varied(plan, recompute=recompute, zero_stage=zero_stage)
            memory = self.memory.peak_bytes(tried)
            if memory[2] <= self.capacity:
                heapq.heappush(self.queue, entry._replace(seconds=self._seconds(tried), plan=tried, rest=(), memory=memory))
                self._put_back(entry, tuple(option for option in entry.rest[index:] if option[1] < zero_stage))
                return None
            self._note_nearest(tried, memory)
            self._reject(NO_MEMORY, 1)
            if memory[0] <= self.capacity and at_risk is None:
                at_risk = Found(tried, 0.0, memory, False)
        return at_risk

    def _exceeds(self, plan: Plan) -> bool:
        """Return whether even the low estimate of a plan exceeds the memory."""
        return self.memory.peak_bytes(plan)[0] > self.capacity

    def _out_of_memory(self, plan: Plan) -> bool:
        """Return the same, and remember the plan where it comes nearest to fitting."""
        memory = self.memory.peak_bytes(plan)
        self._note_nearest(plan, memory)
        return memory[0] > self.capacity

    def _note_nearest(self, plan: Plan, memory: tuple[float, float, float]) -> None:
        if self.nearest is None or memory[1] < self.nearest.memory[1]:
            self.nearest = Found(plan, 0.0, memory, False)

    def _reject(self, reason: str, count: int) -> None:
        self.rejected[reason] = self.rejected.get(reason, 0) + count


def varied(plan: Plan, **changes: object) -> Plan:
    """Return a plan with some fields changed, as `dataclasses.replace` does, but in a fifth of its time: a search makes thousands."""
    made = object.__new__(Plan)
    made.__dict__.update(plan.__dict__, **changes)
    return made


def _data_parallel_sizes(per_rank: int) -> tuple[int, ...]:
    """Return micro-batches of a data-parallel model: the whole local batch, and its halvings for accumulation."""
    return tuple(sorted({max(1, per_rank >> shift) for shift in range(6)}))
