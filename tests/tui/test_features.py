"""Features of the wizard that no other file of tests is about; tests/tui/feature_table.toml names all."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from textual import events

from rules.cases import all_rules
from rules.findings import Kind
from tests.screen_text import screen_lines, screen_text
from tests.tui.support import NARROW, WIDE, interview, press, rest, row, small_engine, type_text, wizard
from tests.tui.test_goldens import same_screen
from wizard.files import design_text, load
from wizard.interview import load_interview
from wizard.places import examples_folder
from wizard.session import Session
from wizard.tui import app as app_module
from wizard.tui.actions import ACTIONS, actions_of
from wizard.tui.help import help_text
from wizard.tui.screens.base import SMALLEST_WIDTH
from wizard.tui.screens.compare import CompareScreen
from wizard.tui.screens.interview import InterviewScreen
from wizard.tui.screens.jump import JumpDialog
from wizard.tui.screens.lists import DesignScreen
from wizard.tui.screens.look import LookScreen
from wizard.tui.screens.start import _description
from wizard.tui.widgets.step_bar import step_line, step_state
from wizard.work import Work

TUI = Path(app_module.__file__).parent
SWALLOWED = ("ctrl+h", "ctrl+i", "ctrl+j", "ctrl+m", "ctrl+b", "ctrl+a", "ctrl+enter", "f11")
"""Keys that terminals, multiplexers or editors keep to themselves or cannot tell from others."""


async def test_a_letter_jumps_to_any_step_field_or_screen():
    async with interview() as (app, pilot):
        text = await press(app, pilot, "f12")
        assert " 4  Datacenter" in text
        assert "step 4 of 5" in await press(app, pilot, "4")
        await press(app, pilot, "f12")
        wanted = app.screen_stack[-2].rows()[2]
        await press(app, pilot, "c")
        assert app.screen.focused_row().key == wanted.key
        await press(app, pilot, "f12", "D")
        assert isinstance(app.screen, LookScreen)


async def test_a_key_held_with_alt_is_no_letter():
    """Terminals send Alt and j as Escape and j, which the library hands on as "alt+j" with the letter j."""
    async with interview() as (app, pilot):
        for _ in range(2):  # on choices, and on a field of text
            app.post_message(events.Key("alt+j", "j"))
            await rest(app, pilot)
            assert isinstance(app.screen, JumpDialog)
            await press(app, pilot, "escape", "tab")
        assert not app.work.answers.values
        assert not app.work.session.drafts


@pytest.mark.parametrize("width", [SMALLEST_WIDTH, 80, 104, 200])
def test_the_step_bar_fits_every_width(width):
    steps = load_interview().steps
    for here in (steps[0].id, steps[-1].id):
        line = step_line(load_interview(), Session(), here, {step.id for step in steps}, width).plain.rstrip()
        assert line.endswith("Design")
        assert len(line) <= width


async def test_the_step_bar_tells_the_state_of_every_step():
    async with interview() as (app, pilot):
        await press(app, pilot, "1", "pagedown", "pagedown", "tab")
        text = await type_text(app, pilot, "54 apples")
        text = await press(app, pilot, "pagedown")
        bar = next(line for line in text.splitlines() if "Workload" in line and "Review" in line)
        signs = dict(re.findall(r"([✓●○✗]) (\w+)", bar)[::1])
        assert [sign for sign, _ in re.findall(r"([✓●○✗]) (\w+)", bar)] == ["✓", "✓", "✗", "●", "○"]
        assert signs
        states = {"✓": "done", "●": "here", "○": "open", "✗": "wrong"}
        for (sign, _), step in zip(re.findall(r"([✓●○✗]) (\w+)", bar), load_interview().steps, strict=True):
            found = step_state(load_interview(), app.work.session, step, app.screen.step, app.work.visited)
            assert states[sign] == found


async def test_a_message_names_the_range_and_an_example():
    async with interview() as (app, pilot):
        await app.go_to_question("facility.pue")
        await type_text(app, pilot, "9")
        problem = row(app, "facility.pue").problem
        assert "from 1 to 4" in problem
        assert "1.3" in problem


async def test_every_value_says_where_it_came_from_on_screen_and_in_the_file(tmp_path):
    async with wizard() as (app, pilot):
        await app.start_situation("pretrain-8b")
        await rest(app, pilot)
        text = await press(app, pilot, "2")
        assert re.search(r"● full fine-tuning.* you", text)
        assert re.search(r"llama-3.1-8b +preset", text)
        text = await press(app, pilot, "pagedown")
        assert re.search(r"bf16.*~ default", text)
        written = design_text(app.work.design, {"name": "x"})
        path = tmp_path / "d.toml"
        path.write_text(written)
        assert load(path).answers.provenance["model.preset"] == "preset"
        assert load(path).answers.provenance["workload.kind"] == "you"


async def test_the_last_answer_is_marked_with_its_reason():
    async with interview(WIDE) as (app, pilot):
        await app.go_to_question("budget.purchase")
        text = await type_text(app, pilot, "500k USD")
        assert "» last answer: Buy for at most" in text
        shown = app.screen.query_one("#design-text")._shown.plain
        assert "because The budget buys one server; two are needed." in " ".join(shown.split())
        assert re.search(r"3»Fabric", text)
        await pilot.resize_terminal(*NARROW)  # no pane beside the questions: the page one key away says the same
        text = await press(app, pilot, "f4")
        assert "» last answer: Buy for at most" in text
        assert "because The budget buys one server; two are needed." in " ".join(text.split())


async def test_an_amount_in_another_currency_asks_for_its_rate_right_there():
    def counted(answers, catalog):
        answers.number("budget.purchase")  # as the real engine does: no rate, no design
        return small_engine(answers, catalog)

    async with interview(NARROW, engine=counted) as (app, pilot):
        app.work.first_only = True
        await app.go_to_step("scale")
        await press(app, pilot, "tab", "tab")
        text = await type_text(app, pilot, "40M EUR")
        assert "✗ Buy for at most: no rate of 'EUR' is known; give its worth in Exchange rates, such as" in " ".join(text.split())
        assert "✗ not up to date  ▲ 1 warning" in text
        assert "Exchange rates      e.g. EUR = 1.08" in text  # though it is none of the first ten
        await press(app, pilot, "tab")
        text = await type_text(app, pilot, "EUR = 1.08")
        assert "not up to date" not in text
        assert "✓ no conflict" in text


async def test_the_strip_stands_on_every_step_at_80_by_24():
    async with interview(NARROW) as (app, pilot):
        app.change(app.work.session.answer("budget.purchase", "3M USD").answer("facility.total_power", "40 kW"))
        for step in load_interview().steps:
            await app.go_to_step(step.id)
            await rest(app, pilot)
            strip = "\n".join(screen_lines(app)[-4:-1])
            for part in ("16 GPUs", "21 of 40 kW", "1.4M of 3M USD", "no conflict", "1 assumption", "1 question"):
                assert part in strip, (step.id, part)


async def test_text_alone_tells_conflict_warning_assumption_and_question_apart():
    async with interview(NARROW) as (app, pilot):
        await app.go_to_question("budget.purchase")
        text = await type_text(app, pilot, "500k USD")
        for part in ("✗ 1 conflict", "▲ 1 warning", "~ 1 assumption", "? 1 question", "✗ CONFLICT"):
            assert part in text, part


@pytest.mark.parametrize("kind", [Kind.REJECT, Kind.WARNING])
def test_every_conflict_and_warning_says_what_to_change_check_or_ask(kind):
    silent = [rule.id for rule in all_rules().values() if rule.kind is kind and not (rule.fix or rule.ask)]
    advice = [id_ for id_ in silent if not re.search(_INSTRUCTS, all_rules()[id_].because)]
    assert not advice


_INSTRUCTS = re.compile(
    r"\b(until|unless|use|give|take|set|ask|check|raise|lower|leave|look|choose|keep|plan|count|expect|say|needs?|should|must|so that|"
    r"is better|instead|or |do not|does not|without|only)\b",
    re.IGNORECASE,
)
"""Words with which a sentence without a remedy says what follows from it for the reader."""


def test_every_question_can_be_preset():
    for question in load_interview().questions:
        declared = question.field
        session = Session().answer(question.key, declared.example, "preset")
        assert session.answers.given(question.key), question.key


@pytest.mark.parametrize("scope", ["start", "interview", "list", "compare", "look", "sliders"])
def test_help_lists_every_action_of_its_screen_once(scope):
    lines = help_text(None, Work(), scope, warm=False).plain.splitlines()
    for action in actions_of(scope):
        if action.keys:
            assert len([line for line in lines if line.strip().startswith(action.all_keys) and f"{action.title}." in line]) == 1, action.id


def test_no_key_is_one_that_terminals_swallow_and_main_actions_have_two_ways():
    for action in ACTIONS:
        assert not set(action.keys) & set(SWALLOWED), action.id
    for action in ACTIONS:
        function_keys_only = action.keys and all(re.fullmatch(r"f\d+", key) for key in action.keys)
        assert not function_keys_only or action.id in REACHED_OTHERWISE, action.id


REACHED_OTHERWISE = {"explain", "show_design", "review_answers", "vendor_questions", "dont_know"}
"""Actions whose keys are function keys only: each can be clicked (key line, step bar, tabs, hint), typed, or found in the palette."""


async def test_the_mouse_changes_an_answer_of_the_review_and_turns_tabs():
    async with interview() as (app, pilot):
        await press(app, pilot, "f7")
        lines = screen_lines(app)
        line = next(number for number, each in enumerate(lines) if "Optimizer" in each)
        await pilot.click(offset=(6, line))
        await rest(app, pilot)
        assert isinstance(app.screen, InterviewScreen)
        assert app.screen.focused_row().key == "training.optimizer"
        await press(app, pilot, "f4")
        lines = screen_lines(app)
        line = next(number for number, each in enumerate(lines) if "Compare" in each)
        await pilot.click(offset=(lines[line].index("Parts") + 1, line))
        await rest(app, pilot)
        assert "price unknown" in screen_text(app)


@pytest.mark.parametrize("size", [(80, 24), (120, 36), (200, 60), (50, 15)])
async def test_the_screens_at_four_sizes(size):
    async with interview(size) as (app, pilot):
        if size == (50, 15):
            same_screen("small-50x15", screen_text(app))
            return
        name = f"{size[0]}x{size[1]}"
        app.change(app.work.session.answer("workload.kind", "pretraining"))
        await rest(app, pilot)
        same_screen(f"interview-{name}", screen_text(app))
        same_screen(f"review-{name}", await press(app, pilot, "f7"))
        same_screen(f"compare-{name}", await press(app, pilot, "f5"))
        same_screen(f"sliders-{name}", await press(app, pilot, "ctrl+r"))
        same_screen(f"help-{name}", await press(app, pilot, "escape", "f1"))


def test_colours_come_from_the_theme_only_and_every_theme_draws():
    for path in [*TUI.rglob("*.py"), *TUI.rglob("*.tcss")]:
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"#[0-9a-fA-F]{6}\b|\brgb\(|\"(?:bold |italic )?(?:red|green|yellow|blue|magenta|cyan)\"", text), path
        for style in re.findall(r"\$[a-z][a-z0-9-]*", text):
            assert style.removeprefix("$") in TOKENS, (path, style)


TOKENS = {
    "text-primary", "text-success", "text-warning", "text-error", "text-accent", "foreground-muted", "foreground", "background", "surface",
    "panel", "panel-lighten-2", "boost", "primary", "secondary", "warning", "accent",
}  # fmt: skip
"""Tokens of the theme that are used: those of text are made to be read on the theme's own background."""


async def test_nothing_is_animated():
    async with interview() as (app, pilot):
        assert app.animation_level == "none"
        await press(app, pilot, "f4", "pagedown")
        assert not app.animator._animations


async def test_a_poisoned_rule_is_shown_and_the_others_go_on():
    def engine(answers, catalog):
        from dataclasses import replace

        return replace(small_engine(answers, catalog), failures=("rule power.example failed: division by zero",))

    async with interview(engine=engine) as (app, pilot):
        assert "✗ 1 rule failed" in screen_text(app)
        text = await press(app, pilot, "f4", *["pagedown"] * 4)
        assert "rule power.example failed: division by zero" in text
        assert app.work.design.of_kind(Kind.DECISION)


async def test_a_saved_design_stands_beside_the_one_in_hand(tmp_path):
    async with interview(WIDE) as (app, pilot):
        await press(app, pilot, "ctrl+s")
        await press(app, pilot, *["backspace"] * 20)
        await type_text(app, pilot, "base.toml")
        await press(app, pilot, "enter")
        app.change(app.work.session.answer("scale.mode", "fixed").answer("scale.nodes", 4))
        await rest(app, pilot)
        app.action_compare_file()
        await rest(app, pilot)
        await type_text(app, pilot, "base.toml")
        await press(app, pilot, "enter")
        text = app.screen._text.plain
        assert any(line.split()[:3] == ["GPUs", "16", "32"] for line in text.splitlines()), text
        assert any(line.split()[:2] == ["", "base"] or line.split()[:2] == ["base", "this"] for line in text.splitlines())


async def test_the_start_page_lists_every_example_with_a_line_about_it():
    async with wizard((160, 50)) as (app, pilot):
        del pilot
        text = screen_text(app)
        for path in examples_folder().glob("*.toml"):
            assert path.stem in text
            assert len(_description(path)) > 20
            assert _description(path)[:40] in text


async def test_the_start_page_says_in_full_what_its_list_cuts():
    async with wizard(NARROW) as (app, pilot):
        for _ in range(8):
            text = await press(app, pilot, "down")
        assert "›  amd-on-ethernet" in text
        whole = _description(examples_folder() / "amd-on-ethernet.toml")
        assert whole not in text.splitlines()[-1]
        assert whole in " ".join(" ".join(text.splitlines()[-3:-1]).split())


async def test_a_click_opens_what_it_hits_on_the_start_page_and_from_tab_to_tab():
    async with wizard() as (app, pilot):
        lines = screen_lines(app)
        line = next(number for number, each in enumerate(lines) if "Fine-tune a 70B model" in each)
        await pilot.click(offset=(6, line))
        await pilot.click(offset=(6, line))
        await rest(app, pilot)
        assert isinstance(app.screen, InterviewScreen)
        assert app.work.answers.text("model.preset") == "llama-3.1-70b"
        await press(app, pilot, "f4")
        for title, kind in (("Look", LookScreen), ("Compare", CompareScreen), ("Design", DesignScreen)):
            lines = screen_lines(app)
            line = next(number for number, each in enumerate(lines) if "Compare" in each and "Look" in each)
            await pilot.click(offset=(lines[line].index(title) + 1, line))
            await rest(app, pilot)
            assert isinstance(app.screen, kind)
