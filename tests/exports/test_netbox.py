"""Device types before NetBox's schema; devices and cables before the columns of its import forms, and before each other."""

from __future__ import annotations

import csv
import io
import json
import tomllib
from collections import Counter
from pathlib import Path

import pytest
import yaml

from catalogs import load_catalog
from tests.exports.tools import SCHEMAS, exported, problems
from wizard.exports.netbox import INTERFACES, OTHER_CAGES, _named, _node_type, slug_of

DESIGNS = [("nvidia-dgx-h100", 62, "infiniband"), ("nvidia-dgx-b300", 16, "ethernet"), ("nvidia-gb200-nvl72", 72, "any"),
           ("supermicro-as-8125gs-tnmr2-mi300x", 8, "ethernet")]  # fmt: skip
NETBOX = tomllib.loads((Path(__file__).parent / "upstream" / "netbox.toml").read_text("utf-8"))
COLUMNS, REQUIRED, VALUES = NETBOX["columns"], NETBOX["required"], NETBOX["values"]
LARGEST_HEIGHT = 100
"""Rack units of a rack at most [NetBox, dcim/constants.py]."""


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
            assert {interface["type"] for interface in each.get("interfaces", ())} <= set(VALUES["interface_type"])

    def test_devices_have_types_and_are_named_once(self, design):
        rows, models = rows_of("netbox-devices", *design), {(each["manufacturer"], each["model"]) for each in types_of(*design)}
        assert set(REQUIRED["devices"]) <= set(rows[0]) <= set(COLUMNS["devices"])
        assert {row["status"] for row in rows} <= set(VALUES["device_status"])
        assert {row["face"] for row in rows} <= {"", *VALUES["face"]}
        assert all(bool(row["face"]) is bool(row["position"]) for row in rows), "a position has a face"
        assert max(Counter(row["name"] for row in rows).values()) == 1
        assert {(row["manufacturer"], row["device_type"]) for row in rows} == models

    def test_cables_end_in_interfaces_of_their_devices_each_used_once(self, design):
        interfaces = {
            (each["manufacturer"], each["model"]): {one["name"] for one in each.get("interfaces", ())} for each in types_of(*design)
        }
        device = {row["name"]: (row["manufacturer"], row["device_type"]) for row in rows_of("netbox-devices", *design)}
        rows = rows_of("netbox-cables", *design)
        assert set(REQUIRED["cables"]) <= set(rows[0]) <= set(COLUMNS["cables"])
        ends = [(row[f"side_{side}_device"], row[f"side_{side}_name"]) for row in rows for side in "ab"]
        assert max(Counter(ends).values()) == 1
        assert all(port in interfaces[device[name]] for name, port in ends)
        assert not any("," in text for end in ends for text in end), "NetBox takes a comma for a second end"
        assert {row["status"] for row in rows} <= set(VALUES["cable_status"])
        assert max(len(row["label"]) for row in rows) <= 100
        assert {row["type"] for row in rows} <= set(VALUES["cable_type"])
        assert {row["length_unit"] for row in rows} <= set(VALUES["length_unit"])
        assert all(float(row["length"]) > 0 for row in rows)

    def test_devices_stand_in_racks_that_exist_and_in_units_that_are_free(self, design):
        rows = rows_of("netbox-racks", *design)
        racks = {row["name"]: int(row["u_height"]) for row in rows}
        assert set(REQUIRED["racks"]) <= set(rows[0]) <= set(COLUMNS["racks"]), "a rack of no rack type needs width and height"
        assert {int(row["width"]) for row in rows} <= set(VALUES["rack_width"])
        assert {row["status"] for row in rows} <= set(VALUES["rack_status"])
        assert max(racks.values()) <= LARGEST_HEIGHT
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


def test_ports_of_a_node_are_the_cages_of_its_adapters():
    """DGX B200: eight ConnectX-7 behind OSFP cages; BlueField-3 takes QSFP112 modules only [NVIDIA BlueField-3 user manual]."""
    (node,) = [each for each in types_of("nvidia-dgx-b200", 16, "infiniband") if each["slug"] == "nvidia-dgx-b200"]
    kinds = {each["name"]: each["type"] for each in node["interfaces"]}
    assert {kind for name, kind in kinds.items() if name.startswith("nic")} == {"400gbase-x-osfp"}
    assert {kind for name, kind in kinds.items() if name.startswith("front")} == {"400gbase-x-qsfp112"}


def test_every_product_of_the_catalog_makes_a_type_that_keeps_the_schema():
    """Also what no design above uses; the library's own test wants a slug to begin with its maker's."""
    catalog = load_catalog()
    switches = [
        _named(each, each.name, each.id, each.height and each.height.to("U"), each.weight and each.weight.to("kg"))
        for each in catalog.switches
    ]
    made = [*switches, *map(_node_type, catalog.nodes)]
    for each in made:
        table = {
            "manufacturer": each.manufacturer, "model": each.model, "slug": each.slug, "u_height": each.units, "is_full_depth": True,
            **({"weight": each.weight_kg, "weight_unit": "kg"} if each.weight_kg is not None else {}),
        }  # fmt: skip
        assert problems("devicetype", table) == [], each.slug
        assert each.slug.startswith(slug_of(each.manufacturer)), each.slug
    assert len({each.slug for each in made}) == len(made)


def test_the_schema_takes_no_type_of_interface_that_netbox_does_not():
    schema = json.loads((SCHEMAS / "devicetype.schema.json").read_text("utf-8"))
    kinds = set(schema["properties"]["interfaces"]["items"]["properties"]["type"]["enum"])
    assert kinds == {*INTERFACES.values(), *OTHER_CAGES.values(), "other"}
    assert kinds <= set(VALUES["interface_type"])
