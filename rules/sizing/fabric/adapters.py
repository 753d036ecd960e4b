"""The network adapters of one scale-out node: what the catalog or the answers state, else what servers of its class have."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rules.own_server import OWN_SERVER_ID
from rules.sizing.hardware import BITS_PER_BYTE, GIGA, hardware_of
from rules.sizing.node_map import FULL_LANES

if TYPE_CHECKING:
    from catalogs import Catalog
    from catalogs.schema import Gpu, Nic, Node
    from rules.answers import Answers

PROTOCOLS = ("infiniband", "ethernet")
SLOT_GBPS = {3: 126.0, 4: 252.0, 5: 504.0, 6: 968.0}
"""Raw rate of an x16 slot in Gb/s by PCIe generation: 15.8, 31.5, 63 and 121 GB/s. A Gen5 x16 port reports 504.1 Gb/s to the kernel
[imbue-ai cluster-health]; Gen6 as NCCL's table of lane speeds gives it [NVIDIA/nccl src/graph/topo.h]."""
TWO_PORTS_ABOVE_GBPS = 400.0
"""Adapters that speak both protocols reach more than this on one port as InfiniBand only: ConnectX-8 firmware has no 800GbE on a single
port, on Ethernet it is 2 × 400GbE [NVIDIA ConnectX-8 firmware release notes]."""
STORAGE_SPEED_GBPS, STORAGE_ADAPTERS = 200.0, 1
"""Front-end adapter where a server states none: a dual-port BlueField-3 B3220 of 2 × 200G, as in NVIDIA's reference architecture
2-8-9-400."""
HOST_ONLY_FORMS = ("PCIe 3-4 slot", "desktop unit")
"""Form factors of GPUs without GPUDirect RDMA: it is for data-centre and professional GPUs [NVIDIA, GPUDirect RDMA documentation], which
leaves out GeForce cards, and the GB10 of DGX Spark has none [NVIDIA DGX Spark frequently asked questions]."""
TWO_PORT_CAGE = "QSFP112"
"""Cage of adapters with two ports of 200G and 400G, as storage and in-band use them [NVIDIA ConnectX-7 and BlueField-3 user manuals]."""
_TWIN_CAGES = re.compile(r"(\d+) twin-port")


@dataclass(frozen=True)
class Adapters:
    """Adapters of one node for one network. `protocols` may hold infiniband and ethernet; `assumed` says what was not stated.

    `per_cage` is how many share one cage at the node, `slot_gbps` the rate of the slot (0 where unknown or on the baseboard).
    """

    count: int
    speed_gbps: float
    name: str
    protocols: tuple[str, ...]
    ports: tuple[int, ...] = ()
    rdma: bool = True
    reorders_packets: bool = False
    per_cage: int = 1
    slot_gbps: float = 0.0
    connector: str = ""
    assumed: str = ""

    @property
    def node_gbps(self) -> float:
        """Return the rate of all adapters of the node together, in Gb/s."""
        return self.count * self.speed_gbps

    @property
    def offered_gbps(self) -> float:
        """Return that rate where no slot is narrower than its adapter."""
        return self.count * (min(self.speed_gbps, self.slot_gbps) if self.slot_gbps else self.speed_gbps)

    def planes(self, technology: str) -> int:
        """Return over how many planes an adapter is split: one, but two where Ethernet needs both of its ports for its rate."""
        split = technology == "ethernet" and "infiniband" in self.protocols and self.speed_gbps > TWO_PORTS_ABOVE_GBPS
        return max(self.ports, default=2) if split else 1


def compute_adapters(node: Node, gpu: Gpu, catalog: Catalog, answers: Answers) -> Adapters:
    """Return the adapters for traffic among GPUs of one scale-out node.

    What a server does not state follows the same assumption as the plan was rated with (`rules.sizing.hardware`).
    """
    slot = _slot_gbps(node, gpu)
    if node.id == OWN_SERVER_ID:
        return _own(answers, _told_slot_gbps(answers, slot))
    stated = [(part, catalog.nics.get(part.id)) for part in node.nics.compute]
    if stated:
        part, nic = stated[0]
        speed = node.nics.compute_speed or (nic.speed if nic else None)
        if speed is not None:
            count = max(1, sum(each.count for each, _ in stated) // node.trays)
            return _of(nic, part.id, count, speed.to("Gb/s"), node, 0.0 if node.nics.on_baseboard else slot)
    return _assumed(node, gpu, catalog, slot)


def gpu_direct(gpu: Gpu) -> bool:
    """Return whether adapters may read and write the GPU's memory without a copy in the host's."""
    return not gpu.form_factor.startswith(HOST_ONLY_FORMS)


def _of(nic: Nic | None, name: str, count: int, speed_gbps: float, node: Node, slot_gbps: float, assumed: str = "") -> Adapters:
    if nic is None:
        return Adapters(count, speed_gbps, name, PROTOCOLS, slot_gbps=slot_gbps, assumed=assumed or "the adapter is not in the catalog")
    protocols = tuple(each for each in nic.protocols if each in PROTOCOLS)
    cages = _TWIN_CAGES.search(str(node.nics.slots.value)) if node.nics.slots is not None else None
    per_cage = max(1, count // int(cages.group(1))) if cages else 1
    return Adapters(
        count,
        speed_gbps,
        nic.name,
        protocols or ("ethernet",),
        nic.ports,
        nic.rdma,
        nic.reorders_packets,
        per_cage,
        slot_gbps,
        nic.connector,
        assumed,
    )


def _own(answers: Answers, slot_gbps: float) -> Adapters:
    """Return the adapters that the answers state. They are Ethernet unless InfiniBand is asked for: every server has the one."""
    count, speed = answers.count("own_server.nics"), answers.number("own_server.nic_speed")
    missing = [what for what, value in (("their number", count), ("their speed", speed)) if value is None]
    assumed = f"the answers do not give {' and '.join(missing)}: one adapter per server, 100 Gb/s" if missing else ""
    protocols = PROTOCOLS if answers.text("preferences.fabric") == "infiniband" else ("ethernet",)
    return Adapters(1 if count is None else count, speed or 100.0, "own adapters", protocols, slot_gbps=slot_gbps, assumed=assumed)


def _told_slot_gbps(answers: Answers, usual_gbps: float) -> float:
    """Return the rate of the slots that the person describes, by generation and lanes; what is not said is as `usual_gbps`, x16."""
    generation, lanes = answers.count("own_server.nic_generation"), answers.count("own_server.nic_lanes")
    rate = SLOT_GBPS.get(generation, usual_gbps) if generation else usual_gbps
    return rate * lanes / FULL_LANES if lanes else rate


def _assumed(node: Node, gpu: Gpu, catalog: Catalog, slot_gbps: float) -> Adapters:
    """Return the adapters that the step time was estimated with: one per GPU on fast scale-up links, else one per server."""
    hardware = hardware_of(node, gpu, catalog)
    per_gpu = hardware.nic_bytes_per_s * hardware.devices * BITS_PER_BYTE / GIGA
    gpus = node.gpu_count // node.trays
    linked = hardware.technology not in ("pcie", "none") or node.nics.compute_speed is not None
    count, speed = (gpus, per_gpu) if linked else (1, per_gpu * gpus)
    if linked and per_gpu < 100.0:  # several GPUs share an adapter
        count, speed = max(1, round(gpus * per_gpu / 400.0)), 400.0
    each = f"{count} {'adapter' if count == 1 else 'adapters'} of {speed:g} Gb/s"
    what = f"{node.name} states no adapters: {each} per node, as servers of its class have"
    if node.nics.compute_speed is not None:
        what = f"{node.name} states the speed of its adapters but not their number: {each} per node"
    nic = _usual(catalog, speed, gpu)
    slot = 0.0 if not node.nics.compute and slot_gbps < speed else slot_gbps
    if nic is None:
        return Adapters(count, speed, "unstated adapters", PROTOCOLS, slot_gbps=slot, assumed=what)
    return replace(_of(nic, "", count, speed, node, slot, what), name=f"{nic.name} or its like")


def _usual(catalog: Catalog, speed_gbps: float, gpu: Gpu) -> Nic | None:
    """Return the adapter of the catalog's servers that runs at `speed_gbps`; the GPU's own kin first."""
    for other in sorted(catalog.nodes, key=lambda each: each.gpu != gpu.id):
        for part in other.nics.compute:
            nic = catalog.nics.get(part.id)
            if nic is not None and nic.speed.to("Gb/s") == speed_gbps:
                return nic
    return None


def _slot_gbps(node: Node, gpu: Gpu) -> float:
    """Return the rate of an x16 slot of the node, 0 where its PCIe generation is not stated."""
    generation = node.pcie_generation or (gpu.host_link.generation if node.id == OWN_SERVER_ID else None)
    return SLOT_GBPS.get(int(generation.to("")), 0.0) if generation is not None else 0.0


def front_end_adapters(node: Node, catalog: Catalog) -> Adapters:
    """Return the adapters of one scale-out node for storage and in-band traffic; their two ports go to two switches."""
    for part in node.nics.storage:
        nic = catalog.nics.get(part.id)
        speed = node.nics.storage_speed or (nic.speed if nic else None)
        if speed is not None:
            found = _of(nic, part.id, max(1, part.count // node.trays), speed.to("Gb/s"), node, 0.0)
            return replace(found, connector=TWO_PORT_CAGE) if TWO_PORT_CAGE in found.connector else found
    what = f"the catalog knows no adapter for storage of {node.name}: one with two ports of {STORAGE_SPEED_GBPS:g} Gb/s per node"
    return Adapters(STORAGE_ADAPTERS, STORAGE_SPEED_GBPS, "unstated adapters", ("ethernet",), (2,), connector=TWO_PORT_CAGE, assumed=what)
