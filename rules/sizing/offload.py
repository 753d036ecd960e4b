"""What it costs in time to keep optimizer state, or parameters too, outside of the GPU.

Sources: ZeRO-Offload [Ren 2021, arXiv:2101.06840] and ZeRO-Infinity [Rajbhandari 2021, arXiv:2104.07857]. The update on the host is
measured end to end: Llama 7B on 8 A800, ZeRO-3, takes 31.2 s a step with it and 14.4 s without, 2.5 s per billion parameters of the node
[gist chenyaofo/d4cd6a20, DeepSpeed 0.14.2]; Qwen2.5-3B on 2 A100 and a host of 128 cores takes 2.4 to 3.1 s in all, at most 1 s per billion
[DeepSpeed, ZeRO-Offload tutorial].
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rules.sizing.hardware import Hardware
    from rules.sizing.results import Plan

HOST_UPDATE_S_PER_BILLION = 1.6
"""Seconds in which a node's processors update a billion parameters: the geometric mean of 1 and 2.5, the two measured figures."""
SUPERCHIP_UPDATE_S_PER_BILLION = 0.06
"""The same where each GPU has a processor with memory of its own at 500 GB/s: 30 bytes are read and written for a parameter (counted)."""
STATE_BYTES_OVER_PCIE = 16.0
"""Bytes per parameter and step: 32-bit gradients down, 16-bit weights up, twice [ZeRO-Offload §4]."""
FETCHED_BYTES = 4.0
"""Bytes per parameter and micro-batch where parameters rest on the host: 16-bit weights for the forward and for the backward pass."""
DRIVE_BYTES = 12.0
"""Bytes per parameter and step that drives are read of, and written of, where state rests there: master weights and two moments."""
DRIVE_READ_BYTES_PER_S, DRIVE_WRITE_BYTES_PER_S = 2.5e9, 1.25e9
"""What the drives of a node give each GPU: 10 GB/s of reads and 5 GB/s of writes measured between host memory and four drives of a server
of four A100 [DeepSpeed, DeepNVMe, Azure NC96ads A100 v4]."""


def offload_seconds(plan: Plan, parameters: float, hardware: Hardware, micro_batches: int) -> float:
    """Return the seconds that offloading adds to a step; `parameters` are those that one GPU updates. Nothing of it is hidden."""
    if plan.offload == "none":
        return 0.0
    if hardware.superchip:
        update = SUPERCHIP_UPDATE_S_PER_BILLION * parameters / 1e9
    else:
        update = HOST_UPDATE_S_PER_BILLION * parameters * min(plan.gpus, hardware.gpus_per_node * hardware.devices) / 1e9
    moved = STATE_BYTES_OVER_PCIE + (FETCHED_BYTES * micro_batches if plan.offload != "optimizer" else 0.0)
    swapped = DRIVE_BYTES * parameters * (1 / DRIVE_READ_BYTES_PER_S + 1 / DRIVE_WRITE_BYTES_PER_S)
    drives = swapped if plan.offload == "nvme" else 0.0
    return update + moved * parameters / hardware.pcie_bytes_per_s + drives
