"""The networks of a design link by link: every counted link with two ends that exist, and no port used twice."""

from __future__ import annotations

from collections import Counter, defaultdict

import pytest

from catalogs import load_catalog
from rules.sizing.fabric.design import design_fabric
from rules.sizing.fabric.networks import networks_of
from tests.stages.fabric_designs import made

DESIGNS = [
    ("nvidia-dgx-b200", 480, {}),
    ("nvidia-dgx-h100", 127, {"preferences__fabric": "infiniband"}),
    ("nvidia-dgx-h100", 3, {}),
    ("nvidia-gb200-nvl72", 8, {}),
    ("nvidia-dgx-a100-640gb", 20, {}),
    ("nvidia-dgx-b300", 256, {"preferences__fabric": "ethernet"}),
]


@pytest.fixture(scope="module")
def catalog():
    return load_catalog()


@pytest.mark.parametrize(("node", "units", "answers"), DESIGNS)
def test_every_link_of_the_four_networks_has_two_ends_of_its_own(catalog, node, units, answers):
    candidate, context = made(catalog, node, units, **answers)
    sized = design_fabric(candidate, context)
    networks = networks_of(candidate, context, sized)
    devices = [device for network in networks for device in network.devices()]
    names = {device.name for device in devices}
    assert len(names) == len(devices), "every device once"
    ports: Counter[tuple[str, str]] = Counter()
    joined = {name: name for name in names}

    def root(name):
        while joined[name] != name:
            name = joined[name]
        return name

    for network in networks:
        for link in network.links():
            for end in (link.lower, link.upper):
                ports[end.device, end.port] += 1
            joined[root(link.lower.device)] = root(link.upper.device)
    assert max(ports.values()) == 1
    assert {device for device, _ in ports} == names, "a device without a cable is none, and no cable ends nowhere"
    assert len({root(name) for name in names}) == 1


@pytest.mark.parametrize(("node", "units", "answers"), DESIGNS)
def test_links_and_switches_are_those_that_the_design_counts(catalog, node, units, answers):
    candidate, context = made(catalog, node, units, **answers)
    design = design_fabric(candidate, context).design
    by_role = {role: network for network in networks_of(candidate, context) for role in network.roles}
    assert set(by_role) == {"compute", "storage", "in-band", "out-of-band"}
    for role, counted in (("compute", design.compute), ("storage", design.storage), ("out-of-band", design.out_of_band)):
        tiers = Counter(device.tier for device in by_role[role].devices() if device.kind == "switch")
        assert (tiers["leaf"], tiers["spine"], tiers["core"]) == (counted.leaf, counted.spine, counted.core), role
        links = Counter(link.tier for link in by_role[role].links())
        assert links["leaf_spine"] == counted.links["leaf_spine"]
        assert links["manager_leaf"] == counted.manager_links
        assert links["managed" if role == "out-of-band" else "node_leaf"] == counted.links["node_leaf"]
        assert links["management_leaf"] == counted.links.get("management_leaf", 0)


@pytest.mark.parametrize(("node", "units", "answers"), DESIGNS)
def test_nodes_servers_and_management_switches_reach_two_leaves(catalog, node, units, answers):
    candidate, context = made(catalog, node, units, **answers)
    front = networks_of(candidate, context)[1]
    leaves, fans = defaultdict(list), Counter()
    for link in front.links():
        if link.tier in ("node_leaf", "management_leaf"):
            leaves[link.lower.device].append(link.upper.device)
        if link.tier == "management_leaf":
            fans[link.upper.device, link.upper.number] += 1
            assert link.speed_gbps == 100
    for device, used in leaves.items():
        if not device.startswith(("storage", "site")):
            assert len(used) == len(set(used)) == 2, device
    assert max(fans.values()) <= 4, "four lanes of 100G in an optical port of 400G"


def test_management_switches_are_managed_by_another_one(catalog):
    candidate, context = made(catalog, "nvidia-dgx-h100", 127, preferences__fabric="infiniband")
    network = networks_of(candidate, context)[-1]
    own = [link for link in network.links() if link.lower.device.startswith("oob-")]
    assert len(own) == design_fabric(candidate, context).design.out_of_band.leaf
    assert all(link.lower.device != link.upper.device for link in own)
