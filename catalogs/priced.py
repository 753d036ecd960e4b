"""What a price can be of: products, lines of a bill that are no product, parts by their description, and services."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

PRODUCT_SHELVES = ("gpus", "nodes", "cpus", "nics", "switches", "cables", "storage", "racks", "pdus", "cooling")
OPEN_PRODUCTS = (
    "nfs-file-server", "home-file-server", "parallel-file-system", "object-store", "management-server", "nvidia-ufm-appliance",
    "coolant-manifold", "leak-detection", "facility-water-piping", "dielectric-fluid", "immersion-conversion",
)  # fmt: skip
"""Lines of a bill that are no product of the catalog: a price of them is named like this."""
_SERVICES = re.compile(r"colocation|mpo-trunk-[a-z0-9\-]+")
_DESCRIBED = re.compile(r"(?=.*\b(cable|fibre|module)\b)[a-z0-9]+(-[a-z0-9]+){4,}")
"""A part of a network that the catalog describes and does not name, as a bill calls it: copper-cable-100-gb-s-1-link-…"""


def is_open(item: str) -> bool:
    """Return whether an item is a line of a bill without a product: by its name, or described in words as parts of networks are."""
    return item in OPEN_PRODUCTS or _DESCRIBED.fullmatch(item) is not None


def can_be_priced(item: str, ids: Collection[str]) -> bool:
    """Return whether a price can be of `item`: one of the products `ids`, a bundle that holds one, an open line, or a service.

    nvidia-dgx-h100 is part of nvidia-dgx-h100-support, not of nvidia-dgx-h1000.
    """
    return is_open(item) or _SERVICES.fullmatch(item) is not None or any(f"-{id_}-" in f"-{item}-" for id_ in ids)
