"""The pictures of the step and of all plans show what the design says."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import pytest

from catalogs import load_catalog
from rules.advisor import Considered, consider
from rules.findings import Stage
from wizard.files import load
from wizard.pictures import plans, step

DESIGNS = Path(__file__).parents[2] / "designs"


@lru_cache
def considered(name: str) -> Considered:
    return consider(load(DESIGNS / f"{name}.toml").answers, load_catalog())


def chosen(name: str):
    found = considered(name).ranking.chosen
    assert found is not None
    return found.candidate


def test_the_first_bar_is_the_step_of_the_design():
    candidate = chosen("sixty-four-nodes-405b")
    lines = step.text(considered("sixty-four-nodes-405b"), 100)
    assert lines[1].startswith("chosen ")
    seconds = candidate.choice.step.expected.to("s").magnitude
    stall = candidate.facts[Stage.STORAGE_CPU]["stall_percent"] / 100
    assert float(lines[1].split()[-1]) == pytest.approx(seconds / (1 - stall), rel=0.01)
    assert f"chosen: {candidate.choice.plan.label}" in lines
    told = re.search(r"the chosen step: (.*?) s expected; ", " ".join(lines))[1]
    assert sum(float(part.split()[-1]) for part in told.split(" + ")) == pytest.approx(float(lines[1].split()[-1]), rel=0.01)


def test_slow_storage_shows_as_waiting_for_data():
    """Data that is wanted at 30 GB/s and read at 20 makes every step half as long again."""
    candidate = chosen("sixty-four-nodes-405b")
    before = dict(candidate.facts[Stage.STORAGE_CPU])
    slow = {**before, "dataset_read_gb_per_s": 30.0, "read_offered_gb_per_s": 20.0, "stall_percent": 0.0}
    candidate.facts[Stage.STORAGE_CPU] = slow
    try:
        lines = step.text(considered("sixty-four-nodes-405b"), 100)
    finally:
        candidate.facts[Stage.STORAGE_CPU] = before
    assert any("waits for data" in line for line in lines)
    assert float(lines[1].split()[-1]) == pytest.approx(1.5 * candidate.choice.step.expected.to("s").magnitude, rel=0.01)


def test_the_account_and_the_place_stand_below_the_plans():
    lines = plans.text(considered("one-node-70b"), 100)
    joined = " ".join(lines)
    assert " ranked + " in joined
    assert "what limits the best, TP" in joined
    assert chosen("one-node-70b").choice.plan.label in joined
    assert any(line.count("*") > 1 for line in lines), "several plans of the front are drawn"
    assert sum("@" in line for line in lines) >= 1


def test_without_a_choice_pictures_say_so():
    nothing = considered("recommendation-tables")
    empty = replace(nothing, ranking=replace(nothing.ranking, good=(), unproven=(), bad=()))
    assert "No plan is chosen" in step.text(empty, 60)[1]
    assert any("no plan" in line for line in plans.text(empty, 60))
    assert any("data parallel only" in line for line in plans.text(nothing, 80))
