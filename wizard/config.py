"""The person's config file: theme, keys, units, currency, region. Every key is optional; an error names file, key and what was expected.

theme = "textual-light"
region = "Germany"
units = "metric"                # or "imperial"
decimal = "comma"               # or "point"
[currency]
code = "EUR"
per_usd = 0.92                  # your own rate
date = "2026-11-02"
[keymap]
look = "f6, ctrl+g"             # by the name of an action
"""

from __future__ import annotations

import datetime
import difflib
import math
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rules.answers import LONGEST_NAME, shortened
from wizard.currencies import CODES, MOST_USED
from wizard.files import FileError, read_toml
from wizard.places import config_folder
from wizard.preferences import COMMA, IMPERIAL, METRIC, POINT, Preferences

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from catalogs import Catalog

NAME = "config.toml"
_KEYS = ("theme", "region", "units", "decimal", "currency", "keymap")
_CURRENCY_KEYS = ("code", "per_usd", "date")
_CODE, _DATE, _ACTION = re.compile(r"[A-Z]{3}"), re.compile(r"\d{4}-\d{2}-\d{2}"), re.compile(r"[a-z_]+")
LARGEST_RATE = 1e9
DAY_EXPECTED = "a date such as '2026-11-02'"


@dataclass(frozen=True)
class Config:
    """What the file says. `keymap` holds keys by action; actions, keys and themes are checked where they are known: in the wizard."""

    path: Path | None = None
    theme: str = ""
    preferences: Preferences = field(default_factory=Preferences)
    keymap: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def load_config(path: str | None = None) -> Config:
    """Return the config of `path`, else of the person's own file where there is one; raises FileError."""
    if path is not None:
        return _read(Path(path))
    own = config_folder() / NAME
    try:
        there = own.is_file()
    except OSError:  # a home that may not be looked into
        return Config()
    return _read(own) if there else Config()


def _read(path: Path) -> Config:
    document = read_toml(path)
    for key in document:
        if key not in _KEYS:
            raise FileError(path, f"{shortened(key)}: no such key{nearest(key, _KEYS)}; there are {', '.join(_KEYS)}")
    money = _table(document, "currency", path)
    for key in money:
        if key not in _CURRENCY_KEYS:
            there = f"there are {', '.join(_CURRENCY_KEYS)}"
            raise FileError(path, f"currency.{shortened(key)}: no such key{nearest(key, _CURRENCY_KEYS)}; {there}")
    code = _text(money, "code", path, "currency.", _CODE, "three capital letters, such as 'EUR'") or "USD"
    if code not in CODES:
        near = nearest(code, MOST_USED) or nearest(code, sorted(CODES))
        raise FileError(path, f"currency.code: {code!r} is no currency of ISO 4217{near}")
    chosen = Preferences(
        decimal=_one_of(document, "decimal", (POINT, COMMA), path),
        units=_one_of(document, "units", (METRIC, IMPERIAL), path),
        currency=code,
        per_usd=_rate(money, code, path),
        rate_date=_day(money, path),
        region=_text(document, "region", path, "", None, "the name of a country or state, such as 'Germany'"),
    )
    theme = _text(document, "theme", path, "", None, "the name of a theme, such as 'textual-light'")
    return Config(path, theme, chosen, _keymap(document, path))


def _rate(money: Mapping[str, Any], code: str, path: Path) -> float:
    rate = money.get("per_usd")
    if rate is None:
        if code != "USD":
            raise FileError(path, f"currency.per_usd: how much {code} is one US dollar? Write your own rate, such as per_usd = 0.92")
        return 1.0
    if isinstance(rate, bool) or not isinstance(rate, (int, float)) or not math.isfinite(rate) or not 0 < rate <= LARGEST_RATE:
        raise FileError(path, f"currency.per_usd: expected a number above 0, such as 0.92, got {shortened(repr(rate))}")
    return float(rate)


def _day(money: Mapping[str, Any], path: Path) -> str:
    day = _text(money, "date", path, "currency.", _DATE, DAY_EXPECTED)
    try:
        return datetime.date.fromisoformat(day).isoformat() if day else ""
    except ValueError as error:
        raise FileError(path, f"currency.date: expected {DAY_EXPECTED}, got {day!r}: {error}") from error


def _keymap(document: Mapping[str, Any], path: Path) -> dict[str, tuple[str, ...]]:
    found = {}
    for action, keys in _table(document, "keymap", path).items():
        if not _ACTION.fullmatch(action) or not isinstance(keys, str) or not keys.strip():
            raise FileError(path, f"keymap.{shortened(action)}: expected keys as text, such as 'f6, ctrl+g', got {shortened(repr(keys))}")
        found[action] = tuple(key.strip() for key in keys.split(",") if key.strip())
    return found


def _table(document: Mapping[str, Any], key: str, path: Path) -> Mapping[str, Any]:
    value = document.get(key, {})
    if not isinstance(value, dict):
        raise FileError(path, f"{key}: expected a table [{key}], got {shortened(repr(value))}")
    return value


def _one_of(document: Mapping[str, Any], key: str, choices: tuple[str, ...], path: Path) -> str:
    value = document.get(key, choices[0])
    if value not in choices:
        raise FileError(path, f"{key}: expected {' or '.join(map(repr, choices))}, got {shortened(repr(value))}{nearest(value, choices)}")
    return str(value)


def _text(table: Mapping[str, Any], key: str, path: Path, prefix: str, form: re.Pattern[str] | None, expected: str) -> str:
    value = table.get(key, "")
    good = isinstance(value, str) and value.isprintable() and len(value) <= LONGEST_NAME
    if not good or (key in table and not value.strip()) or (form is not None and value and not form.fullmatch(value)):
        raise FileError(path, f"{prefix}{key}: expected {expected}, got {shortened(repr(value))}")
    return str(value).strip()


def region_note(config: Config, catalog: Catalog) -> str:
    """Return what to say about a region that the catalog does not know, "" where it knows it or none is named.

    It is no error: a place may be missing from the catalog, and the design says what it does without its prices.
    """
    from rules.sizing.regions import is_known, region_names

    region = config.preferences.region
    if not region or is_known(catalog, region):
        return ""
    near = nearest(region, region_names(catalog))
    return (
        f"{config.path or 'config'}: region: the catalog knows no {region!r}{near or ': name a country, or a state of the United States'}"
    )


def nearest(word: object, words: Iterable[str]) -> str:
    """Return "; did you mean …?" with the word that is most like it, "" where none is."""
    near = difflib.get_close_matches(str(word), list(words), n=1, cutoff=0.5)
    return f"; did you mean {near[0]!r}?" if near else ""
