"""What a row of a table of runs tells of its training code, as techniques of the step model."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rules.regimes import FULLY_SHARDED
from rules.sizing.techniques import (
    CLASSIC,
    EAGER_LAUNCH_S,
    FIRST_SHARDED,
    FLASH_1,
    FLASH_2,
    FUSED,
    LAUNCH_S,
    TUNED,
    Techniques,
)

if TYPE_CHECKING:
    from rules.sizing.hardware import Hardware
    from wizard.imports.run_rows import RunRow

FUSED_SINCE, FUSED_SINCE_ELSEWHERE = "26.06", "26.06.01"
"""Containers of Megatron Bridge whose recipes fuse experts: on superchips, and on servers of B200 and B300
[Megatron Bridge performance summary of 26.06; release notes 0.5.1]."""
_CONTAINER = re.compile(r"\b(\d\d\.\d\d(?:\.\d\d)?) container")


def techniques_of(row: RunRow, unfused: bool, hardware: Hardware | None) -> Techniques:
    """Return what the row tells of its training code.

    `compile`, `async_tp`, `sharding` and `mp_mode` are settings of PyTorch's own sharding; `mp_mode` of MosaicML's Composer, whose tables
    are from before FlashAttention-2. A reduced depth is an experiment with a framework's defaults: no collective overlaps.
    Experts are fused where the row's table names a container of a release that does.
    """
    kernel, mode, compiled = row.text("kernel").lower(), row.text("mp_mode").upper(), row.values.get("compile")
    torch = bool(mode) or compiled is not None or "async_tp" in row.values or bool(row.text("sharding"))
    if unfused and not torch:
        classic = FIRST_SHARDED if row.count("zero_stage") == FULLY_SHARDED else CLASSIC
        return classic._replace(eager=bool(kernel) and "fused" not in kernel and "rms" not in kernel)
    attention = FLASH_1 if mode or "v1" in kernel else FLASH_2 if torch or "flash" in kernel else FUSED
    return TUNED._replace(
        attention=attention,
        eager=(bool(kernel) and "rms" not in kernel) or compiled is False,
        overlapped=not row.count("layers_override") and not torch,
        asynchronous=bool(row.values.get("async_tp")),
        waiting_shards=torch,
        reduced_bytes=4.0 if mode == "DEFAULT" or compiled is not None else 2.0,
        launch_s=EAGER_LAUNCH_S if row.count("layers_override") else LAUNCH_S,
        fused_experts=fuses_experts(row.text("table"), hardware is not None and hardware.superchip) and not torch,
        every_other_product=row.text("recompute").lower().startswith("selective-op"),
    )


def fuses_experts(table: str, superchip: bool) -> bool:
    """Return whether a table names a container ("26.08 container") whose recipes fuse the kernels of experts."""
    named = _CONTAINER.search(table)
    return named is not None and named[1] >= (FUSED_SINCE if superchip else FUSED_SINCE_ELSEWHERE)
