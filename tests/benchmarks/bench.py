"""Print timings: medians over repeated runs in this process and in fresh ones. No test asserts a time."""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from catalogs import Catalog

REPEATS = 15


def median_ms(action: Callable[[], object], repeats: int = REPEATS) -> tuple[float, float, float]:
    """Return (least, median, most) milliseconds of `action`."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        action()
        times.append((time.perf_counter() - start) * 1000)
    return min(times), statistics.median(times), max(times)


def show(name: str, figures: tuple[float, float, float]) -> None:
    low, middle, high = figures
    print(f"{name:<58} median {middle:8.1f} ms   ({low:.1f} to {high:.1f})")


def fresh(code: str) -> None:
    subprocess.run([sys.executable, "-c", code], check=True)


def schedule(catalog: Catalog) -> None:
    """Write the cable schedule of 16,384 nodes to nowhere; sizing them is timed too."""
    import os
    from pathlib import Path

    from rules.advisor import consider
    from rules.answers import Answers
    from wizard.exports.cables_csv import write

    answers = {
        "model.preset": "llama-3.1-405b", "preferences.nodes": ["nvidia-dgx-h100"], "scale.nodes": 16_384, "preferences.fabric": "ethernet",
    }  # fmt: skip
    with Path(os.devnull).open("w") as stream:
        write(consider(Answers.of(answers), catalog), stream)


def main() -> None:
    for part in ("wizard_bench", "replay_bench"):
        subprocess.run([sys.executable, "-m", f"tests.benchmarks.{part}"], check=True)
    show("python -c pass", median_ms(lambda: fresh("pass"), 5))
    show("import wizard.cli", median_ms(lambda: fresh("import wizard.cli"), 5))
    show("import wizard.tui.app", median_ms(lambda: fresh("import wizard.tui.app"), 5))
    show("load the whole catalog, fresh process", median_ms(lambda: fresh("import catalogs, wizard.commands.catalog as c\nk = catalogs.load_catalog()\n[len(getattr(k, s)) for s in c.SHELVES]"), 5))  # fmt: skip  # noqa: E501

    from catalogs import load_catalog
    from rules.advisor import advise
    from rules.answers import Answers
    from rules.sizing.hardware import hardware_of
    from rules.sizing.plans import search_plans
    from rules.sizing.workload import describe_workload

    catalog = load_catalog()
    large = Answers.of({"model": {"preset": "llama-3.1-405b"}, "training": {"tokens": "15.6T", "global_batch": 2048, "sequence_length": 8192}, "scale": {"deadline": "90 days"}})  # fmt: skip  # noqa: E501
    small = Answers.of(
        {"workload": {"kind": "fine_tuning_lora"}, "model": {"preset": "llama-3.1-70b"}, "scale": {"mode": "fixed", "nodes": 1}}
    )
    for name, answers in (("405B by deadline", large), ("70B LoRA on one node", small)):
        start = time.perf_counter()
        advise(answers, catalog)
        print(f"{'first design, ' + name:<58}        {(time.perf_counter() - start) * 1000:8.1f} ms")
        budgets = iter(range(1, 10_000))
        show(f"redesign after an answer, {name}", median_ms(lambda a=answers, b=budgets: advise(a.with_value("facility.total_power", f"{next(b) + 50_000} kW"), catalog)))  # fmt: skip  # noqa: E501
    node = catalog.nodes["nvidia-dgx-h100"]
    hardware = hardware_of(node, catalog.gpus[node.gpu], catalog)
    workload = describe_workload(large, catalog)
    sizes = iter(range(64, 64 + REPEATS))
    show("plan search of a new size, 405B on about 512 H100", median_ms(lambda: search_plans(workload, hardware, next(sizes) * 8, large)))
    print(f"{'peak memory of this process':<58}        {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:8.0f} MiB")
    for name in MODELS:
        apart(name)


MODELS = ("single estimate", "memory estimate", "quick search", "405B exhaustive", "DeepSeek-V3 exhaustive", "70B, 128k exhaustive")


def apart(name: str) -> None:
    """Measure one part of the plan search in a process of its own, so that its peak memory is its own."""
    subprocess.run([sys.executable, "-m", "tests.benchmarks.plan_search", name], check=True)


if __name__ == "__main__":
    main()
