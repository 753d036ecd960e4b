"""Between the utility and the racks: UPS and generator, the current when everything is switched on, and swings of the load."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rules.sizing.lookup import fact_value, threshold_number
from rules.sizing.power_cap import rating_w

if TYPE_CHECKING:
    from catalogs import Catalog
    from catalogs.schema import Gpu, Node
    from rules.sizing.feeds import Feed

FACT = "power-chain"
REDUNDANT_COPIES = {"n": 1, "2n": 2}
WORDS = {"none": "none", "n": "N", "n_plus_1": "N+1", "2n": "2N"}
"""How redundancies are printed."""
UPS_HEIGHT, GENERATOR_HEIGHT = "pow-altitude-ups", "pow-altitude-generator"
"""Thresholds of what thin air takes from their ratings."""
LEAST_LEFT = 0.1
"""Share of a rating that is counted at the least: published derating ends well before."""


@dataclass(frozen=True)
class Backup:
    """A UPS or a generator: its redundancy as answered, the load in kW that it carries, and the rating of one full set in kVA."""

    redundancy: str
    load_kw: float
    rating_kva: float

    @property
    def text(self) -> str:
        """Return it in words: "2N, 2 × 520 kVA"; "N+1, modules of 520 kVA together and one more"."""
        if self.redundancy == "none":
            return "none"
        name, each = WORDS[self.redundancy], f"{math.ceil(self.rating_kva - 1e-6):,} kVA"
        if self.redundancy == "n_plus_1":
            return f"{name}, modules of {each} together and one more"
        return f"{name}, {REDUNDANT_COPIES[self.redundancy]} × {each}"


def size_ups(redundancy: str, it_kw: float, catalog: Catalog, altitude_m: float = 0.0) -> Backup | None:
    """Return the UPS that carries all equipment at maximum; None where nothing was said of one.

    Its rating, at sea level, is the load over the UPS's power factor (catalog fact `power-chain`), as modern ones give as many kW as kVA,
    and over the share that it gives at the hall's height.
    """
    share = rating_left(UPS_HEIGHT, altitude_m, catalog)
    return _backup(redundancy, it_kw, share * fact_value(catalog.facts, FACT, "ups_power_factor").to(""))


def size_generator(redundancy: str, total_kw: float, catalog: Catalog, altitude_m: float = 0.0) -> Backup | None:
    """Return the generator that carries the whole installation, cooling included; None where nothing was said of one.

    Generators are rated at a power factor of 0.8, at which 100 kVA give 80 kW, and lose of it in thin air.
    """
    share = rating_left(GENERATOR_HEIGHT, altitude_m, catalog)
    return _backup(redundancy, total_kw, share * fact_value(catalog.facts, FACT, "generator_power_factor").to(""))


def rating_left(threshold: str, altitude_m: float, catalog: Catalog) -> float:
    """Return the share of its rating that a UPS or a generator gives at a height in m: all of it up to the threshold's `from_m`, then
    `percent` less for each `step_m`.

    Source: thresholds `pow-altitude-ups` (a UPS loses 1 % for each 100 m above 1,000 m) and `pow-altitude-generator` (4 % for each
    300 m above 1,525 m).
    """
    start, step, percent = (threshold_number(catalog.thresholds, threshold, name) for name in ("from_m", "step_m", "percent"))
    return max(LEAST_LEFT, 1.0 - percent / 100.0 * max(0.0, altitude_m - start) / step)


def _backup(redundancy: str, load_kw: float, power_factor: float) -> Backup | None:
    return Backup(redundancy, load_kw, 0.0 if redundancy == "none" else load_kw / power_factor) if redundancy else None


def inrush_a(supplies: int, catalog: Catalog) -> float:
    """Return the peak current in A of `supplies` that are switched on in the same half cycle, lasting a few milliseconds.

    Source: limit for one supply of the Intel server power specification, 40 A peak for a quarter of a cycle.
    """
    return supplies * fact_value(catalog.facts, FACT, "inrush_per_supply").to("A")


def inrush_limit_a(feed: Feed, catalog: Catalog) -> float:
    """Return the current in A from which a circuit's breaker may trip at once: five times its rating (type C, IEC 60898-1)."""
    return feed.pdu.current.to("A") * fact_value(catalog.facts, FACT, "breaker_trip_low").to("")


def units_at_once(feed: Feed, supplies: int, catalog: Catalog) -> int:
    """Return how many units with `supplies` each may be switched on at once on one rack's circuits, by the breakers' instant trip.

    The cords of a unit are spread evenly over the circuits, and those of a three-phase circuit over its phases.
    """
    per_circuit = math.ceil(supplies / feed.circuits)
    legs = feed.pdu.phases
    per_leg = max(1, math.ceil(per_circuit / legs))
    each_a = inrush_a(per_leg, catalog)
    return math.floor(inrush_limit_a(feed, catalog) / each_a + 1e-9) if each_a > 0 else 0


def swing_kw(node: Node, gpu: Gpu, units: int, catalog: Catalog, cap_w: float | None = None) -> float | None:
    """Return by how much the power of `units` falls and rises in kW when all their GPUs wait and compute in step.

    None where the GPU's rating is not published. Idle GPUs draw the share of NVIDIA's power model of a GB200 (200 of 1,200 W).
    """
    rating = rating_w(node, gpu)
    if rating is None:
        return None
    highest = rating if cap_w is None else min(rating, cap_w)
    idle = rating * fact_value(catalog.facts, FACT, "gpu_idle_share").to("")
    return units * node.gpu_count * max(0.0, highest - idle) / 1000.0
