"""What keeps answers: autosaves that are broken, in the way, refused by the disk, or another wizard's."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import pytest

from catalogs import load_catalog
from rules.answers import Answers
from tests.screen_text import screen_lines, screen_text
from tests.tui.support import TINY, interview, press, row, small_engine, type_text, wizard
from wizard.files import answers_text, load
from wizard.kept import Left, autosave_of, mark_line, unfinished
from wizard.session import Session
from wizard.tui.app import WizardApp
from wizard.tui.keeping_app import KEEP_S, LossDialog
from wizard.work import Work, opened, resumed

NODES = "scale.nodes"


def with_nodes(nodes: int, path: Path | None = None) -> Work:
    """Return work with one answer that is in no file."""
    work = Work(path=path)
    work.change(work.session.answer(NODES, nodes))
    return work


def a_file(name: str = "mine.toml", nodes: int = 4) -> Path:
    """Write an answers file into the current folder."""
    path = Path.cwd() / name
    path.write_text(answers_text(Answers.of({NODES: nodes})))
    return path


def kept_nodes() -> list[object]:
    """Return what all autosaves hold."""
    return sorted(load(each.place).answers.values[NODES] for each in unfinished())


def refuse_state(tmp_path: Path) -> None:
    """Put an ordinary file where the folder of autosaves would be."""
    (tmp_path / "state").write_text("")


# --- broken autosaves


@pytest.mark.parametrize("content", ["schema = 99\n", "[answers.scale]\nno_such_key = 3\n", "not = [toml"])
def test_a_bad_autosave_is_set_aside_and_its_file_opens(content):
    path = a_file()
    place = autosave_of(path)
    place.parent.mkdir(parents=True)
    place.write_text(mark_line(path) + content)
    found = opened(path)
    assert found.work.answers.values == {NODES: 4}
    assert found.warns
    assert "set aside" in found.note
    aside = [each for each in place.parent.iterdir() if "unreadable" in each.name]
    assert [each.read_text() for each in aside] == [mark_line(path) + content]
    assert str(aside[0]) in found.note
    assert unfinished() == []
    assert not opened(path).note


async def test_the_wizard_opens_a_file_whose_autosave_is_bad_and_warns():
    path = a_file()
    place = autosave_of(path)
    place.parent.mkdir(parents=True)
    place.write_text(mark_line(path) + "schema = 99\n")
    async with wizard(file=str(path)) as (app, _):
        assert app.fault is None
        assert app.work.path == path
        assert any("written by a newer version" in each.message for each in app._notifications)


def test_pipes_and_devices_are_no_autosaves(tmp_path):
    place = autosave_of(None)
    place.parent.mkdir(parents=True)
    os.mkfifo(place)
    folder = place.parent / "autosave"
    folder.mkdir()
    (folder / "device.toml").symlink_to(os.devnull)
    found: list[object] = []
    work = with_nodes(8)

    def read_and_write():
        found.extend(unfinished())
        work.autosave()

    thread = threading.Thread(target=read_and_write, daemon=True)
    thread.start()
    thread.join(10)
    assert not thread.is_alive()
    assert found == []
    assert work.at_risk
    assert "no ordinary file" in work.state


@pytest.mark.parametrize(
    "name", ["two\nlines.toml", "delete\x7f.toml", "bad\udcffbyte.toml", "a" * 245 + ".toml", "ж" * 120 + ".toml", "[bold]x.toml"]
)
def test_autosaves_of_files_with_odd_names_are_found_again(name):
    path = a_file(name)
    work = opened(path).work
    work.change(work.session.answer(NODES, 8))
    work.autosave()
    assert work.not_kept == ""
    found = opened(path)
    assert found.note.startswith("Resumed")
    assert found.work.path == path
    assert found.work.answers.values == {NODES: 8}


@pytest.mark.parametrize("name", ["two\nlines.toml", "[bold]x.toml"])
async def test_odd_names_do_not_disturb_the_screen(name):
    path = a_file(name)
    work = opened(path).work
    work.change(work.session.answer(NODES, 8))
    work.autosave()
    async with wizard(file=str(path)) as (app, pilot):
        assert len(screen_text(app).splitlines()[0].split()) > 3
        told = next(each for each in app._notifications if "Resumed" in each.message)
        assert name.replace("\n", " ") in told.message
        assert not told.markup
        await press(app, pilot, "f4")


def test_a_mark_of_a_bare_path_is_read(tmp_path):
    path = a_file()
    place = autosave_of(path)
    place.parent.mkdir(parents=True)
    place.write_text(f"# unsaved answers of {path}\n[answers.scale]\nnodes = 9\n")
    assert opened(path).work.answers.values == {NODES: 9}


def test_drafts_with_control_characters_come_back(tmp_path):
    work = Work(session=Session().draft("scale.deadline", "5\x7f4\ndays"))
    work.generation = 1
    work.autosave()
    assert Left.read(autosave_of(None)).drafts == (("scale.deadline", "5\x7f4\ndays"),)
    assert resumed(unfinished()[0]).session.drafts == (("scale.deadline", "5\x7f4\ndays"),)


def test_answers_are_kept_before_a_loop_that_may_be_busy_is_asked_to_end(monkeypatch):
    def never(*_arguments):
        raise RuntimeError("the loop does not answer")

    app = WizardApp(advise=small_engine)
    app.work = with_nodes(8)
    monkeypatch.setattr(app, "call_from_thread", never)
    with pytest.raises(RuntimeError):
        app.told_to_end()
    assert kept_nodes() == [8]


# --- answers that cannot be kept


async def test_answers_that_cannot_be_kept_are_said_not_to_be(tmp_path):
    refuse_state(tmp_path)
    async with interview(size=(120, 36)) as (app, pilot):
        await press(app, pilot, "1")
        await pilot.pause(KEEP_S + 0.2)
        assert "not kept: " in screen_text(app).splitlines()[0]
        assert any("cannot be kept" in each.message for each in app._notifications)
        (tmp_path / "state").unlink()
        await press(app, pilot, "2")
        await pilot.pause(KEEP_S + 0.2)
        assert "not kept" not in screen_text(app).splitlines()[0]
        assert autosave_of(None).exists()


async def test_quitting_with_answers_that_are_not_kept_asks_and_writes_them_elsewhere(tmp_path):
    refuse_state(tmp_path)
    async with interview() as (app, pilot):
        await press(app, pilot, "1", "ctrl+q", "ctrl+q")
        assert app.is_running
        assert [isinstance(screen, LossDialog) for screen in app.screen_stack].count(True) == 1
        assert "Leaving now would lose them" in screen_text(app)
        await press(app, pilot, "escape")
        assert not app._exit
        await press(app, pilot, "ctrl+q", "enter")
        assert "Write the answers to" in screen_text(app)
        await pilot.press("enter")
        await pilot.pause(0.2)
        assert app._exit
    assert load(tmp_path / "my-answers.toml").answers == app.work.answers
    assert "my-answers.toml" in app.work.farewell()


async def test_the_question_can_be_answered_in_a_tiny_terminal(tmp_path):
    refuse_state(tmp_path)
    async with interview() as (app, pilot):
        await press(app, pilot, "1")
        await pilot.resize_terminal(*TINY)
        assert "Leave without them" in await press(app, pilot, "ctrl+q")
        assert "Write the answers to" in await press(app, pilot, "enter")
        await pilot.press("enter")
        await pilot.pause(0.2)
        assert app._exit
    assert load(tmp_path / "my-answers.toml").answers == app.work.answers


async def test_a_place_that_cannot_be_written_to_either_asks_again(tmp_path, monkeypatch):
    refuse_state(tmp_path)
    async with interview() as (app, pilot):
        await press(app, pilot, "1", "ctrl+q", "enter")
        app.screen.query_one("#file-name").value = "/proc/answers.toml"
        await press(app, pilot, "enter")
        assert not app._exit
        assert isinstance(app.screen, LossDialog)
        assert any("Not written" in each.message for each in app._notifications)
        await pilot.press("down", "enter")
        await pilot.pause(0.2)
        assert app._exit
    assert app.work.farewell() == "Your answers were not kept."


async def test_other_work_does_not_take_the_place_of_answers_that_are_not_kept(tmp_path):
    refuse_state(tmp_path)
    path = a_file()
    async with interview() as (app, pilot):
        await press(app, pilot, "1")
        work = app.work
        await app._take(opened(path))
        await pilot.pause()
        assert app.work is work
        assert isinstance(app.screen, LossDialog)
        await press(app, pilot, "down", "enter")
        assert app.work.path == path


def test_answers_that_are_nowhere_are_told_at_the_end(tmp_path, monkeypatch, capsys):
    from wizard.tui import app as module

    refuse_state(tmp_path)

    def crash(self):
        self.work = with_nodes(8)
        self._return_code = 1

    monkeypatch.setattr(module.WizardApp, "run", crash)
    monkeypatch.setattr("sys.setswitchinterval", lambda seconds: None)
    assert module.open_wizard(None, []) == 1
    told = capsys.readouterr().err
    assert "could not be kept (not a directory)" in told
    assert "nodes = 8" in told


def test_a_failed_write_is_tried_again_and_removes_nothing(tmp_path, monkeypatch):
    work = with_nodes(8)
    work.autosave()
    first = autosave_of(None).read_text()
    work.change(work.session.answer(NODES, 9))

    def full(self, target):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", full)
        work.autosave()
    assert work.state == "not kept: no space left on device"
    assert autosave_of(None).read_text() == first
    work.autosave()
    assert work.state == "not saved yet"
    assert "nodes = 9" in autosave_of(None).read_text()


# --- while keys come fast


async def test_keys_without_a_pause_are_kept_all_the_same(monkeypatch):
    async with interview() as (app, pilot):
        await press(app, pilot, "1", "pagedown", "pagedown")
        monkeypatch.setattr("wizard.tui.engine_app.DEBOUNCE_S", 60.0)
        end, kept, writes = time.monotonic() + 3 * KEEP_S, False, set()
        while time.monotonic() < end:
            for nodes in "23":
                app.change(app.work.session.answer("scale.deadline", f"{nodes} days"))
                await pilot.pause(0.02)
            if app.work.kept is not None and "days" in app.work.kept.place.read_text():
                kept = True
                writes.add(app.work.kept.mark)
        assert kept
        assert len(writes) <= 5


async def test_what_was_said_before_is_on_disk_before_another_answer_changes(monkeypatch):
    async with interview() as (app, pilot):
        await press(app, pilot, "1", "tab")
        monkeypatch.setattr(type(app), "keep", lambda self: None)  # as if the program was killed before the next writing
        monkeypatch.setattr(type(app), "keep_field", lambda self: None)
        app.change(app.work.session.answer("scale.deadline", "5 days"))
        app.change(app.work.session.answer("scale.deadline", "54 days"))
        app.change(app.work.session.draft("budget.purchase", "many"))
        assert 'deadline = "54 days"' in autosave_of(None).read_text()
        app.change(app.work.session.answer("facility.racks", "40"))
        assert '"budget.purchase": "many"' in autosave_of(None).read_text()
        assert "racks" not in autosave_of(None).read_text()


async def test_a_disk_that_hangs_does_not_stop_the_keys(monkeypatch):
    async with interview() as (app, _):
        let_go = threading.Event()
        monkeypatch.setattr(type(app.work), "autosave", lambda self: let_go.wait(20))
        begin = time.monotonic()
        for key, text in (("scale.deadline", "54 days"), ("budget.purchase", "3M USD"), ("facility.racks", "40"), ("budget.years", "4")):
            app.change(app.work.session.answer(key, text))
        waited = time.monotonic() - begin
        let_go.set()
        assert waited < 5  # one patience, not three times the disk


# --- several wizards


def test_a_later_new_design_puts_the_earlier_aside_and_neither_writes_over_the_other():
    first, second = with_nodes(1), with_nodes(2)
    for work in (first, second, first, second):
        work.change(work.session.answer(NODES, int(work.answers.values[NODES]) + 10))
        work.autosave()
        for _ in range(3):
            first.autosave()
    assert kept_nodes() == [21, 22]
    assert first.kept is not None
    assert second.kept is not None
    assert first.kept.place != second.kept.place
    assert "kept in" in first.farewell()
    assert str(first.kept.place) in first.farewell()


async def test_two_unfinished_designs_are_told_apart_by_what_they_hold():
    first, second = with_nodes(1), with_nodes(2)
    for work, model in ((first, "llama-3.1-70b"), (second, "gpt2")):
        work.change(work.session.answer("workload.kind", "fine_tuning_lora").answer("model.preset", model))
        work.autosave()
    async with wizard() as (app, _):
        lines = [line for line in screen_lines(app) if "Resume unfinished work" in line]
        assert len(lines) == 2
        assert "3 answers: LoRA, gpt2" in lines[0]
        assert "3 answers: LoRA, llama-3.1-70b, kept" in lines[1]


def test_two_wizards_on_one_file_keep_both_answers():
    path = a_file()
    first = opened(path).work
    first.change(first.session.answer(NODES, 11))
    first.autosave()
    second = opened(path).work
    second.change(second.session.answer(NODES, 12))
    second.autosave()
    first.autosave()
    assert kept_nodes() == [11, 12]
    second.change(second.session.undo())
    second.change(second.session.undo())
    second.autosave()
    assert kept_nodes() == [11]


def test_saving_removes_only_ones_own_autosave(tmp_path):
    catalog = load_catalog()
    first, second = with_nodes(1), with_nodes(2)
    first.autosave()
    second.autosave()
    design = small_engine(first.answers, catalog)
    first.wrote(tmp_path / "one.toml", design, first.write(tmp_path / "one.toml", design, catalog))
    assert kept_nodes() == [2]


# --- after a kill


async def test_help_says_how_to_get_a_terminal_back():
    async with interview(size=(120, 60)) as (app, pilot):
        await press(app, pilot, "f1")
        assert "type reset" in "\n".join(line.plain for line in app.screen._text.split("\n"))


async def test_typing_into_a_field_reaches_the_autosave():
    async with interview() as (app, pilot):
        await press(app, pilot, "1", "pagedown", "pagedown", "tab")
        await type_text(app, pilot, "54 days")
        await pilot.pause(KEEP_S + 0.2)
        assert row(app, "scale.deadline").entry.value == "54 days"
        assert "54 days" in autosave_of(None).read_text()
