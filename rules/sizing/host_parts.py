"""Parts of a node's host: memory modules by channel with their bandwidth, what the memory is for, and lanes of PCI Express.

A processor reaches its memory bandwidth only where every channel holds the same modules; a second module per channel slows most
processors down. Lanes that GPUs and adapters would take are compared with what processors have: where they do not suffice, PCIe switches
stand between, and GPU and adapter below one switch share its link to the processor.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from rules.sizing.checkpoint import HOST_COPY_BYTES_PER_S
from rules.sizing.lookup import fact_value

if TYPE_CHECKING:
    from catalogs import Catalog
    from catalogs.loading import Shelf
    from catalogs.schema import Cpu, Fact, Node
    from rules.sizing.results import Workload

GB = 1e9
MODULE_GB = (16, 32, 48, 64, 96, 128, 256)
"""Sizes of registered DDR5 modules that are sold [JEDEC densities of 16 to 64 Gbit]."""
BYTES_PER_TRANSFER = 8.0
"""A channel is 64 bits wide."""
LANES = 16
DRIVE_LANES = 4
SWITCHED = ("nvswitch", "full_mesh", "pcie_switch", "ethernet_mesh")
"""Topologies whose GPUs hang below PCIe switches with their adapters, as in every HGX, OAM and switched server of the catalog."""
PREFETCHED = 2
"""Batches that each loading process holds ready [PyTorch DataLoader, prefetch_factor]."""
FP32_BYTES = 4.0
PIXELS = 3 * 224 * 224
"""Numbers of a decoded image as it goes to the GPU: three colours of 224 by 224, the usual size of training."""
_CHANNELS = re.compile(r"DDR\d-(\d{4})")
_TWO_PER_CHANNEL = re.compile(r"(?:(\d{4})(?:/(\d{4}))? 2DPC)")


@dataclass(frozen=True)
class Modules:
    """How a node's channels are filled: `count` modules of `size_gb`, the bandwidth with one module per channel and with two.

    `per_channel` is 1 or 2; `bandwidth_two` is None where the processor's rate with two is not printed. Bandwidths in bytes per second.
    """

    channels: int
    count: int
    size_gb: int
    per_channel: int
    bandwidth: float
    bandwidth_two: float | None

    @property
    def total_gb(self) -> int:
        """Return the memory of all modules."""
        return self.count * self.size_gb

    @property
    def reached(self) -> float:
        """Return the bandwidth with as many modules per channel as there are; of one where that of two is not printed."""
        return self.bandwidth if self.per_channel == 1 else self.bandwidth_two or self.bandwidth


@dataclass(frozen=True)
class Lanes:
    """Lanes of a node's processors, what its GPUs, adapters and drives would take each on its own, and what is taken of the processors.

    With PCIe switches `taken` are the links of GPUs with their adapters; adapters for storage and drives share what is left, or hang
    below the switches too.
    """

    offered: int
    wanted: int
    taken: int
    switched: bool

    @property
    def left(self) -> int:
        """Return the lanes that are left for more drives and adapters, below zero where not even these fit."""
        return self.offered - self.taken


def processor_of(node: Node, catalog: Catalog) -> tuple[Cpu, int] | None:
    """Return the processor of a node and how many one scale-out node has; None where none or several kinds are stated."""
    if len(node.cpus) != 1:
        return None
    record = catalog.cpus.get(node.cpus[0].id)
    return None if record is None else (record, max(1, node.cpus[0].count // node.trays))


def modules_for(need: float, node: Node, catalog: Catalog) -> Modules | None:
    """Return the modules that fill every channel alike to `need` bytes or more; None where channels or speed are not stated, or none do.

    One module per channel is taken as long as there are modules so large, for that is the fastest; else two.
    """
    found = processor_of(node, catalog)
    if found is None:
        return None
    cpu, sockets = found
    if cpu.memory_channels is None or cpu.memory_text is None:
        return None
    text = str(cpu.memory_text.value)
    rate = _CHANNELS.search(text)
    if rate is None:
        return None
    channels = int(cpu.memory_channels.to("")) * sockets
    wanted_gb = need / GB
    per_channel = 1 if channels * MODULE_GB[-1] >= wanted_gb else 2
    size = next((size for size in MODULE_GB if channels * per_channel * size >= wanted_gb), None)
    if size is None:
        return None
    one = channels * float(rate.group(1)) * 1e6 * BYTES_PER_TRANSFER
    slower = _TWO_PER_CHANNEL.search(text)
    two = None if slower is None else channels * float(slower.group(2) or slower.group(1)) * 1e6 * BYTES_PER_TRANSFER
    return Modules(channels, channels * per_channel, size, per_channel, one, two)


def most_memory_gb(node: Node, catalog: Catalog) -> float:
    """Return what two of the largest modules in every channel hold, in GB; infinite where the channels are not stated."""
    found = processor_of(node, catalog)
    if found is None or found[0].memory_channels is None:
        return math.inf
    return 2.0 * MODULE_GB[-1] * found[0].memory_channels.to("") * found[1]


def per_channel_installed(node: Node, catalog: Catalog) -> float | None:
    """Return how many slots each channel of a node has, None where slots or channels are not stated."""
    found = processor_of(node, catalog)
    if found is None or node.memory.dimm_slots is None or found[0].memory_channels is None:
        return None
    slots = node.memory.dimm_slots
    if not isinstance(slots.value, (int, float)):
        return None
    return float(slots.value) / node.trays / (int(found[0].memory_channels.to("")) * found[1])


def copy_rate(gpus: int) -> float:
    """Return the bytes per second that all GPUs of a node write to host memory while their state is copied."""
    return gpus * HOST_COPY_BYTES_PER_S


def lanes_of(node: Node, gpus: int, catalog: Catalog) -> Lanes | None:
    """Return the lanes of a node's processors and what hangs on them; None where they are not stated.

    Below PCIe switches a GPU and its adapter share one link of 16 lanes at most.
    """
    found = processor_of(node, catalog)
    if found is None or found[0].pcie_lanes is None:
        return None
    cpu, sockets = found
    offered = _usable_lanes(cpu, sockets, catalog)
    compute = 0 if node.nics.on_baseboard else sum(part.count for part in node.nics.compute) // node.trays
    other = sum(part.count for part in node.nics.storage) // node.trays
    drives = drives_of(node)
    wanted = LANES * (gpus + compute + other) + DRIVE_LANES * drives
    switched = node.topology in SWITCHED
    taken = min(offered, LANES * max(gpus, compute)) if switched else wanted
    return Lanes(offered, wanted, taken, switched)


def _usable_lanes(cpu: Cpu, sockets: int, catalog: Catalog) -> int:
    """Return the lanes that all processors offer together: two EPYC join by lanes of their own, which are then no longer there."""
    each = int(cpu.pcie_lanes.to("")) if cpu.pcie_lanes is not None else 0
    if cpu.vendor == "AMD" and sockets == 2:
        return min(each * sockets, _two_epyc(catalog.facts))
    return each * sockets


@lru_cache(maxsize=8)
def _two_epyc(facts: Shelf[Fact]) -> int:
    return int(fact_value(facts, "pcie-lanes-two-epyc", "lanes").to(""))


def drives_of(node: Node) -> int:
    """Return the NVMe drives of a node, by its text ("8 × 3.84 TB"); 0 where none is stated or only bays are."""
    text = "" if node.local_storage is None or node.local_storage_text is None else str(node.local_storage_text.value)
    found = re.match(r"(?:up to )?(\d+) ×", text)
    return int(found.group(1)) // node.trays if found else 0


def loader_buffers(workload: Workload, gpus: int, workers: int, batch: int) -> float:
    """Return the bytes of pinned memory that loading holds: for each process two batches of `batch` records as they go to the GPU."""
    each = PIXELS * FP32_BYTES if workload.unit == "image" else 8.0 * workload.sequence_length
    return float(gpus * workers * PREFETCHED * max(1, batch)) * each


def module_words(modules: Modules) -> str:
    """Return how to fill the channels: "16 × 128 GB, one per channel of 16"."""
    each = "one" if modules.per_channel == 1 else "two"
    return f"{modules.count} × {modules.size_gb} GB, {each} per channel of {modules.channels}"


def slots_in_words(value: float | None) -> str:
    """Return slots per channel in words."""
    return "unknown" if value is None else f"{math.ceil(value)} per channel"
