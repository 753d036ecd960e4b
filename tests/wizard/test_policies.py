"""Policies come from files, from the person's folder and from the answers; a design keeps those that it was made under."""

from __future__ import annotations

import tomllib

import pytest

from rules.policies import policies_hash
from tests.wizard.calls import ROOT, call
from wizard import schemas
from wizard.files import load
from wizard.places import config_folder
from wizard.policies import read_policies, site_policies
from wizard.work import fresh

POLICY = """
[[policy]]
id = "light-servers"
when = [{ field = "node_power_kw", is = ">", value = "8 kW" }]
severity = "reject"
message = "No server above 8 kW here; {node} draws {node_power_kw}."
"""
WITHOUT_A_VENDOR = """
[[policy]]
id = "no-nvidia"
when = [{ field = "gpu_vendor", value = "NVIDIA" }]
severity = "reject"
message = "No GPUs of {gpu_vendor} here."
"""


@pytest.fixture
def policy(tmp_path):
    path = tmp_path / "site.toml"
    path.write_text('name = "our hall"\n' + POLICY, "utf-8")
    return path


@pytest.fixture
def in_folder(own_home):
    folder = config_folder() / "policies"
    folder.mkdir(parents=True)
    (folder / "hall.toml").write_text(POLICY, "utf-8")
    yield folder
    (folder / "hall.toml").unlink()
    folder.rmdir()


def test_the_file_is_valid(policy):
    schemas.validator("policies").validate(tomllib.loads(policy.read_text("utf-8")))


def test_a_design_under_a_policy_keeps_it(small_answers, policy, tmp_path):
    out = tmp_path / "out.toml"
    assert call("design", small_answers, "--policy", policy, "-o", out).code == 1
    loaded = load(out)
    schemas.validator("design").validate({**loaded.document, "design": {"summary": {"fits": False}}})
    assert [each.id for each in loaded.answers.policies] == ["light-servers"]
    assert loaded.meta["policies_hash"] == policies_hash(loaded.answers.policies)
    assert call("replay", out).code == 0
    assert "draws 10.2 kW" in call("explain", out, "power.policy.light-servers").out
    (found,) = loaded.document["conflict_set"]
    assert "policy.light-servers" in found["answers"]
    assert "policy.light-servers (refuses node_power_kw > 8 kW)" in found["because"]
    assert "{" not in found["because"]


def test_those_of_the_folder_hold_for_answers_and_not_for_a_saved_design(small_answers, small_design, in_folder):
    assert [each.id for each in site_policies()] == ["light-servers"]
    assert call("design", small_answers).code == 1
    assert call("replay", small_design).code == 0


def test_answers_may_bring_their_own(small_answers, tmp_path):
    path = tmp_path / "answers.toml"
    text = small_answers.read_text("utf-8")
    path.write_text("".join(f"[answers.{line[1:]}" if line.startswith("[") else line for line in text.splitlines(True)) + POLICY, "utf-8")
    schemas.validator("answers").validate(tomllib.loads(path.read_text("utf-8")))
    assert call("design", path).code == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "holds no [[policy]] tables"),
        ('polic = "x"', "polic: no such table"),
        (POLICY.replace('node_power_kw", is', 'node_powerkw", is'), "did you mean 'node_power_kw'"),
        (POLICY.replace("reject", "error"), "severity"),
    ],
)
def test_a_wrong_file_is_named_with_what_is_wrong(small_answers, tmp_path, text, said):
    path = tmp_path / "wrong.toml"
    path.write_text(text, "utf-8")
    called = call("design", small_answers, "--policy", path)
    called.assert_one_message()
    assert "wrong.toml" in called.err
    assert said in called.err


def test_the_example_of_the_documentation_is_valid_and_read(small_answers, tmp_path):
    page = (ROOT / "docs" / "policies.md").read_text("utf-8")
    text = page.partition("```toml\n")[2].partition("```")[0]
    path = tmp_path / "example.toml"
    path.write_text(text, "utf-8")
    schemas.validator("policies").validate(tomllib.loads(text))
    assert [each.id for each in read_policies(path)] == ["light-servers", "no-amd", "headroom", "no-ethernet"]


def test_the_fields_are_listed_with_their_units():
    called = call("rules", "fields", "--stage", "power", "--json")
    schemas.validator("rules-fields").validate(called.json)
    row = next(each for each in called.json if each["field"] == "node_power_kw")
    assert (row["stage"], row["unit"]) == ("power", "kW")
    assert "node_power_kw" in call("rules", "fields").out
    call("rules", "fields", "--stage", "nowhere").assert_one_message()


def test_new_work_comes_under_those_of_the_folder(in_folder):
    """The wizard, the line-by-line interview, and the questions of a file of answers."""
    assert [each.id for each in fresh().session.answers.policies] == ["light-servers"]


def test_plain_and_questions_come_under_those_of_the_folder(in_folder, tmp_path):
    answers = tmp_path / "answers.toml"
    answers.write_text('[model]\npreset = "llama-3.1-8b"\n[scale]\nmode = "fixed"\nnodes = 1\n', "utf-8")
    free = call("questions", answers, "--json").json
    (in_folder / "hall.toml").write_text(WITHOUT_A_VENDOR, "utf-8")
    assert free != call("questions", answers, "--json").json == call("design", answers, "--json").json["question"]
    out = tmp_path / "plain.toml"
    call("plain", "-o", out, stdin=b"")
    assert [each.id for each in load(out).answers.policies] == ["no-nvidia"]


@pytest.mark.parametrize("words", [("plain",), ("plain", "--situation", "fine-tune"), ("design", "-")])
def test_a_broken_one_is_one_message(own_home, words):
    folder = config_folder() / "policies"
    folder.mkdir(parents=True)
    (folder / "broken.toml").write_text("[[policy", "utf-8")
    try:
        called = call(*words, stdin=b"")
        called.assert_one_message()
        assert "broken.toml" in called.err
    finally:
        (folder / "broken.toml").unlink()
        folder.rmdir()
