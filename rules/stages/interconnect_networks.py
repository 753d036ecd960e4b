"""Networks between nodes by the step they give: what rules read of the comparison, and the section of the design that shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalogs.quantities import format_quantity
from rules.facts import FactField
from rules.sizing.fabric.adapters import compute_adapters
from rules.sizing.network_choices import ETHERNET, HALF, HASHED, TIE_PERCENT, compare_networks
from rules.sizing.site_measured import site_hardware

if TYPE_CHECKING:
    from rules.candidate import Candidate, Context
    from rules.findings import Scalar
    from rules.sizing.hardware import Hardware

FACTS: tuple[FactField, ...] = (
    FactField("networks_compared", "whether the plan sends between scale-up domains, so that networks can be told apart by its step"),
    FactField("ethernet_longer_percent", "how much longer the step is over Ethernet than over InfiniBand of the same rate, flows spread"),
    FactField("hashed_longer_percent", "how much longer it is over Ethernet whose flows are hashed to paths"),
    FactField("half_network_longer_percent", "how much longer it is at half of the rate, as with one of two planes lost"),
    FactField("networks_tie", "whether InfiniBand and Ethernet with spread flows give the same step, within a percent"),
    FactField("networks_open", "whether both can be chosen: the adapters speak both, and neither is asked for"),
    FactField("ethernet_open", "whether Ethernet can be chosen: the adapters speak it, and InfiniBand is not asked for"),
)


def assess(candidate: Candidate, context: Context, hardware: Hardware) -> dict[str, Scalar]:
    """Compare InfiniBand, Ethernet and a lost plane by the step of the plan."""
    choice = candidate.choice
    free = _open(candidate, context)
    if choice is None or choice.plan.gpus <= hardware.domain:
        return {
            **free,
            "networks_compared": False,
            "ethernet_longer_percent": 0.0,
            "hashed_longer_percent": 0.0,
            "half_network_longer_percent": 0.0,
            "networks_tie": False,
        }
    found = compare_networks(context.workload, choice.plan, hardware, context.catalog)
    ethernet = max(0.0, found.longer(ETHERNET))
    return {
        **free,
        "networks_compared": True,
        "ethernet_longer_percent": round(ethernet, 3),
        "hashed_longer_percent": round(max(0.0, found.longer(HASHED)), 2),
        "half_network_longer_percent": round(max(0.0, found.longer(HALF)), 2),
        "networks_tie": ethernet < TIE_PERCENT,
    }


def _open(candidate: Candidate, context: Context) -> dict[str, Scalar]:
    """State which kinds of network can be chosen. An asked-for kind that the adapters do not speak counts as not asked for."""
    spoken = compute_adapters(candidate.node, candidate.gpu, context.catalog, context.answers).protocols
    asked = context.answers.text("preferences.fabric")
    able = {asked} if asked in spoken else set(spoken)
    return {"networks_open": able >= {"infiniband", "ethernet"}, "ethernet_open": "ethernet" in able}


def describe(candidate: Candidate, context: Context) -> dict[str, dict[str, object]]:
    """Return the section "networks": the step of the chosen plan on each network; none where nothing leaves a domain."""
    hardware = site_hardware(candidate.node, candidate.gpu, context)
    if candidate.choice is None or candidate.choice.plan.gpus <= hardware.domain:
        return {}
    found = compare_networks(context.workload, candidate.choice.plan, hardware, context.catalog, all_of_them=True)
    steps = {each.name: f"{format_quantity(each.seconds, 's')}, {found.longer(each.name):+.2f}%" for each in found.choices}
    return {"networks": {"gbps_per_gpu": round(hardware.nic_bytes_per_s * 8 / 1e9, 3), "steps": steps}}
