"""Why not, what if, and what cannot hold together, asked from the lines of the design."""

from __future__ import annotations

import re
import threading

from rules.doubts import Doubt, Total
from tests.screen_text import screen_text
from tests.tui.support import NARROW, WIDE, interview, press, rest, row, type_text
from wizard.certainty import Certainty
from wizard.tui.screens.certainty import CertaintyScreen
from wizard.tui.screens.conflicts import ConflictScreen
from wizard.tui.screens.dialogs import TextDialog
from wizard.tui.screens.prompts import ProgressDialog, PromptDialog
from wizard.tui.widgets.pointed_list import PointedList

REAL = None


def _choices(app) -> list[str]:
    """Return the choices of the dialog in front."""
    return [str(each.prompt) for each in app.screen.query_one(PointedList).options]


async def until(app, pilot, kind) -> None:
    """Wait until a screen of a kind is in front."""
    for _ in range(600):
        await pilot.pause(0.02)
        if isinstance(app.screen, kind):
            await rest(app, pilot)
            return
    raise AssertionError(f"{kind} never came; the screen is:\n{screen_text(app)}")


async def answer(app, pilot, key: str, text: str) -> None:
    """Answer a question by typing."""
    await app.go_to_question(key)
    await rest(app, pilot)
    await type_text(app, pilot, text)


async def test_why_not_names_the_first_obstacle_and_the_smallest_change_which_can_be_tried():
    async with interview(WIDE, engine=REAL) as (app, pilot):
        app.change(app.work.session.answer("facility.rack_power", "8 kW").answer("model.preset", "llama-3.1-70b"))
        await rest(app, pilot)
        await press(app, pilot, "f4", "n")
        assert isinstance(app.screen, PromptDialog)
        await type_text(app, pilot, "nvidia-dgx-b200")
        await pilot.press("enter")
        await until(app, pilot, TextDialog)
        text = app.screen._text.plain
        assert "power.rack_power_exceeded" in text
        assert '"Power per rack"' in text
        power = re.search(r'"Power per rack"(?: = |: raise it to )([\d.]+) kW', text)
        assert float(power[1]) >= 14.3  # what NVIDIA's guide says that a DGX B200 draws
        assert "facility.rack_power" not in text  # who fills in pages knows no keys
        await pilot.press("enter")
        await until(app, pilot, TextDialog)
        assert "Before and after" in app.screen._title
        assert app.work.answers.values["facility.rack_power"] == "8 kW"
        shown = app.screen
        app.asker.try_change("policy.light", None, "make an exception from the policy of the site")
        await pilot.pause(0.05)
        assert app.screen is shown  # a policy is no answer: nothing is compared, and what to do is said
        assert any(each.message.startswith("light is a policy of the site") for each in app._notifications)


async def test_why_not_something_that_is_nothing_is_a_message():
    async with interview(engine=REAL) as (app, pilot):
        await press(app, pilot, "f4", "n")
        await type_text(app, pilot, "quantum")
        await pilot.press("enter")
        for _ in range(200):
            await pilot.pause(0.02)
            if any("quantum" in each.message for each in app._notifications):
                return
        raise AssertionError(screen_text(app))


async def test_what_if_shows_the_difference_and_keeps_or_drops_it():
    async with interview(WIDE) as (app, pilot):
        await app.go_to_question("facility.rack_power")
        text = await press(app, pilot, "alt+w")  # one key, from a question: all four
        assert [line.split("  ")[1].split(" ")[0] for line in _choices(app)] == ["Why", "How", "Why", "What"]
        assert "Ask about Power per rack" in text
        await press(app, pilot, "enter")
        assert "Rules that rest on it" in app.screen._text.plain
        await press(app, pilot, "escape", "alt+w", "down", "down", "enter")
        assert app.screen._start == "facility.rack_power="
        await press(app, pilot, "escape", "f4", "alt+w")  # and from a line of the design
        assert any(line.strip().startswith("How was it concluded") for line in _choices(app))
        await press(app, pilot, "escape", "escape")
        await press(app, pilot, "f4", "i")
        await type_text(app, pilot, "how many nodes")
        assert "scale.nodes=" in screen_text(app)
        await press(app, pilot, "escape", "i")
        await type_text(app, pilot, "scale.nodes")
        await pilot.press("equals_sign", "4", "enter")
        await rest(app, pilot)
        text = app.screen._text.plain
        assert "2 × Example Server" in text
        assert "4 × Example Server" in text
        assert any(line.split()[:3] == ["GPUs", "16", "32"] for line in text.splitlines())
        await press(app, pilot, "down", "enter")
        assert not app.work.answers.given("scale.nodes")
        await press(app, pilot, "i")
        await type_text(app, pilot, "scale.nodes")
        await pilot.press("equals_sign", "4", "enter")
        await rest(app, pilot)
        await press(app, pilot, "enter")
        assert app.work.answers.values["scale.nodes"] == 4
        await press(app, pilot, "ctrl+z")
        assert not app.work.answers.given("scale.nodes")
        for typed, told in (("zzz", "'zzz': write an answer's name, = and its value"), ("scale.nods=", "did you mean 'scale.nodes'?")):
            await press(app, pilot, "i")
            await type_text(app, pilot, typed)
            await press(app, pilot, "enter")
            assert any(told in each.message for each in app._notifications), typed


async def test_a_what_if_of_several_answers_leaves_the_base_and_is_kept_or_dropped():
    async with interview(NARROW) as (app, pilot):
        await answer(app, pilot, "facility.region", "Texas")
        base = app.work.answers
        text = await press(app, pilot, "ctrl+n")
        assert "what-if" in text
        app.change(app.work.session.answer("scale.mode", "fixed").answer("scale.nodes", 6))
        await rest(app, pilot)
        await press(app, pilot, "ctrl+n")
        assert "6 × Example Server" in app.screen._text.plain
        await press(app, pilot, "down", "enter")
        assert app.work.answers == base
        assert app.work.session.base is None
        assert row(app, "facility.region").entry.value == "Texas"
        await press(app, pilot, "ctrl+n")
        app.change(app.work.session.answer("scale.mode", "fixed").answer("scale.nodes", 6))
        await rest(app, pilot)
        await press(app, pilot, "ctrl+n", "enter")
        assert app.work.answers.values["scale.nodes"] == 6
        assert app.work.session.base is None


CONFLICT = {
    "model.preset": "llama-3.1-70b",
    "scale.mode": "fixed",
    "scale.nodes": 4,
    "facility.rack_power": "5 kW",
    "preferences.gpus": "nvidia-h100-sxm-80gb",
}


async def test_the_conflict_screen_lists_only_the_answers_involved_each_with_change():
    async with interview(WIDE, engine=REAL) as (app, pilot):
        session = app.work.session
        for key, value in {**CONFLICT, "facility.region": "Texas", "budget.years": "4 years"}.items():
            session = session.answer(key, value)
        app.change(session)
        await rest(app, pilot)
        assert app.work.design.conflicts
        app.action_find_conflicts()
        await until(app, pilot, ConflictScreen)
        keys = {key for each in app.screen.conflicts.sets for key in each.keys}
        assert "facility.rack_power" in keys
        assert not keys & {"facility.region", "budget.years", "model.preset"}
        text = screen_text(app)
        assert "Change  Power per rack" in text
        assert "Smallest change" in text
        assert "Texas" not in text
        before = app.work.answers
        for choice, changed in (("drop", False), ("keep", True)):
            await pilot.press("f")
            await until(app, pilot, TextDialog)
            text = app.screen._text.plain
            assert re.search(r'fixed power.rack_power_exceeded: "Power per rack" = 5 kW → [\d.]+ kW', text)
            assert re.search(r"^conflicts +\d+ +0 .*better$", text, re.MULTILINE)
            app.screen.dismiss(choice)
            await rest(app, pilot)
            assert (app.work.answers != before) is changed
        assert app.work.design.fits
        assert app.work.answers.provenance["facility.rack_power"] == "fix"
        await press(app, pilot, "ctrl+z")
        assert app.work.answers == before  # one step takes all of it back
        await press(app, pilot, "enter")
        assert app.screen.focused_row().key in keys


async def test_long_work_shows_how_far_it_is_and_is_stopped_by_a_key():
    begun = threading.Event()
    stopped = threading.Event()

    def work(watch):
        number = 0
        while watch(number := number + 1):
            begun.set()
            stopped.wait(0.01)
        stopped.set()
        return "found"

    results = []
    async with interview() as (app, pilot):
        app.push_screen(ProgressDialog("Long work", work, 1000), results.append)
        await pilot.pause()
        begun.wait(5)
        await pilot.pause(0.3)
        text = screen_text(app)
        assert "Long work" in text
        assert "designs, 1000 at most" in text
        assert app.screen.begun > 0
        await pilot.press("escape")
        for _ in range(200):
            await pilot.pause(0.02)
            if results:
                break
        assert stopped.is_set()
        assert results == [None]


async def test_without_a_conflict_it_says_so():
    async with interview() as (app, pilot):
        app.action_find_conflicts()
        await rest(app, pilot)
        assert any("no conflict" in each.message for each in app._notifications)
        app.work.generation += 1  # an answer whose design is not there yet
        app.action_find_conflicts()
        await pilot.pause()
        assert any("still being worked out" in each.message for each in app._notifications)
        app.work.generation -= 1
        await press(app, pilot, "f4", "f")
        assert any("No conflict, and no warning" in each.message for each in app._notifications)


async def test_what_the_open_answers_cost_is_listed_and_leads_to_the_question():
    async with interview(WIDE) as (app, pilot):
        await press(app, pilot, "f4", "right", "right", "right")
        app.screen.query_one("#rows").highlighted = 1
        await pilot.press("enter")
        await until(app, pilot, CertaintyScreen)
        text = screen_text(app)
        assert "Run for" in text
        assert "3 years: hardly matters" in text  # the small engine's figures do not depend on it
        await press(app, pilot, "enter")
        assert app.screen.focused_row().key == "budget.years"
        step = Doubt("other", "rate", "6 s", (), 2, "a step of 2 × Other could take 5 s")
        price = Doubt("other", "price", "unknown", (), 1, "nobody has named a price of 2 × Other")
        await app.push_screen(CertaintyScreen(Certainty((), (step, price), (Total("purchase", "USD", 9e5, 1e6, 1.2e6),))))
        await rest(app, pilot)
        text = screen_text(app)
        assert "purchase 1,000,000 USD (900,000 to 1,200,000)" in text
        assert "Rate: a step of 2 × Other could take 5 s" in text
        await press(app, pilot, "down", "enter")
        assert app.screen.focused_row().key == "budget.own_prices"
