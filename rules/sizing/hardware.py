"""What a plan runs on: one GPU with its rates, its scale-up domain, its network share, as plain numbers in base units.

Rates are dense peaks and what large matrix products sustain. Where the catalog has no sustained value, the fraction of peak
that was measured on the nearest kin in the catalog is applied: same GPU at a sister precision, then the same architecture,
then the same vendor, then all; such a value is marked as estimated.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from statistics import median, median_high
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from catalogs import Catalog
    from catalogs.schema import Gpu, Node, Sourced

TERA, GIGA = 1e12, 1e9
BITS_PER_BYTE = 8

PEAK_NAMES: dict[str, tuple[str, ...]] = {
    "bf16": ("bf16", "fp16"),
    "fp16": ("fp16", "bf16"),
    "fp8": ("fp8", "bf16", "fp16"),
    "mxfp8": ("fp8_block", "fp8", "bf16", "fp16"),
    "nvfp4": ("fp4", "nvfp4", "fp8", "bf16"),
    "tf32": ("tf32", "fp32"),
    "fp32": ("fp32", "tf32"),
}
"""Catalog keys of a training precision, best first; a GPU without the units of a precision computes at the next one."""

PCIE_BYTES_PER_S = {3: 12.0 * GIGA, 4: 24.0 * GIGA, 5: 48.0 * GIGA, 6: 96.0 * GIGA}
"""Usable bandwidth of an x16 slot, one direction, by generation, as NCCL models it [NVIDIA/nccl src/graph/topo.h]."""
PCIE_DEFAULT_GENERATION = 4
"""Assumed where neither the node nor the GPU states one: the oldest generation of current servers."""
THROUGH_HOST_SHARE = 0.5
"""Without peer to peer every byte crosses PCIe twice, up to host memory and down again [NVIDIA/nccl issue 1127]."""

NIC_BYTES_PER_S_BY_PCIE = {3: 12.5e9, 4: 25e9, 5: 50e9, 6: 100e9}
"""Network share of a GPU, one direction, by generation of its PCIe slot: servers of GPUs with links of their own put an adapter of the
slot's rate beside each, 100G in DGX-1, 200G in DGX A100, 400G in DGX H100 and B200, 800G in GB300 [vendor guides of these servers].
The export variants have slower links among GPUs but the same slots and adapters: 400G beside each H800 [arXiv:2412.19437 §3.1].
Used only where neither the node nor another node with the same GPU states adapters, and then marked as assumed."""
PCIE_NODE_NIC_BYTES_PER_S = 50e9
"""A PCIe server's network: one 400G adapter shared by its GPUs, where the node states none [NVIDIA reference architecture 2-8-5-200]."""

SCALE_UP_LATENCY_S = 30e-6
"""Floor of a small collective in a server: 15 µs (4 GB200) to 45 µs (8 A100) [Azure AI-benchmarking-guide, NCCL results]."""
NETWORK_LATENCY_S = 47e-6
"""Floor of a small collective between two servers: 46 to 48 µs [NVIDIA/nccl issue 1244]."""

SUSTAINED_SPREAD = 0.08
"""Half-width of a sustained value without a stated range: the spread of one shape's results over libraries on A100 and H100."""
ESTIMATED_SPREAD = 0.15
"""Half-width of a sustained value taken from a GPU's kin: sister GPUs of one architecture differ by up to so much (GB200, GB300)."""
FALLBACK_FRACTION = 0.6
"""Sustained share of peak where nothing in the catalog was measured: between MI300X (0.55) and H100 (0.76) in BF16."""


@dataclass(frozen=True)
class Rate:
    """Arithmetic rate at one training precision, in FLOP/s: dense peak, and sustained in large products (low, expected, high)."""

    precision: str
    native: str
    peak: float
    low: float
    sustained: float
    high: float
    measured: bool


@dataclass(frozen=True)
class Hardware:
    """One device as software sees it, and its place in the node. Bandwidths are one direction, in bytes per second.

    `scale_up_bytes_per_s` is per GPU inside the `domain` (a count of devices); on a full mesh it is the sum over all peers and
    `mesh` is True. `nic_bytes_per_s` is one GPU's share of the node's adapters. `devices` per package (2 for dual-die cards).
    `superchip` marks a GPU on one module with its host processor. `per_domain` is how many devices of each domain a job over several
    uses (0: as suits its plan). What was measured on site multiplies the rate of the links inside a domain and between domains, and the
    time of every step; `measured` says so in words.
    """

    gpu: str
    node: str
    architecture: str
    vendor: str
    memory_bytes: float
    hbm_bytes_per_s: float
    rates: tuple[Rate, ...]
    domain: int
    scale_up_bytes_per_s: float
    technology: str
    mesh: bool
    in_network_reduction: bool
    peer_to_peer: bool
    pcie_bytes_per_s: float
    nic_bytes_per_s: float
    gpus_per_node: int
    devices: int
    scale_up_latency_s: float = SCALE_UP_LATENCY_S
    network_latency_s: float = NETWORK_LATENCY_S
    superchip: bool = False
    per_domain: int = 0
    inside_factor: float = 1.0
    between_factor: float = 1.0
    time_factor: float = 1.0
    assumed: tuple[str, ...] = ()
    measured: tuple[str, ...] = ()

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        """Return the hash of what tells hardware apart, worked out once: a search looks it up a thousand times."""
        links = (self.domain, self.per_domain, self.nic_bytes_per_s, self.scale_up_bytes_per_s)
        return hash((self.gpu, self.node, self.memory_bytes, links, self.time_factor))

    @cached_property
    def anonymous(self) -> Hardware:
        """Return the hardware without the name of the node and its notes: what plans and times depend on."""
        return replace(self, node="", assumed=(), measured=())

    def rate(self, precision: str) -> Rate:
        """Return the rate at a training precision; at one that the GPU does not know, that of BF16."""
        for each in self.rates:
            if each.precision == precision:
                return each
        return self.rates[0]

    def sustained_flops(self, precision: str) -> float:
        """Return what one GPU (all its devices) sustains in large products at a training precision, in FLOP/s."""
        return self.rate(precision).sustained * self.devices

    @property
    def fast_scale_up(self) -> bool:
        """Return whether GPUs of the domain have a link of their own, faster than PCIe."""
        return self.technology not in ("pcie", "none") and self.domain > 1


def hardware_of(node: Node, gpu: Gpu, catalog: Catalog, network_gbps_per_gpu: float | None = None) -> Hardware:
    """Return the hardware that a plan on `node` with `gpu` runs on.

    `network_gbps_per_gpu` (Gb/s) replaces the node's own adapters, for a fabric that was designed otherwise. What the catalog does
    not state is assumed as the module's constants say, and named in `assumed`.
    """
    assumed: list[str] = []
    devices = gpu.devices
    generation = _pcie_generation(node, gpu, assumed)
    pcie = PCIE_BYTES_PER_S[generation]
    speed, domain, technology = _scale_up(node, gpu, pcie)
    nic = _nic(node, catalog, generation, technology, network_gbps_per_gpu, assumed)
    return Hardware(
        gpu=gpu.id,
        node=node.id,
        architecture=gpu.architecture,
        vendor=gpu.vendor,
        memory_bytes=gpu.memory.capacity.to("B") / devices,
        hbm_bytes_per_s=_memory_bandwidth(gpu, assumed) / devices,
        rates=_rates(gpu, catalog),
        domain=domain * devices,
        scale_up_bytes_per_s=speed,
        technology=technology,
        mesh=technology in ("xgmi", "ethernet", "xe_link"),
        in_network_reduction=gpu.scale_up.in_network_reduction and domain > 1,
        peer_to_peer=gpu.scale_up.peer_to_peer,
        pcie_bytes_per_s=pcie,
        nic_bytes_per_s=nic / devices,
        gpus_per_node=(node.gpu_count // node.trays if node.is_rack else node.gpu_count) * devices,
        devices=devices,
        superchip=gpu.form_factor.startswith("superchip"),
        assumed=tuple(assumed),
    )


def _memory_bandwidth(gpu: Gpu, assumed: list[str]) -> float:
    if gpu.memory.bandwidth is None:
        assumed.append("memory bandwidth: 1 TB/s, not stated by the catalog")
        return TERA
    return gpu.memory.bandwidth.to("B/s")


def _pcie_generation(node: Node, gpu: Gpu, assumed: list[str]) -> int:
    """Return the PCIe generation, 3 to 6, of the slower of slot and card."""
    stated = [int(each.to("1")) for each in (node.pcie_generation, gpu.host_link.generation) if each is not None]
    if not stated:
        assumed.append(f"PCIe generation {PCIE_DEFAULT_GENERATION}: neither the server nor the GPU states one")
    return min(max(min(stated, default=PCIE_DEFAULT_GENERATION), 3), 6)


def _scale_up(node: Node, gpu: Gpu, pcie: float) -> tuple[float, int, str]:
    """Return (bytes per second per GPU and direction, GPUs in the domain, technology) of the links among a node's GPUs."""
    link = gpu.scale_up
    linked = (
        link.per_direction is not None and link.technology not in ("pcie", "none") and node.topology not in ("pcie", "pcie_switch", "none")
    )
    if linked and link.per_direction is not None and node.scale_up_domain > 1:
        return link.per_direction.to("B/s"), node.scale_up_domain, link.technology
    share = pcie if link.peer_to_peer else pcie * THROUGH_HOST_SHARE
    return share, node.gpu_count // node.trays, "pcie" if node.gpu_count > node.trays else "none"


def _nic(node: Node, catalog: Catalog, generation: int, technology: str, gbps_per_gpu: float | None, assumed: list[str]) -> float:
    """Return one GPU's share of the node's compute adapters, in bytes per second and direction."""
    if gbps_per_gpu is not None:
        return gbps_per_gpu * GIGA / BITS_PER_BYTE
    stated = _stated_nic(node, catalog)
    if stated is not None:
        return stated
    if node.nics.compute_speed is not None:
        assumed.append(f"one adapter per GPU in {node.name}: it states their speed but not their number")
        return node.nics.compute_speed.to("B/s")
    if technology in ("pcie", "none"):
        assumed.append(f"one 400 Gb/s adapter in {node.name}: it states none")
        return PCIE_NODE_NIC_BYTES_PER_S / max(1, node.gpu_count // node.trays)
    kin = [share for other in catalog.nodes if other.gpu == node.gpu and (share := _stated_nic(other, catalog)) is not None]
    share = median_high(kin) if kin else NIC_BYTES_PER_S_BY_PCIE[generation]
    assumed.append(f"{share * BITS_PER_BYTE / GIGA:g} Gb/s per GPU in {node.name}, as servers of its class have: it states no adapters")
    return share


def _stated_nic(node: Node, catalog: Catalog) -> float | None:
    """Return the stated adapters' bytes per second and GPU; None where number or speed is not stated."""
    total = 0.0
    for part in node.nics.compute:
        found = catalog.nics.get(part.id)
        speed = node.nics.compute_speed or (found.speed if found else None)
        if speed is None:
            return None
        total += part.count * speed.to("B/s")
    return total / node.gpu_count if total else None


def _rates(gpu: Gpu, catalog: Catalog) -> tuple[Rate, ...]:
    return _rates_of(gpu.id, catalog) if catalog.gpus.get(gpu.id) is gpu else _rates_now(gpu, catalog)


@lru_cache(maxsize=512)
def _rates_of(gpu: str, catalog: Catalog) -> tuple[Rate, ...]:
    """Return the rates of a catalog's own GPU; the medians over its kin are worked out once."""
    return _rates_now(catalog.gpus[gpu], catalog)


def _rates_now(gpu: Gpu, catalog: Catalog) -> tuple[Rate, ...]:
    rates = [_rate(gpu, catalog, precision, keys) for precision, keys in PEAK_NAMES.items()]
    known = [rate for rate in rates if rate is not None]
    if not known:
        raise ValueError(f"{gpu.id}: the catalog states no dense peak at any training precision; add one under [peak_dense]")
    return tuple(known)


def _rate(gpu: Gpu, catalog: Catalog, precision: str, keys: tuple[str, ...]) -> Rate | None:
    """Return the rate at `precision` from the first of `keys` that the GPU has a peak for; None without any."""
    native = next((key for key in keys if _peak(gpu, key) is not None), None)
    if native is None:
        return None
    peak = (_peak(gpu, native) or 0.0) / gpu.devices
    stated = next((gpu.sustained[key] for key in keys if key in gpu.sustained and _same_units(gpu, key, native)), None)
    if stated is not None:
        low, expected, high = (end / gpu.devices for end in _ends(stated))
        return Rate(precision, native, peak, low, expected, high, True)
    expected = peak * _kin_fraction(gpu, catalog, "bf16" if _same_units(gpu, "bf16", native) else native)
    return Rate(precision, native, peak, expected * (1 - ESTIMATED_SPREAD), expected, min(peak, expected * (1 + ESTIMATED_SPREAD)), False)


def _peak(gpu: Gpu, key: str) -> float | None:
    found = gpu.peak_dense.get("fp8" if key == "fp8_block" else key)
    return None if found is None else found.to("FLOP/s")


def _same_units(gpu: Gpu, key: str, native: str) -> bool:
    """Return whether a GPU multiplies two formats with the same units, so that what one sustains holds for the other: FP16 and BF16 only
    where their peaks agree (on Gaudi 3 they do not).
    """
    families = {"fp8_block": "fp8", "nvfp4": "fp4", "fp16": "bf16"}
    if {key, native} == {"fp16", "bf16"}:
        return _peak(gpu, key) == _peak(gpu, native)
    return families.get(key, key) == families.get(native, native)


def _ends(stated: Sourced) -> tuple[float, float, float]:
    low, expected, high = stated.ends("FLOP/s")
    if low == high:
        return expected * (1 - SUSTAINED_SPREAD), expected, expected * (1 + SUSTAINED_SPREAD)
    return low, expected, high


def _kin_fraction(gpu: Gpu, catalog: Catalog, native: str) -> float:
    """Return the median sustained share of peak of the nearest kin in the catalog that was measured at `native` (or at BF16)."""
    for key in dict.fromkeys((native, "bf16")):
        own = _fraction(gpu, key)
        if own is not None and native in ("fp16", "tf32"):
            return own
        for belongs in (lambda other: other.architecture == gpu.architecture, lambda other: other.vendor == gpu.vendor, lambda _: True):
            found = [share for other in catalog.gpus if belongs(other) and (share := _fraction(other, key)) is not None]
            if found:
                return median(found)
    return FALLBACK_FRACTION


def _fraction(gpu: Gpu, key: str) -> float | None:
    sustained, peak = gpu.sustained.get(key), gpu.peak_dense.get(key)
    return None if sustained is None or peak is None else sustained.to("FLOP/s") / peak.to("FLOP/s")
