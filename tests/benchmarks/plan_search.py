"""Rates of the plan search on one core, each in a fresh process with its peak memory: `python -m tests.benchmarks.plan_search NAME`.

Times are those of the processor, so that a busy machine does not change them.
"""

from __future__ import annotations

import resource
import sys
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from catalogs import load_catalog
from rules.answers import Answers
from rules.sizing.hardware import hardware_of
from rules.sizing.memory import MemoryModel
from rules.sizing.plan_space import Fixed
from rules.sizing.plans import search
from rules.sizing.results import Plan
from rules.sizing.step import step_model
from rules.sizing.workload import describe_workload

if TYPE_CHECKING:
    from collections.abc import Callable

    from rules.sizing.hardware import Hardware
    from rules.sizing.results import Workload

NODE = "nvidia-dgx-h100"
SINGLE_PLANS = 2_000
LLAMA = {"model": {"preset": "llama-3.1-405b"}, "training": {"global_batch": 2048, "sequence_length": 8192}}
DEEPSEEK = {"model": {"preset": "deepseek-v3"}, "training": {"global_batch": 15_360, "sequence_length": 4096}}
LONG = {"model": {"preset": "llama-3.1-70b"}, "training": {"global_batch": 2048, "sequence_length": 131_072}}


def described(sections: dict[str, dict[str, object]]) -> tuple[Workload, Hardware]:
    catalog = load_catalog()
    node = catalog.nodes[NODE]
    return describe_workload(Answers.of(sections), catalog), hardware_of(node, catalog.gpus[node.gpu], catalog)


def singles(kernel: Callable[[Plan], object]) -> str:
    """Return how long one plan takes the scalar form, caches of layers warm and cold alike."""
    base = Plan(tensor=8, pipeline=16, data=128, zero_stage=1, recompute="full")
    plans = [replace(base, micro_batch=1 + each % 4) for each in range(SINGLE_PLANS)]
    start = time.process_time()
    for plan in plans:
        kernel(plan)
    each = (time.process_time() - start) / SINGLE_PLANS
    return f"{each * 1e6:8.1f} µs a plan, {1 / each:10,.0f} plans/s"


def single_time() -> str:
    workload, hardware = described(LLAMA)
    return singles(step_model(workload, hardware).time)


def single_memory() -> str:
    return singles(MemoryModel(described(LLAMA)[0]).peak_bytes)


def quick() -> str:
    workload, hardware = described(LLAMA)
    start = time.process_time()
    found = search(workload, hardware, 16_384, Answers.of(LLAMA)).found
    return f"{(time.process_time() - start) * 1e3:8.1f} ms for 405B on 16,384 H100: {found[0].plan.label}"


def exhaustive(sections: dict[str, dict[str, object]], gpus: int) -> str:
    from rules.sizing.plan_arrays.ranking import rank_all

    workload, hardware = described(sections)
    model, kernel = step_model(workload, hardware), MemoryModel(workload)
    start = time.process_time()
    found = rank_all(workload, hardware, gpus, Fixed(), model, kernel)
    took = time.process_time() - start
    return f"{took * 1e3:8.1f} ms on {gpus:,} GPUs, {found.enumerated:,} plans, {found.enumerated / took:,.0f} plans/s"


PARTS: dict[str, Callable[[], str]] = {
    "single estimate": single_time,
    "memory estimate": single_memory,
    "quick search": quick,
    "405B exhaustive": lambda: exhaustive(LLAMA, 16_384),
    "DeepSeek-V3 exhaustive": lambda: exhaustive(DEEPSEEK, 16_384),
    "70B, 128k exhaustive": lambda: exhaustive(LONG, 16_384),
}

if __name__ == "__main__":
    told = PARTS[sys.argv[1]]()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{sys.argv[1]:<58} {told}; peak memory {peak:.0f} MiB")
