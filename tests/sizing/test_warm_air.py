"""Clocks in warm and thin air, against what was seen."""

import pytest

from catalogs import load_catalog
from rules.answers import Answers
from rules.sizing import power_cap, warm_air
from rules.sizing.hardware import hardware_of


@pytest.fixture(scope="module")
def catalog():
    return load_catalog()


def test_fifteen_kelvin_cost_fifteen_percent_at_most():
    """WhaleFlux: about 15 % slower at 85 °C than at 70 °C, which 15 K of warmer air make where fans run at their limit already."""
    low, expected, high = warm_air.clock_shares(27.0 + 15.0)
    assert (low, high) == pytest.approx((0.85, 1.0))
    assert low < expected < high


def test_a_warm_midday_is_within_the_range():
    """Llama 3 lost 1 to 2 % at midday; a few kelvin of warmer air."""
    low, _, high = warm_air.clock_shares(27.0 + 3.0)
    assert low <= 0.98 <= 0.99 <= high


@pytest.mark.parametrize(("inlet", "altitude", "counts"), [(27, 0, 27), (27, 900, 27), (27, 1800, 30), (24, 2400, 29), (35, 0, 35)])
def test_thin_air_counts_as_warmer(inlet, altitude, counts):
    """ASHRAE TC 9.9: one degree for each 300 m above 900 m."""
    assert warm_air.counts_as_celsius(inlet, altitude) == pytest.approx(counts)


@pytest.mark.parametrize(
    ("node", "said", "share"),
    [
        ("nvidia-dgx-h100", {}, 1.0),
        ("nvidia-dgx-h100", {"facility.inlet_temperature": "20 °C"}, 1.0),
        ("nvidia-dgx-h100", {"facility.inlet_temperature": "30 °C"}, 0.985),  # between 97 and 100 %
        ("nvidia-dgx-h100", {"facility.altitude": "1800 m"}, 0.985),
        ("nvidia-gb200-nvl72", {"facility.inlet_temperature": "35 °C", "facility.cooling": "air, liquid"}, 1.0),  # cold plates
        (
            "nvidia-dgx-h100",
            {"facility.inlet_temperature": "35 °C", "facility.cooling": "immersion", "facility.immersion_released": "nvidia-dgx-h100"},
            1.0,
        ),
    ],
)
def test_arithmetic_is_slowed_where_air_reaches_the_gpus(catalog, node, said, share):
    record = catalog.nodes[node]
    gpu = catalog.gpus[record.gpu]
    full = hardware_of(record, gpu, catalog)
    held = power_cap.capped_hardware(full, record, gpu, Answers.of(said))
    assert held.sustained_flops("bf16") == pytest.approx(full.sustained_flops("bf16") * share)
    assert held.hbm_bytes_per_s == full.hbm_bytes_per_s
    assert (held is full) == (share == 1.0)


def test_a_cap_and_warm_air_add_up(catalog):
    record = catalog.nodes["nvidia-dgx-h100"]
    gpu = catalog.gpus[record.gpu]
    full = hardware_of(record, gpu, catalog)
    both = power_cap.capped_hardware(
        full, record, gpu, Answers.of({"facility.inlet_temperature": "30 °C", "facility.gpu_power_cap": "600 W"})
    )
    assert both.sustained_flops("bf16") == pytest.approx(full.sustained_flops("bf16") * 0.966 * 0.985)
