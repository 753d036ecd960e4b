"""Where the facts and sections of stage fabric come from."""

from __future__ import annotations

from rules.origins import Origin, arithmetic, computed, for_each, taken

_F = "sizing.fabric"
_DESIGN = f"{_F}.design.design_fabric"
_ADAPTERS = (
    "node.nics.compute",
    "node.nics.compute_speed",
    "nic.name",
    "nic.speed",
    "own_server.nics",
    "own_server.nic_speed",
    "machine.network",
)
_ADAPTER = computed(f"{_F}.adapters.compute_adapters", *_ADAPTERS)
_ALLOWED = ("preferences.announced_products", "preferences.unverified_products")
_CHOICE = computed(
    f"{_F}.compute.choose_compute",
    "preferences.fabric",
    "budget.objective",
    "gpu.stack",
    "half_rate_longer_percent",
    "domains_spanned",
    "nic.protocols",
    "compute_switch.protocol",
    *_ALLOWED,
)
_COUNT = computed(
    f"{_F}.counts.count_fabric",
    "nodes",
    "nics_per_node",
    "nic_speed_gbps",
    "technology",
    "preferences.oversubscription",
    "compute_switch.ports",
    "compute_switch.port_speed",
)
_TRAFFIC = f"{_F}.traffic.traffic_of"
_AT_RATE = f"{_F}.traffic.StepAtRate"
_FRONT = computed(
    f"{_F}.front_end.size_front_end",
    "nodes",
    "gpus",
    "front_gbps",
    "front_switch.ports",
    "switches",
    "storage.network",
    "fact.management-nodes.basepod",
)

ORIGINS: dict[str, Origin] = {
    "nodes": taken("size.nodes"),
    "gpus": taken("size.gpus"),
    "gpus_per_node": arithmetic("floor(node.gpu_count / node.trays)"),
    "gpu": taken("gpu.name"),
    "node": taken("node.name"),
    "multi_node": computed(f"{_F}.compute.needs_compute_fabric", "nodes", "gpus", "node.scale_up_domain"),
    **for_each("buildable refused", computed(f"{_F}.compute.choose_compute", "nodes", "nics_per_node", "nic_speed_gbps", *_ALLOWED)),
    **for_each("technology reason reason_is_given reason_words", _CHOICE),
    "technology_name": computed(f"{_F}.compute.technology_name", "technology", "link_gbps"),
    "asked": taken("preferences.fabric"),
    "asked_for_missing": computed(f"{_F}.compute.choose_compute", "preferences.fabric", "nic.protocols"),
    "asked_missing_words": computed(f"{_F}.compute.choose_compute", "preferences.fabric", "nic.protocols", "nodes", "nics_per_node"),
    **for_each(
        "other_name other_switches",
        computed(f"{_F}.compute.choose_compute", "technology", "nodes", "nics_per_node", "nic.protocols", *_ALLOWED),
    ),
    "switch_name": computed(f"{_F}.switching.switch_options", "technology", "nic_speed_gbps", "compute_switch.name", *_ALLOWED),
    **for_each("switches leaf spine spine_words core tiers planes layout layout_words switch_words link_gbps", _COUNT),
    **for_each("free_leaf_ports unit_nodes manager_links oversubscription", _COUNT),
    "nics_per_node": _ADAPTER,
    "nics_per_gpu": arithmetic("nics_per_node / gpus_per_node"),
    **for_each("nic_name nic_speed_gbps nics_assumed nics_assumption", _ADAPTER),
    "node_gbps": arithmetic("nics_per_node * nic_speed_gbps"),
    **for_each(
        "slot_known slot_gbps",
        computed(f"{_F}.adapters.compute_adapters", "node.pcie_generation", "gpu.host_link.generation", "node.nics.on_baseboard"),
    ),
    "rdma": taken("nic.rdma"),
    "slot_short_gb_per_s": computed(f"{_F}.adapters.compute_adapters", "nic_speed_gbps", "slot_gbps"),
    "reorders_packets": taken("nic.reorders_packets"),
    "fast_scale_up": taken("node.topology"),
    "offered_gbps": computed(_DESIGN, "nics_per_node", "nic_speed_gbps", "slot_gbps", "gpus_per_node", "oversubscription"),
    "effective_gbps": arithmetic("offered_gbps * threshold.fab-effective", formula=_DESIGN),
    "has_plan": computed("sizing.plans.search_plans", "plan.label", "size.gpus"),
    "plan": taken("plan.label", "size.gpus"),
    "has_traffic": taken("traffic_gb", "switches"),
    "traffic_gb": computed(_TRAFFIC, "step.sent", "has_plan"),
    "traffic_s": arithmetic("8 * traffic_gb / effective_gbps"),
    "budget_s": computed(_TRAFFIC, "step.expected", "step.exposed", "step.terms", "has_plan"),
    "traffic_to_budget": arithmetic("traffic_s / budget_s", note="0 where nothing can hide"),
    "needed_gbps": arithmetic("8 * traffic_gb / budget_s", note="0 where nothing is sent"),
    "needed_node_gbps": arithmetic("needed_gbps * gpus_per_node"),
    "needed_percent": arithmetic("100 * needed_gbps / effective_gbps"),
    "step_s": taken("step.expected", "has_plan"),
    "slower_percent": computed(_AT_RATE, "traffic_to_budget", "step_s", "plan"),
    "half_rate_longer_percent": computed(_AT_RATE, "offered_gbps", "step_s", "plan"),
    "floor_longer_percent": computed(_AT_RATE, "offered_gbps", "step_s", "plan"),
    "baseline_gbps": Origin(note="100 GbE per node, the baseline that guidance names (G2a.1)"),
    "baseline_slower_percent": computed(_AT_RATE, "baseline_gbps", "gpus_per_node", "step_s", "plan"),
    "exposed_percent": arithmetic("100 * step.exposed", "has_plan"),
    "scaling_asked_percent": arithmetic("max(50, min(100 - exposed_percent, 95))"),
    "oversubscription_asked": taken("preferences.oversubscription"),
    "spine_loss_percent": arithmetic("100 / spine", note="0 without spines"),
    "leaf_loss_percent": taken("planes", "layout", "nics_per_node", note="a leaf's share of the planes and rails"),
    "two_tier_nodes": computed(
        f"{_F}.counts.two_tier_nodes", "nics_per_node", "layout", "preferences.oversubscription", "compute_switch.ports"
    ),
    "managers_missing": computed(f"{_F}.compute.choose_compute", "technology", "tiers", "free_leaf_ports", "compute_switch.manager_port"),
    "nodes_with_managers": arithmetic("max(1, nodes - 1)"),
    "domains_spanned": computed(f"{_F}.compute.domains_spanned", "plan", "node.scale_up_domain"),
    "expert_domains": computed("sizing.placement.expert_domains", "plan", "node.scale_up_domain"),
    "zero_stage": taken("plan.label", "size.gpus"),
    "zero_stage_given": taken("parallelism.zero_stage"),
    "zero3_gb": arithmetic(
        "threshold.fab-comms-zero3.multiplier * threshold.fab-comms-zero3.bytes_per_parameter * work.parameters / 1000000000"
    ),
    "zero3_s": arithmetic("8 * zero3_gb / (effective_gbps * gpus_per_node)"),
    "plain_gb": arithmetic(
        "threshold.fab-comms-ddp.multiplier * threshold.fab-comms-ddp.bytes_per_parameter * work.trainable / 1000000000"
    ),
    "micro_step_s": computed(_TRAFFIC, "budget_s", "work.global_batch", "plan"),
    "ladder_gbps": taken("gpu.peak_dense", "threshold.fab-zero3-scale-h100", "threshold.fab-zero3-ladder-v100"),
    "message_mib": computed("sizing.traffic.largest_message_bytes", "step.message", "has_plan"),
    "message_share": computed("stages.fabric_facts.message_share", "message_mib", "threshold.fab-payload"),
    "bus_gb_per_s": computed(
        "sizing.collectives.all_reduce_seconds",
        "offered_gbps",
        "gpus",
        "node.scale_up_domain",
        note="85 % of what the model gives for 4 GiB; 0 without a network",
    ),
    "base_nodes": computed("sizing.memory_checks.quick_gpus", "work.parameters", "work.trainable", "gpu.memory.capacity", "gpus_per_node"),
    "base_words": taken("base_nodes"),
    **for_each("in_each_plane switch_loss tiers_asked tiers_good", taken("planes", "tiers", "oversubscription")),
    "gpu_direct": taken("gpu.form_factor"),
    "joins_fabric": taken("gpu.form_factor", "node.desktop"),
    "is_language_model": taken("workload.kind"),
    "model": taken("work.model"),
    "objective": taken("budget.objective"),
    **for_each("has_front_end front_ratio front_switches managed_ports managed_switches", _FRONT),
    "longest_run_m": computed(f"{_F}.runs.Runs", "nodes", "switch_words", "power:nodes_per_rack"),
    **for_each("headroom_kb headroom_mb", computed(f"{_F}.transport.headroom_of", "longest_run_m", "link_gbps", "headroom_ports")),
    "headroom_ports": taken("free_leaf_ports", "compute_switch.ports"),
    **for_each("buffer_known buffer_mb", taken("compute_switch.buffer")),
    "lids": computed(f"{_F}.transport.lids", "switches", "planes", "nodes", "nics_per_node", "manager_links"),
    "subnet_nodes": computed(f"{_F}.transport.largest_subnet_nodes", "lids", "nodes", "threshold.fab-ib-lids"),
    "manager_words": computed(f"{_F}.transport.subnet_manager_words", "manager_links", "compute_switch.managed", "switches"),
    **for_each("sharp_known sharp_trees sharp_streams", taken("compute_switch.asic", "threshold.fab-sharp-trees")),
    "front_gbps": computed(f"{_F}.adapters.front_end_adapters", "node.nics.storage", "node.nics.storage_speed", "nodes"),
}

_CABLES = computed(f"{_F}.cabling.cable_network", "switch_words", "nodes", "power:nodes_per_rack", "cable.name", "cable.reach")
_POWER = computed(_DESIGN, "switches", "compute_switch.power_typical", "compute_switch.power_maximum", "cable.power_per_end")
_FRONT_POWER = computed(_DESIGN, "front_switches", "front_switch.power_typical", "front_switch.power_maximum", "cable.power_per_end")

SECTIONS: dict[str, str | Origin] = {
    "fabric.compute.technology": "technology_name",
    "fabric.compute.network": "multi_node",
    "fabric.compute.adapters_per_node": "nics_per_node",
    "fabric.compute.adapter": "nic_name",
    "fabric.compute.layout": "layout",
    "fabric.compute.tiers": "tiers",
    "fabric.compute.planes": "planes",
    "fabric.compute.leaf": "leaf",
    "fabric.compute.spine": "spine",
    "fabric.compute.core": "core",
    "fabric.compute.oversubscription": "oversubscription",
    "fabric.compute.switches": "switches",
    "fabric.compute.links": _COUNT,
    "fabric.compute.cables": _CABLES,
    "fabric.compute.modules": _CABLES,
    "fabric.compute.longest_run": _CABLES,
    "fabric.compute.media": _CABLES,
    "fabric.compute.manager_links": "manager_links",
    "fabric.compute.power_typical": _POWER,
    "fabric.compute.power_maximum": _POWER,
    "fabric.compute.notes": computed(_DESIGN, "switch_words", "nics_assumption"),
    "fabric.compute.rate_per_gpu": "offered_gbps",
    "fabric.storage.network": "has_front_end",
    "fabric.storage.cables": _CABLES,
    "fabric.storage.modules": _CABLES,
    "fabric.storage.longest_run": _CABLES,
    "fabric.storage.media": _CABLES,
    "fabric.storage.power_typical": _FRONT_POWER,
    "fabric.storage.power_maximum": _FRONT_POWER,
    "fabric.storage": _FRONT,
    "fabric.management.network": "has_front_end",
    "fabric.management.power_typical": _FRONT_POWER,
    "fabric.management.power_maximum": _FRONT_POWER,
    "fabric.management": "managed_switches",
    "fabric.growth": computed(f"{_F}.growth.grow", "scale.later_nodes", "nodes", "leaf", "spine", "core", "tiers", "free_leaf_ports"),
    "fabric.failures": computed(f"{_F}.failures.losses", "layout", "planes", "leaf", "spine", "core", "leaf_loss_percent"),
}
