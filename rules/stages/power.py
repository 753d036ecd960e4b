"""Stage power: node, rack and facility power, cooling, feeds, and whether the hall can take the design."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rules.findings import Scalar, Stage
from rules.guidance.power import RULES
from rules.sizing.facility import size_facility
from rules.stages import power_facts, power_feed_facts
from rules.stages.power_fields import FACTS
from rules.stages.power_sections import bill, describe, needs_cabinet

if TYPE_CHECKING:
    from collections.abc import Callable

    from rules.candidate import Candidate, Context

STAGE = Stage.POWER
__all__ = ["FACTS", "RULES", "STAGE", "assess", "bill", "describe", "needs_cabinet", "size_first"]


def assess(candidate: Candidate, context: Context) -> dict[str, Scalar]:
    """Size the facility, keep it and what stands in its racks on the candidate, and return the stage's fact."""
    return size_first(candidate, context)()


def size_first(candidate: Candidate, context: Context) -> Callable[[], dict[str, Scalar]]:
    """Size the facility, keep it and what stands in its racks on the candidate, and return what states the fact later."""
    sizing = size_facility(candidate, context)
    candidate.facility, candidate.placement = sizing.design, sizing.placement
    return lambda: {
        **power_facts.unit_facts(candidate, context, sizing),
        **power_facts.total_facts(context, sizing),
        **power_facts.rack_facts(candidate, context, sizing),
        **power_facts.entry_facts(candidate, context, sizing),
        **power_facts.cooling_facts(candidate, context, sizing),
        **power_feed_facts.supply_facts(candidate, sizing),
        **power_feed_facts.feed_facts(candidate, context, sizing),
        **power_feed_facts.outlet_facts(candidate, sizing),
        **power_feed_facts.backup_facts(candidate, context, sizing),
        **power_facts.cap_facts(candidate, context, sizing),
    }
