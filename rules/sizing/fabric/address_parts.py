"""Rows of the address plan, and how its private network is divided."""

from __future__ import annotations

from typing import NamedTuple

from rules.sizing.fabric.networks import COMPUTE, FRONT_END, OUT_OF_BAND

BLOCKS = {
    COMPUTE: (0x0A000000, 0x0A800000),
    FRONT_END: (0x0A800000, 0x0AC00000),
    OUT_OF_BAND: (0x0AC00000, 0x0AE00000),
    "loopback": (0x0AE00000, 0x0AF00000),
}
"""First address and end of the parts of 10.0.0.0/8: 10.0/9 for links of GPUs, 10.128/10 front end, 10.192/11 out-of-band, 10.224/12."""


class AddressesExhausted(ValueError):  # noqa: N818 - it is an answer, not a fault
    """A network that is too large for its part of 10.0.0.0/8."""


class Entry(NamedTuple):
    """One row; what does not apply is empty, an AS number 0.

    `record` is link, loopback or out-of-band; for InfiniBand subnet, subnet manager, partition, guid or ipoib.
    """

    record: str
    network: str
    plane: int
    device: str
    port: str
    address: str
    asn: int
    peer: str = ""
    peer_port: str = ""
    peer_address: str = ""
    peer_asn: int = 0
    note: str = ""


def dotted(address: int, prefix: int | None = None) -> str:
    """Return an IPv4 address in dotted form, with its prefix length where given."""
    text = f"{address >> 24}.{address >> 16 & 255}.{address >> 8 & 255}.{address & 255}"
    return text if prefix is None else f"{text}/{prefix}"


class Part:
    """Gives out blocks of one part of the address space."""

    def __init__(self, name: str) -> None:
        self.name, (self.next, self.end) = name, BLOCKS[name]

    def block(self, addresses: int) -> int:
        """Return the first address of a block for so many, aligned to its size."""
        size = 1 << (addresses - 1).bit_length()
        first = -(-self.next // size) * size
        if first + size > self.end:
            raise AddressesExhausted(f"the links of the network {self.name} need more than their part of 10.0.0.0/8")
        self.next = first + size
        return first
