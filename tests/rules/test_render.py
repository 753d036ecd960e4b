"""Texts of findings: what is counted has its plural."""

from __future__ import annotations

import pytest

from rules.render import Shown, fill
from tests.rules.samples import rule


@pytest.mark.parametrize(
    ("count", "told"),
    [
        (1, "on 1 GPU."),
        (2, "on 2 GPUs."),
        (1024, "on 1024 GPUs."),
        (0, "on 0 GPUs."),
    ],
)
def test_a_count_of_one_has_no_plural(count, told):
    made = rule("vram.counted")
    assert fill("on {gpus} GPU(s).", made, Shown({"gpus": count})) == told


@pytest.mark.parametrize(("count", "told"), [(1, "1 management switch and 1 box"), (3, "3 management switches and 3 boxes")])
def test_a_plural_in_es_follows_an_adjective_too(count, told):
    made = rule("vram.counted")
    assert fill("{gpus} management switch(es) and {gpus} box(es)", made, Shown({"gpus": count})) == told
