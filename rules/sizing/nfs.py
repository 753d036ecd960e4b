"""What bounds an NFS client: requests under way on a connection, and connections to one server."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from rules.sizing.lookup import threshold_number

if TYPE_CHECKING:
    from catalogs import Catalog

LATENCY_S = 1e-3
"""Seconds that a small request takes on a flash server under load (Azure NetApp Files, Linux concurrency: 155,000 a second at 1 ms)."""
MOST_CONNECTIONS = 16
"""Connections of one mount to one server at most: the mount option nconnect (nfs(5), Linux)."""
KIB = 1024.0


def requests_under_way(per_second: float, latency_s: float) -> float:
    """Return how many requests are under way at once, by Little's law: requests per second × seconds of each."""
    return per_second * latency_s


def rate_of_connection(request_bytes: float, catalog: Catalog, latency_s: float = LATENCY_S) -> float:
    """Return the bytes per second that one connection carries at most: its slots × bytes of a request / seconds of each."""
    return slots_of_connection(catalog) * request_bytes / latency_s


def slots_of_connection(catalog: Catalog) -> float:
    """Return the requests that a server takes under way on one connection (threshold `sto-nfs-slots`)."""
    return threshold_number(catalog.thresholds, "sto-nfs-slots", "slots")


def small_file_bytes(catalog: Catalog) -> float:
    """Return the bytes of a request for small files, the smallest that is published (threshold `sto-small-files`)."""
    return threshold_number(catalog.thresholds, "sto-small-files", "small_block_low_kib") * KIB


def connections_needed(rate: float, request_bytes: float, clients: int, catalog: Catalog) -> int | None:
    """Return the connections of each of `clients` that draw `rate` bytes per second together; None beyond what a mount has."""
    each = math.ceil(rate / clients / rate_of_connection(request_bytes, catalog))
    return max(1, each) if each <= MOST_CONNECTIONS else None
