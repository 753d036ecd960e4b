"""Whether machines stand in racks or in a room, and what is said of the cabinets and tanks that hold them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rules.counting import counted
from rules.own_server import OWN_SERVER_ID

if TYPE_CHECKING:
    from catalogs.schema import Node
    from rules.answers import Answers

RACK_ANSWERS = ("own_server.height", "facility.racks", "facility.rack_units", "facility.rack_power")
"""Answers that say that a server stands in a rack."""
RACK, TANK = "rack", "tank"


def stands_in_racks(node: Node, units: int, answers: Answers) -> bool:
    """Return whether `units` of `node` stand in racks.

    A desktop machine does not, nor does one server of one's own without a scale-up link, of which neither height nor rack was said.
    """
    if node.desktop:
        return False
    alone = node.id == OWN_SERVER_ID and units == 1 and node.topology in ("pcie", "bridge", "none")
    return not alone or any(answers.given(key) for key in RACK_ANSWERS)


def places_words(racks: int, tanks: int) -> str:
    """Return what stands in the hall in words: "5 racks", "3 tanks", "3 tanks and 2 racks"."""
    parts = [counted(count, word) for count, word in ((tanks, TANK), (racks, RACK)) if count]
    return " and ".join(parts) or counted(0, RACK)
