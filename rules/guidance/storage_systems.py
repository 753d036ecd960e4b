"""Rules on the systems that hold shared data: which kind, which product, how many units, and how records are read from them."""

from __future__ import annotations

from rules.findings import Kind, Stage, Strength
from rules.guidance.declare import Ask, F, Fix, Rule

_STORAGE = Stage.STORAGE_CPU
A_MINUTE = 60.0
"""Seconds of a checkpoint from which its time is worth a word, assumed: BLOOM's took 40."""

SYSTEM_RULES: tuple[Rule, ...] = (
    Rule(
        id="storage_cpu.grows_by",
        stage=_STORAGE,
        kind=Kind.QUESTION,
        strength=Strength.ADVICE,
        when=(F.system_found == True,),  # noqa: E712
        guidance=("G3s.2",),
        because=(
            "{system} grows by one {system_unit}; {system_protection}. The {system_binding} sets the {system_units} that are bought now, "
            "so that is what binds first when the cluster grows."
        ),
        ask=Ask(
            to="storage vendor",
            ask="What does one more {system_unit} add in usable capacity, read and write rate, and what does it cost later?",
            good_answer="the same rates and capacity per {system_unit} as the first ones, at a price that is fixed for the years of use",
        ),
    ),
    Rule(
        id="storage_cpu.object_store_sized",
        stage=_STORAGE,
        kind=Kind.DECISION,
        strength=Strength.STRONG,
        when=(F.object_found == True, F.shared_kind == "both"),  # noqa: E712
        guidance=("G3s.2",),
        because=(
            "{object_units} × {object_store} keep all {dataset_tb} of data with the checkpoints, set by the {object_binding}. They read "
            "{object_read_gb_per_s}, where filling the file system's working set within a day takes {object_fill_gb_per_s}: the object "
            "store is sized by capacity, the file system by rate."
        ),
        decides=("storage.object_store", "{object_units} × {object_store}"),
    ),
    Rule(
        id="storage_cpu.reads_small_files",
        stage=_STORAGE,
        kind=Kind.WARNING,
        strength=Strength.STRONG,
        when=(F.access == "small_files", F.multi_node == True, F.has_plan == True),  # noqa: E712
        guidance=("G3s.3",),
        thresholds=("sto-small-files",),
        because=(
            "One file per record means {operations} files opened per second, of {record} each. A file system for large reads has blocks of "
            "{limit_sto_small_files_large_block_low_mib} to {limit_sto_small_files_large_block_high_mib} MiB: most of each is wasted, and "
            "its metadata server becomes the limit."
        ),
        fix=(Fix("data.access", "pack the records into large files (shards) before training", "sequential"),),
        ask=Ask(
            to="storage vendor",
            ask="How many files of {record} can {nodes} nodes open, read and close per second, for an hour?",
            good_answer="at least {operations} per second, measured with as many clients",
        ),
    ),
    Rule(
        id="storage_cpu.small_reads_unrated",
        stage=_STORAGE,
        kind=Kind.QUESTION,
        strength=Strength.STRONG,
        when=(F.access != "sequential", F.system_found == True, F.operations_known == False),  # noqa: E712
        guidance=("G3s.3",),
        because="The training reads {operations} records of {record} per second; the rate of small reads of {system} is not published.",
        ask=Ask(
            to="storage vendor",
            ask="How many random reads of {record} per second do {system_units} × {system} serve to all nodes at once?",
            good_answer="at least {operations} per second",
        ),
    ),
    Rule(
        id="storage_cpu.shared_existing",
        stage=_STORAGE,
        kind=Kind.DECISION,
        strength=Strength.STRONG,
        when=(F.shared_kind == "existing",),
        guidance=("G3s.1", "G3s.2"),
        because=(
            "Shared data: {shared_words}, {shared_because}: {existing_gb_per_s} to all nodes together ({nodes}). A checkpoint of "
            "{checkpoint_gb} takes {existing_checkpoint} to write there. No shared storage is bought."
        ),
        decides=("storage.shared", "{shared_words}"),
        ask=Ask(
            to="your storage team",
            ask="What does the storage write and read in total while its other users work, and how much of its space is free?",
            good_answer="{existing_gb_per_s} written at any hour, and {capacity_needed_tb} free",
        ),
    ),
    Rule(
        id="storage_cpu.existing_full",
        stage=_STORAGE,
        kind=Kind.WARNING,
        strength=Strength.STRONG,
        when=(F.existing_free_known == True, F.capacity_needed_tb > F.existing_free_tb),  # noqa: E712
        guidance=("G3s.2",),
        thresholds=("sto-lustre-80",),
        because=(
            "The data and ten checkpoints of {checkpoint_gb} need {capacity_needed_tb}, with {limit_sto_lustre_80} times as reserve; of "
            "the storage that is there {existing_free_tb} are free. It fills up during the run, and writes slow down before that."
        ),
        fix=(
            Fix("preferences.storage", "buy a parallel file system beside it, for data and checkpoints", "parallel_file_system"),
            Fix("data.existing_free", "free as much of it, or have it grown"),
        ),
    ),
    Rule(
        id="storage_cpu.existing_waits",
        stage=_STORAGE,
        kind=Kind.WARNING,
        strength=Strength.ADVICE,
        when=(F.existing_checkpoint_s > A_MINUTE, F.existing_short == False),  # noqa: E712
        guidance=("G3s.1",),
        thresholds=("sto-ckpt-bw",),
        because=(
            "A checkpoint of {checkpoint_gb} takes {existing_checkpoint} at the {existing_gb_per_s} of the storage that is there, longer "
            "than a minute. Saved every {checkpoint_interval} it stops the training {stall_percent} of the time, within the "
            "{limit_sto_ckpt_bw_stall_share_high_percent} that are usual; a rerun after a failure reads it back as slowly."
        ),
        fix=(Fix("data.existing_rate", "connect each server by more ports, where the array carries them"),),
        judgement="a published checkpoint took 40 s (BLOOM): more than a minute is worth a word",
    ),
    Rule(
        id="storage_cpu.existing_short",
        stage=_STORAGE,
        kind=Kind.WARNING,
        strength=Strength.STRONG,
        when=(F.shared_kind == "existing", F.existing_short == True),  # noqa: E712
        guidance=("G3s.1",),
        thresholds=("sto-ckpt-bw",),
        because=(
            "A checkpoint of {checkpoint_gb} takes {existing_checkpoint} at the {existing_gb_per_s} of the storage that is there; the data "
            "takes {dataset_read}. So that saving stops the training for {limit_sto_ckpt_bw_stall_share_high_percent} of the time at "
            "most, storage must write {write_synchronous_gb_per_s}."
        ),
        fix=(
            Fix("preferences.storage", "buy a parallel file system beside it, for data and checkpoints", "parallel_file_system"),
            Fix("data.existing_rate", "connect each server by more ports, where the array carries them"),
        ),
    ),
    Rule(
        id="storage_cpu.shared_both",
        stage=_STORAGE,
        kind=Kind.DECISION,
        strength=Strength.STRONG,
        when=(F.shared_kind == "both",),
        guidance=("G3s.2",),
        because="Shared data: {shared_words}, {shared_because}. {system_units} × {system}, set by the {system_binding}; {system_because}.",
        decides=("storage.shared", "{shared_words}"),
    ),
    Rule(
        id="storage_cpu.shared_file_server",
        stage=_STORAGE,
        kind=Kind.DECISION,
        strength=Strength.ADVICE,
        when=(F.shared_kind == "nfs_server",),
        guidance=("G3s.2",),
        thresholds=("sto-nfs-slots",),
        because=(
            "Shared data: {shared_words}, {shared_because}: {read_reference_gb_per_s} read and {write_needed_gb_per_s} written by {nodes} "
            "nodes. Many clients reach a sixth of its rate only; with more GPUs a parallel file system takes its place."
        ),
        decides=("storage.shared", "{shared_words}"),
    ),
    Rule(
        id="storage_cpu.shared_object_store",
        stage=_STORAGE,
        kind=Kind.WARNING,
        strength=Strength.ADVICE,
        when=(F.shared_kind == "object_store",),
        guidance=("G3s.2",),
        thresholds=("sto-local-first",),
        because=(
            "Shared data: {shared_words}, {shared_because}. Streaming from it keeps more cores busy and hides less; stage to local NVMe "
            "first."
        ),
        fix=(
            Fix("preferences.storage", "put a parallel file system in front of it", "both"),
            Fix("preferences.storage", "let the need decide", "any"),
        ),
    ),
    Rule(
        id="storage_cpu.shared_parallel",
        stage=_STORAGE,
        kind=Kind.DECISION,
        strength=Strength.STRONG,
        when=(F.shared_kind == "parallel_file_system", F.system_found == True),  # noqa: E712
        guidance=("G3s.2", "G4.5"),
        because=(
            "Shared data: {shared_words}, {shared_because}. {system_units} × {system} read {read_offered_gb_per_s} where "
            "{read_needed_gb_per_s} are needed and {read_reference_gb_per_s} are NVIDIA's reference; the {system_binding} sets the number. "
            "Of its kind {system_because}."
        ),
        decides=("storage.shared", "{system_units} × {system}"),
    ),
    Rule(
        id="storage_cpu.small_files",
        stage=_STORAGE,
        kind=Kind.QUESTION,
        strength=Strength.STRONG,
        when=(F.multi_node == True,),  # noqa: E712
        guidance=("G3s.2",),
        thresholds=("sto-small-files",),
        because=(
            "{users} users keep Python environments of many small files: blocks of {limit_sto_small_files_small_block_low_kib} to "
            "{limit_sto_small_files_small_block_high_kib} KiB suit them, the {limit_sto_small_files_large_block_high_mib} MiB of a file "
            "system "
            "for large reads waste nearly all."
        ),
        ask=Ask(
            to="storage vendor",
            ask="How long do importing {framework} and installing an environment take on all {nodes} nodes at once?",
            good_answer="an import within seconds; {home_tb} usable for homes, apart from the training data",
        ),
    ),
)
