"""Quantities as text: units of data centres, traps of bits, bytes, GB and GiB, and hostile input."""

import math
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalogs.quantities import (
    QuantityError,
    format_number,
    format_quantity,
    grouped,
    magnitude,
    number_in_words,
    parse_quantity,
    quantity,
    split,
)


@pytest.mark.parametrize(
    ("text", "unit", "expected"),
    [
        ("400 Gb/s", "GB/s", 50.0),  # 8 bits are one byte
        ("400Gbps", "GB/s", 50.0),
        ("400 Gbit/s", "Gb/s", 400.0),
        ("400 GbE", "Gb/s", 400.0),
        ("1.6 Tb/s", "Gb/s", 1600.0),
        ("1 GiB", "byte", 1073741824.0),  # IEC 80000-13
        ("80 GB", "GiB", 74.50580596923828),
        ("81559 MiB", "GiB", 79.6474609375),
        ("25 °C", "degF", 77.0),
        ("77 degF", "degC", 25.0),
        ("42 U", "m", 1.8669),  # EIA-310: 44.45 mm each
        ("1 CFM", "m**3/s", 0.000471947),
        ("17 kVA", "W", 17000.0),
        ("1 kWh", "MJ", 3.6),
        ("989 TFLOPS", "PFLOP/s", 0.989),
        ("$1.5M", "USD", 1500000.0),
        ("400k USD/year", "USD/year", 400_000.0),
        ("0.4 million USD/year", "USD/year", 400_000.0),
        ("$400k/year", "USD/year", 400_000.0),
        ("$0.08/kWh", "USD/kWh", 0.08),
        ("US$ 3 million", "USD", 3000000.0),
        ("15.6 T tokens", "token", 15.6e12),
        ("8,646 VA", "W", 8646.0),
        ("12'345 W", "kW", 12.345),
        ("1 500 kW", "MW", 1.5),
        ("80%", "", 0.8),
        ("3 weeks", "day", 21.0),
        ("0.0864 USD/kWh", "USD/MWh", 86.4),
    ],
)
def test_reads_the_spellings_of_the_field(text, unit, expected):
    assert magnitude(text, unit) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(("text", "number", "unit"), [("30B", 30e9, ""), ("671B parameters", 671e9, "parameters"), ("100K", 1e5, "")])
def test_counts_may_be_written_in_thousands(text, number, unit):
    assert split(text) == (number, unit)


def test_a_separate_k_is_kelvin_and_an_attached_one_thousand():
    assert magnitude("4 K", "K") == 4
    assert magnitude("5K", "") == 5000
    assert magnitude("100 K tokens", "token") == 100_000


@pytest.mark.parametrize(
    "text", ["", "kW", "inf W", "nan W", "1e400 W", "€ 5", "1.2.3 W", "2 x 400 Gb/s", "1; import os", "9" * 201, "400 gb/s"]
)
def test_refuses_what_is_not_a_quantity(text):
    with pytest.raises(QuantityError):
        parse_quantity(text)


@pytest.mark.parametrize(("text", "number"), [("4 000 kW", 4000), ("1_000_000 W", 1e6), ("10'000 W", 10_000), ("4\u202f000.5 W", 4000.5)])
def test_digits_are_grouped_in_threes(text, number):
    assert split(text)[0] == number


@pytest.mark.parametrize("text", ["1 2 kW", "12 00 W", "1__0 W", "1_ W", "1 000'000 W", "1 0000 W"])
def test_other_groups_are_a_slip(text):
    with pytest.raises(QuantityError, match="groups of three"):
        split(text)


@pytest.mark.parametrize("text", ["1e300 GB/s", "-1e31 W"])
def test_numbers_beyond_anything_are_refused(text):
    with pytest.raises(QuantityError, match="than any quantity can be"):
        split(text)


@pytest.mark.parametrize(
    ("number", "shown"),
    [(1.60605e11, "160.6 billion"), (15.6e12, "15.6 trillion"), (2048, "2,048"), (1_281_167, "1,281,167"), (0, "0"), (-0.5, "-0.5")],
)
def test_numbers_for_reading(number, shown):
    assert number_in_words(number) == shown


@pytest.mark.parametrize(("number", "digits", "shown"), [(5.5e-5, 3, "0.000055"), (8290, 3, "8,290"), (40.83, 3, "40.8")])
def test_a_few_digits_without_an_exponent(number, digits, shown):
    assert grouped(number, digits) == shown


@pytest.mark.parametrize(
    ("number", "shown"),
    [
        (1e300, "10^300"),
        (-1e300, "-10^300"),
        (3.8e25, "3.8 × 10^25"),
        (10**300, "10^300"),
        (9.99e17, "999,000 trillion"),
        (math.inf, "inf"),
    ],
)
def test_a_number_beyond_reading_is_a_power_of_ten(number, shown):
    assert number_in_words(number) == shown


@pytest.mark.parametrize("text", ["1,5 kW", "4.000,5 kW", "1.234.567 kW"])
def test_says_how_to_write_a_decimal(text):
    with pytest.raises(QuantityError, match="decimal point"):
        parse_quantity(text)


@pytest.mark.parametrize(("text", "unit"), [("1 kW", "GB"), ("400 Gb/s", "GB"), ("30 GB", "GB/s"), ("5 USD", "W")])
def test_refuses_another_dimension(text, unit):
    with pytest.raises(QuantityError, match="is not a unit of the kind"):
        magnitude(text, unit)


def test_writes_what_it_reads():
    assert format_quantity(parse_quantity("400 Gb/s")) == "400 Gb/s"
    assert format_quantity(parse_quantity("400Gbps")) == "400 Gb/s"
    assert format_quantity(parse_quantity("17 kVA")) == "17 kVA"
    assert format_quantity(parse_quantity("25 °C")) == "25 °C"
    assert format_quantity(1236000.0, "USD", 7) == "1236000 USD"
    assert format_quantity(quantity(10200, "W"), "kW") == "10.2 kW"
    assert format_number(0.00001) == "0.00001"
    assert format_number(123456.0, 4) == "123456"


@given(
    st.floats(min_value=1e-6, max_value=1e15),
    st.sampled_from(["W", "kW", "GB", "GiB", "Gb/s", "GB/s", "USD", "TFLOP/s", "U", "CFM", "m", "s"]),
)
def test_a_written_quantity_reads_back(value, unit):
    text = format_quantity(value, unit, 12)
    assert magnitude(text, unit) == pytest.approx(value, rel=1e-9)
    assert magnitude(format_quantity(parse_quantity(text), digits=12), unit) == pytest.approx(value, rel=1e-9)


@given(st.text(max_size=60))
def test_any_text_is_a_finite_quantity_or_a_quantity_error(text):
    try:
        number, _ = split(text)
        parse_quantity(text)
    except QuantityError:
        return
    assert math.isfinite(number)


def test_importing_makes_no_registry():
    code = "import sys, catalogs.quantities, catalogs.schema, catalogs.loading; sys.exit('pint' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("number", [1e-30, 1e-31, 1e-99, 1e-300, -1e-99, 5e-324])
def test_what_is_too_small_to_measure_is_zero_and_reads_back(number):
    """A tenth of the Planck length is 1.6e-36 m: nothing that is asked is measured below 1e-30 of any unit."""
    written = format_quantity(number, "m")
    assert magnitude(written, "m") == magnitude(format_quantity(magnitude(written, "m"), "m"), "m")
    assert magnitude(f"{number!r} m", "m") == (number if number == 1e-30 else 0.0)
    assert len(written) < 40


def test_a_small_unit_makes_no_smaller_number():
    """1e-28 micrometres are 1e-34 m, which is written as nothing."""
    assert format_quantity(parse_quantity("1e-28 um", "m"), "m") == "0 m"
