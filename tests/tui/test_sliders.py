"""Sliders: their stops, and the design that follows them."""

from __future__ import annotations

import pytest

from rules.answers import Answers, parse_answer
from tests.screen_text import screen_lines, screen_text
from tests.tui.support import NARROW, interview, press, rest
from wizard.sliding import SLIDERS, moved, share
from wizard.tui.screens.sliders import SliderScreen

BY_KEY = {slider.key: slider for slider in SLIDERS}


@pytest.mark.parametrize("slider", SLIDERS, ids=lambda slider: slider.key)
def test_every_stop_is_a_valid_answer_and_they_rise(slider):
    stops = slider.stops
    assert list(stops) == sorted(set(stops))
    assert stops[0] >= slider.low
    assert stops[-1] <= slider.high
    assert len(stops) > 8
    answers = Answers()
    for _ in range(len(stops) + 3):
        answers = Answers.of({slider.key: moved(slider, answers, 1)})
    assert answers.number(slider.key) == stops[-1]
    assert share(slider, stops[-1]) == 1.0
    assert share(slider, stops[0]) == 0.0
    for _ in range(len(stops) + 3):
        answers = Answers.of({slider.key: moved(slider, answers, -1)})
        parse_answer(slider.key, answers.text(slider.key))
    assert answers.number(slider.key) == stops[0]


@pytest.mark.parametrize(
    ("key", "given", "up", "down"),
    [
        ("scale.deadline", "54 days", "60 days", "50 days"),
        ("scale.deadline", "60 days", "80 days", "50 days"),
        ("budget.purchase", "3M USD", "4M USD", "2.5M USD"),
        ("facility.rack_power", "40 kW", "50 kW", "30 kW"),
        ("budget.electricity_price", "0.08 USD/kWh", "0.1 USD/kWh", "0.06 USD/kWh"),
    ],
)
def test_a_slider_goes_to_the_next_round_value(key, given, up, down):
    answers = Answers.of({key: given})
    assert moved(BY_KEY[key], answers, 1) == up
    assert moved(BY_KEY[key], answers, -1) == down


async def test_the_design_follows_and_all_moves_of_a_slider_are_one_step_of_undo():
    async with interview(NARROW) as (app, pilot):
        text = await press(app, pilot, "ctrl+r")
        assert isinstance(app.screen, SliderScreen)
        assert all(len(line) <= 80 for line in screen_lines(app))
        assert "not given" in text
        await press(app, pilot, "down", "right")  # the budget, from nowhere to 3M
        text = await press(app, pilot, "left", "left", "left", "left", "left", "left", "left")
        assert app.work.answers.values["budget.purchase"] == "600000 USD"
        assert "CONFLICT" in text  # the small engine needs 1M USD
        text = await press(app, pilot, "right", "right")
        assert app.work.answers.values["budget.purchase"] == "1M USD"
        assert "CONFLICT" not in text
        await press(app, pilot, "ctrl+z")
        assert not app.work.answers.given("budget.purchase")
        await press(app, pilot, "right", "delete")
        assert not app.work.answers.given("budget.purchase")
        text = await press(app, pilot, "escape")
        assert "step 1 of 5" in text


async def test_the_mouse_moves_a_slider():
    async with interview(NARROW) as (app, pilot):
        await press(app, pilot, "ctrl+r")
        line = next(number for number, each in enumerate(screen_lines(app)) if "Power per rack" in each)
        await pilot.click(offset=(screen_lines(app)[line].index("┤") - 1, line))
        await rest(app, pilot)
        assert app.work.answers.number("facility.rack_power") == 250
        assert "250 kW" in screen_text(app)
