"""Runs between many racks: the longest is that of the pair by pair definition, whatever the rows are."""

from hypothesis import given
from hypothesis import strategies as st

from rules.sizing.fabric.floor import longest_run, run_m

PLACES = st.frozensets(st.integers(1, 90), max_size=30)


@given(PLACES, PLACES)
def test_the_longest_run_is_that_of_the_farthest_pair(first, second):
    assert longest_run(first, second) == max((run_m(one, other) for one in first for other in second), default=0.0)


def test_runs_within_a_rack_to_its_neighbour_along_a_row_and_over_a_cross_tray():
    assert longest_run({3}, {3}) == 2.0  # inside the rack
    assert longest_run({3, 4}, {3}) == 5.0  # the neighbour
    assert longest_run({1, 11}, {1, 2}) == 7.0 + 10 * 0.6  # ten racks along a row of 0.6 m each, up and down 7 m
    assert longest_run({6}, {26}) == 7.0 + 10 * 0.6 + 3.6  # column 5 to column 5 of the next row over the tray at 0 or 10: 5 + 5 racks
