"""Circuits under the terms of a site: share of the rating, power factor, banks, redundancy, and what a lost path leaves."""

import pytest

from catalogs import load_catalog
from catalogs.quantities import magnitude
from rules.sizing import backup
from rules.sizing.feeds import FeedTerms, choose_feed, paths_needed


@pytest.fixture(scope="module")
def catalog():
    return load_catalog()


@pytest.mark.parametrize(
    ("share", "factor", "kw"),
    [
        (0.8, 1.0, 17.74),  # 400 V, 32 A: 22.17 kVA at the rating, 80 % of it
        (1.0, 1.0, 22.17),  # an IEC feed at its rating: APC prints 22.0 kW for its AP8886
        (0.8, 0.95, 16.85),
    ],
)
def test_share_of_the_rating_and_power_factor(catalog, share, factor, kw):
    terms = FeedTerms(share, factor, 32.0)
    assert choose_feed(5.0, "400v_three_phase", catalog, terms=terms).each_kw == pytest.approx(kw, rel=0.005)


def test_banks_limit_what_a_unit_gives(catalog):
    """Units of the AP8868 kind, 208 V and 50 A, are limited by three banks of 20 A: 9,984 W where the circuit carries 14.4 kW."""
    feed = choose_feed(9.0, "208v_three_phase", catalog, terms=FeedTerms(current_a=50.0))
    assert feed.each_kw == pytest.approx(9.984)


def test_an_outlet_of_100_v_carries_less(catalog):
    """Japan: 100 V and 15 A at 80 % are 1.2 kW; a machine of 1.4 kW needs the circuit of 20 A."""
    assert [pdu.usable.to("kW") for pdu in FeedTerms().circuits_of("100v_single_phase", catalog)] == [pytest.approx(1.2)]
    feed = choose_feed(1.4, "", catalog, desktop=True, terms=FeedTerms(region="Japan", current_a=20.0))
    assert (feed.pdu.id, feed.outlet_volts) == ("pdu-100-1ph-20a", 100.0)


def test_two_paths_that_each_carry_the_rack(catalog):
    """40.8 kW of four DGX H100 under 2N: a 415 V circuit of 100 A (57.5 kW) on each path; one path lost, the other carries it."""
    feed = choose_feed(40.8, "415v_three_phase", catalog, terms=FeedTerms(redundancy="2n"))
    assert (feed.circuits, feed.paths, feed.pdu.id) == (2, 2, "pdu-415-3ph-100a")
    assert feed.survives(40.8)
    by_size = choose_feed(40.8, "415v_three_phase", catalog, terms=FeedTerms(current_a=32.0, redundancy="2n"))
    assert (by_size.circuits, by_size.paths) == (6, 2)  # three of 18.4 kW on each path
    assert by_size.survives(40.8)


def test_one_circuit_more_than_carries_the_rack(catalog):
    """40.8 kW on circuits of 17.25 kW (415 V, 30 A): three carry it, N+1 are four."""
    feed = choose_feed(40.8, "415v_three_phase", catalog, terms=FeedTerms(current_a=30.0, redundancy="n_plus_1"))
    assert feed.circuits == 4
    assert feed.survives(40.8)
    assert not choose_feed(40.8, "415v_three_phase", catalog, terms=FeedTerms(current_a=30.0, redundancy="n")).survives(40.8)


def test_circuits_that_were_given_are_what_a_rack_has(catalog):
    """Two circuits of 32 A at 400 V carry 35.5 kW together, 17.7 kW where one path must do; no breaker of the catalog is above 125 A.

    2 × √3 × 400 V × 125 A × 0.8 = 138.6 kW.
    """
    assert FeedTerms(current_a=32.0, circuits=2).rack_kw("400v_three_phase", catalog) == pytest.approx(35.48)
    assert FeedTerms(current_a=32.0, circuits=2, redundancy="2n").rack_kw("400v_three_phase", catalog) == pytest.approx(17.74)
    assert FeedTerms(circuits=2).rack_kw("400v_three_phase", catalog) == pytest.approx(138.56)


def test_a_breaker_that_the_catalog_does_not_have(catalog):
    """400 V and 125 A exist; 400 V and 80 A are worked out: 55.4 kVA, 44.3 kW at 80 %."""
    feed = choose_feed(40.0, "400v_three_phase", catalog, terms=FeedTerms(current_a=80.0, redundancy="n"))
    assert feed.circuits == 1
    assert magnitude(feed.usable, "kW") == pytest.approx(44.34, rel=0.001)
    assert feed.text == "1 × 400 V, three-phase, 80 A"


@pytest.mark.parametrize(
    ("amperes", "kw"),
    [(None, 1.44), (15.0, 1.44), (20.0, 1.92)],  # the outlet of homes and, where it is said, that of offices
)
def test_outlets_of_120_v(catalog, amperes, kw):
    assert choose_feed(1.0, "120v_single_phase", catalog, terms=FeedTerms(current_a=amperes)).each_kw == pytest.approx(kw)


@pytest.mark.parametrize(
    ("supplies", "carrying", "paths"),
    [
        (6, 4, 3),  # DGX H100; NVIDIA puts three distribution units into racks of such systems
        (6, 5, 6),  # DGX B200: one spare of six means six paths
        (4, 2, 2),  # N+N
        (2, 1, 2),
        (6, 6, 0),
    ],
)
def test_paths_that_a_servers_supplies_need(supplies, carrying, paths):
    assert paths_needed(supplies, carrying) == paths


def test_rating_of_generators_and_ups(catalog):
    """A generator of 100 kVA at a power factor of 0.8 gives 80 kW; a modern UPS gives as many kW as kVA."""
    assert backup.size_generator("n", 80.0, catalog).rating_kva == pytest.approx(100.0)
    assert backup.size_ups("2n", 500.0, catalog).text == "2N, 2 × 500 kVA"
    assert backup.size_ups("n", 44.31, catalog).text == "N, 1 × 45 kVA"  # 44 kVA would not carry 44.31 kW
    assert backup.size_ups("none", 500.0, catalog).text == "none"
    assert backup.size_ups("", 500.0, catalog) is None


@pytest.mark.parametrize(
    ("metres", "ups_kva", "generator_kva"),
    [
        (0, 500, 1000),
        (1000, 500, 1000),  # neither loses anything up to here
        (1525, 528, 1000),  # 5.25 % less of a UPS: 500 / 0.9475
        (2000, 556, 1068),  # a UPS gives 90 %; 475 m above 1,525 m take 6.33 % of a generator
        (2425, 584, 1137),  # 900 m above: 12 % of a generator
    ],
)
def test_thin_air_takes_from_ups_and_generator(catalog, metres, ups_kva, generator_kva):
    """Liebert NX: 1 % for each 100 m above 1,000 m; Cummins: 4 % for each 300 m above 1,525 m."""
    assert backup.size_ups("n", 500.0, catalog, metres).rating_kva == pytest.approx(ups_kva, rel=0.002)
    assert backup.size_generator("n", 800.0, catalog, metres).rating_kva == pytest.approx(generator_kva, rel=0.002)


def test_swing_of_a_unit_of_eight_gb200_racks(catalog):
    """NVIDIA DPS: a GB200 idles at 200 W and takes 1,200: 576 of them swing by 576 kW."""
    node = catalog.nodes["nvidia-gb200-nvl72"]
    assert backup.swing_kw(node, catalog.gpus[node.gpu], 8, catalog) == pytest.approx(576, rel=0.001)


def test_inrush_of_a_rack_of_four_dgx_h100(catalog):
    """24 supplies of 40 A; on two circuits of 60 A, type C, seven systems may start at once, one supply on each phase."""
    assert backup.inrush_a(24, catalog) == pytest.approx(960)
    feed = choose_feed(40.8, "415v_three_phase", catalog)
    assert feed.pdu.id == "pdu-415-3ph-60a"
    assert backup.inrush_limit_a(feed, catalog) == pytest.approx(300)
    assert backup.units_at_once(feed, 6, catalog) == 7


@pytest.mark.parametrize(
    ("region", "rack", "desk"),
    [
        ("Texas", "415 V", "120 V"),
        ("Canada", "415 V", "120 V"),
        ("Germany", "400 V", "230 V"),
        ("Japan", "200 V", "100 V"),
        ("Singapore", "400 V", "230 V"),
    ],
)
def test_what_is_assumed_by_region(catalog, region, rack, desk):
    """Outlets give 120 V in North America and 230 V in Europe and most of Asia; 400 V between lines are 230 V to neutral."""
    terms = FeedTerms(region=region)
    assert choose_feed(20.0, "", catalog, terms=terms).pdu.name.startswith(rack)
    at_desk = choose_feed(1.0, "", catalog, desktop=True, terms=terms)
    assert at_desk.pdu.name.startswith(desk)
    assert at_desk.assumed
