"""Slurm `topology.conf` for the tree plugin: one leaf per unit of the network, pods above them, one switch on top.

A node hangs on one leaf in Slurm's eyes, so the leaf switches of a unit, one per rail, are one leaf here: its nodes are as near to each
other on every rail.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TextIO

from wizard.exports.fabric import hostlist, units

if TYPE_CHECKING:
    from rules.advisor import Considered
    from wizard.exports.fabric import Unit

TOP = "fabric"


def write(considered: Considered, stream: TextIO) -> None:
    """Write the tree."""
    found = units(considered)
    stream.write("# Slurm topology.conf; slurm.conf needs TopologyPlugin=topology/tree\n")
    stream.write("# A unit stands for the leaf switches that serve the same nodes.\n")
    for each in found:
        stream.write(f"SwitchName={each.name} Nodes={hostlist(each.nodes)}\n")
    for name, children in switches_above(found):
        stream.write(f"SwitchName={name} Switches={hostlist(children)}\n")


def switches_above(found: list[Unit]) -> list[tuple[str, list[str]]]:
    """Return the switches above the units with their children: pods where there are several, and one on top of more than one."""
    pods: dict[int, list[str]] = {}
    for each in found:
        pods.setdefault(each.pod, []).append(each.name)
    if len(found) == 1:
        return []
    if len(pods) == 1:
        return [(TOP, [each.name for each in found])]
    width = max(2, len(str(len(pods))))
    named = [(f"pod-{number:0{width}d}", children) for number, children in pods.items()]
    return [*named, (TOP, [name for name, _ in named])]
