"""Interest of a loan that is repaid in equal yearly parts, by the annuity formula of any textbook."""

from __future__ import annotations

import pytest

from rules.sizing.ownership import interest_share


def test_ten_percent_over_ten_years():
    """The annuity of 10 % over 10 years is 16.2745 % of the loan a year, of which 10 % repays it."""
    assert interest_share(0.10, 10.0) == pytest.approx(0.062745, abs=1e-6)


def test_no_interest_costs_nothing_and_the_smallest_rates_next_to_nothing():
    assert interest_share(0.0, 3.0) == 0.0
    for rate in (1e-300, 2e-18, 1e-12, 1e-9):
        assert 0.0 <= interest_share(rate, 3.0) <= rate + 1e-15
