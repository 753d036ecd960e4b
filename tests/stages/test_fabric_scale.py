"""A fabric of 131,072 GPUs on three tiers, cable by cable: complete, streamed, and in little memory."""

from __future__ import annotations

import io
import tracemalloc
from collections import Counter

import pytest

from catalogs import load_catalog
from rules.advisor import consider
from rules.answers import Answers
from wizard.exports import cables_csv

MEGABYTE = 1e6
MOST_MB = 500
"""What an export of a large fabric may take [stated need of this project; AutoLink took 1 GB for 512 nodes]."""


class Counting(io.TextIOBase):
    """A stream that counts lines by tier and keeps nothing."""

    def __init__(self):
        self.tiers = Counter()

    def write(self, text):
        cells = text.split(",", 4)
        if len(cells) == 5 and cells[2] == "compute":
            self.tiers[cells[3]] += 1
        return len(text)


def scheduled(nodes):
    answers = {
        "model.preset": "llama-3.1-405b", "preferences.nodes": ["nvidia-dgx-h100"], "scale.nodes": nodes, "preferences.fabric": "ethernet",
    }  # fmt: skip
    considered = consider(Answers.of(answers), load_catalog())
    stream = Counting()
    tracemalloc.start()
    cables_csv.write(considered, stream)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return considered.ranking.chosen.candidate.fabric.compute, stream.tiers, peak / MEGABYTE


def test_a_schedule_of_three_tiers_is_streamed():
    """2,048 nodes: as many rows as links, in a small part of the memory that their list would take."""
    network, tiers, peak_mb = scheduled(2048)
    assert network.tiers == 3
    assert tiers == {tier: links for tier, links in network.links.items() if links}
    assert peak_mb < 25


@pytest.mark.slow
def test_131_072_gpus_have_a_complete_schedule():
    """16,384 nodes of eight on 128-port switches: 2,048 leaves, 2,048 spines, 1,024 cores, 393,216 links."""
    network, tiers, peak_mb = scheduled(16_384)
    assert (network.leaf, network.spine, network.core) == (2048, 2048, 1024)
    assert tiers == {"node_leaf": 131_072, "leaf_spine": 131_072, "spine_core": 131_072}
    assert peak_mb < MOST_MB
