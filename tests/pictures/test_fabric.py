"""Pictures of the networks and of the rows of racks: what is drawn is what is wired."""

from __future__ import annotations

from functools import lru_cache
from xml.etree import ElementTree

from catalogs import load_catalog
from rules.advisor import consider
from rules.answers import Answers
from wizard.pictures import svg, text

DGX = {"model.preset": "llama-3.1-70b", "preferences.nodes": ["nvidia-dgx-h100"], "facility.rack_power": "45 kW"}


@lru_cache
def considered(nodes, fabric="infiniband"):
    return consider(Answers.of({**DGX, "scale.nodes": nodes, "preferences.fabric": fabric}), load_catalog())


def test_four_units_tier_by_tier():
    """127 DGX H100: 16 spines over 32 leaves, two links of each pair, 1,024 and 1,016 links."""
    lines = text("fabric", considered(127), 120)
    assert lines[0].startswith("compute: InfiniBand NDR, rail-optimized")
    assert lines[1].startswith("spine   [01] [02] [03] … [16]  16 × ")
    assert "1,024 links, up to " in lines[2]
    assert lines[3].startswith("leaf    [01] [02] [03] … [32]  32 × ")
    assert "1,016 links" in lines[4]
    assert lines[5].startswith("nodes   [unit 01] [unit 02] [unit 03] [unit 04]  127 × NVIDIA DGX H100")
    assert any("2 links from each leaf to each of its 16 spines" in line for line in lines)
    assert any(line.startswith("out-of-band:") for line in lines)


def lines_of(document):
    return [each for each in ElementTree.fromstring(document).iter() if each.tag.endswith("path") or each.tag.endswith("line")]


def test_lines_join_what_links_join():
    """Two tiers: 4 × 4 drawn pairs of the GPUs' network, leaves of unit 1 (three drawn) and of unit 4 (the last) to their units."""
    drawn = lines_of(svg("fabric", considered(127)))
    front = 2 * 4 + 4 * 4
    assert len(drawn) == 4 * 4 + (3 + 1) + front + 4


def test_trays_of_a_rack_are_not_called_racks():
    """Two GB200 NVL72 racks have 36 trays."""
    answers = {"model.preset": "deepseek-v3", "preferences.nodes": ["nvidia-gb200-nvl72"], "scale.gpus": 144, "scale.mode": "fixed"}
    found = consider(Answers.of({**answers, "facility.cooling": "liquid", "facility.rack_power": "140 kW"}), load_catalog())
    assert any("36 × tray of NVIDIA GB200 NVL72" in line for line in text("fabric", found, 140))


def test_a_single_node_has_no_picture_of_networks():
    found = text("fabric", consider(Answers.of({**DGX, "scale.nodes": 1}), load_catalog()), 60)
    assert found[0].startswith("Networks: none")


def test_rows_of_racks_with_their_bundles():
    """127 nodes and 5 spares, four to a rack of 45 kW, make 33 racks in two halves. Three of the network stand between them; the third has
    rack units for the eight storage boxes too: 16 switches of 1 U, two of 2 U, 3 of management, 2 servers of 2 U, 8 boxes: 35 of 42 U."""
    lines = text("racks_row", considered(127), 100)
    assert "36 racks in 2 rows;" in lines[0]
    assert lines[1].split()[:21] == ["1", *["c"] * 17, "N", "N", "N"]
    assert lines[2].split()[:17] == ["2", *["c"] * 16]
    words = "\n".join(lines)
    assert "links by medium" in words
    assert "single-mode fibre with DR modules" in " ".join(words.split())
    assert "multimode fibre with SR modules" in " ".join(words.split())
    assert not {"dr", "sr", "dac", "aoc"} & set(words.replace(",", " ").split())
    assert "run between racks in" in words
    assert "(s)" not in words
    document = svg("racks_row", considered(127))
    assert "of which the largest 8 are drawn" in " ".join(document.split())
    assert "are drawn" not in words, "the page of text names them"
    assert max(len(each.text or "") for each in ElementTree.fromstring(document).iter() if each.tag.endswith("text")) <= 140
    assert all(f">{name}<" in document for name in ("C1", "C33", "N1", "N3"))
