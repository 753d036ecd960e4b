"""Price lists of a person's own in a catalog folder: other currencies, rates, and what is said of prices that cannot be counted."""

from __future__ import annotations

import pytest

from catalogs import load_catalog
from rules.advisor import advise
from rules.answers import Answers
from rules.sizing.ownership import colocation_price
from rules.sizing.prices import rental_range


@pytest.fixture(scope="module")
def catalog():
    return load_catalog()


@pytest.fixture(scope="module")
def with_contracts(tmp_path_factory):
    """The catalog with a framework contract in euros, and a cloud that asks 2 EUR for an hour of an H200 at 1.10 USD."""
    folder = tmp_path_factory.mktemp("contracts")
    (folder / "prices").mkdir()
    (folder / "sources.toml").write_text('[[source]]\nid = "contract"\ntitle = "Framework contract"\nkind = "own"\ndate = "2026-11"\n')
    row = '[[price]]\nid = "{}"\nitem = "{}"\nwhat = "contract"\nunit = "{}"\nlow = {}\nhigh = {}\ndate = "2026-11"\nsource = "contract"\n'
    (folder / "prices" / "own.toml").write_text(
        row.format("mine", "nvidia-dgx-h200", "EUR", 350000, 350000)
        + 'confidence = "high"\n'
        + row.format("hour", "nvidia-h200-sxm-141gb", "EUR per GPU-hour", 2, 2)
        + 'usd_rate = 1.1\nconfidence = "high"\n'
        + row.format("hall", "colocation", "EUR per kW and month", 150, 160)
        + 'usd_rate = 1.1\nconfidence = "high"\n'
        + row.format("slow", "nvidia-l40s", "EUR per GPU-hour", 1, 1)
        + 'confidence = "high"\n'
        + row.format("typo", "nvidia-dgx-h2000", "USD", 9, 9)
        + 'confidence = "high"\n'
    )
    return load_catalog([folder])


def test_a_price_list_in_a_currency_without_a_rate_is_named_until_its_rate_is_given(with_contracts):
    answers = {"model.preset": "llama-3.1-8b", "preferences.nodes": ["nvidia-dgx-h200"], "scale.mode": "fixed", "scale.nodes": 2}
    design = advise(Answers.of(answers), with_contracts)
    told, hour = [each for each in design.notices if "EUR" in each]
    assert hour.startswith("a price is not counted, because slow is in EUR per GPU-hour and states no rate of its own; write usd_rate")
    assert "no rate of EUR is known: NVIDIA DGX H200 (350,000 EUR, 2026-11); give its worth in budget.exchange_rates" in told
    assert any("350,000 EUR" in each for each in design.sections["cost"]["notes"])
    typo = "a price is not counted, because no item is called 'nvidia-dgx-h2000'; the nearest is 'nvidia-dgx-h200'"
    assert typo in design.notices
    rated = advise(Answers.of({**answers, "budget.exchange_rates": ["EUR = 1.1"]}), with_contracts)
    (servers,) = [line for line in rated.bom if line.item == "nvidia-dgx-h200"]
    assert servers.unit_low == pytest.approx(385_000)
    assert [each for each in rated.notices if "EUR" in each] == [hour]


def test_an_hour_in_euros_counts_at_the_rate_of_its_row(with_contracts, catalog):
    low, high = rental_range("nvidia-h200-sxm-141gb", with_contracts)
    assert low == pytest.approx(2.2)
    assert high == rental_range("nvidia-h200-sxm-141gb", catalog)[1]


def test_a_hall_s_price_in_euros_counts_at_the_rate_of_its_row(with_contracts):
    """150 to 160 EUR for a kilowatt and month at 1.10 USD are 165 to 176 USD; it is newer than the published average."""
    assert colocation_price(Answers(), with_contracts)[:3] == pytest.approx((165, 170.5, 176))
