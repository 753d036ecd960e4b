"""The Ethernet networks as a containerlab topology: nodes as Linux containers, switches as SONiC, every link.

Containers number their interfaces eth1, eth2 and so on; the ports of the real devices stand beside each link. An InfiniBand network
has no counterpart and is left out.
"""

from __future__ import annotations

from collections import Counter
from itertools import chain
from typing import TYPE_CHECKING, TextIO

from wizard.exports import NothingToExport
from wizard.exports.fabric import networks

if TYPE_CHECKING:
    from rules.advisor import Considered

NAME = "cluster"
SWITCH, HOST = "sonic-vs", "linux"
IMAGES = {SWITCH: "docker-sonic-vs", HOST: "alpine:3"}
"""Container images: SONiC's own virtual switch, and a small Linux for everything else; change them at the top of the file."""


def write(considered: Considered, stream: TextIO) -> None:
    """Write nodes and links as they come; raises NothingToExport where no network is Ethernet."""
    everything = networks(considered)
    found = [each for each in everything if each.protocol == "ethernet"]
    if not found:
        raise NothingToExport("no network of the design is Ethernet")
    for each in everything:
        if each not in found:
            stream.write(f"# The network {each.name} is {each.technology}: containers cannot stand for it, it is left out.\n")
    stream.write(f"name: {NAME}\ntopology:\n  kinds:\n")
    for kind, image in IMAGES.items():
        stream.write(f'    {kind}:\n      image: "{image}"\n')
    ends = {end.device for network in found for link in network.links() for end in (link.lower, link.upper)}
    stream.write("  nodes:\n")
    for device in chain.from_iterable(each.devices() for each in everything):
        if device.name in ends:
            stream.write(f"    {device.name}:\n      kind: {SWITCH if device.kind == 'switch' else HOST}\n      group: {device.tier}\n")
    stream.write("  links:\n")
    interfaces: Counter[str] = Counter()
    for link in chain.from_iterable(each.links() for each in found):
        names = []
        for end in (link.lower, link.upper):
            interfaces[end.device] += 1
            names.append(f"{end.device}:eth{interfaces[end.device]}")
        stream.write(f'    - endpoints: ["{names[0]}", "{names[1]}"]\n')
        stream.write(f'      vars: {{ports: "{link.lower.port} - {link.upper.port}", speed: "{link.speed_gbps:g} Gb/s"}}\n')
