"""`cluster-wizard fabric`: the rows of its contract, impossible fabrics, and input that cannot be read."""

from __future__ import annotations

import pytest

from tests.wizard.calls import call
from wizard.schemas import validator

UNIT = "nodes = 31, nics_per_node = 8, nic_speed_gbps = 400, switch_ports = 64, port_speed_gbps = 400, layout = 'rail', manager_ports = 4"
"""The first scalable unit of NVIDIA's DGX SuperPOD H100: 8 leaves, 4 spines, 248 links to nodes, 256 above [RA-11333-001 V11, table 4]."""


def specs(*rows: tuple[str, str]) -> bytes:
    return "".join(f'[[fabric]]\nid = "{id_}"\n{text}\n' for id_, text in rows).encode()


def count(*rows: tuple[str, str], json: bool = True):
    return call("fabric", "-", *(["--json"] if json else []), stdin=specs(*rows))


class TestCounts:
    def test_the_row_of_a_published_unit(self):
        called = count(("1su", f"leaf = 99\nvendor = 'ignored'\ninput = {{ {UNIT} }}"))
        assert called.code == 0
        assert list(validator("fabric").iter_errors(called.json)) == []
        row = called.json[0]
        assert (row["id"], row["leaf"], row["spine"], row["core"], row["tiers"]) == ("1su", 8, 4, 0, 2)
        assert row["links"] == {"node_leaf": 248, "leaf_spine": 256, "spine_core": 0}
        assert row["manager_links"] == 4

    def test_rows_keep_their_order(self):
        rows = [(name, f"input = {{ {UNIT} }}") for name in ("z", "a", "m")]
        assert [row["id"] for row in count(*rows).json] == ["z", "a", "m"]

    def test_a_row_without_input_is_null_and_says_so(self):
        called = count(("bare", "nodes = 4"), ("1su", f"input = {{ {UNIT} }}"))
        assert called.code == 0
        assert list(validator("fabric").iter_errors(called.json)) == []
        assert called.json[0]["leaf"] is None
        assert "input" in called.json[0]["notes"][0]
        assert called.json[1]["leaf"] == 8

    def test_what_cannot_be_built_is_null_with_reason_and_nearest(self):
        one = "input = { nodes = 9, nics_per_node = 8, switch_ports = 64, port_speed_gbps = 400, layout = 'single' }"
        called = count(("too-many", one), ("1su", f"input = {{ {UNIT} }}"))
        assert called.code == 1
        assert list(validator("fabric").iter_errors(called.json)) == []
        refused, built = called.json
        assert (refused["leaf"], refused["spine"], refused["core"]) == (None, None, None)
        assert "64 ports" in refused["notes"][0]
        assert "8 nodes" in refused["notes"][1]
        assert built["spine"] == 4
        assert called.err.startswith("cluster-wizard: 1 of 2 fabrics")

    def test_the_table_is_aligned(self):
        called = count(("a", f"input = {{ {UNIT} }}"), ("a-long-name", "note = 'no input'"), json=False)
        header, first, second = called.out.splitlines()[:3]
        assert header.split()[:4] == ["id", "leaf", "spine", "core"]
        assert first.split()[:4] == ["a", "8", "4", "0"]
        assert second.split()[1] == "?"
        assert len(first) == len(header)


class TestUnreadableInput:
    @pytest.mark.parametrize(
        ("text", "words"),
        [
            (f"input = {{ {UNIT}, down_to_upp = 2 }}", ("down_to_upp", "'down_to_up'")),
            (f"input = {{ {UNIT}, rails = 8 }}", ("rails",)),
            ("input = { nodes = 0, nics_per_node = 8, switch_ports = 64, port_speed_gbps = 400 }", ("nodes", "from 1")),
            ("input = { nodes = 'many', nics_per_node = 8, switch_ports = 64, port_speed_gbps = 400 }", ("nodes", "'many'")),
            ("input = { nodes = 4, switch_ports = 64, port_speed_gbps = 400 }", ("nics_per_node", "nothing")),
            (f"input = {{ {UNIT.replace('rail', 'ring')} }}", ("layout", "'ring'", "rail_only")),
            ("input = 4", ("input", "table")),
        ],
    )
    def test_one_message_names_the_row_and_the_key(self, text, words):
        called = count(("good", f"input = {{ {UNIT} }}"), ("bad-one", text))
        called.assert_one_message()
        for word in ("bad-one", *words):
            assert word in called.err

    @pytest.mark.parametrize("text", [b"", b"fabric = 3", b"[[run]]\nid = 'a'", b"[[fabric]]\nnodes = 3", b"[[fabric]]\nid = 3", b"= ="])
    def test_documents_that_hold_no_fabrics(self, text):
        call("fabric", "-", stdin=text).assert_one_message()

    def test_two_fabrics_of_one_name(self):
        """Their links would be told apart by nothing."""
        called = count(("twin", f"input = {{ {UNIT} }}"), ("other", f"input = {{ {UNIT} }}"), ("twin", f"input = {{ {UNIT} }}"))
        called.assert_one_message()
        for word in ("fabric 3", "'twin'", "fabric 1"):
            assert word in called.err

    def test_links_as_json(self):
        call("fabric", "-", "--links", "--json", stdin=specs(("1su", f"input = {{ {UNIT} }}"))).assert_one_message()

    def test_a_file_that_is_not_there(self, tmp_path):
        call("fabric", tmp_path / "none.toml").assert_one_message()


class TestLinks:
    def test_every_link_of_a_unit_with_both_ends(self):
        """31 nodes, 4 manager links: adapter 1 of node 2 is on the second port of the first cage of leaf 1."""
        called = call("fabric", "-", "--links", stdin=specs(("1su", f"input = {{ {UNIT} }}")))
        assert called.code == 0
        head, *rows = [line.split(",") for line in called.out.splitlines()]
        assert head[:2] == ["fabric", "tier"]
        assert len(rows) == 248 + 4 + 256
        assert ["1su", "node_leaf", "1", "400", "node-0002", "nic1", "leaf-01", "1/2", "2 × 400G"] in rows
        ends = [(row[device], row[device + 1]) for row in rows for device in (4, 6)]
        assert len(set(ends)) == len(ends), "no port twice"

    def test_what_cannot_be_built_has_no_links(self):
        one = "input = { nodes = 9, nics_per_node = 8, switch_ports = 64, port_speed_gbps = 400, layout = 'single' }"
        called = call("fabric", "-", "--links", stdin=specs(("too-many", one)))
        assert called.code == 1
        assert len(called.out.splitlines()) == 1
        assert "cannot be built" in called.err
