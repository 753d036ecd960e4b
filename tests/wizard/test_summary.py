"""Figures as a person reads them: fitting units, three digits, never an exponent."""

from __future__ import annotations

import pytest

from rules.design import Figures
from wizard.meanings import value_words
from wizard.summary import figure_texts, short_days, short_money, short_power, short_time


@pytest.mark.parametrize(
    ("kilowatts", "shown"),
    [(0.336, "336 W"), (40.83, "40.8 kW"), (21_900, "21.9 MW"), (829_000, "829 MW"), (8.29e6, "8.29 GW"), (8.29e9, "8,290 GW")],
)
def test_power(kilowatts, shown):
    assert short_power(kilowatts) == shown


def test_amounts_of_sections_are_told_in_groups_of_digits():
    assert value_words("4839257 USD") == "4,839,257 USD"
    assert value_words("owning 9999 USD, 5536.5 USD or 1234567 USD") == "owning 9999 USD, 5536.5 USD or 1,234,567 USD"


@pytest.mark.parametrize(
    ("days", "shown"),
    [(54.2, "54.2 days"), (3_977_840, "3,980,000 days"), (0.5, "12 hours"), (0.0279, "40.2 minutes"), (5.02e-6, "0.434 s")],
)
def test_days(days, shown):
    assert short_days(days) == shown


@pytest.mark.parametrize(("seconds", "shown"), [(0.42, "420 ms"), (1e-5, "0.01 ms"), (4.7, "4.7 s"), (127, "127 s"), (36_000, "10 hours")])
def test_times(seconds, shown):
    assert short_time(seconds) == shown


@pytest.mark.parametrize(
    ("dollars", "shown"),
    [(0, "0 USD"), (0.000055, "0.000055 USD"), (12.4, "12 USD"), (61_000, "61k USD"), (4.12e8, "412M USD"), (1.2e15, "1,200T USD")],
)
def test_money(dollars, shown):
    assert short_money(dollars) == shown


def test_no_figure_has_an_exponent():
    tiny = Figures(1, 1, 1, days=1e-7, step_s=1e-7, total_power_kw=1e-7, purchase_usd=1e-7)
    huge = Figures(1, 1, 1, days=1e12, step_s=1e12, total_power_kw=1e12, purchase_usd=1e18)
    for text in (*figure_texts(tiny), *figure_texts(huge)):
        assert "e+" not in text
        assert "e-" not in text
