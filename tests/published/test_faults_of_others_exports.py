"""Faults of other tools in what they export, each checked against what ours writes."""

from __future__ import annotations

import csv
import io
import re
import tracemalloc
from collections import Counter

import pytest

from tests.exports.tools import considered, exported
from wizard.exports import FORMATS, write

LARGE = ("nvidia-dgx-b200", 512, "infiniband", "llama-3.1-405b")
MOST_BYTES = 500e6
"""What exporting 512 nodes may take in memory; another tool took 1 GB, and 107 s."""
STREAMED = ("cables-csv", "addresses-csv", "netbox-cables", "containerlab", "dot")


class Nowhere(io.TextIOBase):
    """A stream that counts lines and keeps none."""

    lines = 0

    def write(self, text: str) -> int:
        self.lines += text.count("\n")
        return len(text)


@pytest.mark.parametrize("name", [each.id for each in FORMATS])
def test_512_nodes_are_exported_in_little_memory(name):
    """AutoLink took 107 s and 1 GB for 512 nodes; what is written link by link is never held as a whole."""
    design = considered(*LARGE)
    stream = Nowhere()
    tracemalloc.start()
    try:
        write(name, design, stream)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert stream.lines > 0
    assert peak < (MOST_BYTES / 10 if name in STREAMED else MOST_BYTES)


@pytest.mark.parametrize(
    "design", [LARGE, ("nvidia-dgx-b300", 64, "ethernet"), ("nvidia-gb200-nvl72", 72, "any")], ids=lambda each: each[0]
)
def test_no_port_is_cabled_twice_and_no_cable_has_one_end(design):
    """Duplicate ends and one-ended cables [DIET 226, AIDC-Studio]: every end is named once, over all networks."""
    rows = list(csv.DictReader(io.StringIO(exported("netbox-cables", *design))))
    ends = Counter((row[f"side_{side}_device"], row[f"side_{side}_name"]) for row in rows for side in "ab")
    assert set(ends.values()) == {1}
    assert all(device and port for device, port in ends)


def test_names_go_on_past_26():
    """Labels past Z, and more than 26 pairs [NetDesign AI 41]: racks and devices are numbered, and sort as they count."""
    rows = list(csv.DictReader(io.StringIO(exported("netbox-devices", *LARGE))))
    leaves = [row["name"] for row in rows if re.fullmatch(r"compute-leaf-\d+", row["name"])]
    assert len(leaves) == len(set(leaves)) == 128
    assert leaves == sorted(leaves)
    assert len({row["rack"] for row in rows}) > 26


def test_a_zero_price_is_never_exported():
    """A missing price was a total of 0 [AutoLink]: it is an empty cell."""
    rows = list(csv.DictReader(io.StringIO(exported("bom-csv", *LARGE))))
    unknown = [row for row in rows if row["unit price low (USD)"] == ""]
    assert unknown
    assert all(row["line low (USD)"] == "" for row in unknown)
    assert not any(row["unit price low (USD)"] in ("0", "0.0") for row in rows)


def test_exports_are_the_same_every_time():
    """Identifiers by millisecond collided and differed from run to run [AutoLink 3.1]."""
    for name in ("cables-csv", "netbox-types", "infiniband", "slurm-yaml"):
        again = io.StringIO()
        write(name, considered(*LARGE), again)
        assert again.getvalue() == exported(name, *LARGE)
