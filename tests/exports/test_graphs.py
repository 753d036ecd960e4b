"""DOT before Graphviz itself, and containerlab before its schema and what its schema lacks."""

from __future__ import annotations

import json
import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft7Validator

from tests.exports.tools import exported, need, problems
from wizard.exports import NothingToExport

CONTAINERLAB = Draft7Validator(json.loads((Path(__file__).parent / "upstream" / "clab.schema.json").read_text("utf-8")))
"""The schema of containerlab itself, which names draft 7."""
LONGEST_INTERFACE = 15
"""Letters of a Linux interface's name at most (IFNAMSIZ of 16 with its end)."""
DESIGNS = [("nvidia-dgx-h100", 20, "infiniband"), ("nvidia-dgx-h100", 62, "ethernet"), ("nvidia-dgx-b300", 16, "ethernet"),
           ("nvidia-gb200-nvl72", 72, "any")]  # fmt: skip


@pytest.mark.parametrize(("node", "units", "fabric"), DESIGNS)
def test_graphviz_reads_the_graph(node, units, fabric):
    (dot,) = need("dot")
    text = exported("dot", node, units, fabric)
    read = subprocess.run([dot, "-Tcanon"], input=text, capture_output=True, text=True, check=False, timeout=120)
    assert (read.returncode, read.stderr) == (0, "")
    assert len(re.findall(r"^\t\S+ -- ", read.stdout, re.MULTILINE)) == text.count(" -- ")


@pytest.mark.parametrize(("node", "units", "fabric"), DESIGNS)
class TestContainerlab:
    def test_keeps_the_schema(self, node, units, fabric):
        """Containerlab's own schema, and the stricter one that knows only the keys that are written here."""
        lab = yaml.safe_load(exported("containerlab", node, units, fabric))
        assert [f"{each.json_path}: {each.message[:200]}" for each in CONTAINERLAB.iter_errors(lab)] == []
        assert problems("clab", lab) == []

    def test_keeps_what_the_schema_lacks(self, node, units, fabric):
        """Both ends exist, no interface is used twice, none is eth0 (the lab's own), names fit Linux."""
        topology = yaml.safe_load(exported("containerlab", node, units, fabric))["topology"]
        ends = [tuple(end.split(":")) for link in topology["links"] for end in link["endpoints"]]
        assert max(Counter(ends).values()) == 1
        assert {device for device, _ in ends} == set(topology["nodes"])
        for _, interface in ends:
            assert re.fullmatch(r"eth[1-9]\d*", interface)
            assert len(interface) <= LONGEST_INTERFACE
        for device in topology["nodes"]:
            assert len(f"clab-cluster-{device}") <= 63

    def test_every_port_of_the_design_is_named_beside_its_link(self, node, units, fabric):
        topology = yaml.safe_load(exported("containerlab", node, units, fabric))["topology"]
        ports = [
            (end.split(":")[0], port)
            for link in topology["links"]
            for end, port in zip(link["endpoints"], link["vars"]["ports"].split(" - "), strict=True)
        ]
        assert max(Counter(ports).values()) == 1


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda lab: lab["topology"]["nodes"]["node-0001"].update(kind="windows"), "is not valid under any of the given schemas"),
        (lambda lab: lab["topology"]["links"][0].update(endpoints=["node-0001:eth1", "no-port"]), "'no-port' does not match"),
        (lambda lab: lab.update(title="cluster"), "Additional properties are not allowed"),
    ],
)
def test_the_schema_of_containerlab_catches_what_it_is_for(change, says):
    lab = yaml.safe_load(exported("containerlab", *DESIGNS[0]))
    change(lab)
    assert any(says in each.message for each in CONTAINERLAB.iter_errors(lab))


def test_infiniband_is_left_out_and_said_to_be():
    text = exported("containerlab", "nvidia-dgx-h100", 20, "infiniband")
    assert "it is left out" in text
    assert "compute-leaf" not in "".join(
        end for link in yaml.safe_load(text)["topology"]["links"] for end in link["endpoints"] if ":eth2" in end
    )
    assert "compute" not in {link["vars"].get("network") for link in yaml.safe_load(text)["topology"]["links"]}


@pytest.mark.parametrize("name", ["dot", "containerlab", "slurm-tree", "infiniband", "netbox-cables", "netbox-devices", "netbox-types"])
def test_a_single_node_has_no_networks(name):
    with pytest.raises(NothingToExport):
        exported(name, "nvidia-dgx-h100", 1, preset="llama-3.1-8b")
