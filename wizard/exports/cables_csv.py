"""The cable schedule as CSV: one row per link with both ends, medium, length, optics, label and bundle; written as it goes."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING, TextIO

from rules.sizing.fabric.schedule import schedule_of
from wizard.exports import NothingToExport
from wizard.exports.parts import chosen_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from catalogs import Catalog
    from rules.advisor import Considered
    from rules.sizing.fabric.schedule import Row

HEAD = (
    "label", "bundle", "network", "tier", "plane", "speed (Gb/s)", "breakout",
    "a device", "a port", "a rack", "a unit", "a optic", "b device", "b port", "b rack", "b unit", "b optic",
    "medium", "cable", "run (m)", "length (m)", "tray path",
)  # fmt: skip


def write(considered: Considered, stream: TextIO) -> None:
    """Write the rows of all networks; raises NothingToExport for a single node."""
    rows = schedule_of(chosen_of(considered), considered.context)
    first = next(rows, None)
    if first is None:
        raise NothingToExport("there is no network: a single node needs no cables")
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(HEAD)
    named = Names(considered.context.catalog)
    writer.writerow(_cells(first, named))
    writer.writerows(_all(rows, named))


class Names(dict[str, str]):
    """What cables and modules are called, by product id; words for what the catalog has not stay as they are."""

    def __init__(self, catalog: Catalog) -> None:
        super().__init__()
        self._cables = catalog.cables

    def __missing__(self, item: str) -> str:
        record = self._cables.get(item)
        self[item] = name = record.name if record is not None else item
        return name


def _all(rows: Iterator[Row], named: Names) -> Iterator[tuple[object, ...]]:
    for row in rows:
        yield _cells(row, named)


def _cells(row: Row, named: Names) -> tuple[object, ...]:
    link, a, b = row.link, row.lower, row.upper
    return (
        row.label, row.bundle, link.network, link.tier, link.plane, link.speed_gbps, link.breakout,
        link.lower.device, link.lower.port, a.rack, a.unit or "", named[row.lower_optic],
        link.upper.device, link.upper.port, b.rack, b.unit or "", named[row.upper_optic],
        row.medium, named[row.cable], f"{row.run_m:.1f}", row.length_m, row.path,
    )  # fmt: skip
