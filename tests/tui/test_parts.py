"""The parts of the screens that need no screen: bars, texts, names, autosaves."""

from __future__ import annotations

import pytest

from catalogs import load_catalog
from rules.advisor import advise
from rules.answers import Answers
from tests.tui.support import small_engine
from wizard.advice import Adviser
from wizard.interview import load_interview
from wizard.kept import autosave_of, unfinished
from wizard.names import Names
from wizard.session import Session
from wizard.shown import field_text, number_text, same_answer
from wizard.summary import short_days
from wizard.tui.bars import legend, parts_shown, stacked
from wizard.tui.figures import changes, live_lines, overview
from wizard.tui.pages import PAGES
from wizard.tui.screens.lists import hanging
from wizard.tui.widgets.step_bar import step_state
from wizard.work import Work, opened


@pytest.fixture(scope="module")
def catalog():
    return load_catalog()


@pytest.fixture(scope="module")
def adviser():
    ready = Adviser(advise=small_engine)
    ready.warm()
    return ready


def test_a_bar_gives_each_part_its_share_and_leaves_the_rest_free():
    assert stacked({"parameters": 40.0, "activations": 20.0}, 80.0, 16).plain == "████████▓▓▓▓····"


def test_a_small_part_still_has_a_cell_and_the_bar_keeps_its_width():
    bar = stacked({"large": 98.0, "small": 1.0}, 100.0, 20).plain
    assert "▓" in bar
    assert len(bar) == 20


def test_more_parts_than_patterns_are_summed_up_as_other():
    shown = parts_shown({"a": 5.0, "b": 4.0, "c": 3.0, "d": 2.0, "e": 1.0}, 15.0)
    assert [name for name, _ in shown] == ["a", "b", "c", "other"]
    assert sum(value for _, value in shown) == pytest.approx(15.0)


def test_a_legend_breaks_between_parts_only():
    lines = [line.plain for line in legend({"pipeline bubble": 4.0, "products": 3.0}, 7.0, "s", 24)]
    assert lines == ["█ pipeline bubble 4  ", "▓ products 3  s"]
    assert legend({"products": 3912.4}, 3912.4, "s", 40)[0].plain == "█ products 3,912  s"  # no exponent


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (7e10, "70B"),
        (1.56e13, "15.6T"),
        (1.28e6, "1.28M"),
        (4.1, "4.1"),
        (405853388800.0, "405,853,388,800"),
        (115305030.0, "115,305,030"),
        (123456.0, "123456"),
    ],
)
def test_numbers_are_written_without_exponents(value, text):
    assert number_text(value) == text


@pytest.mark.parametrize(
    ("key", "raw"),
    [
        ("model.parameters", 405853388800.0),
        ("training.tokens", 15.6e12),
        ("scale.nodes", 64),
        ("facility.cooling", "air, liquid"),
        ("facility.pue", 1.25),
    ],
)
def test_what_stands_in_a_field_gives_the_same_answer_when_typed(key, raw):
    value = Answers.of({key: raw}).values[key]
    assert same_answer(key, field_text(key, value), value)


def test_times_under_a_day_are_told_in_hours():
    assert short_days(0.5) == "12 hours"
    assert short_days(54) == "54 days"


def test_the_strip_fits_80_columns_for_a_large_design(catalog):
    answers = Answers.of(
        {"model.preset": "llama-3.1-405b", "training.tokens": "15.6T", "facility.total_power": "25 MW", "budget.purchase": "450M USD"}
    )
    work = Work(Session(answers), design=advise(answers, catalog), settled=0)
    lines = live_lines(work, 78)
    assert len(lines) == 3
    assert all(line.cell_length <= 78 for line in lines[1:])


def test_every_page_and_the_overview_hold_for_a_real_design(catalog):
    design = advise(Answers.of({"model.preset": "llama-3.1-8b", "training.tokens": "1T"}), catalog)
    for title, rows in PAGES.values():
        made = rows(design)
        assert any(not each.is_heading for each in made), title
    text = "\n".join(line.plain for line in overview(design, 60))
    assert design.name in text
    assert "Memory per GPU" in text
    assert "Step" in text


def test_the_last_answer_says_what_it_changed(catalog):
    before = small_engine(Answers.of({"scale.nodes": 2}), catalog)
    after = small_engine(Answers.of({"scale.nodes": 4}), catalog)
    assert changes(before, after) == "2 × Example Server → 4 × Example Server, 1.4M USD → 2.8M USD"
    assert changes(after, after) == ""


def test_names_are_found_by_any_of_their_words_and_fit_the_kind_of_work(adviser):
    names = Names(adviser)
    assert "llama-3.1-405b" in [each.id for each in names.matches("model.preset", "405b", Answers())]
    vision = names.matches("model.preset", "", Answers.of({"workload.kind": "vision"}))
    assert vision
    assert all(each.id != "llama-3.1-8b" for each in vision)
    assert names.problem("preferences.gpus", "nvidia-h200-sxm-141gb") == ""
    assert "the nearest is 'nvidia-h200-sxm-141gb'" in names.problem("preferences.gpus", "nvidia-h200-sxm-142gb")


def test_a_step_with_an_invalid_text_is_wrong_until_it_is_right():
    interview = load_interview()
    scale = next(step for step in interview.steps if step.id == "scale")
    session = Session().draft("scale.deadline", "54 apples")
    assert step_state(interview, session, scale, "workload", set()) == "wrong"
    assert step_state(interview, session.answer("scale.deadline", "54 days"), scale, "workload", set()) == "done"
    assert step_state(interview, Session(), scale, "workload", set()) == "open"
    assert step_state(interview, Session(), scale, "scale", set()) == "here"


def test_hanging_lines_are_indented_and_no_word_is_lost():
    from textual.content import Content

    text = Content(" x " + "word " * 12)
    lines = hanging(text, 30).plain.split("\n")
    assert all(line.startswith("   ") for line in lines[1:])
    assert all(len(line) <= 30 for line in lines)
    assert " ".join(" ".join(lines).split()) == text.plain.strip()


def test_an_autosave_is_written_for_changes_and_goes_with_the_save(tmp_path, catalog):
    work = Work()
    work.autosave()
    assert not autosave_of(None).exists()
    work.change(work.session.answer("scale.nodes", 8))
    work.autosave()
    assert "nodes = 8" in autosave_of(None).read_text()
    design = small_engine(work.answers, catalog)
    path = tmp_path / "eight.toml"
    work.wrote(path, design, work.write(path, design, catalog))
    assert not autosave_of(None).exists()
    assert work.saved
    again, note, _ = opened(path)
    assert not note
    assert again.answers == work.answers
    assert again.name == "eight"


def test_answers_given_while_saving_are_not_called_saved(tmp_path, catalog):
    work = Work(Session(Answers.of({"scale.nodes": 8})))
    design = small_engine(work.answers, catalog)
    meta = work.write(tmp_path / "eight.toml", design, catalog)
    work.change(work.session.answer("scale.nodes", 9))
    work.wrote(tmp_path / "eight.toml", design, meta)
    assert not work.saved
    work.autosave()
    assert [each.path for each in unfinished()] == [tmp_path / "eight.toml"]


def test_a_file_saved_under_another_name_takes_that_name(tmp_path, catalog):
    design = small_engine(Answers(), catalog)
    work = Work()
    work.wrote(tmp_path / "one.toml", design, work.write(tmp_path / "one.toml", design, catalog))
    assert work.write(tmp_path / "two.toml", design, catalog)["name"] == "two"
