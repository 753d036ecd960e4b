"""What each single failure costs, and which parts lie on the shelf: rates with their meaning, GPUs that stop, hours, GPU-hours.

Interruptions of a job and replaced parts are counted apart: of the first, most end with a restart and nothing is replaced.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from catalogs.sums import plain_sum
from rules.sizing.lookup import fact_value
from rules.sizing.racks import racks_per_domain
from rules.sizing.reliability import HOURS_PER_DAY, REPAIR_DAYS, failure_rate

if TYPE_CHECKING:
    from catalogs import Catalog
    from catalogs.loading import Shelf
    from catalogs.schema import Fact
    from rules.candidate import Candidate
    from rules.sizing.reliability import Goodput
    from rules.sizing.results import FabricNetwork

DAYS_PER_YEAR = 365.0
SECONDS_PER_HOUR = 3600.0
SWAP_HOURS = (1.0, 4.0)
"""Hours to swap a switch that lies on the shelf: what operators of GB200 NVL72 report for a switch tray [fact gpu-mean-time-gb200]."""
BACKPLANE_HOURS = (8.0, 24.0)
"""Hours for the backplane of a rack, by the same operators."""
SERVICE_LEVEL = 0.95
"""Chance that the shelf holds until the next delivery, assumed: out of stock once in twenty periods."""
INTERRUPTS, REPLACED = "interrupts the job", "is replaced"
NO_RATE = "no rate is published"


@dataclass(frozen=True)
class SingleFailure:
    """One kind of failure. `per_year` is of all `count` parts together, None where nobody published it.

    `stopped` GPUs stand for `hours` (low, high); `gpu_hours` is what one such failure costs at the middle of them.
    """

    part: str
    count: int
    per_year: float | None
    meaning: str
    effect: str
    stopped: int
    hours: tuple[float, float]

    @property
    def gpu_hours(self) -> float:
        """Return the GPU-hours that one failure costs."""
        return self.stopped * plain_sum(self.hours) / 2.0


@dataclass(frozen=True)
class ShelfPart:
    """A part that is kept in stock: how many are in use, how many are replaced in a year, and how many lie on the shelf."""

    item: str
    count: int
    per_year: tuple[float, float]
    weeks: float
    stock: int


def single_failures(candidate: Candidate, goodput: Goodput, spares: int, catalog: Catalog) -> tuple[SingleFailure, ...]:
    """Return what one failure of each kind of part costs, the most frequent first; those without a published rate last."""
    rows = [_node_failure(candidate, goodput, spares, catalog)]
    if candidate.node.is_rack:
        rows.append(_backplane(candidate))
    if candidate.fabric is not None and candidate.fabric.compute is not None:
        rows += _fabric_failures(candidate.fabric.compute, candidate, goodput, catalog)
    rows += _storage_failures(candidate)
    return tuple(sorted(rows, key=lambda row: -(row.per_year or -1.0)))


def _node_failure(candidate: Candidate, goodput: Goodput, spares: int, catalog: Catalog) -> SingleFailure:
    rate = failure_rate(candidate.gpu, candidate.gpus, catalog)
    hours = (goodput.restart + goodput.checkpoints.lost) / SECONDS_PER_HOUR
    effect = "the job goes back to its last checkpoint and starts again on a spare node"
    if spares == 0:
        effect = (
            f"the job goes back to its last checkpoint; without a spare it stands up to {REPAIR_DAYS:g} days where a node must be repaired"
        )
    per_year = rate.expected * candidate.gpus * DAYS_PER_YEAR
    return SingleFailure("node with its GPUs and links", candidate.nodes, per_year, INTERRUPTS, effect, candidate.gpus, (hours, hours))


def _backplane(candidate: Candidate) -> SingleFailure:
    node = candidate.node
    effect = f"all {node.gpu_count} GPUs of the rack stand, not one node"
    if racks_per_domain(node) > 1:
        effect += f"; the domain of {node.scale_up_domain} that it makes with the rack beside it is without them"
    return SingleFailure("backplane of a rack", candidate.units, None, INTERRUPTS, effect, candidate.node.gpu_count, BACKPLANE_HOURS)


def _fabric_failures(network: FabricNetwork, candidate: Candidate, goodput: Goodput, catalog: Catalog) -> list[SingleFailure]:
    switch_rate, link_rate, _, _ = _published(catalog.facts)
    rows = []
    if network.leaf:
        effect = "the nodes below lose it: the job stops until it is swapped, unless every adapter reaches a second leaf"
        rows.append(SingleFailure("leaf switch", network.leaf, network.leaf * switch_rate, REPLACED, effect, candidate.gpus, SWAP_HOURS))
    if network.spine > 1:
        effect = f"traffic between leaves falls by 1/{network.spine} until it is swapped; the job goes on once routes avoid it"
        rows.append(SingleFailure("spine switch", network.spine, network.spine * switch_rate, REPLACED, effect, 0, SWAP_HOURS))
    links = network.links.get("node_leaf", 0)
    if links:
        hours = (goodput.restart + goodput.checkpoints.lost) / SECONDS_PER_HOUR
        effect = "one GPU's adapter is cut off: the job starts again; counted among the interruptions of nodes already"
        rows.append(SingleFailure("link of an adapter", links, links * link_rate, INTERRUPTS, effect, candidate.gpus, (hours, hours)))
    return rows


def _storage_failures(candidate: Candidate) -> list[SingleFailure]:
    storage = candidate.storage
    if storage is None:
        return []
    rows = []
    for tier in storage.tiers:
        left = f"1/{tier.units} of rate and capacity" if tier.units > 1 else "the only unit"
        guard = tier.protection or "protection as its maker states"
        effect = f"{left} is gone; data stay readable by {guard}, checkpoints take longer, the job goes on"
        rows.append(SingleFailure(f"unit of {tier.name}", tier.units, None, REPLACED, effect, 0, (0.0, 0.0)))
    return rows


def shelf_parts(candidate: Candidate, catalog: Catalog) -> tuple[ShelfPart, ...]:
    """Return the switches and optical modules that lie on the shelf, by how many are replaced until the next delivery."""
    if candidate.fabric is None:
        return ()
    switch_rate, _, module_low, module_high = _published(catalog.facts)
    weeks_switch, weeks_module = _weeks(catalog.facts)
    switches, modules = _in_use(candidate, catalog)
    rows = [_shelf_part(item, count, (switch_rate, switch_rate), weeks_switch) for item, count in switches.items()]
    rows += [_shelf_part(item, count, (module_low, module_high), weeks_module) for item, count in modules.items()]
    return tuple(row for row in rows if row.stock > 0)


def _in_use(candidate: Candidate, catalog: Catalog) -> tuple[dict[str, int], dict[str, int]]:
    """Return the switches and the optical modules of all networks by product id."""
    fabric = candidate.fabric
    assert fabric is not None
    switches: dict[str, int] = {}
    modules: dict[str, int] = {}
    networks = {id(each): each for each in (fabric.compute, fabric.storage, fabric.in_band, fabric.out_of_band) if each is not None}
    for network in networks.values():
        for item, count in network.switches.items():
            switches[item] = switches.get(item, 0) + count
        for item, count in network.cables.items():
            cable = catalog.cables.get(item)
            if cable is not None and cable.is_transceiver:
                modules[item] = modules.get(item, 0) + count
    return switches, modules


def _shelf_part(item: str, count: int, each_per_year: tuple[float, float], weeks: float) -> ShelfPart:
    low, high = (count * rate for rate in each_per_year)
    return ShelfPart(item, count, (low, high), weeks, stock_for((low + high) / 2.0 * weeks * 7.0 / DAYS_PER_YEAR))


def stock_for(mean: float, service: float = SERVICE_LEVEL) -> int:
    """Return the smallest stock that suffices with chance `service`, where `mean` parts are replaced at random until the next delivery.

    The replacements are Poisson; above a mean of 500 the normal distribution stands in, with 1.645 deviations for 95 %.
    """
    if mean > 500.0:
        return math.ceil(mean + 1.645 * math.sqrt(mean))
    term = enough = math.exp(-mean)
    stock = 0
    while enough < service:
        stock += 1
        term *= mean / stock
        enough += term
    return stock


@lru_cache(maxsize=8)
def _published(facts: Shelf[Fact]) -> tuple[float, float, float, float]:
    """Return failures per year of a switch and a link, and the low and high replacement rate of an optical module."""
    optics = ("per_year_low", "per_year_high")
    return (
        fact_value(facts, "hpn-tor", "per_year").to(""),
        fact_value(facts, "hpn-link", "per_year").to(""),
        *(fact_value(facts, "optics-pluggable", name).to("") for name in optics),
    )  # type: ignore[return-value]


@lru_cache(maxsize=8)
def _weeks(facts: Shelf[Fact]) -> tuple[float, float]:
    """Return the weeks until a switch and an optical module are delivered; modules come as adapters do."""
    return fact_value(facts, "lead-time-switch", "time").to("week"), fact_value(facts, "lead-time-nic", "time").to("week")


def hours_in_words(hours: tuple[float, float]) -> str:
    """Return a span of hours: "1 to 4 h", "22 min", "none"."""
    low, high = hours
    if high <= 0.0:
        return "none"
    if low == high:
        return f"{low * 60:.3g} min" if low < 2.0 else f"{low:.3g} h" if low < 2 * HOURS_PER_DAY else f"{low / HOURS_PER_DAY:.3g} days"
    return f"{low:g} to {high:g} h"
