"""`explain` answers why, why not, what if, what conflicts and what is uncertain, in text and in JSON."""

from __future__ import annotations

import pytest

from tests.wizard.calls import call
from wizard import schemas


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("why", "scale.nodes"), "rules that rest on it"),
        (("why", "racks"), "facility.racks = "),
        (("why-not", "H200"), "preferences.nodes"),
        (("why-not", "liquid", "cooling"), "liquid (cooling)"),
        (("what-if", "scale.nodes=2"), "scale.nodes: 1 → 2"),
        (("conflicts",), "no conflict"),
        (("uncertain",), ""),
        (("how", "vram.fits"), "rule vram.fits"),
    ],
)
def test_each_question(small_design, words, said):
    called = call("explain", small_design, *words)
    assert called.code == 0, called.err
    assert said in called.out
    assert max(map(len, called.out.splitlines())) <= 110
    again = call("explain", small_design, *words, "--json")
    schemas.validator("explain").validate(again.json)


def test_conflicts_name_what_would_help(small_answers):
    called = call("explain", small_answers, "conflicts")
    assert called.code == 0
    path = small_answers.with_name("tight-answers.toml")
    path.write_text(small_answers.read_text("utf-8") + '[facility]\nrack_power = "8 kW"\n', "utf-8")
    called = call("explain", path, "conflicts")
    assert "facility.rack_power = 8 kW and preferences.nodes = nvidia-dgx-h100 cannot hold together" in called.out
    assert "facility.rack_power = 8 kW → 10.2" in called.out or "facility.rack_power = 8 kW → 10.3" in called.out
    schemas.validator("explain").validate(call("explain", path, "conflicts", "--json").json)


@pytest.mark.parametrize(
    "words",
    [
        ("why",),
        ("why", "no.such"),
        ("why-not",),
        ("why-not", "perpetuum mobile"),
        ("what-if",),
        ("what-if", "scale.nodes"),
        ("what-if", "scale.nodes=many"),
        ("what-if", "scale.nodes=2", "scale.nodes=4"),
        ("conflicts", "now"),
        ("uncertain", "now"),
        ("vram.fits", "vram.at_risk"),
    ],
)
def test_a_wrong_question_is_one_message(small_design, words):
    call("explain", small_design, *words).assert_one_message()


def test_a_change_of_no_answer_is_told_how_to_be_written(small_design):
    called = call("explain", small_design, "what-if", "=3")
    called.assert_one_message()
    assert "what-if needs KEY=VALUE" in called.err
