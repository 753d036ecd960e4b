"""The stages: each sizes what it needs for a candidate, states the facts that its rules read, and writes its part of the design.

The order is that of the guidance (G4): memory, interconnect, fabric, software, storage and CPU, power; then reliability and money.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, cast

from rules.findings import Stage

if TYPE_CHECKING:
    from rules.candidate import StageModule


def stage_module(stage: Stage) -> StageModule:
    """Return the module of `stage`, imported when first needed."""
    return cast("StageModule", import_module(f"rules.stages.{stage.value}"))


def all_stages() -> tuple[StageModule, ...]:
    """Return the stage modules in order."""
    return tuple(stage_module(stage) for stage in Stage)
