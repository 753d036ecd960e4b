"""Stage fabric: the networks between the nodes, and whether they carry what the plan sends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rules.findings import Stage
from rules.guidance.fabric import RULES
from rules.sizing.fabric.design import design_fabric
from rules.stages.fabric_facts import fabric_facts
from rules.stages.fabric_fields import FACTS
from rules.stages.fabric_sections import fabric_bill, fabric_sections

if TYPE_CHECKING:
    from rules.candidate import Candidate, Context
    from rules.findings import Scalar
    from rules.sizing.results import BomLine

STAGE = Stage.FABRIC
__all__ = ["FACTS", "RULES", "STAGE", "assess", "bill", "describe"]


def assess(candidate: Candidate, context: Context) -> dict[str, Scalar]:
    """Design the networks, keep them on the candidate and return the stage's fact."""
    sized = design_fabric(candidate, context)
    candidate.fabric, candidate.network = sized.design, sized.choice
    return fabric_facts(sized, candidate, context)


def describe(candidate: Candidate, context: Context) -> dict[str, dict[str, object]]:
    """Return the sections fabric.compute, fabric.storage and fabric.management."""
    return fabric_sections(candidate, context)


def bill(candidate: Candidate, context: Context) -> list[BomLine]:
    """Return switches, cables, transceivers and fabric managers, without prices; equal parts of several networks are one line."""
    return fabric_bill(candidate, context)
