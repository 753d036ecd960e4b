"""The interview: going back and forth, typing, units, what is not known, questions that come and go."""

from __future__ import annotations

import pytest
from textual.screen import Screen
from textual.widgets import Input

from rules.answers import UNKNOWN
from tests.screen_text import screen_lines, screen_text
from tests.tui.support import NARROW, WIDE, interview, press, rest, row, type_text
from wizard.interview import load_interview
from wizard.tui.widgets.choice_entry import ChoiceEntry
from wizard.tui.widgets.text_entry import TextEntry


async def test_opening_every_step_records_no_answer():
    async with interview() as (app, pilot):
        for _ in load_interview().steps[1:]:
            await press(app, pilot, "pagedown")
        assert app.work.answers.values == {}
        assert app.work.session.past == ()


async def test_answers_of_all_steps_survive_back_and_next():
    async with interview() as (app, pilot):
        await press(app, pilot, "1")
        await press(app, pilot, "pagedown", "tab", "tab")
        await type_text(app, pilot, "8192")
        await press(app, pilot, "pagedown", "tab")
        await type_text(app, pilot, "54 days")
        await press(app, pilot, "pagedown")
        await type_text(app, pilot, "Germany")
        await press(app, pilot, "pagedown", "tab", "tab", "tab", "2")
        expected = {
            "workload.kind": "pretraining",
            "training.sequence_length": 8192,
            "scale.deadline": "54 days",
            "facility.region": "Germany",
            "preferences.fabric": "infiniband",
        }
        assert app.work.answers.values == expected
        for _ in range(4):
            await press(app, pilot, "pageup")
        assert row(app, "workload.kind").entry.value == "pretraining"
        for _ in range(2):
            await press(app, pilot, "pagedown")
        assert row(app, "scale.deadline").entry.value == "54 days"
        assert app.work.answers.values == expected


async def test_an_invalid_value_is_kept_and_never_blocks_going_back():
    async with interview() as (app, pilot):
        await press(app, pilot, "pagedown", "pagedown", "tab")
        text = await type_text(app, pilot, "54 apples")
        assert "unknown unit 'apples'" in text
        assert "such as '54 days'" in row(app, "scale.deadline").problem
        assert "scale.deadline" not in app.work.answers.values
        text = await press(app, pilot, "pageup")
        assert "step 2 of 5" in text
        assert "✗ Scale" in text
        await press(app, pilot, "pagedown")
        assert row(app, "scale.deadline").entry.value == "54 apples"
        assert row(app, "scale.deadline").problem


async def test_the_message_stands_under_the_field_and_goes_when_the_value_is_right():
    async with interview() as (app, pilot):
        await press(app, pilot, "pagedown", "pagedown", "tab")
        await type_text(app, pilot, "54 dax")
        lines = screen_lines(app)
        at = next(number for number, line in enumerate(lines) if "Finish within" in line)
        assert "✗" in lines[at + 1]
        assert "until then" not in row(app, "scale.deadline").problem
        await press(app, pilot, "backspace", "y")
        assert row(app, "scale.deadline").problem == ""
        assert app.work.answers.values["scale.deadline"] == "54 day"
        await press(app, pilot, "tab", "shift+tab")
        await type_text(app, pilot, "z")
        assert row(app, "scale.deadline").problem.endswith("; until then 54 days counts")


async def test_units_are_accepted_in_the_field_and_a_wrong_dimension_names_the_expected_one():
    async with interview() as (app, pilot):
        await app.go_to_question("facility.total_power")
        await rest(app, pilot)
        for typed, kilowatts in (("4MW", 4000), ("4 000 kW", 4000), ("4e6 W", 4000), ("40", 40)):
            await type_text(app, pilot, typed)
            assert app.work.answers.number("facility.total_power") == pytest.approx(kilowatts)
            assert row(app, "facility.total_power").entry.value == typed
            await press(app, pilot, "ctrl+l")
        await type_text(app, pilot, "4 days")
        assert "expected a quantity in kW" in row(app, "facility.total_power").problem


async def test_i_dont_know_is_one_key_and_shows_what_is_assumed():
    async with interview() as (app, pilot):
        await press(app, pilot, "pagedown", "pagedown", "tab")
        text = await press(app, pilot, "f8")
        assert app.work.answers.values["scale.deadline"] == UNKNOWN
        assert "90 days is assumed: a quarter of a year" in text
        await press(app, pilot, "ctrl+l")
        assert "scale.deadline" not in app.work.answers.values


async def test_questions_appear_and_disappear_with_the_answers_they_depend_on():
    async with interview() as (app, pilot):
        text = await press(app, pilot, "pagedown", "pagedown")
        assert "Finish within" in text
        assert "Nodes" not in text
        text = await press(app, pilot, "2")
        assert "Finish within" not in text
        assert "Nodes" in text
        await press(app, pilot, "tab")
        text = await type_text(app, pilot, "8")
        assert "or GPUs" not in text
        assert [each.key for each in app.screen.rows()][:3] == ["scale.mode", "scale.nodes", "budget.purchase"]


async def test_undo_and_redo_take_one_visit_of_a_field_as_one_step():
    async with interview() as (app, pilot):
        await press(app, pilot, "pagedown", "pagedown", "tab")
        await type_text(app, pilot, "54 days")
        await press(app, pilot, "tab")
        await type_text(app, pilot, "3M USD")
        await press(app, pilot, "pagedown", "pageup", "ctrl+z")
        assert app.work.answers.values == {"scale.deadline": "54 days"}
        assert row(app, "budget.purchase").entry.value == ""
        await press(app, pilot, "ctrl+z")
        assert app.work.answers.values == {}
        await press(app, pilot, "ctrl+y", "ctrl+y")
        assert app.work.answers.values == {"scale.deadline": "54 days", "budget.purchase": "3M USD"}
        assert row(app, "budget.purchase").entry.value == "3M USD"


async def test_a_model_is_found_by_typing_a_part_of_its_name():
    async with interview() as (app, pilot):
        await press(app, pilot, "tab")
        text = await type_text(app, pilot, "405")
        assert "llama-3.1-405b" in text
        await press(app, pilot, "enter")
        assert app.work.answers.values["model.preset"] == "llama-3.1-405b"
        assert "or parameters" not in screen_text(app)


async def test_an_unknown_model_is_a_message_with_the_nearest_name():
    async with interview() as (app, pilot):
        await press(app, pilot, "tab")
        await type_text(app, pilot, "lama-3.1-70bb")
        await press(app, pilot, "tab")
        assert "model.preset" not in app.work.answers.values
        await press(app, pilot, "shift+tab")
        assert "the nearest is 'llama-3.1-70b'" in row(app, "model.preset").problem


async def test_several_choices_are_taken_with_space():
    async with interview() as (app, pilot):
        await app.go_to_question("facility.cooling")
        text = await press(app, pilot, "space", "right", "right", "space")
        assert app.work.answers.values["facility.cooling"] == ("air", "liquid")
        assert "[x] air" in text
        assert "[x] liquid" in text
        assert "[ ] immersion" in text


async def test_a_question_that_is_not_asked_beside_the_others_is_there_when_it_is_gone_to_or_answered():
    async with interview() as (app, pilot):
        await app.go_to_question("scale.nodes")  # "take more nodes" of a design whose size the deadline decides
        await rest(app, pilot)
        assert row(app, "scale.nodes").entry.has_focus
        await type_text(app, pilot, "1")
        app.work.sought.clear()
        text = await press(app, pilot, "backspace", "1", "6")  # empty in between: the field stays where it is
        assert app.work.answers.count("scale.nodes") == 16
        assert "Nodes               16" in text
        await press(app, pilot, "f7")
        text = await press(app, pilot, "slash", *"nodes", "enter")
        assert [each for each in text.splitlines() if "  Nodes  " in each and "16" in each]
        await app.go_to_question("own_server.nothing")
        await rest(app, pilot)
        assert any("no question here" in each.message for each in app._notifications)


async def test_an_answer_that_takes_another_away_says_so():
    async with interview() as (app, pilot):
        await app.go_to_question("scale.mode")
        await press(app, pilot, "2", "tab")
        await type_text(app, pilot, "12")
        text = await press(app, pilot, "shift+tab", "1")
        assert not app.work.answers.given("scale.nodes")
        assert any(each.message.startswith("Nodes 12 is taken back") for each in app._notifications)
        assert "  Nodes  " not in text
        await press(app, pilot, "2")  # back within the same visit: nothing is lost
        assert app.work.answers.count("scale.nodes") == 12


async def test_a_bare_number_says_in_which_unit_it_was_read():
    async with interview() as (app, pilot):
        await app.go_to_question("facility.total_power")
        assert "4000          " in (text := await type_text(app, pilot, "4000"))
        assert "you, in kW" in text
        text = await type_text(app, pilot, " kW")
        assert "you, in kW" not in text
        await app.go_to_question("budget.electricity_price")
        assert "in USD/kWh" in await type_text(app, pilot, "0.1")


async def test_setting_a_widget_from_the_session_posts_no_answer():
    async with interview() as (app, pilot):
        entry = row(app, "model.parameters").entry
        assert isinstance(entry, TextEntry)
        entry.show("70B")
        await rest(app, pilot)
        assert app.work.answers.values == {}


async def test_state_of_choices_is_told_by_signs_not_colour():
    async with interview() as (app, pilot):
        assert "~ pretraining" in screen_text(app)
        text = await press(app, pilot, "4")
        assert "● QLoRA" in text
        assert "○ pretraining" in text


async def test_mouse_chooses_goes_to_steps_and_presses_keys():
    async with interview(WIDE) as (app, pilot):
        entry = row(app, "workload.kind").entry
        assert isinstance(entry, ChoiceEntry)
        await pilot.click(entry, offset=(3, 1))
        await rest(app, pilot)
        assert app.work.answers.values["workload.kind"] == "fine_tuning_full"
        bar = screen_lines(app)[1]
        await pilot.click("#steps", offset=(bar.index("Datacenter") + 2, 0))
        await rest(app, pilot)
        assert "step 4 of 5" in screen_text(app)
        await pilot.click(".key-line", offset=(screen_lines(app)[-1].index("PgUp") + 1, 0))
        await rest(app, pilot)
        assert "step 3 of 5" in screen_text(app)


async def test_enter_goes_from_field_to_field_and_on_to_the_next_step():
    async with interview() as (app, pilot):
        count = len(app.screen.rows())
        await press(app, pilot, *["enter"] * count)
        assert "step 2 of 5" in screen_text(app)
        focused = app.screen.focused_row()
        assert focused is not None
        assert focused.key == "training.precision"


async def test_fields_hold_the_text_that_gives_the_same_answer_again():
    async with interview() as (app, pilot):
        await press(app, pilot, "pagedown", "tab", "tab", "tab", "tab")
        await type_text(app, pilot, "15.6T tokens")
        assert app.work.answers.number("training.tokens") == pytest.approx(15.6e12)
        await press(app, pilot, "ctrl+z", "ctrl+y")
        entry = row(app, "training.tokens").entry
        assert isinstance(entry, Input)
        assert entry.value == "15.6T tokens"


async def test_every_question_of_every_step_is_reachable_at_the_smallest_size():
    async with interview(NARROW) as (app, pilot):
        for step in load_interview().steps:
            for question in load_interview().of_step(step.id, app.work.answers):
                focused = app.screen.focused_row()
                assert focused is not None
                assert focused.key == question.key
                region = focused.entry.region
                assert app.screen.region.contains_region(region)
                await app.screen.run_action("accept_field")  # as Enter does, without the pause that Pilot makes after a key
                await rest(app, pilot)  # the page scrolls to the field after the focus has moved


async def test_choosing_a_model_that_is_the_last_field_of_its_page_stays_there():
    async with interview() as (app, pilot):
        await press(app, pilot, "tab")
        await type_text(app, pilot, "llama-3.1-40")
        text = await press(app, pilot, "enter")
        assert app.work.answers.values["model.preset"] == "llama-3.1-405b"
        assert "step 1 of 5" in text
        assert "step 2 of 5" in await press(app, pilot, "enter")


async def test_a_key_lays_nothing_out_anew_where_no_size_changes(monkeypatch):
    async with interview() as (app, pilot):
        await press(app, pilot, "pagedown", "tab", "tab")
        await type_text(app, pilot, "10")  # from here on the field is answered, and what follows has its size
        layouts = []
        original = Screen._refresh_layout
        monkeypatch.setattr(Screen, "_refresh_layout", lambda *args, **more: (layouts.append(1), original(*args, **more))[1])
        assert "1024" in await type_text(app, pilot, "24")
        assert app.work.answers.values["training.sequence_length"] == 1024
        assert layouts == []
