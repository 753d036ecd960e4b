"""Start, review, design, dialogs, palette and key line."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import pytest
from textual.command import CommandPalette
from textual.widgets import Input

from tests.screen_text import screen_lines, screen_text
from tests.tui.support import NARROW, TINY, WIDE, interview, press, rest, small_engine, type_text, wizard
from wizard.files import load
from wizard.situations import load_situations
from wizard.tui.actions import ACTIONS, actions_of
from wizard.tui.palette import WizardCommands
from wizard.tui.screens.dialogs import FileDialog
from wizard.tui.widgets.key_line import key_line
from wizard.tui.widgets.pointed_list import PointedList

SCOPES = ("start", "interview", "list", "compare", "look", "sliders")


@pytest.mark.parametrize("scope", SCOPES)
def test_the_key_line_fits_80_columns(scope):
    assert 0 < key_line(scope).cell_length <= 80


def test_every_action_is_described_and_its_keys_are_its_own():
    for scope in SCOPES:
        keys = [key for action in actions_of(scope) for key in action.keys]
        assert len(keys) == len(set(keys))
    for action in ACTIONS:
        assert action.title
        assert action.text


async def test_the_palette_holds_every_action_with_its_keys():
    async with interview() as (app, pilot):
        await rest(app, pilot)
        titles = [title for title, _, _ in WizardCommands(app.screen).commands()]
        for action in ACTIONS:
            assert action.id == "command_palette" or any(title.startswith(action.title) and action.all_keys in title for title in titles), (
                action.id
            )
        assert any(title.startswith("Question: Model") for title in titles)


async def test_the_palette_opens_with_its_key_and_runs_a_command():
    async with interview() as (app, pilot):
        await pilot.press("ctrl+p")
        await pilot.pause()
        assert isinstance(app.screen, CommandPalette)
        await pilot.press(*"step 4".replace(" ", "_").replace("_", " ").split(" ")[0])
        await pilot.press("space", "4")
        for _ in range(20):
            await pilot.pause(0.05)
        await pilot.press("enter", "enter")
        await rest(app, pilot)
        assert "step 4 of 5" in screen_text(app)


async def test_review_lists_answers_and_change_comes_back_to_it():
    async with interview() as (app, pilot):
        await press(app, pilot, "1")
        text = await press(app, pilot, "f7")
        assert "Check your answers" in text
        line = next(line for line in screen_lines(app) if "What kind of work" in line)
        assert "pretraining" in line
        assert line.rstrip().endswith("you")
        await press(app, pilot, "down", "enter")
        focused = cast("Any", app.screen).focused_row()
        assert focused.key == "model.preset"
        await type_text(app, pilot, "llama-3.1-8b")
        text = await press(app, pilot, "enter")
        assert "Check your answers" in text
        assert "llama-3.1-8b" in text


async def test_the_design_page_shows_figures_reasons_and_what_stands_behind_a_line():
    async with interview(WIDE) as (app, pilot):
        text = await press(app, pilot, "f4")
        assert "2 × Example Server, 16 GPUs" in text
        assert "62.1 of 79.6 GiB" in text
        assert "1.4M USD" in text
        assert "InfiniBand NDR" in text
        await press(app, pilot, "down")
        text = await press(app, pilot, "enter")
        assert "Each step moves 37 GB." in text
        assert "400 Gb/s" in text
        assert "G2a.2" in text
        text = await press(app, pilot, "escape")
        assert "Compare" in text


async def test_every_page_of_the_design_is_there():
    pages = ("2 × Other Server", "needs 141 GB, has 80 GB", "a usual time", "price unknown", "40 GiB", "What bandwidth is reached?")
    async with interview() as (app, pilot):
        await press(app, pilot, "f4")
        for shown in pages:
            assert shown in await press(app, pilot, "right")


async def test_a_conflict_says_what_to_change_and_does_not_stop_anything(tmp_path):
    async with interview() as (app, pilot):
        await press(app, pilot, "pagedown", "pagedown", "tab", "tab")
        text = await type_text(app, pilot, "500k USD")
        assert "✗ CONFLICT  The budget buys one server; two are needed." in text
        assert "Change one: budget to 2M USD · fewer nodes" in text
        assert "✗ 1 conflict" in text
        text = await press(app, pilot, "pagedown")
        assert "step 4 of 5" in text
        await press(app, pilot, "ctrl+s")
        await press(app, pilot, *["backspace"] * 20)
        await type_text(app, pilot, "poor.toml")
        await press(app, pilot, "enter")
        document = load(tmp_path / "poor.toml").document
        assert document is not None
        assert len(document["conflict"]) == 1
        assert document["design"]["summary"]["fits"] is False


async def test_of_a_long_conflict_the_reason_is_cut_and_not_the_way_out():
    def long_winded(answers, catalog):
        design = small_engine(answers, catalog)
        longer = [replace(each, because=" ".join([each.because] * 9)) if each.remedies else each for each in design.findings]
        return replace(design, findings=tuple(longer))

    async with interview(engine=long_winded) as (app, pilot):
        await press(app, pilot, "pagedown", "pagedown", "tab", "tab")
        lines = (await type_text(app, pilot, "500k USD")).splitlines()
        begin = next(number for number, line in enumerate(lines) if "CONFLICT" in line)
        assert lines[begin + 2].rstrip().endswith("…")
        assert "Change one: budget to 2M USD · fewer nodes" in lines[begin + 3]
        await pilot.click("#conflict")
        await rest(app, pilot)
        assert "Change: budget to 2M USD" in screen_text(app)  # a click on it leads to its remedies


async def test_a_remedy_can_be_applied_and_undone():
    async with interview() as (app, pilot):
        await press(app, pilot, "pagedown", "pagedown", "tab", "tab")
        await type_text(app, pilot, "500k USD")
        await press(app, pilot, "f4")
        text = await press(app, pilot, "enter")
        assert "Change: budget to 2M USD" in text
        text = await press(app, pilot, "enter")
        assert "Before and after: budget to 2M USD" in text
        assert any("conflicts" in line and "1" in line and "0" in line and "better" in line for line in text.splitlines())
        assert app.work.answers.values["budget.purchase"] == "500k USD"
        text = await press(app, pilot, "enter")
        assert app.work.answers.values["budget.purchase"] == "2M USD"
        assert "CONFLICT" not in text
        await press(app, pilot, "ctrl+z")
        assert app.work.answers.values["budget.purchase"] == "500k USD"


async def test_an_assumption_leads_to_its_question():
    async with interview() as (app, pilot):
        await press(app, pilot, "f4", "right", "right", "right", "down")
        text = await press(app, pilot, "enter")
        assert "answer “Run for”" in text
        await press(app, pilot, "enter")
        focused = cast("Any", app.screen).focused_row()
        assert focused.key == "budget.years"


async def test_a_long_help_scrolls_and_keeps_its_last_line():
    async with interview() as (app, pilot):
        text = await press(app, pilot, "f1")
        assert "Esc closes" in text
        before = text
        assert await press(app, pilot, "pagedown") != before


async def test_a_file_that_exists_is_replaced_only_when_confirmed(tmp_path):
    (tmp_path / "kept.toml").write_text("precious")
    async with interview() as (app, pilot):
        await press(app, pilot, "1", "ctrl+s")
        await press(app, pilot, *["backspace"] * 20)
        await type_text(app, pilot, "kept.toml")
        text = await press(app, pilot, "enter")
        assert "kept.toml exists; Enter again replaces it" in text
        assert (tmp_path / "kept.toml").read_text() == "precious"
        await press(app, pilot, "enter")
        assert "example" in (tmp_path / "kept.toml").read_text()


async def test_an_exception_in_the_engine_is_a_visible_row_and_the_wizard_goes_on():
    async with interview() as (app, pilot):
        await press(app, pilot, "pagedown", "pagedown", "pagedown")
        text = await type_text(app, pilot, "nowhere")
        assert "✗ RuntimeError: rule power.example failed on purpose" in text
        assert "2 × Example Server" in text
        text = await press(app, pilot, "backspace")
        assert "failed on purpose" not in text


async def test_where_no_design_comes_out_every_page_says_why_and_ctrl_c_says_what_quits():
    def engine(answers, catalog):
        raise RuntimeError("failed on purpose")

    async with interview(engine=engine) as (app, pilot):
        for key in ("f4", "f5", "f6", "ctrl+r"):
            text = await press(app, pilot, key)
            assert "RuntimeError: failed on purpose" in text, key
            assert "being worked out" not in text, key
        await press(app, pilot, "escape", "f4", "ctrl+c")
        assert [each.message for each in app._notifications] == ["^q quits; your answers are kept."]


async def test_advice_on_older_answers_is_dropped():
    seen = []

    def engine(answers, catalog):
        seen.append(answers.count("scale.nodes"))
        return small_engine(answers, catalog)

    async with interview(engine=engine) as (app, pilot):
        await press(app, pilot, "pagedown", "pagedown", "2", "tab", "3", "6")
        assert app.work.design is not None
        assert app.work.design.figures is not None
        assert app.work.design.figures.nodes == 36
        assert seen[-1] == 36


async def test_save_asks_for_a_name_once_and_the_file_reopens_as_it_was(tmp_path):
    async with interview() as (app, pilot):
        await press(app, pilot, "1", "pagedown", "pagedown", "tab")
        await type_text(app, pilot, "54 days")
        await press(app, pilot, "f10")
        await press(app, pilot, *["backspace"] * 20)
        await type_text(app, pilot, "mine")
        await press(app, pilot, "enter")
        assert "mine · saved" in screen_text(app)
        await press(app, pilot, "tab")
        await type_text(app, pilot, "9M USD")
        assert "not saved yet" in screen_text(app)
        await press(app, pilot, "ctrl+s")
        assert "mine · saved" in screen_text(app)
        kept = app.work.answers.values
    async with wizard(file=str(tmp_path / "mine.toml")) as (app, pilot):
        assert app.work.answers.values == kept
        assert "mine · saved" in screen_text(app)
        document = load(tmp_path / "mine.toml").document
        assert document is not None
        assert document["meta"]["name"] == "mine"


async def test_unfinished_work_is_offered_and_resumed():
    async with interview() as (app, pilot):
        await press(app, pilot, "3")
    async with wizard() as (app, pilot):
        assert "Resume unfinished work" in screen_text(app)
        await press(app, pilot, "enter")
        assert app.work.answers.values == {"workload.kind": "fine_tuning_lora"}
        assert "● LoRA" in screen_text(app)


async def test_new_work_puts_unfinished_work_aside_instead_of_losing_it():
    async with interview() as (app, pilot):
        await press(app, pilot, "3")
    async with wizard() as (app, pilot):
        await press(app, pilot, "down", "enter", "5")
        assert app.work.answers.values == {"workload.kind": "vision"}
    async with wizard() as (app, pilot):
        assert screen_text(app).count("Resume unfinished work") == 2


async def test_unsaved_changes_of_a_file_are_resumed_with_it_and_undo_gives_the_file_back(tmp_path):
    path = tmp_path / "eight.toml"
    path.write_text("[scale]\nnodes = 8\nmode = 'fixed'\n")
    async with wizard(file=str(path)) as (app, pilot):
        await press(app, pilot, "2")
    async with wizard(file=str(path)) as (app, pilot):
        assert app.work.answers.values["workload.kind"] == "fine_tuning_full"
        await press(app, pilot, "ctrl+z")
        assert app.work.answers.values == {"scale.nodes": 8, "scale.mode": "fixed"}


async def test_a_file_that_cannot_be_read_is_one_message(tmp_path):
    path = tmp_path / "broken.toml"
    path.write_text("[scale]\nnodes = 'many'\n")
    async with wizard() as (app, pilot):
        await press(app, pilot, "ctrl+o")
        await type_text(app, pilot, "broken.toml")
        await pilot.press("enter")
        await pilot.pause()
        messages = [each.message for each in app._notifications]
        assert any("broken.toml: scale.nodes: " in message for message in messages)


async def test_each_situation_starts_with_answers_that_are_marked():
    async with wizard() as (app, pilot):
        for situation in load_situations():
            await app.start_situation(situation.id)
            await rest(app, pilot)
            assert set(app.work.answers.values) == set(situation.answers), situation.id
            assert set(app.work.answers.provenance.values()) == {"preset"}, situation.id
            preset = situation.answers.get("model.preset")
            assert preset is None or preset in app.adviser.catalog.models


async def test_wide_terminals_show_the_design_beside_the_questions_and_narrow_ones_do_not():
    async with interview(WIDE) as (app, _):
        assert "Memory per GPU" in screen_text(app)
        assert any(line.startswith(" design.") for line in screen_lines(app)[:6])  # the last word of what the step is about
    async with interview(NARROW) as (app, _):
        assert "Memory per GPU" not in screen_text(app)


async def test_a_tiny_terminal_gets_a_message_and_everything_back_when_it_grows():
    async with interview() as (app, pilot):
        await pilot.resize_terminal(*TINY)
        await rest(app, pilot)
        text = screen_text(app)
        assert "The terminal is too small" in text
        assert "What kind of work" not in text
        await pilot.resize_terminal(*NARROW)
        await rest(app, pilot)
        assert "What kind of work" in screen_text(app)


async def test_help_explains_the_focused_question_and_lists_the_keys():
    async with interview() as (app, pilot):
        await press(app, pilot, "pagedown", "pagedown", "tab")
        text = await press(app, pilot, "f1")
        assert "How many days may one training run take?" in text
        assert "Why it is asked" in text
        assert "90 days is assumed" in text
        assert "The term" in text
        assert "scale.deadline" in app.screen._text.plain
        await press(app, pilot, "escape")
        focused = cast("Any", app.screen).focused_row()
        assert focused.key == "scale.deadline"


async def test_the_live_strip_counts_and_shows_the_limits():
    async with interview() as (app, pilot):
        await press(app, pilot, "pagedown", "pagedown", "tab")
        text = await type_text(app, pilot, "9 days")
        assert "✗ 12.5 of 9 days" in text
        assert "62.1/79.6 GiB" in text
        assert "▲ 1 warning" in text
        assert "? 1 question" in text


async def test_lists_point_with_a_sign():
    async with interview() as (app, pilot):
        await press(app, pilot, "f7")
        assert any(line.startswith("›") and "What kind of work" in line for line in screen_lines(app))
        assert app.screen.query_one(PointedList).has_focus


async def test_light_theme_and_ascii_keep_the_meaning(monkeypatch):
    from wizard import glyphs

    monkeypatch.setenv("CLUSTER_WIZARD_ASCII", "1")
    glyphs.ascii_only.cache_clear()
    try:
        async with interview() as (app, pilot):
            app.theme = "textual-light"
            text = await press(app, pilot, "4")
            assert "(*) QLoRA" in text
            assert "( ) LoRA" in text
            assert "ok no conflict" in text
    finally:
        glyphs.ascii_only.cache_clear()


async def test_the_file_dialog_completes_names(tmp_path):
    (tmp_path / "alpha.toml").write_text("")
    async with wizard() as (app, pilot):
        await press(app, pilot, "ctrl+o")
        await type_text(app, pilot, "al")
        await press(app, pilot, "tab")
        assert app.screen.query_one(Input).value == "alpha.toml"
        await press(app, pilot, "enter")
        assert app.work.path == tmp_path / "alpha.toml"


@pytest.mark.parametrize(("name", "problem"), [("~nobody-of-this-name/x.toml", "no such file"), ("a" * 300, "file name too long")])
async def test_a_file_name_that_cannot_be_is_said_to_be_so(name, problem):
    async with wizard() as (app, pilot):
        await app.action_open_file()
        await pilot.pause()
        app.screen.query_one("#file-name").value = name
        assert problem in await press(app, pilot, "enter")


async def test_a_name_typed_to_save_by_takes_the_place_of_the_proposed_one():
    async with wizard() as (app, pilot):
        dialog = FileDialog("Save the design as", "my-cluster.toml", must_exist=False)
        app.push_screen(dialog)
        await pilot.pause()
        await type_text(app, pilot, "x")
        assert dialog.query_one("#file-name").value == "x"
