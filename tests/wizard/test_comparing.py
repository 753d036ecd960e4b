"""Candidates side by side: order, filter, what a choice costs, and the scatter. All figures are made up and compared by hand."""

from __future__ import annotations

import pytest

from rules.design import Figures
from wizard.comparing import BY_ID, CHOSEN, FITS, REJECTED, UNPRICED, Entry, FilterError, _marked, in_order, matching, price_of
from wizard.pictures import chart
from wizard.pictures.chart import Axis, Chart, Series
from wizard.scatter import scatter


def entry(name: str, state: str = FITS, **figures) -> Entry:
    return Entry(name, name, "TP8 DP2", Figures(figures.pop("gpus", 16), 2, 2, **figures), state, node=name)


CHEAP = entry("Cheap B200", CHOSEN, gpus=96, days=58.0, purchase_usd=7e6, ownership_usd=7.7e6, total_power_kw=280.0, racks=7)
FAST = entry("Fast H200", gpus=192, days=52.0, purchase_usd=9.9e6, ownership_usd=10.6e6, total_power_kw=312.0, racks=8)
WORSE = entry("Worse H100", gpus=192, days=54.0, purchase_usd=9.9e6, ownership_usd=10.8e6, total_power_kw=380.0, racks=10)
OPEN = entry("Open B300", UNPRICED, gpus=80, days=59.0, total_power_kw=241.0, racks=6)
HOT = entry("Hot NVL72", REJECTED, gpus=72, days=55.0, purchase_usd=3.7e6, ownership_usd=4.2e6, total_power_kw=214.0, racks=3)
ROWS = [CHEAP, FAST, WORSE, OPEN, HOT]


@pytest.mark.parametrize(
    ("by", "falling", "order"),
    [
        ("", False, ["Cheap B200", "Fast H200", "Worse H100", "Open B300", "Hot NVL72"]),
        ("days", False, ["Fast H200", "Worse H100", "Hot NVL72", "Cheap B200", "Open B300"]),
        ("power", True, ["Worse H100", "Fast H200", "Cheap B200", "Open B300", "Hot NVL72"]),
        ("cost", False, ["Hot NVL72", "Cheap B200", "Fast H200", "Worse H100", "Open B300"]),
        ("cost", True, ["Worse H100", "Fast H200", "Cheap B200", "Hot NVL72", "Open B300"]),
    ],
)
def test_rows_are_sorted_by_any_figure_and_unknown_ones_stand_last(by, falling, order):
    assert [row.name for row in in_order(ROWS, by, falling=falling)] == order


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("", ["Cheap B200", "Fast H200", "Worse H100", "Open B300", "Hot NVL72"]),
        ("days<56", ["Fast H200", "Worse H100", "Hot NVL72"]),
        ("days < 56 price<=9.9M USD fits", ["Fast H200", "Worse H100"]),
        ("price<8m", ["Cheap B200", "Hot NVL72"]),
        ("power >= 0.3 MW, h200", ["Fast H200"]),
        ("power<300kW", ["Cheap B200", "Open B300", "Hot NVL72"]),
        ("price<8MUSD, days<56d", ["Hot NVL72"]),
        ("days<8weeks", ["Fast H200", "Worse H100", "Hot NVL72"]),
        ("power<0.25MW cost<5M", ["Hot NVL72"]),
        ("racks=8", ["Fast H200"]),
        ("rejected", ["Hot NVL72"]),
        ("days<1000 hours", []),
    ],
)
def test_a_filter_keeps_what_its_words_and_limits_say(text, kept):
    assert [row.name for row in matching(ROWS, text)] == kept


@pytest.mark.parametrize(
    ("text", "message"), [("size<3", "no figure is called 'size'"), ("days<abc", "no number for days"), ("<5", "is no limit")]
)
def test_a_filter_that_cannot_be_read_says_what_was_expected(text, message):
    with pytest.raises(FilterError, match=message):
        matching(ROWS, text)


def test_the_price_of_another_choice_names_every_figure_that_differs():
    assert price_of(CHEAP, FAST) == (
        "2.9M USD more to own (+38%), 2.9M USD more to buy (+41%), 6 days faster (-10%), 32 kW more power (+11%), "
        "1 rack more (+14%), 96 GPUs more (+100%)"
    )
    assert price_of(CHEAP, OPEN).startswith("owning unknown, purchase unknown, 1 day slower (+2%), 39 kW less power (-14%), 1 rack fewer")
    assert price_of(CHEAP, CHEAP).startswith("no difference")


def test_who_is_beaten_in_cost_time_and_power_is_dominated_and_only_by_one_that_fits():
    assert _marked(WORSE, ROWS).dominated_by == "Fast H200"
    assert _marked(FAST, ROWS).dominated_by == ""
    assert _marked(CHEAP, ROWS).dominated_by == ""


def test_the_scatter_puts_the_cheapest_left_and_the_slowest_up_and_tells_states_by_marks():
    rows = [_marked(row, ROWS) for row in ROWS]
    drawn = chart.text(scatter(rows, BY_ID["cost"], BY_ID["days"]), 60, 6)
    assert all(len(line) <= 60 for line in drawn)
    plot = [line.partition("|")[2] for line in drawn[2:8]]
    assert plot[0].strip() == "◆"  # 58 days: the longest of those with a price
    assert "●" in plot[-1]  # 52 days: the shortest
    assert next(line.index("×") for line in plot if "×" in line) == 0  # 4.2M USD: the least
    assert "∙" in "".join(plot)
    assert "?" not in "".join(plot)  # without a price it cannot be placed, but the legend of the table names it
    assert "◆ chosen" in "\n".join(drawn)


def test_the_scatter_in_ascii_is_ascii_and_says_when_there_is_nothing_to_draw():
    assert "\n".join(chart.text(scatter(ROWS, BY_ID["cost"], BY_ID["days"], ascii_only=True), 40, 5)).isascii()
    nothing = chart.text(scatter([OPEN], BY_ID["cost"], BY_ID["days"], title="Candidates"), 40, 5)
    assert nothing[0] == "Candidates"
    assert nothing[1].startswith("nothing to draw")


def test_a_label_of_the_upward_axis_is_the_value_of_its_line():
    drawn = chart.text(Chart("T", Axis("x", ""), Axis("y", ""), (Series("p", "o", ((0.0, 0.0), (1.0, 30.0))),)), 40, 4)
    assert [line.partition("|")[0].strip() for line in drawn[2:6]] == ["30", "20", "10", "0"]


def test_what_tells_names_of_servers_apart_is_not_left_out():
    from wizard.tui.screens.compare import shortened_inside

    assert shortened_inside("1 × NVIDIA DGX B200", 30) == "1 × NVIDIA DGX B200"
    assert shortened_inside("1 × Supermicro AS-8125GS-TNMR2 with MI325X", 28) == "1 × Supermicro…2 with MI325X"


def test_money_that_leaves_out_parts_without_a_price_is_marked_as_a_lower_bound():
    partly = entry("Partly H200", purchase_usd=3.37e6, ownership_usd=4.16e6, total_power_kw=124.0, purchase_open=True)
    assert [partly.text(BY_ID[column]) for column in ("price", "cost", "power")] == ["≥ 3.37M USD", "≥ 4.16M USD", "124 kW"]
    assert partly.text(BY_ID["price"], ">=") == ">= 3.37M USD"
    assert CHEAP.text(BY_ID["price"]) == "7M USD"
    assert OPEN.text(BY_ID["price"]) == "?"
