"""The host beside the GPUs: CPU cores, memory and local storage of a node against what the workload needs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from catalogs.quantities import quantity
from rules.sizing.host_parts import lanes_of, loader_buffers, modules_for, most_memory_gb
from rules.sizing.lookup import fact_value, threshold_number
from rules.sizing.results import HostDesign

if TYPE_CHECKING:
    from catalogs import Catalog
    from catalogs.schema import Gpu, Node
    from rules.answers import Answers
    from rules.sizing.results import Workload

GB = 1e9
FP32_BYTES = 4.0
UNIFIED = "unified"
"""Topology of a node whose GPU and processor share one memory."""
VISION_KINDS = ("image", "video")


@dataclass(frozen=True)
class HostNeeds:
    """What a node of `gpus` GPUs needs of its host. Memory in bytes; `decode_cores` only where images are decoded on the CPU.

    `offload` is what ZeRO-3 offload of the trained state would take, whether the plan offloads or not; `held` is what the plan does keep.
    """

    gpus: int
    workers_per_gpu: int
    cores: int
    decode_cores: int
    gpu_memory: float
    offload: float
    staging: float
    memory: float
    naive_load: float
    loader: float = 0.0
    held: float = 0.0


def cores_needed(gpus: int, workers_per_gpu: int, fixed: int = 4) -> int:
    """Return the physical cores that a node needs: gpus · (workers + 1) + fixed.

    One core runs each GPU's process, `workers_per_gpu` load its data, `fixed` are for the system. Source: ML Engineering, CPU chapter.
    """
    return gpus * (workers_per_gpu + 1) + fixed


def offload_memory(parameters: float, catalog: Catalog) -> float:
    """Return the host memory in bytes, of all nodes together, that ZeRO-3 offload of `parameters` takes (27 bytes each)."""
    return parameters * threshold_number(catalog.thresholds, "ram-offload")


def naive_load_memory(parameters: float, ranks: int) -> float:
    """Return the host memory peak in bytes where each of a node's `ranks` loads the whole model in fp32 before it is sharded."""
    return FP32_BYTES * parameters * ranks


def gpus_per_node(node: Node) -> int:
    """Return the GPUs of one scale-out node: of the server, or of one tray of a rack."""
    return max(1, node.gpu_count // node.trays)


def host_needs(
    workload: Workload,
    node: Node,
    gpu: Gpu,
    catalog: Catalog,
    *,
    nodes: int,
    units_per_second_per_gpu: float,
    held: float | None,
    staged_bytes: float,
    batch: int = 1,
) -> HostNeeds:
    """Return what one node needs of its host.

    `staged_bytes` is the checkpoint of the whole job where it is written in the background: each node holds its share in pinned memory
    beside the loader's buffers, of `batch` records each. `held` is what the plan's offload keeps on all hosts, None where it does not
    offload. `units_per_second_per_gpu` sets the cores for decoding where images are decoded on the CPU.
    """
    gpus = gpus_per_node(node)
    vision = workload.data_kind in VISION_KINDS
    workers = int(threshold_number(catalog.thresholds, "cpu-cores", "workers_vision" if vision else "workers_text"))
    fixed = int(threshold_number(catalog.thresholds, "cpu-cores", "fixed_cores"))
    per_core = fact_value(catalog.facts, "image-decode-transform", "images_per_core").to("image/s")
    decode = math.ceil(units_per_second_per_gpu * gpus / per_core) if vision and workload.unit == "image" else 0
    gpu_memory = gpu.memory.printed.to("GB") * GB * gpus
    floor = gpu_memory * threshold_number(catalog.thresholds, "ram-ge-vram")
    offloaded = offload_memory(workload.trainable_parameters, catalog) / nodes
    staging = staged_bytes / nodes
    loader = loader_buffers(workload, gpus, workers, batch)
    return HostNeeds(
        gpus=gpus,
        workers_per_gpu=workers,
        cores=cores_needed(gpus, workers, fixed),
        decode_cores=decode,
        gpu_memory=gpu_memory,
        offload=offloaded,
        staging=staging,
        memory=max(floor, (0.0 if held is None else offloaded) + staging + loader),
        naive_load=naive_load_memory(workload.parameters.total, gpus),
        loader=loader,
        held=(held or 0.0) / nodes,
    )


def cores_offered(node: Node, catalog: Catalog, answers: Answers) -> int | None:
    """Return the physical cores of one scale-out node, None where they are not stated."""
    if node.cpus:
        total = 0.0
        for part in node.cpus:
            record = catalog.cpus.get(part.id)
            if record is None:
                return None
            total += record.cores.to("") * part.count
        return int(total) // node.trays
    return answers.count("own_server.cpu_cores") if answers.given("own_server.gpu") else None


def host_design(needs: HostNeeds, node: Node, catalog: Catalog, answers: Answers) -> HostDesign:
    """Return the host of one scale-out node: what it needs and what the node offers."""
    installed = node.memory.installed
    local = node.local_storage
    notes = []
    if installed is None and node.memory.maximum is not None:
        notes.append(
            f"memory is configurable up to {node.memory.maximum.value} per {'rack' if node.is_rack else 'node'}; order what is needed"
        )
    if node.topology == UNIFIED:
        notes.append("the GPU's memory and the host's are the same chips: the need is of both together")
    if needs.decode_cores > needs.cores:
        notes.append(f"decoding images on the CPU would take {needs.decode_cores} cores per node; decode on the GPU or store them decoded")
    if needs.memory / GB > (most := most_memory_gb(node, catalog)):
        notes.append(f"two of the largest modules in every channel hold {most:,.0f} GB: take more nodes, or offload to drives")
    return HostDesign(
        cores_needed=needs.cores,
        cores_offered=cores_offered(node, catalog, answers),
        memory_needed=quantity(needs.memory / GB, "GB"),
        memory_offered=None if installed is None else quantity(installed.to("GB") / node.trays, "GB"),
        workers_per_gpu=needs.workers_per_gpu,
        local_storage=None if local is None else quantity(local.to("TB") / node.trays, "TB"),
        notes=tuple(notes),
        modules=modules_for(needs.memory, node, catalog) if node.topology != UNIFIED else None,
        lanes=lanes_of(node, needs.gpus, catalog),
        needs=needs,
    )
