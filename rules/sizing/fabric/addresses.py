"""The address plan: a /31 for every routed link, a loopback and an AS number for every router, an out-of-band address for every device.

One private network, 10.0.0.0/8, is divided by use. The links of a leaf to its ends lie in one block, so the leaf announces one prefix; so
do its uplinks and those of a spine. AS numbers follow the rule for large data centres: one per leaf, one for the spines of a pod or
plane, one for the cores of a plane, from the private 32-bit range [RFC 7938, RFC 6996]; /31 as RFC 3021 allows. What InfiniBand needs
instead is in `infiniband_addresses`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rules.sizing.fabric.address_parts import Entry, Part, dotted
from rules.sizing.fabric.design import design_fabric
from rules.sizing.fabric.front_links import UPLINK
from rules.sizing.fabric.infiniband_addresses import infiniband_entries
from rules.sizing.fabric.links import LEAF_LEAF, LEAF_SPINE, MANAGER, NODE_LEAF, SPINE_CORE
from rules.sizing.fabric.networks import OUT_OF_BAND, networks_of
from rules.sizing.fabric.transport import subnet_manager_words
from rules.sizing.lookup import threshold_number

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from rules.candidate import Candidate, Context
    from rules.sizing.fabric.links import Device, Link
    from rules.sizing.fabric.networks import Network

FIRST_ASN = 4_200_000_000
"""First AS number of the private 32-bit range [RFC 6996]."""
HOST_ASN = 4_210_000_000
"""First AS number of hosts that announce their own loopback; a number within the private range, chosen apart from those of switches."""
OUT_OF_BAND_BITS = 6
"""A management switch of 48 ports has a subnet of 64 addresses, the first one its gateway."""


def address_plan(candidate: Candidate, context: Context) -> Iterator[Entry]:
    """Yield the plan of all networks of a candidate; nothing for a single node. Raises AddressesExhausted."""
    sized = design_fabric(candidate, context)
    networks = networks_of(candidate, context, sized)
    numbers = asns(networks)
    yield from _loopbacks(networks, numbers)
    for network in networks:
        if network.name == OUT_OF_BAND:
            yield from _out_of_band(network)
        elif network.protocol == "infiniband":
            words = subnet_manager_words(sized.choice.chosen) if sized.choice.chosen else ""
            yield from infiniband_entries(network, words, int(threshold_number(context.catalog.thresholds, "fab-ib-lids")))
        else:
            yield from _links(network, numbers)


def asns(networks: Iterable[Network]) -> Mapping[str, int]:
    """Return the AS numbers of the switches of routed networks."""
    found: dict[str, int] = {}
    shared: dict[tuple[object, ...], int] = {}
    for network in networks:
        if network.protocol == "infiniband" or network.name == OUT_OF_BAND:
            continue
        for device in network.devices():
            if device.kind == "switch":
                key = _domain(device, network.name)
                found[device.name] = shared.setdefault(key, FIRST_ASN + len(shared))
    return found


def _domain(device: Device, network: str) -> tuple[object, ...]:
    """Return what switches of one AS number have in common: nothing among leaves, pod and plane among spines, the plane among cores."""
    if device.tier == "leaf":
        return network, device.name
    return network, device.tier, device.plane, device.pod if device.tier == "spine" else 0


def _loopbacks(networks: Iterable[Network], numbers: Mapping[str, int]) -> Iterator[Entry]:
    """Yield a loopback for every router: switches of routed networks, and the ends of the front end, which announce their own."""
    part, hosts = Part("loopback"), 0
    for network in networks:
        for device in network.devices():
            asn = numbers.get(device.name, 0)
            if not asn and device.kind in ("node", "server", "storage"):
                asn, hosts = HOST_ASN + hosts, hosts + 1
            if asn:
                yield Entry("loopback", network.name, device.plane, device.name, "lo", dotted(part.block(1), 32), asn)


def _links(network: Network, numbers: Mapping[str, int]) -> Iterator[Entry]:
    """Yield both ends of every routed link; the end nearer to the nodes has the even address."""
    part, sizes = Part(network.name), _block_sizes(network)
    blocks: dict[tuple[str, str], list[int]] = {}
    for link in network.links():
        owner = link.upper.device if link.tier in (NODE_LEAF, MANAGER, UPLINK) else link.lower.device
        key = (owner, "down" if owner == link.upper.device else "up")
        place = blocks.get(key)
        if place is None:
            first = part.block(2 * sizes[key[1]])
            place = blocks[key] = [first, first + 2 * sizes[key[1]]]
        yield _entry(link, place[0], numbers)
        place[0] += 2


def _block_sizes(network: Network) -> Mapping[str, int]:
    """Return the most links that a switch has downwards to ends, and upwards."""
    down: dict[str, int] = {}
    up: dict[str, int] = {}
    for link in network.links():
        if link.tier in (NODE_LEAF, MANAGER, UPLINK):
            down[link.upper.device] = down.get(link.upper.device, 0) + 1
        elif link.tier in (LEAF_SPINE, SPINE_CORE, LEAF_LEAF):
            up[link.lower.device] = up.get(link.lower.device, 0) + 1
    return {"down": max(down.values(), default=1), "up": max(up.values(), default=1)}


def _entry(link: Link, address: int, numbers: Mapping[str, int]) -> Entry:
    lower, upper = link.lower, link.upper
    return Entry(
        "link", link.network, link.plane, lower.device, lower.port, dotted(address, 31), numbers.get(lower.device, 0),
        upper.device, upper.port, dotted(address + 1, 31), numbers.get(upper.device, 0),
    )  # fmt: skip


def _out_of_band(network: Network) -> Iterator[Entry]:
    """Yield an address for every managed port, in the subnet of the switch that it is connected to."""
    part = Part(network.name)
    subnets: dict[str, int] = {}
    prefix = 32 - OUT_OF_BAND_BITS
    for link in network.links():
        subnet = subnets.get(link.upper.device)
        if subnet is None:
            subnet = subnets[link.upper.device] = part.block(1 << OUT_OF_BAND_BITS)
        yield Entry(
            "out-of-band", network.name, 1, link.lower.device, link.lower.port, dotted(subnet + 1 + link.upper.number, prefix), 0,
            link.upper.device, link.upper.port, dotted(subnet + 1, prefix), 0, "the peer's address is the gateway",
        )  # fmt: skip
