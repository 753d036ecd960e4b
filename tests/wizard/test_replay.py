"""A replay finds every conclusion that differs, names it, and says what may have caused it."""

from __future__ import annotations

import tomllib

import pytest
import tomli_w

from catalogs import load_catalog
from rules.answers import AnswerError
from tests.wizard.calls import call
from wizard import schemas
from wizard.files import FileError
from wizard.replay import replay


@pytest.fixture(scope="module")
def catalog():
    return load_catalog()


@pytest.fixture
def edit(small_design, tmp_path):
    """Change a copy of the small design and return its path."""

    def change(action):
        document = tomllib.loads(small_design.read_text("utf-8"))
        action(document)
        path = tmp_path / "edited.toml"
        path.write_text(tomli_w.dumps(document), "utf-8")
        return path

    return change


def test_a_design_that_nothing_changed_shows_no_difference(small_design, catalog):
    result = replay(small_design, catalog)
    assert result.changes == ()
    assert result.causes == ()
    assert result.text == small_design.read_text("utf-8")


def test_an_edited_conclusion_is_named_with_both_values(edit, catalog):
    path = edit(lambda document: document["design"]["summary"].update(nodes=17))
    result = replay(path, catalog)
    assert [(change.where, change.before, change.after) for change in result.changes] == [("design.summary.nodes", "17", "1")]
    assert result.causes == ("neither catalog nor rules changed: the file itself was edited",)


def test_an_edited_answer_changes_conclusions_that_rest_on_it(edit, catalog):
    changes = replay(edit(lambda document: document["answers"]["scale"].update(nodes=2)), catalog).changes
    assert ("design.summary.gpus", "8", "16") in [(change.where, change.before, change.after) for change in changes]


def test_removed_and_added_rows_are_told_apart(edit, catalog):
    def action(document):
        removed = document["question"].pop(0)
        document["question"].append({**removed, "rule": "somebody.else"})

    changes = replay(edit(action), catalog).changes
    assert {("question", bool(change.before), bool(change.after)) for change in changes} == {
        ("question", True, False),
        ("question", False, True),
    }


def test_rows_in_another_order_are_no_difference(edit, catalog):
    assert replay(edit(lambda document: document["question"].reverse()), catalog).changes == () or pytest.fail("order counted")


@pytest.mark.parametrize(
    ("key", "cause"),
    [
        ("catalog_hash", "the catalog outside of what this design rests on changed (0123 → "),
        ("rules_hash", "the rules or formulas changed (0123 → "),
        ("tool_version", "the tool's version changed (0123 → 0.1.0)"),
    ],
)
def test_the_cause_is_what_differs_from_when_it_was_saved(edit, catalog, key, cause):
    def action(document):
        document["meta"][key] = "0123"
        document["design"]["summary"]["nodes"] = 17

    causes = replay(edit(action), catalog).causes
    assert len(causes) == 1
    assert causes[0].startswith(cause)


def test_without_a_difference_in_conclusions_there_is_no_cause(edit, catalog):
    assert replay(edit(lambda document: document["meta"].update(rules_hash="0123")), catalog).causes == ()


def test_another_catalog_changes_what_rests_on_it(small_design, tmp_path):
    from catalogs.loading import OWN_FOLDER

    (tmp_path / "nodes").mkdir()
    text = (OWN_FOLDER / "nodes" / "nvidia-dgx-h100.toml").read_text("utf-8")
    (tmp_path / "nodes" / "mine.toml").write_text(text.replace('"10.2 kW"', '"11.2 kW"'), "utf-8")
    called = call("replay", small_design, "--catalog", tmp_path, "--json")
    assert called.code == 1
    assert called.json[0]["causes"] == ["the catalog's nodes/nvidia-dgx-h100 power.maximum changed from 10.2 kW to 11.2 kW"]
    assert any("power" in change["where"] for change in called.json[0]["changes"])


def test_answers_that_no_longer_hold_name_the_file(edit, catalog):
    path = edit(lambda document: document["answers"]["model"].update(preset="a-model-that-was-removed"))
    with pytest.raises((FileError, AnswerError)):
        replay(path, catalog)
    called = call("replay", path)
    called.assert_one_message()
    assert "edited.toml" in called.err
    assert "a-model-that-was-removed" in called.err


def test_update_writes_what_comes_out_now(edit, catalog):
    path = edit(lambda document: document["design"]["summary"].update(nodes=17))
    assert call("replay", path).code == 1
    assert call("replay", "--update", path).code == 1
    assert call("replay", path).code == 0


def test_several_files_are_replayed_and_one_difference_counts(small_design, edit):
    path = edit(lambda document: document["design"]["summary"].update(nodes=17))
    called = call("replay", small_design, path)
    assert called.code == 1
    assert "small-design.toml: no difference" in called.out
    assert "  ~ design.summary.nodes: 17 → 1" in called.out
    assert called.err == "2 replayed, 1 differ\n"
    broken = path.with_name("broken.toml")
    broken.write_text("schema = \n", "utf-8")
    called = call("replay", broken, small_design, "--json")  # a file that cannot be read keeps nobody from the others
    assert called.code == 2
    assert "broken.toml" in called.err
    assert called.err.endswith("1 replayed, 0 differ, 1 could not be read\n")
    schemas.validator("replay").validate(called.json)
    assert [("error" in each, each["same"]) for each in called.json] == [(True, False), (False, True)]
