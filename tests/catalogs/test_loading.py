"""Loading: messages that name file, key, expectation and next step; extra folders; the content hash; speed is in benchmarks."""

import shutil

import pytest

from catalogs import load_catalog
from catalogs.loading import OWN_FOLDER, Catalog, CatalogError

NIC = """id = "{id}"
name = "A card {id}"
vendor = "somebody"
protocols = ["ethernet"]
speed = {{ value = "{speed}", source = "nv-cx7-ocp" }}
"""


def folder_with(tmp_path, files):
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path


def message(tmp_path, text, shelf="nics", name="nics/card.toml"):
    folder_with(tmp_path, {name: text})
    with pytest.raises(CatalogError) as caught:
        getattr(Catalog((tmp_path,)), shelf)
    return str(caught.value)


def test_an_unknown_key_is_named_with_the_nearest_key(tmp_path):
    said = message(tmp_path, NIC.format(id="card", speed="400 Gb/s") + 'conector = "OSFP"\n')
    assert "card.toml" in said
    assert "conector: unknown key; did you mean 'connector'?" in said


def test_an_unknown_key_inside_a_table_is_named_with_its_path(tmp_path):
    said = message(tmp_path, NIC.format(id="card", speed="400 Gb/s") + 'power = { value = "9 W", source = "x", knd = "measured" }\n')
    assert "power.knd: unknown key" in said
    assert "'kind'" in said


def test_broken_toml_says_where(tmp_path):
    said = message(tmp_path, 'id = "card\nname = 1\n')
    assert "card.toml" in said
    assert "not valid TOML" in said
    assert "line 1" in said


def test_a_wrong_unit_names_the_expected_one(tmp_path):
    said = message(tmp_path, NIC.format(id="card", speed="400 W"))
    assert "speed" in said
    assert "'W' is not a unit of the kind of 'Gb/s'" in said


def test_a_bare_number_is_not_a_quantity(tmp_path):
    said = message(tmp_path, NIC.format(id="card", speed="400 Gb/s").replace('"400 Gb/s"', "400"))
    assert "expected a quantity with a unit" in said


def test_a_missing_value_is_named(tmp_path):
    said = message(tmp_path, 'id = "card"\nname = "x"\nvendor = "v"\nprotocols = ["ethernet"]\n')
    assert "speed: missing; a Nic needs it" in said


def test_an_unreadable_file_and_a_stray_key_are_named(tmp_path):
    assert "expected only [[price]] tables" in message(tmp_path, 'date = "2026"\n', "prices", "prices/a.toml")
    (tmp_path / "prices" / "a.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(CatalogError, match="UTF-8"):
        _ = Catalog((tmp_path,)).prices


def test_a_table_is_counted_from_one(tmp_path):
    said = message(
        tmp_path, '[[source]]\nid = "a"\ntitle = "t"\nkind = "paper"\n[[source]]\nid = "b"\nkind = "paper"\n', "sources", "sources.toml"
    )
    assert "(table 2): title: missing" in said


def test_one_id_twice_in_a_folder_is_refused(tmp_path):
    text = NIC.format(id="card", speed="400 Gb/s")
    folder_with(tmp_path, {"nics/card.toml": text, "nics/other.toml": text})
    with pytest.raises(CatalogError, match="id 'card' is already used"):
        _ = Catalog((tmp_path,)).nics


def test_a_missing_folder_is_refused(tmp_path):
    with pytest.raises(CatalogError, match="no such catalog folder"):
        load_catalog([tmp_path / "nowhere"])


def test_an_extra_folder_adds_and_overrides(tmp_path):
    own = NIC.format(id="my-card", speed="200 Gb/s")
    changed = NIC.format(id="nvidia-connectx-7-400", speed="100 Gb/s")
    folder_with(tmp_path, {"nics/my-card.toml": own, "nics/nvidia-connectx-7-400.toml": changed})
    catalog = load_catalog([tmp_path])
    assert catalog.nics["my-card"].speed.to("Gb/s") == 200
    assert catalog.nics["nvidia-connectx-7-400"].speed.to("Gb/s") == 100
    assert catalog.nics.file("my-card") == tmp_path / "nics" / "my-card.toml"
    assert len(catalog.nics) == len(load_catalog().nics) + 1
    assert load_catalog().nics["nvidia-connectx-7-400"].speed.to("Gb/s") == 400


def test_the_version_is_a_hash_of_the_content(tmp_path):
    one, two = tmp_path / "one", tmp_path / "two"
    shutil.copytree(OWN_FOLDER / "nics", one / "nics")
    shutil.copytree(OWN_FOLDER / "nics", two / "nics")
    assert Catalog((one,)).version == Catalog((two,)).version
    card = two / "nics" / "nvidia-connectx-7-400.toml"
    card.write_text(card.read_text().replace("400 Gb/s", "401 Gb/s"))
    assert Catalog((one,)).version != Catalog((two,)).version
    assert load_catalog([one]).version != load_catalog().version


def test_names_and_aliases_lead_to_the_record():
    catalog = load_catalog()
    assert catalog.switches["qm 9700"].id == "nvidia-qm9700"
    assert catalog.nics["CX7"].id == "nvidia-connectx-7-400"
    assert "no such switch" not in catalog.switches
    with pytest.raises(CatalogError, match="the nearest is 'nvidia-sn2201'"):
        _ = catalog.switches["nvidia-sn2021"]


def test_nothing_is_read_before_it_is_asked_for(tmp_path):
    folder_with(tmp_path, {"gpus/broken.toml": "this is not TOML"})
    catalog = load_catalog([tmp_path])
    assert len(catalog.switches) > 40
    with pytest.raises(CatalogError, match=r"broken\.toml"):
        _ = catalog.gpus
