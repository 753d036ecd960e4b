"""NetBox cables as CSV: what to import last."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, TextIO

from wizard.exports.fabric import networks
from wizard.exports.parts import write_rows

if TYPE_CHECKING:
    from rules.advisor import Considered

HEAD = (
    "side_a_device", "side_a_type", "side_a_name", "side_b_device", "side_b_type", "side_b_name", "status", "label", "description",
)  # fmt: skip
INTERFACE, STATUS = "dcim.interface", "planned"


def write(considered: Considered, stream: TextIO) -> None:
    """Write one row per link, from the lower end to the upper one."""
    links = chain.from_iterable(each.links() for each in networks(considered))
    write_rows(
        stream,
        HEAD,
        (
            (
                each.lower.device, INTERFACE, each.lower.port, each.upper.device, INTERFACE, each.upper.port, STATUS,
                f"{each.lower.device} {each.lower.port} - {each.upper.device} {each.upper.port}",
                f"{each.network}, {each.speed_gbps:g} Gb/s",
            )
            for each in links
        ),
    )  # fmt: skip
