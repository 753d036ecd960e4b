"""What the rules on transport compare: buffers of lossless Ethernet, managers, LIDs and reduction trees of InfiniBand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rules.facts import FactField
from rules.sizing.fabric.transport import headroom_of, largest_subnet_nodes, lids, sharp_generation, subnet_manager_words
from rules.sizing.lookup import threshold_number

if TYPE_CHECKING:
    from catalogs import Catalog
    from rules.findings import Scalar
    from rules.sizing.fabric.design import SizedFabric

TRANSPORT_FACTS = (
    FactField("longest_run_m", "longest cable of the GPUs' network"),
    FactField("headroom_kb", "what a port still receives on a lossless queue after it asked for a pause"),
    FactField("headroom_mb", "the same for all used ports of a leaf"),
    FactField("headroom_ports", "used ports of the fullest leaf"),
    FactField("buffer_known", "whether the buffer of the switch is stated"),
    FactField("buffer_mb", "buffer of the switch, 0 where not stated"),
    FactField("lids", "LIDs of one InfiniBand subnet, 0 without InfiniBand"),
    FactField("subnet_nodes", "nodes that one subnet takes"),
    FactField("manager_words", "where subnet managers run, in words"),
    FactField("sharp_known", "whether the limits of in-network reduction of these switches are published"),
    FactField("sharp_trees", "reduction trees of a switch, 0 where not published"),
    FactField("sharp_streams", "on how many of them data streams at once, in words"),
)
STREAMS = {"quantum": "one streams per switch", "quantum_2": "one streams per port"}
BYTES_PER_KB, BYTES_PER_MB = 1e3, 1e6


def transport_facts(sized: SizedFabric, catalog: Catalog) -> dict[str, Scalar]:
    """Return every field of TRANSPORT_FACTS; zeros without a network among GPUs."""
    chosen, network = sized.choice.chosen, sized.design.compute
    if chosen is None or network is None:
        numbers = ("longest_run_m", "headroom_kb", "headroom_mb", "headroom_ports", "buffer_mb", "lids", "subnet_nodes", "sharp_trees")
        return {**dict.fromkeys(numbers, 0), "buffer_known": False, "sharp_known": False, "manager_words": "none", "sharp_streams": ""}
    longest = max(network.longest.values(), default=0.0)
    headroom = headroom_of(chosen, longest)
    infiniband = sized.choice.technology == "infiniband"
    generation = sharp_generation(chosen.option.switch) if infiniband else ""
    most = int(threshold_number(catalog.thresholds, "fab-ib-lids"))
    return {
        "longest_run_m": longest,
        "headroom_kb": headroom.per_port / BYTES_PER_KB,
        "headroom_mb": headroom.whole / BYTES_PER_MB,
        "headroom_ports": headroom.ports,
        "buffer_known": headroom.buffer is not None,
        "buffer_mb": (headroom.buffer or 0.0) / BYTES_PER_MB,
        "lids": lids(chosen) if infiniband else 0,
        "subnet_nodes": largest_subnet_nodes(chosen, most) if infiniband else 0,
        "manager_words": subnet_manager_words(chosen) if infiniband else "none",
        "sharp_known": bool(generation),
        "sharp_trees": int(threshold_number(catalog.thresholds, "fab-sharp-trees", generation)) if generation else 0,
        "sharp_streams": STREAMS.get(generation, ""),
    }
