"""How much longer a step is while it waits for data: worked out by hand."""

from __future__ import annotations

import pytest

from rules.sizing.data_wait import waited_for_data, waiting_share


@pytest.mark.parametrize(
    ("needed", "offered", "decode", "cores", "longer"),
    [
        (30, 20, 0, 64, 0.5),  # 30 GB/s wanted, 20 there: half as long again
        (10, 20, 96, 64, 0.5),  # 96 cores would decode what 64 do
        (30, 20, 80, 64, 0.5),  # the slower of the two sets the pace: 0.5 and 0.25 do not add up
        (20, 20, 64, 64, 0.0),  # just enough
        (30, 0, 0, 0, 0.0),  # not known
    ],
)
def test_the_slowest_of_reading_and_decoding_sets_the_pace(needed, offered, decode, cores, longer):
    assert waiting_share(needed, offered, decode, cores) == pytest.approx(longer)


def test_storage_that_is_there_counts_with_the_links_to_it():
    facts = {"dataset_read_gb_per_s": 12.0, "read_offered_gb_per_s": 0.0, "existing_gb_per_s": 8.0}
    assert waited_for_data(facts) == pytest.approx(0.5)


def test_resnet_on_eight_a100_with_64_cores():
    """2,470 images/s each [NVIDIA DeepLearningExamples ConvNets], 19,760 in all, at 250 images/s and core: 79.04 cores of 64."""
    assert waiting_share(0, 0, 8 * 2470 / 250, 64) == pytest.approx(0.235)
