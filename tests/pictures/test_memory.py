"""The memory picture: stages, terms and capacity as the estimate has them."""

from __future__ import annotations

import pytest

from catalogs import load_catalog
from rules.advisor import consider
from rules.answers import Answers
from wizard.pictures import memory


def test_llama_405b_on_sixteen_stages_has_one_bar_for_each():
    """TP 8, PP 16 and 8,192 tokens [Llama 3, arXiv:2407.21783 table 4]; a DGX H100 has 80 GB GPUs."""
    answers = Answers.of({
        "model.preset": "llama-3.1-405b", "training.sequence_length": 8192, "training.global_batch": 2048, "scale.nodes": 1024,
        "preferences.nodes": ["nvidia-dgx-h100"], "parallelism.mode": "given", "parallelism.tensor": 8, "parallelism.pipeline": 16,
        "parallelism.context": 1, "parallelism.micro_batch": 1, "parallelism.recompute": "none",
    })  # fmt: skip
    considered = consider(answers, load_catalog())
    lines = memory.text(considered, 100)
    named = [line for line in lines if line.startswith("stage ")]
    assert len(named) == 16
    assert [line.split()[1] for line in named] == [str(number) for number in range(1, 17)]
    assert float(named[0].split()[-1]) > float(named[-2].split()[-1]), "1F1B: the first stages hold the most micro-batches"
    assert any("capacity 79" in line for line in lines)
    assert any(line.startswith(("Stage 1 of 16 is the fullest", "Stage 2 of 16 is the fullest")) for line in lines)


def test_many_stages_share_bars():
    part = {"activations": (1.0, 1.0, 1.0)}
    totals = ((1.0, float(number % 3), 2.0) for number in range(1, 36))
    stages = tuple(memory.StageReport(number, 1, part, total, "fits", "activations") for number, total in enumerate(totals, start=1))
    rows = memory._rows(stages)
    assert [name for name, _ in rows[:2]] == ["stages 1 to 3", "stages 4 to 6"]
    assert rows[-1][0] == "stages 34 to 35"
    assert all(stage.total[1] == 2.0 for _, stage in rows[:-1]), "each bar is the fullest of its group"


@pytest.mark.parametrize("width", [40, 80])
def test_without_a_plan_it_says_so(width):
    """A 405B on one server of eight GPUs of 80 GB: 7,300 GB of state stand against 640."""
    answers = Answers.of({"model.preset": "llama-3.1-405b", "scale.nodes": 1, "preferences.nodes": ["nvidia-dgx-h100"]})
    considered = consider(answers, load_catalog())
    assert memory.text(considered, width) == [memory.TITLE[:width], memory.NOTHING[:width]]
    assert memory.NOTHING in memory.svg(considered)
