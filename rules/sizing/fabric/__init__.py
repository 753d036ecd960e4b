"""Fabrics: counts of switches and links, the products that carry them, and the four networks of a cluster."""

from __future__ import annotations

from rules.sizing.fabric.counts import Cages, FabricCounts, count_fabric
from rules.sizing.fabric.inputs import FabricImpossible, FabricInput, FabricInputError

__all__ = ["Cages", "FabricCounts", "FabricImpossible", "FabricInput", "FabricInputError", "count_fabric"]
