"""Where the facts and sections of stage reliability come from."""

from __future__ import annotations

from rules.origins import Origin, arithmetic, computed, for_each, taken

_S = "sizing.reliability"
_MTBF = computed(f"{_S}.job_mtbf", "gpus", "gpu.architecture", "failures.values")
_RATE = computed(f"{_S}.failure_rate", "gpus", "gpu.architecture", "failures.values")
_GOODPUT = computed(f"{_S}.goodput_of", "mtbf_h", "restart", "checkpoint_interval", "checkpoint_pause", "work.checkpoint")
_CHECKPOINT = computed(
    "sizing.checkpoint.plan_checkpoints",
    "work.checkpoint",
    "gpus",
    "mtbf_h",
    "work.units_total",
    "step.rate",
    "storage_cpu:write_offered_gb_per_s",
    "threshold.sto-ckpt-bw",
    "threshold.sto-global-ckpt-cap",
)

_CHANCE = computed(
    "sizing.completion.chance_with_bands",
    "run_days",
    "run_low_days",
    "run_high_days",
    "mtbf_low_h",
    "mtbf_h",
    "restart",
    "checkpoint_interval",
    "deadline_days",
    note="nine cases: slow, expected and fast by many, expected and few failures, weighted 0.3, 0.4 and 0.3 each (Swanson's rule)",
)

ORIGINS: dict[str, Origin] = {
    "has_plan": computed("sizing.plans.search_plans", "plan.label", "size.gpus"),
    "run_known": taken("work.units_total", "has_plan"),
    "gpu": taken("gpu.name"),
    "node": taken("node.name"),
    "gpus": taken("size.gpus"),
    "nodes": taken("size.nodes"),
    "multi_node": taken("size.nodes"),
    "own_machine": taken("own_server.gpu", "size.nodes"),
    "is_rack": taken("node.is_rack"),
    "gpus_per_rack": taken("node.is_rack", "node.gpu_count"),
    **for_each("mtbf_low_h mtbf_h mtbf_low mtbf mtbf_high", _MTBF),
    **for_each("rate_basis rate_is_assumed", _RATE),
    "interruptions": arithmetic("run_days * 24 / mtbf_h"),
    **for_each("goodput_low_percent goodput_percent goodput_high_percent", _GOODPUT),
    "restart": computed(f"{_S}.restart_seconds", "threshold.rel-auto-retry", "fact.recovery-time.median"),
    **for_each("lost checkpoint_interval checkpoint_mode checkpoint_pause", _CHECKPOINT),
    "spare_nodes": computed(f"{_S}.spare_nodes", "nodes_out", "nodes"),
    "spare_percent": arithmetic("100 * spare_nodes / nodes"),
    "spare_cost_percent": arithmetic("100 / nodes"),
    "nodes_out": arithmetic("24 / mtbf_h * repair_days"),
    "repair_days": Origin(note="assumed: diagnosis, a part on the next working day, and a test; a vendor's answer replaces it"),
    **for_each(
        "run_low_days run_high_days",
        computed(
            f"{_S}.effective_days",
            "work.units_total",
            "step.rate",
            "step.low",
            "step.high",
            "data_wait_percent",
            "goodput_low_percent",
            "goodput_high_percent",
            "has_plan",
        ),
    ),
    "data_wait_percent": computed(
        "sizing.data_wait.waiting_share",
        "storage_cpu:dataset_read_gb_per_s",
        "storage_cpu:read_offered_gb_per_s",
        "storage_cpu:existing_gb_per_s",
        "storage_cpu:decode_cores",
        "storage_cpu:cores_offered",
    ),
    "run_days": arithmetic(
        "work.units_total / step.rate / 86400 * (1 + data_wait_percent / 100) / (goodput_percent / 100)",
        "has_plan",
        formula=f"{_S}.effective_days",
    ),
    **for_each("run_time_low run_time run_time_high", taken("run_low_days", "run_days", "run_high_days", note="in words")),
    **for_each("chance_known chance_percent chance_words", _CHANCE),
    "chance_failures_percent": computed("sizing.completion.chance_of_finishing", "run_days", "mtbf_h", "restart", "deadline_days"),
    "deadline_given": taken("scale.deadline"),
    "deadline_days": taken("scale.deadline"),
}

SECTIONS: dict[str, str | Origin] = {
    "reliability.job_mtbf": "mtbf_h",
    "reliability.job_mtbf_range": "mtbf_low_h",
    "reliability.job_mtbf_kind": "rate_is_assumed",
    "reliability.goodput": "goodput_percent",
    "reliability.goodput_range": "goodput_low_percent",
    "reliability.restart_time": "restart",
    "reliability.spare_nodes": "spare_nodes",
    "reliability.data_wait": "data_wait_percent",
    "reliability.run_time": "run_days",
    "reliability.run_time_range": "run_low_days",
    "reliability.notes": _RATE,
    "reliability.deadline": _CHANCE,
    "reliability.single_failure": computed("sizing.failures.single_failures", "mtbf_h", "restart", "lost", "fact.hpn-tor", "fact.hpn-link"),
    "reliability.shelf": computed(
        "sizing.failures.shelf_parts", "fact.hpn-tor.per_year", "fact.optics-pluggable", "fact.lead-time-switch", "fact.lead-time-nic"
    ),
}
