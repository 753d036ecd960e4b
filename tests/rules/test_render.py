"""Texts of findings: what is counted has its plural."""

from __future__ import annotations

import pytest

from rules.render import Shown, fill
from tests.rules.samples import rule


@pytest.mark.parametrize(
    ("count", "told"),
    [
        (1, "The job on 1 GPU fails."),
        (2, "The job on 2 GPUs fails."),
        (1024, "The job on 1024 GPUs fails."),
        (0, "The job on 0 GPUs fails."),
    ],
)
def test_a_count_of_one_has_no_plural(count, told):
    made = rule("vram.counted")
    assert fill("on {gpus} GPU(s).", made, Shown({"gpus": count})) == told
