"""Facility power over IT power: what was said, else by how the hall is cooled and in which climate it stands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from catalogs.schema import Kind
from rules.sizing.lookup import fact_value

if TYPE_CHECKING:
    from catalogs import Catalog
    from rules.answers import Answers

CLIMATE_FACT = "free-cooling"
DESK_PUE = 1.0
"""Where a machine stands in a room its circuit carries the machine alone, by the definition of the PUE."""


@dataclass(frozen=True)
class Pue:
    """Facility power over IT power, how the figure came about, and where it is from in words."""

    value: float
    kind: Kind
    basis: str


def pue_of(answers: Answers, cooling: str, catalog: Catalog, *, desktop: bool = False) -> Pue:
    """Return the PUE: the person's own; for a machine at a desk none of a hall; else by cooling and climate, else that of the answers."""
    assumed = answers.number("facility.pue") or 1.0
    climate = answers.text("facility.climate")
    if answers.given("facility.pue"):
        return Pue(assumed, Kind.YOU, "your own figure")
    if desktop:
        return Pue(DESK_PUE, Kind.ASSUMED, "a machine in a room, without a hall's cooling plant")
    if not climate:
        return Pue(assumed, Kind.ASSUMED, "neither PUE nor climate was given")
    return Pue(
        modelled_pue(cooling, climate, catalog),
        Kind.ESTIMATED,
        f"{cooling.replace('_', ' ')} cooling in a {climate.replace('_', ' ')} climate",
    )


def modelled_pue(cooling: str, climate: str, catalog: Catalog) -> float:
    """Return floor + (1 - free-cooling share of the year) × penalty for a kind of cooling in a climate.

    `floor` is the overhead while the weather cools, `penalty` what compressors add (catalog facts `pue-air`, `pue-rear_door`, ...).
    Source: cooling-pue-ladder 1.0.0, whose constants reproduce published fleets: Google 1.09 and NREL's warm-water hall 1.036.
    """
    free = fact_value(catalog.facts, CLIMATE_FACT, climate).to("")
    floor, penalty = (fact_value(catalog.facts, f"pue-{cooling}", key).to("") for key in ("floor", "penalty"))
    return floor + (1.0 - free) * penalty
