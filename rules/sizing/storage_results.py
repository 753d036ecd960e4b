"""What sizing computes of storage and host: the records that pass to later stages and into the design."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalogs.quantities import Quantity
    from rules.sizing.host import HostNeeds
    from rules.sizing.host_parts import Lanes, Modules
    from rules.sizing.storage_systems import StorageSystem


@dataclass(frozen=True)
class StorageDesign:
    """Storage by use: dataset reads, checkpoint bursts, home directories, and the systems chosen for them.

    `systems` maps product id to units. `checkpoint_interval` and `pause` follow from the failure rate. `operations` are the read requests
    per second of the training's data, `mode` is how checkpoints are written, `tiers` are the systems with their units of growth.
    """

    read_needed: Quantity
    write_needed: Quantity
    capacity_needed: Quantity
    home_capacity: Quantity
    checkpoint: Quantity
    checkpoint_write_time: Quantity
    checkpoint_interval: Quantity
    local_staging: Quantity
    systems: Mapping[str, int]
    read_offered: Quantity | None
    write_offered: Quantity | None
    capacity_offered: Quantity | None
    power: Quantity | None
    height: Quantity | None
    notes: tuple[str, ...] = ()
    kind: str = ""
    access: str = ""
    operations: float = 0.0
    mode: str = ""
    pause: Quantity | None = None
    users: int = 0
    tiers: tuple[StorageSystem, ...] = ()


@dataclass(frozen=True)
class HostDesign:
    """CPU cores and RAM per node against what the workload needs; None where the node does not state it.

    `modules` fill the channels alike to what is needed, `lanes` are those of PCI Express, `needs` what the memory is for.
    """

    cores_needed: int
    cores_offered: int | None
    memory_needed: Quantity
    memory_offered: Quantity | None
    workers_per_gpu: int
    local_storage: Quantity | None
    notes: tuple[str, ...] = ()
    modules: Modules | None = None
    lanes: Lanes | None = None
    needs: HostNeeds | None = None
