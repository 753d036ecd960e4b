"""The design sections of stage storage and CPU: host, storage with its tiers, and the three uses of storage apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalogs.quantities import format_quantity, magnitude, quantity
from rules.findings import Stage
from rules.sizing.checkpoint import in_words, rate_in_words
from rules.sizing.data_wait import waited_for_data
from rules.sizing.lookup import threshold_number
from rules.sizing.nfs import MOST_CONNECTIONS, connections_needed, rate_of_connection, slots_of_connection, small_file_bytes
from rules.sizing.results import StorageDesign
from rules.sizing.storage import CHECKPOINTS_KEPT, GB, NFS_SERVER_BYTES_PER_S, TB, nfs_share
from rules.stages.host_facts import host_section
from rules.stages.storage_cpu_facts import KINDS

if TYPE_CHECKING:
    from catalogs import Catalog
    from catalogs.quantities import Quantity
    from rules.candidate import Candidate, Context
    from rules.sizing.storage_systems import StorageSystem
    from rules.stages.storage_cpu import Assessed


def storage_design(sized: Assessed, nodes: int, staged: float) -> StorageDesign:
    """Return the storage of a candidate as a record, with what must be said of it."""
    needs, system, plan = sized.needs, sized.system, sized.goodput.checkpoints
    notes = [f"shared data: {KINDS[sized.kind]}, {sized.because}"]
    users = f"{needs.users} users" if sized.users_given else f"{needs.users} users assumed"
    if nodes > 1 and sized.existing is None:
        notes.append(f"home directories and environments: {users}, on a file server of their own, made for small files")
    elif sized.existing is None:
        notes.append(
            f"home directories and environments: {users}, on the node's own drives or a file server that is there "
            "already; the design buys none, and what must survive the node is copied off it"
        )
    if sized.existing is None and (system is None or system.write is None):
        notes.append(f"no write rate is known of what checkpoints go to; the design counts on {in_words(plan.write)} at most for one")
    if staged < needs.staging_per_node:
        wanted, there = (format_quantity(quantity(each / TB, "TB")) for each in (needs.staging_per_node, staged))
        notes.append(f"not everything can be staged: a node's part of data and checkpoints takes {wanted}, its NVMe at most {there}")
    if needs.dataset is None:
        notes.append("the size of the dataset is unknown; capacity is for checkpoints alone")

    if sized.existing is not None:
        notes.append("shared storage and home directories are not bought: the storage that is there serves both; its space is not checked")

    def rate(value: float | None) -> Quantity | None:
        return None if value is None else quantity(value / GB, "GB/s")

    return StorageDesign(
        read_needed=quantity(max(needs.read, needs.reference_read) / GB, "GB/s"),
        write_needed=quantity(max(needs.write, needs.reference_write) / GB, "GB/s"),
        capacity_needed=quantity(needs.capacity / TB, "TB"),
        home_capacity=quantity(needs.home / TB, "TB"),
        checkpoint=quantity(plan.size_bytes / GB, "GB"),
        checkpoint_write_time=quantity(plan.write, "s"),
        checkpoint_interval=quantity(plan.interval, "s"),
        local_staging=quantity(staged / TB, "TB"),
        systems={each.product: each.units for each in (system, sized.object_store) if each},
        read_offered=rate(system.read if system else sized.existing),
        write_offered=rate(system.write if system else sized.existing),
        capacity_offered=None if system is None or system.capacity is None else quantity(system.capacity / TB, "TB"),
        power=None if system is None or system.power_w is None else quantity(system.power_w / 1000.0, "kW"),
        height=None if system is None or system.height_u is None else quantity(system.height_u, "U"),
        notes=tuple(notes),
        kind=sized.kind,
        access=sized.access,
        operations=needs.operations,
        mode=plan.mode,
        pause=quantity(plan.pause, "s"),
        users=needs.users,
        tiers=tuple(each for each in dict.fromkeys((system, sized.object_store)) if each is not None),
    )


def describe(candidate: Candidate, context: Context) -> dict[str, dict[str, object]]:
    """Return the sections "host" and "storage" of the design; what is unknown is left out and said in the notes."""
    host, storage = candidate.host, candidate.storage
    if host is None or storage is None:
        return {}
    sections = {"host": host_section(host), "storage": _storage_section(storage)}
    return {**sections, **_uses(candidate, storage, context)}


def _storage_section(storage: StorageDesign) -> dict[str, object]:
    wanted = (
        ("read_needed", storage.read_needed, "GB/s"),
        ("write_needed", storage.write_needed, "GB/s"),
        ("capacity_needed", storage.capacity_needed, "TB"),
        ("home_capacity", storage.home_capacity, "TB"),
        ("local_staging", storage.local_staging, "TB"),
        ("checkpoint", storage.checkpoint, "GB"),
        ("checkpoint_write_time", storage.checkpoint_write_time if storage.write_offered is not None else None, "s"),
        ("checkpoint_interval", storage.checkpoint_interval, "s"),
        ("read_offered", storage.read_offered, "GB/s"),
        ("write_offered", storage.write_offered, "GB/s"),
        ("capacity_offered", storage.capacity_offered, "TB"),
        ("power", storage.power, "kW"),
        ("height", storage.height, "U"),
    )
    section: dict[str, object] = {name: format_quantity(value, unit) for name, value, unit in wanted if value is not None}
    return {**section, "systems": dict(storage.systems), "tier": _tiers(storage), "notes": list(storage.notes)}


def _tiers(storage: StorageDesign) -> list[dict[str, object]]:
    """Return a row per place where data lies, fastest first: local NVMe, then what is bought with its unit of growth."""
    rows: list[dict[str, object]] = [{"name": "local NVMe of the nodes", "per_node": format_quantity(storage.local_staging, "TB")}]
    return rows + [_tier(each) for each in storage.tiers]


def _tier(system: StorageSystem) -> dict[str, object]:
    """Return a system with its unit of growth, protection, network and limits; what is unknown is left out."""
    row: dict[str, object] = {"name": system.name, "units": system.units, "grows_by": f"1 {system.unit}", "set_by": system.binding}
    row |= {"chosen_since": system.because} if system.because else {}
    for name, value, scale, unit in (
        ("raw", system.raw, TB, "TB"),
        ("usable", system.capacity, TB, "TB"),
        ("read", system.read, GB, "GB/s"),
        ("write", system.write, GB, "GB/s"),
    ):
        if value is not None:
            row[name] = format_quantity(quantity(value / scale, unit), unit)
    if system.raw and system.capacity:
        row["protection_overhead"] = round(system.raw / system.capacity - 1.0, 3)
    if system.operations is not None:
        row["small_reads_per_second"] = round(system.operations)
    if system.client_slots is not None:
        row["client_slots"] = system.client_slots
    return row | {name: text for name, text in (("protection", system.protection), ("network", system.network)) if text}


def _uses(candidate: Candidate, storage: StorageDesign, context: Context) -> dict[str, dict[str, object]]:
    """Return the three uses of storage, each with what it needs: data, checkpoints, home directories."""
    workload, share = context.workload, nfs_share(candidate.nodes, context.catalog)
    data: dict[str, object] = {
        "kind": workload.data_kind,
        "access": storage.access,
        "read": rate_in_words(needed_reads(candidate)),
        "requests_per_second": round(storage.operations),
    }
    longer = waited_for_data(candidate.facts.get(Stage.STORAGE_CPU, {}))
    if longer > 0:
        data["step_longer_by"] = round(longer, 4)
    if workload.dataset is not None:
        data["size"] = format_quantity(workload.dataset, "TB")
    trained = workload.trainable_parameters
    checkpoints: dict[str, object] = {
        "mode": storage.mode,
        "size": format_quantity(storage.checkpoint, "GB"),
        "bytes_per_trained_parameter": round(magnitude(storage.checkpoint, "byte") / trained, 2) if trained > 0 else "unknown",
        "interval": format_quantity(storage.checkpoint_interval, "s"),
        **({} if storage.pause is None else {"pause": format_quantity(storage.pause, "s")}),
        "stall_share": round(stall_share(storage), 6),
        "write_needed": format_quantity(storage.write_needed, "GB/s"),
        "kept": CHECKPOINTS_KEPT,
        "kept_on_local_nvme": int(threshold_number(context.catalog.thresholds, "sto-keep-two")),
    }
    home: dict[str, object] = {"users": storage.users, "capacity": format_quantity(storage.home_capacity, "TB")}
    if share is not None:
        home["nfs_share_of_rated"] = list(share)
    if candidate.nodes > 1:
        home |= _nfs_limits(candidate.nodes, context.catalog)
    return {"storage.dataset": data, "storage.checkpoints": checkpoints, "storage.home": home}


def _nfs_limits(nodes: int, catalog: Catalog) -> dict[str, object]:
    """Return what bounds the mounts of the home directories: slots and rate of a connection, and connections of each node."""
    small = small_file_bytes(catalog)
    each = connections_needed(NFS_SERVER_BYTES_PER_S, small, nodes, catalog)
    return {
        "nfs_slots_per_connection": int(slots_of_connection(catalog)),
        "nfs_small_files_per_connection": format_quantity(quantity(rate_of_connection(small, catalog), "byte/s"), "GB/s"),
        "nfs_connections_per_node": MOST_CONNECTIONS if each is None else each,
    }


def needed_reads(candidate: Candidate) -> float:
    """Return the bytes per second at which the training reads its data, as the stage stated them."""
    facts = candidate.facts.get(Stage.STORAGE_CPU, {})
    return float(facts.get("dataset_read_gb_per_s", 0.0)) * GB


def stall_share(storage: StorageDesign) -> float:
    """Return the share of time that checkpoints stop the training, 0 to 1."""
    pause = 0.0 if storage.pause is None else magnitude(storage.pause, "s")
    return pause / (magnitude(storage.checkpoint_interval, "s") + pause)
