"""How long collectives take: a hierarchical model of latency, ramp and bandwidth, scale-up links first.

A collective over `n` ranks, of which `local` share a scale-up domain, takes

    time = floor + ramp · S / (S + half) + max(time inside the domains, time between them)

with S the message per rank as nccl-tests prints it, in bytes. The floor is the latency of an empty message, the ramp what filling
the pipeline costs a large one: it grows with the ranks and explains why half of the peak is reached only at 16 to 256 MiB.
Between two domains an all-reduce moves S per domain, between three or more about 2·S; two-node results exceed the adapters' rate
because half of the traffic stays inside. Volumes are those of bandwidth-optimal algorithms [Patarasuk & Yuan 2009;
Thakur 2005]. Checked against published nccl-tests results in tests/sizing/test_collectives.py.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from rules.sizing.hardware import Hardware

MIB = 1024.0**2

SCALE_UP_EFFICIENCY = {"nvlink": 0.80, "xgmi": 0.70, "ethernet": 0.80, "xe_link": 0.70, "pcie": 0.88, "none": 1.0}
"""Share of a link's one-way rate that collectives reach. NVLink: H100 370 of 450, A100 232 of 300, GB200 680 of 900 GB/s
[NVIDIA/nccl-tests issue 212; Azure AI-benchmarking-guide]. xGMI: MI300X 313 of 448 [ml-engineering network]. PCIe copies
87–88 % [ml-engineering network]. Gaudi's Ethernet and Xe Link: assumed as their kin."""
IN_NETWORK_GAIN = {"Hopper": 1.29, "Hopper + Grace": 1.29}
"""All-reduce in the NVLink switch against a ring: H100 480 against 370 GB/s [NVIDIA/nccl-tests issue 212]."""
IN_NETWORK_GAIN_DEFAULT = 1.16
"""The same on Blackwell: 835 GB/s on 72 GB200 and 830 on 8 B200 [CoreWeave nccl-tests; NVIDIA/nccl issue 1807] against 0.8 · 900."""
IN_NETWORK_LEAST_RANKS = 5
"""Fewest ranks that gain from the switch's reduction [ml-engineering network: more than 4 on H200]."""
NETWORK_EFFICIENCY = 0.96
"""Share of an adapter's rate that collectives reach: 46 to 48 of 50 GB/s [NVIDIA/nccl-tests issue 290]."""
EXCHANGE_EFFICIENCY = 0.83
"""The same for all-to-all between nodes: 48.5 GB/s of bus bandwidth on 48 H100 with 400G [NVIDIA/nccl-tests issue 267]."""
EXCHANGE_INSIDE = 0.8
"""An all-to-all inside a scale-up domain against a ring: 411 MB from each of 8 H100 take 1,265 µs, 0.72 of a link, 411 to 462 MB from each
of 8 to 64 GB200 735 to 930 µs, 0.62, where rings reach 0.80 [arXiv:2603.07685, plain all-to-all of 4,096 tokens of 7,168, top 8]."""
RAILS = 8
"""Adapters that one all-reduce of a domain uses at once: 144 and 1,440 GB200 reach 408 and 203 GB/s of algorithm bandwidth, which is
8 × 50 GB/s and half of it, although a rack has 72 adapters [CoreWeave nccl-tests]."""

RAMP_BASE_S = 45e-6
RAMP_PER_RANK_S = 8e-6
RAMP_EXPONENT = 0.85
RAMP_HALF_BYTES = 32 * MIB
"""Ramp of large messages: 45 µs + 8 µs · n^0.85, half of it at 32 MiB; read off the curves of 8 H200, 64 H100, 72, 144 and 1,440
GB200 [Azure AI-benchmarking-guide; CoreWeave nccl-tests]. Elastic fabric adapters ramp more slowly (2 p5 nodes about 420 µs)."""
HOP_LATENCY_S = 5e-6
"""Growth of the floor per doubling of the domains: base latency of a network tree step [NVIDIA/nccl src/graph/tuning.cc]."""

THRESHOLDS_IN_FORMULAS = {"ic-nvls-width": "rules.sizing.collectives.all_reduce_seconds"}
"""Thresholds of the catalog that these formulas apply: id -> where."""

ALL_REDUCE, ALL_GATHER, REDUCE_SCATTER, ALL_TO_ALL, POINT_TO_POINT = "all_reduce", "all_gather", "reduce_scatter", "all_to_all", "p2p"


class Group(NamedTuple):
    """The ranks of a collective: how many in all, and how many of them share a scale-up domain."""

    ranks: int
    local: int

    @property
    def domains(self) -> int:
        """Return the number of scale-up domains that the group spans."""
        return -(-self.ranks // max(1, self.local))


@lru_cache(maxsize=65536)
def group(ranks: int, stride: int, domain: int) -> Group:
    """Return the group of `ranks` ranks that lie `stride` GPUs apart in machines of which `domain` GPUs share a scale-up domain.

    Tensor-parallel ranks are neighbours (stride 1); data-parallel ranks lie tensor × context apart, and so on. Groups whose span does not
    divide the domain straddle: among many of them, one has only as many GPUs in a domain as the greatest common divisor of span and
    domain, and all wait for what goes through those GPUs' adapters. That one is returned.
    """
    span = ranks * stride
    whole = domain % span == 0 or span % domain == 0
    local = max(1, min(ranks, (domain if whole else math.gcd(span, domain)) // max(1, stride)))
    while ranks % local:
        local -= 1
    return Group(ranks, local)


def scale_up_rate(hardware: Hardware, ranks: int) -> float:
    """Return the bytes per second and direction that one GPU moves among `ranks` GPUs of its domain.

    On a full mesh without switch only the links to the ranks that take part carry traffic: 2 of 8 MI300X reach 48 of 313 GB/s
    [ml-engineering network].
    """
    share: float = (ranks - 1) / (hardware.domain - 1) if hardware.mesh and hardware.domain > ranks else 1.0
    rate = hardware.scale_up_bytes_per_s * hardware.inside_factor
    return rate * SCALE_UP_EFFICIENCY.get(hardware.technology, 0.8) * max(share, 1e-9)


def adapter_rate(hardware: Hardware) -> float:
    """Return the bytes per second and direction of one GPU's share of the adapters, as measured on site where it was."""
    return hardware.nic_bytes_per_s * hardware.between_factor


def overhead_seconds(hardware: Hardware, who: Group, size: float) -> float:
    """Return floor and ramp in seconds for `size` bytes."""
    if who.domains == 1:
        floor = hardware.scale_up_latency_s
    else:
        floor = hardware.network_latency_s + HOP_LATENCY_S * max(0, (who.domains - 1).bit_length() - 1)
    ramp = RAMP_BASE_S + RAMP_PER_RANK_S * math.pow(who.ranks, RAMP_EXPONENT)
    return floor + ramp * size / (size + RAMP_HALF_BYTES)


@lru_cache(maxsize=65536)
def all_reduce_seconds(hardware: Hardware, who: Group, size: float) -> float:
    """Return the seconds of an all-reduce of `size` bytes per rank: inside 2(n−1)/n·S, between two domains S, between more 2·S."""
    if who.ranks <= 1 or size <= 0:
        return 0.0
    inside = 0.0
    if who.local > 1:
        rate = scale_up_rate(hardware, who.local)
        if hardware.in_network_reduction and who.local >= IN_NETWORK_LEAST_RANKS:
            rate *= IN_NETWORK_GAIN.get(hardware.architecture, IN_NETWORK_GAIN_DEFAULT)
        inside = 2 * (who.ranks - 1) / who.ranks * size / rate
    between = (1 if who.domains == 2 else 2) * size / _network_rate(hardware, who) if who.domains > 1 else 0.0
    return overhead_seconds(hardware, who, size) + max(inside, between)


@lru_cache(maxsize=65536)
def gather_seconds(hardware: Hardware, who: Group, size: float) -> float:
    """Return the seconds of an all-gather or reduce-scatter whose full buffer is `size` bytes: (n−1)/n·S on a ring; no switch gain."""
    if who.ranks <= 1 or size <= 0:
        return 0.0
    share = (who.ranks - 1) / who.ranks * size
    inside = share / scale_up_rate(hardware, who.local) if who.local > 1 else 0.0
    between = share / _network_rate(hardware, who) if who.domains > 1 else 0.0
    return overhead_seconds(hardware, who, size) / 2 + max(inside, between)


@lru_cache(maxsize=65536)
def exchange_seconds(hardware: Hardware, who: Group, size: float) -> float:
    """Return the seconds of an all-to-all in which a rank sends `size` bytes, spread evenly; each GPU uses its own adapter only."""
    if who.ranks <= 1 or size <= 0:
        return 0.0
    rate = scale_up_rate(hardware, who.local) * EXCHANGE_INSIDE
    inside = (who.local - 1) / who.ranks * size / rate if who.local > 1 else 0.0
    outside = who.ranks - who.local
    between = outside / who.ranks * size / (adapter_rate(hardware) * EXCHANGE_EFFICIENCY) if outside > 0 else 0.0
    return overhead_seconds(hardware, who, size) / 2 + max(inside, between)


def point_to_point_seconds(hardware: Hardware, local: bool, size: float) -> float:
    """Return the seconds of sending `size` bytes to a rank of the same domain (`local`) or of another."""
    if local:
        links = hardware.domain - 1 if hardware.mesh and hardware.domain > 1 else 1
        rate = hardware.scale_up_bytes_per_s * hardware.inside_factor * SCALE_UP_EFFICIENCY.get(hardware.technology, 0.8) / links
        return hardware.scale_up_latency_s / 2 + size / rate
    return hardware.network_latency_s / 2 + size / (adapter_rate(hardware) * NETWORK_EFFICIENCY)


def routed_seconds(hardware: Hardware, who: Group, tokens: float, token_bytes: float, choices: int) -> float:
    """Return the seconds of one dispatch or combine of mixture-of-experts tokens over `who`.

    Each of `tokens` tokens of a rank goes to `choices` experts spread evenly; it crosses to a domain, and to a rank inside one, at most
    once, as node-limited and hybrid exchanges do [DeepEP; arXiv:2603.07685]: expected distinct targets of k draws from n are
    n·(1 − (1 − 1/n)^k). Measured there on H100: 661 µs over 8, 1,485 over 16, 3,064 over 32 ranks (4,096 tokens of 7,168, top 8).
    """
    if who.ranks <= 1 or tokens <= 0:
        return 0.0
    domains = who.domains
    in_domain = choices / domains
    targets = who.local * (1 - (1 - 1 / who.local) ** in_domain) if who.local > 1 else 0.0
    copies = targets * (who.local - 1) / who.local * (domains if domains > 1 else 1)
    inside = tokens * token_bytes * copies / scale_up_rate(hardware, who.local) if who.local > 1 else 0.0
    remote = (domains - 1) * (1 - (1 - 1 / domains) ** choices) if domains > 1 else 0.0
    between = tokens * token_bytes * remote / (adapter_rate(hardware) * NETWORK_EFFICIENCY)
    floor = hardware.scale_up_latency_s if domains == 1 else hardware.network_latency_s
    return floor + max(inside, between)


def _network_rate(hardware: Hardware, who: Group) -> float:
    """Return the bytes per second and direction with which one domain's members of the group reach other domains."""
    return min(who.local, RAILS) * adapter_rate(hardware) * NETWORK_EFFICIENCY


def bus_bandwidth(operation: str, ranks: int, size: float, seconds: float) -> float:
    """Return the bus bandwidth in bytes per second as nccl-tests defines it: algorithm bandwidth times 2(n−1)/n, (n−1)/n or 1."""
    share = (ranks - 1) / ranks
    factor = {ALL_REDUCE: 2 * share, POINT_TO_POINT: 1.0}.get(operation, share)
    return factor * size / seconds


def collective_seconds(operation: str, hardware: Hardware, who: Group, size: float) -> float:
    """Return the seconds of a collective by name; raises ValueError for a name that is none of the module's."""
    if operation == ALL_REDUCE:
        return all_reduce_seconds(hardware, who, size)
    if operation in (ALL_GATHER, REDUCE_SCATTER):
        return gather_seconds(hardware, who, size)
    if operation == ALL_TO_ALL:
        return exchange_seconds(hardware, who, size)
    if operation == POINT_TO_POINT:
        return point_to_point_seconds(hardware, who.domains == 1, size)
    raise ValueError(f"no collective is called {operation!r}; expected all_reduce, all_gather, reduce_scatter, all_to_all or p2p")
