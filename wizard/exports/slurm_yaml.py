"""Slurm `topology.yaml` (Slurm 25.05 and later): the tree as the cluster's default, and the blocks beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING, TextIO

from wizard.exports.fabric import block_sizes, blocks, compute, hostlist, units
from wizard.exports.slurm_tree import switches_above

if TYPE_CHECKING:
    from rules.advisor import Considered


def write(considered: Considered, stream: TextIO) -> None:
    """Write a tree for each plane, of which the first is the default, and the blocks; names need no quotes, host lists do."""
    leaves, joined = units(considered), blocks(considered)
    planes = compute(considered).wiring.spec.planes  # type: ignore[union-attr]
    stream.write("# Slurm topology.yaml; Slurm ignores topology.conf where this file exists\n")
    if planes > 1:
        stream.write("# Planes are separate networks: each has a tree of its own, for partitions whose jobs keep to one plane.\n")
    stream.write("---\n")
    for number in range(1, planes + 1):
        name = "tree" if planes == 1 else f"plane-{number}"
        stream.write(f"- topology: {name}\n  cluster_default: {'true' if number == 1 else 'false'}\n  tree:\n    switches:\n")
        for each in leaves:
            stream.write(f'      - switch: {each.name}\n        nodes: "{hostlist(each.nodes)}"\n')
        for top, children in switches_above(leaves):
            stream.write(f'      - switch: {top}\n        children: "{hostlist(children)}"\n')
    sizes = ", ".join(str(size) for size in block_sizes(joined))
    stream.write(f"- topology: block\n  cluster_default: false\n  block:\n    block_sizes: [{sizes}]\n    blocks:\n")
    for each in joined:
        stream.write(f'      - block: {each.name}\n        nodes: "{hostlist(each.nodes)}"\n')
