"""Published fabrics: every printed count, recomputed from the inputs."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from catalogs import load_catalog
from rules.sizing.fabric import Cages, FabricInput, count_fabric
from rules.sizing.fabric.counts import two_tier_nodes

ROWS = tomllib.loads((Path(__file__).parent / "fabrics.toml").read_text())["fabric"]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
def test_switches_and_cables_are_those_that_the_vendor_prints(row):
    counts = count_fabric(FabricInput.of(row["input"]))
    assert (counts.leaf, counts.spine, counts.core) == (row["leaf"], row["spine"], row["core"])
    if row["printed_as"] == "links":
        counted = counts.links
    else:
        counted = {"node_leaf": counts.cages["leaf_node"], "leaf_spine": counts.cages["leaf_spine"]}
    for tier in ("node_leaf", "leaf_spine", "spine_core"):
        if tier in row:
            assert counted[tier] == row[tier], tier
    assert counts.inter_switch_links == row.get("inter_switch_links", 0)
    if "node_modules" in row:
        assert counts.modules["node"] == row["node_modules"]
        assert counts.modules["leaf_spine"] + counts.modules["spine_leaf"] == row["leaf_spine_modules"]


def test_the_table_covers_what_vendors_publish():
    """One unit to three tiers, managers, two planes, a pair; and the one row that departs from the rule says why."""
    assert len(ROWS) >= 22
    assert [row["id"] for row in ROWS if "departure" in row] == ["dgx-superpod-a100-1su"]
    assert {row["input"]["layout"] for row in ROWS} == {"rail", "pair"}
    assert all(row["source"].startswith("https://") for row in ROWS)


def test_printed_gpu_count_of_the_largest_xdr_table_row_is_wrong():
    """The B300 XDR table prints 9,216 GPUs for 1,296 nodes of eight; its own cable column says 10,368."""
    row = next(row for row in ROWS if row["id"] == "dgx-superpod-b300-xdr-18su")
    assert count_fabric(FabricInput.of(row["input"])).links["node_leaf"] == 1296 * 8 == 10_368
    assert "9216" in row["printed_error"]


def test_transceivers_of_four_h100_units():
    """RA-11333-001 V11, appendix A: 1,536 twin-port transceivers in 48 switches, 508 in 127 nodes (two adapters per cage)."""
    spec = FabricInput.of({"nodes": 127, "nics_per_node": 8, "switch_ports": 64, "port_speed_gbps": 400, "manager_ports": 4})
    modules = count_fabric(spec, Cages(leaf_down=2, uplink=2, nics_per_node_cage=2)).modules
    assert sum(number for side, number in modules.items() if side != "node") == 1536
    assert modules["node"] == 508


def test_leaf_modules_of_the_rubin_table_are_a_digit_swap():
    """The table prints 2,034 twin-port modules for 4,608 links from leaves to nodes; two links each make 2,304."""
    row = next(row for row in ROWS if row["id"] == "dgx-superpod-rubin-nvl8-8su")
    assert count_fabric(FabricInput.of(row["input"])).modules["leaf_node"] == 2304


@pytest.mark.parametrize(
    ("what", "table", "leaf", "spine", "core"),
    [
        # ApeTops, 512 H100 nodes on 64-port NDR switches
        ("512 nodes", {"nodes": 512, "nics_per_node": 8, "switch_ports": 64, "port_speed_gbps": 400}, 128, 128, 64),
        # Kedios, 32 B300 nodes on Q3400: the whole unit is built, ports stay empty
        ("32 nodes XDR", {"nodes": 32, "nics_per_node": 8, "switch_ports": 144, "port_speed_gbps": 800}, 8, 4, 0),
        # Asterfusion, 64 nodes of four GPUs: one leaf per rail
        ("64 × 4 GPUs", {"nodes": 64, "nics_per_node": 4, "switch_ports": 128, "port_speed_gbps": 400}, 4, 2, 0),
        # OpenSM's ftree routing accepts 96/96/64 for 3,072 adapters
        ("12 units", {"nodes": 384, "nics_per_node": 8, "switch_ports": 64, "port_speed_gbps": 400}, 96, 96, 64),
        # an independent rail-optimized check value: 2,048 GPUs need 64 leaves and 32 spines
        ("2,048 GPUs", {"nodes": 256, "nics_per_node": 8, "switch_ports": 64, "port_speed_gbps": 400}, 64, 32, 0),
        # Alibaba HPN 7.0: 15 segments of 1,024 GPUs, two planes of 2 × 200G adapters, 128 down and 60 × 400G up per leaf [SIGCOMM 2024]
        (
            "a pod of 15,360 GPUs",
            {"nodes": 1920, "nics_per_node": 8, "nic_speed_gbps": 400, "switch_ports": 256, "port_speed_gbps": 200}
            | {"uplink_speed_gbps": 400, "planes": 2, "down_to_up": 16 / 15},
            240, 120, 0,
        ),
        # a director of 648 EDR ports is 36 leaf and 18 spine modules of 36-port chips [Mellanox CS7500]
        ("648 ports", {"nodes": 648, "nics_per_node": 1, "switch_ports": 36, "port_speed_gbps": 100, "layout": "tree"}, 36, 18, 0),
        # OpenAI's multi-plane paper: 512 × 100G switches carry 131,072 hosts in two tiers per plane (512 leaves, 256 spines)
        (
            "8 planes",
            {"nodes": 131_072, "nics_per_node": 1, "switch_ports": 512, "port_speed_gbps": 100, "planes": 8},
            8 * 512,
            8 * 256,
            0,
        ),
    ],
)  # fmt: skip
def test_fabrics_of_others(what, table, leaf, spine, core):
    counts = count_fabric(FabricInput.of(table))
    assert (counts.leaf, counts.spine, counts.core) == (leaf, spine, core), what


def test_rules_of_thumb_of_the_catalog_agree_with_the_counts():
    """The catalog's thresholds print examples of the counting rules; each is what the formulas give."""
    thresholds = load_catalog().thresholds
    for radix, endpoints in ((40, "radix_40"), (64, "radix_64"), (144, "radix_144")):
        spec = FabricInput.of({"nodes": 1, "nics_per_node": 1, "switch_ports": radix, "port_speed_gbps": 400, "layout": "tree"})
        assert two_tier_nodes(spec) == thresholds["fab-two-tier-limit"].values[endpoints]
    xdr = {"nics_per_node": 8, "switch_ports": 144, "port_speed_gbps": 800}
    for nodes in (288, 576):
        counts = count_fabric(FabricInput.of({**xdr, "nodes": nodes}))
        assert counts.spine == thresholds["fab-spine-even"].values[f"nodes_{nodes}_radix_144"]
    three = count_fabric(FabricInput.of({"nodes": 512, "nics_per_node": 8, "switch_ports": 64, "port_speed_gbps": 400}))
    example = thresholds["fab-three-tier"].values
    assert (three.leaf, three.spine, three.core) == tuple(example[f"example_{tier}"] for tier in ("leaf", "spine", "core"))
    assert three.plane.leaf_down == thresholds["fab-leaf-count"].value
