"""Interconnect: the parallel plan on the links inside the node, the rate that the GPU sustains, and the time of a step."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from catalogs.quantities import format_number, format_quantity, magnitude
from catalogs.schema import Kind
from catalogs.sums import plain_sum
from rules.facts import FactField
from rules.findings import Stage
from rules.guidance.interconnect import RULES
from rules.own_server import OWN_SERVER_ID
from rules.regimes import Estimate
from rules.sizing.collectives import Group, all_reduce_seconds
from rules.sizing.hardware import PCIE_BYTES_PER_S, Hardware
from rules.sizing.node_map import TOPOLOGY_COMMANDS
from rules.sizing.placement import expert_domains
from rules.sizing.plans import run_time
from rules.sizing.site_measured import site_hardware
from rules.sizing.step import HIGH_SHARE, estimate_step
from rules.stages import interconnect_networks as networks
from rules.stages import interconnect_node as inside
from rules.stages.validated import validated_by

if TYPE_CHECKING:
    from catalogs import Catalog
    from catalogs.schema import Node
    from rules.candidate import Candidate, Context
    from rules.findings import Scalar
    from rules.sizing.results import BomLine, PlanChoice, StepEstimate

STAGE = Stage.INTERCONNECT
__all__ = ["FACTS", "RULES", "STAGE", "assess", "bill", "describe"]

LINK_MATTERS = HIGH_SHARE - 1.0
"""A link decides when losing it costs more than the step estimate's own uncertainty."""
ARITHMETIC = ("products", "attention", "elementwise", "head", "recompute", "arithmetic", "memory", "optimizer")
SECONDS_PER_DAY = 86_400
GIB = 2.0**30
REFERENCE_MESSAGE_BYTES = 2.0**30
"""One GiB per rank, large enough that a collective is limited by bandwidth; the size that nccl-tests results are compared at."""

FACTS: tuple[FactField, ...] = (
    FactField("has_plan", "whether a parallel plan was found"),
    FactField("plan", "the plan in shorthand; none without a plan"),
    FactField("node", "name of the server"),
    FactField("gpu", "name of the GPU"),
    FactField("gpus", "number of GPUs"),
    FactField("idle_gpus", "GPUs that the plan leaves idle because their number does not divide into it"),
    FactField("idle_percent", "their share of all GPUs"),
    FactField("nodes", "number of scale-out nodes"),
    FactField("multi_node", "whether there is more than one node"),
    FactField("multi_domain", "whether the plan's GPUs span more than one scale-up domain"),
    FactField("tensor", "tensor-parallel ranks, 1 without a plan"),
    FactField("pipeline", "pipeline stages"),
    FactField("expert", "expert-parallel ranks"),
    FactField("expert_domains", "scale-up domains over which an expert group lies"),
    FactField("data", "data-parallel ranks"),
    FactField("domain_gpus", "GPUs that the fast links join"),
    FactField("scale_up_kind", "the link among the GPUs of a node, by name"),
    FactField("topology", "how the links are laid: nvswitch, full_mesh, bridge, pcie_switch, pcie, unified, none"),
    FactField("scale_up_gb_per_s", "its bandwidth per GPU, one direction"),
    FactField("scale_up_printed_gb_per_s", "the figure that vendors print, both directions"),
    FactField("pair_gb_per_s", "what two of those GPUs have between them, one direction: on a full mesh one of its links"),
    FactField("fast_scale_up", "whether the GPUs have a link of their own besides PCIe"),
    FactField("nvlink", "whether that link is NVLink"),
    FactField("full_mesh", "whether the GPUs are joined pairwise, without a switch"),
    FactField("pcie_only", "whether several GPUs share a node over PCIe alone"),
    FactField("peer_to_peer", "whether GPUs reach each other's memory directly"),
    FactField("in_network_reduction", "whether the switch adds up all-reduces"),
    FactField("all_reduce_gb_per_s", "expected bus bandwidth of a 1 GiB all-reduce inside the domain, 0 for one GPU"),
    FactField("pcie_generation", "PCIe generation of the slower of slot and GPU"),
    FactField("adapter_gbps", "rate of one network adapter, 0 where the node states none"),
    FactField("adapter_path", "how a GPU reaches its adapter: pcie, processor (one module with it), or accelerator (it is built in)"),
    FactField("gpus_per_adapter", "GPUs that share an adapter; one where the node states a rate and no number"),
    FactField("topology_command", "the vendor's command that prints which device sits where"),
    FactField("adapters_assumed", "whether number or rate of the adapters is assumed"),
    FactField("network_per_gpu_gbps", "network rate per GPU that the step time counts with"),
    FactField("step_s", "expected time of one step, 0 without a plan"),
    FactField("step_over_pcie_s", "the same plan's step with PCIe in place of the fast link; the step itself where there is none"),
    FactField("link_gain_percent", "how much longer the step takes over PCIe"),
    FactField("link_decides", "whether that is more than the estimate's own uncertainty"),
    FactField("tensor_percent", "share of the step that waits for tensor-parallel communication"),
    FactField("expert_percent", "share that waits for expert exchange"),
    FactField("exposed_percent", "share of the step that waits for any communication"),
    FactField("busy_percent", "share of the step that waits for no communication"),
    FactField("arithmetic_percent", "share of the step that computes"),
    FactField("bubble_percent", "share of the step in which pipeline stages idle"),
    FactField("precision", "training precision"),
    FactField("native_precision", "the format in which the GPU's matrix units compute it"),
    FactField("precision_native", "whether the matrix units have the training precision itself"),
    FactField("tensor_core_precision", "whether the precision is one of the matrix units' 8- or 16-bit formats or narrower"),
    FactField("peak_tflops", "dense peak of the GPU at the precision"),
    FactField("sustained_tflops", "what large matrix products sustain"),
    FactField("sustained_percent", "sustained share of the peak"),
    FactField("sustained_measured", "whether that was measured on this GPU"),
    FactField("model_tflops", "model FLOP/s per GPU that the plan is expected to reach"),
    FactField("utilization_percent", "model FLOPs utilisation of the dense peak"),
    FactField("run_days", "expected days of the whole run without failures, 0 where its length is unknown"),
    *inside.FACTS,
    *networks.FACTS,
)


def hardware_for(candidate: Candidate, context: Context) -> Hardware:
    """Return the hardware of the candidate, with the node's own adapters and what was measured on site."""
    return site_hardware(candidate.node, candidate.gpu, context)


def assess(candidate: Candidate, context: Context) -> dict[str, Scalar]:
    """State what the plan asks of the links inside the node and what the GPU sustains."""
    hardware = hardware_for(candidate, context)
    return {
        **_place(candidate, hardware),
        **_links(candidate, hardware, context.catalog),
        **_adapters(candidate, hardware, context),
        **inside.assess(candidate, context),
        **networks.assess(candidate, context, hardware),
        **_rates(candidate, context, hardware),
        **_step(candidate, context, hardware),
    }


def _place(candidate: Candidate, hardware: Hardware) -> dict[str, Scalar]:
    plan = candidate.choice.plan if candidate.choice else None
    idle = max(0, candidate.gpus - plan.gpus // hardware.devices) if plan else 0
    return {
        "has_plan": plan is not None,
        "idle_gpus": idle,
        "idle_percent": round(100 * idle / candidate.gpus, 2),
        "plan": plan.label if plan else "none",
        "node": candidate.node.name,
        "gpu": candidate.gpu.name,
        "gpus": candidate.gpus,
        "nodes": candidate.nodes,
        "multi_node": candidate.nodes > 1,
        "multi_domain": candidate.gpus * hardware.devices > hardware.domain,
        "tensor": plan.tensor if plan else 1,
        "pipeline": plan.pipeline if plan else 1,
        "expert": plan.expert if plan else 1,
        "expert_domains": expert_domains(plan, hardware.domain) if plan else 1,
        "data": plan.data if plan else 1,
    }


def _links(candidate: Candidate, hardware: Hardware, catalog: Catalog) -> dict[str, Scalar]:
    node, fast = candidate.node, hardware.fast_scale_up
    inside = Group(hardware.domain, hardware.domain)
    bus = 2 * (hardware.domain - 1) / hardware.domain * REFERENCE_MESSAGE_BYTES
    seconds = all_reduce_seconds(hardware, inside, REFERENCE_MESSAGE_BYTES)
    generation = next((number for number, rate in PCIE_BYTES_PER_S.items() if rate == hardware.pcie_bytes_per_s), 0)
    return {
        "domain_gpus": hardware.domain,
        "scale_up_kind": candidate.gpu.scale_up.kind if fast else "PCIe",
        "topology": node.topology,
        "scale_up_gb_per_s": round(hardware.scale_up_bytes_per_s / 1e9, 3),
        "scale_up_printed_gb_per_s": round(2 * hardware.scale_up_bytes_per_s / 1e9, 3),
        "pair_gb_per_s": round(hardware.scale_up_bytes_per_s / 1e9 / (hardware.domain - 1 if _meshed(hardware) else 1), 3),
        "fast_scale_up": fast,
        "nvlink": fast and hardware.technology == "nvlink",
        "full_mesh": fast and hardware.mesh,
        "pcie_only": not fast and node.gpu_count > 1,
        "peer_to_peer": hardware.peer_to_peer or node.gpu_count == 1,
        "in_network_reduction": hardware.in_network_reduction,
        "all_reduce_gb_per_s": round(bus / seconds / 1e9, 2) if seconds else 0.0,
        "pcie_generation": generation,
        "adapter_gbps": _adapter_gbps(node, catalog),
        "network_per_gpu_gbps": round(hardware.nic_bytes_per_s * 8 / 1e9, 3),
    }


def _meshed(hardware: Hardware) -> bool:
    return hardware.fast_scale_up and hardware.mesh and hardware.domain > 1


def _adapters(candidate: Candidate, hardware: Hardware, context: Context) -> dict[str, Scalar]:
    """State how GPUs reach their network adapters, how many share one, and whether that rests on what nobody said."""
    node, gpu = candidate.node, candidate.gpu
    said = context.answers.count("own_server.nics") if node.id == OWN_SERVER_ID else sum(part.count for part in node.nics.compute)
    one_for_all = node.id == OWN_SERVER_ID or (node.nics.compute_speed is None and not hardware.fast_scale_up)
    adapters = said or (node.trays if one_for_all else node.gpu_count)
    speed = node.nics.compute_speed
    told = speed is not None and speed.kind is Kind.YOU
    path = "accelerator" if gpu.scale_up.technology == "ethernet" else "processor" if hardware.superchip else "pcie"
    return {
        "adapter_path": path,
        "gpus_per_adapter": round(node.gpu_count / adapters, 2),
        "topology_command": TOPOLOGY_COMMANDS.get(gpu.stack, "the vendor's tool"),
        "adapters_assumed": not told and any("adapter" in each for each in hardware.assumed),
    }


def _adapter_gbps(node: Node, catalog: Catalog) -> float:
    """Return the rate of the node's fastest stated compute adapter in Gb/s, 0 where none is stated."""
    stated = [found.speed for part in node.nics.compute if (found := catalog.nics.get(part.id)) is not None]
    speeds = [node.nics.compute_speed] if node.nics.compute_speed is not None else stated
    return max((float(speed.to("Gb/s")) for speed in speeds), default=0.0)


def _rates(candidate: Candidate, context: Context, hardware: Hardware) -> dict[str, Scalar]:
    precision = context.workload.precision
    rate = hardware.rate(precision)
    families = {"mxfp8": "fp8", "nvfp4": "fp4", "fp16": "bf16", "fp8_block": "fp8"}
    wanted, native = families.get(precision, precision), families.get(rate.native, rate.native)
    return {
        "precision": precision,
        "native_precision": native,
        "precision_native": wanted == native and (precision == rate.native or wanted != "bf16" or precision in candidate.gpu.precisions),
        "tensor_core_precision": precision not in ("fp32", "tf32"),
        "peak_tflops": round(rate.peak * hardware.devices / 1e12, 2),
        "sustained_tflops": round(rate.sustained * hardware.devices / 1e12, 2),
        "sustained_percent": round(100 * rate.sustained / rate.peak, 2),
        "sustained_measured": rate.measured,
    }


def _step(candidate: Candidate, context: Context, hardware: Hardware) -> dict[str, Scalar]:
    """State the step's shares, and what it would be over PCIe; neutral values without a plan."""
    choice = candidate.choice
    if choice is None:
        names = ("tensor", "expert", "exposed", "busy", "arithmetic", "bubble", "utilization", "link_gain")
        neutral: dict[str, Scalar] = {f"{name}_percent": 0.0 for name in names}
        return {**neutral, "step_s": 0.0, "step_over_pcie_s": 0.0, "link_decides": False, "model_tflops": 0.0, "run_days": 0.0}
    step = choice.step
    seconds = magnitude(step.expected, "s")
    over_pcie = _over_pcie(choice, context, hardware)
    gain = max(0.0, over_pcie / seconds - 1)
    return {
        "step_s": round(seconds, 4),
        "step_over_pcie_s": round(over_pcie, 4),
        "link_gain_percent": round(100 * gain, 2),
        "link_decides": gain > LINK_MATTERS,
        "tensor_percent": _percent(step, ("tensor_parallel",)),
        "expert_percent": _percent(step, ("expert_parallel", "exchange")),
        "exposed_percent": round(100 * step.exposed_share, 2),
        "busy_percent": round(100 * (1 - step.exposed_share), 2),
        "arithmetic_percent": _percent(step, ARITHMETIC),
        "bubble_percent": _percent(step, ("pipeline_bubble",)),
        "model_tflops": round(step.tflops_per_gpu * hardware.devices, 2),
        "utilization_percent": round(100 * step.model_flops_utilization, 2),
        "run_days": round(run_time(context.workload, step).to("s").magnitude / SECONDS_PER_DAY, 3),
    }


def _percent(step: StepEstimate, names: tuple[str, ...]) -> float:
    whole = float(plain_sum(magnitude(value, "s") for value in step.terms.values()))
    part = float(plain_sum(step.terms[name].to("s").magnitude for name in names if name in step.terms))
    return round(100 * part / whole, 2) if whole else 0.0


def _over_pcie(choice: PlanChoice, context: Context, hardware: Hardware) -> float:
    """Return the seconds of the plan's step on the same GPUs joined by PCIe alone."""
    if not hardware.fast_scale_up:
        return magnitude(choice.step.expected, "s")
    domain = min(hardware.domain, max(hardware.gpus_per_node, choice.plan.tensor))
    slower = replace(
        hardware,
        scale_up_bytes_per_s=hardware.pcie_bytes_per_s,
        technology="pcie",
        mesh=False,
        in_network_reduction=False,
        domain=domain,
        assumed=(),
    )
    return float(estimate_step(context.workload, choice.plan, slower).expected.to("s").magnitude)


def describe(candidate: Candidate, context: Context) -> dict[str, dict[str, object]]:
    """Return the sections "parallelism" and "performance" of the design, none without a plan, and "node_map" where one is known."""
    choice, node_map = candidate.choice, inside.describe(candidate, context)
    if choice is None:
        return node_map
    plan, step, workload = choice.plan, choice.step, context.workload
    hardware = hardware_for(candidate, context)
    rate, measured = hardware.rate(workload.precision), hardware.measured
    seconds = {name: format_quantity(value, "s") for name, value in sorted(step.terms.items(), key=lambda each: -each[1].magnitude)}
    parallelism: dict[str, object] = {
        "plan": plan.label,
        "tensor": plan.tensor,
        "pipeline": plan.pipeline,
        "virtual_stages": plan.virtual_stages,
        "context": plan.context,
        "expert": plan.expert,
        "data": plan.data,
        "zero_stage": plan.zero_stage,
        "micro_batch": plan.micro_batch,
        "recompute": plan.recompute,
        **({"recompute_layers": plan.recompute_layers} if plan.recompute_layers else {}),
        **({"recompute_modules": list(plan.recompute_modules)} if plan.recompute == "selective" and plan.recompute_modules else {}),
        **({"schedule": plan.schedule} if plan.pipeline > 1 else {}),
        "global_batch": workload.global_batch,
        "plans_considered": choice.enumerated,
        "plans_ruled_out": dict(sorted(choice.rejected.items())),
        "next_best": [f"{other.label}: {format_quantity(time.expected, 's')}" for other, _, time in choice.alternatives],
    }
    if choice.front:
        front = (f"{plan.label}: {format_quantity(each, 's')}, {peak / GIB:,.1f} GiB" for plan, each, peak in choice.front)
        parallelism |= {"plans_ranked": choice.ranked, "front": list(front)}
    performance: dict[str, object] = {
        "step": format_quantity(step.expected, "s"),
        "step_low": format_quantity(step.low, "s"),
        "step_high": format_quantity(step.high, "s"),
        "step_parts": seconds,
        f"{workload.unit}s_per_second": float(format_number(step.units_per_second, 6)),
        "model_flops": format_quantity(step.tflops_per_gpu, "TFLOP/s"),
        "model_flops_utilization": round(step.model_flops_utilization, 4),
        "sustained": format_quantity(rate.sustained / 1e12, "TFLOP/s"),
        "peak": format_quantity(rate.peak / 1e12, "TFLOP/s"),
        "exposed_communication": round(step.exposed_share, 4),
        "sent_between_domains_per_gpu": format_quantity(step.inter_node_bytes_per_gpu, "GB"),
        "kind": "measured" if hardware.time_factor != 1.0 else "estimated",
        "validated_by": validated_by(candidate, context, Estimate.TIME),
        **({"measured_on_site": list(measured)} if measured else {}),
        "notes": list(step.notes),
    }
    days = run_time(workload, step).to("s").magnitude / SECONDS_PER_DAY
    if days:
        performance["run_without_failures"] = format_quantity(days, "day")
    return {"parallelism": parallelism, "performance": performance, **networks.describe(candidate, context), **node_map}


def bill(candidate: Candidate, context: Context) -> list[BomLine]:
    """Return no lines: the links inside the node are part of the server."""
    del candidate, context
    return []
