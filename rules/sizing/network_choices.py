"""InfiniBand, Ethernet and more planes compared by one model: the step of the candidate's plan on each, at the node's own rate.

What tells them apart in time: the latency of the switches that a message crosses, how evenly flows spread over the paths, and what is left
when a plane is lost. Price, skills and lead time are the fabric stage's.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from catalogs.sums import plain_sum
from rules.sizing import throughput
from rules.sizing.hardware import BITS_PER_BYTE, GIGA
from rules.sizing.lookup import threshold_number
from rules.sizing.plan_kept import Remembered
from rules.sizing.step import is_transformer, step_model

if TYPE_CHECKING:
    from catalogs import Catalog
    from catalogs.loading import Shelf
    from catalogs.schema import Switch
    from rules.sizing.hardware import Hardware
    from rules.sizing.results import Plan, Workload

SWITCHES_CROSSED = 3
"""Switches between two nodes of a leaf-spine network: leaf, spine, leaf."""
FLOOR_OVER = "infiniband"
"""What the model's latency of an empty message between nodes was measured over [NVIDIA/nccl issue 1244]."""
TIE_PERCENT = 1.0
"""Steps that differ by less are a tie: a seventh of the model's own error on runs whose plan is stated [docs/validation.md]."""
BASELINE_GBPS = 100.0
"""100 GbE per node, the baseline that guidance names (G2a.1)."""


@dataclass(frozen=True)
class NetworkChoice:
    """One network: what it is, and the step on it in seconds."""

    name: str
    seconds: float


@dataclass(frozen=True)
class Comparison:
    """The steps on all networks, the first as designed. `longer` has by how many percent each is longer than the first."""

    choices: tuple[NetworkChoice, ...]

    def longer(self, name: str) -> float:
        """Return by how many percent the step on that network is longer than on the first; raises StopIteration for an unknown name."""
        first = self.choices[0].seconds
        found = next(each.seconds for each in self.choices if each.name == name)
        return 100.0 * (found / first - 1.0) if first else 0.0


INFINIBAND, ETHERNET, HASHED = "InfiniBand, adaptive routing", "Ethernet, adaptive routing or spraying", "Ethernet, hashed flows"
HALF, DOUBLE, BASELINE = "one of two planes lost", "twice the rate", "one 100 GbE link per node"


def compare_networks(workload: Workload, plan: Plan, hardware: Hardware, catalog: Catalog, *, all_of_them: bool = False) -> Comparison:
    """Return the step of `plan` on InfiniBand and on Ethernet at the rate of `hardware`, and with half of it.

    `all_of_them` adds twice the rate and one 100 GbE link per node, for the design.
    """
    more = ethernet_latency_s(catalog.switches)
    gain = threshold_number(catalog.thresholds, "fab-no-plain-ecmp") / 100.0
    ethernet = replace(hardware, network_latency_s=hardware.network_latency_s + more)
    cases = [
        (INFINIBAND, hardware),
        (ETHERNET, ethernet),
        (HASHED, replace(ethernet, nic_bytes_per_s=hardware.nic_bytes_per_s / (1.0 + gain))),
        (HALF, replace(hardware, nic_bytes_per_s=hardware.nic_bytes_per_s / 2.0)),
    ]
    if all_of_them:
        share = BASELINE_GBPS * GIGA / BITS_PER_BYTE / hardware.gpus_per_node
        cases += [
            (DOUBLE, replace(hardware, nic_bytes_per_s=hardware.nic_bytes_per_s * 2.0)),
            (BASELINE, replace(hardware, nic_bytes_per_s=share)),
        ]
    question = Remembered(workload, plan.offload)
    return Comparison(tuple(NetworkChoice(name, _seconds(question, plan, each.anonymous)) for name, each in cases))


@lru_cache(maxsize=1024)
def _seconds(question: Remembered, plan: Plan, hardware: Hardware) -> float:
    """Return the seconds of a step, kept: most answers change neither the plans nor the networks."""
    workload = question.workload
    if not is_transformer(workload.model):
        return plain_sum(throughput.time(workload, plan, hardware))
    return step_model(workload, hardware).time(plan).total


@lru_cache(maxsize=8)
def ethernet_latency_s(switches: Shelf[Switch]) -> float:
    """Return by how many seconds a message takes longer over Ethernet than over InfiniBand switches, by the catalog's lowest of each."""
    lowest = {
        technology: min(
            (each.latency.to("s") for each in switches if each.latency is not None and each.protocol == technology), default=0.0
        )
        for technology in (FLOOR_OVER, "ethernet")
    }
    return SWITCHES_CROSSED * max(0.0, lowest["ethernet"] - lowest[FLOOR_OVER])
