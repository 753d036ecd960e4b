"""Servers that stand in where a table of runs names a GPU only."""

from __future__ import annotations

import pytest

from catalogs import load_catalog
from wizard.imports.run_machines import Machines


@pytest.mark.parametrize(
    ("gpu", "gbps"),
    [("H800", 400), ("H100-SXM-80GB", 400), ("V100-SXM-32GB", 100), ("A100-SXM-80GB", 200)],
)
def test_a_server_has_the_adapters_of_its_slots(gpu, gbps):
    """400G beside each H800, whose NVLink alone is slower than that of an H100 [arXiv:2412.19437 §3.1]; DGX A100 200G, DGX-1 100G."""
    found = Machines(load_catalog()).get(gpu)
    assert found is not None
    assert found.nic_bytes_per_s * 8 / 1e9 == pytest.approx(gbps)
