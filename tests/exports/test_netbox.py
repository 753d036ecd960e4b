"""Device types before NetBox's schema; devices and cables before the columns of its import forms, and before each other."""

from __future__ import annotations

import csv
import io
from collections import Counter

import pytest
import yaml

from tests.exports.tools import exported, problems

DESIGNS = [("nvidia-dgx-h100", 62, "infiniband"), ("nvidia-dgx-b300", 16, "ethernet"), ("nvidia-gb200-nvl72", 72, "any"),
           ("supermicro-as-8125gs-tnmr2-mi300x", 8, "ethernet")]  # fmt: skip
CABLE_COLUMNS = {
    "side_a_device", "side_a_type", "side_a_name", "side_b_device", "side_b_type", "side_b_name", "type", "status", "tenant", "label",
    "color", "length", "length_unit", "description", "comments", "tags",
}  # fmt: skip
"""Columns of the import form for cables [netbox-community/netbox, dcim/forms/bulk_import.py]."""
DEVICE_COLUMNS = {
    "name", "role", "tenant", "manufacturer", "device_type", "platform", "serial", "asset_tag", "status", "site", "location", "rack",
    "position", "face", "parent", "device_bay", "airflow", "virtual_chassis", "cluster", "description", "comments", "tags",
}  # fmt: skip
CABLE_TYPES = {"cat6a", "dac-passive", "dac-active", "aoc", "mmf-om4", "smf-os2"}
RACK_COLUMNS = {
    "site",
    "name",
    "status",
    "u_height",
    "description",
    "location",
    "facility_id",
    "tenant",
    "role",
    "serial",
    "asset_tag",
    "type",
    "width",
}
STATUSES = {"connected", "planned", "decommissioning"}


def types_of(*design: object) -> list[dict]:
    return list(yaml.safe_load_all(exported("netbox-types", *design)))


def rows_of(name: str, *design: object) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(exported(name, *design))))


@pytest.mark.parametrize("design", DESIGNS, ids=lambda design: f"{design[0]}-{design[2]}")
class TestNetbox:
    def test_types_keep_the_schema(self, design):
        found = types_of(*design)
        assert [problem for each in found for problem in problems("devicetype", each)] == []
        assert max(Counter(each["slug"] for each in found).values()) == 1
        assert max(Counter((each["manufacturer"], each["model"]) for each in found).values()) == 1
        for each in found:
            names = [interface["name"] for interface in each.get("interfaces", ())]
            assert len(names) == len(set(names))

    def test_devices_have_types_and_are_named_once(self, design):
        rows, models = rows_of("netbox-devices", *design), {(each["manufacturer"], each["model"]) for each in types_of(*design)}
        assert set(rows[0]) <= DEVICE_COLUMNS
        assert max(Counter(row["name"] for row in rows).values()) == 1
        assert {(row["manufacturer"], row["device_type"]) for row in rows} == models

    def test_cables_end_in_interfaces_of_their_devices_each_used_once(self, design):
        interfaces = {
            (each["manufacturer"], each["model"]): {one["name"] for one in each.get("interfaces", ())} for each in types_of(*design)
        }
        device = {row["name"]: (row["manufacturer"], row["device_type"]) for row in rows_of("netbox-devices", *design)}
        rows = rows_of("netbox-cables", *design)
        assert set(rows[0]) <= CABLE_COLUMNS
        ends = [(row[f"side_{side}_device"], row[f"side_{side}_name"]) for row in rows for side in "ab"]
        assert max(Counter(ends).values()) == 1
        assert all(port in interfaces[device[name]] for name, port in ends)
        assert {row["status"] for row in rows} <= STATUSES
        assert max(len(row["label"]) for row in rows) <= 100
        assert {row["type"] for row in rows} <= CABLE_TYPES
        assert all(float(row["length"]) > 0 for row in rows)

    def test_devices_stand_in_racks_that_exist_and_in_units_that_are_free(self, design):
        racks = {row["name"]: int(row["u_height"]) for row in rows_of("netbox-racks", *design)}
        assert set(rows_of("netbox-racks", *design)[0]) <= RACK_COLUMNS
        heights = {(each["manufacturer"], each["model"]): each["u_height"] for each in types_of(*design)}
        taken: Counter[tuple[str, int]] = Counter()
        for row in rows_of("netbox-devices", *design):
            assert row["rack"] in racks
            if row["position"]:
                first, height = int(row["position"]), heights[row["manufacturer"], row["device_type"]]
                assert first + height - 1 <= racks[row["rack"]], row
                taken.update((row["rack"], unit) for unit in range(first, first + max(1, int(height))))
        assert [place for place, times in taken.items() if times > 1] == []


def test_a_switch_of_the_library_has_its_size_and_its_cages():
    """QM9700 in NetBox's library: 1 U, ports of type 400gbase-x-osfp."""
    (switch,) = [each for each in types_of(*DESIGNS[0]) if each["slug"] == "nvidia-qm9700-compute"]
    assert switch["u_height"] == 1
    fabric = [each for each in switch["interfaces"] if not each.get("mgmt_only")]
    assert {each["type"] for each in fabric} == {"400gbase-x-osfp"}
    assert len(fabric) == 64
