"""NetBox cables as CSV: what to import last. Links that share a splitter or a fan of fibres have one label."""

from __future__ import annotations

from typing import TYPE_CHECKING, TextIO

from rules.sizing.fabric.schedule import schedule_of
from wizard.exports.fabric import networks
from wizard.exports.parts import chosen_of, write_rows

if TYPE_CHECKING:
    from rules.advisor import Considered

HEAD = (
    "side_a_device", "side_a_type", "side_a_name", "side_b_device", "side_b_type", "side_b_name", "type", "status", "label", "length",
    "length_unit", "description",
)  # fmt: skip
INTERFACE, STATUS = "dcim.interface", "planned"
TYPES = {"copper": "cat6a", "dac": "dac-passive", "acc": "dac-active", "aec": "dac-active", "aoc": "aoc", "sr": "mmf-om4", "mmf": "mmf-om4",
         "dr": "smf-os2", "fr": "smf-os2", "smf": "smf-os2"}  # fmt: skip
"""NetBox's type of a cable by medium; short reach is sold for OM4 fibre, longer reach for single mode."""


def write(considered: Considered, stream: TextIO) -> None:
    """Write one row per link, from the lower end to the upper one; raises NothingToExport for a single node."""
    networks(considered)
    rows = schedule_of(chosen_of(considered), considered.context)
    write_rows(
        stream,
        HEAD,
        (
            (
                each.link.lower.device, INTERFACE, each.link.lower.port, each.link.upper.device, INTERFACE, each.link.upper.port,
                TYPES.get(each.medium, ""), STATUS, each.label, each.length_m, "m", f"{each.link.network}, {each.link.speed_gbps:g} Gb/s",
            )
            for each in rows
        ),
    )  # fmt: skip
