"""Inside the node: what rules read of the placement of GPUs and adapters, and the section of the design that shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rules.facts import FactField
from rules.sizing.fabric.inputs import PORT_SPEEDS_GBPS
from rules.sizing.node_map import UNKNOWN, placement_of, storage_adapters

if TYPE_CHECKING:
    from rules.candidate import Candidate, Context
    from rules.findings import Scalar
    from rules.sizing.node_map import NodeMap

FACTS: tuple[FactField, ...] = (
    FactField("map_known", "whether the catalog has the PCIe map of the server"),
    FactField("map_verified", "whether it was read of this very server"),
    FactField("gpus_in_node", "GPUs of one scale-out node"),
    FactField("nearest_path", "the worst path between a GPU and its nearest adapter, as nvidia-smi topo -m names it, or unknown"),
    FactField("far_gpus", "GPUs of a node whose nearest adapter is not behind their PCIe switch (PHB, NODE, SYS)"),
    FactField("across_gpus", "GPUs of a node whose nearest adapter hangs on another processor"),
    FactField("across_known", "whether the bandwidth between the processors is known"),
    FactField("across_gb_per_s", "each of their shares of the bandwidth between the processors, 0 where none or unknown"),
    FactField("across_loss_gb_per_s", "what each of them loses against an adapter beside it, 0 where unknown"),
    FactField("one_adapter_gbps", "rate of one network adapter, 0 where nobody states one"),
    FactField("slot_told", "whether a map or the person says which slot the adapters have"),
    FactField("slot_words", "that slot in words, empty where unknown"),
    FactField("narrowest_slot_gbps", "raw rate of the narrowest of their slots, 0 where unknown"),
    FactField("slot_port_gbps", "fastest port that it feeds, 0 where unknown"),
    FactField("slot_loss_gb_per_s", "what an adapter loses in it"),
    FactField("shared_slots", "slots through which two networks go"),
    FactField("gpus_per_uplink", "most GPUs that share one port of a processor, 1 where unknown"),
    FactField("uplink_gb_per_s", "usable rate of that port, one direction, 0 where unknown"),
    FactField("uplink_share_gb_per_s", "one GPU's share of it"),
)


def assess(candidate: Candidate, context: Context) -> dict[str, Scalar]:
    """State how the GPUs of one node reach their adapters."""
    node = candidate.node
    placed = placement_of(node, candidate.gpu, context.catalog, context.answers)
    generation, lanes = placed.slot
    return {
        "map_known": placed.map is not None,
        "map_verified": node.pcie is not None and node.pcie.layout.verified,
        "gpus_in_node": node.gpu_count // node.trays,
        "nearest_path": placed.path,
        "far_gpus": placed.far,
        "across_gpus": placed.across,
        "across_known": placed.across_bytes_per_s > 0,
        "across_gb_per_s": round(placed.across_bytes_per_s / 1e9, 3),
        "across_loss_gb_per_s": round(placed.across_loss_bytes_per_s / 1e9, 3),
        "one_adapter_gbps": placed.adapter_gbps,
        "slot_told": placed.slot_told,
        "slot_words": f"PCIe {generation} x{lanes}" if placed.slot_told else "",
        "narrowest_slot_gbps": round(placed.slot_gbps, 3),
        "slot_port_gbps": max((each for each in PORT_SPEEDS_GBPS if each <= placed.slot_gbps), default=0.0),
        "slot_loss_gb_per_s": round(placed.slot_loss_bytes_per_s / 1e9, 3),
        "shared_slots": placed.shared_slots,
        "gpus_per_uplink": placed.gpus_per_uplink,
        "uplink_gb_per_s": round(placed.uplink_bytes_per_s / 1e9, 3),
        "uplink_share_gb_per_s": round(placed.uplink_bytes_per_s / 1e9 / placed.gpus_per_uplink, 3),
    }


def describe(candidate: Candidate, context: Context) -> dict[str, dict[str, object]]:
    """Return the sections "node_map", where something is known of it, and "acceptance"."""
    return {**_node_map(candidate, context), "acceptance": _acceptance(candidate, context)}


def _node_map(candidate: Candidate, context: Context) -> dict[str, dict[str, object]]:
    """Return how the map was learnt, one row per GPU with its adapter, path and slot, and the adapters for storage and in-band."""
    placed = placement_of(candidate.node, candidate.gpu, context.catalog, context.answers)
    if placed.map is None and placed.path == UNKNOWN and not placed.slot_told:
        return {}
    section: dict[str, object] = {"nearest_path": placed.path}
    if placed.map is not None and candidate.node.pcie is not None:
        layout = candidate.node.pcie.layout
        section |= {"layout": str(layout.value), "kind": layout.kind.value, "verified": layout.verified}
        section["gpus"] = _rows(placed.map)
        if storage := storage_adapters(candidate.node, context.catalog):
            section["storage_and_in_band"] = list(storage)
    if placed.slot_told:
        section["slot"] = f"PCIe {placed.slot[0]} x{placed.slot[1]}, {placed.slot_gbps:g} Gb/s"
    return {"node_map": section}


def _rows(found: NodeMap) -> list[str]:
    rows = []
    for each in found.pairs():
        generation, lanes = found.slot(each.adapter)
        rows.append(
            f"GPU {each.gpu.name}: {each.adapter.name} by {each.path}, PCIe {generation} x{lanes}, processor {each.gpu.port.socket}"
        )
    return rows


def _acceptance(candidate: Candidate, context: Context) -> dict[str, object]:
    """Return the checks and the collectives with their limits in words."""
    from rules.sizing.acceptance import PASS_FROM_BYTES, acceptance_plan
    from rules.sizing.acceptance_commands import GIB

    plan = acceptance_plan(candidate, context)
    rows = [
        f"{test.called} on {test.where}, {test.ranks} GPUs: {test.limit / 1e9:.3g} GB/s of bus bandwidth or more at "
        f"{test.points[-1].size / GIB:g} GiB ({test.points[-1].expected / 1e9:.3g} expected)"
        for test in plan.tests
    ]
    section: dict[str, object] = {"suite": plan.suite or "the vendor's", "limits_from": f"{PASS_FROM_BYTES / GIB:g} GiB"}
    return section | {"checks": [f"{each.what}: {each.passes}" for each in plan.checks], "tests": rows, "notes": list(plan.notes)}
