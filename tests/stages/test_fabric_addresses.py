"""The address plan: no address twice, every link a /31, every device an address out of band."""

from __future__ import annotations

from collections import Counter, defaultdict
from ipaddress import IPv4Interface, IPv4Network
from itertools import pairwise

import pytest

from catalogs import load_catalog
from rules.sizing.fabric.addresses import address_plan, dotted, lids_of
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


def test_infiniband_says_what_a_plan_cannot_know(catalog):
    candidate, context = made(catalog, "nvidia-dgx-h100", 127, preferences__fabric="infiniband")
    notes = [entry for entry in address_plan(candidate, context) if entry.record == "note"]
    assert len(notes) == 1
    assert "1,068 of the 49,151" in notes[0].note, "1,016 adapters, 48 switches, 4 manager links"
    assert lids_of(networks_of(candidate, context)[0]) == 127 * 8 + 48 + 4


def test_dotted():
    assert dotted(0x0A000001) == "10.0.0.1"
    assert dotted(0x0AC00040, 26) == "10.192.0.64/26"
