"""What would make a plan need less memory, how many bytes each change saves, and what it costs in step time.

A change is made for real: the plan (or the workload) with it is estimated again, in memory and in time, on the same GPUs. Nothing is
taken from a table of usual savings.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from catalogs.sums import plain_sum
from rules.sizing import throughput
from rules.sizing.memory import MemoryModel, verdict_of
from rules.sizing.memory_report import offloaded_bytes
from rules.sizing.some_layers import fewest_layers
from rules.sizing.step import is_transformer, step_model

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rules.sizing.hardware import Hardware
    from rules.sizing.memory_software import MemoryOptions
    from rules.sizing.results import Plan, Workload

GIB = 2.0**30
WORTH_SAVING = 0.01
"""A change that saves less than a hundredth of the peak is no remedy: the estimate itself is no better (assumed)."""
LIGHTER_OPTIMIZERS = ("adamw_bf16", "adamw_8bit")
"""Optimizers that keep what AdamW keeps in fewer bits, so that hyperparameters stay."""
OFFLOAD_WORDS = {
    "optimizer": "keep optimizer state in the host's memory",
    "parameters": "keep optimizer state and parameters in the host's memory",
    "nvme": "keep optimizer state and parameters on the node's drives",
}
HOLDING_SCHEDULES = ("gpipe", "zb_h1", "zb_h2", "dualpipe")
"""Pipeline schedules that hold more than 1F1B does on some stage [rules.sizing.pipeline.in_flight]."""
VERDICTS = ("fits", "at_risk", "does_not_fit")
"""Verdicts, the best first."""


MOST_STEPS = 4
"""Changes on top of each other; who needs more needs another machine (assumed)."""


class Change(NamedTuple):
    """A change of one answer, and the workload and plan that follow from it."""

    key: str
    value: str
    text: str
    workload: Workload
    plan: Plan


class Rated(NamedTuple):
    """Memory and time of one plan: the peak in bytes (low, expected, high), its verdict, and the seconds of a step."""

    peak: tuple[float, float, float]
    verdict: str
    seconds: float


@dataclass(frozen=True)
class MemoryRemedy:
    """One change with its effect on the fullest GPU and on the step, both as estimated with it.

    `saved_gib` is what the expected peak falls by, `slower` what the step takes longer, as a share (below 0: it is faster), `host_gib` what
    each GPU needs of the host's memory for it.
    """

    key: str
    value: str
    text: str
    plan: str
    saved_gib: float
    expected_gib: float
    high_gib: float
    verdict: str
    step_seconds: float
    slower: float
    host_gib: float = 0.0

    @property
    def words(self) -> str:
        """Return the change with its effect: "recompute …: 12.3 GiB less on the fullest GPU, a step 31 % longer; it fits then"."""
        time = f"a step {abs(self.slower):.0%} {'longer' if self.slower > 0 else 'shorter'}".replace("%", " %")
        time = "the same step time" if abs(self.slower) < 0.005 else time
        outcome = {"fits": "it fits then", "at_risk": "it may fit then", "does_not_fit": "it does not fit by this alone"}[self.verdict]
        host = f", {self.host_gib:,.0f} GiB of host memory per GPU" if self.host_gib else ""
        return f"{self.text}: {self.saved_gib:,.1f} GiB less on the fullest GPU, {time}{host}; {outcome}"


def rated(workload: Workload, plan: Plan, hardware: Hardware, kernel: MemoryModel | None = None) -> Rated:
    """Return the peak memory, its verdict and the step time of a plan."""
    peak = (kernel or MemoryModel(workload)).peak_bytes(plan)
    if is_transformer(workload.model):
        seconds = step_model(workload, hardware).time(plan).total
    else:
        seconds = plain_sum(throughput.time(workload, plan, hardware))
    return Rated(peak, verdict_of(peak, hardware.memory_bytes), seconds)


def remedies(workload: Workload, plan: Plan, hardware: Hardware, options: MemoryOptions | None = None) -> tuple[MemoryRemedy, ...]:
    """Return the changes that make `plan` need less memory on the same GPUs, the cheapest in step time first.

    Those with which it fits come before those with which it may, and these before the rest. `options`: how the software uses memory.
    """
    found = [remedy for _, remedy in _tried(workload, plan, hardware, options)]
    some = _some_layers(workload, plan, hardware, options)
    return tuple(_one_for_each_answer(sorted([*found, *some], key=_order)))


def _some_layers(workload: Workload, plan: Plan, hardware: Hardware, options: MemoryOptions | None) -> list[MemoryRemedy]:
    """Return full recomputation in as few layers of each stage as it takes to fit, where fewer than all do and they save anything."""
    if plan.recompute == "full" or not is_transformer(workload.model):
        return []
    kernel = MemoryModel(workload, options)
    count = fewest_layers(kernel, plan, hardware.memory_bytes)
    made = replace(plan, recompute="full", recompute_layers=count)
    before, after = rated(workload, plan, hardware, kernel), rated(workload, made, hardware, kernel)
    if not count or after.peak[1] >= before.peak[1]:
        return []
    layers = max(part.layers for part in kernel.stages(plan))
    text = f"recompute all activations in {count} of {layers} layers of each stage"
    return [_remedy(Change("parallelism.recompute_layers", str(count), text, workload, made), before, after)]


def _tried(workload: Workload, plan: Plan, hardware: Hardware, options: MemoryOptions | None) -> list[tuple[Change, MemoryRemedy]]:
    """Return every change that saves memory, with its effect."""
    kernel = MemoryModel(workload, options)
    before = rated(workload, plan, hardware, kernel)
    found = []
    for change in changes(workload, plan, hardware):
        other = kernel if change.workload is workload else MemoryModel(change.workload, options)
        after = rated(change.workload, change.plan, hardware, other)
        if before.peak[1] - after.peak[1] >= WORTH_SAVING * before.peak[1]:
            found.append((change, _remedy(change, before, after)))
    return found


def _order(remedy: MemoryRemedy) -> tuple[int, float, float, float]:
    """Return what orders remedies: verdict, time in whole permille, host memory; then the mildest that fits, or what saves the most."""
    left = -remedy.expected_gib if remedy.verdict == "fits" else remedy.expected_gib
    return VERDICTS.index(remedy.verdict), round(remedy.slower, 3), remedy.host_gib, left


def together(workload: Workload, plan: Plan, hardware: Hardware, options: MemoryOptions | None = None) -> tuple[MemoryRemedy, ...]:
    """Return changes that make `plan` fit one after the other, each on top of those before it; empty where no few of them do.

    Each step takes the change that costs the least time for a saved byte, or the cheapest that makes it fit.
    """
    steps: list[MemoryRemedy] = []
    while len(steps) < MOST_STEPS:
        tried = _tried(workload, plan, hardware, options)
        if not tried:
            return ()
        change, remedy = min(tried, key=lambda each: _dearness(each[1]))
        steps.append(remedy)
        if remedy.verdict == "fits":
            return tuple(steps)
        workload, plan = change.workload, change.plan
    return ()


def _dearness(remedy: MemoryRemedy) -> tuple[bool, float]:
    """Return what orders changes: those that make it fit first, by their time; else by time for a saved byte."""
    fits = remedy.verdict == "fits"
    return not fits, remedy.slower if fits else remedy.slower / remedy.saved_gib


def _remedy(change: Change, before: Rated, after: Rated) -> MemoryRemedy:
    host = offloaded_bytes(change.workload, change.plan)[1] / change.plan.gpus
    return MemoryRemedy(
        key=change.key,
        value=change.value,
        text=change.text,
        plan=change.plan.label,
        saved_gib=(before.peak[1] - after.peak[1]) / GIB,
        expected_gib=after.peak[1] / GIB,
        high_gib=after.peak[2] / GIB,
        verdict=after.verdict,
        step_seconds=after.seconds,
        slower=after.seconds / before.seconds - 1 if before.seconds else 0.0,
        host_gib=host / GIB,
    )


def _one_for_each_answer(found: list[MemoryRemedy]) -> Iterator[MemoryRemedy]:
    """Yield the first remedy of each answer, and further ones only where they lead to a better verdict than any cheaper one."""
    best: dict[str, int] = {}
    for each in found:
        rank = VERDICTS.index(each.verdict)
        if rank < best.get(each.key, len(VERDICTS)):
            best[each.key] = rank
            yield each


def changes(workload: Workload, plan: Plan, hardware: Hardware) -> Iterator[Change]:
    """Yield every change that can lower the memory of a plan on the same GPUs."""
    if is_transformer(workload.model):
        yield from _plan_changes(workload, plan)
        yield from _splits(workload, plan, hardware)
    else:
        yield from _smaller_batches(workload, plan)
    if workload.optimizer == "adamw":
        for optimizer in LIGHTER_OPTIMIZERS:
            words = {"adamw_bf16": "keep the optimizer's moments in BF16", "adamw_8bit": "keep the optimizer's moments in 8 bits"}
            yield Change("training.optimizer", optimizer, words[optimizer], replace(workload, optimizer=optimizer), plan)


def _plan_changes(workload: Workload, plan: Plan) -> Iterator[Change]:
    recompute = {"none": ("selective", "full"), "selective": ("full",)}.get(plan.recompute, ())
    words = {"selective": "recompute norms and activation functions", "full": "recompute all activations in the backward pass"}
    for each in recompute:
        yield Change("parallelism.recompute", each, words[each], workload, replace(plan, recompute=each))
    if plan.recompute_layers:
        yield Change("parallelism.recompute", "full", words["full"], workload, replace(plan, recompute_layers=0))
    if plan.schedule in HOLDING_SCHEDULES and plan.pipeline > 1:
        yield Change("parallelism.schedule", "1f1b", "the 1F1B schedule, which holds less", workload, replace(plan, schedule="1f1b"))
    yield from _smaller_batches(workload, plan)
    shared = plan.data * plan.context > 1
    for stage in range(plan.zero_stage + 1, 4 if plan.pipeline == 1 else 2) if shared else ():
        text = f"share {('', 'optimizer state', 'optimizer state and gradients', 'all state')[stage]} over the data-parallel ranks"
        yield Change("parallelism.zero_stage", str(stage), text, workload, replace(plan, zero_stage=stage))
    if plan.offload == "none":
        full = plan.zero_stage == 3 and plan.pipeline == 1
        for offload in ("optimizer", *(("parameters", "nvme") if full else ())):
            yield Change("parallelism.offload", offload, OFFLOAD_WORDS[offload], workload, replace(plan, offload=offload))


def _smaller_batches(workload: Workload, plan: Plan) -> Iterator[Change]:
    size = plan.micro_batch // 2
    while size:
        if workload.global_batch % (plan.data * size) == 0:
            text = f"micro-batches of {size} instead of {plan.micro_batch}"
            yield Change("parallelism.micro_batch", str(size), text, workload, replace(plan, micro_batch=size))
        size //= 2


def _splits(workload: Workload, plan: Plan, hardware: Hardware) -> Iterator[Change]:
    """Yield plans that split each copy of the model twice as far, over half as many data-parallel ranks."""
    shape, heads = workload.model, workload.model.attention_heads
    halved = replace(plan, data=plan.data // 2)
    if plan.data % 2:
        return
    wider, longer = 2 * plan.tensor, 2 * plan.pipeline
    if heads % wider == 0 and wider <= hardware.domain and _experts_fit(shape.experts, plan):
        text = f"split layers over {wider} GPUs instead of {plan.tensor}"
        yield Change("parallelism.tensor", str(wider), text, workload, replace(halved, tensor=wider))
    if shape.layers % longer == 0 and plan.zero_stage < 3 and plan.expert <= plan.tensor * plan.context * halved.data:
        text = f"{longer} pipeline stages instead of {plan.pipeline}"
        yield Change("parallelism.pipeline", str(longer), text, workload, replace(halved, pipeline=longer, virtual_stages=1))
    if workload.sequence_length >= 2 * plan.context * LEAST_TOKENS and _experts_fit(shape.experts, plan):
        text = f"split each sequence over {2 * plan.context} GPUs instead of {plan.context}"
        yield Change("parallelism.context", str(2 * plan.context), text, workload, replace(halved, context=2 * plan.context))


LEAST_TOKENS = 4096
"""Tokens of a sequence that a GPU keeps at least under context parallelism, as in the exhaustive plan search."""


def _experts_fit(experts: int, plan: Plan) -> bool:
    return not experts or plan.expert <= plan.tensor * plan.context * plan.data
