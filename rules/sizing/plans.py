"""The plan search: the fastest parallel plan that fits in memory, the next best ones, and what was ruled out and why.

Two forms. The bounded one (`rules.sizing.best_first`) answers while a person types; the exhaustive one (`rules.sizing.plan_arrays`)
looks at every plan.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from catalogs.quantities import quantity
from rules.kept import Kept
from rules.sizing.best_first import KEPT_ALTERNATIVES, ROUNDED, BestFirst
from rules.sizing.memory import estimate_memory
from rules.sizing.plan_kept import Question, Remembered, memory_model
from rules.sizing.plan_results import SIMPLER_WITHIN, Found, PlanSearch
from rules.sizing.plan_space import fixed_by
from rules.sizing.results import Plan, PlanChoice, StepEstimate, Workload
from rules.sizing.step import estimate_step, is_transformer, step_model

if TYPE_CHECKING:
    from catalogs.quantities import Quantity
    from rules.answers import Answers
    from rules.sizing.hardware import Hardware
    from rules.sizing.memory_estimate import MemoryEstimate

WHOLE_COPIES = "only data parallelism with whole copies was searched, since {framework} has no maintained code for other plans"


def search(workload: Workload, hardware: Hardware, gpus: int, answers: Answers, *, exhaustive: bool = False) -> PlanSearch:
    """Return what the search finds for `workload` on `gpus` GPUs of `hardware`; remembered between calls."""
    return _search(Question(workload, hardware, gpus, fixed_by(answers), exhaustive=exhaustive))


def search_plans(workload: Workload, hardware: Hardware, gpus: int, answers: Answers, *, exhaustive: bool = False) -> PlanChoice | None:
    """Return the fastest plan for `workload` on `gpus` GPUs of `hardware` with its memory and step, or None where none can run.

    The answers may fix parts of the plan (`parallelism.*`). Plans that surely fit come before plans at risk. GPUs of several devices
    count each device as a rank. `exhaustive` looks at every plan.
    """
    question = Question(workload, hardware, gpus, fixed_by(answers), exhaustive=exhaustive)
    return _noted(question, (*(f"assumed: {each}" for each in hardware.assumed), *hardware.measured))


@lru_cache(maxsize=1024)
def _noted(question: Question, notes: tuple[str, ...]) -> PlanChoice | None:
    """Return the choice with what its hardware rests on; of the same question the very same one."""
    choice = _choose(question)
    if choice is None or not notes:
        return choice
    return replace(choice, step=replace(choice.step, notes=(*choice.step.notes, *notes)))


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
        if pace is None or (pace.least < at_most and not pace.exact):
            pace = _pace(question, at_most)
        if pace is not None:
            return pace.most if pace.exact else None
    result = _search(question)
    return result.found[0].seconds if _expected(result, hardware.memory_bytes) else None


def reaches(workload: Workload, hardware: Hardware, gpus: int, answers: Answers, seconds: float) -> bool:
    """Return whether the step under the fastest plan that is expected to fit takes at most `seconds`: known sooner than its length."""
    question = Question(workload, hardware, gpus, fixed_by(answers), exhaustive=False)
    pace = _PACES.get(question)
    told = pace is not None and (pace.exact or pace.most <= seconds or pace.least >= seconds)
    if not told and _SEARCHES.get(question) is None and can_be_bounded(question):
        reached = BestFirst(question).reaches(seconds)
        if reached is not None:
            pace = _PACES.put(question, _Pace(0.0, seconds) if reached else _Pace(seconds, math.inf))
    if pace is not None and (pace.most <= seconds or pace.least >= seconds):
        return pace.most <= seconds
    found = step_seconds(workload, hardware, gpus, answers, seconds * ROUNDED)
    return found is not None and found <= seconds


def can_be_bounded(question: Question) -> bool:
    """Return whether more recomputation surely makes a plan slower and interleaving faster, on which a search within a time rests."""
    return question.fixed.schedule == "1f1b" and is_transformer(question.workload.model)


def _expected(result: PlanSearch, capacity: float) -> bool:
    """Return whether the first plan is expected to fit."""
    return bool(result.found) and result.found[0].memory[1] <= capacity


class _Pace(NamedTuple):
    """What is known of the seconds of a step: it takes longer than `least`, and `most` at most; both are the same where it is known."""

    least: float
    most: float

    @property
    def exact(self) -> bool:
        """Return whether it is known."""
        return self.least == self.most


def _pace(question: Question, at_most: float) -> _Pace | None:
    """Return what a search tells that leaves out all that is slower than `at_most`; None where only the whole search can tell.

    Where no plan is in time, none is with the slower ones either. Where all that were found surely fit, the slower ones come after them.
    Only plans that recompute some layers, or are at risk, may stand in another order among all.
    """
    found = BestFirst(question, SIMPLER_WITHIN * at_most).run().found
    capacity = question.hardware.memory_bytes
    if not any(each.seconds <= at_most and each.memory[1] <= capacity for each in found):
        return _PACES.put(question, _Pace(at_most, math.inf))
    if all(each.fits and each.plan.recompute != "full" for each in found) and found[0].seconds <= at_most:
        return _PACES.put(question, _Pace(found[0].seconds, found[0].seconds))
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
        return BestFirst(question).run()
    from rules.sizing.plan_arrays.ranking import rank_all

    kernel = memory_model(Remembered(workload, question.fixed.offload))
    return rank_all(workload, hardware, question.gpus, question.fixed, step_model(workload, hardware), kernel)


def run_time(workload: Workload, step: StepEstimate) -> Quantity:
    """Return how long all units of the run take at the step's expected rate, without failures; 0 s where the total is unknown."""
    return quantity(workload.units_total / step.units_per_second if step.units_per_second > 0 else 0.0, "s")
