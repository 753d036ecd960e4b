"""The plan search: the fastest parallel plan that fits in memory, the next best ones, and what was ruled out and why.

Two forms. The bounded one answers while a person types; the exhaustive one (`rules.sizing.plan_arrays`) looks at every plan.
The bounded one goes best first: candidates are taken by a lower bound of their step time, put back with their time under the cheapest
options (sharding of states, recomputation), and put back again under the cheapest with which they fit in memory. The first that comes
out so is the fastest. Plans within half a percent of it yield to the simplest. Deterministic.
"""

from __future__ import annotations

import heapq
import math
from bisect import bisect_left
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from catalogs.quantities import quantity
from rules.kept import Kept
from rules.sizing import throughput
from rules.sizing.memory import estimate_memory
from rules.sizing.plan_kept import Question, Remembered, memory_model
from rules.sizing.plan_results import NO_MEMORY, SIMPLER_WITHIN, Found, PlanSearch, simplest_first
from rules.sizing.plan_space import (
    Sharding,
    enumerate_shardings,
    fixed_by,
    micro_batches,
    sequence_of,
    state_options,
    virtual_stages,
)
from rules.sizing.results import Plan, PlanChoice, StepEstimate, Workload
from rules.sizing.some_layers import with_fewer_layers
from rules.sizing.step import StepModel, estimate_step, is_transformer, step_model

if TYPE_CHECKING:
    from catalogs.quantities import Quantity
    from rules.answers import Answers
    from rules.sizing.hardware import Hardware
    from rules.sizing.memory_estimate import MemoryEstimate

KEPT_ALTERNATIVES = 4
MOST_CHECKS = 3_000
"""Candidates taken from the queue before the search stops."""
MOST_AT_RISK = 64
"""Plans at risk, by their lower bound, of which the fastest are kept where none surely fits."""
WHOLE_COPIES = "only data parallelism with whole copies was searched, since {framework} has no maintained code for other plans"
Peak = tuple[float, float, float]
LORA_KINDS = ("fine_tuning_lora", "fine_tuning_qlora")


def search(workload: Workload, hardware: Hardware, gpus: int, answers: Answers, *, exhaustive: bool = False) -> PlanSearch:
    """Return what the search finds for `workload` on `gpus` GPUs of `hardware`; remembered between calls."""
    return _search(Question(workload, hardware, gpus, fixed_by(answers), exhaustive=exhaustive))


def search_plans(workload: Workload, hardware: Hardware, gpus: int, answers: Answers, *, exhaustive: bool = False) -> PlanChoice | None:
    """Return the fastest plan for `workload` on `gpus` GPUs of `hardware` with its memory and step, or None where none can run.

    The answers may fix parts of the plan (`parallelism.*`). Plans that surely fit come before plans at risk. GPUs of several devices
    count each device as a rank. `exhaustive` looks at every plan.
    """
    choice = _choose(Question(workload, hardware, gpus, fixed_by(answers), exhaustive=exhaustive))
    if choice is None or not (hardware.assumed or hardware.measured):
        return choice
    notes = (*choice.step.notes, *(f"assumed: {each}" for each in hardware.assumed), *hardware.measured)
    return replace(choice, step=replace(choice.step, notes=notes))


@lru_cache(maxsize=1024)
def _choose(question: Question) -> PlanChoice | None:
    result = _search(question)
    if not result.found:
        return None
    plan, memory, step = _rated(question, result.found[0])
    if not result.found[0].fits:
        step = replace(step, notes=(*step.notes, "no plan surely fits; this one is at risk of running out of memory"))
    if question.fixed.framework:
        step = replace(step, notes=(*step.notes, WHOLE_COPIES.format(framework=question.fixed.framework)))
    others = tuple(_rated(question, each) for each in result.found[1 : KEPT_ALTERNATIVES + 1])
    front = tuple((each.plan, each.seconds, each.memory[2]) for each in result.pareto)
    return PlanChoice(plan, memory, step, others, result.enumerated, dict(result.rejected), result.ranked, front)


def step_seconds(workload: Workload, hardware: Hardware, gpus: int, answers: Answers, at_most: float = math.inf) -> float | None:
    """Return the seconds of a step under the fastest plan that is expected to fit: the quick form for comparing many sizes.

    None where none fits, and where it surely takes longer than `at_most`, which is found out sooner.
    """
    question = Question(workload, hardware, gpus, fixed_by(answers), exhaustive=False)
    if at_most < math.inf and _SEARCHES.get(question) is None and can_be_bounded(question):
        pace = _PACES.get(question)
        if pace is None or not (pace.exact or pace.seconds >= at_most):
            pace = _pace(question, at_most)
        if pace is not None:
            return pace.seconds if pace.exact else None
    result = _search(question)
    return result.found[0].seconds if _expected(result, hardware.memory_bytes) else None


def can_be_bounded(question: Question) -> bool:
    """Return whether more recomputation surely makes a plan slower and interleaving faster, on which a search within a time rests."""
    return question.fixed.schedule == "1f1b" and is_transformer(question.workload.model)


def _expected(result: PlanSearch, capacity: float) -> bool:
    """Return whether the first plan is expected to fit."""
    return bool(result.found) and result.found[0].memory[1] <= capacity


class _Pace(NamedTuple):
    """The seconds of a step, or seconds than which it surely takes longer."""

    seconds: float
    exact: bool


def _pace(question: Question, at_most: float) -> _Pace | None:
    """Return what a search tells that leaves out all that is slower than `at_most`; None where only the whole search can tell.

    Where no plan is in time, none is with the slower ones either. Where all that were found surely fit, the slower ones come after them.
    Only plans that recompute some layers, or are at risk, may stand in another order among all.
    """
    found = _Search(question, SIMPLER_WITHIN * at_most).run().found
    capacity = question.hardware.memory_bytes
    if not any(each.seconds <= at_most and each.memory[1] <= capacity for each in found):
        return _PACES.put(question, _Pace(at_most, exact=False))
    if all(each.fits and each.plan.recompute != "full" for each in found) and found[0].seconds <= at_most:
        return _PACES.put(question, _Pace(found[0].seconds, exact=True))
    return None


def _rated(question: Question, found: Found) -> tuple[Plan, MemoryEstimate, StepEstimate]:
    workload, hardware = question.workload, question.hardware
    capacity = quantity(hardware.memory_bytes, "B")
    plan = replace(found.plan, offload=question.fixed.offload)
    memory = estimate_memory(workload, plan, capacity, memory_model(Remembered(workload, plan.offload)))
    return plan, memory, estimate_step(workload, plan, hardware)


_SEARCHES: Kept[PlanSearch] = Kept(8192)
_PACES: Kept[_Pace] = Kept(16_384)


def _search(question: Question) -> PlanSearch:
    found = _SEARCHES.get(question)
    return _SEARCHES.put(question, _searched(question)) if found is None else found


def _searched(question: Question) -> PlanSearch:
    workload, hardware = question.workload, question.hardware
    if not question.exhaustive or not is_transformer(workload.model):
        return _Search(question).run()
    from rules.sizing.plan_arrays.ranking import rank_all

    kernel = memory_model(Remembered(workload, question.fixed.offload))
    return rank_all(workload, hardware, question.gpus, question.fixed, step_model(workload, hardware), kernel)


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


class _Search:
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

    def run(self) -> PlanSearch:
        """Return the plans that fit, fastest first; those at risk only where none fits."""
        shape, batch = self.workload.model, self.workload.global_batch
        length = self.workload.sequence_length
        space = enumerate_shardings(shape, self.hardware, self.ranks, batch, length, self.fixed, exhaustive=False)
        self.rejected.update(space.ruled_out)
        for sharding in space.shardings:
            self._enter(sharding)
        fitting, risky = self._drain()
        found = fitting or self._least_risky(risky)
        if self.model is not None:
            found = with_fewer_layers(found, self.memory, self.capacity, self.fixed, self._seconds)
        return PlanSearch(simplest_first(found), self.enumerated + sum(space.ruled_out.values()), self.rejected, self.nearest)

    def _least_risky(self, risky: list[Found]) -> list[Found]:
        """Return the plans at risk that are expected to fit, else the one that comes nearest to it."""
        expected = sorted((each for each in risky if each.memory[1] <= self.capacity), key=lambda each: each.seconds)
        return expected[: KEPT_ALTERNATIVES + 1] or sorted(risky, key=lambda each: each.memory[1])[:1]

    def _enter(self, sharding: Sharding) -> None:
        """Queue the cheapest options of a sharding for each micro-batch and interleaving, unless even the most frugal cannot fit."""
        per_rank = max(1, self.workload.global_batch // sharding.data)
        tokens = sequence_of(self.workload.model, self.workload.sequence_length) // sharding.context if self.model else 1
        sizes = micro_batches(per_rank, tokens, self.fixed.micro_batch)
        options = state_options(sharding, self.fixed, lora=self.lora)
        if not sizes:
            self._reject("the micro-batch does not divide the batch of a data-parallel rank", 1)
            return
        if self.model is None:
            sizes, options = _data_parallel_sizes(per_rank), options[:1]
        if self.limit < math.inf:
            sizes = tuple(size for size in sizes if self._in_time(sharding, size, per_rank // size, options[0]))
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
            for virtual in self._virtual_stages(sharding, per_rank // size):
                self._push(self._plan(sharding, size, virtual, options[0], self.hardware.per_domain), options[1:])

    def _in_time(self, sharding: Sharding, size: int, micro: int, cheapest: tuple[str, int]) -> bool:
        """Return whether a sharding may be within the limit, whatever its memory: the most interleaving idles least."""
        virtual = self._virtual_stages(sharding, micro)[-1]
        return self._bound(self._plan(sharding, size, virtual, cheapest)) <= self.limit

    def _virtual_stages(self, sharding: Sharding, micro: int) -> tuple[int, ...]:
        """Return the interleavings of a sharding with `micro` micro-batches."""
        if self.model is None:
            return (1,)
        return virtual_stages(self.workload.model.layers, sharding.pipeline, micro, exhaustive=False, schedule=self.fixed.schedule)

    def _plan(self, sharding: Sharding, micro_batch: int, virtual: int, options: tuple[str, int], per_domain: int = 0) -> Plan:
        """Return the plan of a sharding with what the answers fix of its pipeline."""
        return Plan(
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
            schedule=self.fixed.schedule,
            recompute_layers=self.fixed.recompute_layers,
            recompute_modules=self.fixed.recompute_modules,
        )

    def _push(self, plan: Plan, rest: tuple[tuple[str, int], ...]) -> None:
        self.enumerated += 1 + len(rest)
        complexity = plan.tensor * plan.pipeline * plan.context * plan.virtual_stages
        heapq.heappush(self.queue, _Entry(self._bound(plan), complexity, plan.micro_batch, self.enumerated, plan, rest, timed=False))

    def _bound(self, plan: Plan) -> float:
        """Return a lower bound of the step time in seconds, without what data parallelism and transfers add."""
        if self.model is None:
            return sum(throughput.time(self.workload, plan, self.hardware))
        return self.model.bound(plan)

    def _seconds(self, plan: Plan) -> float:
        return self.model.time(plan).total if self.model is not None else self._bound(plan)

    def _drain(self) -> tuple[list[Found], list[Found]]:
        """Take candidates by their lower bound, then by their time, until enough fit or the checks are used up."""
        fitting: list[Found] = []
        risky: list[Found] = []
        checks = MOST_CHECKS
        while self.queue and checks and len(fitting) <= KEPT_ALTERNATIVES:
            checks -= 1
            entry = heapq.heappop(self.queue)
            if entry.seconds > self.limit and self._too_slow(entry.plan):
                continue
            if entry.memory is not None:
                fitting.append(Found(entry.plan, entry.seconds, entry.memory, True))
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
        return self._bound(replace(plan, recompute="none")) > self.limit

    def _least_seconds(self, entry: _Entry) -> float:
        """Return the seconds under the entry's first recomputation and its lowest ZeRO stage: higher ones exchange more."""
        lowest = min(entry.plan.zero_stage, *(zero_stage for _, zero_stage in entry.rest), 3)
        plan = entry.plan
        return self._seconds(plan if plan.zero_stage == lowest else replace(plan, zero_stage=lowest))

    def _put_back(self, entry: _Entry, options: tuple[tuple[str, int], ...]) -> None:
        """Queue the options that recompute more but shard less than those that fit: the exchange may cost more than the arithmetic."""
        if options:
            self.enumerated += 1
            plan = replace(entry.plan, recompute=options[0][0], zero_stage=options[0][1])
            left = entry._replace(plan=plan, rest=options[1:], order=self.enumerated)
            heapq.heappush(self.queue, left._replace(seconds=self._least_seconds(left)))

    def _settle(self, entry: _Entry) -> Found | None:
        """Put a candidate back with its exact time under the cheapest options with which it fits; return the cheapest at risk instead."""
        at_risk: Found | None = None
        plan = entry.plan
        for index, (recompute, zero_stage) in enumerate(((plan.recompute, plan.zero_stage), *entry.rest)):
            tried = plan if index == 0 else replace(plan, recompute=recompute, zero_stage=zero_stage)
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


def _data_parallel_sizes(per_rank: int) -> tuple[int, ...]:
    """Return micro-batches of a data-parallel model: the whole local batch, and its halvings for accumulation."""
    return tuple(sorted({max(1, per_rank >> shift) for shift in range(6)}))


def run_time(workload: Workload, step: StepEstimate) -> Quantity:
    """Return how long all units of the run take at the step's expected rate, without failures; 0 s where the total is unknown."""
    return quantity(workload.units_total / step.units_per_second if step.units_per_second > 0 else 0.0, "s")
