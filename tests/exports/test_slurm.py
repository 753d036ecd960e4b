"""Slurm topologies: a real controller reads them and lists every node once; blocks and YAML keep what the manual pages demand.

Debian 12's Slurm has neither the block plugin (23.11) nor `topology.yaml` (25.05): those rows are there where a newer Slurm is installed.
"""

from __future__ import annotations

import getpass
import os
import re
import socket
import subprocess
import time

import pytest
import yaml

from tests.exports.tools import expanded, exported, installed, need, problems

H100, NVL72 = "nvidia-dgx-h100", "nvidia-gb200-nvl72"
CONFIG = """
ClusterName=test
SlurmctldHost=localhost
SlurmctldPort={port}
SlurmUser={user}
AuthType=auth/none
CredType=cred/none
TopologyPlugin=topology/{plugin}
StateSaveLocation={folder}/state
SlurmctldPidFile={folder}/slurmctld.pid
ProctrackType=proctrack/pgid
SchedulerType=sched/builtin
SelectType=select/cons_tres
MailProg=/bin/true
{nodes}
PartitionName=all Nodes=ALL Default=YES
"""


SINCE = {"slurm-tree": (22, 5), "slurm-block": (23, 11), "slurm-yaml": (25, 5)}
"""The release of Slurm that reads each format; the tree's is the oldest that was tried."""


def release() -> tuple[int, int]:
    """Return the release of the installed Slurm; where there is none, the oldest, so that the tests name what is missing."""
    daemon = installed("slurmctld")
    if daemon is None:
        return SINCE["slurm-tree"]
    said = subprocess.run([daemon, "-V"], capture_output=True, text=True, check=True, timeout=30).stdout
    found = re.search(r"(\d+)\.(\d+)\.", said)
    assert found, said
    return int(found[1]), int(found[2])


READ = [each for each, since in SINCE.items() if release() >= since]
"""The formats that the installed Slurm reads."""


def controller(folder, topology: str, nodes: int, kind: str = "slurm-tree", *shown: str) -> tuple[str, str]:
    """Run a real controller with a topology; return what `scontrol show topology` prints, and the controller's log."""
    daemon, client = need("slurmctld", "scontrol")
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    (folder / "state").mkdir()
    (folder / ("topology.yaml" if kind == "slurm-yaml" else "topology.conf")).write_text(topology, "utf-8")
    plugin = "block" if kind == "slurm-block" else "tree"
    named = "\n".join(
        f"NodeName=node-{number:04d} NodeAddr=127.{1 + number // 65536}.{number // 256 % 256}.{number % 256} CPUs=1 State=UNKNOWN"
        for number in range(1, nodes + 1)
    )
    config = folder / "slurm.conf"
    config.write_text(CONFIG.format(port=port, folder=folder, user=getpass.getuser(), nodes=named, plugin=plugin), "utf-8")
    log = folder / "log"
    with log.open("w") as stream:
        running = subprocess.Popen([daemon, "-D", "-c", "-f", str(config)], stdout=stream, stderr=stream)
    try:
        deadline = time.monotonic() + 20
        while True:
            asked = subprocess.run(
                [client, "show", "topology", *shown],
                env={**os.environ, "SLURM_CONF": str(config)},
                capture_output=True,
                text=True,
                check=False,
                timeout=30,
            )
            if "Name=" in asked.stdout or running.poll() is not None or time.monotonic() > deadline:
                return asked.stdout, log.read_text("utf-8")
            time.sleep(0.2)
    finally:
        running.terminate()
        running.wait(timeout=20)


def leaves_of(shown: str) -> list[str]:
    lines = [line for line in shown.splitlines() if "Level=0" in line or line.startswith("BlockName=")]
    return [name for line in lines for name in expanded(re.search(r"Nodes=(\S+)", line)[1])]


class TestEveryFormat:
    @pytest.mark.parametrize("kind", READ)
    @pytest.mark.parametrize(("node", "wired"), [(H100, 62), (NVL72, 72)])
    def test_a_real_controller_lists_every_node_once(self, tmp_path, node, wired, kind):
        fabric = "infiniband" if node == H100 else "any"
        for name in ["tree", "block"] if kind == "slurm-yaml" else [""]:
            folder = tmp_path / (name or "one")
            folder.mkdir()
            shown, log = controller(folder, exported(kind, node, wired, fabric), wired, kind, *filter(None, [name]))
            assert sorted(leaves_of(shown)) == [f"node-{number:04d}" for number in range(1, wired + 1)], log[-2000:]
            assert shown.startswith("BlockName=" if "block" in (name, kind.removeprefix("slurm-")) else "SwitchName=")
            assert not re.search("configuration: node|TOPOLOGY:|Invalid|topology.*error|error.*topology", log)


class TestTree:
    @pytest.mark.parametrize(("nodes", "wired", "units"), [(20, 21, 1), (62, 62, 2), (127, 127, 4)])
    def test_a_real_controller_lists_every_node_once(self, tmp_path, nodes, wired, units):
        """20 nodes have a spare whose ports are wired; at 62 and 127 the spares take over the cables of what they replace."""
        shown, log = controller(tmp_path, exported("slurm-tree", H100, nodes, "infiniband"), wired)
        assert sorted(leaves_of(shown)) == [f"node-{number:04d}" for number in range(1, wired + 1)], log[-2000:]
        assert shown.count("Level=0") == units
        assert not re.search("switch configuration|hostnames|topology.*error|error.*topology", log)

    def test_a_real_controller_complains_of_a_node_that_nobody_has(self, tmp_path):
        wrong = exported("slurm-tree", H100, 20, "infiniband").replace("0021]", "0022]")
        _, log = controller(tmp_path, wrong, 21)
        assert "Invalid hostnames in switch configuration: node-0022" in log

    def test_units_are_those_of_the_reference_architecture(self):
        """DGX SuperPOD of H100: 63 nodes in two units of eight 64-port leaves, one place taken by the managers. Adapter i of each node is
        on leaf i, so a unit is one leaf to Slurm.
        """
        tree = exported("slurm-tree", H100, 63, "infiniband")
        assert "SwitchName=unit-01 Nodes=node-[0001-0032]\n" in tree
        assert "SwitchName=unit-02 Nodes=node-[0033-0063]\n" in tree
        assert tree.endswith("SwitchName=fabric Switches=unit-[01-02]\n")

    def test_three_tiers_have_pods(self):
        """512 nodes of B200: 16 units in pods of four [DGX SuperPOD B200 RA; 128 leaves, 128 spines, 64 cores]."""
        tree = exported("slurm-tree", "nvidia-dgx-b200", 512, "infiniband", "llama-3.1-405b")
        assert len(re.findall(r"^SwitchName=unit-", tree, re.MULTILINE)) == 16
        pods = re.findall(r"^SwitchName=(pod-\d+) Switches=(\S+)$", tree, re.MULTILINE)
        assert [len(expanded(children)) for _, children in pods] == [4, 4, 4, 4]
        assert f"SwitchName=fabric Switches=pod-[01-0{len(pods)}]\n" in tree

    @pytest.mark.parametrize(("trays", "units"), [(72, 4), (162, 9)])
    def test_no_unit_cuts_a_rack_of_one_domain(self, trays, units):
        """64 ports of 400G: a leaf has 32 downlinks, which take one rack of 18 trays whole, so every rack is a unit."""
        tree = exported("slurm-tree", NVL72, trays)
        found = [expanded(nodes) for nodes in re.findall(r"^SwitchName=unit-\d+ Nodes=(\S+)$", tree, re.MULTILINE)]
        assert len(found) == units
        assert {len(unit) for unit in found} == {18}


class TestBlocks:
    def test_a_rack_of_one_domain_is_a_block_of_18(self):
        """GB200 NVL72: 18 trays share one NVLink domain, so jobs are planned in blocks of 18 nodes."""
        text = exported("slurm-block", NVL72, 72)
        blocks = dict(re.findall(r"^BlockName=(\S+) Nodes=(\S+)$", text, re.MULTILINE))
        assert list(blocks) == ["rack-01", "rack-02", "rack-03", "rack-04"]
        assert blocks["rack-02"] == "node-[0019-0036]"
        assert {len(expanded(each)) for each in blocks.values()} == {18}
        assert text.endswith("BlockSizes=18,36,72\n")

    def test_two_racks_of_one_domain_are_one_block(self):
        """NVL36x2: two racks of 9 trays make one NVLink domain of 72 GPUs, so its block has 18 nodes."""
        text = exported("slurm-block", "nvidia-gb200-nvl36x2", 36)
        blocks = dict(re.findall(r"^BlockName=(\S+) Nodes=(\S+)$", text, re.MULTILINE))
        assert blocks == {"domain-01": "node-[0001-0018]", "domain-02": "node-[0019-0036]"}
        assert text.endswith("BlockSizes=18,36\n")

    @pytest.mark.parametrize(
        ("node", "units", "wired"), [(H100, 20, 21), (H100, 62, 62), (H100, 127, 127), (NVL72, 72, 72), (NVL72, 162, 162)]
    )
    def test_what_the_manual_demands(self, node, units, wired):
        """topology.conf(5): every block has at least the base size; further sizes are the base times a power of two up to 2^15."""
        text = exported("slurm-block", node, units)
        blocks = [expanded(each) for each in re.findall(r"^BlockName=\S+ Nodes=(\S+)$", text, re.MULTILINE)]
        sizes = [int(each) for each in re.search(r"^BlockSizes=(\S+)$", text, re.MULTILINE)[1].split(",")]
        names = [name for block in blocks for name in block]
        assert len(names) == len(set(names)) == wired
        assert min(map(len, blocks)) >= sizes[0]
        assert all(size in [sizes[0] * 2**power for power in range(16)] for size in sizes)
        assert sizes[-1] <= len(names)


class TestYaml:
    @pytest.mark.parametrize(("node", "units"), [(H100, 20), (H100, 62), (NVL72, 72)])
    def test_is_of_the_form_that_slurm_reads(self, node, units):
        document = yaml.safe_load(exported("slurm-yaml", node, units))
        assert problems("topology", document) == []
        assert [each["cluster_default"] for each in document] == [True, False]
        assert all(next(iter(each)) == "topology" for each in document)

    @pytest.mark.parametrize(("node", "units"), [(H100, 62), (NVL72, 72)])
    def test_says_the_same_as_the_other_two(self, node, units):
        tree, block = yaml.safe_load(exported("slurm-yaml", node, units))
        lines = [
            f"SwitchName={each['switch']} " + (f"Nodes={each['nodes']}" if "nodes" in each else f"Switches={each['children']}")
            for each in tree["tree"]["switches"]
        ]
        assert "\n".join(lines) in exported("slurm-tree", node, units)
        lines = [f"BlockName={each['block']} Nodes={each['nodes']}" for each in block["block"]["blocks"]]
        lines.append("BlockSizes=" + ",".join(map(str, block["block"]["block_sizes"])))
        assert "\n".join(lines) in exported("slurm-block", node, units)

    def test_every_plane_has_a_root(self):
        """Separate networks need a root each, or jobs are placed across them [nebius/soperator pull request 2585]."""
        document = yaml.safe_load(exported("slurm-yaml", "nvidia-dgx-b300", 32, "ethernet"))
        assert problems("topology", document) == []
        trees = [each for each in document if "tree" in each]
        assert [each["topology"] for each in trees] == ["plane-1", "plane-2"]
        assert [each["cluster_default"] for each in document] == [True, False, False]
        assert trees[0]["tree"] == trees[1]["tree"]
