"""The infrastructure catalog against the figures that vendors and standards print."""

import math

import pytest

from catalogs import load_catalog


@pytest.fixture(scope="module")
def catalog():
    return load_catalog()


@pytest.mark.parametrize(
    ("name", "ports", "cages", "speed", "one_way_tbit"),
    [
        ("nvidia-qm8700", 40, 40, 200, 8.0),  # printed as 16 Tb/s
        ("nvidia-qm9700", 64, 32, 400, 25.6),  # NVIDIA QM97XX manual; printed as 51.2 Tb/s
        ("nvidia-q3400-ra", 144, 72, 800, 115.2),  # NVIDIA XDR manual
        ("nvidia-sn5600", 64, 64, 800, 51.2),  # NVIDIA SN5000 manual
        ("nvidia-sn4700", 32, 32, 400, 12.8),  # printed as 25.6 Tb/s
        ("fs-n9600-64od", 64, 64, 800, 51.2),  # printed as 102.4 Tb/s
    ],
)
def test_switches_have_the_printed_ports_and_one_way_throughput(catalog, name, ports, cages, speed, one_way_tbit):
    switch = catalog.switches[name]
    assert (switch.ports, switch.cages, switch.port_speed.to("Gb/s")) == (ports, cages, speed)
    assert switch.throughput.to("Tb/s") == pytest.approx(one_way_tbit)


@pytest.mark.parametrize(
    ("name", "typical", "maximum"),
    [  # NVIDIA QM97XX, SN5000 and SN2201 manuals; Cisco Nexus 9364E data sheets
        ("nvidia-qm9700", 747, 1720),
        ("nvidia-qm9790", 640, 1610),
        ("nvidia-sn5610", 900, 2080),
        ("nvidia-sn2201", 98, None),
        ("cisco-n9364e-sg2", 995, 2270),
        ("cisco-n9364e-sp2r", 2500, 5100),
    ],
)
def test_switches_draw_the_printed_power(catalog, name, typical, maximum):
    switch = catalog.switches[name]
    assert switch.power_typical.to("W") == typical
    assert (switch.power_maximum and switch.power_maximum.to("W")) == maximum


def test_traps_of_switches(catalog):
    assert catalog.switches["nvidia-q3200-ra"].ports == 36
    assert catalog.switches["nvidia-q3200-ra"].switches_per_box == 2
    assert catalog.switches["nvidia-q3400-ra"].manager_port
    assert not catalog.switches["nvidia-q3400-ra"].power_maximum.verified
    assert not catalog.switches["nvidia-qm9790"].managed
    assert catalog.switches["nvidia-sn2201"].role == "management"
    assert {switch.role for switch in catalog.switches if switch.id.startswith("class-")} == {"planning_class"}
    assert catalog.switches["juniper-qfx5250"].cooling == "liquid"


def test_adapters(catalog):
    cx8 = catalog.nics["ConnectX-8"]
    assert cx8.speed.to("GB/s") == 100  # 800 Gb/s
    assert cx8.pcie_generation.value == 6
    assert catalog.nics["nvidia-connectx-7-400"].pcie_generation.value == 5
    assert catalog.nics["nvidia-bluefield-3-400"].ports == (2,)
    assert catalog.nics["broadcom-p1400g-400"].connector == "QSFP112-DD"
    assert not catalog.nics["nvidia-connectx-7-400"].power.verified


@pytest.mark.parametrize(
    ("name", "watts", "reach", "links"),
    [  # NVIDIA LinkX pages
        ("MMA4Z00-NS", 15, 50, 2),
        ("MMS4X00-NS", 17, 100, 2),
        ("MMA4Z00-NS400", 9, 50, 1),
        ("MMS4X00-NS400", 9, 100, 1),
        ("MCA4J80", 1.5, 5, 2),
        ("MCP4Y10", 0.1, 2, 2),
    ],
)
def test_cables_and_modules(catalog, name, watts, reach, links):
    cable = catalog.cables[name]
    assert cable.power_per_end.to("W") == watts
    assert cable.reach.to("m") == reach
    assert cable.links == links


def test_feeds_follow_the_published_examples(catalog):
    assert catalog.pdus["pdu-208-3ph-30a"].usable.to("W") == pytest.approx(8646, rel=0.001)  # Raritan: 8,646 VA
    assert catalog.pdus["pdu-415-3ph-60a"].usable.to("kW") == pytest.approx(34.5)  # Raritan PX3-5878I2R
    for feed in catalog.pdus:
        lines = math.sqrt(3) if feed.phases == 3 else 1
        rating = lines * feed.voltage.to("V") * feed.current.to("A")
        assert feed.usable.to("W") == pytest.approx(0.8 * rating, rel=0.005)  # NEC: 80 % for continuous load


def test_racks_and_cooling(catalog):
    assert catalog.racks["rack-orv3-48v"].units.to("U") == pytest.approx(44 * 48 / 44.45, rel=0.001)  # 44 OU of 48 mm
    assert catalog.cooling["coolit-chx2000"].capacity.to("kW") == 2000
    assert catalog.cooling["method-air-contained"].capacity.kind == "estimated"
    rack = catalog.facts["rack-dgx-b200-4"].values
    assert rack["power"].to("kW") == pytest.approx(4 * 14.3)  # four DGX B200 of 14.3 kW


def test_storage(catalog):
    assert catalog.storage["ddn-ai400x2t"].read.to("GiB/s") == 96.7  # MLPerf Storage v1.0
    nitro = catalog.storage["weka-nitro-155"]
    assert nitro.read.to("GB/s") * nitro.minimum_units.value == nitro_reference_read(nitro)
    best = catalog.facts["superpod-h100-best"].values
    assert best["unit_read"].to("GB/s") == 125  # DGX SuperPOD H100, table 6
    assert best["gpu_read"].to("GB/s") == pytest.approx(125 / 256, rel=0.001)


def nitro_reference_read(nitro):
    from catalogs.quantities import magnitude

    return magnitude(nitro.reference["read"], "GB/s")


def test_facts_of_reliability_agree_with_the_llama_3_paper(catalog):
    values = catalog.facts["llama3-interruptions"].values
    hours = values["duration"].to("hour")
    assert hours / values["unexpected"].value == pytest.approx(values["mean_time_to_interrupt"].to("hour"), rel=0.01)
    rate = catalog.thresholds["rel-rate-h100"]
    assert rate.value == pytest.approx(419 / (16384 * 54 * 24), rel=0.01)  # arXiv 2407.21783


def test_electricity_and_carbon(catalog):
    default = catalog.facts["electricity-default"].values["industrial"].ends("USD/MWh")
    assert default == pytest.approx((60.4, 89.7, 201.4))  # EIA Electric Power Monthly 5.6.A, April 2025
    assert catalog.facts["electricity-us-new-york"].values["commercial"].to("USD/kWh") == 0.1914
    assert len([fact for fact in catalog.facts if fact.topic == "carbon"]) == 101


def test_every_rule_of_thumb_is_there_with_its_strength(catalog):
    # 141 collected rules of thumb, the lowest published goodput (arXiv:2602.00277), a capped H100, swings of the load, and three of
    # InfiniBand: local identifiers, subnet managers and reduction trees; three of halls: UPS and generator by
    # height, the warmest class of water
    assert len(catalog.thresholds) == 150
    stages = {"vram", "interconnect", "fabric", "software", "storage_cpu", "power", "cost", "reliability"}
    assert {threshold.stage for threshold in catalog.thresholds} == stages
    assert [t.id for t in catalog.thresholds if not t.verified] == [
        "fab-moe-nodes",
        "pow-node-b200",
        "pow-water-class",
        "sto-ckpt-interval",
        "sw-pp-bubble",
    ]
    air = catalog.thresholds["pow-air-limit"]
    assert (air.values["warn"], air.values["reject"], air.unit, air.scope) == (30, 45, "kW", "rack")
    assert catalog.thresholds["pow-node-b300"].dissents_from == ("pow-air-limit",)


def test_curves_of_collectives(catalog):
    azure = catalog.collectives["azure-h200-8gpu"]
    assert azure.bus_bandwidth_gbyte_s[azure.message_bytes.index(8 * 2**30)] == 479.98  # Azure ND H200 v5
    weave = catalog.collectives["coreweave-h100-64gpu"]
    for size, bandwidth, time in zip(weave.message_bytes, weave.bus_bandwidth_gbyte_s, weave.time_us, strict=True):
        assert size / time / 1e3 * 2 * 63 / 64 == pytest.approx(bandwidth, rel=0.01)  # nccl-tests, PERFORMANCE.md
    model = catalog.facts["nccl-tuning-constants"].values
    assert model["nvlink_h100"].to("GB/s") == pytest.approx(18 * 20.6)  # NCCL topo.h


def test_prices_are_dated_and_estimates_are_low_confidence(catalog):
    price = catalog.prices["price-nvidia-qm9700"]
    assert (price.low, price.high, price.confidence) == (38000, 38000, "low")
    assert catalog.prices["cloud-azure-h100-nd96isr-h100-v5"].low == pytest.approx(98.32 / 8, rel=0.001)
