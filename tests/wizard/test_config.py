"""The config file, and how numbers are typed and shown with it. Conversions are by hand: 1 ft = 0.3048 m, °F = 1.8 °C + 32."""

from __future__ import annotations

import pytest

from catalogs import load_catalog
from tests.wizard.calls import call
from wizard import schemas
from wizard.config import load_config, region_note
from wizard.currencies import CODES
from wizard.files import FileError, read_toml
from wizard.preferences import Preferences, in_units, own_note, shown_answer, typed, use, written
from wizard.shown import read_in
from wizard.summary import short_days, short_money

FULL = """
theme = "textual-light"
region = "Germany"
units = "imperial"
decimal = "comma"
[currency]
code = "EUR"
per_usd = 0.5
date = "2026-11-02"
[keymap]
look = "f6, ctrl+g"
"""


@pytest.fixture(autouse=True)
def as_before():
    yield
    use(Preferences())


def config_file(folder, text):
    path = folder / "config.toml"
    path.write_text(text)
    return str(path)


def test_all_keys_are_read_and_the_schema_agrees(tmp_path):
    path = config_file(tmp_path, FULL)
    found = load_config(path)
    assert found.theme == "textual-light"
    assert found.preferences == Preferences("comma", "imperial", "EUR", 0.5, "2026-11-02", "Germany")
    assert found.keymap == {"look": ("f6", "ctrl+g")}
    schemas.validator("config").validate(read_toml(path))


def test_the_persons_own_file_is_found_and_no_file_is_no_error(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert load_config().theme == ""
    (tmp_path / "cluster-wizard").mkdir()
    config_file(tmp_path / "cluster-wizard", 'theme = "nord"')
    assert load_config().theme == "nord"


WRONG = [
    ('them = "nord"', "them: no such key; did you mean 'theme'?"),
    ('units = "imprial"', "units: expected 'metric' or 'imperial', got 'imprial'; did you mean 'imperial'?"),
    ("decimal = 3", "decimal: expected 'point' or 'comma', got 3"),
    ('[currency]\ncode = "EUR"', "currency.per_usd: how much EUR is one US dollar?"),
    ('[currency]\ncode = "euro"', "currency.code: expected three capital letters"),
    ('[currency]\ncode = "EUR"\nper_usd = 0', "currency.per_usd: expected a number above 0"),
    ("[currency]\nrate = 1", "currency.rate: no such key; did you mean 'date'?; there are code, per_usd, date"),
    ('[currency]\ncode = "EUX"\nper_usd = 0.9', "currency.code: 'EUX' is no currency of ISO 4217; did you mean 'EUR'?"),
    ('[currency]\ndate = "2026-13-05"', "currency.date: expected a date such as '2026-11-02', got '2026-13-05'"),
    ("keymap = 1", "keymap: expected a table [keymap]"),
    ("[keymap]\nlook = 6", "keymap.look: expected keys as text"),
    ('theme = ""', "theme: expected the name of a theme"),
]


@pytest.mark.parametrize(("text", "message"), WRONG)
def test_an_error_names_file_key_and_what_was_expected_and_the_schema_refuses_it_too(tmp_path, text, message):
    path = config_file(tmp_path, text)
    with pytest.raises(FileError) as found:
        load_config(path)
    assert message in str(found.value)
    assert str(found.value).startswith(path)
    assert list(schemas.validator("config").iter_errors(read_toml(path)))


def test_a_day_that_no_calendar_has_is_refused(tmp_path):
    with pytest.raises(FileError, match=r"currency\.date: expected a date such as '2026-11-02', got '2026-02-30'"):
        load_config(config_file(tmp_path, '[currency]\ndate = "2026-02-30"'))


@pytest.mark.parametrize(
    ("region", "told"),
    [
        ("Gemany", "config.toml: region: the catalog knows no 'Gemany'; did you mean 'Germany'?"),
        ("Qwx", "config.toml: region: the catalog knows no 'Qwx': name a country, or a state of the United States"),
        ("texas", ""),
        ("USA", ""),
    ],
)
def test_a_region_that_the_catalog_does_not_know_is_told_with_the_nearest(tmp_path, region, told):
    note = region_note(load_config(config_file(tmp_path, f'region = "{region}"')), load_catalog())
    assert note.endswith(told)
    assert bool(note) == bool(told)


def test_plain_says_that_a_region_is_not_known_and_goes_on(tmp_path):
    called = call("plain", "--first", "--config", config_file(tmp_path, 'region = "Gemany"'), stdin=b"quit\n")
    assert "region: the catalog knows no 'Gemany'; did you mean 'Germany'?" in called.err
    assert "One question at a time" in called.out


def test_the_codes_are_those_of_currencies_in_use():
    """The euro came for HRK in 2023, XAU is gold, XXX is none [ISO 4217]; the list of ISO has 155 to 160 currencies in use."""
    assert {"USD", "EUR", "GBP", "JPY", "CHF", "CNY", "INR", "BRL", "ZAR", "UAH"} < CODES
    assert not {"HRK", "DEM", "XAU", "XXX", "ZWL"} & CODES
    assert 155 <= len(CODES) <= 160


def test_a_config_that_is_named_must_be_there(tmp_path):
    with pytest.raises(FileError, match="no such file"):
        load_config(str(tmp_path / "none.toml"))


def test_what_stays_in_dollars_and_metric_units_is_said():
    assert own_note() == ""
    use(Preferences(units="imperial", currency="EUR", per_usd=0.5, rate_date="2026-11-02"))
    assert own_note() == (
        "figures are in EUR at your own rate of 2026-11-02, 1 USD is 0.5 EUR; lengths, weights and temperatures of figures are imperial; "
        "sentences keep USD and metric units"
    )


def test_figures_follow_currency_and_decimal_comma():
    use(Preferences(decimal="comma", currency="EUR", per_usd=0.5))
    assert short_money(3e6) == "1,5M EUR"
    assert short_days(54.25) == "54,2 days"
    assert written("1,234.5 kW") == "1.234,5 kW"


@pytest.mark.parametrize(
    ("metric", "imperial"),
    [
        ("27 °C", "80.6 °F"),
        ("30.48 m", "100 ft"),
        ("45.359237 kg", "100 lb"),
        ("-40 °C", "-40 °F"),
        ("12 kW", "12 kW"),
        ("up to 3 m", "up to 3 m"),
    ],
)
def test_quantities_are_shown_in_imperial_units(metric, imperial):
    use(Preferences(units="imperial"))
    assert in_units(metric) == imperial


@pytest.mark.parametrize(
    ("key", "text", "stored"),
    [
        ("facility.total_power", "1,5 MW", "1.5 MW"),
        ("facility.total_power", "1.500,5 kW", "1500.5 kW"),
        ("facility.total_power", "1.500 kW", "1500 kW"),
        ("facility.total_power", "2.500.000 W", "2500000 W"),
        ("budget.electricity_price", "0.08 USD/kWh", "0.08 USD/kWh"),
        ("facility.total_power", "22.5 kW", "22.5 kW"),
        ("budget.purchase", "3M EUR", "6000000 USD"),
        ("budget.purchase", "3M USD", "3M USD"),
        ("budget.electricity_price", "0,1 EUR/kWh", "0.2 USD/kWh"),
        ("facility.inlet_temperature", "80", "80 degF"),
        ("facility.inlet_temperature", "27 °C", "27 °C"),
        ("model.preset", "llama-3,1", "llama-3,1"),
    ],
)
def test_what_is_typed_is_stored_in_the_catalogs_own_form(key, text, stored):
    use(Preferences(decimal="comma", units="imperial", currency="EUR", per_usd=0.5))
    assert typed(key, text) == stored


def test_without_a_config_nothing_is_changed():
    for key, text in (("facility.total_power", "1.5 MW"), ("budget.purchase", "3M EUR"), ("facility.inlet_temperature", "80")):
        assert typed(key, text) == text
        assert shown_answer(key, text) == text
    assert in_units("27 °C") == "27 °C"


def test_the_command_says_what_is_wrong_with_a_config(tmp_path):
    call("--config", config_file(tmp_path, 'units = "feet"')).assert_one_message()


def test_a_bare_number_is_told_the_unit_in_which_it_was_read():
    assert read_in("facility.inlet_temperature", "27") == "°C"
    use(Preferences(units="imperial", decimal="comma", currency="EUR", per_usd=0.5))
    assert read_in("facility.inlet_temperature", "80") == "°F"
    assert read_in("facility.inlet_temperature", "27 °C") == ""
    assert read_in("facility.total_power", "4,5") == "kW"
    assert read_in("budget.purchase", "3 000 000") == "USD"  # not the preferred currency: it must be named
    assert read_in("scale.nodes", "4") == ""
