"""What the address plan says of an InfiniBand network: subnets, LIDs, partitions, subnet managers, an IPoIB address per adapter port.

Every plane is a subnet of its own with its own prefix and managers. LIDs are given out by the subnet manager: what is planned is that they
suffice, with how many per port (LMC). The node GUIDs are on the devices, so every switch and adapter port has a row to fill in. IPoIB has
one IP subnet per rail and plane, where a node has the same host number in each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rules.sizing.fabric.address_parts import Entry, Part, dotted
from rules.sizing.fabric.links import MANAGER, NODE_LEAF

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rules.sizing.fabric.links import Link
    from rules.sizing.fabric.networks import Network

LARGEST_LMC = 7
"""The LMC has three bits: a port has at most 2^7 LIDs [InfiniBand architecture specification; opensm(8), --lmc]."""
DEFAULT_PREFIX, FIRST_PREFIX = 0xFE80_0000_0000_0000, 0xFEC0_0000_0000_0000
"""Subnet prefix of a lone subnet, and the range for several that share nodes: each needs one of its own, or hosts take them for one
[InfiniBand architecture specification: link-local and site-local prefixes; Open MPI, separate physical fabrics]."""
PRIORITIES = (15, 14)
"""SM priorities of master and standby, the highest of 0 to 15 [opensm(8), --priority]."""
PARTITIONS = ("Default=0x7fff : ALL=limited, SELF=full ;", "cluster=0x0001, ipoib, mtu=5, defmember=full : ALL ;")
"""Lines of partitions.conf [opensm(8), partition configuration]: the default partition is for management, all ends of the cluster are full
members of one; a tenant takes a key of its own in its place. mtu=5 are 4,096 bytes."""


def infiniband_entries(network: Network, managers: str, most_lids: int) -> Iterator[Entry]:
    """Yield the rows of an InfiniBand network, one subnet of which has `most_lids` unicast LIDs.

    `managers` says in words where subnet managers run if they have no links of their own.
    """
    planes = sorted({device.plane for device in network.devices() if device.kind == "switch"})
    for plane in planes:
        yield _subnet(network, plane, len(planes), most_lids)
        yield from _managers(network, plane, managers)
        for line in PARTITIONS:
            yield Entry("partition", network.name, plane, "", "", "", 0, note=f"partitions.conf: {line}")
    for device in network.devices():
        if device.kind == "switch":
            yield Entry("guid", network.name, device.plane, device.name, "", "", 0, note="node GUID: from its label")
    yield from _ipoib(network)


def lids_of(network: Network, lmc: int = 0) -> int:
    """Return the LIDs that one plane of a network takes: one per switch, 2^lmc per adapter port and manager port."""
    switches = sum(device.kind == "switch" and device.plane <= 1 for device in network.devices())
    ends = sum(link.tier in (NODE_LEAF, MANAGER) and link.plane == 1 for link in network.links())
    return switches + (ends << lmc)


def largest_lmc(network: Network, most_lids: int) -> int | None:
    """Return the largest LMC with which the LIDs of one subnet suffice; None where not even one LID per port does."""
    return max((lmc for lmc in range(LARGEST_LMC + 1) if lids_of(network, lmc) <= most_lids), default=None)


def _subnet(network: Network, plane: int, planes: int, most_lids: int) -> Entry:
    prefix = DEFAULT_PREFIX if planes == 1 else FIRST_PREFIX + plane
    largest, lids = largest_lmc(network, most_lids), lids_of(network)
    if largest is None:
        says = f"{lids:,} LIDs are needed and one subnet has {most_lids:,}: this needs several subnets with routers between them"
    else:
        says = f"LMC 0: {lids:,} of the {most_lids:,} LIDs of one subnet; they suffice up to LMC {largest}"
    return Entry("subnet", network.name, plane, "", "", "", 0, note=f"prefix 0x{prefix:016x}; {says}; SHARP takes one more LID per switch")


def _managers(network: Network, plane: int, words: str) -> Iterator[Entry]:
    """Yield master and standby of a plane: the hosts that have links for it, else what the words say."""
    first: dict[str, Link] = {}
    for link in network.links():
        if link.tier == MANAGER and link.plane == plane:
            first.setdefault(link.lower.device, link)
    if not first:
        yield Entry("subnet manager", network.name, plane, "", "", "", 0, note=words)
    for link, role, priority in zip(first.values(), ("master", "standby"), PRIORITIES, strict=False):
        lower, upper, note = link.lower, link.upper, f"{role}, SM priority {priority}"
        yield Entry("subnet manager", network.name, plane, lower.device, lower.port, "", 0, upper.device, upper.port, note=note)


def _ipoib(network: Network) -> Iterator[Entry]:
    """Yield an IPoIB address for every adapter port, with the port of the leaf that it is on."""
    part, subnets = Part(network.name), dict[tuple[int, str], int]()
    numbers = {device.name: number for number, device in enumerate((each for each in network.devices() if each.kind == "node"), start=1)}
    size = len(numbers) + 2  # the network's own address and its broadcast
    prefix = 32 - (size - 1).bit_length()
    for link in network.links():
        if link.tier != NODE_LEAF:
            continue
        lower, upper = link.lower, link.upper
        key = (link.plane, lower.port)
        subnet = subnets.get(key)
        if subnet is None:
            subnet = subnets[key] = part.block(size)
        address = dotted(subnet + numbers[lower.device], prefix)
        yield Entry(
            "ipoib", network.name, link.plane, lower.device, lower.port, address, 0, upper.device, upper.port,
            note="port GUID: from its label",
        )  # fmt: skip
