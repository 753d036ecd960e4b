"""Where the facts and sections of stage interconnect come from."""

from __future__ import annotations

from rules.origins import Origin, arithmetic, computed, for_each, taken

_HARDWARE = "sizing.hardware.hardware_of"
_STEP = "sizing.step.estimate_step"
_MEASURED = (
    "measured.all_reduce_inside", "measured.all_reduce_between", "measured.all_reduce_nodes", "measured.message_size", "measured.step_time",
    "measured.gpus", "measured.global_batch", "measured.node", "measured.date", "measured.ranks_per_node",
)  # fmt: skip
_PLAN = taken("plan.label", "size.gpus")
_LINK = ("gpu.scale_up.technology", "gpu.scale_up.per_direction", "node.topology", "node.scale_up_domain")

_PLACEMENT = "sizing.node_map.placement_of"
_ANSWERS = ("own_server.nic_path", "own_server.nic_lanes", "own_server.nic_generation", "own_server.nic_networks")
_MAP = computed(_PLACEMENT, "node.pcie", *_ANSWERS)
_INSIDE: dict[str, Origin] = {
    "map_known": taken("node.pcie.layout"),
    "map_verified": taken("node.pcie.layout"),
    "gpus_in_node": taken("node.gpu_count", "node.trays"),
    **dict.fromkeys(("nearest_path", "far_gpus", "across_gpus", "shared_slots", "gpus_per_uplink", "slot_told"), _MAP),
    "across_known": computed("sizing.node_map.inter_processor_bytes_per_s", "node.cpus", "cpu.family", "fact.nccl-inter-processor"),
    "across_gb_per_s": computed("sizing.node_map.inter_processor_bytes_per_s", "across_gpus", "fact.nccl-inter-processor"),
    "across_loss_gb_per_s": computed(_PLACEMENT, "across_gb_per_s", "one_adapter_gbps", "narrowest_slot_gbps"),
    "one_adapter_gbps": taken("node.nics.compute_speed", "nic.speed", "own_server.nic_speed"),
    **dict.fromkeys(("slot_words", "narrowest_slot_gbps"), computed("sizing.node_map.slot_gbps", "node.pcie", *_ANSWERS[1:3])),
    "slot_port_gbps": computed("sizing.node_map.slot_gbps", "narrowest_slot_gbps"),
    "slot_loss_gb_per_s": computed(_PLACEMENT, "one_adapter_gbps", "narrowest_slot_gbps"),
    "uplink_gb_per_s": computed(_PLACEMENT, "node.pcie"),
    "uplink_share_gb_per_s": computed(_PLACEMENT, "uplink_gb_per_s", "gpus_per_uplink"),
}

ORIGINS: dict[str, Origin] = {
    "has_plan": computed("sizing.plans.search_plans", "plan.label", "size.gpus"),
    **for_each("plan tensor pipeline expert data", _PLAN),
    "node": taken("node.name"),
    "gpu": taken("gpu.name"),
    "gpus": taken("size.gpus"),
    "idle_gpus": arithmetic("size.gpus - floor(plan.gpus / machine.devices)", note="0 without a plan"),
    "idle_percent": arithmetic("100 * idle_gpus / gpus"),
    "nodes": taken("size.nodes"),
    "multi_node": taken("size.nodes"),
    "multi_domain": taken("size.gpus", "machine.devices", "machine.domain"),
    "domain_gpus": taken("machine.domain"),
    "expert_domains": computed("sizing.placement.expert_domains", "plan", "domain_gpus"),
    "scale_up_kind": computed(_HARDWARE, "gpu.scale_up.kind", "node.topology"),
    "topology": taken("node.topology"),
    "scale_up_gb_per_s": taken("machine.scale_up"),
    "scale_up_printed_gb_per_s": arithmetic("2 * scale_up_gb_per_s"),
    **for_each("fast_scale_up nvlink full_mesh", computed(_HARDWARE, *_LINK)),
    "pcie_only": computed(_HARDWARE, *_LINK, "node.gpu_count"),
    "peer_to_peer": computed(_HARDWARE, "gpu.scale_up.peer_to_peer", "node.gpu_count"),
    "in_network_reduction": computed(_HARDWARE, "gpu.scale_up.in_network_reduction", "node.scale_up_domain"),
    "all_reduce_gb_per_s": computed("sizing.collectives.all_reduce_seconds", "machine.domain", "machine.scale_up", "in_network_reduction"),
    "pcie_generation": computed(_HARDWARE, "machine.pcie", "node.pcie_generation", "gpu.host_link.generation"),
    "adapter_gbps": taken("node.nics.compute_speed", "nic.speed"),
    "pair_gb_per_s": computed(_HARDWARE, "scale_up_gb_per_s", "domain_gpus", "full_mesh"),
    "adapter_path": taken("gpu.form_factor", "gpu.scale_up.technology"),
    "gpus_per_adapter": taken("node.nics.compute", "node.nics.compute_speed", "node.gpu_count", "own_server.nics"),
    "topology_command": taken("gpu.stack"),
    "adapters_assumed": computed(_HARDWARE, "machine.assumed", "own_server.nics"),
    "network_per_gpu_gbps": taken("machine.network"),
    "step_s": taken("step.expected", "has_plan"),
    "step_over_pcie_s": computed(_STEP, "plan.label", "machine.pcie", "step_s"),
    "link_gain_percent": arithmetic("max(0, 100 * (step_over_pcie_s / step_s - 1))"),
    "link_decides": taken("link_gain_percent", note="more than the error of the step estimate on published runs"),
    **for_each(
        "tensor_percent expert_percent arithmetic_percent bubble_percent",
        taken("step.terms", "has_plan", note="its share of the step's parts"),
    ),
    "exposed_percent": arithmetic("100 * step.exposed", "has_plan"),
    "busy_percent": arithmetic("100 * (1 - step.exposed)", "has_plan", note="0 without a plan"),
    "precision": taken("training.precision"),
    "native_precision": taken("machine.native"),
    "precision_native": taken("training.precision", "machine.native", "gpu.precisions"),
    "tensor_core_precision": taken("training.precision"),
    "peak_tflops": arithmetic("machine.peak * machine.devices"),
    "sustained_tflops": arithmetic("machine.sustained * machine.devices"),
    "sustained_percent": arithmetic("100 * sustained_tflops / peak_tflops"),
    "sustained_measured": computed(_HARDWARE, "gpu.sustained", "training.precision"),
    "model_tflops": arithmetic("step.flops * machine.devices", "has_plan"),
    "utilization_percent": arithmetic("100 * step.utilization", "has_plan"),
    "run_days": arithmetic("work.units_total / step.rate / 86400", "has_plan", formula="sizing.plans.run_time"),
    "networks_compared": computed("sizing.network_choices.compare_networks", "plan.label", "machine.domain"),
    **for_each(
        "ethernet_longer_percent hashed_longer_percent half_network_longer_percent",
        computed(
            "sizing.network_choices.compare_networks", "plan.label", "machine.network", "switch.latency", "threshold.fab-no-plain-ecmp"
        ),
    ),
    **for_each("networks_open ethernet_open", taken("preferences.fabric", "nic.protocols")),
    "networks_tie": taken("ethernet_longer_percent", "networks_compared", note="less than one percent"),
    **_INSIDE,
}

SECTIONS: dict[str, str | Origin] = {
    "parallelism.global_batch": taken("work.global_batch"),
    "parallelism.plans_considered": taken("plan.considered"),
    "parallelism.plans_ruled_out": computed("sizing.plans.search_plans", "plan.considered"),
    "parallelism.next_best": computed("sizing.plans.search_plans", "plan.label", "plan.considered"),
    "parallelism": "plan",
    "performance.step": "step_s",
    "performance.step_low": taken("step.low"),
    "performance.step_high": taken("step.high"),
    "performance.step_parts": taken("step.terms"),
    **dict.fromkeys((f"performance.{unit}s_per_second" for unit in ("token", "image", "sample")), taken("step.rate")),
    "performance.model_flops": taken("step.flops"),
    "performance.model_flops_utilization": "utilization_percent",
    "performance.sustained": taken("machine.sustained"),
    "performance.peak": taken("machine.peak"),
    "performance.exposed_communication": "exposed_percent",
    "performance.sent_between_domains_per_gpu": taken("step.sent"),
    "networks.gbps_per_gpu": "network_per_gpu_gbps",
    "networks.steps": computed("sizing.network_choices.compare_networks", "plan.label", "machine.network", "networks_compared"),
    "performance.kind": computed(_STEP, "step.terms", "measured.step_time", note="counted by formula, unless a step was measured on site"),
    "performance.measured_on_site": computed("sizing.site_measured.site_hardware", *_MEASURED),
    "performance.validated_by": computed("regimes.nearest", "plan.label", "gpu.name", "training.precision", "work.model_kind", "size.gpus"),
    "performance.notes": computed(_STEP, "machine.assumed", "sustained_measured"),
    "performance.run_without_failures": "run_days",
    "node_map": _MAP,
    "acceptance": computed("sizing.acceptance.acceptance_plan", "machine.domain", "machine.scale_up", "machine.network", "gpu.stack"),
}
