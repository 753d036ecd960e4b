"""Inside one node: which adapter each GPU uses, over which path, and what a narrow slot or a path between processors costs.

The classes are those of `nvidia-smi topo -m`, best first:

    PIX   through one PCIe switch                    PXB   through several switches in a row
    PHB   through the processor's own bridge         NODE  between two ports of one processor
    SYS   between memory domains, as between processors

GPUDirect RDMA goes no farther than PXB unless it is told to [NVIDIA NCCL user guide, NCCL_NET_GDR_LEVEL]; beyond, data rest in the
host's memory on their way.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rules.own_server import OWN_SERVER_ID
from rules.sizing.hardware import BITS_PER_BYTE, PCIE_BYTES_PER_S

if TYPE_CHECKING:
    from collections.abc import Sequence

    from catalogs import Catalog
    from catalogs.pcie import PciePort
    from catalogs.schema import Gpu, Node
    from rules.answers import Answers

PATHS = ("PIX", "PXB", "PHB", "NODE", "SYS")
DIRECT = ("PIX", "PXB")
UNKNOWN = "unknown"
TOPOLOGY_COMMANDS = {"CUDA": "nvidia-smi topo -m", "ROCm": "rocm-smi --showtopo", "oneAPI": "xpu-smi topology -m"}
"""What prints where GPUs and adapters sit, by software stack [vendors' manuals of these tools]."""
SLOT_GBPS_PER_LANE = {3: 126.0 / 16, 4: 252.0 / 16, 5: 504.0 / 16, 6: 968.0 / 16}
"""Raw rate of a lane in Gb/s by generation: a Gen5 x16 slot reports 504.1 Gb/s to the kernel, x8 and Gen4 x16 252 [imbue-ai
cluster-health]; Gen6 as NCCL's table of lane speeds gives it [NVIDIA/nccl src/graph/topo.cc]."""
FULL_LANES = 16


@dataclass(frozen=True)
class Device:
    """A GPU or an adapter: its name, the networks that it carries ("" for a GPU), and the port of a processor that it hangs on."""

    name: str
    networks: tuple[str, ...]
    port: PciePort

    @property
    def is_gpu(self) -> bool:
        """Return whether it is a GPU."""
        return not self.networks


@dataclass(frozen=True)
class Pair:
    """A GPU with the adapter that it uses and the path between them."""

    gpu: Device
    adapter: Device
    path: str


@dataclass(frozen=True)
class NodeMap:
    """The map of one node with the slots of its adapters in Gb/s by name, and its ports in order."""

    ports: tuple[PciePort, ...]
    devices: tuple[Device, ...]
    generation: int
    lanes: int

    @property
    def gpus(self) -> list[Device]:
        """Return the GPUs by number."""
        return sorted((each for each in self.devices if each.is_gpu), key=lambda each: int(each.name))

    def adapters(self, network: str) -> list[Device]:
        """Return the adapters that carry a network."""
        return [each for each in self.devices if network in each.networks]

    def slot(self, device: Device) -> tuple[int, int]:
        """Return (generation, lanes) of a device's slot."""
        port = device.port
        generation = port.slot_generation or port.generation or self.generation
        return generation, port.slot_lanes or port.lanes or self.lanes

    def slot_gbps(self, device: Device) -> float:
        """Return the raw rate of a device's slot in Gb/s."""
        return slot_gbps(*self.slot(device))

    def uplink_bytes_per_s(self, port: PciePort) -> float:
        """Return the usable rate of a port of a processor, one direction."""
        lanes = port.lanes or self.lanes
        return PCIE_BYTES_PER_S.get(port.generation or self.generation, 0.0) * lanes / FULL_LANES

    def pairs(self) -> list[Pair]:
        """Return each GPU with the compute adapter that it uses: the nearest, of equals the one with the fewest GPUs."""
        adapters = self.adapters("compute")
        if not adapters:
            return []
        used = dict.fromkeys((each.name for each in adapters), 0)
        found = []
        for gpu in sorted(self.gpus, key=lambda gpu: min(PATHS.index(path(gpu, each)) for each in adapters)):
            nearest = min(adapters, key=lambda each, gpu=gpu: (PATHS.index(path(gpu, each)), used[each.name]))  # type: ignore[misc]
            used[nearest.name] += 1
            found.append(Pair(gpu, nearest, path(gpu, nearest)))
        return sorted(found, key=lambda each: int(each.gpu.name))

    def across(self) -> list[Pair]:
        """Return the pairs on two processors, whose traffic all goes between the processors."""
        return [each for each in self.pairs() if each.gpu.port.socket != each.adapter.port.socket]

    def shared_slots(self) -> list[Device]:
        """Return the adapters that carry two networks through one slot."""
        return [each for each in self.devices if len(each.networks) > 1]


def slot_gbps(generation: int, lanes: int) -> float:
    """Return the raw rate in Gb/s of a slot, 0 for a generation that no adapter of the catalog uses."""
    return SLOT_GBPS_PER_LANE.get(generation, 0.0) * lanes


def path(one: Device, other: Device) -> str:
    """Return the class of the path between two devices, as `nvidia-smi topo -m` names it."""
    if one.port is other.port:
        return one.port.path
    apart = one.port.socket != other.port.socket or one.port.numa != other.port.numa
    return "SYS" if apart else "NODE"


def node_map(node: Node) -> NodeMap | None:
    """Return the map of a node, None where the catalog has none."""
    if node.pcie is None:
        return None
    devices = [_device(name, port) for port in node.pcie.port for name in port.devices]
    return NodeMap(node.pcie.port, tuple(devices), node.pcie.generation, node.pcie.lanes)


def _device(text: str, port: PciePort) -> Device:
    kind, _, name = text.partition(":")
    return Device(name, () if kind == "gpu" else tuple(kind.split("+")), port)


def storage_adapters(node: Node, catalog: Catalog) -> tuple[str, ...]:
    """Return in words the adapters for storage and in-band traffic of one scale-out node: first those of its map with their slots, then
    those that the server has elsewhere; none where the catalog states none.
    """
    found = node_map(node)
    placed = found.adapters("storage") if found else []
    words = [
        f"{each.name}, PCIe {generation} x{lanes}, processor {each.port.socket}"
        for each in placed
        if found is not None
        for generation, lanes in [found.slot(each)]
    ]
    known = len(placed)
    for part in node.nics.storage:
        total = max(1, part.count // node.trays)
        elsewhere, known = max(0, total - known), max(0, known - total)
        record = catalog.nics.get(part.id)
        if elsewhere:
            words.append(f"{elsewhere} × {record.name if record else part.id}, where on its PCIe is not published")
    return tuple(words)


@dataclass(frozen=True)
class Placement:
    """What is known of the GPUs' way to their adapters in a node.

    `path` is the worst of any GPU, "unknown" where nothing says it; `far` GPUs use an adapter that is not beside them, `across` of them
    one on another processor, where each has `across_bytes_per_s` (0 where unknown). `slot_gbps` is the narrowest slot of a compute
    adapter and `slot` its generation and lanes, with `slot_told` whether a map or the person says so. `gpus_per_uplink` share
    `uplink_bytes_per_s` to their processor.
    """

    path: str = UNKNOWN
    far: int = 0
    across: int = 0
    across_bytes_per_s: float = 0.0
    adapter_gbps: float = 0.0
    slot_gbps: float = 0.0
    slot: tuple[int, int] = (0, 0)
    slot_told: bool = False
    shared_slots: int = 0
    gpus_per_uplink: int = 1
    uplink_bytes_per_s: float = 0.0
    map: NodeMap | None = None

    @property
    def share_bytes_per_s(self) -> float:
        """Return what one adapter carries, by itself or by its slot."""
        rates = [each for each in (self.adapter_gbps, self.slot_gbps) if each]
        return min(rates, default=0.0) * 1e9 / BITS_PER_BYTE

    @property
    def slot_loss_bytes_per_s(self) -> float:
        """Return what an adapter loses in its slot."""
        return max(0.0, self.adapter_gbps - self.slot_gbps) * 1e9 / BITS_PER_BYTE if self.slot_gbps else 0.0

    @property
    def across_loss_bytes_per_s(self) -> float:
        """Return what each GPU that crosses between processors loses against an adapter beside it, 0 where unknown."""
        return max(0.0, self.share_bytes_per_s - self.across_bytes_per_s) if self.across_bytes_per_s else 0.0


def placement_of(node: Node, gpu: Gpu, catalog: Catalog, answers: Answers) -> Placement:
    """Return what is known of a node's placement: by the catalog's map, or for the person's own server by the answers."""
    if node.id == OWN_SERVER_ID:
        return _told(node, gpu, answers)
    found = node_map(node)
    if found is None:
        return Placement(adapter_gbps=_adapter_gbps(node, catalog))
    pairs, crossing = found.pairs(), found.across()
    adapters = found.adapters("compute")
    narrow = min(adapters, key=found.slot_gbps) if adapters else None
    gpus = {id(port): sum(name.startswith("gpu:") for name in port.devices) for port in found.ports}
    crowded = max(found.ports, key=lambda each: gpus[id(each)])
    between = inter_processor_bytes_per_s(node, catalog)
    return Placement(
        path=max((each.path for each in pairs), key=PATHS.index, default=UNKNOWN),
        far=sum(each.path not in DIRECT for each in pairs),
        across=len(crossing),
        across_bytes_per_s=between / len(crossing) if crossing else 0.0,
        adapter_gbps=_adapter_gbps(node, catalog),
        slot_gbps=found.slot_gbps(narrow) if narrow else 0.0,
        slot=found.slot(narrow) if narrow else (0, 0),
        slot_told=narrow is not None and not node.nics.on_baseboard,
        shared_slots=len(found.shared_slots()),
        gpus_per_uplink=max(1, gpus[id(crowded)]),
        uplink_bytes_per_s=found.uplink_bytes_per_s(crowded),
        map=found,
    )


def _told(node: Node, gpu: Gpu, answers: Answers) -> Placement:
    """Return what the person says of the own server's adapters: slot, worst path, and whether storage shares the slots."""
    lanes, said = answers.count("own_server.nic_lanes"), answers.count("own_server.nic_generation")
    generation = said or (int(gpu.host_link.generation.to("")) if gpu.host_link.generation is not None else 0)
    told = lanes is not None or said is not None
    path_said = answers.text("own_server.nic_path").upper()
    far = node.gpu_count if path_said in PATHS and path_said not in DIRECT else 0
    return Placement(
        path=path_said if path_said in PATHS else UNKNOWN,
        far=far,
        across=far if path_said == "SYS" else 0,
        adapter_gbps=answers.number("own_server.nic_speed") or 0.0,
        slot_gbps=slot_gbps(generation, lanes or FULL_LANES) if told else 0.0,
        slot=(generation, lanes or FULL_LANES) if told else (0, 0),
        slot_told=told and generation in SLOT_GBPS_PER_LANE,
        shared_slots=1 if answers.text("own_server.nic_networks") == "shared" else 0,
    )


def _adapter_gbps(node: Node, catalog: Catalog) -> float:
    """Return the rate of the node's fastest stated compute adapter in Gb/s, 0 where none is stated."""
    stated = [found.speed for part in node.nics.compute if (found := catalog.nics.get(part.id)) is not None]
    speeds: Sequence[object] = [node.nics.compute_speed] if node.nics.compute_speed is not None else stated
    return max((float(speed.to("Gb/s")) for speed in speeds), default=0.0)  # type: ignore[attr-defined]


def inter_processor_bytes_per_s(node: Node, catalog: Catalog) -> float:
    """Return the bandwidth between the processors of a node, one direction, as NCCL models it; 0 where the catalog does not know.

    The fact `nccl-inter-processor` has it by family ("sapphire_rapids"); a processor belongs to the family whose words its own holds.
    """
    fact = catalog.facts.get("nccl-inter-processor")
    families = [cpu.family.lower().replace(" ", "_") for part in node.cpus if (cpu := catalog.cpus.get(part.id)) is not None]
    if fact is None or not families:
        return 0.0
    return min((value.to("B/s") for name, value in fact.values.items() if name in families[0]), default=0.0)
