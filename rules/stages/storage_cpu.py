"""Storage and host: what reads, checkpoints and data loading need, the systems that serve them, and what the node's host offers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from catalogs.quantities import magnitude
from rules.findings import Stage
from rules.guidance.storage_cpu import RULES
from rules.remembered import remembered
from rules.sizing.host import UNIFIED, HostNeeds, host_design, host_needs
from rules.sizing.memory_report import offloaded_bytes
from rules.sizing.reliability import Goodput, goodput_of, run_seconds
from rules.sizing.results import BomLine
from rules.sizing.software import FRAMEWORKS
from rules.sizing.storage import (
    GB,
    OBJECT_STORE_FROM_BYTES,
    TB,
    StorageNeeds,
    largest_local,
    object_store_needs,
    on_file_server,
    reference_rates,
    restore_seconds,
    shared_storage,
    storage_needs,
)
from rules.sizing.storage_systems import StorageSystem, choose_file_server, choose_system, through_links, why_no_file_server
from rules.stages.host_facts import host_facts
from rules.stages.storage_cpu_facts import checkpoint_facts, existing_room, need_facts, system_facts
from rules.stages.storage_cpu_fields import FACTS
from rules.stages.storage_cpu_sections import describe, storage_design
from rules.stages.storage_protocols import protocol_facts

if TYPE_CHECKING:
    from rules.candidate import Candidate, Context
    from rules.findings import Scalar

STAGE = Stage.STORAGE_CPU
__all__ = ["FACTS", "RULES", "STAGE", "assess", "bill", "describe"]

BITS_PER_BYTE = 8.0


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
    access: str = "sequential"
    object_store: StorageSystem | None = None
    users_given: bool = False
    existing: float | None = None
    """Bytes per second of all nodes to the storage that is there, where it is used."""


@remembered
def size(candidate: Candidate, context: Context) -> Assessed:
    """Size storage and host of a candidate: needs first, then the kind of shared storage, then the system and its checkpoints."""
    workload, catalog, answers = context.workload, context.catalog, context.answers
    _, usual_write = reference_rates(workload.data_kind, candidate.gpus, catalog)
    state = magnitude(workload.checkpoint, "byte")
    rate = candidate.choice.step.units_per_second if candidate.choice else 0.0
    existing, preferred = _existing(context), answers.text("preferences.storage")
    there = existing * candidate.nodes if existing is not None and preferred == "any" else None
    usual_write = usual_write if there is None else there

    run = run_seconds(candidate, workload)

    mode = answers.text("preferences.checkpoints")

    def goodput(offered: float | None = None) -> Goodput:
        return goodput_of(
            candidate.gpu, candidate.gpus, catalog, state, usual_write=usual_write, offered_write=offered, run_s=run, mode=mode
        )

    planned = goodput()
    access = answers.text("data.access")
    needs = storage_needs(
        workload,
        catalog,
        nodes=candidate.nodes,
        gpus=candidate.gpus,
        units_per_second=rate,
        checkpoints=planned.checkpoints,
        restore_s=restore_seconds(planned.restart),
        access=access,
        users=answers.count("data.users") if answers.given("data.users") else None,
    )
    over_objects = answers.given("data.protocols") and answers.names("data.protocols") == ("s3",)
    kind, because = shared_storage(preferred, candidate.nodes, candidate.gpus, needs, existing, over_objects=over_objects)
    needs = on_file_server(needs) if kind == "nfs_server" else needs
    system, store = _systems(needs, kind, candidate, context)
    node_storage = _node_storage(candidate)
    offered = system.write if system else None
    if offered is not None and node_storage is not None:
        offered = min(offered, node_storage * candidate.nodes)
    offered = offered if there is None else there
    found = goodput(offered) if offered else planned
    plan = candidate.choice.plan if candidate.choice else None
    host = host_needs(
        workload,
        candidate.node,
        candidate.gpu,
        catalog,
        nodes=candidate.nodes,
        units_per_second_per_gpu=rate / candidate.gpus,
        held=offloaded_bytes(workload, plan)[1] if plan is not None and plan.offload != "none" else None,
        staged_bytes=state if found.checkpoints.mode == "asynchronous" else 0.0,
        batch=plan.micro_batch if plan is not None else 1,
    )
    counted = answers.given("data.users")
    return Assessed(found, needs, kind, because, system, host, node_storage, access, store, counted, there)


def _existing(context: Context) -> float | None:
    """Return the bytes per second at which one server reaches the storage that is there, None where none was named."""
    rate = context.answers.quantity("data.existing_rate")
    return None if rate is None else rate.to("GB/s").magnitude * GB


def _systems(needs: StorageNeeds, kind: str, candidate: Candidate, context: Context) -> tuple[StorageSystem | None, StorageSystem | None]:
    """Return (the system that the training reads and writes, the object store that is bought); the same one where it stands alone."""
    catalog, vendors = context.catalog, context.answers.names("preferences.vendors")
    carried = candidate.fabric.storage_gbps / BITS_PER_BYTE * GB if candidate.fabric else 0.0
    store = None
    if kind in ("object_store", "both"):
        store = choose_system(object_store_needs(needs, kind), "object_store", catalog, vendors, answers=context.answers)
    if kind == "object_store":
        store = through_links(store, carried)
        return store, store
    if kind not in ("parallel_file_system", "both"):
        return None, None
    working = min(needs.capacity, OBJECT_STORE_FROM_BYTES) if kind == "both" else None
    return through_links(choose_system(needs, "parallel_file_system", catalog, vendors, working, context.answers), carried), store


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
    candidate.storage = storage_design(sized, candidate.nodes, staged)
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
        **need_facts(sized, candidate, context),
        "staged_tb": staged / TB,
        "local_most_tb": most / TB,
        **checkpoint_facts(sized, context),
        **system_facts(sized, context),
        **protocol_facts(sized.system, sized.object_store, candidate, context),
        **host_facts(sized.host_needs, candidate.host),
        **existing_room(sized, context),
        "memory_shared": candidate.node.topology == UNIFIED,
        "video": context.workload.data_kind == "video",
    }


def bill(candidate: Candidate, context: Context) -> list[BomLine]:
    """Return the storage lines: the shared systems, and the file server for home directories beside more than one node."""
    storage, catalog = candidate.storage, context.catalog
    if storage is None:
        return []
    lines = [BomLine(product, catalog.storage[product].name, "storage", units) for product, units in storage.systems.items()]
    kind = str(candidate.facts[STAGE]["shared_kind"]) if STAGE in candidate.facts else size(candidate, context).kind
    capacity = math.ceil(magnitude(storage.capacity_needed, "TB"))
    home = math.ceil(magnitude(storage.home_capacity, "TB"))
    open_product = "product open: ask storage vendors"
    if kind == "nfs_server":
        lines.append(BomLine("nfs-file-server", f"NFS file server, flash, {capacity} TB usable for data", "storage", 1, note=open_product))
    if kind in ("object_store", "both") and not any(catalog.storage[product].system == "object_store" for product in storage.systems):
        lines.append(BomLine("object-store", f"Object store, {capacity} TB usable", "storage", 1, note=open_product))
    if kind == "parallel_file_system" and not lines:
        lines.append(BomLine("parallel-file-system", f"Parallel file system, {capacity} TB usable", "storage", 1, note=open_product))
    if candidate.nodes > 1 and kind != "existing":
        lines.append(_home_line(home, context))
    return lines


def _home_line(home: int, context: Context) -> BomLine:
    """Return the file server for home directories: a product of the catalog, or an open one with the reason."""
    catalog, vendors = context.catalog, context.answers.names("preferences.vendors")
    server = choose_file_server(home * TB, catalog, vendors, context.answers)
    if server is None:
        name = f"File server for home directories and environments, flash, {home} TB usable"
        return BomLine(
            "home-file-server", name, "storage", 1, note=f"product open: {why_no_file_server(catalog.storage)}; ask storage vendors"
        )
    held = "its usable capacity is not published" if server.capacity is None else f"{server.capacity / TB:,.0f} TB usable"
    protection = server.protection or "protection not stated"
    note = f"home directories and environments, {home} TB: {held}, {protection}; {server.because}"
    return BomLine(server.product, server.name, "storage", server.units, note=note)
