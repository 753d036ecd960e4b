"""A what-if beside its base: what is kept of both when the wizard ends, is killed, or is told to save."""

from __future__ import annotations

from pathlib import Path

import pytest

from rules.answers import Answers
from tests.tui.support import interview, press, rest
from wizard.files import answers_text, load
from wizard.kept import unfinished
from wizard.tui.screens.dialogs import FileDialog
from wizard.work import Work, opened, resumed

NODES = "scale.nodes"


def _with_nodes(nodes: int) -> Work:
    work = Work()
    work.change(work.session.answer(NODES, nodes))
    return work


def _a_file() -> Path:
    path = Path.cwd() / "mine.toml"
    path.write_text(answers_text(Answers.of({NODES: 4})))
    return path


def test_a_what_if_never_takes_the_place_of_the_base_in_an_autosave():
    work = _with_nodes(4)
    work.change(work.session.what_if())
    work.change(work.session.answer(NODES, 9).answer("facility.rack_power", "20 kW"))
    work.autosave()
    (found,) = unfinished()
    assert load(found.place).answers.values == {NODES: 4}
    again = resumed(found)
    assert again.session.base.values == {NODES: 4}
    assert again.answers.values == {NODES: 9, "facility.rack_power": "20 kW"}
    assert again.session.drop().answers.values == {NODES: 4}


def test_a_what_if_beside_a_saved_file_is_kept_and_the_file_stays_the_base():
    path = _a_file()
    work = opened(path).work
    work.change(work.session.what_if())
    work.change(work.session.clear(NODES))
    assert not work.saved
    work.autosave()
    again = opened(path).work
    assert again.session.base.values == {NODES: 4}
    assert again.answers.values == {}
    again.change(again.session.drop())
    assert again.saved
    again.autosave()
    assert unfinished() == []


def test_a_what_if_back_at_the_saved_answers_does_not_forget_an_unsaved_base():
    path = _a_file()
    work = opened(path).work
    work.change(work.session.answer(NODES, 7))
    work.change(work.session.what_if())
    work.change(work.session.answer(NODES, 4))
    work.autosave()
    (found,) = unfinished()
    assert load(found.place).answers.values == {NODES: 7}


@pytest.mark.parametrize("variant", ['{"scale.nodes": "many"}', '{"no.such": 3}', "[1]", "7"])
def test_a_variant_that_is_none_is_no_obstacle(variant):
    work = _with_nodes(4)
    work.autosave()
    place = work.kept.place
    place.write_text('# left at {"variant": ' + variant + "}\n" + place.read_text())
    (found,) = unfinished()
    assert resumed(found).session.base is None
    assert resumed(found).answers.values == {NODES: 4}


async def test_saving_waits_until_a_what_if_is_kept_or_dropped():
    async with interview() as (app, pilot):
        app.change(app.work.session.answer(NODES, 4))
        await rest(app, pilot)
        await press(app, pilot, "ctrl+n")
        app.change(app.work.session.answer(NODES, 9))
        await press(app, pilot, "ctrl+s")
        assert not isinstance(app.screen, FileDialog)
        assert any("keep or drop it" in each.message for each in app._notifications)
