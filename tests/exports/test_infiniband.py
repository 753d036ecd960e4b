"""The InfiniBand network before a real subnet manager: OpenSM finds a fat tree in it, and none after one swapped cable."""

from __future__ import annotations

import csv
import io
import os
import re
import subprocess
import time
import uuid
from pathlib import Path

import pytest

from tests.exports.tools import considered, exported, need
from wizard.exports import NothingToExport, write

H100 = "nvidia-dgx-h100"
SIMULATOR = Path("/usr/lib/x86_64-linux-gnu/umad2sim/libumad2sim.so")
ACCEPTED, REFUSED = "ftree tables configured", ("AB0B", "AB0D", "not a fat-tree")
Ends = dict[tuple[str, int], tuple[str, int]]


def subnet_manager(folder: Path, text: str, *options: str) -> str:
    """Run OpenSM with fat-tree routing on a simulated network; return its log, since its exit code is 0 whatever it finds."""
    ibsim, opensm = need("ibsim", "opensm")
    simulator = next(Path("/usr/lib").glob("*/umad2sim/libumad2sim.so"), SIMULATOR)
    net = folder / "fabric.net"
    net.write_text(text, "utf-8")
    host = re.search(r'^Hca\t1 "(.*)"', text, re.MULTILINE)[1]
    environment = {**os.environ, "IBSIM_SOCKNAME": f"sim-{uuid.uuid4().hex[:8]}", "OSM_CACHE_DIR": str(folder), "OSM_TMP_DIR": str(folder)}
    with (folder / "ibsim.log").open("w") as stream:
        simulated = subprocess.Popen(
            [ibsim, "-N", "8192", "-S", "2048", "-P", "262144", "-L", "49151", "-s", "-n", str(net)],
            stdin=subprocess.PIPE, stdout=stream, stderr=stream, env=environment,
        )  # fmt: skip
    try:
        log, deadline = folder / "osm.log", time.monotonic() + 60
        while not log.exists() and time.monotonic() < deadline:  # the simulator may still be reading
            time.sleep(0.3)
            subprocess.run(
                [opensm, "-R", "ftree", *options, "-o", "-f", str(log)],
                env={**environment, "SIM_HOST": host, "LD_PRELOAD": str(simulator)}, capture_output=True, check=False, timeout=60,
            )  # fmt: skip
        return log.read_text("utf-8", "replace")
    finally:
        simulated.terminate()
        simulated.wait(timeout=20)


def ends_of(text: str) -> Ends:
    """Return every end of every cable with the end that it leads to."""
    ends: Ends = {}
    device = ""
    for line in text.splitlines():
        if found := re.match(r'(?:Switch|Hca)\t\d+ "(.*)"', line):
            device = found[1]
        elif found := re.match(r'\[(\d+)\]\t"(.*)"\[(\d+)\]', line):
            ends[device, int(found[1])] = (found[2], int(found[3]))
    return ends


def swapped(text: str, one: tuple[str, int], other: tuple[str, int]) -> str:
    """Return the network with two cables swapped at their far ends."""
    ends = ends_of(text)
    far, elsewhere = ends[one], ends[other]
    new = {one: elsewhere, other: far, far: other, elsewhere: one}
    lines, device = [], ""
    for line in text.splitlines():
        if found := re.match(r'(?:Switch|Hca)\t\d+ "(.*)"', line):
            device = found[1]
        elif (found := re.match(r"\[(\d+)\]", line)) and (device, int(found[1])) in new:
            to, port = new[device, int(found[1])]
            line = f'[{found[1]}]\t"{to}"[{port}]'
        lines.append(line)
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("nodes", [31, 62, 127])
class TestUnits:
    """One, two and four units of DGX H100 on 64-port switches."""

    def test_opensm_accepts_it(self, tmp_path, nodes):
        log = subnet_manager(tmp_path, exported("infiniband", H100, nodes, "infiniband"))
        assert ACCEPTED in log, log[-3000:]
        assert not any(mark in log for mark in REFUSED)

    def test_opensm_refuses_it_after_one_swapped_cable(self, tmp_path, nodes):
        text = exported("infiniband", H100, nodes, "infiniband")
        ends = ends_of(text)
        first, second = (
            next(end for end, far in sorted(ends.items()) if end[0] == f"compute-leaf-0{number}" and far[0] == f"compute-spine-0{number}")
            for number in (1, 2)
        )
        log = subnet_manager(tmp_path, swapped(text, first, second))
        assert ACCEPTED not in log
        assert any(mark in log for mark in REFUSED), log[-3000:]

    def test_every_cable_has_two_ends_and_every_end_one_cable(self, nodes):
        ends = ends_of(exported("infiniband", H100, nodes, "infiniband"))
        assert all(ends[far] == end for end, far in ends.items())
        assert len({name for name, _ in ends if name.startswith("node-")}) == 8 * nodes


def test_counts_of_one_unit():
    """DGX SuperPOD H100 RA, one unit of 31 nodes with UFM: 8 leaves, 4 spines, 252 links to leaves and 256 to spines."""
    ends = ends_of(exported("infiniband", H100, 31, "infiniband"))
    below = [far for end, far in ends.items() if end[0].startswith("compute-leaf") and not far[0].startswith("compute-spine")]
    above = [far for end, far in ends.items() if end[0].startswith("compute-leaf") and far[0].startswith("compute-spine")]
    assert (len(below), len(above)) == (252, 256)


@pytest.mark.parametrize(("spoilt", "refused"), [(False, False), (True, True)])
def test_opensm_reads_the_partitions_of_the_address_plan(tmp_path, spoilt, refused):
    rows = csv.DictReader(io.StringIO(exported("addresses-csv", H100, 31, "infiniband")))
    lines = [row["note"].removeprefix("partitions.conf: ") for row in rows if row["record"] == "partition"]
    assert len(lines) == 2
    partitions = tmp_path / "partitions.conf"
    partitions.write_text("\n".join(line.replace(":", "?") if spoilt else line for line in lines) + "\n", "utf-8")
    log = subnet_manager(tmp_path, exported("infiniband", H100, 31, "infiniband"), "-P", str(partitions), "-p", "15")
    assert ACCEPTED in log
    assert ("PARSE ERROR" in log) is refused


def test_ethernet_has_no_subnet_manager():
    with pytest.raises(NothingToExport, match="not InfiniBand"):
        write("infiniband", considered(H100, 31, "ethernet"), None)


@pytest.mark.parametrize(
    ("node", "nodes", "preset", "switches"),
    [
        ("nvidia-dgx-b300", 288, "llama-3.1-405b", 50),  # 32 leaves and 18 spines of 144 ports: 16 spines would not divide 72 uplinks
        ("nvidia-dgx-b200", 512, "llama-3.1-405b", 320),  # three tiers: 128 leaves, 128 spines, 64 cores
        ("nvidia-dgx-h100", 95, "llama-3.1-70b", 40),  # three units: 24 leaves, 16 spines
    ],
)
def test_opensm_accepts_other_published_fabrics(tmp_path, node, nodes, preset, switches):
    """Counts of NVIDIA's reference architectures of B300 XDR, B200 and H100."""
    text = exported("infiniband", node, nodes, "infiniband", preset)
    assert len(re.findall(r"^Switch", text, re.MULTILINE)) == switches
    log = subnet_manager(tmp_path, text)
    assert ACCEPTED in log, log[-3000:]
    assert not any(mark in log for mark in REFUSED)


def test_a_network_that_cannot_be_built_is_not_taken_for_one_that_is_not_needed():
    """Three tiers of 128 ports carry 524,288 adapters, 65,536 nodes of eight."""
    with pytest.raises(NothingToExport, match="no network among 65,537 nodes can be built"):
        write("infiniband", considered(H100, 65_537), None)
