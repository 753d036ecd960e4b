"""All networks as an undirected graph in the DOT language: devices in clusters by network and tier, links with their ports."""

from __future__ import annotations

from typing import TYPE_CHECKING, TextIO

from wizard.exports.fabric import networks

if TYPE_CHECKING:
    from rules.advisor import Considered

SHAPES = {"node": "box", "switch": "box3d", "manager": "component", "server": "box", "storage": "cylinder"}
COLOURS = ("#0072b2", "#009e73", "#999999", "#e69f00")
"""One colour for each network, of those that colour-blind people tell apart [Okabe and Ito, 2008]."""


def write(considered: Considered, stream: TextIO) -> None:
    """Write the graph as it goes: devices of all networks first, then links."""
    found = networks(considered)
    stream.write("graph cluster {\n  rankdir=BT;\n  node [shape=box];\n")
    for network in found:
        for device in network.devices():
            words = "\\n".join(each for each in (device.name, device.model) if each)
            shape = SHAPES.get(device.kind, "ellipse")
            stream.write(f'  "{device.name}" [label="{words}", shape={shape}, group="{device.tier}"];\n')
    for colour, network in zip(COLOURS, found, strict=False):
        for link in network.links():
            attributes = f'taillabel="{link.lower.port}", headlabel="{link.upper.port}", label="{link.speed_gbps:g}G", color="{colour}"'
            stream.write(f'  "{link.lower.device}" -- "{link.upper.device}" [{attributes}];\n')
    stream.write("}\n")
