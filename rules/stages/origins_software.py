"""Where the facts and sections of stage software come from."""

from __future__ import annotations

from rules.origins import Origin, arithmetic, computed, for_each, taken

_STACK = "sizing.software.software_stack"
_SUPPORT = ("gpu.stack", "support.status", "support.fact")

ORIGINS: dict[str, Origin] = {
    "has_plan": computed("sizing.plans.search_plans", "plan.label", "size.gpus"),
    "gpu": taken("gpu.name"),
    **for_each("stack stack_is_common", taken("gpu.stack")),
    "gpu_was_named": taken("preferences.gpus", "preferences.nodes", "preferences.vendors", "own_server.gpu"),
    **for_each(
        "toolkit_status toolkit_version toolkit_fact toolkit_basis", computed("sizing.software.support_of", *_SUPPORT, "support.minimum")
    ),
    "framework": taken("software.framework"),
    **for_each(
        "framework_status framework_version framework_fact",
        computed("sizing.software.support_of", "software.framework", *_SUPPORT, "support.minimum"),
    ),
    "collectives": computed(_STACK, "gpu.stack"),
    **for_each(
        "collectives_status collectives_version collectives_fact", computed("sizing.software.support_of", *_SUPPORT, "support.minimum")
    ),
    "precision": taken("training.precision"),
    "precision_in_gpu": computed("sizing.software.precision_hardware", "training.precision", "gpu.precisions"),
    "precision_in_software": computed(
        "sizing.software.precision_software", "training.precision", "gpu.compute_capability", "support.status"
    ),
    "bf16_in_gpu": computed("sizing.software.precision_hardware", "gpu.precisions"),
    "precision_low": taken("training.precision"),
    "precision_fact": computed(_STACK, "training.precision", "support.fact"),
    "gpu_precisions": taken("gpu.precisions"),
    **for_each("problems problem_list", computed(_STACK, "software.framework", "training.precision", *_SUPPORT)),
    "gpus": taken("size.gpus"),
    "nodes": taken("size.nodes"),
    "multi_node": taken("size.nodes"),
    "acceptance_words": taken("nodes", note="one node, 4 to 16 of them where there are more, and all"),
    "rail_fabric": taken("fabric:layout"),
    "separate_fabrics": taken("fabric:planes"),
    "network_gbps": computed("sizing.fabric.design.design_fabric", "fabric:offered_gbps", "fabric:switches"),
    "network_fast": taken("network_gbps", note="fast from 200 Gb/s per GPU on (G2a.1)"),
    **for_each("collectives_callers sharding_name", taken("software.framework")),
    "quarter_gpus": arithmetic("max(1, floor(gpus / 4))"),
    "plan": computed("sizing.plans.search_plans", "plan.label", "size.gpus"),
    **for_each("model_parallel shards_data_only splits_state", taken("plan.label", "work.model_kind", "has_plan", "vram:memory_verdict")),
    "shards_beyond_domain": computed("sizing.memory_checks.gathers_weights", "plan.label", "machine.domain"),
    **for_each(
        "domain_shard_gib domain_shard_fits",
        computed(
            "sizing.memory.estimate_memory",
            "plan.label",
            "machine.domain",
            "work.parameters",
            "gpu.memory.capacity",
            note="the same plan with weights shared inside the scale-up domain",
        ),
    ),
    **for_each("zero_stage pipeline_stages", taken("plan.label", "size.gpus")),
    "micro_batches": taken("work.global_batch", "plan.label", "has_plan"),
    "bubble_percent": taken(
        "plan.label",
        "micro_batches",
        "has_plan",
        note="100 (p - 1) / (v m + p - 1) for p stages, v chunks each and m micro-batches in 1F1B; other schedules idle less",
    ),
    "utilization": arithmetic("step.utilization", "has_plan"),
    "sequence_length": taken("work.sequence_length"),
}

SECTIONS: dict[str, str | Origin] = {
    "software.stack": "stack",
    "software.toolkit": "toolkit_version",
    "software.framework": "framework_version",
    "software.framework_status": "framework_status",
    "software.collectives": "collectives_version",
    "software.precision": "precision",
    "software.notes": "problem_list",
}
