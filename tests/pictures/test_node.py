"""The picture of one node: ports, pairs and the matrix, against what the servers themselves print."""

from __future__ import annotations

from functools import lru_cache
from xml.etree import ElementTree

from catalogs import load_catalog
from rules.advisor import Considered, consider
from rules.answers import Answers
from wizard.pictures import node


@lru_cache
def considered(name: str) -> Considered:
    wanted = {"model.preset": "llama-3.1-8b", "scale.nodes": 2, "preferences.nodes": [name]}
    return consider(Answers.of(wanted), load_catalog(["tests/rules/catalog"]))


def test_the_matrix_is_the_one_that_nvidia_smi_prints():
    """Row of GPU 0 in NVIDIA/nccl issue 1505, without the columns of the card for storage."""
    lines = node.text(considered("nvidia-dgx-a100-640gb"), 80)
    (row,) = [line for line in lines if line.startswith("GPU 0 ")]
    assert row.replace("[", "").replace("]", "").split()[2:] == ["PXB", "PXB", *["SYS"] * 6]
    assert "[PXB]" in row


def test_narrow_screens_get_the_pairs():
    """DGX H100 user guide, table of network modules."""
    lines = node.text(considered("nvidia-dgx-h100"), 40)
    assert "GPU 3 uses mlx5_5 by PIX" in lines
    assert "GPU 4 uses mlx5_6 by PIX" in lines


def test_processors_and_ports():
    lines = node.text(considered("nvidia-dgx-h100"), 80, ascii=True)
    first = lines.index("processor 0")
    assert lines[first + 1] == " |- PCIe 5 x16, one switch: GPU 0, mlx5_0"
    assert lines[first + 4] == " `- PCIe 5 x16, one switch: GPU 3, mlx5_5"
    assert lines[first + 5] == "processor 1"


def test_what_is_weak_is_marked_and_costed():
    """Four GPUs share the 22 GB/s between two Sapphire Rapids: 50 - 5.5 GB/s lost each."""
    page = "\n".join(node.text(considered("test-crossed-h100"), 80))
    assert "! between the processors each of 4 GPUs loses 44.5 GB/s" in page
    drawn = ElementTree.fromstring(node.svg(considered("test-crossed-h100")))
    marked = [each.text for each in drawn.iter("{http://www.w3.org/2000/svg}text") if each.text and each.text.endswith(" !")]
    assert [each for each in marked if each.startswith("GPU")] == ["GPU 4 !", "GPU 5 !", "GPU 6 !", "GPU 7 !"]


def test_a_server_whose_map_is_not_published_says_so():
    page = " ".join(node.text(considered("lenovo-thinksystem-sr680a-v3-b200"), 80))
    assert "is not published: ask the vendor" in page
    assert "processor 0" not in page


def test_adapters_for_storage_are_on_the_map():
    """DGX H100 has two dual-port ConnectX-7 for storage [user guide]; DGX A100 two ConnectX-6, NVIDIA/nccl issue 1505 shows one."""
    assert "storage and in-band: 2 × ConnectX-7" in " ".join(node.text(considered("nvidia-dgx-h100"), 120))
    page = " ".join(node.text(considered("nvidia-dgx-a100-640gb"), 120))
    assert "storage and in-band: mlx5_" in page
    assert "storage and in-band: 1 × ConnectX-6" in page
    assert "storage and in-band: 2 × " in node.svg(considered("nvidia-dgx-h100"))
