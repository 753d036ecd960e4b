"""Rules on the network between nodes: technology and rate, wiring, and what to ask of its vendors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rules.guidance.fabric_choice import CHOICE_RULES
from rules.guidance.fabric_questions import QUESTION_RULES
from rules.guidance.fabric_topology import TOPOLOGY_RULES

if TYPE_CHECKING:
    from rules.guidance.declare import Rule

THRESHOLDS_IN_FORMULAS: dict[str, str] = {
    "fab-comms-ddp": "rules.stages.fabric_facts",
    "fab-comms-zero3": "rules.stages.fabric_facts",
    "fab-effective": "rules.sizing.fabric.design.design_fabric",
    "fab-leaf-count": "rules.sizing.fabric.wiring.rail_plane",
    "fab-payload": "rules.stages.fabric_facts.message_share",
    "fab-spine-even": "rules.sizing.fabric.wiring.spine_count",
    "fab-three-tier": "rules.sizing.fabric.wiring",
    "fab-two-tier-limit": "rules.sizing.fabric.counts.two_tier_nodes",
    "fab-zero3-ladder-v100": "rules.stages.fabric_facts",
    "fab-zero3-scale-h100": "rules.stages.fabric_facts",
}
"""Thresholds of this stage that a formula applies: id to place. Published examples of the counting rules are tested in tests/published."""

RULES: tuple[Rule, ...] = tuple(sorted((*CHOICE_RULES, *QUESTION_RULES, *TOPOLOGY_RULES), key=lambda rule: rule.id))
