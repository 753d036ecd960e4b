"""What a plan search keeps between calls: results by question, and the peak memory of plans, which no hardware changes."""

from __future__ import annotations

from dataclasses import fields
from functools import lru_cache
from operator import attrgetter
from typing import TYPE_CHECKING

from rules.kept import Kept
from rules.sizing.memory import MemoryModel
from rules.sizing.memory_software import MemoryOptions
from rules.sizing.results import Plan

if TYPE_CHECKING:
    from rules.sizing.hardware import Hardware
    from rules.sizing.plan_space import Fixed
    from rules.sizing.results import Workload

MOST_PEAKS = 65_536
"""Plans whose peaks are kept for one workload; a design by deadline asks for about ten thousand."""
_memory_key = attrgetter(*(each.name for each in fields(Plan) if each.name != "per_domain"))
"""All of a plan but how many GPUs of each scale-up domain it uses: where its ranks are changes no rank's memory."""


class KeptMemory(MemoryModel):
    """A memory model that keeps the peaks of its plans: servers of other GPUs are asked about the same plans."""

    _peaks: Kept[tuple[float, float, float]] | None = None

    def peak_bytes(self, plan: Plan) -> tuple[float, float, float]:
        """Return (low, expected, high) bytes of the fullest GPU, everything on the device included."""
        if self._peaks is None:
            self._peaks = Kept(MOST_PEAKS)
        key = _memory_key(plan)
        found = self._peaks.get(key)
        return self._peaks.put(key, super().peak_bytes(plan)) if found is None else found


class Question:
    """A search that can be remembered: the workload is hashed by what its plans depend on."""

    def __init__(self, workload: Workload, hardware: Hardware, gpus: int, fixed: Fixed, *, exhaustive: bool) -> None:
        self.workload, self.gpus, self.fixed, self.exhaustive = workload, gpus, fixed, exhaustive
        self.hardware = hardware.anonymous
        self.key = (_essence(workload), self.hardware, gpus, fixed, exhaustive)
        self.hash = hash(self.key)

    def __hash__(self) -> int:
        return self.hash

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Question) and self.key == other.key


def _essence(workload: Workload) -> tuple[object, ...]:
    return (
        workload.kind,
        workload.model,
        workload.precision,
        workload.optimizer,
        workload.global_batch,
        workload.sequence_length,
        workload.trainable_parameters,
        workload.flops_per_unit,
        workload.post_training,
        workload.rollout,
        workload.reserved_gib,
        workload.embedding_sharding,
        workload.embedding_optimizer,
        workload.image_share,
        workload.fused_experts,
    )


class Remembered:
    """A workload hashed by what memory and time depend on, and by what rests on the host, to remember its memory model."""

    def __init__(self, workload: Workload, offload: str) -> None:
        self.workload, self.offload, self.key = workload, offload, (*_essence(workload), offload)

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Remembered) and self.key == other.key


@lru_cache(maxsize=16)
def memory_model(workload: Remembered) -> MemoryModel:
    """Return the memory model of a workload, kept between calls."""
    return KeptMemory(workload.workload, MemoryOptions(offload=workload.offload))
