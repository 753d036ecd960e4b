"""Texts of findings: what is counted has its plural."""

from __future__ import annotations

import pytest

from rules.facts import show
from rules.render import Shown, fill
from rules.stages import all_stages
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


@pytest.mark.parametrize(("days", "told"), [(0.125, "3 hours"), (0.5, "12 hours"), (1, "1 days"), (54.2, "54.2 days"), (0, "0 days")])
def test_less_than_a_day_is_told_in_hours(days, told):
    assert show("deadline_days", days) == told


def test_no_sentence_writes_a_unit_after_a_field_that_has_it():
    """A field ends in its unit and is printed with it: "{stall_percent} %" would read "2 % %"."""
    units = {"percent": "%", "gb_per_s": "GB/s", "gbps": "Gb/s", "kw": "kW", "gib": "GiB", "usd": "USD", "days": "days"}
    for each in (one for stage in all_stages() for one in stage.RULES):
        texts = [each.because, *(fix.text for fix in each.fix), *((each.ask.ask, each.ask.good_answer) if each.ask else ())]
        for field, unit in units.items():
            assert not any(f"_{field}}} {unit}" in text for text in texts), each.id
