"""Where the facts and sections of stage storage and CPU come from."""

from __future__ import annotations

from rules.origins import Origin, arithmetic, computed, for_each, taken

_NEEDS = "sizing.storage.storage_needs"
_HOST = "sizing.host.host_needs"
_CHECKPOINT = computed(
    "sizing.checkpoint.plan_checkpoints",
    "work.checkpoint",
    "gpus",
    "reliability:mtbf_h",
    "work.units_total",
    "step.rate",
    "write_offered_gb_per_s",
    "threshold.sto-ckpt-bw",
    "threshold.sto-global-ckpt-cap",
    "preferences.checkpoints",
)
_RESTORE = computed("sizing.storage.restore_seconds", "work.checkpoint", "reliability:restart", "workload.kind")
_READ = computed(
    _NEEDS,
    "step.rate",
    "work.sample_bytes",
    "data.size",
    "data_kind",
    note="without a plan or a known size of samples: the reference's rate",
)
_REFERENCE = computed(
    "sizing.storage.reference_rates", "data_kind", "gpus", "fact.superpod-h100-good.gpu_read", "fact.superpod-h100-better.gpu_read"
)
_KIND = computed(
    "sizing.storage.shared_storage", "preferences.storage", "nodes", "gpus", "read_needed_gb_per_s", "write_needed_gb_per_s", "dataset_tb"
)
_SYSTEM = computed(
    "sizing.storage_systems.choose_system",
    "shared_kind",
    "read_needed_gb_per_s",
    "read_reference_gb_per_s",
    "write_needed_gb_per_s",
    "capacity_needed_tb",
    "preferences.vendors",
    "storage.name",
    "storage.read",
    "storage.write",
    "storage.capacity",
)
_OBJECTS = computed(
    "sizing.storage_systems.choose_system",
    "shared_kind",
    "dataset_tb",
    "capacity_needed_tb",
    "object_fill_gb_per_s",
    "preferences.vendors",
    "storage.name",
    "storage.read",
    "storage.capacity",
)
_NODE_NETWORK = taken("fabric:front_gbps", "node.nics.storage", "node.nics.storage_speed", "node.nics.compute_speed")

ORIGINS: dict[str, Origin] = {
    **for_each("protocols_asked protocols_wanted", taken("data.protocols")),
    **for_each(
        "protocols_known protocols_offered protocols_short protocols_unserved s3_unserved",
        computed("stages.storage_protocols.protocol_facts", "system", "object_store", "data.protocols", "storage.protocols"),
    ),
    **for_each(
        "direct_offered direct_missing direct_open", computed("stages.storage_protocols.protocol_facts", "system", "gpu", "direct_rdma")
    ),
    "direct_gpu": taken("gpu.vendor"),
    "direct_rdma": taken("fabric:rdma"),
    "has_plan": computed("sizing.plans.search_plans", "plan.label", "size.gpus"),
    "gpu": taken("gpu.name"),
    "node": taken("node.name"),
    "nodes": taken("size.nodes"),
    "gpus": taken("size.gpus"),
    "multi_node": taken("size.nodes"),
    "data_kind": taken("work.data_kind"),
    "workload": taken("workload.kind"),
    "framework": taken("software.framework"),
    "fine_tuning": taken("workload.kind"),
    **for_each("dataset_known dataset_tb", computed("sizing.storage.dataset_bytes", "work.dataset", "data.size", "work.units_total")),
    **for_each("dataset_read_gb_per_s dataset_read", _READ),
    **for_each("restore_read_gb_per_s restore_read", _RESTORE),
    "read_needed_gb_per_s": arithmetic("max(dataset_read_gb_per_s, restore_read_gb_per_s)", formula=_NEEDS),
    "read_reference_gb_per_s": _REFERENCE,
    **for_each("read_known read_offered_gb_per_s write_known write_offered_gb_per_s capacity_offered_tb", _SYSTEM),
    "read_per_node_gb_per_s": arithmetic("read_needed_gb_per_s / nodes"),
    **for_each("node_storage_known node_storage_gb_per_s", _NODE_NETWORK),
    "write_needed_gb_per_s": computed(
        "sizing.checkpoint.plan_checkpoints",
        "work.checkpoint",
        "gpus",
        "reliability:mtbf_h",
        "threshold.sto-ckpt-bw",
        "threshold.sto-global-ckpt-cap",
    ),
    "write_synchronous_gb_per_s": computed(
        "sizing.checkpoint.plan_checkpoints", "work.checkpoint", "reliability:mtbf_h", "threshold.sto-ckpt-bw"
    ),
    "checkpoint_gb": taken("work.checkpoint"),
    **for_each("access access_given", taken("data.access")),
    "operations": computed("sizing.storage.read_operations", "dataset_read_gb_per_s", "work.sample_bytes", "access"),
    "record": computed(_NEEDS, "work.sample_bytes", "training.sequence_length"),
    "system_because": computed(
        "sizing.storage_systems.choose_system", "system", "storage.power", "price.low", "budget.own_prices", "preferences.vendors"
    ),
    **for_each("existing_free_known existing_free_tb", taken("data.existing_free")),
    **for_each("operations_known operations_offered system_unit system_protection raw_tb protection_percent", _SYSTEM),
    **for_each("object_found object_store object_units object_binding object_read_gb_per_s", _OBJECTS),
    "object_fill_gb_per_s": computed("sizing.storage.object_store_needs", "capacity_needed_tb", "shared_kind"),
    **for_each("home_share_low_percent home_rate_gb_per_s", computed("sizing.storage.nfs_share", "nodes", "threshold.sto-nfs-slots")),
    "mode_asked": taken("preferences.checkpoints"),
    **for_each("checkpoint_mode checkpoint_interval checkpoint_pause checkpoint_write stall_percent", _CHECKPOINT),
    "capacity_needed_tb": computed(
        _NEEDS, "dataset_tb", "checkpoint_gb", "threshold.sto-lustre-80", note="the dataset and ten checkpoints, with reserve"
    ),
    **for_each("shared_kind shared_words shared_because", _KIND),
    "storage_asked": taken("preferences.storage"),
    **for_each("system_found system system_units system_binding", _SYSTEM),
    "home_tb": computed(_NEEDS, "users"),
    "users": computed(_NEEDS, "gpus", "data.users"),
    "existing_gb_per_s": computed("sizing.storage.shared_storage", "data.existing_rate", "nodes", "preferences.storage"),
    "existing_checkpoint_s": arithmetic("checkpoint_gb / existing_gb_per_s"),
    "existing_checkpoint": computed("sizing.checkpoint.in_words", "existing_checkpoint_s"),
    "existing_short": computed(
        "sizing.checkpoint.plan_checkpoints", "write_synchronous_gb_per_s", "dataset_read_gb_per_s", "existing_gb_per_s"
    ),
    "staging_tb": computed(_NEEDS, "checkpoint_gb", "dataset_tb", "nodes", "threshold.sto-keep-two"),
    "staged_tb": arithmetic("min(staging_tb, local_most_tb)"),
    "local_most_tb": computed("sizing.storage.largest_local", "local_known", "local_tb"),
    **for_each("local_known local_tb", computed("sizing.host.host_design", "node.local_storage", "node.trays")),
    "gpus_per_node": computed("sizing.host.gpus_per_node", "node.gpu_count", "node.trays"),
    "workers_per_gpu": computed(_HOST, "data_kind", "threshold.cpu-cores"),
    "worker_processes": arithmetic("workers_per_gpu * gpus_per_node"),
    "cores_needed": arithmetic(
        "gpus_per_node * (workers_per_gpu + 1) + threshold.cpu-cores.fixed_cores", formula="sizing.host.cores_needed"
    ),
    **for_each("cores_known cores_offered", computed("sizing.host.cores_offered", "node.cpus", "cpu.cores", "own_server.cpu_cores")),
    "decode_cores": computed(_HOST, "data_kind", "step.rate", "gpus_per_node", "fact.image-decode-transform.images_per_core"),
    "memory_needed_gb": computed(_HOST, "gpu_memory_gb", "threshold.ram-ge-vram", "checkpoint_gb", "checkpoint_mode", "offload_gb"),
    **for_each("memory_known memory_offered_gb", computed("sizing.host.host_design", "node.memory.installed", "node.trays")),
    "gpu_memory_gb": arithmetic("gpu.memory.printed[GB] * gpus_per_node"),
    "memory_shared": taken("node.topology"),
    "offload_gb": arithmetic("work.trainable * threshold.ram-offload / nodes / 1000000000", formula="sizing.host.offload_memory"),
    "offload_held_gb": computed("sizing.memory_report.offloaded_bytes", "plan.label", "work.trainable", "training.optimizer", "nodes"),
    "staging_gb": computed(_HOST, "checkpoint_gb", "checkpoint_mode", "nodes"),
    "loader_gb": computed("sizing.host_parts.loader_buffers", "gpus_per_node", "workers_per_gpu", "plan.label", "training.sequence_length"),
    **for_each(
        "modules_known modules_words modules_total_gb memory_bandwidth_gb_per_s memory_two_known memory_two_gb_per_s",
        computed("sizing.host_parts.modules_for", "memory_needed_gb", "node.cpus", "cpu.memory_channels", "cpu.memory_text"),
    ),
    "state_copy_gb_per_s": arithmetic("25 * gpus_per_node", formula="sizing.host_parts.copy_rate"),
    **for_each(
        "lanes_known lanes_offered lanes_wanted lanes_left lanes_switched",
        computed(
            "sizing.host_parts.lanes_of",
            "cpu.pcie_lanes",
            "node.cpus",
            "node.nics.compute",
            "node.nics.storage",
            "node.topology",
            "node.local_storage_text",
            "gpus_per_node",
            "fact.pcie-lanes-two-epyc.lanes",
        ),
    ),
    "video": taken("data_kind"),
    "naive_load_gb": arithmetic("4 * work.parameters * gpus_per_node / 1000000000", formula="sizing.host.naive_load_memory"),
}

SECTIONS: dict[str, str | Origin] = {
    "host.cores_needed": "cores_needed",
    "host.workers_per_gpu": "workers_per_gpu",
    "host.cores_offered": "cores_offered",
    "host.memory_needed": "memory_needed_gb",
    "host.memory_offered": "memory_offered_gb",
    "host.local_storage": "local_tb",
    "host.memory_for": "memory_needed_gb",
    "host.memory_for.checkpoint_in_flight": "staging_gb",
    "host.memory_for.loaders_batches": "loader_gb",
    "host.memory_for.offload_if_chosen": "offload_gb",
    "host.modules": "modules_words",
    "host.memory_bandwidth": "memory_bandwidth_gb_per_s",
    "host.pcie_lanes": "lanes_offered",
    "host.notes": computed("sizing.host.host_design", "node.memory.maximum", "decode_cores"),
    "storage.read_needed": arithmetic("max(read_needed_gb_per_s, read_reference_gb_per_s)"),
    "storage.write_needed": computed(
        "sizing.storage.storage_needs",
        "write_needed_gb_per_s",
        "gpus",
        "fact.superpod-h100-good.gpu_write",
        "fact.superpod-h100-better.gpu_write",
    ),
    "storage.capacity_needed": "capacity_needed_tb",
    "storage.home_capacity": "home_tb",
    "storage.local_staging": "staged_tb",
    "storage.checkpoint": "checkpoint_gb",
    "storage.checkpoint_write_time": "checkpoint_write",
    "storage.checkpoint_interval": "checkpoint_interval",
    "storage.read_offered": "read_offered_gb_per_s",
    "storage.write_offered": "write_offered_gb_per_s",
    "storage.capacity_offered": "capacity_offered_tb",
    "storage.power": computed("sizing.storage_systems.choose_system", "system_units", "storage.power"),
    "storage.height": computed("sizing.storage_systems.choose_system", "system_units", "storage.height"),
    "storage.systems": "system",
    "storage.tier": _SYSTEM,
    "storage.dataset.kind": "data_kind",
    "storage.dataset.access": "access",
    "storage.dataset.read": "dataset_read",
    "storage.dataset.requests_per_second": "operations",
    "storage.dataset.size": "dataset_tb",
    "storage.dataset.step_longer_by": computed(
        "sizing.data_wait.waiting_share",
        "dataset_read_gb_per_s",
        "read_offered_gb_per_s",
        "existing_gb_per_s",
        "decode_cores",
        "cores_offered",
    ),
    "storage.checkpoints": _CHECKPOINT,
    "storage.home.users": "users",
    "storage.home.capacity": "home_tb",
    "storage.home.nfs_share_of_rated": "home_share_low_percent",
    "storage.home.nfs_slots_per_connection": computed("sizing.nfs.slots_of_connection", "threshold.sto-nfs-slots"),
    "storage.home.nfs_small_files_per_connection": computed(
        "sizing.nfs.rate_of_connection", "threshold.sto-nfs-slots", "threshold.sto-small-files"
    ),
    "storage.home.nfs_connections_per_node": computed(
        "sizing.nfs.connections_needed", "nodes", "threshold.sto-nfs-slots", "threshold.sto-small-files"
    ),
    "storage.notes": "shared_because",
}
