"""Slurm `topology.conf` for the block plugin (Slurm 23.11 and later): racks of one scale-up domain, else units of the network."""

from __future__ import annotations

from typing import TYPE_CHECKING, TextIO

from wizard.exports.fabric import block_sizes, blocks, hostlist

if TYPE_CHECKING:
    from rules.advisor import Considered


def write(considered: Considered, stream: TextIO) -> None:
    """Write the blocks, and the sizes that Slurm may plan with; the first is the fewest nodes of a block."""
    found = blocks(considered)
    stream.write("# Slurm topology.conf; slurm.conf needs TopologyPlugin=topology/block\n")
    for each in found:
        stream.write(f"BlockName={each.name} Nodes={hostlist(each.nodes)}\n")
    stream.write(f"BlockSizes={','.join(str(size) for size in block_sizes(found))}\n")
