"""`explain DESIGN plans`: all plans are accounted for, and the design's own is always among them."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

from tests.wizard.calls import call
from wizard.schemas import validator

DESIGNS = Path(__file__).parents[2] / "designs"
OWN = """
[model]
preset = "llama-3.1-70b"

[scale]
mode = "fixed"
nodes = 8

[preferences]
nodes = ["nvidia-dgx-h100"]

[parallelism]
mode = "given"
tensor = 8
pipeline = 4
micro_batch = 1
zero_stage = 1
recompute = "full"
"""


def test_the_account_adds_up_and_nothing_on_the_front_is_beaten():
    called = call("explain", DESIGNS / "sixty-four-nodes-405b.toml", "plans", "--json")
    assert called.code == 0
    document = json.loads(called.out)
    assert list(validator("explain").iter_errors(document)) == []
    assert document["enumerated"] == document["ranked"] + sum(document["ruled_out"].values())
    front = document["pareto"]
    assert all(one["step_s"] <= two["step_s"] for one, two in pairwise(front))
    assert all(one["peak_gib"]["high"] > two["peak_gib"]["high"] for one, two in pairwise(front))
    assert any("memory" in line for line in document["limits"])


def test_a_given_plan_is_listed_with_its_place_and_what_the_fastest_does_otherwise(tmp_path):
    file = tmp_path / "answers.toml"
    file.write_text(OWN, "utf-8")
    called = call("explain", file, "plans", "--json")
    assert called.code == 0
    document = json.loads(called.out)
    assert document["own"]["plan"].startswith("TP8 PP4 ")
    assert "recompute full" in document["own"]["plan"]
    assert document["own"]["rank"] > 100
    assert document["fastest"][0]["step_s"] < document["own"]["step_s"]
    assert any(line.startswith("recomputation: ") for line in document["difference"])
    assert set(document["other_precisions"]) == {"fp8"}, "no software trains MXFP8 on Hopper"
    text = call("explain", file, "plans").out
    assert "<- the design's own" in text
    assert f"is number {document['own']['rank']:,} of {document['ranked']:,}" in text


def test_models_that_train_data_parallel_have_one_plan():
    called = call("explain", DESIGNS / "recommendation-tables.toml", "plans")
    assert called.code == 0
    assert "data parallel only: there is one plan" in called.out
    assert "fixed cost of a step 3 ms" in called.out
    document = call("explain", DESIGNS / "recommendation-tables.toml", "plans", "--json").json
    assert list(validator("explain").iter_errors(document)) == []
    assert document["enumerated"] == document["ranked"] == document["own"]["rank"] == 1
