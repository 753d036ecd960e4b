"""The facts of stage storage and CPU, by topic: what is needed, checkpoints, the systems and the host."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalogs.quantities import format_number
from rules.sizing.checkpoint import in_words, rate_in_words
from rules.sizing.storage import GB, NFS_SERVER_BYTES_PER_S, TB, nfs_share, object_store_needs

if TYPE_CHECKING:
    from rules.candidate import Candidate, Context
    from rules.findings import Scalar
    from rules.stages.storage_cpu import Assessed

KINDS = {
    "local": "local NVMe only",
    "nfs_server": "a file server over NFS",
    "parallel_file_system": "a parallel file system",
    "object_store": "an object store",
    "both": "a parallel file system and an object store",
    "existing": "the storage that is there",
}
NO_PRODUCT = "no product of the catalog"
PERCENT = 100.0


def size_in_words(size: float) -> str:
    """Return a number of bytes as people say it: "112 KB", "1.4 MB", "5.68 TB"; unknown where it is 0."""
    if size <= 0:
        return "unknown"
    for most, scale, unit in ((1e6, 1e3, "KB"), (1e9, 1e6, "MB"), (1e12, 1e9, "GB")):
        if size < most:
            return f"{format_number(size / scale, 3)} {unit}"
    return f"{format_number(size / 1e12, 3)} TB"


def need_facts(sized: Assessed, candidate: Candidate, context: Context) -> dict[str, Scalar]:
    """State what the three uses need."""
    needs = sized.needs
    return {
        "access": sized.access,
        "access_given": context.answers.given("data.access"),
        "dataset_known": needs.dataset is not None,
        "dataset_tb": (needs.dataset or 0.0) / TB,
        "dataset_read_gb_per_s": needs.dataset_read / GB,
        "dataset_read": rate_in_words(needs.dataset_read),
        "restore_read_gb_per_s": needs.restore_read / GB,
        "restore_read": rate_in_words(needs.restore_read),
        "read_needed_gb_per_s": needs.read / GB,
        "read_reference_gb_per_s": needs.reference_read / GB,
        "read_per_node_gb_per_s": needs.read / GB / candidate.nodes,
        "node_storage_known": sized.node_storage is not None,
        "node_storage_gb_per_s": (sized.node_storage or 0.0) / GB,
        "write_needed_gb_per_s": needs.write / GB,
        "capacity_needed_tb": needs.capacity / TB,
        "home_tb": needs.home / TB,
        "users": needs.users,
        "staging_tb": needs.staging_per_node / TB,
        "operations": needs.operations,
        "record": size_in_words(needs.record),
        **_home_facts(candidate, context),
    }


def _home_facts(candidate: Candidate, context: Context) -> dict[str, Scalar]:
    share = nfs_share(candidate.nodes, context.catalog)
    return {
        "home_share_low_percent": PERCENT * share[0] if share else PERCENT,
        "home_rate_gb_per_s": NFS_SERVER_BYTES_PER_S / GB * (share[0] if share else 1.0),
    }


def checkpoint_facts(sized: Assessed, context: Context) -> dict[str, Scalar]:
    """State how checkpoints are taken."""
    plan = sized.goodput.checkpoints
    return {
        "checkpoint_gb": plan.size_bytes / GB,
        "checkpoint_mode": plan.mode,
        "checkpoint_interval": in_words(plan.interval),
        "checkpoint_pause": in_words(plan.pause),
        "checkpoint_write": in_words(plan.write),
        "stall_percent": PERCENT * plan.stall_share,
        "mode_asked": context.answers.text("preferences.checkpoints") != "any",
        "write_synchronous_gb_per_s": plan.needed_synchronous / GB,
        **_existing_facts(sized),
    }


def _existing_facts(sized: Assessed) -> dict[str, Scalar]:
    """State what storage that is there carries; 0 where none is used."""
    rate, size = sized.existing or 0.0, sized.goodput.checkpoints.size_bytes
    return {
        "existing_gb_per_s": rate / GB,
        "existing_checkpoint_s": size / rate if rate else 0.0,
        "existing_checkpoint": in_words(size / rate) if rate else "unknown",
        "existing_short": bool(rate) and max(sized.goodput.checkpoints.needed_synchronous, sized.needs.dataset_read) > rate,
    }


def existing_room(sized: Assessed, context: Context) -> dict[str, Scalar]:
    """State how much of the storage that is there is free, where it is used and that was said."""
    free = context.answers.quantity("data.existing_free")
    known = sized.existing is not None and free is not None
    return {"existing_free_known": known, "existing_free_tb": free.to("TB").magnitude if known and free is not None else 0.0}


def system_facts(sized: Assessed, context: Context) -> dict[str, Scalar]:
    """State which systems serve the needs, and why so many units of them."""
    system = sized.system
    return {
        "shared_kind": sized.kind,
        "shared_words": KINDS[sized.kind],
        "shared_because": sized.because,
        "storage_asked": context.answers.text("preferences.storage") != "any",
        "system_found": system is not None,
        "system": system.name if system else NO_PRODUCT,
        "system_units": system.units if system else 0,
        "system_binding": system.binding if system else "none",
        "read_known": system is not None and system.read is not None,
        "read_offered_gb_per_s": (system.read or 0.0) / GB if system else 0.0,
        "write_known": system is not None and system.write is not None,
        "write_offered_gb_per_s": (system.write or 0.0) / GB if system else 0.0,
        "capacity_offered_tb": (system.capacity or 0.0) / TB if system else 0.0,
        "operations_known": system is not None and system.operations is not None,
        "operations_offered": (system.operations or 0.0) if system else 0.0,
        "system_because": (system.because if system else "") or "none was chosen",
        "system_unit": system.unit if system else "unit",
        "system_protection": (system.protection if system else "") or "protection not stated",
        "raw_tb": (system.raw or 0.0) / TB if system else 0.0,
        "protection_percent": PERCENT * (1.0 - system.capacity / system.raw) if system and system.raw and system.capacity else 0.0,
        **_object_facts(sized),
    }


def _object_facts(sized: Assessed) -> dict[str, Scalar]:
    store = sized.object_store
    return {
        "object_found": store is not None,
        "object_store": store.name if store else NO_PRODUCT,
        "object_units": store.units if store else 0,
        "object_binding": store.binding if store else "none",
        "object_read_gb_per_s": (store.read or 0.0) / GB if store else 0.0,
        "object_fill_gb_per_s": object_store_needs(sized.needs, sized.kind).read / GB if store else 0.0,
    }
