"""Rules on storage: GPUs must never wait for data or checkpoints. The rules on the host, of the same stage, are in `host`."""

from __future__ import annotations

from rules.findings import Kind, Stage, Strength
from rules.guidance.declare import Ask, F, Fix, Rule
from rules.guidance.host import HOST_RULES
from rules.guidance.storage_protocols import PROTOCOL_RULES
from rules.guidance.storage_systems import SYSTEM_RULES
from rules.sizing.storage import CLIENTS_IN_DOUBT

_STORAGE = Stage.STORAGE_CPU

STORAGE_RULES: tuple[Rule, ...] = (
    Rule(
        id="storage_cpu.capacity_reserve",
        stage=_STORAGE,
        kind=Kind.QUESTION,
        strength=Strength.STRONG,
        when=(F.multi_node == True,),  # noqa: E712
        guidance=("G3s.2",),
        thresholds=("sto-lustre-80", "sto-scale-with-model"),
        because=(
            "{capacity_needed_tb} usable hold {dataset_tb} of data and ten checkpoints of {checkpoint_gb}, with {limit_sto_lustre_80} "
            "times as "
            "reserve; it grows with the model, not with the cluster."
        ),
        ask=Ask(
            to="storage vendor",
            ask="How much of the usable capacity can be filled before writes slow down or fail, after protection, spares and snapshots?",
            good_answer="{capacity_needed_tb} usable and writable, without counting on data reduction",
        ),
    ),
    Rule(
        id="storage_cpu.checkpoint_background",
        stage=_STORAGE,
        kind=Kind.DECISION,
        strength=Strength.STRONG,
        when=(F.checkpoint_mode == "asynchronous",),
        guidance=("G3s.3",),
        thresholds=("sto-ckpt-bw", "sto-global-ckpt-cap", "sto-ckpt-14"),
        because=(
            "Stopping for each checkpoint of {checkpoint_gb} would need {write_synchronous_gb_per_s} to stay under "
            "{limit_sto_ckpt_bw_stall_share_high_percent} of the run; written in the background it needs {write_needed_gb_per_s} and "
            "stops the "
            "training for {checkpoint_pause}. No run needs more than {limit_sto_global_ckpt_cap} TB/s."
        ),
        decides=("storage.checkpoint_mode", "asynchronous, every {checkpoint_interval}"),
    ),
    Rule(
        id="storage_cpu.checkpoint_stop",
        stage=_STORAGE,
        kind=Kind.DECISION,
        strength=Strength.STRONG,
        when=(F.checkpoint_mode == "synchronous",),
        guidance=("G3s.3",),
        thresholds=("sto-ckpt-bw",),
        because=(
            "A checkpoint of {checkpoint_gb} is small: stopping {checkpoint_pause} at most for it every {checkpoint_interval} "
            "costs {stall_percent} of the run, under {limit_sto_ckpt_bw_stall_share_high_percent}, and is simpler than writing in the "
            "background."
        ),
        decides=("storage.checkpoint_mode", "synchronous, every {checkpoint_interval}"),
    ),
    Rule(
        id="storage_cpu.data_exceeds_node",
        stage=_STORAGE,
        kind=Kind.REJECT,
        strength=Strength.STRONG,
        when=(F.shared_kind == "local", F.dataset_known == True, F.dataset_tb > F.local_most_tb),  # noqa: E712
        guidance=("G3s.1", "G3s.2"),
        because=(
            "The data takes {dataset_tb}, the NVMe of the only node holds {local_most_tb} at most, and no shared storage is bought: "
            "it has no place."
        ),
        fix=(
            Fix("preferences.storage", "buy shared storage beside the node", "parallel_file_system"),
            Fix("scale.nodes", "take more nodes, which share storage"),
            Fix("data.size", "train on less of the data"),
        ),
    ),
    Rule(
        id="storage_cpu.gpudirect_storage",
        stage=_STORAGE,
        kind=Kind.QUESTION,
        strength=Strength.ADVICE,
        when=(F.multi_node == True, F.system_found == True),  # noqa: E712
        guidance=("G3s.3",),
        thresholds=("sto-gds-node", "sto-per-gpu"),
        because=(
            "A node must read {read_per_node_gb_per_s} here; NVIDIA's reference reaches {limit_sto_gds_node} GB/s per node with GPUDirect "
            "Storage, and Isambard-AI offers {limit_sto_per_gpu_isambard_ai_read} GB/s per GPU."
        ),
        ask=Ask(
            to="storage vendor",
            ask="What does one node read and write from {system}, with and without GPUDirect Storage, and what do all {nodes} at once?",
            good_answer="at least {read_needed_gb_per_s} read and {write_needed_gb_per_s} written by all nodes at once, over an hour",
        ),
    ),
    Rule(
        id="storage_cpu.home_over_nfs",
        stage=_STORAGE,
        kind=Kind.QUESTION,
        strength=Strength.STRONG,
        when=(F.nodes >= CLIENTS_IN_DOUBT,),
        guidance=("G3s.2",),
        thresholds=("sto-nfs-slots",),
        because=(
            "{nodes} nodes mount the home directories: an NFS client's {limit_sto_nfs_slots_slots} request slots left 16 to 22 % of the "
            "rated rate in a published cluster. Of a server with a 100 Gb/s port that is {home_rate_gb_per_s} for all of them together."
        ),
        ask=Ask(
            to="storage vendor",
            ask="Which slots, connections and sessions do you set for {nodes} NFS clients, and what rate do they reach together?",
            good_answer="a test with {nodes} clients, or a plan that lives with {limit_sto_nfs_slots_low} of the rated rate",
        ),
    ),
    Rule(
        id="storage_cpu.local_nvme",
        stage=_STORAGE,
        kind=Kind.DECISION,
        strength=Strength.STRONG,
        when=(F.local_known == True, F.local_tb >= F.staging_tb),  # noqa: E712
        guidance=("G3s.1",),
        thresholds=("sto-keep-two", "sto-local-first"),
        because=(
            "Each node stages its part of the data and keeps its part of the {limit_sto_keep_two} latest checkpoints on local NVMe: "
            "{staging_tb} of {local_tb}."
        ),
        decides=("storage.local", "{local_tb} NVMe per node"),
    ),
    Rule(
        id="storage_cpu.local_too_small",
        stage=_STORAGE,
        kind=Kind.WARNING,
        strength=Strength.STRONG,
        when=(F.multi_node == True, F.local_known == True, F.local_tb < F.staging_tb),  # noqa: E712
        guidance=("G3s.1",),
        thresholds=("sto-keep-two", "sto-local-first"),
        because=(
            "A node's part of the data and of the {limit_sto_keep_two} latest checkpoints takes {staging_tb}; its NVMe holds {local_tb}. "
            "The "
            "rest is read from shared storage again in every epoch."
        ),
        ask=Ask(
            to="server vendor",
            ask="Which NVMe drives can {node} carry?",
            good_answer="at least {staging_tb} per node, on the socket of the GPUs that read it",
        ),
    ),
    Rule(
        id="storage_cpu.local_unknown",
        stage=_STORAGE,
        kind=Kind.QUESTION,
        strength=Strength.ADVICE,
        when=(F.local_known == False,),  # noqa: E712
        guidance=("G3s.1",),
        thresholds=("sto-keep-two",),
        because=(
            "The local NVMe of {node} is not stated; staging and the {limit_sto_keep_two} latest checkpoints take {staging_tb} per node."
        ),
        ask=Ask(
            to="server vendor",
            ask="Which NVMe drives come with {node}, and how fast do they read and write together?",
            good_answer="at least {staging_tb} per node, with one drive write per day or more",
        ),
    ),
    Rule(
        id="storage_cpu.network_limits_reads",
        stage=_STORAGE,
        kind=Kind.WARNING,
        strength=Strength.STRONG,
        when=(F.multi_node == True, F.node_storage_known == True, F.read_per_node_gb_per_s > F.node_storage_gb_per_s),  # noqa: E712
        guidance=("G3s.3",),
        because=(
            "A node must read {read_per_node_gb_per_s} from shared storage; its network towards it carries {node_storage_gb_per_s}, so its "
            "GPUs wait."
        ),
        fix=(
            Fix("own_server.nic_speed", "use a faster adapter"),
            Fix("preferences.nodes", "choose a server with a storage network of its own"),
        ),
    ),
    Rule(
        id="storage_cpu.reads_images",
        stage=_STORAGE,
        kind=Kind.DECISION,
        strength=Strength.STRONG,
        when=(F.has_plan == True, F.workload == "vision"),  # noqa: E712
        guidance=("G3s.3", "G7.2"),
        thresholds=("sto-per-gpu",),
        because=(
            "The training reads {dataset_read} of images; staged on local NVMe, shared storage carries that in the first epoch "
            "only. "
            "NVIDIA's reference for images gives {gpus} GPU(s) {read_reference_gb_per_s}."
        ),
        decides=("storage.dataset_reads", "{dataset_read}"),
    ),
    Rule(
        id="storage_cpu.reads_records",
        stage=_STORAGE,
        kind=Kind.DECISION,
        strength=Strength.STRONG,
        when=(F.has_plan == True, F.workload == "recommendation"),  # noqa: E712
        guidance=("G3s.3", "G7.3"),
        because=(
            "Click records are small but many: the training reads {dataset_read} one after another, once. NVIDIA's reference for "
            "data "
            "that is read in sequence gives {gpus} GPU(s) {read_reference_gb_per_s}."
        ),
        decides=("storage.dataset_reads", "{dataset_read}"),
    ),
    Rule(
        id="storage_cpu.reads_text",
        stage=_STORAGE,
        kind=Kind.DECISION,
        strength=Strength.STRONG,
        when=(F.has_plan == True, F.data_kind == "text"),  # noqa: E712
        guidance=("G3s.3",),
        thresholds=("sto-tokens",),
        because=(
            "Tokens take up to {limit_sto_tokens} bytes, so the training reads only {dataset_read}; reading a checkpoint after a "
            "failure asks for {restore_read}."
        ),
        decides=("storage.dataset_reads", "{dataset_read}"),
    ),
    Rule(
        id="storage_cpu.three_uses",
        stage=_STORAGE,
        kind=Kind.DECISION,
        strength=Strength.STRONG,
        when=(F.multi_node == True,),  # noqa: E712
        guidance=("G3s.2", "G3s.3"),
        thresholds=("sto-three-uses",),
        because=(
            "{limit_sto_three_uses} uses are sized apart: data and restores {read_needed_gb_per_s} read, checkpoints "
            "{write_needed_gb_per_s} "
            "written in bursts, homes and environments {home_tb} of small files on a system of their own."
        ),
        decides=("storage.uses", "dataset reads, checkpoint bursts and home directories apart"),
    ),
    Rule(
        id="storage_cpu.write_rate_unknown",
        stage=_STORAGE,
        kind=Kind.QUESTION,
        strength=Strength.STRONG,
        when=(F.system_found == True, F.write_known == False),  # noqa: E712
        guidance=("G3s.3",),
        thresholds=("sto-ckpt-bw",),
        because="The write rate of {system} is not published; checkpoints need {write_needed_gb_per_s}.",
        ask=Ask(
            to="storage vendor",
            ask="What do {system_units} × {system} write, all nodes at once, for ten minutes and with protection on?",
            good_answer="at least {write_needed_gb_per_s}",
        ),
    ),
    Rule(
        id="storage_cpu.writes_fit",
        stage=_STORAGE,
        kind=Kind.DECISION,
        strength=Strength.STRONG,
        when=(F.write_known == True, F.write_offered_gb_per_s >= F.write_needed_gb_per_s),  # noqa: E712
        guidance=("G3s.3", "G4.5"),
        thresholds=("sto-ckpt-bw", "sto-ckpt-interval"),
        because=(
            "{system_units} × {system} write {write_offered_gb_per_s}, so a checkpoint of {checkpoint_gb} takes {checkpoint_write}; "
            "{write_needed_gb_per_s} are needed."
        ),
        decides=("storage.checkpoint_writes", "{write_offered_gb_per_s}"),
    ),
)

RULES: tuple[Rule, ...] = tuple(sorted((*HOST_RULES, *PROTOCOL_RULES, *SYSTEM_RULES, *STORAGE_RULES), key=lambda rule: rule.id))
