"""How long it takes until the parts are there: published lead times, and what export rules say about a product."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from catalogs import Catalog
    from catalogs.schema import Fact, Gpu, Node

TOPIC = "lead_time"
NETWORK_PARTS = ("switch", "nic")
"""What the lead times of network gear are filed under; a cluster starts when its slowest part is there."""


@dataclass(frozen=True)
class LeadTime:
    """Weeks from order to delivery as published, low and high, and in words with the date of the figure."""

    low_weeks: float
    high_weeks: float
    words: str


def lead_time(node: Node, gpu: Gpu, catalog: Catalog) -> LeadTime | None:
    """Return the published lead time of the server, else of its GPU; None where no number is known."""
    by_product = _by_product(catalog)
    return next((found for id_ in (node.id, gpu.id) if (found := by_product.get(id_)) is not None), None)


def lead_of(applies_to: str, catalog: Catalog) -> LeadTime | None:
    """Return the published lead time of a kind of part ("switch", "nic", "cooling unit"), None where no number is known."""
    return _by_product(catalog).get(applies_to)


def allocation(gpu: Gpu, catalog: Catalog) -> str:
    """Return what is published about who gets the GPU first, "" where nothing is."""
    return _allocations(catalog).get(gpu.id, "")


def network_lead_weeks(catalog: Catalog) -> tuple[float, float]:
    """Return the lowest and highest published weeks of network parts, (0, 0) where none is known."""
    by_product = _by_product(catalog)
    known = [by_product[name] for name in NETWORK_PARTS if name in by_product]
    return (min(each.low_weeks for each in known), max(each.high_weeks for each in known)) if known else (0.0, 0.0)


@lru_cache(maxsize=8)
def _allocations(catalog: Catalog) -> dict[str, str]:
    stated = [fact for fact in catalog.facts if fact.topic == TOPIC and "allocation" in fact.values]
    return {fact.applies_to: str(fact.values["allocation"].value) for fact in stated}


@lru_cache(maxsize=8)
def _by_product(catalog: Catalog) -> dict[str, LeadTime]:
    rows = [fact for fact in catalog.facts if fact.topic == TOPIC]
    return {fact.applies_to: found for fact in rows if (found := _read(fact)) is not None}


def _read(fact: Fact) -> LeadTime | None:
    stated = fact.values.get("weeks") or fact.values.get("time")
    if stated is None:
        return None
    low, _, high = stated.ends("week")
    dated = f", {stated.date}" if stated.date else ""
    return LeadTime(low, high, f"{low:g} to {high:g} weeks ({stated.kind.value}{dated})")
