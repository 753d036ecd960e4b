"""Rules on the network between nodes: technology and rate, wiring, and what to ask of its vendors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rules.guidance.fabric_choice import CHOICE_RULES
from rules.guidance.fabric_questions import QUESTION_RULES
from rules.guidance.fabric_topology import TOPOLOGY_RULES
from rules.guidance.fabric_transport import TRANSPORT_RULES

if TYPE_CHECKING:
    from rules.guidance.declare import Rule

RULES: tuple[Rule, ...] = tuple(sorted((*CHOICE_RULES, *QUESTION_RULES, *TOPOLOGY_RULES, *TRANSPORT_RULES), key=lambda rule: rule.id))
