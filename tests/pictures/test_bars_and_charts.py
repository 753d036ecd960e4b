"""Bars and charts, counted by hand."""

from __future__ import annotations

import re

from wizard.pictures import bars, chart
from wizard.pictures.bars import Bars
from wizard.pictures.chart import Axis, Chart, Series

HALF = Bars("Memory", "GiB", (("stage 0", {"weights": 20.0, "optimizer": 40.0}), ("stage 1", {"weights": 20.0})), 80.0, "capacity")


def test_a_bar_takes_its_share_of_the_scale():
    lines = bars.text(HALF, 7 + 1 + 40 + 1 + 2, ascii=True)
    assert lines[0] == "Memory"
    assert lines[1] == "stage 0 " + "#" * 20 + "=" * 10 + "." * 9 + "|" + " 60"
    assert lines[2] == "stage 1 " + "=" * 10 + "." * 29 + "|" + " 20"
    assert lines[3] == "# optimizer  = weights  | capacity 80  in GiB"


def test_a_bar_over_its_limit_shows_the_limit_inside():
    over = Bars("M", "GiB", (("s", {"a": 100.0}),), 50.0, "capacity")
    assert bars.text(over, 1 + 1 + 40 + 1 + 3, ascii=True)[1] == "s " + "#" * 19 + "|" + "#" * 20 + " 100"


def test_small_parts_are_other_and_nothing_is_lost():
    many = Bars("M", "W", (("s", {"a": 1000.0, "b": 1.0, "c": 2.0}),))
    assert many.parts == ("a", "other")
    assert many.drawn(many.rows[0][1]) == (1000.0, 3.0)


def test_more_parts_than_patterns():
    many = Bars("M", "W", (("s", {f"p{n}": 10.0 + n for n in range(12)}),))
    assert len(many.parts) == len(bars.PATTERNS)
    assert sum(many.drawn(many.rows[0][1])) == sum(10.0 + n for n in range(12))


def test_amounts_in_words():
    assert [bars.shown(each) for each in (0.000123, 0.456, 12.34, 1240.4)] == ["0.000123", "0.456", "12.3", "1,240"]


def test_corners_of_a_chart():
    drawn = chart.text(Chart("T", Axis("x", "s"), Axis("y", "kW"), (Series("p", "o", ((0.0, 0.0), (10.0, 100.0))),)), 40, 5)
    assert drawn[:3] == ["T", "y, kW", "100 |" + " " * 34 + "o"]
    assert drawn[6] == "  0 |o" + " " * 34
    assert drawn[7] == "    +" + "-" * 35
    assert drawn[8] == "     0" + "x, s".center(32) + "10"


def test_a_logarithmic_axis_has_equal_steps_for_equal_factors():
    drawn = chart.text(Chart("T", Axis("x", "", True), Axis("y", ""), (Series("p", "o", ((1.0, 1.0), (10.0, 1.0), (100.0, 1.0))),)), 47, 5)
    row = next(line for line in drawn if "o" in line)
    marks = [column for column, letter in enumerate(row) if letter == "o"]
    assert marks[1] - marks[0] == marks[2] - marks[1]


def test_a_chart_without_points_takes_no_room_for_axes():
    empty = Chart("T", Axis("x", ""), Axis("y", ""), (), ("nothing to draw",))
    assert 'height="104' in chart.svg(empty)  # the title's 56, a margin of 24, and 24 for the one note


def test_a_title_and_notes_fit_their_sheet():
    wide = chart.svg(Chart("T" * 100, Axis("x", ""), Axis("y", ""), (), ("word " * 60,)), 300)
    assert float(wide.partition('width="')[2].partition('"')[0]) > 100 * 11  # bold letters of 18 pixels
    assert max(len(line) for line in re.findall(r">((?:word ?)+)</text>", wide)) * 7 < 300


def test_a_chart_without_points_is_words():
    assert chart.text(Chart("T", Axis("x", ""), Axis("y", ""), (Series("p", "o", ()),), ("nothing to draw",)), 40) == [
        "T",
        "nothing to draw",
    ]


def test_a_series_keeps_its_colour_whichever_others_are_drawn():
    chosen = Series("chosen", "@", ((1.0, 1.0),), colour=5)
    for series in ((chosen,), (Series("fits", "o", ((2.0, 2.0),)), chosen)):
        drawn = chart.svg(Chart("T", Axis("x", ""), Axis("y", ""), series))
        assert re.search(r'<text [^>]*fill="#d55e00"[^>]*>@<', drawn)  # vermilion, the sixth colour


def test_an_only_value_stands_in_the_middle_of_a_narrow_axis():
    """A factor of 10^0.1 = 1.259 to each side of 685: from 544 to 862."""
    drawn = chart.text(Chart("T", Axis("x", ""), Axis("y", "", True), (Series("p", "o", ((1.0, 685.0),)),)), 40, 5)
    assert [drawn[2][:4].strip(), drawn[6][:4].strip()] == ["862", "544"]


def test_totals_beside_bars_stay_on_the_sheet_and_clear_of_the_limit():
    drawn = bars.svg(Bars("M", "million USD", (("purchase", {"servers": 0.58}),), 0.7, "budget"), 900)
    total = re.search(r'<text x="([\d.]+)"[^>]*font-size="13"[^>]*>0.58 million USD<|<text [^>]*x="([\d.]+)"[^>]*>0.58 million USD<', drawn)
    assert total is not None
    assert float(total[1] or total[2]) + 13 * 0.6 * len("0.58 million USD") < 900
    assert 'paint-order="stroke"' in total[0]
