"""Storage systems of the catalog at the size that a need takes: units of growth, what sets their number, and what their links carry."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from rules.sizing.prices import quote_of
from rules.sizing.storage import StorageNeeds

if TYPE_CHECKING:
    from collections.abc import Collection

    from catalogs import Catalog
    from catalogs.loading import Shelf
    from catalogs.schema import Storage
    from rules.answers import Answers

GB = 1e9
GPUDIRECT = "gpudirect"
"""Word among a system's protocols for NVIDIA's direct path into GPU memory."""


@dataclass(frozen=True)
class StorageSystem:
    """A system of the catalog at the size that is bought; None is unknown. `raw` is what the drives hold before protection.

    It grows by one `unit`; `operations` are small reads per second, `client_slots` the requests that one NFS client may have under way.
    """

    product: str
    name: str
    units: int
    read: float | None
    write: float | None
    capacity: float | None
    power_w: float | None
    height_u: float | None
    binding: str
    network: str = ""
    raw: float | None = None
    unit: str = "unit"
    protection: str = ""
    operations: float | None = None
    client_slots: int | None = None
    minimum: int = 1
    because: str = ""


@dataclass(frozen=True)
class _Rated:
    """A catalog record of a shared system as plain numbers; None is unknown."""

    record: Storage
    read: float | None
    write: float | None
    capacity: float | None
    least: int
    power: float | None
    height: float | None
    raw: float | None
    operations: float | None

    @property
    def complete(self) -> bool:
        """Return whether everything that a choice rests on is known and was read at its source."""
        parts = (self.record.read, self.record.write, self.record.capacity)
        return self.record.verified and all(part is not None and part.verified for part in parts)


def offered_protocols(record: Storage) -> tuple[str, ...]:
    """Return the ways in which a system is known to be reached; empty where none was read."""
    return () if record.protocols is None else tuple(part.strip() for part in str(record.protocols.value).split(","))


@lru_cache(maxsize=8)
def _rated(shelf: Shelf[Storage]) -> tuple[_Rated, ...]:
    rows = []
    for each in shelf:
        read, write = (None if rate is None else rate.to("GB/s") * GB for rate in (each.read, each.write))
        capacity = None if each.capacity is None else each.capacity.to("GB") * GB
        least = 1 if each.minimum_units is None else int(each.minimum_units.to(""))
        power = None if each.power is None else each.power.to("W")
        height, raw = (None if each.height is None else each.height.to("U")), (None if each.raw is None else each.raw.to("GB") * GB)
        operations = None if each.read_iops is None else each.read_iops.to("")
        rows.append(_Rated(each, read, write, capacity, least, power, height, raw, operations))
    return tuple(rows)


def choose_system(
    needs: StorageNeeds,
    kind: str,
    catalog: Catalog,
    vendors: Collection[str] = (),
    working_set: float | None = None,
    answers: Answers | None = None,
) -> StorageSystem | None:
    """Return the system of `kind` that meets the needs at the least cost, or None where the catalog has none; `because` says why it.

    Only systems whose read and write rate and capacity are known are chosen unasked; where `vendors` names a maker of storage, its
    systems come first even with unknown values, which stay unknown. `working_set` replaces the capacity needed. Of those, the cheapest
    with a price is taken; without any price the one that draws least, since power is what else is paid for; without a stated power the
    one of fewest units. What states neither cannot be compared, and the reason says how many those were. Before all that come the
    systems that are known to offer most of the protocols that the answers ask for.
    """
    wanted = {vendor.lower() for vendor in vendors}
    rows = [row for row in _rated(catalog.storage) if row.record.system == kind]
    named = [row for row in rows if row.record.vendor.lower() in wanted and row.read is not None]
    sized = [_sized(row, needs, working_set) for row in named or [row for row in rows if row.complete]]
    quotes = {each.product: quote_of(each.product, catalog, answers) for each in sized}
    prices = {product: quote.expected for product, quote in quotes.items() if quote is not None}

    wanted_ways = answers.names("data.protocols") if answers is not None and answers.given("data.protocols") else ()

    def order(each: StorageSystem) -> tuple[int, bool, float, bool, float, int, str]:
        cost = prices.get(each.product, 0.0) * each.units
        unserved = sum(way not in offered_protocols(catalog.storage[each.product]) for way in wanted_ways)
        return unserved, each.product not in prices, cost, each.power_w is None, each.power_w or 0.0, each.units, each.product

    best = min(sized, key=order, default=None)
    return None if best is None else replace(best, because=_why(best, sized, prices, asked=bool(named)))


def _why(best: StorageSystem, sized: list[StorageSystem], prices: Collection[str], *, asked: bool) -> str:
    """Return by what the system stands before the others of its kind, and how many could not be compared."""
    whose = "that its maker, who was asked for, sells" if asked else "whose rates and capacity were read at their source"
    if len(sized) == 1:
        return f"it is the only one {whose}"
    if best.product in prices:
        return f"it costs least of the {sum(each.product in prices for each in sized)} with a known cost, of {len(sized)} {whose}"
    stated = sum(each.power_w is not None for each in sized)
    if not stated:
        return f"neither cost nor power is known of the {len(sized)} {whose}, and it takes the fewest units"
    rest = f"; {len(sized) - stated} more state no power and could not be compared" if stated < len(sized) else ""
    return f"no cost is known, and it draws least of the {stated} {whose} with their power{rest}"


def choose_file_server(
    home: float, catalog: Catalog, vendors: Collection[str] = (), answers: Answers | None = None
) -> StorageSystem | None:
    """Return the file server of the catalog that holds `home` bytes; None where none states what a choice rests on.

    Home directories ask for room and small files, not for the rates of the training: their capacity alone sets the number of units.
    """
    return choose_system(StorageNeeds(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, None, home, home, 0, 0.0), "nfs", catalog, vendors, answers=answers)


@lru_cache(maxsize=8)
def why_no_file_server(shelf: Shelf[Storage]) -> str:
    """Return what each file server of the catalog leaves unsaid, so that none is chosen unasked."""
    left = []
    for row in _rated(shelf):
        parts = {"read rate": row.read, "write rate": row.write, "capacity": row.capacity}
        unsaid = [name for name, value in parts.items() if value is None]
        if row.record.system == "nfs" and not row.complete:
            left.append(f"{row.record.name}: {', '.join(unsaid) or 'values not read at their source'}")
    return (
        f"no file server of the catalog states all that a choice rests on ({'; '.join(left)} unknown)" if left else "none is in the catalog"
    )


def _sized(row: _Rated, needs: StorageNeeds, working_set: float | None) -> StorageSystem:
    """Return as many units of a system as the most demanding need takes."""
    wanted = {
        "read rate": (max(needs.read, needs.reference_read), row.read),
        "write rate": (max(needs.write, needs.reference_write), row.write),
        "capacity": (needs.capacity if working_set is None else working_set, row.capacity),
        "rate of small reads": (needs.operations, row.operations),
    }
    counts = {name: math.ceil(need / offered) for name, (need, offered) in wanted.items() if offered}
    binding, units = max(counts.items(), key=lambda item: item[1])
    if units < row.least:
        binding, units = "smallest system sold", row.least
    network = str(row.record.network.value) if row.record.network else ""

    def times(value: float | None) -> float | None:
        return None if value is None else value * units

    return StorageSystem(
        product=row.record.id,
        name=row.record.name,
        units=units,
        read=times(row.read),
        write=times(row.write),
        capacity=times(row.capacity),
        power_w=times(row.power),
        height_u=times(row.height),
        binding=binding,
        network=network,
        raw=times(row.raw),
        unit=row.record.unit,
        protection=str(row.record.protection.value) if row.record.protection else "",
        operations=times(row.operations),
        client_slots=None if row.record.client_slots is None else int(row.record.client_slots.to("")),
        minimum=row.least,
    )


def through_links(system: StorageSystem | None, carried: float) -> StorageSystem | None:
    """Return the system with the rates that its links to the network carry (bytes per second); as it is where that is not known, 0."""
    if system is None or carried <= 0:
        return system
    read, write = (None if rate is None else min(rate, carried) for rate in (system.read, system.write))
    return replace(system, read=read, write=write)
