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
