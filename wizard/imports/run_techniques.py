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
from wizard.imports.run_models import Unanswerable

if TYPE_CHECKING:
    from rules.sizing.hardware import Hardware
    from wizard.imports.run_rows import RunRow

FUSED_SINCE, FUSED_SINCE_ELSEWHERE = "26.06", "26.06.01"
"""Containers of Megatron Bridge whose recipes fuse experts: on superchips, and on servers of B200 and B300
[Megatron Bridge performance summary of 26.06; release notes 0.5.1]."""
_RELEASE = re.compile(r"\d\d\.\d\d(\.\d\d)?")
_CONTAINER = re.compile(rf"\b({_RELEASE.pattern}) container")
PLAIN_EXCHANGE, HYBRID_EXCHANGE = "alltoall", "hybridep"
EXCHANGES = (PLAIN_EXCHANGE, "deepep", HYBRID_EXCHANGE)
"""What can carry tokens to their experts: NCCL's all-to-all, the default of Megatron Core, or an exchange that sends a token to a server
once [Megatron Core, --moe-token-dispatcher-type, --moe-flex-dispatcher-backend]."""


def techniques_of(row: RunRow, unfused: bool, hardware: Hardware | None) -> Techniques:
    """Return what the row tells of its training code.

    `compile`, `async_tp`, `sharding` and `mp_mode` are settings of PyTorch's own sharding; `mp_mode` of MosaicML's Composer, whose tables
    are from before FlashAttention-2. A reduced depth is an experiment with a framework's defaults: no collective overlaps.
    Experts are fused where `fused_experts` says so, else from the `release` of NVIDIA's container on that does.
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
        fused_experts=_fused(row, hardware) and not torch,
        plain_exchange=_exchange(row, hardware) == PLAIN_EXCHANGE,
        eager_ring=torch,
        every_other_product=row.text("recompute").lower().startswith("selective-op"),
    )


def release_of(row: RunRow) -> str:
    """Return the release of NVIDIA's container that a row states ("26.06"), or "": its `release`, else its table's "26.06 container".

    Raises Unanswerable for a `release` of another form.
    """
    stated = row.text("release")
    if stated:
        if not _RELEASE.fullmatch(stated):
            raise Unanswerable(f'release {stated!r} is not known; expected year and month of NVIDIA\'s container, such as "26.06"')
        return stated
    named = _CONTAINER.search(row.text("table"))
    return named[1] if named else ""


def fuses_experts(release: str, superchip: bool) -> bool:
    """Return whether recipes of a release fuse the kernels of experts; a run that states no release is taken to be older."""
    return release >= (FUSED_SINCE if superchip else FUSED_SINCE_ELSEWHERE)


def _fused(row: RunRow, hardware: Hardware | None) -> bool:
    stated = row.values.get("fused_experts")
    return bool(stated) if stated is not None else fuses_experts(release_of(row), hardware is not None and hardware.superchip)


def _exchange(row: RunRow, hardware: Hardware | None) -> str:
    """Return what carries tokens to experts: as stated, else HybridEP inside a scale-up domain and the framework's default beyond.

    So do most of NVIDIA's recipes [Megatron Bridge, moe_flex_dispatcher_backend and moe_token_dispatcher_type of its recipes].
    """
    stated = row.text("exchange").lower()
    if stated and stated not in EXCHANGES:
        raise Unanswerable(f"exchange {row.text('exchange')!r} is not known; known are {', '.join(EXCHANGES)}")
    ranks = (row.count("ep") or 1) * (row.count("etp") or 1)
    return stated or (HYBRID_EXCHANGE if hardware is None or ranks <= hardware.domain else PLAIN_EXCHANGE)
