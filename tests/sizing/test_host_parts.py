"""Memory modules and lanes of a node's host, figured by hand from what processors print."""

from __future__ import annotations

import pytest

from catalogs import load_catalog
from rules.answers import Answers
from rules.sizing.host_parts import copy_rate, drives_of, lanes_of, loader_buffers, modules_for, most_memory_gb, per_channel_installed
from rules.sizing.workload import describe_workload

GB, TB = 1e9, 1e12


@pytest.fixture(scope="module")
def catalog():
    return load_catalog()


def test_every_channel_is_filled_alike(catalog):
    """Two processors with 8 channels of DDR5-4800: 16 x 4,800 MT/s x 8 bytes are 614.4 GB/s; 2 TB take 16 modules of 128 GB."""
    found = modules_for(2 * TB, catalog.nodes["nvidia-dgx-h200"], catalog)
    assert (found.count, found.size_gb, found.per_channel) == (16, 128, 1)
    assert found.bandwidth == pytest.approx(614.4 * GB)
    assert found.total_gb == 2048


def test_a_dgx_h100_has_two_slots_per_channel(catalog):
    """32 slots for 16 channels, says the user guide."""
    assert per_channel_installed(catalog.nodes["nvidia-dgx-h100"], catalog) == 2.0


@pytest.mark.parametrize(("need_gb", "count", "size_gb"), [(640, 16, 48), (700, 16, 48), (800, 16, 64), (1537, 16, 128), (5000, 32, 256)])
def test_the_smallest_modules_that_hold_it(catalog, need_gb, count, size_gb):
    """Sixteen channels: 16 x 48 are 768, 16 x 64 are 1,024, 16 x 96 are 1,536, 16 x 256 are 4,096, 32 x 256 are 8,192 GB."""
    found = modules_for(need_gb * GB, catalog.nodes["nvidia-dgx-h200"], catalog)
    assert (found.count, found.size_gb) == (count, size_gb)


def test_what_no_modules_hold_is_not_filled_with_too_few(catalog):
    """27 bytes for each of 405 billion parameters are 10.9 TB on one server; two of 256 GB in each of sixteen channels are 8.2."""
    node = catalog.nodes["nvidia-dgx-h200"]
    assert modules_for(10.9 * TB, node, catalog) is None
    assert most_memory_gb(node, catalog) == 8192


def test_two_modules_per_channel_are_slower_where_it_is_printed(catalog):
    """Xeon 6767P: DDR5-6400 with one module per channel, 5200 with two: 819.2 and 665.6 GB/s of sixteen channels."""
    found = modules_for(8 * TB, catalog.nodes["dell-poweredge-xe9780-b200"], catalog)
    assert found.per_channel == 2
    assert found.bandwidth == pytest.approx(819.2 * GB)
    assert found.reached == pytest.approx(665.6 * GB)


def test_lanes_of_a_dgx_and_of_a_server_without_switches(catalog):
    """Eight GPUs, ten adapters and eight drives want 16 x 18 + 4 x 8 = 320 lanes of 160; behind switches GPUs and adapters take 128."""
    dgx = lanes_of(catalog.nodes["nvidia-dgx-h200"], 8, catalog)
    assert (dgx.offered, dgx.wanted, dgx.left) == (160, 320, 32)
    dell = lanes_of(catalog.nodes["dell-poweredge-xe7745-h200-nvl"], 8, catalog)
    assert (dell.offered, dell.wanted, dell.left) == (160, 128, 32)
    assert drives_of(catalog.nodes["nvidia-dgx-h200"]) == 8


def test_pinned_memory_of_loading_and_of_a_checkpoint(catalog):
    """Eight GPUs with four processes of two batches of 256 images of 602,112 bytes: 9.9 GB; eight GPUs copy at 25 GB/s each."""
    workload = describe_workload(Answers.of({"workload.kind": "vision", "model.preset": "resnet50"}), catalog)
    assert loader_buffers(workload, 8, 4, 256) == pytest.approx(8 * 4 * 2 * 256 * 602_112)
    assert copy_rate(8) == 200 * GB
