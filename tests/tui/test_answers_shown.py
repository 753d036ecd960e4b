"""What the interview shows of answers: names that are found, invalid text, what is assumed, what is not known."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import pytest
from textual.widgets import Input

from catalogs import load_catalog
from rules.answers import UNKNOWN, Answers
from rules.design import Assumption
from tests.screen_text import screen_lines, screen_text
from tests.tui.support import TINY, interview, press, rest, row, small_engine, type_text
from wizard.advice import Adviser
from wizard.interview import load_interview
from wizard.names import Names
from wizard.shown import choice_label
from wizard.tui.widgets.choice_entry import ChoiceEntry
from wizard.tui.widgets.text_entry import PickerEntry, TextEntry


@pytest.fixture(scope="module")
def names():
    adviser = Adviser(advise=small_engine)
    adviser.warm()
    return Names(adviser)


def assuming(answers, catalog):
    """Return the small design with assumptions as the real engine states them."""
    more = (
        Assumption("training.sequence_length", "8,192", "the length of Llama 3's main stage"),
        Assumption("training.tokens", "1.41107e+12", "20 tokens per active parameter"),
        Assumption("data.kind", "text", "the usual data"),
    )
    return replace(small_engine(answers, catalog), assumptions=more)


def ids(found):
    return [each.id for each in found]


# --- names


@pytest.mark.parametrize("typed", ["llama 70", "70 llama", "llama70", "Llama70B", "70b  LLAMA", "3.1 llama 70"])
def test_words_find_a_model_in_any_order_and_however_joined(names, typed):
    assert "llama-3.1-70b" in ids(names.matches("model.preset", typed, Answers()))
    assert "llama-3.1-8b" not in ids(names.matches("model.preset", typed, Answers()))


def test_an_alias_finds_its_product(names):
    gpu = next(each for each in load_catalog().gpus if each.aliases and each.aliases[0].lower() not in f"{each.id} {each.name}".lower())
    assert gpu.id in ids(names.matches("preferences.gpus", gpu.aliases[0], Answers()))


@pytest.mark.parametrize(
    ("typed", "first"), [("lamma 3.1 70", "llama-3.1-70b"), ("depseek v3", "deepseek-v3"), ("qween 2.5 72", "qwen2.5-72b")]
)
def test_a_slip_finds_the_nearest_name(names, typed, first):
    assert names.matches("model.preset", typed, Answers()) == []
    assert ids(names.nearest("model.preset", typed))[0] == first


def test_a_size_in_the_place_of_a_model_is_told_where_it_belongs(names):
    for typed in ("70B", "7.5 b", "8000000000"):
        assert names.problem("model.preset", typed).startswith(f"{typed!r} is a size: write it under 'or parameters', or pick a model")
    assert "is a size" not in names.problem("preferences.gpus", "70B")


def test_what_is_like_nothing_finds_nothing(names):
    assert names.nearest("model.preset", "zzz") == []


async def test_the_nearest_name_is_offered_and_taken_only_where_it_was_pointed_at():
    async with interview() as (app, pilot):
        await press(app, pilot, "tab")
        text = await type_text(app, pilot, "lama 3.1 70bb")
        assert "most like them" in text
        assert "llama-3.1-70b" in text
        text = await press(app, pilot, "enter")
        assert "model.preset" not in app.work.answers.values
        assert app.focused is row(app, "model.preset").entry
        assert "the catalog knows no model 'lama 3.1 70bb'" in text
        await press(app, pilot, "down", "enter")
        assert app.work.answers.values["model.preset"] == "llama-3.1-70b"


async def test_a_long_list_of_names_says_how_many_more_there_are():
    async with interview() as (app, pilot):
        await press(app, pilot, "tab")
        assert "more; type another word" in await type_text(app, pilot, "llama")


async def test_a_name_typed_before_the_catalog_is_loaded_is_looked_up_when_it_is():
    async with interview() as (app, pilot):
        await press(app, pilot, "tab")
        entry = row(app, "model.preset").entry
        assert isinstance(entry, PickerEntry)
        app.names._adviser = Adviser(advise=small_engine)
        await pilot.press(*"llama", "space", "7", "0")
        assert not entry.matches
        app.names._adviser = app.adviser
        app.show_work()
        await rest(app, pilot)
        assert "llama-3.1-70b" in ids(entry.matches)


async def test_a_design_that_arrives_while_keys_are_on_their_way_leaves_the_typed_text_alone():
    async with interview() as (app, pilot):
        await press(app, pilot, "pagedown", "pagedown", "tab", "tab", "5")
        entry = row(app, "budget.purchase").entry
        assert isinstance(entry, TextEntry)
        with entry.prevent(Input.Changed):
            entry.value = "5k"
        app.show_work()
        assert entry.value == "5k"


async def test_a_choice_on_its_way_is_not_put_back():
    async with interview() as (app, pilot):
        entry = row(app, "workload.kind").entry
        assert isinstance(entry, ChoiceEntry)
        entry.pick("vision")
        app.show_work()
        assert entry.value == "vision"
        await rest(app, pilot)
        assert app.work.answers.values == {"workload.kind": "vision"}


# --- invalid text


async def test_enter_stays_on_an_invalid_last_field_and_back_does_not():
    async with interview() as (app, pilot):
        await press(app, pilot, "pagedown", "pagedown", "shift+tab")
        last = app.focused
        example = app.screen.focused_row().question.field.example
        await type_text(app, pilot, "cheap")
        text = await press(app, pilot, "enter")
        assert app.focused is last
        assert "step 3 of 5" in text
        assert "✗ " in text
        assert f"such as {example!r}" in " ".join(text.split())
        assert "step 2 of 5" in await press(app, pilot, "pageup")


async def test_coming_back_to_a_page_goes_to_its_first_invalid_field_with_the_message_in_view():
    async with interview() as (app, pilot):
        await app.go_to_question("facility.pue")
        await type_text(app, pilot, "lots")
        text = await press(app, pilot, "pagedown", "pageup")
        assert app.focused is row(app, "facility.pue").entry
        shown = next(number for number, line in enumerate(screen_lines(app)) if "lots" in line)
        assert "✗" in screen_lines(app)[shown + 1], text


# --- what is assumed, and what is not known


async def test_what_the_design_assumes_stands_in_the_empty_fields_and_in_the_review():
    async with interview(engine=assuming) as (app, pilot):
        text = await press(app, pilot, "pagedown")
        line = next(line for line in text.split("\n") if "Sequence length" in line)
        assert "~ 8192" in line
        assert "assumed" in line
        assert "~ 1.41107T" in text
        assert "~ text" in text
        text = await press(app, pilot, "f7")
        for label, value in (("Sequence length", "~ 8192"), ("Kind of data", "~ text")):
            await press(app, pilot, "slash")
            text = await type_text(app, pilot, label.lower())
            assert any(label in line and value in line and "assumed" in line for line in text.split("\n"))
            await press(app, pilot, "escape")
        assert app.work.answers.values == {}


async def test_a_question_mark_in_a_choice_is_shown_as_not_known():
    async with interview() as (app, pilot):
        await press(app, pilot, "4")
        text = await press(app, pilot, "question_mark")
        assert app.work.answers.values["workload.kind"] == UNKNOWN
        line = next(line for line in text.split("\n") if line[2:].startswith("What kind of work"))
        assert line.rstrip().endswith("? unknown")
        assert "I don't know: pretraining is assumed" in text


async def test_the_space_bar_never_changes_a_given_choice():
    async with interview() as (app, pilot):
        await press(app, pilot, "4", "space", "space")
        assert app.work.answers.values["workload.kind"] == "fine_tuning_qlora"


async def test_the_hint_names_the_key_for_i_dont_know_and_a_click_on_it_answers():
    async with interview() as (app, pilot):
        text = await press(app, pilot, "tab")
        assert "F8 I don't know" in text
        await pilot.click("#hint", offset=(4, 1))
        await rest(app, pilot)
        assert app.work.answers.values["model.preset"] == UNKNOWN


async def test_each_page_says_how_much_of_it_is_answered():
    async with interview() as (app, pilot):
        assert "0 of 6 answered" in await press(app, pilot, "pagedown", "pageup")
        assert "1 of 6 answered" in await press(app, pilot, "1")
        await press(app, pilot, "f1")
        assert "Workload 1 of 6 answered" in " ".join(cast("Any", app.screen)._text.plain.split())


def test_no_text_of_the_interview_shows_the_code_of_a_choice_or_of_a_product():
    catalog = load_catalog()
    products = [each.id for shelf in (catalog.gpus, catalog.nodes, catalog.models) for each in shelf if "-" in each.id]
    for question in load_interview().questions:
        assert "_" not in question.typical, question.key
        named = [each for each in products if each in question.typical.split()]
        assert not named or "=" in question.typical, question.key  # where a name of the catalog is to be typed, it is shown as it is typed
        for choice in question.field.choices:
            if choice_label(choice) != choice and len(choice) > 3:
                assert choice not in question.typical.replace(choice_label(choice), ""), question.key


# --- terminals that are too small


async def test_keys_do_nothing_unseen_below_the_smallest_size_save_the_one_that_quits():
    async with interview() as (app, pilot):
        await pilot.resize_terminal(*TINY)
        await rest(app, pilot)
        await pilot.press("3", "pagedown", "f4", "ctrl+p")
        await pilot.pause()
        assert "The terminal is too small" in screen_text(app)
        assert app.work.answers.values == {}
        await pilot.resize_terminal(80, 24)
        await rest(app, pilot)
        assert "step 1 of 5" in screen_text(app)
        await pilot.resize_terminal(*TINY)
        await pilot.press("alt+q")  # a terminal may keep ctrl+q for itself
        await pilot.pause()
        assert app.return_code == 0


async def test_a_dialog_makes_room_for_the_message_that_the_terminal_is_too_small():
    async with interview() as (app, pilot):
        await press(app, pilot, "f1")
        await pilot.resize_terminal(*TINY)
        await rest(app, pilot)
        assert "Why it is asked" not in screen_text(app)
        await pilot.press("escape")
        await pilot.resize_terminal(80, 24)
        await rest(app, pilot)
        assert "Why it is asked" in screen_text(app)
