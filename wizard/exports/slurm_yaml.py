"""Slurm `topology.yaml` (Slurm 25.05 and later): the tree as the cluster's default, and the blocks beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING, TextIO

from wizard.exports.fabric import block_sizes, blocks, hostlist, units
from wizard.exports.slurm_tree import switches_above

if TYPE_CHECKING:
    from rules.advisor import Considered


def write(considered: Considered, stream: TextIO) -> None:
    """Write both topologies; names need no quotes, host lists do."""
    leaves, joined = units(considered), blocks(considered)
    stream.write("# Slurm topology.yaml; Slurm ignores topology.conf where this file exists\n---\n")
    stream.write("- topology: tree\n  cluster_default: true\n  tree:\n    switches:\n")
    for each in leaves:
        stream.write(f'      - switch: {each.name}\n        nodes: "{hostlist(each.nodes)}"\n')
    for name, children in switches_above(leaves):
        stream.write(f'      - switch: {name}\n        children: "{hostlist(children)}"\n')
    sizes = ", ".join(str(size) for size in block_sizes(joined))
    stream.write(f"- topology: block\n  cluster_default: false\n  block:\n    block_sizes: [{sizes}]\n    blocks:\n")
    for each in joined:
        stream.write(f'      - block: {each.name}\n        nodes: "{hostlist(each.nodes)}"\n')
