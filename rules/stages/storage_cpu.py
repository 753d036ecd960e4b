"""Storage and host: what reads, checkpoints and data loading need, the systems that serve them, and what the node's host offers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from catalogs.quantities import format_quantity, magnitude, quantity
from rules.facts import FactField
from rules.findings import Stage
from rules.guidance.storage_cpu import RULES
from rules.sizing.checkpoint import in_words, rate_in_words
from rules.sizing.host import UNIFIED, HostNeeds, host_design, host_needs
from rules.sizing.reliability import Goodput, goodput_of, run_seconds
from rules.sizing.results import BomLine, StorageDesign
from rules.sizing.software import FRAMEWORKS
from rules.sizing.storage import (
    GB,
    OBJECT_STORE_FROM_BYTES,
    TB,
    StorageNeeds,
    StorageSystem,
    choose_system,
    largest_local,
    on_file_server,
    reference_rates,
    restore_seconds,
    shared_storage,
    storage_needs,
    through_links,
)

if TYPE_CHECKING:
    from catalogs.quantities import Quantity
    from rules.candidate import Candidate, Context
    from rules.findings import Scalar
    from rules.sizing.results import HostDesign

STAGE = Stage.STORAGE_CPU
__all__ = ["FACTS", "RULES", "STAGE", "assess", "bill", "describe"]

KINDS = {
    "local": "local NVMe only",
    "nfs_server": "a file server over NFS",
    "parallel_file_system": "a parallel file system",
    "object_store": "an object store",
    "both": "a parallel file system and an object store",
}
BITS_PER_BYTE = 8.0

FACTS: tuple[FactField, ...] = (
    FactField("has_plan", "whether a parallel plan was found; without one the rates are those of the reference"),
    FactField("gpu", "name of the GPU"),
    FactField("node", "name of the server"),
    FactField("nodes", "number of scale-out nodes"),
    FactField("gpus", "number of GPUs"),
    FactField("multi_node", "whether there is more than one node"),
    FactField("data_kind", "text, image, video or tabular"),
    FactField("workload", "the workload's kind"),
    FactField("framework", "the framework asked for"),
    FactField("fine_tuning", "whether a trained model is loaded first"),
    FactField("dataset_known", "whether the size of the dataset is known"),
    FactField("dataset_tb", "size of the dataset, 0 where unknown"),
    FactField("dataset_read_gb_per_s", "rate at which the training reads its data"),
    FactField("dataset_read", "the same in words"),
    FactField("restore_read_gb_per_s", "rate at which a checkpoint must be read after a failure"),
    FactField("restore_read", "the same in words"),
    FactField("read_needed_gb_per_s", "the larger of the two"),
    FactField("read_reference_gb_per_s", "what NVIDIA's reference gives so many GPUs for this kind of data"),
    FactField("read_known", "whether the chosen system's read rate is known"),
    FactField("read_offered_gb_per_s", "read rate of the chosen system, 0 where unknown"),
    FactField("read_per_node_gb_per_s", "read rate that one node must reach"),
    FactField("node_storage_known", "whether the rate of the node's storage network is known"),
    FactField("node_storage_gb_per_s", "rate of the node's storage network, 0 where unknown"),
    FactField("write_needed_gb_per_s", "write rate that checkpoints need"),
    FactField("write_synchronous_gb_per_s", "write rate that stopping for checkpoints would need"),
    FactField("write_known", "whether the chosen system's write rate is known"),
    FactField("write_offered_gb_per_s", "write rate of the chosen system, 0 where unknown"),
    FactField("checkpoint_gb", "size of a full checkpoint"),
    FactField("checkpoint_mode", "synchronous or asynchronous"),
    FactField("checkpoint_interval", "time between checkpoints, in words"),
    FactField("checkpoint_pause", "time for which a checkpoint stops the training, in words"),
    FactField("checkpoint_write", "time to write a checkpoint, in words"),
    FactField("stall_percent", "share of time that checkpoints stop the training"),
    FactField("capacity_needed_tb", "usable capacity needed with reserve"),
    FactField("capacity_offered_tb", "usable capacity of the chosen system, 0 where unknown"),
    FactField("shared_kind", "local, nfs_server, parallel_file_system, object_store or both"),
    FactField("shared_words", "the same in words"),
    FactField("shared_because", "why that kind"),
    FactField("storage_asked", "whether the kind of storage was asked for"),
    FactField("system_found", "whether the catalog has a system that meets the needs"),
    FactField("system", "name of the chosen system"),
    FactField("system_units", "units of it"),
    FactField("system_binding", "what decides the number of units"),
    FactField("home_tb", "capacity of home directories and environments"),
    FactField("users", "users assumed"),
    FactField("staging_tb", "local NVMe that a node needs"),
    FactField("staged_tb", "the part of it that the node's local NVMe holds"),
    FactField("local_most_tb", "local NVMe of a node; that of the server of the catalog that has most, where it is unknown"),
    FactField("local_known", "whether the node's local NVMe is known"),
    FactField("local_tb", "local NVMe of a node, 0 where unknown"),
    FactField("gpus_per_node", "GPUs of a node"),
    FactField("workers_per_gpu", "data loading processes per GPU"),
    FactField("worker_processes", "data loading processes of a node"),
    FactField("cores_needed", "physical cores that a node needs"),
    FactField("cores_known", "whether the node's cores are known"),
    FactField("cores_offered", "physical cores of a node, 0 where unknown"),
    FactField("decode_cores", "cores of a node that decoding images would keep busy, 0 without images"),
    FactField("memory_needed_gb", "host memory that a node needs"),
    FactField("memory_known", "whether the node's memory is known"),
    FactField("memory_offered_gb", "host memory of a node, 0 where unknown"),
    FactField("gpu_memory_gb", "GPU memory of a node"),
    FactField("memory_shared", "whether GPU and processor share the same memory"),
    FactField("offload_gb", "host memory of a node that offload of the trained state would take"),
    FactField("naive_load_gb", "host memory of a node where every rank loads the whole model in fp32"),
)


@dataclass(frozen=True)
class Assessed:
    """What the stage sizes for a candidate, before it is turned into records and facts."""

    goodput: Goodput
    needs: StorageNeeds
    kind: str
    because: str
    system: StorageSystem | None
    host_needs: HostNeeds
    node_storage: float | None


def size(candidate: Candidate, context: Context) -> Assessed:
    """Size storage and host of a candidate: needs first, then the kind of shared storage, then the system and its checkpoints."""
    workload, catalog, answers = context.workload, context.catalog, context.answers
    _, usual_write = reference_rates(workload.data_kind, candidate.gpus, catalog)
    state = magnitude(workload.checkpoint, "byte")
    rate = candidate.choice.step.units_per_second if candidate.choice else 0.0

    run = run_seconds(candidate, workload)

    def goodput(offered: float | None = None) -> Goodput:
        return goodput_of(candidate.gpu, candidate.gpus, catalog, state, usual_write=usual_write, offered_write=offered, run_s=run)

    planned = goodput()
    needs = storage_needs(
        workload,
        catalog,
        nodes=candidate.nodes,
        gpus=candidate.gpus,
        units_per_second=rate,
        checkpoints=planned.checkpoints,
        restore_s=restore_seconds(planned.restart),
    )
    kind, because = shared_storage(answers.text("preferences.storage"), candidate.nodes, candidate.gpus, needs)
    system = None
    needs = on_file_server(needs) if kind == "nfs_server" else needs
    if kind in ("parallel_file_system", "both"):
        working = min(needs.capacity, OBJECT_STORE_FROM_BYTES) if kind == "both" else None
        chosen = choose_system(needs, "parallel_file_system", catalog, answers.names("preferences.vendors"), working)
        system = through_links(chosen, candidate.fabric.storage_gbps / BITS_PER_BYTE * GB if candidate.fabric else 0.0)
    node_storage = _node_storage(candidate)
    offered = system.write if system else None
    if offered is not None and node_storage is not None:
        offered = min(offered, node_storage * candidate.nodes)
    found = goodput(offered) if offered else planned
    plan = candidate.choice.plan if candidate.choice else None
    host = host_needs(
        workload,
        candidate.node,
        candidate.gpu,
        catalog,
        nodes=candidate.nodes,
        units_per_second_per_gpu=rate / candidate.gpus,
        offload=plan is not None and plan.offload != "none",
        staged_bytes=state if found.checkpoints.mode == "asynchronous" else 0.0,
    )
    return Assessed(found, needs, kind, because, system, host, node_storage)


def _node_storage(candidate: Candidate) -> float | None:
    """Return the bytes per second at which one node reaches shared storage, None where neither fabric nor node states it."""
    network = candidate.fabric.storage if candidate.fabric else None
    if network is not None:
        return network.speed_gbps / BITS_PER_BYTE * GB * network.planes
    nics = candidate.node.nics
    if nics.storage_speed is not None:
        count = sum(part.count for part in nics.storage) / candidate.node.trays
        return nics.storage_speed.to("Gb/s") / BITS_PER_BYTE * GB * max(1.0, count)
    if not nics.storage and nics.compute_speed is not None:
        return nics.compute_speed.to("Gb/s") / BITS_PER_BYTE * GB
    return None


def assess(candidate: Candidate, context: Context) -> dict[str, Scalar]:
    """Size storage and host, keep both on the candidate, and state the facts of the stage."""
    sized = size(candidate, context)
    candidate.host = host_design(sized.host_needs, candidate.node, context.catalog, context.answers)
    most = largest_local(context.catalog.nodes) if candidate.host.local_storage is None else magnitude(candidate.host.local_storage, "byte")
    staged = min(sized.needs.staging_per_node, most)
    candidate.storage = _storage_design(sized, candidate.nodes, staged)
    return {
        "has_plan": candidate.choice is not None,
        "gpu": candidate.gpu.name,
        "node": candidate.node.name,
        "nodes": candidate.nodes,
        "gpus": candidate.gpus,
        "multi_node": candidate.nodes > 1,
        "data_kind": context.workload.data_kind,
        "workload": context.workload.kind,
        "framework": FRAMEWORKS[context.answers.text("software.framework")],
        "fine_tuning": context.workload.kind.startswith("fine_tuning"),
        **_need_facts(sized, candidate),
        "staged_tb": staged / TB,
        "local_most_tb": most / TB,
        **_checkpoint_facts(sized),
        **_system_facts(sized, context),
        **_host_facts(sized.host_needs, candidate.host),
        "memory_shared": candidate.node.topology == UNIFIED,
    }


def _storage_design(sized: Assessed, nodes: int, staged: float) -> StorageDesign:
    needs, system, plan = sized.needs, sized.system, sized.goodput.checkpoints
    notes = [f"shared data: {KINDS[sized.kind]}, {sized.because}"]
    if nodes > 1:
        notes.append(f"home directories and environments: {needs.users} users assumed, on a file server of their own, made for small files")
    else:
        notes.append(
            f"home directories and environments: {needs.users} users assumed, on the node's own drives or a file server that is there "
            "already; the design buys none, and what must survive the node is copied off it"
        )
    if system is None or system.write is None:
        notes.append(f"no write rate is known of what checkpoints go to; the design counts on {in_words(plan.write)} at most for one")
    if staged < needs.staging_per_node:
        wanted, there = (format_quantity(quantity(each / TB, "TB")) for each in (needs.staging_per_node, staged))
        notes.append(f"not everything can be staged: a node's part of data and checkpoints takes {wanted}, its NVMe at most {there}")
    if needs.dataset is None:
        notes.append("the size of the dataset is unknown; capacity is for checkpoints alone")
    if sized.kind in ("object_store", "both"):
        notes.append("the catalog has no object store with published rates; its product is open")

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
        systems={system.product: system.units} if system else {},
        read_offered=rate(system.read if system else None),
        write_offered=rate(system.write if system else None),
        capacity_offered=None if system is None or system.capacity is None else quantity(system.capacity / TB, "TB"),
        power=None if system is None or system.power_w is None else quantity(system.power_w / 1000.0, "kW"),
        height=None if system is None or system.height_u is None else quantity(system.height_u, "U"),
        notes=tuple(notes),
    )


def _need_facts(sized: Assessed, candidate: Candidate) -> dict[str, Scalar]:
    needs = sized.needs
    return {
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
    }


def _checkpoint_facts(sized: Assessed) -> dict[str, Scalar]:
    plan = sized.goodput.checkpoints
    return {
        "checkpoint_gb": plan.size_bytes / GB,
        "checkpoint_mode": plan.mode,
        "checkpoint_interval": in_words(plan.interval),
        "checkpoint_pause": in_words(plan.pause),
        "checkpoint_write": in_words(plan.write),
        "stall_percent": 100.0 * plan.stall_share,
        "write_synchronous_gb_per_s": plan.needed_synchronous / GB,
    }


def _system_facts(sized: Assessed, context: Context) -> dict[str, Scalar]:
    system = sized.system
    return {
        "shared_kind": sized.kind,
        "shared_words": KINDS[sized.kind],
        "shared_because": sized.because,
        "storage_asked": context.answers.text("preferences.storage") != "any",
        "system_found": system is not None,
        "system": system.name if system else "no product of the catalog",
        "system_units": system.units if system else 0,
        "system_binding": system.binding if system else "none",
        "read_known": system is not None and system.read is not None,
        "read_offered_gb_per_s": (system.read or 0.0) / GB if system else 0.0,
        "write_known": system is not None and system.write is not None,
        "write_offered_gb_per_s": (system.write or 0.0) / GB if system else 0.0,
        "capacity_offered_tb": (system.capacity or 0.0) / TB if system else 0.0,
    }


def _host_facts(needs: HostNeeds, design: HostDesign) -> dict[str, Scalar]:
    memory, local = design.memory_offered, design.local_storage
    return {
        "gpus_per_node": needs.gpus,
        "workers_per_gpu": needs.workers_per_gpu,
        "worker_processes": needs.workers_per_gpu * needs.gpus,
        "cores_needed": needs.cores,
        "cores_known": design.cores_offered is not None,
        "cores_offered": design.cores_offered or 0,
        "decode_cores": needs.decode_cores,
        "memory_needed_gb": needs.memory / GB,
        "memory_known": memory is not None,
        "memory_offered_gb": 0.0 if memory is None else float(memory.magnitude),
        "gpu_memory_gb": needs.gpu_memory / GB,
        "offload_gb": needs.offload / GB,
        "naive_load_gb": needs.naive_load / GB,
        "local_known": local is not None,
        "local_tb": 0.0 if local is None else float(local.magnitude),
    }


def describe(candidate: Candidate, context: Context) -> dict[str, dict[str, object]]:
    """Return the sections "host" and "storage" of the design; what is unknown is left out and said in the notes."""
    del context
    host, storage = candidate.host, candidate.storage
    if host is None or storage is None:
        return {}
    return {"host": _host_section(host), "storage": _storage_section(storage)}


def _host_section(host: HostDesign) -> dict[str, object]:
    section: dict[str, object] = {"cores_needed": host.cores_needed, "workers_per_gpu": host.workers_per_gpu}
    if host.cores_offered is not None:
        section["cores_offered"] = host.cores_offered
    section["memory_needed"] = format_quantity(host.memory_needed, "GB")
    for name, value, unit in (("memory_offered", host.memory_offered, "GB"), ("local_storage", host.local_storage, "TB")):
        if value is not None:
            section[name] = format_quantity(value, unit)
    return {**section, "notes": list(host.notes)}


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
    return {**section, "systems": dict(storage.systems), "notes": list(storage.notes)}


def bill(candidate: Candidate, context: Context) -> list[BomLine]:
    """Return the storage lines: the shared systems, and the file server for home directories (product open) beside more than one node."""
    storage, catalog = candidate.storage, context.catalog
    if storage is None:
        return []
    lines = [BomLine(product, catalog.storage[product].name, "storage", units) for product, units in storage.systems.items()]
    kind = str(candidate.facts[STAGE]["shared_kind"]) if STAGE in candidate.facts else size(candidate, context).kind
    capacity = math.ceil(magnitude(storage.capacity_needed, "TB"))
    home = math.ceil(magnitude(storage.home_capacity, "TB"))
    open_product = "product open: ask storage vendors"
    if kind == "nfs_server":
        name = f"NFS file server, flash, {capacity} TB usable for data and {home} TB apart for home directories"
        return [BomLine("nfs-file-server", name, "storage", 1, note=open_product)]
    if kind in ("object_store", "both"):
        lines.append(BomLine("object-store", f"Object store, {capacity} TB usable", "storage", 1, note=open_product))
    if kind == "parallel_file_system" and not lines:
        lines.append(BomLine("parallel-file-system", f"Parallel file system, {capacity} TB usable", "storage", 1, note=open_product))
    if candidate.nodes > 1:
        name = f"File server for home directories and environments, flash, {home} TB usable"
        lines.append(BomLine("home-file-server", name, "storage", 1, note=open_product))
    return lines
