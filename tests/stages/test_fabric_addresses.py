"""The address plan: no address twice, every link a /31, every device an address out of band."""

from __future__ import annotations

from collections import Counter, defaultdict
from ipaddress import IPv4Interface, IPv4Network
from itertools import pairwise

import pytest

from catalogs import load_catalog
from rules.sizing.fabric.address_parts import dotted
from rules.sizing.fabric.addresses import address_plan
from rules.sizing.fabric.infiniband_addresses import largest_lmc, lids_of
from rules.sizing.fabric.networks import networks_of
from tests.stages.fabric_designs import made

DESIGNS = [
    ("nvidia-dgx-b200", 96, {"preferences__fabric": "ethernet"}),
    ("nvidia-dgx-h100", 3, {"preferences__fabric": "ethernet"}),
    ("nvidia-dgx-b300", 200, {"preferences__fabric": "ethernet"}),
    ("nvidia-dgx-h100", 127, {"preferences__fabric": "infiniband"}),
    ("nvidia-gb200-nvl72", 4, {}),
]


@pytest.fixture(scope="module")
def catalog():
    return load_catalog()


@pytest.fixture(params=DESIGNS, ids=lambda design: f"{design[1]}x{design[0]}")
def planned(request, catalog):
    node, units, answers = request.param
    candidate, context = made(catalog, node, units, **answers)
    return candidate, context, list(address_plan(candidate, context))


def test_no_address_is_given_twice_and_all_are_private(planned):
    _, _, entries = planned
    used = Counter()
    for entry in entries:
        texts = [entry.address] + ([entry.peer_address] if entry.record == "link" else [])
        for text in filter(None, texts):
            used[IPv4Interface(text).ip] += 1
            assert IPv4Interface(text).ip in IPv4Network("10.0.0.0/8")
    assert max(used.values()) == 1
    gateways = {IPv4Interface(entry.peer_address).ip for entry in entries if entry.record == "out-of-band"}
    assert not gateways & set(used), "nobody has the address of a gateway"


def test_every_routed_link_is_a_31_of_its_own(planned):
    candidate, context, entries = planned
    links = [entry for entry in entries if entry.record == "link"]
    for entry in links:
        lower, upper = IPv4Interface(entry.address), IPv4Interface(entry.peer_address)
        assert lower.network == upper.network
        assert lower.network.prefixlen == 31
        assert int(lower.ip) % 2 == 0
    routed = [each for each in networks_of(candidate, context) if each.protocol == "ethernet" and each.name != "out-of-band"]
    assert len(links) == sum(1 for network in routed for _ in network.links())


def test_the_links_of_a_leaf_to_its_ends_are_one_prefix(planned):
    _, _, entries = planned
    leaves = defaultdict(list)
    for entry in entries:
        if entry.record == "link" and "leaf" in entry.peer and "leaf" not in entry.device:
            leaves[entry.peer].append(int(IPv4Interface(entry.address).ip))
    spans = sorted((min(used), max(used)) for used in leaves.values())
    assert all(high < low for (_, high), (low, _) in pairwise(spans)), "no two leaves interleave"


def test_as_numbers_follow_the_rule_for_large_data_centres(planned):
    _, _, entries = planned
    numbers = {entry.device: entry.asn for entry in entries if entry.record == "loopback"}
    assert all(4_200_000_000 <= asn <= 4_294_967_294 for asn in numbers.values())
    leaves = [asn for device, asn in numbers.items() if "leaf" in device]
    assert len(set(leaves)) == len(leaves), "one per leaf"
    for plane in ("compute-spine", "compute-p1-spine", "compute-p2-spine", "front-spine"):
        assert len({asn for device, asn in numbers.items() if device.startswith(plane)}) <= 1, "the spines of a plane share one"
    hosts = [asn for device, asn in numbers.items() if device.startswith("node")]
    assert len(set(hosts)) == len(hosts)
    assert not set(hosts) & set(leaves)


def test_every_device_has_an_address_out_of_band(planned):
    candidate, context, entries = planned
    managed = {entry.device for entry in entries if entry.record == "out-of-band"}
    devices = {device.name for network in networks_of(candidate, context) for device in network.devices()}
    assert devices - managed == {"site"}, "the site's own router is not ours to manage"


def records(entries, record):
    return [entry for entry in entries if entry.record == record]


@pytest.fixture(scope="module")
def infiniband(catalog):
    """Four units of DGX H100 with two managers of two links: 1,016 adapters, 48 switches."""
    candidate, context = made(catalog, "nvidia-dgx-h100", 127, preferences__fabric="infiniband")
    return networks_of(candidate, context)[0], list(address_plan(candidate, context))


class TestInfiniband:
    def test_lids_of_a_subnet_and_the_largest_lmc(self, infiniband):
        """1,016 adapters and 4 manager links with 32 LIDs each and 48 switches are 32,688; with 64 each they are 65,328 of 49,151."""
        network, entries = infiniband
        (subnet,) = records(entries, "subnet")
        assert "LMC 0: 1,068 of the 49,151 LIDs" in subnet.note
        assert "suffice up to LMC 5" in subnet.note
        assert (lids_of(network), lids_of(network, 5), lids_of(network, 6)) == (1068, 32_688, 65_328)
        assert largest_lmc(network, 49_151) == 5
        assert largest_lmc(network, 1067) is None
        assert "prefix 0xfe80000000000000" in subnet.note, "the default prefix of a lone subnet"

    def test_subnet_managers_are_a_master_and_a_standby_on_different_leaves(self, infiniband):
        _, entries = infiniband
        managers = records(entries, "subnet manager")
        assert [entry.note for entry in managers] == ["master, SM priority 15", "standby, SM priority 14"]
        assert [(entry.device, entry.port) for entry in managers] == [("compute-manager-01", "port1"), ("compute-manager-02", "port1")]
        assert len({entry.peer for entry in managers}) == 2

    def test_rails_are_ip_subnets_in_which_a_node_has_one_number(self, infiniband):
        """127 nodes and two reserved addresses need 256 addresses: eight /24, one per rail."""
        _, entries = infiniband
        ports = defaultdict(dict)
        for entry in records(entries, "ipoib"):
            ports[entry.port][entry.device] = IPv4Interface(entry.address)
        assert sorted(ports) == [f"nic{rail}" for rail in range(1, 9)]
        assert {len(each) for each in ports.values()} == {127}
        subnets = {port: {address.network for address in each.values()} for port, each in ports.items()}
        assert all(len(each) == 1 for each in subnets.values())
        assert len(set.union(*subnets.values())) == 8
        assert {each.prefixlen for each in set.union(*subnets.values())} == {24}
        for device in ports["nic1"]:
            assert len({int(each[device].ip) - int(each[device].network.network_address) for each in ports.values()}) == 1
        assert str(ports["nic2"]["node-0127"]) == "10.0.1.127/24"

    def test_every_switch_has_a_row_for_its_guid_and_every_adapter_one_leaf(self, infiniband):
        _, entries = infiniband
        assert len(records(entries, "guid")) == 48
        adapters = records(entries, "ipoib")
        assert len({(entry.peer, entry.peer_port) for entry in adapters}) == len(adapters) == 1016

    def test_partitions_keep_management_apart(self, infiniband):
        _, entries = infiniband
        management, cluster = (entry.note for entry in records(entries, "partition"))
        assert "Default=0x7fff : ALL=limited, SELF=full" in management
        assert "cluster=0x0001, ipoib" in cluster

    def test_without_appliances_it_is_said_where_managers_run(self, catalog):
        """Four DGX H100 have no fabric managers of their own: those on board of managed switches serve."""
        candidate, context = made(catalog, "nvidia-dgx-h100", 4, preferences__fabric="infiniband")
        (manager,) = records(address_plan(candidate, context), "subnet manager")
        assert "on board" in manager.note
        assert manager.device == ""


def test_dotted():
    assert dotted(0x0A000001) == "10.0.0.1"
    assert dotted(0x0AC00040, 26) == "10.192.0.64/26"
