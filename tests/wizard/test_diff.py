"""`diff` compares two designs as they were saved, or designs what are answers only."""

from __future__ import annotations

import tomllib

import pytest
import tomli_w

from tests.wizard.calls import call
from wizard import schemas


@pytest.fixture
def other(small_design, tmp_path):
    """A design with another number of nodes and a conflict, written by hand into a copy."""
    document = tomllib.loads(small_design.read_text("utf-8"))
    document["design"]["summary"] |= {"gpus": 16, "fits": False}
    document["conflict"] = [{"rule": "power.total_exceeded", "because": "20 kW are needed and 10 are there"}]
    path = tmp_path / "other.toml"
    path.write_text(tomli_w.dumps(document), "utf-8")
    return path


def test_the_same_design_twice(small_design):
    called = call("diff", small_design, small_design)
    assert (called.code, called.out) == (0, "no difference\n")


def test_figures_and_reasons_of_two(small_design, other):
    called = call("diff", small_design, other)
    assert called.code == 1
    assert "conflict power.total_exceeded: 20 kW are needed and 10 are there" in called.out
    row = next(line.split() for line in called.out.splitlines() if line.startswith("GPUs"))
    assert row[1:] == ["8", "16", "+100.0", "%", "worse"]


def test_as_json(small_design, other):
    called = call("diff", small_design, other, "--json")
    assert called.code == 1
    schemas.validator("diff").validate(called.json)
    assert called.json["after"]["fits"] is False
    assert {"id": "gpus", "before": 8.0, "after": 16.0, "verdict": "worse"}.items() <= called.json["figures"][0].items()


def test_answers_are_designed_first(small_design, tmp_path):
    answers = tmp_path / "answers.toml"
    answers.write_text(tomli_w.dumps(tomllib.loads(small_design.read_text("utf-8"))["answers"]), "utf-8")
    called = call("diff", small_design, answers)
    assert (called.code, called.out) == (0, "no difference\n")


def test_what_is_no_file(small_design):
    call("diff", small_design, "none.toml").assert_one_message()
    call("diff", small_design).assert_one_message()
