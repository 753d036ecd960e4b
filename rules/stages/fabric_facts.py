"""The wide fact of the stage fabric: what its rules compare and print."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from math import log2
from typing import TYPE_CHECKING

from rules.counting import counted
from rules.sizing.collectives import Group, all_reduce_seconds
from rules.sizing.fabric.adapters import gpu_direct
from rules.sizing.fabric.compute import domains_spanned, experts_spanned, needs_compute_fabric, technology_name
from rules.sizing.hardware import BITS_PER_BYTE, GIGA
from rules.sizing.lookup import threshold_number
from rules.sizing.memory_checks import quick_gpus
from rules.stages.fabric_transport import transport_facts

if TYPE_CHECKING:
    from catalogs import Catalog
    from rules.candidate import Candidate, Context
    from rules.findings import Scalar
    from rules.sizing.fabric.counts import FabricCounts
    from rules.sizing.fabric.design import SizedFabric
    from rules.sizing.fabric.switching import Counted

LANGUAGE_WORKLOADS = ("pretraining", "fine_tuning_full", "fine_tuning_lora", "fine_tuning_qlora")
BASELINE_GBPS = 100.0
"""100 GbE per node, the baseline that guidance names (G2a.1)."""
UNLIMITED_GBPS = 1e6
"""A rate per GPU at which no exchange takes noticeable time."""
V100_PEAK_TFLOPS = 125.0
"""Dense 16-bit peak of a V100 with tensor cores [NVIDIA V100 datasheet], on which the published ladder of ZeRO-3 speeds was measured."""
ALL_REDUCE_BYTES = 4.0 * 2**30
"""Message of the acceptance test: from 4 GiB on the published bus bandwidths rise no more than a tenth inside InfiniBand clusters."""
ACCEPTED_SHARE = 0.85
"""Part of the modelled bus bandwidth that passes: published results of equal clusters lie in bands of 10 to 15 % (catalog, collectives)."""
LEAST_SCALING_PERCENT = 50.0
"""Less is no good answer, whatever the design expects: a GPU would wait longer than it computes. A proposal."""
MEASURABLE_PERCENT = 95.0
"""Scaling above this is not asked for: the error of a step estimate on tuned published runs is about 5 %."""
LAYOUT_WORDS = {
    "single": "one switch",
    "pair": "two switches back to back",
    "tree": "leaf-spine",
    "rail": "rail-optimized leaf-spine",
    "rail_only": "separate rails",
    "none": "no network",
}
PLANE_WORDS = "one switch in each plane"

GIVEN_REASONS = {
    "asked": "The answers ask for it",
    "policy": "A policy of the site ({policies}) refuses {refused}",
    "only": "It is the only one that these adapters and the switches of the catalog give",
    "platform": "Published designs with GPUs of this vendor use RoCE Ethernet",
    "fastest": "Speed is the objective, and InfiniBand has the lowest latency",
}
"""Reasons of a technology that do not come from the plan's traffic. Published designs: AMD's cluster networking guide for MI300."""


def fabric_facts(sized: SizedFabric, candidate: Candidate, context: Context) -> dict[str, Scalar]:
    """Return every field of FACTS; shares in percent are rounded to a tenth, as precise as their estimates are at best."""
    fact = {
        **_cluster(candidate, context),
        **_choice(sized, candidate),
        **_counts(sized),
        **_adapters(sized, candidate),
        **_traffic(sized, candidate),
        **_plan(sized, candidate, context),
        **_front_end(sized),
        **transport_facts(sized, context.catalog),
    }
    return {name: round(value, 1) if name.endswith("_percent") and isinstance(value, float) else value for name, value in fact.items()}


def _cluster(candidate: Candidate, context: Context) -> dict[str, Scalar]:
    return {
        "nodes": candidate.nodes,
        "gpus": candidate.gpus,
        "gpus_per_node": max(1, candidate.node.gpu_count // candidate.node.trays),
        "gpu": candidate.gpu.name,
        "node": candidate.node.name,
        "multi_node": needs_compute_fabric(candidate),
        "is_language_model": context.workload.kind in LANGUAGE_WORKLOADS,
        "model": context.workload.model.name,
        "objective": context.answers.text("budget.objective"),
        "asked": context.answers.text("preferences.fabric"),
        "gpu_direct": gpu_direct(candidate.gpu),
        "joins_fabric": gpu_direct(candidate.gpu) and not candidate.node.desktop,
        "oversubscription_asked": context.answers.number("preferences.oversubscription") or 1.0,
    }


def _choice(sized: SizedFabric, candidate: Candidate) -> dict[str, Scalar]:
    choice = sized.choice
    other = technology_name(*_other(choice.technology, choice.other)) if choice.other else ""
    return {
        "buildable": not choice.refused,
        "refused": choice.refused,
        "technology": choice.technology,
        "technology_name": technology_name(choice.technology, choice.chosen.spec.link_speed_gbps) if choice.chosen else "none",
        "reason": choice.reason,
        "reason_is_given": choice.reason in GIVEN_REASONS,
        "reason_words": GIVEN_REASONS.get(choice.reason, "").format(refused=other, policies=", ".join(choice.policies)),
        "asked_for_missing": choice.asked_for_missing,
        "asked_missing_words": _missing_words(sized, candidate),
        "other_name": other,
        "other_switches": choice.other.counts.switches if choice.other else 0,
        "managers_missing": choice.managers_missing,
        "nodes_with_managers": max(1, candidate.nodes - 1),
    }


def _missing_words(sized: SizedFabric, candidate: Candidate) -> str:
    """Return why what was asked for is missing: too large for its switches, or nothing of it for these adapters."""
    choice = sized.choice
    if not choice.asked_for_missing or choice.chosen is None:
        return ""
    name = technology_name(choice.technology, choice.chosen.spec.link_speed_gbps)
    if choice.asked_refused:
        return f"for that {choice.asked_refused}; {candidate.nodes:,} nodes can be joined by {name}"
    return f"{sized.adapters.name} and the switches of the catalog give {name} only"


def _other(technology: str, other: Counted) -> tuple[str, float]:
    return "ethernet" if technology == "infiniband" else "infiniband", other.spec.link_speed_gbps


def _counts(sized: SizedFabric) -> dict[str, Scalar]:
    chosen = sized.choice.chosen
    if chosen is None:
        zeros = (
            "switches",
            "leaf",
            "spine",
            "core",
            "tiers",
            "link_gbps",
            "free_leaf_ports",
            "two_tier_nodes",
            "unit_nodes",
            "manager_links",
        )
        losses = {"spine_loss_percent": 0.0, "leaf_loss_percent": 0.0, "oversubscription": 1.0, "planes": 1}
        words = {"switch_name": "", "layout": "none", "layout_words": LAYOUT_WORDS["none"], "switch_words": "none", "spine_words": "none"}
        more = dict.fromkeys(("in_each_plane", "switch_loss", "tiers_asked", "tiers_good"), "")
        return {**dict.fromkeys(zeros, 0), **losses, **words, **more}
    counts, spec = chosen.counts, chosen.spec
    tiers = ((counts.leaf, "leaf"), (counts.spine, "spine"), (counts.core, "core"))
    return {
        "switches": counts.switches,
        "switch_name": chosen.option.switch.name,
        "leaf": counts.leaf,
        "spine": counts.spine,
        "core": counts.core,
        "tiers": counts.tiers,
        "planes": counts.planes,
        "layout": spec.layout,
        "layout_words": PLANE_WORDS if spec.layout == "single" and counts.planes > 1 else LAYOUT_WORDS[spec.layout],
        "spine_words": counted(counts.spine, "spine"),
        "switch_words": " + ".join(f"{number} {tier}" for number, tier in tiers if number),
        **_words(counts),
        "link_gbps": spec.link_speed_gbps,
        "oversubscription": round(counts.oversubscription, 4),
        "spine_loss_percent": 100.0 / counts.spine if counts.spine else 0.0,
        "leaf_loss_percent": 100.0 / counts.planes / (spec.nics_per_node if spec.layout == "rail" else 1),
        "free_leaf_ports": counts.free["leaf"],
        "two_tier_nodes": counts.two_tier_nodes,
        "unit_nodes": counts.unit_nodes,
        "manager_links": counts.manager_links,
    }


def _words(counts: FabricCounts) -> dict[str, Scalar]:
    """Return what differs in words between one plane and several, one tier and several."""
    loss = "it is also a single point of failure, which a second one would remove"
    if counts.planes > 1:
        loss = f"a failed switch takes {100.0 / counts.planes:.3g} % of every node's rate and stops none"
    several = counts.tiers > 1
    asked = " and over nodes that share no leaf, and what is the ratio of downlink to uplink bandwidth of each tier"
    return {
        "in_each_plane": f" in each of {counts.planes} planes" if counts.planes > 1 else "",
        "switch_loss": loss,
        "tiers_asked": asked if several else "",
        "tiers_good": f" in both cases, and {round(counts.oversubscription, 4):g}:1 or better in every tier" if several else "",
    }


def _adapters(sized: SizedFabric, candidate: Candidate) -> dict[str, Scalar]:
    adapters = sized.adapters
    return {
        "nics_per_node": adapters.count,
        "nics_per_gpu": adapters.count / sized.gpus_per_node,
        "nic_name": adapters.name,
        "nic_speed_gbps": adapters.speed_gbps,
        "nics_assumed": bool(adapters.assumed),
        "nics_assumption": adapters.assumed,
        "node_gbps": adapters.node_gbps,
        "slot_known": adapters.slot_gbps > 0,
        "slot_gbps": adapters.slot_gbps,
        "slot_short_gb_per_s": round(max(0.0, adapters.speed_gbps - adapters.slot_gbps) / 8, 3) if adapters.slot_gbps else 0.0,
        "rdma": adapters.rdma,
        "reorders_packets": adapters.reorders_packets,
        "fast_scale_up": candidate.node.topology in ("nvswitch", "full_mesh", "ethernet_mesh", "unified"),
        "offered_gbps": sized.offered_gbps,
        "effective_gbps": sized.effective_gbps,
        "bus_gb_per_s": _bus_gb_per_s(sized, candidate) if sized.choice.chosen else 0.0,
    }


def _bus_gb_per_s(sized: SizedFabric, candidate: Candidate) -> float:
    """Return the bus bandwidth in GB/s that an all-reduce over all GPUs should reach, by the model that rated the plan.

    Inside a scale-up domain the links among GPUs carry it, and every domain brings the adapters of all its GPUs to the network.
    """
    hardware = replace(sized.step.hardware, nic_bytes_per_s=sized.offered_gbps * GIGA / BITS_PER_BYTE / sized.step.hardware.devices)
    ranks = candidate.gpus * hardware.devices
    who = Group(ranks, min(ranks, hardware.domain))
    seconds = all_reduce_seconds(hardware, who, ALL_REDUCE_BYTES)
    return ACCEPTED_SHARE * 2.0 * (ranks - 1) / ranks * ALL_REDUCE_BYTES / seconds / GIGA if seconds > 0 else 0.0


def _base_nodes(candidate: Candidate, context: Context) -> int:
    """Return the fewest nodes that hold the model's state; one for models that are trained in part."""
    workload, gpus = context.workload, max(1, candidate.node.gpu_count // candidate.node.trays)
    if workload.trainable_parameters < workload.parameters.total or workload.unit != "token":
        return 1
    return -(-quick_gpus(workload.parameters.total, candidate.gpu.memory.capacity.to("GB"), context.catalog) // gpus)


def _traffic(sized: SizedFabric, candidate: Candidate) -> dict[str, Scalar]:
    traffic, effective = sized.traffic, sized.effective_gbps
    seconds = traffic.seconds_at(effective)
    ratio = seconds / traffic.budget_s if traffic.budget_s > 0 else 0.0
    waits = -sized.step.longer(UNLIMITED_GBPS) if ratio > 1.0 else 0.0
    baseline = sized.step.longer(BASELINE_GBPS / sized.gpus_per_node) if sized.choice.chosen else 0.0
    return {
        "has_plan": candidate.choice is not None,
        "plan": candidate.choice.plan.label if candidate.choice else "none",
        "has_traffic": traffic.gigabytes > 0 and sized.choice.chosen is not None,
        "traffic_gb": traffic.gigabytes,
        "traffic_s": seconds,
        "budget_s": traffic.budget_s,
        "traffic_to_budget": ratio,
        "needed_gbps": traffic.needed_gbps,
        "needed_node_gbps": traffic.needed_gbps * sized.gpus_per_node,
        "needed_percent": 100.0 * traffic.needed_gbps / effective if effective > 0 else 0.0,
        "step_s": traffic.step_s,
        "slower_percent": 100.0 * waits / (1.0 - waits) if waits < 1.0 else 0.0,
        "half_rate_longer_percent": 100.0 * max(0.0, sized.choice.half_rate_longer),
        "floor_longer_percent": 100.0 * max(0.0, sized.choice.floor_longer),
        "baseline_gbps": BASELINE_GBPS,
        "baseline_slower_percent": 100.0 * max(0.0, baseline),
        "exposed_percent": 100.0 * traffic.exposed_share,
        "scaling_asked_percent": max(LEAST_SCALING_PERCENT, min(100.0 * (1.0 - traffic.exposed_share), MEASURABLE_PERCENT)),
    }


def _plan(sized: SizedFabric, candidate: Candidate, context: Context) -> dict[str, Scalar]:
    catalog, traffic, parameters = context.catalog, sized.traffic, context.workload.parameters.total
    plan = candidate.choice.plan if candidate.choice else None
    accumulations = max(1.0, context.workload.global_batch / (plan.micro_batch * plan.data)) if plan else 1.0
    zero3_gb = _rule_of_thumb(catalog, "fab-comms-zero3") * parameters / 1e9
    node_gbps = sized.effective_gbps * sized.gpus_per_node
    message, base = traffic.message_mib, _base_nodes(candidate, context)
    return {
        "base_nodes": base,
        "base_words": counted(base, "node"),
        "domains_spanned": domains_spanned(candidate),
        "expert_domains": experts_spanned(candidate),
        "zero_stage": plan.zero_stage if plan else 0,
        "zero_stage_given": context.answers.given("parallelism.zero_stage"),
        "zero3_gb": zero3_gb,
        "zero3_s": 8.0 * zero3_gb / node_gbps if node_gbps > 0 else 0.0,
        "plain_gb": _rule_of_thumb(catalog, "fab-comms-ddp") * context.workload.trainable_parameters / 1e9,
        "micro_step_s": traffic.budget_s / accumulations,
        "ladder_gbps": _ladder(candidate, catalog),
        "message_mib": message,
        "message_share": message_share(message, catalog) if message > 0 else 1.0,
    }


def _rule_of_thumb(catalog: Catalog, threshold: str) -> float:
    """Return the bytes per parameter that a node moves, by the published rule of thumb."""
    return threshold_number(catalog.thresholds, threshold, "multiplier") * threshold_number(
        catalog.thresholds, threshold, "bytes_per_parameter"
    )


def _ladder(candidate: Candidate, catalog: Catalog) -> float:
    """Return the rate per node in Gb/s at which ZeRO-3 ran badly on V100, scaled by this GPU's 16-bit peak within the published range."""
    peak = candidate.gpu.peak_dense.get("bf16") or candidate.gpu.peak_dense.get("fp16")
    ratio = peak.to("TFLOP/s") / V100_PEAK_TFLOPS if peak is not None else 1.0
    most = threshold_number(catalog.thresholds, "fab-zero3-scale-h100", "high")
    return threshold_number(catalog.thresholds, "fab-zero3-ladder-v100", "bad") * min(max(1.0, ratio), most)


def message_share(message_mib: float, catalog: Catalog) -> float:
    """Return the share of an adapter's rate that a collective of `message_mib` MiB reaches, between measured sizes in log scale.

    Source: threshold fab-payload, measured on four nodes of eight B200.
    """
    points = [(16.0, "at_16_mib"), (256.0, "at_256_mib"), (1024.0, "at_1_gib"), (16384.0, "at_16_gib")]
    known = [(size, threshold_number(catalog.thresholds, "fab-payload", name)) for size, name in points]
    if message_mib <= known[0][0]:
        return known[0][1] * message_mib / known[0][0]
    for (small, low), (large, high) in pairwise(known):
        if message_mib <= large:
            return low + (high - low) * log2(message_mib / small) / log2(large / small)
    return known[-1][1]


def _front_end(sized: SizedFabric) -> dict[str, Scalar]:
    network, management = sized.front.network, sized.front.management
    return {
        "has_front_end": network is not None,
        "front_gbps": sized.front.speed_gbps,
        "front_ratio": round(network.counts.oversubscription, 4) if network else 1.0,
        "front_switches": network.counts.switches if network else 0,
        "managed_ports": management.ports if management else 0,
        "managed_switches": management.switches if management else 0,
    }
