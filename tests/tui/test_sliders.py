"""Sliders: their stops, and the design that follows them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from catalogs import Catalog
from rules.answers import Answers, parse_answer
from rules.design import Design, Figures
from rules.sizing.results import BomLine
from tests.screen_text import screen_lines, screen_text
from tests.tui.support import NARROW, interview, press, rest
from wizard.sliding import SLIDERS, answer_at, given, moved, price_slider, share, value_of
from wizard.tui.screens.sliders import SliderScreen

BY_KEY = {slider.key: slider for slider in SLIDERS}


def designed(**parts) -> Design:
    made = {"fits": True, "figures": None, "sections": {}, "bom": (), "findings": (), "assumptions": (), "alternatives": (), "rejected": ()}
    return Design(Answers(), "", "x", "4 × Example H200", "TP8", **{**made, **parts})


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


def test_the_price_of_the_chosen_server_slides_and_other_own_prices_stay():
    line = BomLine("example-h200", "Example H200", "compute", 4, unit_low=300_000.0, unit_high=340_000.0)
    design = designed(bom=(line,))
    slider = price_slider(design, Catalog(()))
    assert slider is not None
    assert (slider.stops[0], slider.stops[-1]) == (160_000, 640_000)
    answers = Answers.of({"budget.own_prices": ["example-b200 = 500k USD"]})
    assert value_of(slider, answers) == 320_000
    assert not given(slider, answers)
    answers = Answers.of({"budget.own_prices": answer_at(slider, answers, moved(slider, answers, 1))})
    assert answers.names("budget.own_prices") == ("example-b200 = 500k USD", "example-h200 = 336000 USD")
    assert value_of(slider, answers) == 336_000
    assert given(slider, answers)
    assert answer_at(slider, answers, None) == "example-b200 = 500k USD"
    assert answer_at(slider, Answers.of({"budget.own_prices": ["example-h200 = 336000 USD"]}), None) is None
    assert price_slider(designed(bom=(replace(line, unit_low=None),)), Catalog(())) is None


def test_a_limit_begins_where_the_design_keeps_it():
    figures = Figures(64, 8, 8, purchase_usd=3.37e6, total_power_kw=124.0)
    design = designed(figures=figures, sections={"facility": {"fullest_rack": "20.09 kW"}})
    first = {key: moved(BY_KEY[key], Answers(), -1, design) for key in ("budget.purchase", "facility.total_power", "facility.rack_power")}
    assert first == {"budget.purchase": "4M USD", "facility.total_power": "150 kW", "facility.rack_power": "25 kW"}
    assert moved(BY_KEY["facility.rack_power"], Answers(), 1) == "40 kW"


async def test_the_design_follows_and_all_moves_of_a_slider_are_one_step_of_undo():
    async with interview(NARROW) as (app, pilot):
        text = await press(app, pilot, "ctrl+r")
        assert isinstance(app.screen, SliderScreen)
        assert all(len(line) <= 80 for line in screen_lines(app))
        assert "not given" in text
        await press(app, pilot, "down", "right")  # the budget: from nowhere to what the two servers of 700k USD take
        assert app.work.answers.values["budget.purchase"] == "1.5M USD"
        text = await press(app, pilot, "left", "left", "left", "left")
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
