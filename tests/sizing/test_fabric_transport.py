"""Buffers, addresses and managers of the transport."""

from __future__ import annotations

import pytest

from catalogs import load_catalog
from rules.sizing.fabric.design import design_fabric
from rules.sizing.fabric.transport import headroom_bytes, headroom_of, lids, response_bytes, sharp_generation, subnet_manager_words
from tests.stages.fabric_designs import made


def test_headroom_of_a_long_cable():
    """100 m at 400 Gb/s: 5 ns/m over 200 m at 50 GB/s are 50 kB on the cable, two frames of 9,216 B, and 905 quanta of the response."""
    assert headroom_bytes(100, 400) == pytest.approx(50_000 + 2 * 9216 + 905 * 512 / 8)
    assert headroom_bytes(0, 400) == 2 * 9216 + 57_920


def test_senders_obey_within_the_pause_quanta_of_their_rate():
    """IEEE 802.3: 60 quanta of 512 bits at 10 Gb/s, 118 at 40, 394 at 100, 905 at 400; the time of 400 Gb/s at 800."""
    assert [response_bytes(each) / 64 for each in (10, 40, 100, 400, 800)] == [60, 118, 394, 905, 1810]


def test_headroom_of_a_leaf_is_that_of_its_ports():
    candidate, context = made(load_catalog(), "nvidia-dgx-h100", 64, preferences__fabric="ethernet")
    found = headroom_of(design_fabric(candidate, context).choice.chosen, 30)
    assert found.buffer == 160e6
    assert found.ports == 128
    assert found.whole == pytest.approx(128 * (30 * 2 * 5e-9 * 50e9 + 18_432 + 57_920))


def test_lids_and_managers_of_four_units():
    candidate, context = made(load_catalog(), "nvidia-dgx-h100", 127, preferences__fabric="infiniband")
    chosen = design_fabric(candidate, context).choice.chosen
    assert lids(chosen) == 1016 + 48 + 4
    assert subnet_manager_words(chosen) == "two managers on appliances, one active and one standby"


@pytest.mark.parametrize(
    ("switch", "generation"), [("nvidia-qm9700", "quantum_2"), ("nvidia-qm8700", "quantum"), ("nvidia-q3400-ra", ""), ("nvidia-sn5600", "")]
)
def test_limits_of_reduction_are_those_of_their_generation(switch, generation):
    assert sharp_generation(load_catalog().switches[switch]) == generation
