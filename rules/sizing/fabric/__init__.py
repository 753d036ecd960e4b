"""Fabrics: counts of switches and links, the products that carry them, and the four networks of a cluster."""

from __future__ import annotations

from rules.sizing.fabric.counts import Cages, FabricCounts, count_fabric
from rules.sizing.fabric.inputs import FabricImpossible, FabricInput, FabricInputError

__all__ = ["Cages", "FabricCounts", "FabricImpossible", "FabricInput", "FabricInputError", "count_fabric", "design_fabric"]


def __getattr__(name: str) -> object:
    """Import the design of a candidate's networks only when asked for: counting needs no catalog."""
    if name == "design_fabric":
        from rules.sizing.fabric.design import design_fabric

        return design_fabric
    raise AttributeError(name)
