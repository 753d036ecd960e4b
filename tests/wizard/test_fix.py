"""`fix` applies remedies, shows what changed and writes only where it is told to."""

from __future__ import annotations

import pytest

from tests.wizard.calls import call
from wizard import schemas
from wizard.files import load


@pytest.fixture
def tight(small_answers, tmp_path):
    path = tmp_path / "tight.toml"
    path.write_text(small_answers.read_text("utf-8") + '[facility]\nrack_power = "8 kW"\ntotal_power = "10 kW"\n', "utf-8")
    return path


def test_all_conflicts(tight, tmp_path):
    out = tmp_path / "fixed.toml"
    called = call("fix", tight, "-o", out)
    assert called.code == 0
    assert "fixed power.rack_power_exceeded: facility.rack_power = 8 kW → 10.2 kW" in called.out
    saved = load(out)
    assert saved.answers.text("facility.rack_power") == "10.2 kW"
    assert saved.document["design"]["summary"]["fits"]
    assert load(tight).answers.text("facility.rack_power") == "8 kW"
    assert call("diff", tight, out).code == 1
    assert call("replay", out).code == 0


def test_a_design_keeps_what_it_was_before_so_that_it_can_be_undone(tight, tmp_path):
    before, after = tmp_path / "before.toml", tmp_path / "after.toml"
    assert call("design", tight, "-o", before).code == 1
    assert call("fix", before, "power.rack_power_exceeded", "-o", after).code == 1
    (entry,) = load(after).document["history"]
    assert entry["causes"] == ["fix of power.rack_power_exceeded: facility.rack_power = 8 kW → 10.2 kW"]
    assert any(each["where"] == "conflict power.rack_power_exceeded" for each in entry["reason"])
    assert call("replay", after).code == 0
    again = tmp_path / "again.toml"
    call("design", after, "--set", "facility.rack_power=8 kW", "-o", again)
    assert load(again).answers.values == load(before).answers.values


class TestUndo:
    """Each call takes back the last fix that the file holds: values and where they came from, as they were before."""

    def test_a_fix_of_answers_and_one_of_a_design(self, tight, tmp_path):
        file = tmp_path / "design.toml"
        assert call("fix", tight, "power.rack_power_exceeded", "-o", file).code == 1
        assert call("fix", file, "-o", file).code == 0
        once = call("fix", file, "--undo", "-o", file)
        assert once.code == 1
        assert "undid fix of power.total_exceeded: facility.total_power =" in once.out
        assert "→ 10 kW" in once.out
        assert load(file).answers.text("facility.total_power") == "10 kW"
        assert load(file).answers.text("facility.rack_power") == "10.2 kW"
        assert call("fix", file, "--undo", "-o", file).code == 1
        assert load(file).answers == load(tight).answers
        schemas.validator("design").validate(load(file).document)
        assert call("replay", file).code == 0
        call("fix", file, "--undo").assert_one_message()

    def test_an_answer_that_nobody_had_given_is_open_again(self, small_answers, tmp_path):
        wet, file = tmp_path / "wet.toml", tmp_path / "design.toml"
        wet.write_text('[model]\npreset = "llama-3.1-8b"\n[scale]\nmode = "fixed"\nnodes = 18\n'
                       '[preferences]\nnodes = ["nvidia-gb200-nvl72"]\n', "utf-8")  # fmt: skip
        assert call("fix", wet, "power.liquid_missing", "-o", file).out
        assert load(file).answers.given("facility.cooling")
        assert "facility.cooling" not in load(wet).answers.values
        call("fix", file, "--undo", "-o", file)
        assert load(file).answers == load(wet).answers

    def test_as_json(self, tight, tmp_path):
        file = tmp_path / "design.toml"
        call("fix", tight, "-o", file)
        undone = call("fix", file, "--undo", "--json").json
        schemas.validator("fix").validate(undone)
        assert undone["fits"] is False
        assert [each["key"] for each in undone["undone"]] == ["facility.rack_power", "facility.total_power"]
        assert [each["after"] for each in undone["undone"]] == ["8 kW", "10 kW"]

    def test_it_goes_with_nothing_else(self, tight, small_design):
        for words in ((small_design, "--undo"), (tight, "--undo"), (tight, "power.total_exceeded", "--undo"), (tight, "--undo", "--trade")):
            call("fix", *words).assert_one_message()

    def test_a_history_that_somebody_wrote_is_read_with_care(self, tight, tmp_path):
        file = tmp_path / "design.toml"
        call("fix", tight, "-o", file)
        text = file.read_text("utf-8")
        kept = '{ key = "facility.total_power", value = "10 kW" }'
        assert text.count(kept) == 1
        for wrong in (
            '{ key = "no.such", value = 1 }',
            '{ key = "facility.total_power", value = "ten" }',
            '{ kei = "x" }',
            "{ key = 3 }",
            "3",
        ):
            file.write_text(text.replace(kept, wrong), "utf-8")
            call("fix", file, "--undo").assert_one_message()


def test_one_conflict_leaves_the_other(tight):
    called = call("fix", tight, "power.rack_power_exceeded")
    assert called.code == 1
    assert "left power.total_exceeded" in called.out
    assert "nothing was written" in called.err


def test_as_json(tight):
    called = call("fix", tight, "--json")
    schemas.validator("fix").validate(called.json)
    assert called.json["fits"] is True
    assert [each["finding"] for each in called.json["applied"]] == ["power.rack_power_exceeded", "power.total_exceeded"]


def test_a_design_without_conflicts(small_design):
    called = call("fix", small_design)
    assert (called.code, called.out) == (0, "")


def test_wrong_calls(tight):
    for words in ((tight, "power.no_such"), (tight, "--key", "no.such"), (tight, "-o", " "), ("none.toml",)):
        call("fix", *words).assert_one_message()
