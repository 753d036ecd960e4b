"""Pictures of money, renting, goodput and data paths against numbers that are figured by hand or published."""

from __future__ import annotations

import pytest

from catalogs import load_catalog
from rules.advisor import consider
from rules.answers import Answers
from rules.stages.storage_cpu_facts import size_in_words
from wizard.pictures import text
from wizard.pictures.goodput import _chart as goodput_chart
from wizard.pictures.money import _bars
from wizard.pictures.rent_or_buy import _chart as rent_chart

ANSWERS = {
    "model.preset": "llama-3.1-405b",
    "preferences.nodes": ["nvidia-dgx-h100"],
    "scale.nodes": 2048,
    "training.tokens": "15.6T",
    "budget.own_prices": ["nvidia-dgx-h100 = 300k USD", "rent:nvidia-h100-sxm-80gb = 3 USD"],
    "budget.years": "4 years",
}


@pytest.fixture(scope="module")
def considered():
    return consider(Answers.of(ANSWERS), load_catalog())


def test_the_bars_of_money_add_up_to_the_bill(considered):
    """2,048 servers at 300,000 USD are 614.4 million; the bar of the purchase is the sum of the bill."""
    (_, once), (_, years) = _bars(considered).rows
    assert once["servers"] == pytest.approx(614.4)
    assert sum(once.values()) == pytest.approx(considered.ranking.chosen.candidate.cost.purchase.expected.to("MUSD").magnitude)
    assert sum(years.values()) == pytest.approx(considered.ranking.chosen.candidate.cost.ownership.expected.to("MUSD").magnitude)


def test_renting_and_owning_cross_where_they_cost_the_same(considered):
    """At 3 USD an hour 16,384 GPUs cost 1.72 billion over four years around the clock (4 x 8,766 hours)."""
    series = {each.name: each for each in rent_chart(considered).series}
    rented = dict(series["rent at 3 USD/h"].points)
    assert rented[100.0] == pytest.approx(16_384 * 4 * 8766 * 3 / 1e6)
    owned = series["own"].points[0][1]
    ((share, at),) = series["cross"].points
    assert at == pytest.approx(owned)
    assert share == pytest.approx(100 * owned / rented[100.0])


def test_goodput_of_llama_3_is_above_nine_tenths_at_the_interval_that_is_taken(considered):
    """arXiv:2407.21783: more than 90 % effective; the curve falls to both sides of its best."""
    *curves, taken = goodput_chart(considered).series
    ((interval, share),) = taken.points
    assert share == pytest.approx(91, abs=2)
    expected = dict(curves[1].points)
    assert max(expected.values()) >= share > min(expected.values())
    assert min(expected) < interval < max(expected)


def test_data_paths_name_every_place_with_its_rate(considered):
    lines = "\n".join(text("data_paths", considered, 100))
    for words in ("GB/s", "storage network", "50 GB/s to each of 2,048 nodes", "local NVMe", "host memory", "8 × NVIDIA H100", "3.35 TB/s"):
        assert words in lines, words
    assert "GPUDirect Storage" in lines
    assert "a checkpoint of 5.68 TB is written" in lines  # 405.9 billion parameters of 14 bytes


@pytest.mark.parametrize(
    ("size", "words"), [(358.4e6, "358 MB"), (999.6e6, "1000 MB"), (999e9, "999 GB"), (5.68e12, "5.68 TB"), (0.0, "unknown")]
)
def test_sizes_as_people_say_them(size, words):
    assert size_in_words(size) == words
