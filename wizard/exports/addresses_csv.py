"""The address plan as CSV: routed links, loopbacks and AS numbers, and an out-of-band address for every managed port."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING, TextIO

from rules.sizing.fabric.address_parts import AddressesExhausted
from rules.sizing.fabric.addresses import address_plan
from wizard.exports import NothingToExport
from wizard.exports.parts import chosen_of

if TYPE_CHECKING:
    from rules.advisor import Considered

HEAD = (
    "record", "network", "plane", "device", "port", "address", "asn", "peer device", "peer port", "peer address", "peer asn", "note",
)  # fmt: skip


def write(considered: Considered, stream: TextIO) -> None:
    """Write one row per link, loopback and managed port; raises NothingToExport for a single node, or where addresses run out."""
    entries = address_plan(chosen_of(considered), considered.context)
    writer = csv.writer(stream, lineterminator="\n")
    try:
        first = next(entries, None)
        if first is None:
            raise NothingToExport("there is no network: a single node needs no address plan")
        writer.writerow(HEAD)
        writer.writerow([value or "" for value in first])
        writer.writerows([value or "" for value in entry] for entry in entries)
    except AddressesExhausted as error:
        raise NothingToExport(f"{error}; divide the cluster into several address plans") from None
