"""What if the plan recomputed more, sharded further, or took other micro-batches: memory and step time before and after, at once.

    effect = plan_what_if(considered, "parallelism.recompute", "full")
    effect.before.peak_gib, effect.after.peak_gib, effect.slower

Nothing is searched and no rule runs: the chosen plan is estimated again with one part changed, in well under a millisecond. To keep a
change, answer `key` with `value` and design again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rules.sizing.memory_remedies import rated
from rules.sizing.site_measured import site_hardware
from rules.sizing.step import is_transformer

if TYPE_CHECKING:
    from rules.advisor import Considered
    from rules.sizing.memory_remedies import Rated
    from rules.sizing.results import Plan, Workload

GIB = 2.0**30
RECOMPUTE = ("none", "selective", "full")
HIGHEST_STAGE = 3
KEYS = ("parallelism.recompute", "parallelism.zero_stage", "parallelism.micro_batch")
"""Parts of a plan that can be changed so."""


@dataclass(frozen=True)
class Weighed:
    """One plan: (low, expected, high) of the peak in GiB on the fullest GPU, its verdict, the seconds of a step."""

    plan: str
    peak_gib: tuple[float, float, float]
    verdict: str
    step_seconds: float


@dataclass(frozen=True)
class PlanEffect:
    """The chosen plan, and the plan with the answer `key` set to `value`."""

    key: str
    value: str
    before: Weighed
    after: Weighed

    @property
    def saved_gib(self) -> float:
        """Return what the expected peak falls by; below 0 it rises."""
        return self.before.peak_gib[1] - self.after.peak_gib[1]

    @property
    def slower(self) -> float:
        """Return what a step takes longer, as a share; below 0 it is faster."""
        return self.after.step_seconds / self.before.step_seconds - 1

    @property
    def words(self) -> str:
        """Return the change with memory and step time before and after: "recompute full: 67.5 → 41.2 GiB, fits; a step 15.8 → 20.9 s"."""
        part = self.key.removeprefix("parallelism.").replace("_", " ")
        verdict = self.after.verdict.replace("_", " ")
        memory = f"{self.before.peak_gib[1]:.1f} → {self.after.peak_gib[1]:.1f} GiB, {verdict}"
        return f"{part} {self.value}: {memory}; a step {self.before.step_seconds:.3g} → {self.after.step_seconds:.3g} s"


def plan_what_if(considered: Considered, key: str, value: str) -> PlanEffect | None:
    """Return the effect of one change of the chosen plan, None where no plan runs or the change is not possible for it.

    Raises KeyError for a key that is none of `KEYS`.
    """
    chosen = considered.ranking.chosen
    choice = chosen.candidate.choice if chosen is not None else None
    if chosen is None or choice is None:
        return None
    workload = considered.context.workload
    changed = _changed(choice.plan, workload, key, value)
    if changed is None:
        return None
    hardware = site_hardware(chosen.candidate.node, chosen.candidate.gpu, considered.context)
    before, after = (_weighed(plan, rated(workload, plan, hardware)) for plan in (choice.plan, changed))
    return PlanEffect(key, value, before, after)


def next_value(considered: Considered, key: str) -> str | None:
    """Return the value that one key press leads to: the next in order, from the last to the first; None where there is no other.

    Recomputation none → selective → full, ZeRO stage 0 → 3 (1 with a pipeline), micro-batch halved down to 1, and doubled from there.
    Raises KeyError for a key that is none of `KEYS`.
    """
    chosen = considered.ranking.chosen
    choice = chosen.candidate.choice if chosen is not None else None
    if choice is None:
        return None
    plan, workload = choice.plan, considered.context.workload
    values = [value for value in _values(plan, workload, key) if _changed(plan, workload, key, value) is not None]
    now = _now(plan, key)
    if not values:
        return None
    later = [value for value in values if _order(key, value) > _order(key, now)]
    if not later and key == "parallelism.micro_batch":
        return values[-1]
    return (later or values)[0]


def _values(plan: Plan, workload: Workload, key: str) -> list[str]:
    """Return every value of a key but the plan's own, in the order of less memory."""
    if key == "parallelism.recompute":
        found = list(RECOMPUTE)
    elif key == "parallelism.zero_stage":
        found = [str(stage) for stage in range((HIGHEST_STAGE if plan.pipeline == 1 else 1) + 1)]
    elif key == "parallelism.micro_batch":
        most = max(1, workload.global_batch // plan.data)
        found = [str(1 << power) for power in range(most.bit_length() - 1, -1, -1)]
    else:
        raise KeyError(key)
    return [value for value in found if value != _now(plan, key)]


def _now(plan: Plan, key: str) -> str:
    return str(getattr(plan, key.removeprefix("parallelism.")))


def _order(key: str, value: str) -> float:
    """Return the place of a value in the order of less memory."""
    if key == "parallelism.recompute":
        return RECOMPUTE.index(value)
    return float(value) if key == "parallelism.zero_stage" else -float(value)


def _changed(plan: Plan, workload: Workload, key: str, value: str) -> Plan | None:
    """Return the plan with a part changed, None where the model, the batch or the ranks do not allow it. Raises KeyError."""
    transformer = is_transformer(workload.model)
    if key == "parallelism.recompute":
        return replace(plan, recompute=value, recompute_layers=0, recompute_modules=()) if transformer and value in RECOMPUTE else None
    if key == "parallelism.zero_stage":
        possible = value.isdecimal() and int(value) <= HIGHEST_STAGE and plan.data * plan.context > 1
        return replace(plan, zero_stage=int(value)) if possible else None
    if key == "parallelism.micro_batch":
        possible = value.isdecimal() and int(value) > 0 and workload.global_batch % (plan.data * int(value)) == 0
        return replace(plan, micro_batch=int(value)) if possible else None
    raise KeyError(key)


def _weighed(plan: Plan, found: Rated) -> Weighed:
    low, expected, high = found.peak
    return Weighed(plan.label, (low / GIB, expected / GIB, high / GIB), found.verdict, found.seconds)
