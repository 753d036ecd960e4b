"""Money against published prices and shares; unknown prices are never zero."""

import pytest

from catalogs import load_catalog
from catalogs.quantities import magnitude
from catalogs.schema import Kind
from rules.answers import Answers
from rules.candidate import Candidate, Context
from rules.own_server import own_server
from rules.sizing import cost, prices
from rules.sizing.electricity import electricity_price
from rules.sizing.facility import size_facility
from rules.sizing.results import BomLine


@pytest.fixture(scope="module")
def catalog():
    return load_catalog()


def candidate(catalog, node, units, answers=None, bom=()):
    given = Answers.of(answers or {})
    record = own_server(given, catalog) if node == "own" else catalog.nodes[node]
    made = Candidate("c", record, catalog.gpus[record.gpu], units, units * record.trays, units * record.gpu_count)
    context = Context(given, catalog, None)
    made.facility = size_facility(made, context).design
    made.bom = list(bom)
    return made, context


def estimate(catalog, node, units, answers=None, bom=()):
    return cost.cost_of(*candidate(catalog, node, units, answers, bom))


def usd(value):
    return magnitude(value, "USD")


# --------------------------------------------------------------------------------------------------------------- prices


@pytest.mark.parametrize(
    ("item", "low", "high", "date"),
    [
        ("nvidia-dgx-b200", 515_000, 515_000, "2026-03"),  # NVIDIA GTC 2026, slide
        ("nvidia-rtx-5090", 3_400, 5_000, "2026-01"),  # street price, newer than the list price of 1,999
        ("server-8x-nvidia-h200-sxm-141gb", 320_000, 420_000, "2026"),  # trusted more than the older 420,000 to 520,000
        ("nvidia-gb300-nvl72", 3_000_000, 4_000_000, "2026"),
        ("intel-gaudi-3", 125_000 / 8, 125_000 / 8, "2024-06"),  # Intel at Computex 2024: a kit of eight with its baseboard
    ],
)
def test_the_best_row_of_the_catalog(catalog, item, low, high, date):
    quote = prices.quote_of(item, catalog)
    assert (quote.low, quote.high, quote.date) == (low, high, date)


@pytest.mark.parametrize("item", ["amd-mi325x", "amd-mi350x", "nvidia-h200-nvl-141gb", "nvidia-dgx-b300", "no-such-thing"])
def test_what_has_no_public_price_stays_unknown(catalog, item):
    """No public purchase price of MI325X, MI350X or H200 NVL was found; the one of a DGX B300 is not credible."""
    assert prices.quote_of(item, catalog) is None


def test_a_server_is_never_priced_as_its_gpus(catalog):
    """B200 modules have a price, a Dell server with eight of them has none."""
    assert prices.quote_of("nvidia-b200-sxm", catalog) is not None
    assert prices.server_quote(catalog.nodes["dell-poweredge-xe9680l-b200"], catalog, Answers()) is None


def test_any_complete_server_with_the_same_gpus_stands_in(catalog):
    quote = prices.server_quote(catalog.nodes["dell-poweredge-xe9680-h200"], catalog, Answers())
    assert (quote.low, quote.high) == (320_000, 420_000)


def test_whole_cluster_cost_per_h100_is_labelled(catalog):
    """All-in cost of an H100 with its InfiniBand cluster, 2024: 47,000 to 52,000 USD."""
    quote = prices.server_quote(catalog.nodes["dell-poweredge-xe9680-h100"], catalog, Answers())
    assert (quote.low, quote.high) == (8 * 47_000, 8 * 52_000)
    assert quote.covers_network
    assert "estimate" in quote.note
    assert quote.confidence == "low"


def test_own_price(catalog):
    answers = {"own_server.gpu": "nvidia-rtx-4090", "own_server.gpus": 8, "own_server.price": "38000 USD"}
    found = estimate(catalog, "own", 4, answers)
    assert usd(found.purchase.expected) == pytest.approx(152_000)
    assert found.bom[0].source == "you"
    assert prices.server_quote(own_server(Answers.of(answers), catalog), catalog, Answers.of(answers)).kind is Kind.YOU


def test_own_server_without_a_price(catalog):
    assert estimate(catalog, "own", 1, {"own_server.gpu": "nvidia-rtx-4090", "own_server.gpus": 8}).purchase is None


@pytest.mark.parametrize(
    ("earlier", "later", "apart"),
    [("2026-03", "2026-06-26", 3), ("2024..2025", "2026", 12), ("2025-12", "2026-01", 1), ("2026", "2026-10", 9)],
)
def test_ages_of_prices(earlier, later, apart):
    assert prices.months(later) - prices.months(earlier) == apart


def test_a_text_without_a_year_has_no_age():
    assert prices.months("stored snapshot") == 0


# ------------------------------------------------------------------------------------------------------------- estimate


def test_the_bill_is_added_up_again(catalog):
    """A published plan printed 198,500 USD for lines that add up to 188,500 (counter.news, a 200k cluster)."""
    lines = [
        BomLine("node", "node", "server", 4, 38_000, 38_000),
        BomLine("switch", "switch", "switch", 1, 15_000, 15_000),
        BomLine("storage", "storage", "storage", 1, 12_000, 12_000),
        BomLine("rack", "rack, power, cooling", "rack", 1, 9_500, 9_500),
    ]
    assert usd(cost.purchase_of(lines).expected) == pytest.approx(188_500)


def test_unknown_lines_are_named_and_not_zero(catalog):
    bom = [BomLine("nvidia-qm9700", "QM9700", "switch", 2), BomLine("mystery", "Mystery box", "storage", 3)]
    found = estimate(catalog, "nvidia-dgx-b200", 2, bom=bom)
    assert found.missing == ("3 × Mystery box",)
    # 2 × 515,000 for the systems and 2 × 38,000 for the switches
    assert usd(found.purchase.expected) == pytest.approx(1_106_000)


def test_without_a_price_of_the_servers_there_is_no_total(catalog):
    found = estimate(catalog, "nvidia-dgx-b300", 2, bom=[BomLine("nvidia-qm9700", "QM9700", "switch", 2)])
    assert (found.purchase, found.ownership, found.per_gpu_hour) == (None, None, None)
    assert found.energy_per_year is not None
    assert "2 × NVIDIA DGX B300" in found.missing


def test_a_price_that_covers_the_network_counts_it_once(catalog):
    bom = [BomLine("nvidia-qm9700", "QM9700", "switch", 8)]
    found = estimate(catalog, "dell-poweredge-xe9680-h100", 16, bom=bom)
    assert usd(found.purchase.low) == pytest.approx(128 * 47_000)
    assert found.missing == ()


def test_storage_without_a_price_is_estimated_by_its_class_and_says_so(catalog):
    """VDURA, January 2026: 10,950 USD for a drive of 30 TB is 365 per TB; 24.5 million for 25 PB are 980. A Ceph server holds 115.2 TB."""
    bom = [BomLine("ceph-r6615", "Ceph", "storage", 8), BomLine("weka-prime-2118", "capacity not published", "storage", 8)]
    found = estimate(catalog, "nvidia-dgx-b200", 8, bom=bom)
    line = next(each for each in found.bom if each.item == "ceph-r6615")
    assert (line.unit_low, line.unit_high) == (pytest.approx(115.2 * 365), pytest.approx(115.2 * 980))
    assert (line.confidence, line.date, "estimated by class" in line.note) == ("low", "2026-01", True)
    assert found.missing == ("8 × capacity not published",)
    assert usd(found.purchase.low) == pytest.approx(8 * 515_000 + 8 * 42_048)


@pytest.mark.parametrize(("units", "answers"), [(0, {}), (8, {"budget.own_prices": ["ceph-r6615 = 90k USD"]})])
def test_a_quote_replaces_the_class(catalog, units, answers):
    found = estimate(catalog, "nvidia-dgx-b200", 8, answers, [BomLine("ceph-r6615", "Ceph", "storage", units)])
    line = next(each for each in found.bom if each.item == "ceph-r6615")
    assert line.unit_low == (90_000 if answers else None)


def test_a_small_file_server_has_no_price_by_class(catalog):
    """Two terabytes at 365 USD would be no server."""
    found = estimate(catalog, "nvidia-dgx-b200", 2, bom=[BomLine("home-file-server", "homes", "storage", 1)])
    assert found.missing == ("1 × homes",)


def test_lines_that_are_priced_already_are_kept(catalog):
    bom = [BomLine("nvidia-qm9700", "QM9700", "switch", 1, 30_000, 31_000, "2026-11", "you", "high")]
    found = estimate(catalog, "nvidia-dgx-b200", 1, bom=bom)
    assert usd(found.purchase.high) == pytest.approx(546_000)


def test_three_years_of_an_h200_server_with_electricity(catalog):
    """A DGX H200 for 320,000 to 420,000 USD and three years of 8.16 kW at a PUE of 1.4 and 0.08 USD/kWh."""
    answers = {"budget.electricity_price": "0.08 USD/kWh", "facility.pue": 1.4, "budget.years": "3 years"}
    found = estimate(catalog, "nvidia-dgx-h200", 1, answers)
    # 8.16 kW × 1.4 × 26,298 h × 0.08 USD/kWh = 24,035 USD
    assert usd(found.ownership.expected) == pytest.approx(370_000 + 24_035, rel=0.001)
    assert magnitude(found.per_gpu_hour.expected, "USD/hour") == pytest.approx(394_035 / (8 * 26_298), rel=0.001)


def test_cost_of_a_gb300_hour_is_near_the_published_one(catalog):
    """SemiAnalysis, May 2026: 2.69 USD per GPU-hour of a GB300 NVL72, everything counted; ours leaves network and hall out."""
    found = estimate(catalog, "nvidia-gb300-nvl72", 8, {"facility.cooling": "liquid", "budget.years": "4 years"})
    low, high = (magnitude(end, "USD/hour") for end in (found.per_gpu_hour.low, found.per_gpu_hour.high))
    assert 0.5 * 2.69 < low < high < 1.1 * 2.69


def test_eight_h100_for_three_years_stay_in_the_published_band(catalog):
    """A published calculator gives 450,000 to 650,000 USD for an H100 node over three years, colocation of 73,000 included."""
    found = estimate(catalog, "nvidia-dgx-h100", 1, {"budget.electricity_price": "0.09 USD/kWh"})
    assert 400_000 - 73_000 < usd(found.ownership.expected) < 650_000 - 73_000


def test_a_64_node_cluster_costs_what_such_clusters_cost(catalog):
    """Renting 64 nodes for three years is in the order of 20 to 50 million USD (ml-engineering)."""
    found = estimate(catalog, "nvidia-dgx-h200", 64)
    assert 20e6 < usd(found.ownership.expected) < 50e6


def test_every_total_says_what_it_leaves_out(catalog):
    found = estimate(catalog, "nvidia-dgx-h200", 1)
    assert "staff" in found.notes[0]
    assert "colocation" in found.notes[0]


def test_ranges_are_ordered(catalog):
    found = estimate(catalog, "nvidia-dgx-h100", 4)
    for each in (found.purchase, found.energy_per_year, found.ownership):
        assert usd(each.low) <= usd(each.expected) <= usd(each.high)


# -------------------------------------------------------------------------------------------------------- what money buys


def test_unit_price_counts_network_and_storage_in(catalog):
    """Bernstein: network 13 % and storage 1.25 % of a rack with its facility, building and equipment a third: 27 % on the servers."""
    node = catalog.nodes["nvidia-dgx-b200"]
    assert usd(cost.unit_price(node, catalog, Answers()).expected) == pytest.approx(515_000 * 1.27, rel=0.005)
    assert usd(cost.unit_price(node, catalog, Answers(), network=False).expected) == pytest.approx(515_000)


def test_unit_price_does_not_count_a_covered_network_twice(catalog):
    node = catalog.nodes["dell-poweredge-xe9680-h100"]
    assert usd(cost.unit_price(node, catalog, Answers()).expected) == pytest.approx(8 * 49_500 * 1.024, rel=0.005)


def test_unit_price_is_unknown_where_the_server_is(catalog):
    assert cost.unit_price(catalog.nodes["nvidia-dgx-b300"], catalog, Answers()) is None


def test_energy_per_gpu_hour_is_above_what_bloom_measured(catalog):
    """BLOOM: 433 MWh for 1.083 million hours of A100, 0.40 kWh; ours plans with the system's figures and must not be below."""
    made, _ = candidate(catalog, "nvidia-dgx-a100-640gb", 48, {"facility.pue": 1.2})
    assert 0.40 <= cost.energy_per_gpu_hour_kwh(made) <= 2 * 0.40


def test_rental_prices_of_h100(catalog):
    """Dated cloud prices of an H100 differ from about 1.9 to 12.29 USD per hour."""
    low, high = prices.rental_range("nvidia-h100-sxm-80gb", catalog)
    assert low == pytest.approx(1.9)
    assert high == pytest.approx(12.29)
    assert prices.rental_range("nvidia-rtx-4090", catalog) is None


@pytest.mark.parametrize(
    ("region", "usd"), [("Germany", 0.1552), ("Norway", 0.0541), ("ireland", 0.228), ("FRA", 0.1024), ("Virginia", 0.0899)]
)
def test_electricity_of_large_consumers_by_place(catalog, region, usd):
    """Eurostat nrg_pc_205 without taxes, 2024: Germany 0.1427 EUR/kWh, Norway 0.0498; EIA 2024: Virginia 8.99 cents."""
    found = electricity_price(Answers.of({"facility.region": region}), catalog)
    assert magnitude(found.price.expected, "USD/kWh") == pytest.approx(usd)
    assert found.is_of_place


@pytest.mark.parametrize(
    ("region", "usd"), [("Japan", 0.135), ("India", 0.09), ("Singapore", 0.145), ("Saudi Arabia", 0.053), ("CAN", 0.045), ("Taiwan", 0.094)]
)
def test_electricity_elsewhere_is_an_estimate_that_says_so(catalog, region, usd):
    """Figures of a replication package on the trade of computing: one for each country, after tariffs and collections."""
    found = electricity_price(Answers.of({"facility.region": region}), catalog)
    assert magnitude(found.price.expected, "USD/kWh") == pytest.approx(usd)
    assert found.price.kind is Kind.ESTIMATED
    assert found.basis.startswith("an estimate of the industrial price in")


def test_a_country_whose_price_was_not_read_stays_unknown(catalog):
    """Eurostat reports none of the United Kingdom since 2020."""
    found = electricity_price(Answers.of({"facility.region": "United Kingdom"}), catalog)
    assert not found.is_of_place
    assert "unknown" in found.basis
