"""Power, feeds and energy against the vendors' figures and published measurements."""

import pytest

from catalogs import load_catalog
from catalogs.quantities import magnitude, quantity
from catalogs.schema import Kind, Sourced
from rules.answers import Answers
from rules.own_server import own_server
from rules.sizing import feeds, power
from rules.sizing.electricity import electricity_price
from rules.sizing.regions import regional_fact
from rules.sizing.results import FabricDesign, FabricNetwork


@pytest.fixture(scope="module")
def catalog():
    return load_catalog()


def draw(catalog, node, answers=None):
    record = catalog.nodes[node]
    return power.node_draw(record, catalog.gpus[record.gpu], catalog, Answers.of(answers or {}))


def test_vendor_maxima(catalog):
    """NVIDIA's user guides and reference architectures: DGX A100 6.5, H100 10.2, B200 14.3, B300 14.5, GB200 132, GB300 142 kW."""
    published = {
        "nvidia-dgx-a100-640gb": 6.5,
        "nvidia-dgx-h100": 10.2,
        "nvidia-dgx-h200": 10.2,
        "nvidia-dgx-b200": 14.3,
        "nvidia-dgx-b300": 14.5,
        "nvidia-gb200-nvl72": 132.0,
        "nvidia-gb300-nvl72": 142.0,
    }
    for node, kw in published.items():
        assert magnitude(draw(catalog, node).maximum, "kW") == pytest.approx(kw), node
        assert draw(catalog, node).kind is Kind.DATASHEET


def test_gb300_rack_typical_is_nvidias_planning_figure(catalog):
    """NVIDIA Mission Control: 18 trays of 7.5 kW, 135 kW; the sum of the GPUs alone would be 100.8 kW."""
    assert magnitude(draw(catalog, "nvidia-gb300-nvl72").typical, "kW") == pytest.approx(135.0)
    node = catalog.nodes["nvidia-gb300-nvl72"]
    assert power.gpu_sum_w(node, catalog.gpus[node.gpu]) == pytest.approx(100_800)


@pytest.mark.parametrize(
    ("node", "published_kw"),
    [
        ("nvidia-dgx-h100", 10.2),
        ("nvidia-dgx-b200", 14.3),
        ("nvidia-dgx-b300", 14.5),
        ("nvidia-gb300-nvl72", 135.0),
        ("nvidia-gb300-nvl72", 142.0),
        ("nvidia-gb200-nvl72", 132.0),
    ],
)
def test_component_model_meets_vendors_systems_within_ten_percent(catalog, node, published_kw):
    record = catalog.nodes[node]
    modelled = power.component_maximum_kw(record, catalog.gpus[record.gpu], catalog)
    assert modelled == pytest.approx(published_kw, rel=0.10)


def test_component_model_is_never_the_sum_of_the_gpus(catalog):
    for node in catalog.nodes:
        gpu = catalog.gpus[node.gpu]
        summed, modelled = power.gpu_sum_w(node, gpu), power.component_maximum_kw(node, gpu, catalog)
        if summed is not None and modelled is not None:
            assert modelled > 1.1 * summed / 1000.0, node.id


def test_wall_power_of_a_workstation_with_four_capped_cards(catalog):
    """Puget Systems, 2020: four RTX 3090 at 300 W and a 165 W processor drew 1,717 W at the wall."""
    base = own_server(Answers.of({"own_server.gpu": "nvidia-rtx-3090", "own_server.gpus": 4}), catalog)
    capped = base.model_copy(update={"gpu_power_limit": Sourced(value="300 W", source="you"), "cpu_count": Sourced(value=1, source="you")})
    modelled = power.component_maximum_kw(capped, catalog.gpus["nvidia-rtx-3090"], catalog)
    assert modelled == pytest.approx(1.717, rel=0.25)


def test_gpu_ratings_agree_with_the_published_table(catalog):
    """Accelerator table of the ml-engineering book."""
    table = catalog.thresholds["pow-gpu-table"].values
    ids = {
        "a100_sxm": "nvidia-a100-sxm-80gb",
        "h100": "nvidia-h100-sxm-80gb",
        "h200": "nvidia-h200-sxm-141gb",
        "b200": "nvidia-b200-sxm",
        "gb200": "nvidia-gb200",
        "gb300": "nvidia-gb300",
        "mi300x": "amd-mi300x",
        "mi325x": "amd-mi325x",
        "mi350x": "amd-mi350x",
        "mi355x": "amd-mi355x",
        "l40s": "nvidia-l40s",
        "rtx_pro_6000": "nvidia-rtx-pro-6000-server",
    }
    for name, gpu in ids.items():
        assert catalog.gpus[gpu].power.maximum.to("W") == pytest.approx(table[name]), gpu
    assert catalog.gpus["nvidia-b300-sxm"].power.maximum.to("W") == pytest.approx(table["b300"], rel=0.10)


def test_trays_stay_below_their_rack(catalog):
    """NVIDIA DPS: a GB200 tray peaks at 6.667 kW; 18 of them are 120 kW before the switches, the rack's maximum is 132 kW."""
    trays = 18 * catalog.thresholds["pow-gb200-tray"].value
    assert trays == pytest.approx(120.0, rel=0.01)
    assert trays < magnitude(draw(catalog, "nvidia-gb200-nvl72").maximum, "kW")


def test_own_figures_come_first(catalog):
    answers = Answers.of({"own_server.gpu": "nvidia-rtx-4090", "own_server.gpus": 8, "own_server.power": "4.2 kW"})
    node = own_server(answers, catalog)
    found = power.node_draw(node, catalog.gpus[node.gpu], catalog, answers)
    assert magnitude(found.maximum, "kW") == pytest.approx(4.2)
    assert found.kind is Kind.YOU


def test_unpublished_power_is_unknown(catalog):
    answers = Answers.of({"own_server.gpu": "amd-mi455x", "own_server.gpus": 8})
    node = own_server(answers, catalog)
    assert power.node_draw(node, catalog.gpus[node.gpu], catalog, answers) is None


@pytest.mark.parametrize(
    ("node", "usable_kw", "redundant"),
    [("nvidia-dgx-h100", 13.2, True), ("nvidia-dgx-b200", 16.5, True), ("dell-poweredge-xe9680-h100", 8.4, True)],
)
def test_supplies_that_are_left_when_spares_fail(catalog, node, usable_kw, redundant):
    """NVIDIA DGX H100: 4 + 2 of 3.3 kW; B200: 5 + 1. Dell XE9680: 3 + 3 of 2.8 kW, so 8.4 of 16.8 kW."""
    found = power.supplies_of(catalog.nodes[node])
    assert magnitude(found.usable, "kW") == pytest.approx(usable_kw)
    assert found.redundant is redundant


def test_supplies_from_redundancy_alone(catalog):
    """DGX B300: twelve supplies of 3.2 kW, six of them spare: 19.2 kW are left."""
    assert magnitude(power.supplies_of(catalog.nodes["nvidia-dgx-b300"]).usable, "kW") == pytest.approx(19.2)


# ---------------------------------------------------------------------------------------------------------------- feeds


@pytest.mark.parametrize(
    ("volts", "phases", "amperes", "share", "published_kw"),
    [
        (415, 3, 60, 0.8, 34.5),  # Raritan PX3-5878I2R: rated 34.5 kVA
        (208, 3, 30, 0.8, 8.646),  # published example of a 208 V, 30 A feed: 8,646 VA
        (120, 1, 15, 0.8, 1.44),  # household outlet in North America: 1,440 W
        (400, 3, 32, 1.0, 22.2),  # IEC feed used at rating
    ],
)
def test_circuit_capacity(volts, phases, amperes, share, published_kw):
    assert feeds.circuit_usable_kw(volts, phases, amperes, share) == pytest.approx(published_kw, rel=0.005)


def test_two_phases_are_refused():
    with pytest.raises(ValueError, match="one phase or three"):
        feeds.circuit_usable_kw(208, 2, 30, 0.8)


def test_catalog_circuits_follow_the_rule(catalog):
    for pdu in catalog.pdus:
        usable = feeds.circuit_usable_kw(pdu.voltage.to("V"), pdu.phases, pdu.current.to("A"), 0.8)
        assert pdu.usable.to("kW") == pytest.approx(usable, rel=0.01), pdu.id


def test_feeds_of_nvidias_b200_racks(catalog):
    """NVIDIA: four DGX B200, 57.2 kW, hang on two 415 V three-phase circuits of 60 A."""
    feed = feeds.choose_feed(57.2, "415v_three_phase", catalog)
    assert (feed.circuits, feed.pdu.id) == (2, "pdu-415-3ph-60a")
    assert magnitude(feed.usable, "kW") >= 57.2


def test_a_load_beyond_the_largest_breaker_takes_more_circuits(catalog):
    feed = feeds.choose_feed(142.0, "415v_three_phase", catalog)
    assert (feed.circuits, feed.pdu.id) == (3, "pdu-415-3ph-100a")


def test_a_household_outlet(catalog):
    """A 120 V, 15 A outlet carries 1,440 W: a 1.4 kW machine hangs on one, one of 2.08 kW does not."""
    assert feeds.choose_feed(1.4, "120v_single_phase", catalog, desktop=True).circuits == 1
    assert feeds.choose_feed(2.08, "120v_single_phase", catalog, desktop=True).circuits == 2


def test_every_feed_of_the_answers_has_a_circuit(catalog):
    from rules.answer_fields import FEEDS

    for feed in FEEDS:
        assert feeds.choose_feed(1.0, feed, catalog) is not None, feed


# ---------------------------------------------------------------------------------------------------------- network, year


def network(role, typical, maximum):
    return FabricNetwork(role, "infiniband", "rail", 400.0, 8, 1, 0, 0, 1, 1, 1.0, {}, {}, {}, 0, {}, {}, typical, maximum)


def test_networks_are_counted_once_and_unknown_ones_are_named():
    compute = network("compute", quantity(1.2, "kW"), quantity(2.0, "kW"))
    shared = network("storage", quantity(0.5, "kW"), quantity(0.8, "kW"))
    silent = network("out_of_band", None, None)
    found = power.network_draw(FabricDesign(compute, shared, shared, silent), load_catalog())
    assert found.maximum_kw == pytest.approx(2.8)
    assert found.typical_kw == pytest.approx(1.7)
    assert found.unknown == ("out_of_band network",)


def test_energy_of_a_year():
    """One megawatt of IT at a PUE of 1.56 for a year is 13.7 GWh (Uptime Institute's average PUE, 8,766 h)."""
    assert magnitude(power.yearly_energy(1000.0, 1.56), "GWh") == pytest.approx(13.67, rel=0.001)


@pytest.mark.parametrize(("region", "grams"), [("Germany", None), ("Texas", None), ("FRA", None), ("us", 349.7)])
def test_regions_are_found_by_name_state_and_code(catalog, region, grams):
    """US average by eGRID: 349.7 g/kWh."""
    fact = regional_fact(catalog, "carbon", region)
    assert fact is not None
    if grams is not None:
        assert fact.values["intensity"].to("g/kWh") == pytest.approx(grams)


def test_carbon_of_a_gigawatt_hour(catalog):
    """1 GWh at the US average of 349.7 g/kWh is 349.7 t."""
    assert magnitude(power.yearly_carbon(quantity(1.0, "GWh"), "us", catalog), "t") == pytest.approx(349.7)
    assert power.yearly_carbon(quantity(1.0, "GWh"), "Atlantis", catalog) is None


def test_electricity_price_by_region_and_by_answer(catalog):
    """EIA, April 2025: industry in Iowa pays 6.04 cents per kWh, commerce 9.79."""
    iowa = electricity_price(Answers.of({"facility.region": "Iowa"}), catalog)
    assert magnitude(iowa.price.expected, "USD/kWh") == pytest.approx(0.0604)
    assert magnitude(iowa.price.high, "USD/kWh") == pytest.approx(0.0979)
    assert (iowa.is_of_place, iowa.basis) == (True, "the industrial average of Iowa, US")
    mine = electricity_price(Answers.of({"facility.region": "Iowa", "budget.electricity_price": "0.05 USD/kWh"}), catalog)
    assert magnitude(mine.price.high, "USD/kWh") == pytest.approx(0.05)
    assert mine.price.kind is Kind.YOU
    nowhere = electricity_price(Answers.of({}), catalog).price
    assert magnitude(nowhere.low, "USD/kWh") < magnitude(nowhere.expected, "USD/kWh") < magnitude(nowhere.high, "USD/kWh")


@pytest.mark.parametrize(
    ("region", "words"),
    [
        ("United Kingdom", "the price in United Kingdom is unknown"),
        ("Atlantis", "the catalog knows no region 'Atlantis'"),
        ("USA", "no industrial average of USA"),
    ],
)
def test_where_no_price_was_published_another_stands_in_and_says_so(catalog, region, words):
    """EIA, April 2025: industry pays 6.04 (Iowa) to 20.14 cents (Rhode Island). Over all: Kosovo to Hawaii, 2024."""
    found = electricity_price(Answers.of({"facility.region": region}), catalog)
    assert found.basis.startswith(words)
    assert found.price.kind is Kind.ASSUMED
    assert not found.is_of_place
    low, high = (0.0604, 0.2014) if words.startswith("no industrial") else (0.0468, 0.3413)
    assert magnitude(found.price.low, "USD/kWh") == pytest.approx(low)
    assert magnitude(found.price.high, "USD/kWh") == pytest.approx(high)


def test_supplies_too_large_for_an_outlet_start_at_200_volts(catalog):
    """DGX B200 user guide: six supplies of 3,300 W at 200 to 240 V. A 1,600 W supply runs from any outlet."""
    assert power.supply_input(catalog.nodes["nvidia-dgx-b200"], catalog) == (200.0, 240.0)
    assert power.supply_input(catalog.nodes["supermicro-sys-421ge-tnrt"], catalog)[0] == 200.0  # 2,700 W, voltage not stated
    assert power.supply_input(catalog.nodes["workstation-2x-rtx-5090"], catalog)[0] == 0.0


@pytest.mark.parametrize(
    ("feed", "volts"),
    [
        ("415v_three_phase", 239.6),
        ("400v_three_phase", 230.9),
        ("208v_three_phase", 208.0),
        ("480v_three_phase", 277.1),
        ("120v_single_phase", 120.0),
    ],
)
def test_voltage_at_the_outlets_of_a_feed(catalog, feed, volts):
    """415/240 V, 400/230 V and 480/277 V are the wye systems of data centres; 208 V is taken between lines."""
    assert feeds.choose_feed(10.0, feed, catalog).outlet_volts == pytest.approx(volts, abs=0.1)


def test_two_circuits_that_each_carry_the_rack_survive_the_loss_of_one(catalog):
    """6.4 kW on two 400 V circuits of 16 A, 8.87 kW each, run on; NVIDIA's 57.2 kW on two circuits of 34.5 kW do not."""
    small = feeds.choose_feed(6.4, "400v_three_phase", catalog)
    assert (small.circuits, small.pdu.id) == (2, "pdu-400-3ph-16a")
    assert small.survives(6.4)
    one = feeds.choose_feed(14.3, "400v_three_phase", catalog)
    assert (one.circuits, one.pdu.id) == (2, "pdu-400-3ph-32a")
    assert one.survives(14.3)
    assert not feeds.choose_feed(57.2, "415v_three_phase", catalog).survives(57.2)
    assert feeds.choose_feed(17.0, "415v_three_phase", catalog).survives(17.0)
