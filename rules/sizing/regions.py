"""Facts of a place: electricity prices and the carbon of the grid, found by the region's name or code."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from catalogs import Catalog
    from catalogs.loading import Shelf
    from catalogs.schema import Fact

_COUNTRY_SPELLINGS = {
    "usa": "us",
    "united states": "us",
    "united states of america": "us",
    "uk": "united kingdom",
    "uae": "united arab emirates",
}
_TOPICS = ("electricity", "carbon")
_AVERAGES = (" average (egrid)", " average")


def regional_fact(catalog: Catalog, topic: str, region: str) -> Fact | None:
    """Return the newest fact of `topic` for `region`, letter case apart; None where nothing matches.

    A fact names its region as "Germany (DEU)" or "Texas, US (US-TX)"; the full name, the name without the country and the code find it.
    """
    plain = region.strip().lower()
    wanted = _COUNTRY_SPELLINGS.get(plain, plain)
    return _newest(catalog.facts, topic, wanted) if wanted else None


@lru_cache(maxsize=128)
def _newest(facts: Shelf[Fact], topic: str, region: str) -> Fact | None:
    found = [fact for fact in facts if fact.topic == topic and region in _region_names(fact.applies_to)]
    return max(found, key=_date, default=None)


def is_known(catalog: Catalog, region: str) -> bool:
    """Return whether the catalog has any fact of `region`."""
    return any(regional_fact(catalog, topic, region) is not None for topic in _TOPICS)


def region_names(catalog: Catalog) -> list[str]:
    """Return the regions that the catalog has facts of, as a person writes them: "Germany", "Texas"."""
    found = {fact.applies_to.partition(" (")[0].partition(",")[0] for fact in catalog.facts if fact.topic in _TOPICS}
    return sorted(found - {"any"})


def is_the_us(region: str) -> bool:
    """Return whether `region` is the United States as a whole."""
    plain = region.strip().lower()
    return _COUNTRY_SPELLINGS.get(plain, plain) == "us"


def is_of_the_us(catalog: Catalog, region: str) -> bool:
    """Return whether `region` is the United States or one of their states, by the facts of the catalog."""
    if is_the_us(region):
        return True
    found = [fact for topic in _TOPICS if (fact := regional_fact(catalog, topic, region)) is not None]
    return any(fact.applies_to.partition(" (")[0].lower().endswith(", us") for fact in found)


@lru_cache(maxsize=512)
def _region_names(text: str) -> frozenset[str]:
    """Return every lower-case name under which a region is found: "texas, us", "texas", "us-tx"."""
    name, _, code = text.lower().rpartition(" (")
    if not name:
        name, code = text.lower(), ""
    for ending in _AVERAGES:
        name = name.removesuffix(ending)
    return frozenset(each for each in (name, name.partition(",")[0], code.rstrip(")")) if each)


def _date(fact: Fact) -> str:
    return max((value.date or "" for value in fact.values.values()), default="")
