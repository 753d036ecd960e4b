"""Storage by use: dataset reads, checkpoint bursts, home directories and local staging; and the systems of the catalog that serve them.

The three uses are sized apart and never merged unasked: large steady reads, large bursts of writes, and many small files want
different systems. Rates are of the whole cluster in bytes per second unless a name says otherwise; capacities are usable bytes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from catalogs.quantities import magnitude
from rules.sizing.lookup import fact_value, threshold_number

if TYPE_CHECKING:
    from collections.abc import Collection

    from catalogs import Catalog
    from catalogs.loading import Shelf
    from catalogs.schema import Node, Storage
    from rules.sizing.checkpoint import CheckpointPlan
    from rules.sizing.results import Workload

GB, TB = 1e9, 1e12
WEIGHT_BYTES = 2.0
"""Bytes of a 16-bit weight: what is loaded of a frozen model beside the adapters' checkpoint."""
CHECKPOINTS_KEPT = 10
"""Full checkpoints kept on shared storage, assumed: enough to go back behind a loss spike; a benchmark run of MLPerf writes as many."""
USER_BYTES = 0.2 * TB
"""Home directory and environments of one user, assumed: a dozen Python environments of 10 to 15 GB."""
FEWEST_USERS = 10
"""Users assumed at least; one more for every eight GPUs, up to MOST_USERS."""
MOST_USERS = 500
RESTORE_SHARE_OF_RESTART = 0.2
"""Reading the checkpoint may take this share of a usual restart, assumed: it must not be what a restart waits for."""
NFS_SERVER_BYTES_PER_S = 12.5 * GB
"""Rated rate of one file server: a 100 Gb/s port, the least that NVIDIA asks for home directories (DGX SuperPOD B200)."""
NFS_SERVER_BYTES = 121 * TB
"""Usable capacity of one file server, data and home directories together: the largest flash server of the catalog (WEKApod Nitro 175,
121 TB of the 968 TB usable in eight). What is larger takes several servers, which is a parallel file system or an object store."""
FILE_SERVER_SHARE = 0.5
"""Part of that rate that a few clients with several connections each reach, assumed; many reach a sixth (arXiv:2605.09370)."""
FILE_SERVER_GPUS = 32
"""Largest cluster that one file server is considered for, assumed: four servers of eight GPUs, a rack."""
OBJECT_STORE_FROM_BYTES = 1e15
"""Data from this size on is kept in an object store too, assumed: a flash file system for all of it costs more than the GPUs wait for."""

_LEVELS = {"image": "superpod-h100-better", "video": "superpod-h100-best"}


@dataclass(frozen=True)
class StorageNeeds:
    """What a candidate needs of storage. `reference_read` and `reference_write` are what NVIDIA's reference gives so many GPUs."""

    dataset_read: float
    restore_read: float
    read: float
    write: float
    reference_read: float
    reference_write: float
    dataset: float | None
    capacity: float
    home: float
    users: int
    staging_per_node: float


@dataclass(frozen=True)
class StorageSystem:
    """A system of the catalog at the size that is bought; None is unknown."""

    product: str
    name: str
    units: int
    read: float | None
    write: float | None
    capacity: float | None
    power_w: float | None
    height_u: float | None
    binding: str
    network: str = ""


def bytes_per_unit(workload: Workload) -> float | None:
    """Return the bytes read per token, image or sample; None where nothing is known (video).

    Records of recommendation are read once: where a stated dataset holds more per record than is assumed of one, its own size counts.
    """
    if workload.sample_bytes is None or workload.data_kind == "video":
        return None
    each = magnitude(workload.sample_bytes, "byte")
    dataset = dataset_bytes(workload)
    if workload.kind == "recommendation" and dataset is not None and workload.units_total > 0.0:
        return max(each, dataset / workload.units_total)
    return each


def dataset_bytes(workload: Workload) -> float | None:
    """Return the size of the dataset, None where it is unknown."""
    return None if workload.dataset is None else magnitude(workload.dataset, "byte")


def reference_rates(data_kind: str, gpus: int, catalog: Catalog) -> tuple[float, float]:
    """Return the read and write rates that NVIDIA's H100 SuperPOD reference gives to `gpus` GPUs for this kind of data."""
    level = _LEVELS.get(data_kind, "superpod-h100-good")
    read, write = (fact_value(catalog.facts, level, key).to("GB/s") * GB for key in ("gpu_read", "gpu_write"))
    return read * gpus, write * gpus


def restore_seconds(restart_s: float) -> float:
    """Return how long reading the last checkpoint may take after a failure: goodput counts on a restart of `restart_s` seconds."""
    return RESTORE_SHARE_OF_RESTART * restart_s


def file_server_suffices(nodes: int, gpus: int, needs: StorageNeeds) -> bool:
    """Return whether one file server holds the data of a small cluster and serves it, where reading a checkpoint may take a restart.

    32 GPUs fail every two months, so that eleven minutes more for each failure are a hundredth of a percent of the run.
    """
    read = max(needs.dataset_read, needs.restore_read * RESTORE_SHARE_OF_RESTART, needs.reference_read)
    rate = FILE_SERVER_SHARE * NFS_SERVER_BYTES_PER_S
    held = needs.capacity + needs.home <= NFS_SERVER_BYTES
    return nodes > 1 and gpus <= FILE_SERVER_GPUS and held and max(read, needs.write, needs.reference_write) <= rate


def on_file_server(needs: StorageNeeds) -> StorageNeeds:
    """Return the needs where a file server has the whole restart for reading a checkpoint."""
    restore = needs.restore_read * RESTORE_SHARE_OF_RESTART
    return replace(needs, restore_read=restore, read=max(needs.dataset_read, restore))


def storage_needs(
    workload: Workload, catalog: Catalog, *, nodes: int, gpus: int, units_per_second: float, checkpoints: CheckpointPlan, restore_s: float
) -> StorageNeeds:
    """Return what the workload needs of storage at `units_per_second` (tokens, images or samples of the whole cluster).

    The dataset and the restore of a checkpoint are not read at the same time: the larger of the two is the need. Each node keeps the
    latest checkpoints' share and its part of the dataset on local NVMe.
    """
    each = bytes_per_unit(workload)
    reference_read, reference_write = reference_rates(workload.data_kind, gpus, catalog)
    stream = units_per_second * each if each is not None else reference_read
    frozen = (workload.parameters.total - workload.trainable_parameters) * WEIGHT_BYTES if workload.unit == "token" else 0.0
    restore = (checkpoints.size_bytes + max(0.0, frozen)) / restore_s
    dataset = dataset_bytes(workload)
    reserve = threshold_number(catalog.thresholds, "sto-lustre-80")
    keep_local = threshold_number(catalog.thresholds, "sto-keep-two")
    users = min(MOST_USERS, FEWEST_USERS + gpus // 8)
    return StorageNeeds(
        dataset_read=stream,
        restore_read=restore,
        read=max(stream, restore),
        write=checkpoints.needed,
        reference_read=reference_read,
        reference_write=reference_write,
        dataset=dataset,
        capacity=((dataset or 0.0) + CHECKPOINTS_KEPT * checkpoints.size_bytes) * reserve,
        home=users * USER_BYTES,
        users=users,
        staging_per_node=(keep_local * checkpoints.size_bytes + (dataset or 0.0)) / nodes,
    )


@lru_cache(maxsize=8)
def largest_local(shelf: Shelf[Node]) -> float:
    """Return the bytes of NVMe of the server that has most of it: what a server whose drives are not stated holds at most."""
    return max((node.local_storage.to("GB") * GB / node.trays for node in shelf if node.local_storage is not None), default=0.0)


def shared_storage(preference: str, nodes: int, gpus: int, needs: StorageNeeds) -> tuple[str, str]:
    """Decide the kind of shared storage and say why: local, nfs_server, parallel_file_system, object_store or both."""
    if preference != "any":
        return preference, "as asked for"
    if nodes <= 1:
        return "local", "a single node reads and saves on its own NVMe drives"
    if file_server_suffices(nodes, gpus, needs):
        return "nfs_server", "one file server with a 100 Gb/s port is enough, even at half its rate"
    if (needs.dataset or 0.0) >= OBJECT_STORE_FROM_BYTES:
        return "both", "an object store keeps the whole dataset, a parallel file system what is being trained on"
    return "parallel_file_system", "many nodes read and save at the same time, more than one file server gives"


@dataclass(frozen=True)
class _Rated:
    """A catalog record of a shared system as plain numbers; None is unknown."""

    record: Storage
    read: float | None
    write: float | None
    capacity: float | None
    least: int
    power: float | None
    height: float | None

    @property
    def complete(self) -> bool:
        """Return whether everything that a choice rests on is known and was read at its source."""
        parts = (self.record.read, self.record.write, self.record.capacity)
        return self.record.verified and all(part is not None and part.verified for part in parts)


@lru_cache(maxsize=8)
def _rated(shelf: Shelf[Storage]) -> tuple[_Rated, ...]:
    rows = []
    for each in shelf:
        read, write = (None if rate is None else rate.to("GB/s") * GB for rate in (each.read, each.write))
        capacity = None if each.capacity is None else each.capacity.to("GB") * GB
        least = 1 if each.minimum_units is None else int(each.minimum_units.to(""))
        power = None if each.power is None else each.power.to("W")
        rows.append(_Rated(each, read, write, capacity, least, power, None if each.height is None else each.height.to("U")))
    return tuple(rows)


def choose_system(
    needs: StorageNeeds, kind: str, catalog: Catalog, vendors: Collection[str] = (), working_set: float | None = None
) -> StorageSystem | None:
    """Return the system of `kind` that meets the needs with the least power, or None where the catalog has none.

    Only systems whose read and write rate and capacity are known are chosen unasked; where `vendors` names a maker of storage, its
    systems come first even with unknown values, which stay unknown. `working_set` replaces the capacity needed.
    """
    wanted = {vendor.lower() for vendor in vendors}
    rows = [row for row in _rated(catalog.storage) if row.record.system == kind]
    named = [row for row in rows if row.record.vendor.lower() in wanted and row.read is not None]
    sized = [_sized(row, needs, working_set) for row in named or [row for row in rows if row.complete]]
    return min(sized, key=lambda each: (each.power_w is None, each.power_w or 0.0, each.units, each.product), default=None)


def _sized(row: _Rated, needs: StorageNeeds, working_set: float | None) -> StorageSystem:
    """Return as many units of a system as the most demanding need takes."""
    wanted = {
        "read rate": (max(needs.read, needs.reference_read), row.read),
        "write rate": (max(needs.write, needs.reference_write), row.write),
        "capacity": (needs.capacity if working_set is None else working_set, row.capacity),
    }
    counts = {name: math.ceil(need / offered) for name, (need, offered) in wanted.items() if offered}
    binding, units = max(counts.items(), key=lambda item: item[1])
    if units < row.least:
        binding, units = "smallest system sold", row.least
    network = str(row.record.network.value) if row.record.network else ""

    def times(value: float | None) -> float | None:
        return None if value is None else value * units

    return StorageSystem(
        product=row.record.id,
        name=row.record.name,
        units=units,
        read=times(row.read),
        write=times(row.write),
        capacity=times(row.capacity),
        power_w=times(row.power),
        height_u=times(row.height),
        binding=binding,
        network=network,
    )


def through_links(system: StorageSystem | None, carried: float) -> StorageSystem | None:
    """Return the system with the rates that its links to the network carry (bytes per second); as it is where that is not known, 0."""
    if system is None or carried <= 0:
        return system
    read, write = (None if rate is None else min(rate, carried) for rate in (system.read, system.write))
    return replace(system, read=read, write=write)
