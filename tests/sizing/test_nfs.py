"""Limits of NFS clients against what vendors of servers print, and figured by hand."""

from __future__ import annotations

import pytest

from catalogs import load_catalog
from rules.sizing.nfs import (
    MOST_CONNECTIONS,
    connections_needed,
    rate_of_connection,
    requests_under_way,
    slots_of_connection,
    small_file_bytes,
)


@pytest.fixture(scope="module")
def catalog():
    return load_catalog()


@pytest.mark.parametrize(("per_second", "latency_s", "under_way"), [(110_000, 0.5e-3, 55), (155_000, 1e-3, 155)])
def test_requests_under_way_as_azure_works_them_out(per_second, latency_s, under_way):
    """Azure NetApp Files, "Linux concurrency best practices": 110,000 a second at 0.5 ms need 55, 155,000 at 1 ms need 155."""
    assert requests_under_way(per_second, latency_s) == pytest.approx(under_way)


def test_a_connection_has_the_slots_that_servers_grant(catalog):
    """Azure and Google Cloud NetApp Volumes: up to 128 execution contexts per connection; NetApp asks for 128 in the client too."""
    assert slots_of_connection(catalog) == 128


def test_a_connection_in_small_files_and_in_large_blocks(catalog):
    """128 requests of 4 KiB in 1 ms are 524 MB/s; of 1 MiB they are 134 GB/s, more than any port."""
    assert small_file_bytes(catalog) == 4096
    assert rate_of_connection(4096, catalog) == pytest.approx(524.288e6)
    assert rate_of_connection(1024**2, catalog) == pytest.approx(134.2e9, rel=1e-3)


@pytest.mark.parametrize(
    ("clients", "connections"),
    [(1, None), (2, 12), (4, 6), (8, 3), (24, 1), (63, 1)],
)
def test_connections_of_each_client_that_fill_a_port_of_100_gbps_with_small_files(catalog, clients, connections):
    """12.5 GB/s in requests of 4 KiB are 3.05 million a second, 3,052 under way: 23.8 connections of 128 in all, shared by the clients.

    One client would need 24, and a mount has 16 at most (nfs(5)).
    """
    assert MOST_CONNECTIONS == 16
    assert connections_needed(12.5e9, 4096, clients, catalog) == connections
