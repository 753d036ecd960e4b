"""What a row of a table of runs tells of its training code, as techniques of the step model."""

from __future__ import annotations

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
    from wizard.imports.run_rows import RunRow


def techniques_of(row: RunRow, unfused: bool) -> Techniques:
    """Return what the row tells of its training code.

    `compile`, `async_tp`, `sharding` and `mp_mode` are settings of PyTorch's own sharding; `mp_mode` of MosaicML's Composer, whose tables
    are from before FlashAttention-2. A reduced depth is an experiment with a framework's defaults: no collective overlaps.
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
        every_other_product=row.text("recompute").lower().startswith("selective-op"),
    )
