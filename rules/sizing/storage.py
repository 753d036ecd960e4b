"""Storage by use: dataset reads, checkpoint bursts, home directories and local staging; and the systems of the catalog that serve them.

The three uses are sized apart and never merged unasked: large steady reads, large bursts of writes, and many small files want
different systems. Rates are of the whole cluster in bytes per second unless a name says otherwise; capacities are usable bytes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from catalogs.quantities import magnitude
from rules.sizing.lookup import fact_value, threshold_number

if TYPE_CHECKING:
    from catalogs import Catalog
    from catalogs.loading import Shelf
    from catalogs.schema import Node
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
SECONDS_TO_FILL = 86_400.0
"""The object store must fill the file system's working set within a day, assumed: the next set is staged while the last one trains."""
CLIENTS_IN_DOUBT = 32
"""Nodes from which an NFS client's request slots bound the rate (arXiv:2605.09370, a 63-node cluster)."""
SEQUENTIAL_READ_BYTES = 1024.0**2
"""Bytes of one read where data lies packed in large files: 1 MiB, the block that file systems for AI are rated with."""
ONE_BY_ONE = ("random", "small_files")
"""Ways of reading in which every record takes a request of its own."""

_LEVELS = {"image": "superpod-h100-better", "video": "superpod-h100-best"}


@dataclass(frozen=True)
class StorageNeeds:
    """What a candidate needs of storage. `reference_read` and `reference_write` are what NVIDIA's reference gives so many GPUs.

    `operations` are read requests per second of the training's data, `record` the bytes of one record (a sequence, image or sample).
    """

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
    operations: float = 0.0
    record: float = 0.0


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
    """Return the read and write rates that NVIDIA's H100 SuperPOD reference gives to `gpus` GPUs for this kind of data.

    It is drawn for 32 to 128 nodes; however large a cluster is, no run writes checkpoints faster than the threshold `sto-global-ckpt-cap`.
    """
    level = _LEVELS.get(data_kind, "superpod-h100-good")
    read, write = (fact_value(catalog.facts, level, key).to("GB/s") * GB for key in ("gpu_read", "gpu_write"))
    most = threshold_number(catalog.thresholds, "sto-global-ckpt-cap") * TB
    return read * gpus, min(write * gpus, most)


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
    workload: Workload,
    catalog: Catalog,
    *,
    nodes: int,
    gpus: int,
    units_per_second: float,
    checkpoints: CheckpointPlan,
    restore_s: float,
    access: str = "sequential",
    users: int | None = None,
) -> StorageNeeds:
    """Return what the workload needs of storage at `units_per_second` (tokens, images or samples of the whole cluster).

    `access` says how the data is read: sequential (packed in large files), random, or small_files; `users` are assumed where None.

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
    if users is None:
        users = min(MOST_USERS, FEWEST_USERS + gpus // 8)
    record = (each or 0.0) * (workload.sequence_length if workload.unit == "token" else 1)
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
        operations=read_operations(stream, record, access),
        record=record,
    )


def read_operations(stream: float, record: float, access: str) -> float:
    """Return the read requests per second of a stream of `stream` bytes per second, whose records have `record` bytes.

    Packed data is read in blocks of 1 MiB; read one by one, each record takes a request, a large one as many as it has blocks.
    """
    if access not in ONE_BY_ONE or record <= 0.0:
        return stream / SEQUENTIAL_READ_BYTES
    return stream / min(record, SEQUENTIAL_READ_BYTES)


def object_store_needs(needs: StorageNeeds, kind: str) -> StorageNeeds:
    """Return what an object store must offer: all of it where it stands alone; where it fills a file system, one working set in a day.

    The working set and its writes are the file system's; the object store keeps the whole dataset and the checkpoints.
    """
    if kind == "object_store":
        return needs
    fill = min(needs.capacity, OBJECT_STORE_FROM_BYTES) / SECONDS_TO_FILL
    return replace(needs, read=fill, write=fill, reference_read=0.0, reference_write=0.0, operations=0.0)


def nfs_share(nodes: int, catalog: Catalog) -> tuple[float, float] | None:
    """Return the (lowest, highest) share of an NFS server's rate that `nodes` clients were seen to reach; None below that many."""
    if nodes < CLIENTS_IN_DOUBT:
        return None
    return threshold_number(catalog.thresholds, "sto-nfs-slots", "low"), threshold_number(catalog.thresholds, "sto-nfs-slots", "high")


@lru_cache(maxsize=8)
def largest_local(shelf: Shelf[Node]) -> float:
    """Return the bytes of NVMe of the server that has most of it: what a server whose drives are not stated holds at most."""
    return max((node.local_storage.to("GB") * GB / node.trays for node in shelf if node.local_storage is not None), default=0.0)


def shared_storage(
    preference: str, nodes: int, gpus: int, needs: StorageNeeds, existing: float | None = None, *, over_objects: bool = False
) -> tuple[str, str]:
    """Decide the kind of shared storage and say why: local, nfs_server, parallel_file_system, object_store, both or existing.

    `existing` is the rate of one server (bytes per second) to storage that is there already; it is used unless another was asked for.
    `over_objects` says that data is reached over S3 alone.
    """
    if preference != "any":
        return preference, "as asked for"
    if existing is not None:
        return "existing", "which the servers are connected to"
    if nodes <= 1:
        return "local", "a single node reads and saves on its own NVMe drives"
    if over_objects:
        return "object_store", "since data is reached over S3 alone"
    if file_server_suffices(nodes, gpus, needs):
        return "nfs_server", "one file server with a 100 Gb/s port is enough, even at half its rate"
    if (needs.dataset or 0.0) >= OBJECT_STORE_FROM_BYTES:
        return "both", "an object store keeps the whole dataset, a parallel file system what is being trained on"
    return "parallel_file_system", "many nodes read and save at the same time, more than one file server gives"
