"""How much longer a step takes while GPUs wait for data: reads and decoding run ahead of the step, so that the slowest sets the pace.

A loader that prefetches overlaps reading, decoding and training; the step then takes the longest of the three, not their sum
[PyTorch DataLoader, prefetch_factor; MLPerf Storage: utilisation of the accelerator is its time over the time with input].
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


def waiting_share(read_needed: float, read_offered: float, decode_cores: float, cores: float) -> float:
    """Return by what share a step is longer than the GPUs need, 0 where storage and processors keep up.

    `read_needed` is what the training reads at full speed, `read_offered` what storage gives, in any one unit; `decode_cores` the cores
    of a node that decoding on the CPU would keep busy, of `cores`. What is not known (0) is taken to keep up.
    """
    pairs = ((read_needed, read_offered), (decode_cores, cores))
    return max((wanted / there - 1.0 for wanted, there in pairs if wanted > there > 0), default=0.0)


def waited_for_data(facts: Mapping[str, object]) -> float:
    """Return the same from the facts of stage storage and CPU; storage that is there counts with the rate of the servers' links to it."""
    names = ("dataset_read_gb_per_s", "read_offered_gb_per_s", "existing_gb_per_s", "decode_cores", "cores_offered")
    needed, offered, existing, decode, cores = (float(str(facts.get(name, 0.0))) for name in names)
    return waiting_share(needed, existing or offered, decode, cores)
