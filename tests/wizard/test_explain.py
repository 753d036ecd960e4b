"""The command explain: the list, one explanation as text and as JSON, names that do not exist, files saved under other knowledge."""

from __future__ import annotations

import pytest

from tests.wizard.calls import call
from tests.wizard.test_schemas import problems

ASKED = (
    "memory.verdict",
    "memory.expected",
    "summary.days",
    "power.total",
    "cost.purchase",
    "headroom_gib",
    "budget.years",
    "design.chosen",
)


def test_without_a_name_it_lists_what_can_be_explained(small_design):
    called = call("explain", small_design)
    assert called.code == 0
    assert {"summary", "vram", "fabric", "power", "money", "answers"} <= set(called.out.splitlines())
    assert "  decision   memory.verdict" in called.out
    assert "conclusions and values of 1 × NVIDIA DGX H100" in called.err
    rows = call("explain", small_design, "--json").json
    assert problems("explain", rows) == []
    assert {"kind": "value", "stage": "summary", "what": "summary.gpus", "value": "8"} in rows["subjects"]


@pytest.mark.parametrize("what", ASKED)
def test_one_thing_as_text_and_as_json(small_design, what):
    called = call("explain", small_design, what)
    assert called.code == 0
    assert called.err == ""
    assert all(len(line) <= 100 for line in called.out.splitlines())
    found = call("explain", small_design, what, "--json").json
    assert problems("explain", found) == []
    assert found["what"] == what
    assert found["chains"][0]["name"].partition(":")[2] == what or found["chains"][0]["name"] == what


def test_the_text_goes_down_to_source_and_answer(small_design):
    text = " ".join(call("explain", small_design, "memory.capacity").out.split())
    assert "memory.capacity = 81559 MiB [measured, " in text
    text = " ".join(call("explain", small_design, "power.total").out.split())
    assert "= 10.2 kW × 1.4" in text
    assert "answer facility.pue = 1.4 [assumed:" in text


def test_answers_are_explained_without_a_design(small_answers, small_design):
    assert call("explain", small_answers, "power.total").out == call("explain", small_design, "power.total").out


@pytest.mark.parametrize(("what", "nearest"), [("headrom_gib", "headroom_gib"), ("vram.fitz", "vram.fits"), ("zzz", "")])
def test_a_name_of_nothing(small_design, what, nearest):
    called = call("explain", small_design, what)
    called.assert_one_message()
    assert repr(what) in called.err
    assert (f"did you mean {nearest!r}" in called.err) is bool(nearest)
    assert "lists what there is" in called.err


def test_a_file_saved_under_other_rules_or_another_catalog_says_so(small_design, tmp_path):
    text = small_design.read_text("utf-8")
    edited = tmp_path / "old.toml"
    edited.write_text(
        text.replace('catalog_hash = "', 'catalog_hash = "0').replace('name = "1 × NVIDIA DGX H100', 'name = "2 × X'), "utf-8"
    )
    called = call("explain", edited, "power.total")
    assert called.code == 0
    assert "saved under other catalog;" in called.err
    assert "the file has 2 × X" in called.err
    assert called.out == call("explain", small_design, "power.total").out
    notes = call("explain", edited, "power.total", "--json").json["notes"]
    assert len(notes) == 2


def test_a_design_with_conflicts(small_answers, tmp_path):
    path = tmp_path / "poor.toml"
    path.write_text(small_answers.read_text("utf-8") + '[budget]\npurchase = "1000 USD"\n', "utf-8")
    rows = call("explain", path, "--json").json["subjects"]
    conflict = next(row["what"] for row in rows if row["kind"] == "conflict")
    called = call("explain", path, conflict)
    assert called.code == 0
    assert "it has conflicts" in called.out
    assert "would remove it:" in called.out
    assert "answer budget.purchase = 1000 USD [you]" in called.out


def test_nothing_is_allowed(tmp_path):
    path = tmp_path / "none.toml"
    path.write_text('[preferences]\nnodes = ["nvidia-dgx-h100"]\nvendors = ["AMD"]\n', "utf-8")
    found = call("explain", path, "proposals.nothing_allowed", "--json")
    assert found.code == 0
    assert problems("explain", found.json) == []
    assert problems("explain", call("explain", path, "--json").json) == []


def test_sizes_of_a_model_are_told_without_what_the_program_keeps_for_itself(small_answers):
    text = " ".join(call("explain", small_answers, "workload.parameters").out.split())
    assert "hidden size" in text
    assert "hash" not in text


def test_a_size_rests_on_the_limit_that_decided_it(small_answers, tmp_path):
    out = call("explain", small_answers, "summary.units").out
    assert "answer scale.nodes" in out
    by_deadline = tmp_path / "deadline.toml"
    made = call(
        "design",
        small_answers,
        *("--set", "scale.mode=deadline", "--set", "scale.nodes=unknown", "--set", "scale.deadline=80 days"),
        "-o",
        by_deadline,
    )
    assert made.code in (0, 1)
    assert "answer scale.deadline = 80 days [you]" in call("explain", by_deadline, "summary.units").out
