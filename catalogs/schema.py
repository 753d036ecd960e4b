"""The records of the catalog: every value has a unit and a source.

A file in the catalog is one record in TOML. A value is an inline table, `{ value = "700 W", source = "nvidia-h100-datasheet" }`,
read as `Sourced`; which dimension it must have is part of the field's type. What a source does not say is absent, never guessed.

The products are here; the values are in `catalogs.values` and the other records in `catalogs.knowledge`, both named here too.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from pydantic import Field, field_validator

from catalogs.knowledge import Collective, Fact, ModelPreset, Price, Source, Threshold
from catalogs.measured import MeasuredModel, Measurement, Recipe, ValidatedRegime
from catalogs.pcie import PcieMap
from catalogs.values import (
    LONGEST_NAME,
    Airflow,
    Bandwidth,
    Bytes,
    Conflict,
    Count,
    CountOrNone,
    Current,
    Duration,
    Kind,
    Length,
    LinkSpeed,
    Mass,
    Money,
    Name,
    PassivePower,
    Pieces,
    Power,
    RackUnits,
    Record,
    Share,
    Sourced,
    Temperature,
    Text,
    Throughput,
    Time,
    Voltage,
)

__all__ = [
    "Airflow", "Bandwidth", "Bytes", "Cable", "Collective", "Conflict", "Cooling", "Count", "CountOrNone", "Cpu", "Current",
    "Duration", "Fact", "Gpu", "GpuMemory", "GpuPower", "HostLink", "HostMemory", "Kind", "Length", "LinkSpeed", "Mass",
    "MeasuredModel", "Measurement", "ModelPreset", "Money", "Name", "Nic", "Node", "NodeNics", "NodePower", "Part", "PassivePower",
    "PcieMap", "Pdu", "Pieces", "Power", "PowerSupplies", "Price", "Product", "Rack", "RackUnits", "Recipe", "Record", "ScaleUp", "Share",
    "SoftwareSupport", "Source", "Sourced", "Status", "Storage", "Switch", "Temperature", "Text", "Threshold", "Throughput", "Time",
    "ValidatedRegime", "Voltage",
]  # fmt: skip


class Status(StrEnum):
    """Whether a product can be bought."""

    AVAILABLE = "available"
    ANNOUNCED = "announced"
    END_OF_LIFE = "end_of_life"
    UNKNOWN = "unknown"


class Product(Record):
    """What all products share."""

    id: str = Field(pattern=r"^[a-z0-9][a-z0-9.\-]*$", max_length=LONGEST_NAME)
    name: Name
    aliases: tuple[Name, ...] = ()
    vendor: Name
    status: Status = Status.UNKNOWN
    year: int | None = None
    verified: bool = True
    unverified: tuple[str, ...] = ()
    notes: str = ""

    @field_validator("unverified", mode="before")
    @classmethod
    def _listed(cls, value: object) -> object:
        return tuple(value) if isinstance(value, list) else value


# ---------------------------------------------------------------------------------------------------------------- compute


class GpuMemory(Record):
    """Device memory: `capacity` is what the driver reports where known, else the printed GB read as GiB less a reserve."""

    kind: str
    capacity: Bytes
    printed: Bytes
    bandwidth: Bandwidth | None = None


class ScaleUp(Record):
    """The link among GPUs: one direction, per GPU; `domain` is how many GPUs it joins at full speed."""

    kind: str
    technology: str = Field(default="none", pattern=r"^(nvlink|xgmi|ethernet|xe_link|pcie|none)$")
    per_direction: Bandwidth | None = None
    domain: Count
    in_network_reduction: bool = False
    peer_to_peer: bool = True


class HostLink(Record):
    """PCIe to the host."""

    generation: Count | None = None
    lanes: Count | None = None


class GpuPower(Record):
    """Board or module power; `meaning` is the vendor's term (TDP, TBP, configurable range). Unpublished power is absent."""

    maximum: Power | None = None
    meaning: str = ""


class Gpu(Product):
    """An accelerator package. Peaks are dense, per package; sustained values are large matrix products, measured.

    `devices` is how many devices the software sees in one package; each has that share of memory and compute.
    """

    architecture: str
    form_factor: str
    memory: GpuMemory
    peak_dense: dict[str, Throughput]
    sustained: dict[str, Throughput] = {}
    precisions: tuple[str, ...]
    scale_up: ScaleUp
    host_link: HostLink = HostLink()
    power: GpuPower
    stack: str = Field(pattern=r"^(CUDA|ROCm|Gaudi|oneAPI)$")
    compute_capability: str = ""
    devices: Pieces = 1
    cooling: str = ""
    export_note: str = ""


class Part(Record):
    """So many of another record, by id: `{ id = "connectx-7-400", count = 8 }`."""

    id: Name
    count: Pieces


class PowerSupplies(Record):
    """Supplies of a node: how many, each one's rating, how many may fail ("4+2"), and the voltage that they take at their inlet."""

    count: Count | None = None
    rating: Power | None = None
    redundancy: Text | None = None
    usable: Power | None = None
    input_low: Voltage | None = None
    input_high: Voltage | None = None


class NodePower(Record):
    """Power of the whole node at its inlet."""

    maximum: Power | None = None
    typical: Power | None = None


class HostMemory(Record):
    """Host DRAM per node."""

    installed: Bytes | None = None
    maximum: Bytes | None = None
    dimm_slots: CountOrNone | None = None


class NodeNics(Record):
    """Network adapters: for the GPU fabric and for storage and in-band traffic. What the source does not name is absent."""

    compute: tuple[Part, ...] = ()
    compute_speed: LinkSpeed | None = None
    storage: tuple[Part, ...] = ()
    storage_speed: LinkSpeed | None = None
    slots: Text | None = None
    on_baseboard: bool = False


class Node(Product):
    """A server, or a pre-integrated rack (`is_rack`) whose `trays` are the scale-out nodes.

    `width`, `depth` and `outside_height` are those of a rack that comes in as one piece.
    All counts are of the whole record: an NVL72 rack has 72 GPUs, 36 CPUs and 18 trays. `gpu_power_limit` is what the chassis allows
    each GPU at most, `factory_power_limit` the set point that each is shipped with where that is lower and can be raised.
    """

    gpu: str
    gpu_alternatives: tuple[str, ...] = ()
    gpu_count: Pieces
    is_rack: bool = False
    trays: Pieces = 1
    topology: str = Field(pattern=r"^(nvswitch|full_mesh|bridge|pcie_switch|pcie|ethernet_mesh|unified|none)$")
    scale_up_domain: Pieces
    cpus: tuple[Part, ...] = ()
    cpu_text: Text | None = None
    cpu_count: Count | None = None
    memory: HostMemory = HostMemory()
    nics: NodeNics = NodeNics()
    pcie_generation: Count | None = None
    pcie: PcieMap | None = None
    local_storage: Bytes | None = None
    local_storage_text: Text | None = None
    height: RackUnits | None = None
    weight: Mass | None = None
    width: Length | None = None
    depth: Length | None = None
    outside_height: Length | None = None
    power: NodePower = NodePower()
    supplies: PowerSupplies = PowerSupplies()
    cooling: str = Field(pattern=r"^(air|liquid|air_or_liquid|unknown)$")
    liquid_share: Share | None = None
    airflow: Airflow | None = None
    heat: Text | None = None
    inlet_maximum: Temperature | None = None
    gpu_power_limit: Power | None = None
    factory_power_limit: Power | None = None
    desktop: bool = False


class Cpu(Product):
    """A host processor."""

    family: str = ""
    cores: Count
    power: Power | None = None
    memory_channels: Count | None = None
    memory_text: Text | None = None
    pcie_generation: Count | None = None
    pcie_lanes: Count | None = None


# ---------------------------------------------------------------------------------------------------------------- network


class Nic(Product):
    """A network adapter. `speed` is per adapter; `protocols` are infiniband and ethernet; `rdma` is RDMA or RoCEv2."""

    speed: LinkSpeed
    ports: tuple[Pieces, ...] = ()
    connector: str = ""
    protocols: tuple[str, ...]
    pcie: Text | None = None
    pcie_generation: Count | None = None
    rdma: bool = True
    gpudirect: bool = False
    reorders_packets: bool = False
    power: Power | None = None


class Switch(Product):
    """A switch. `ports` are logical ports at `port_speed`; `cages` the physical holes; `throughput` is one way.

    Where one box holds several independent switches (`switches_per_box`), these are of one switch and height and power of the box.
    """

    protocol: str = Field(pattern=r"^(infiniband|ethernet)$")
    ports: Pieces
    port_speed: LinkSpeed
    switches_per_box: Pieces = 1
    cages: Pieces | None = None
    connector: str = ""
    breakouts: tuple[str, ...] = ()
    throughput: LinkSpeed | None = None
    asic: str = ""
    role: str = Field(default="fabric", pattern=r"^(fabric|management|planning_class)$")
    manager_port: bool = False
    managed: bool = True
    adaptive_routing: bool = False
    in_network_reduction: bool = False
    buffer: Bytes | None = None
    latency: Time | None = None
    height: RackUnits | None = None
    weight: Mass | None = None
    power_typical: Power | None = None
    power_maximum: Power | None = None
    cooling: str = "air"


class Cable(Product):
    """A cable, a fibre or a transceiver: `medium` dac, acc, aec, aoc, sr, dr, fr, mmf, smf or copper; `reach` is its longest run."""

    medium: str
    is_transceiver: bool = False
    speed: LinkSpeed
    links: Pieces = 1
    connector_a: str = ""
    connector_b: str = ""
    reach: Length | None = None
    power_per_end: PassivePower | None = None
    protocol: str = "any"
    part_numbers: tuple[str, ...] = ()


# ------------------------------------------------------------------------------------------- storage, facilities, software


class Storage(Product):
    """A storage system; rates and power are per `unit`, sold in steps of one unit from `minimum_units` up to `maximum_units`.

    `raw` is the capacity of the drives, `capacity` what `protection` leaves of it. `client_slots` are the requests that one client may
    have under way (NFS); absent where clients are not bound so. `protocols` are the ways in which clients reach it that were read, in
    words of the answer `data.protocols` and `gpudirect`; others may be offered.
    """

    system: str = Field(pattern=r"^(parallel_file_system|object_store|nfs|block|local)$")
    unit: str
    read: Bandwidth | None = None
    write: Bandwidth | None = None
    raw: Bytes | None = None
    capacity: Bytes | None = None
    protection: Text | None = None
    client_slots: Count | None = None
    protocols: Text | None = None
    read_iops: Count | None = None
    write_iops: Count | None = None
    minimum_units: Count | None = None
    maximum_units: Count | None = None
    power: Power | None = None
    height: RackUnits | None = None
    weight: Mass | None = None
    network: Text | None = None
    reference: dict[str, Any] = {}


class Rack(Product):
    """An empty rack: outer measures, what it carries (`load`) and its own weight."""

    units: RackUnits
    width: Length | None = None
    depth: Length | None = None
    height: Length | None = None
    load: Mass | None = None
    weight: Mass | None = None


class Pdu(Product):
    """A feed or power distribution unit; `usable` is at the 80 % continuous rule, `full` at rating.

    Outlets are IEC 60320 C13 (10 A) and C19 (16 A); `banks` are groups of outlets behind breakers of `bank_current` each.
    """

    voltage: Voltage
    phases: Pieces
    current: Current
    full: Text
    usable: Power
    outlets_c13: Count | None = None
    outlets_c19: Count | None = None
    banks: Count | None = None
    bank_current: Current | None = None


class Cooling(Product):
    """A cooling unit or method with what it can carry away."""

    type: str
    capacity: Power | None = None
    power: Power | None = None
    approach: Text | None = None
    weight: Mass | None = None
    facts: dict[str, Any] = {}


class SoftwareSupport(Record):
    """What runs on a GPU: lowest versions, and what is missing or broken. `gpus` may end in `*`."""

    id: str
    gpus: tuple[str, ...]
    scope: str
    status: str
    fact: str
    minimum: str | None = None
    maximum: str | None = None
    source: str | tuple[str, ...]
    verified: bool = True
