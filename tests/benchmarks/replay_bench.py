"""What the replay of distinct designs costs: `python -m tests.benchmarks.replay_bench`.

Processor seconds of one process, so that a busy machine changes them little; two cores share a thousand designs.
"""

from __future__ import annotations

import tempfile
import time
from itertools import islice, product
from pathlib import Path
from typing import TYPE_CHECKING

from catalogs import load_catalog
from rules.advisor import advise
from rules.answers import Answers
from wizard.keeping import saved_text
from wizard.replay import replay
from wizard.versions import meta_of

if TYPE_CHECKING:
    from collections.abc import Iterator

DESIGNS, MANY, CORES = 48, 1000, 2
MODELS = ("llama-3.1-8b", "llama-3.1-70b", "llama-3.1-405b", "qwen3-32b", "deepseek-v3", "mixtral-8x7b")
TOKENS = ("100B", "1T")
SIZES = ({"scale.deadline": "30 days"}, {"scale.deadline": "90 days"}, {"scale.nodes": 16}, {"scale.nodes": 100})


def distinct() -> Iterator[Answers]:
    """Yield answers that share neither a model with a length of run nor a size."""
    for size, tokens, model in product(SIZES, TOKENS, MODELS):
        yield Answers.of({"model.preset": model, "training.tokens": tokens, **size})


def replay_timings() -> None:
    """Print the processor seconds of replaying one distinct design, and of a thousand on two cores with their budget."""
    catalog = load_catalog()
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / f"{number}.toml" for number in range(DESIGNS)]
        for path, answers in zip(paths, islice(distinct(), DESIGNS), strict=True):
            path.write_text(saved_text(advise(answers, catalog), meta_of("design", catalog, {}), catalog), "utf-8")
        _forget()
        start = time.process_time()
        changed = sum(bool(replay(path, catalog).changes) for path in paths)
        each = (time.process_time() - start) / DESIGNS
    assert not changed, f"{changed} designs came out otherwise"
    print(f"{'replay of a distinct design':<58}        {each * 1e3:8.1f} ms   (budget {60 * CORES / MANY * 1e3:.0f})")
    print(f"{'replay of 1,000 distinct designs on two cores':<58}        {each * MANY / CORES:8.1f} s    (budget 60)")


def _forget() -> None:
    """Forget what plan searches were asked about while the designs were made, so that each is searched for anew."""
    from rules import judging
    from rules.sizing import plan_kept, plans

    judging.forget()
    plans._SEARCHES.clear()
    plans._PACES.clear()
    plans._choose.cache_clear()
    plans._noted.cache_clear()
    plan_kept.memory_model.cache_clear()


if __name__ == "__main__":
    replay_timings()
