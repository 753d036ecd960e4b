"""The networks beside the GPUs' own, and what all of them are cabled with: storage, in-band, out-of-band, cables, power, bill."""

from __future__ import annotations

import pytest

from catalogs import load_catalog
from catalogs.quantities import magnitude
from rules.sizing.fabric.design import design_fabric
from rules.sizing.fabric.floor import run_m
from rules.stages import fabric as stage
from rules.stages import reliability, storage_cpu
from tests.stages.fabric_designs import designed, made


@pytest.fixture(scope="module")
def catalog():
    return load_catalog()


# -------------------------------------------------------------------------------------------------- the other networks


def test_storage_and_in_band_share_one_network_that_survives_a_leaf(catalog):
    design = designed(catalog, "nvidia-dgx-h100", 127, preferences__fabric="infiniband")
    assert design.storage is design.in_band
    assert design.storage.leaf >= 2
    assert design.storage.oversubscription <= 5 / 3 + 0.01
    small = designed(catalog, "nvidia-dgx-h100", 8)
    assert small.storage.switches == {"nvidia-sn4600c": 2}, "as in NVIDIA's BasePOD"


@pytest.mark.parametrize(("node", "units", "printed"), [("nvidia-dgx-h100", 127, 8), ("nvidia-dgx-b200", 127, 16)])
def test_out_of_band_switches_are_near_the_printed_ones(catalog, node, units, printed):
    """H100 RA: 333 cables, which eight switches of 48 carry with their uplinks apart; B200 RA, figure 3.2: 16 SN2201."""
    network = designed(catalog, node, units, preferences__fabric="infiniband").out_of_band
    assert abs(network.leaf - printed) <= 2
    assert network.switches == {"nvidia-sn2201": network.leaf}


def test_a_spine_of_the_front_end_may_fail(catalog):
    """64 DGX B200 need three leaves and ports of one spine; with one alone its loss would part nodes from their storage."""
    network = designed(catalog, "nvidia-dgx-b200", 64, preferences__fabric="ethernet", preferences__oversubscription=2).storage
    assert (network.leaf, network.spine) == (3, 2)
    assert network.links["leaf_spine"] % (3 * 2) == 0, "as many links from each leaf to each spine"


def test_switches_that_manage_are_managed_too(catalog):
    """64 nodes, a spare, switches, five management servers, WEKA boxes and a file server; three power units in each rack."""
    candidate, context = made(catalog, "nvidia-dgx-h100", 64, preferences__fabric="infiniband")
    sized = design_fabric(candidate, context)
    network, storage = sized.design.out_of_band, sized.front.storage
    switches = sum(sized.design.compute.switches.values()) + sum(sized.design.storage.switches.values()) + network.leaf
    devices = (64 + storage.spares) * 2 + switches + 5 + storage.boxes + storage.file_servers
    assert network.endpoints == devices + (16 + 1) * 3, "16 racks of nodes and one of network and storage"
    assert network.endpoints <= network.leaf * 48


@pytest.mark.parametrize(
    ("node", "units", "answers"),
    [
        ("nvidia-dgx-b200", 16, {}),
        ("nvidia-dgx-h100", 2, {"model__preset": "llama-3.1-8b"}),
        ("nvidia-gb200-nvl72", 4, {}),
        ("nvidia-dgx-h100", 3, {"preferences__storage": "object_store"}),
        ("nvidia-dgx-h100", 64, {"preferences__vendors": ["DDN"]}),
    ],
)
def test_the_network_carries_the_storage_that_is_bought(catalog, node, units, answers):
    """Its links are those of the boxes that the stage of storage puts into the bill."""
    candidate, context = made(catalog, node, units, **answers)
    side = design_fabric(candidate, context).front.storage
    stage.assess(candidate, context)
    storage_cpu.assess(candidate, context)
    assert side.boxes == (sum(candidate.storage.systems.values()) or side.open_product)
    written = candidate.storage.write_offered
    if written is not None:
        assert side.links * side.link_gbps / 8 >= written.to("GB/s").magnitude
    reliability.assess(candidate, context)
    assert side.spares == candidate.reliability.spare_nodes


def test_every_port_of_the_storage_boxes_is_connected(catalog):
    """Eight WEKApods with two 400G ports each have 16 links; their cages are OSFP, those of the nodes' two-port cards QSFP112."""
    candidate, context = made(catalog, "nvidia-dgx-b200", 16)
    sized = design_fabric(candidate, context)
    assert (sized.front.storage.boxes, sized.front.storage.links, sized.front.storage.link_gbps) == (8, 16, 400.0)
    network = sized.design.storage
    assert network.cables["nvidia-mma4z00-ns400-400"] == 16
    nodes, servers, file_server, site = 2 * (16 + sized.front.storage.spares), 10, 2, 2
    assert network.cables["nvidia-mma1z00-ns400-400"] == nodes + servers + file_server + site


def test_storage_is_no_faster_than_its_links(catalog):
    """Up to eight nodes the network is of 100G, as in NVIDIA's BasePOD: 16 links carry 200 of the 568 and 256 GB/s of eight WEKApods."""
    candidate, context = made(catalog, "nvidia-dgx-b200", 8, model__preset="llama-3.1-8b")
    stage.assess(candidate, context)
    storage_cpu.assess(candidate, context)
    assert candidate.fabric.storage_gbps == 16 * 100
    assert candidate.storage.read_offered.to("GB/s").magnitude == candidate.storage.write_offered.to("GB/s").magnitude == 200


def test_uplinks_of_management_switches_are_100g(catalog):
    """SN2201: four QSFP28 uplinks of 100G; a port of 400G serves four of them, a lane each."""
    candidate, context = made(catalog, "nvidia-dgx-b200", 16)
    sized = design_fabric(candidate, context)
    uplinks = sized.front.uplinks
    assert uplinks == 2 * sized.front.management.switches
    assert sized.design.storage.cables["100G DR1 module, QSFP28, for the management switch"] == uplinks
    small = designed(catalog, "nvidia-dgx-h100", 8).storage
    assert not any("DR1" in item for item in small.cables), "ports of 100G take them as they are"


def test_management_servers_are_bought(catalog):
    """Five in NVIDIA's BasePOD."""
    candidate, context = made(catalog, "nvidia-dgx-h100", 31, preferences__fabric="infiniband")
    stage.assess(candidate, context)
    assert {line.item: line.quantity for line in stage.bill(candidate, context)}["management-server"] == 5


def test_spare_nodes_have_ports_where_ports_are_free(catalog):
    fifty = design_fabric(*made(catalog, "nvidia-dgx-h100", 50, preferences__fabric="infiniband"))
    assert fifty.choice.spares_wired == fifty.front.storage.spares > 0
    assert fifty.design.compute.links["node_leaf"] == (50 + fifty.front.storage.spares) * 8
    full = design_fabric(*made(catalog, "nvidia-dgx-h100", 64, preferences__fabric="infiniband"))
    assert full.choice.spares_wired == 0, "64 nodes fill 16 leaves"
    assert any(each.startswith("no ports are left for ") for each in full.design.compute.notes)
    half = designed(catalog, "nvidia-dgx-b200", 64, preferences__fabric="ethernet", preferences__oversubscription=2).compute
    assert (half.leaf, half.links["leaf_spine"]) == (8, 8 * 32), "64 + 32 of 128 ports"
    assert any(each.startswith("leaves have free ports, but links for 3 spare nodes") for each in half.notes)


# --------------------------------------------------------------------------------------------------- cables and power


def test_media_follow_the_length(catalog):
    assert run_m(1, 1) <= 2 < run_m(1, 2) <= 5 < run_m(1, 3) < run_m(1, 40) < 50 < run_m(1, 400)
    near = designed(catalog, "nvidia-dgx-h100", 2, preferences__fabric="infiniband").compute
    assert set(near.cables) == {"nvidia-mcp4y10-800"}, "copper inside one rack"
    assert near.modules == {}
    row = designed(catalog, "nvidia-dgx-h100", 64, preferences__fabric="infiniband").compute
    assert row.cables["nvidia-mfp7e10-fibre"] == row.links["node_leaf"], "a multimode fibre per link"
    candidate, context = made(catalog, "nvidia-dgx-h100", 1024, preferences__fabric="infiniband")
    candidate.placed_density = 1
    hall = design_fabric(candidate, context).design.compute
    assert hall.longest["node"] > 100, "a rack for each node"
    assert hall.cables["nvidia-mms4x00-nm-800"] == hall.links["node_leaf"], "the module of 500 m at both ends, two links in each"
    assert hall.media == {"dr": 8192, "sr": 16384}, "leaves, spines and cores stand together in the middle"


def test_both_ends_of_a_link_have_lanes_that_agree(catalog):
    """Q3400 has 2x800G DR4 modules, four lanes of 200 Gb/s; a DR8 module of eight lanes of 100 Gb/s gets no light from them."""
    network = designed(catalog, "nvidia-dgx-b300", 64, preferences__fabric="infiniband").compute
    cables = network.cables
    assert cables["nvidia-mms4a00-1600"] == sum(network.cages[side] for side in ("leaf_node", "leaf_spine", "spine_leaf"))
    assert cables["nvidia-mms4a20-800"] == network.links["node_leaf"], "four lanes of 200 Gb/s at the adapter too"
    assert "fs-lpo-dr8-800" not in cables
    own = {"own_server__gpu": "nvidia-h100-sxm-80gb", "own_server__gpus": 8, "own_server__nics": 8, "own_server__nic_speed": "200 Gb/s"}
    split = designed(catalog, "", 32, **own).compute
    assert split.cables["nvidia-mma4z00-ns-800"] > 0
    assert split.cables["nvidia-mma4z00-ns400-400"] == split.links["node_leaf"], "400G modules run two of their lanes"
    assert any("1:2 splitter fibre" in item for item in split.cables)


def test_modules_of_twin_port_cages_in_nodes_are_ordered_flat_topped(catalog):
    """A DGX H100 has four twin-port cages for eight adapters [NVIDIA DGX H100 guide]; they take the flat-topped MMA4Z00-NS."""

    def flat(node, units):
        return [note for note in designed(catalog, node, units, preferences__fabric="infiniband").compute.notes if "flat-topped" in note]

    assert [note.split(":")[0] for note in flat("nvidia-dgx-h100", 64)] == ["256 twin-port modules for the nodes"]
    assert [note.split(":")[0] for note in flat("nvidia-dgx-h100", 2)] == ["8 cables to the nodes' twin-port cages"]
    assert flat("nvidia-dgx-b300", 64) == [], "a cage for each adapter, for which modules are sold flat only"


def test_copper_between_racks_is_as_long_as_the_way(catalog):
    """12 Q3400 of 4U are 48U, two racks: passive copper of 2 m does not reach, linear active copper of 5 m is not sold for 1.6T."""
    network = designed(catalog, "nvidia-dgx-b300", 64, preferences__fabric="infiniband").compute
    assert network.switches == {"nvidia-q3400-ra": 12}
    assert not any("copper" in item or "acc" in item for item in network.cables)
    assert network.modules["leaf_spine"] == network.cages["leaf_spine"], "the links among switches are optical"


def test_denser_racks_shorten_cables(catalog):
    candidate, context = made(catalog, "nvidia-dgx-h100", 8, preferences__fabric="infiniband")
    assert design_fabric(candidate, context).design.compute.modules
    candidate.placed_density = 8
    assert design_fabric(candidate, context).design.compute.modules == {}


def test_power_is_that_of_the_switches_with_their_modules(catalog):
    """QM9700: 747 W with passive cables, 1,720 W at most with modules [NVIDIA user manual]; a manager appliance draws 689 W."""
    network = designed(catalog, "nvidia-dgx-h100", 31, preferences__fabric="infiniband").compute
    assert magnitude(network.power_maximum, "W") == pytest.approx(12 * 1720 + 2 * 689)
    assert 12 * 747 < magnitude(network.power_typical, "W") < 12 * 1720


def test_the_bill_counts_a_shared_network_once(catalog):
    candidate, context = made(catalog, "nvidia-dgx-h100", 31, preferences__fabric="infiniband")
    stage.assess(candidate, context)
    lines = {line.item: line for line in stage.bill(candidate, context)}
    assert lines["nvidia-qm9700"].quantity == 12
    assert lines["nvidia-ufm-appliance"].quantity == 2
    assert sum(line.quantity for line in lines.values() if line.category == "switch") == sum(
        number
        for network in (candidate.fabric.compute, candidate.fabric.storage, candidate.fabric.out_of_band)
        for number in network.switches.values()
    )
    assert {line.category for line in lines.values()} == {"switch", "cable", "transceiver", "fabric manager", "management"}
    assert all(line.unit_low is None for line in lines.values())
