"""Which numbers of GPUs plans can use: the smallest that holds a model, those that divide whole, and the most of a given number."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rules.sizing.plan_space import Fixed, Space, enumerate_shardings, fixed_by, powers_of_two
from rules.sizing.plans import search

if TYPE_CHECKING:
    from rules.answers import Answers
    from rules.sizing.hardware import Hardware
    from rules.sizing.results import Workload


def minimum_gpus(workload: Workload, hardware: Hardware, answers: Answers, largest: int = 65_536) -> int | None:
    """Return the smallest number of GPUs (1, 2, 4 … and multiples of a node) whose most frugal plan fits, or None up to `largest`."""
    node = max(1, hardware.gpus_per_node // hardware.devices)
    counts = [each for each in powers_of_two(node) if each < node] + [node * each for each in powers_of_two(largest // node)]
    for count in counts:
        if search(workload, hardware, count, answers).found:
            return count
    return None


def legal_gpu_counts(workload: Workload, hardware: Hardware, answers: Answers, nodes: int) -> tuple[int, ...]:
    """Return the GPU counts of 1 to `nodes` nodes that some plan uses whole, memory aside: divisible heads, layers, experts, batch."""
    per_node = max(1, hardware.gpus_per_node // hardware.devices)
    fixed = fixed_by(answers)
    return tuple(each * per_node for each in range(1, nodes + 1) if _space(workload, hardware, each * per_node, fixed).shardings)


def usable_gpus(workload: Workload, hardware: Hardware, answers: Answers, gpus: int) -> int:
    """Return the most GPUs of `gpus` that a whole plan can use; the rest would stand idle and must be reported."""
    fixed = fixed_by(answers)
    per_node = max(1, hardware.gpus_per_node // hardware.devices)
    step = per_node if gpus >= per_node else 1
    for count in range(gpus - gpus % step, 0, -step):
        if _space(workload, hardware, count, fixed).shardings:
            return count
    return 0


def _space(workload: Workload, hardware: Hardware, gpus: int, fixed: Fixed) -> Space:
    ranks = gpus * hardware.devices
    return enumerate_shardings(workload.model, hardware, ranks, workload.global_batch, workload.sequence_length, fixed, exhaustive=False)
