"""What storage costs where no product has a price: a range by class, per usable terabyte, marked as such; and what clouds ask for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalogs.quantities import magnitude
from rules.sizing.lookup import fact_value
from rules.sizing.prices import Quote

if TYPE_CHECKING:
    from catalogs import Catalog
    from rules.sizing.results import BomLine, StorageDesign

FLASH, RENTED = "storage-class-flash", "storage-rented"
BY_CLASS = "estimated by class"
"""What the note of a line says whose price is a class's, not a product's."""
GB_PER_TB = 1000.0
HELD_BY_NAME = {"parallel-file-system": "capacity_needed", "nfs-file-server": "capacity_needed", "home-file-server": "home_capacity"}
"""Lines of the bill that are no product, and what they hold of the storage that is needed; each is flash."""


def class_quote(line: BomLine, storage: StorageDesign | None, catalog: Catalog) -> Quote | None:
    """Return the price of one unit of a storage line by its class and usable capacity; None where either is unknown, or it is small.

    Flash from 100 TB on: every system of the catalog is flash. The range is wide, and no product is chosen by it.
    """
    each = usable_tb(line, storage, catalog)
    if each is None or each * line.quantity < fact_value(catalog.facts, FLASH, "from").to("TB"):
        return None
    price = fact_value(catalog.facts, FLASH, "per_tb")
    low, _, high = price.ends("USD")
    note = f"{BY_CLASS}: flash, {low:,.0f} to {high:,.0f} USD per usable terabyte; no price of the product is published"
    return Quote(low * each, high * each, price.date or "", ", ".join(price.sources), "low", note=note)


def usable_tb(line: BomLine, storage: StorageDesign | None, catalog: Catalog) -> float | None:
    """Return the usable terabytes of one unit of a storage line, None where they are not known."""
    record = catalog.storage.get(line.item)
    if record is not None:
        return None if record.capacity is None else record.capacity.to("TB")
    held = HELD_BY_NAME.get(line.item)
    return None if held is None or storage is None else magnitude(getattr(storage, held), "TB")


def rented_storage(kind: str, terabytes: float, catalog: Catalog) -> tuple[float, float]:
    """Return what a cloud asks for so many terabytes in a month, low and high in USD; `kind` is object_store, or any other."""
    low, _, high = fact_value(catalog.facts, RENTED, "object_store" if kind == "object_store" else "parallel_file_system").ends("")
    return low * GB_PER_TB * terabytes, high * GB_PER_TB * terabytes
