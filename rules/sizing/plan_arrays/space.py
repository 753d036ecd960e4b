"""Every valid plan of a GPU count, as columns: one row for each sharding, micro-batch and interleaving; options are tried on all rows.

An option is a way of recomputing and a ZeRO stage. What is not valid is counted by reason.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rules.sizing.plan_space import (
    Fixed,
    Sharding,
    divisors,
    enumerate_shardings,
    virtual_stages,
)
from rules.sizing.results import Plan

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy.typing as npt

    from rules.sizing.hardware import Hardware
    from rules.sizing.results import Workload

    Whole = npt.NDArray[np.int64]

COLUMNS = ("sharding", "tensor", "context", "pipeline", "expert", "data", "micro_batch", "virtual")
RECOMPUTES = ("none", "selective", "full")
ZERO_STAGES = (0, 1, 2, 3)
INDIVISIBLE = "the micro-batch does not divide the batch of a data-parallel rank"
NOTHING_SHARED = "nothing to share between ranks: there is one data-parallel rank"


class Option(NamedTuple):
    """What all rows are tried with."""

    recompute: str
    zero_stage: int


class Rows:
    """Columns of plans but for their options. `sharding` numbers the row's sharding; `per_domain`, `offload`, the pipeline's
    `schedule` and `recompute_layers` are the same for all.

    `table` has the shape (columns, rows), its columns as in `COLUMNS`.
    """

    def __init__(self, table: Whole, per_domain: int, offload: str = "none", schedule: str = "1f1b", recompute_layers: int = 0) -> None:
        self.table, self.per_domain, self.offload = table, per_domain, offload
        self.schedule, self.recompute_layers = schedule, recompute_layers
        self.modules: tuple[str, ...] = ()
        self.sharding, self.tensor, self.context, self.pipeline = table[0], table[1], table[2], table[3]
        self.expert, self.data, self.micro_batch, self.virtual = table[4], table[5], table[6], table[7]

    def __len__(self) -> int:
        return int(self.table.shape[1])

    def plan(self, row: int, option: Option) -> Plan:
        """Return one plan."""
        return Plan(
            tensor=int(self.tensor[row]),
            pipeline=int(self.pipeline[row]),
            virtual_stages=int(self.virtual[row]),
            context=int(self.context[row]),
            expert=int(self.expert[row]),
            data=int(self.data[row]),
            zero_stage=option.zero_stage,
            micro_batch=int(self.micro_batch[row]),
            recompute=option.recompute,
            offload=self.offload,
            per_domain=self.per_domain,
            schedule=self.schedule,
            recompute_layers=self.recompute_layers if option.recompute == "full" else 0,
            recompute_modules=self.modules if option.recompute == "selective" else (),
        )

    def part(self, begin: int, end: int) -> Rows:
        """Return the rows from `begin` up to `end`."""
        found = Rows(self.table[:, begin:end], self.per_domain, self.offload, self.schedule, self.recompute_layers)
        found.modules = self.modules
        return found


@dataclass(frozen=True)
class Grid:
    """The rows, the options, and what was ruled out for which reason."""

    rows: Rows
    options: tuple[Option, ...]
    ruled_out: dict[str, int]

    @property
    def plans(self) -> int:
        """Return the number of plans that rows and options make."""
        return len(self.rows) * len(self.options)


def enumerate_grid(workload: Workload, hardware: Hardware, gpus: int, fixed: Fixed, *, lora: bool) -> Grid:
    """Return all plans of a transformer `workload` on `gpus` GPUs that `fixed` leaves open."""
    shape, batch = workload.model, workload.global_batch
    ranks = gpus * hardware.devices
    space = enumerate_shardings(shape, hardware, ranks, batch, workload.sequence_length, fixed, exhaustive=True)
    options = options_of(fixed, lora=lora)
    ruled_out = {reason: count * len(options) for reason, count in space.ruled_out.items()}
    rows: list[Whole] = []
    kinds: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for number, sharding in enumerate(space.shardings):
        key = (sharding.pipeline, batch // sharding.data)
        if key not in kinds:
            kinds[key] = _local(shape.layers, *key, fixed)
        if kinds[key]:
            rows.append(_columns(number, sharding, kinds[key]))
        else:
            ruled_out[INDIVISIBLE] = ruled_out.get(INDIVISIBLE, 0) + len(options)
    table = np.concatenate(rows, axis=1) if rows else np.zeros((len(COLUMNS), 0), dtype=np.int64)
    rows_found = Rows(table, hardware.per_domain, fixed.offload, fixed.schedule, fixed.recompute_layers)
    rows_found.modules = fixed.recompute_modules
    return Grid(rows_found, options, ruled_out)


def rows_of(plans: Iterable[Plan], per_domain: int, offload: str = "none", schedule: str = "1f1b", recompute_layers: int = 0) -> Rows:
    """Return given plans as rows, each a sharding of its own; their options are left out, what rows have in common is that given."""
    wanted = [(n, p.tensor, p.context, p.pipeline, p.expert, p.data, p.micro_batch, p.virtual_stages) for n, p in enumerate(plans)]
    return Rows(np.array(wanted, dtype=np.int64).T, per_domain, offload, schedule, recompute_layers)


def options_of(fixed: Fixed, *, lora: bool) -> tuple[Option, ...]:
    """Return the ways of recomputing and the ZeRO stages that are tried; LoRA has no gradients that are worth sharding alone."""
    recomputes = (fixed.recompute,) if fixed.recompute else RECOMPUTES
    zeros = (fixed.zero_stage,) if fixed.zero_stage is not None else tuple(zero for zero in ZERO_STAGES if zero != 2 or not lora)
    return tuple(Option(recompute, zero) for recompute in recomputes for zero in zeros)


def _local(layers: int, pipeline: int, per_rank: int, fixed: Fixed) -> list[tuple[int, int]]:
    """Return (micro-batch, virtual stages) of a rank with `per_rank` samples."""
    sizes = [fixed.micro_batch] if fixed.micro_batch else list(divisors(per_rank))
    return [
        (size, virtual)
        for size in sizes
        if per_rank % size == 0
        for virtual in virtual_stages(layers, pipeline, per_rank // size, exhaustive=True, schedule=fixed.schedule)
    ]


def _columns(number: int, sharding: Sharding, local: list[tuple[int, int]]) -> Whole:
    made = np.empty((len(COLUMNS), len(local)), dtype=np.int64)
    made[0], made[1:6] = number, np.array([[sharding.tensor], [sharding.context], [sharding.pipeline], [sharding.expert], [sharding.data]])
    made[6:] = np.array(local, dtype=np.int64).T
    return made
