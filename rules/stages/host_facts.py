"""The facts and the design section of a node's host: cores, memory and its modules, lanes of PCI Express."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalogs.quantities import format_quantity, quantity
from rules.facts import FactField
from rules.sizing.host_parts import copy_rate, module_words

if TYPE_CHECKING:
    from rules.findings import Scalar
    from rules.sizing.host import HostNeeds
    from rules.sizing.results import HostDesign

GB = 1e9

HOST_FACTS: tuple[FactField, ...] = (
    FactField("staging_gb", "host memory of a node that holds its share of a checkpoint that is being written"),
    FactField("loader_gb", "host memory of a node that the loading processes' batches take"),
    FactField("modules_known", "whether the processors' memory channels and speed are stated"),
    FactField("modules_words", "memory modules that fill every channel alike to what is needed"),
    FactField("modules_total_gb", "memory of these modules"),
    FactField("memory_bandwidth_gb_per_s", "bandwidth of host memory with one module per channel"),
    FactField("memory_two_known", "whether the bandwidth with two modules per channel is stated"),
    FactField("memory_two_gb_per_s", "bandwidth of host memory with two modules per channel, 0 where not stated"),
    FactField("state_copy_gb_per_s", "rate at which all GPUs of a node copy their state to host memory"),
    FactField("lanes_known", "whether the processors' lanes of PCI Express are stated"),
    FactField("lanes_offered", "lanes that the processors have together"),
    FactField("lanes_wanted", "lanes that GPUs, adapters and drives would take each on its own"),
    FactField("lanes_left", "lanes that are left for more, below zero where not all fit"),
    FactField("lanes_switched", "whether PCIe switches stand between"),
    FactField("video", "whether the data are video"),
)


def host_facts(needs: HostNeeds, design: HostDesign) -> dict[str, Scalar]:
    """State what a node's host needs and offers."""
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
        "offload_held_gb": needs.held / GB,
        "staging_gb": needs.staging / GB,
        "loader_gb": needs.loader / GB,
        "naive_load_gb": needs.naive_load / GB,
        "local_known": local is not None,
        "local_tb": 0.0 if local is None else float(local.magnitude),
        **_module_facts(needs, design),
        **_lane_facts(design),
    }


def _module_facts(needs: HostNeeds, design: HostDesign) -> dict[str, Scalar]:
    modules = design.modules
    two = modules.bandwidth_two if modules is not None else None
    return {
        "modules_known": modules is not None,
        "modules_words": "unknown" if modules is None else module_words(modules),
        "modules_total_gb": 0 if modules is None else modules.total_gb,
        "memory_bandwidth_gb_per_s": 0.0 if modules is None else modules.bandwidth / GB,
        "memory_two_known": two is not None,
        "memory_two_gb_per_s": (two or 0.0) / GB,
        "state_copy_gb_per_s": copy_rate(needs.gpus) / GB,
    }


def _lane_facts(design: HostDesign) -> dict[str, Scalar]:
    lanes = design.lanes
    return {
        "lanes_known": lanes is not None,
        "lanes_offered": lanes.offered if lanes else 0,
        "lanes_wanted": lanes.wanted if lanes else 0,
        "lanes_left": lanes.left if lanes else 0,
        "lanes_switched": bool(lanes and lanes.switched),
    }


def host_section(host: HostDesign) -> dict[str, object]:
    """Return the section "host" of the design; what is unknown is left out and said in the notes."""
    section: dict[str, object] = {"cores_needed": host.cores_needed, "workers_per_gpu": host.workers_per_gpu}
    if host.cores_offered is not None:
        section["cores_offered"] = host.cores_offered
    section["memory_needed"] = format_quantity(host.memory_needed, "GB")
    for name, value, unit in (("memory_offered", host.memory_offered, "GB"), ("local_storage", host.local_storage, "TB")):
        if value is not None:
            section[name] = format_quantity(value, unit)
    if host.needs is not None:
        section["memory_for"] = _memory_for(host.needs)
    if host.modules is not None:
        section["modules"] = module_words(host.modules)
        section["memory_bandwidth"] = format_quantity(quantity(host.modules.reached / GB, "GB/s"), "GB/s")
    if host.lanes is not None:
        lanes = host.lanes
        section["pcie_lanes"] = {"offered": lanes.offered, "wanted": lanes.wanted, "taken": lanes.taken, "left": lanes.left}
    return {**section, "notes": list(host.notes)}


def _memory_for(needs: HostNeeds) -> dict[str, str]:
    """Return what a node's memory is for; the first is a rule of thumb, the others are bytes that something holds."""
    parts = {
        "as_much_as_its_gpus_hold": needs.gpu_memory,
        "checkpoint_in_flight": needs.staging,
        "loaders_batches": needs.loader,
        "offload_if_chosen": needs.offload,
    }
    return {name: format_quantity(quantity(amount / GB, "GB"), "GB") for name, amount in parts.items()}
