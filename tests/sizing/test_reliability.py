"""Failures, checkpoints and spares against published runs, and the goodput formula against a simulation of events."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest

from catalogs import load_catalog
from catalogs.loading import CatalogError
from catalogs.quantities import quantity
from rules.sizing.checkpoint import (
    daly_goodput,
    daly_interval,
    effective_training_time_ratio,
    in_words,
    plan_checkpoints,
    rate_in_words,
    young_interval,
)
from rules.sizing.lookup import fact_value, threshold_number
from rules.sizing.reliability import effective_days, failure_rate, goodput_at, goodput_of, job_mtbf, spares_needed
from rules.sizing.results import Range

DAY = 86_400.0


@pytest.fixture(scope="module")
def catalog():
    return load_catalog()


def hours(band):
    return tuple(end.to("hour").magnitude for end in (band.low, band.expected, band.high))


def test_llama3_fails_every_three_hours(catalog):
    """arXiv:2407.21783 §3.3.4: 419 unexpected interruptions in 54 days on 16,384 H100."""
    low, expected, high = hours(job_mtbf(catalog.gpus["H100"], 16_384, catalog))
    assert expected == pytest.approx(54 * 24 / 419, rel=1e-3)
    assert low < expected < high


def test_a_research_cluster_of_a100(catalog):
    """arXiv:2410.21680: 1.8 h at 16,384 and 0.23 h at 131,072 GPUs projected; 7.9 h at 1,024 measured, below what the rate says."""
    gpu = catalog.gpus["A100"]
    assert hours(job_mtbf(gpu, 16_384, catalog))[1] == pytest.approx(1.8, rel=0.01)
    assert hours(job_mtbf(gpu, 131_072, catalog))[1] == pytest.approx(0.23, rel=0.03)
    low, expected, _ = hours(job_mtbf(gpu, 1024, catalog))
    assert low == pytest.approx(7.9, rel=0.01)
    assert expected == pytest.approx(28.8, rel=0.01)


def test_opt_lost_two_hosts_a_day(catalog):
    """metaseq chronicles, final update: about two machines go down every day on 1,024 A100, so an interruption every 12 h."""
    low, _, high = hours(job_mtbf(catalog.gpus["A100"], 1024, catalog))
    assert low < 12.0 < high


def test_opt_restarted_a_hundred_times_in_two_months(catalog):
    """arXiv:2205.01068 §2.5: at least 35 manual and 70 automatic restarts for hardware in two months on 992 A100: one in 13.9 h or less."""
    opt = catalog.facts["opt-175b-attrition"].values
    counted = opt["manual_restarts"].to("") + opt["automatic_restarts"].to("")
    low, _, high = hours(job_mtbf(catalog.gpus["A100"], 992, catalog))
    assert counted == 105
    assert low < 61 * 24 / 105 < high


def test_bloom_failed_once_or_twice_a_week(catalog):
    """The technology behind BLOOM training: 1 to 2 GPU failures a week on about 400 A100, 384 of them in the job."""
    least, most = catalog.facts["bloom-failures"].values["gpu_failures_per_week"].ends("")[::2]
    low, _, high = hours(job_mtbf(catalog.gpus["A100"], 384, catalog))
    assert (least, most) == (1, 2)
    assert low < 7 * 24 / 2 < 7 * 24 < high


@pytest.mark.parametrize("weeks", [3, 4])
def test_megascale_restarted_over_a_hundred_times_in_several_weeks(catalog, weeks):
    """arXiv:2402.15627 §6.3: over 100 restarts in several weeks on more than 10,000 GPUs (Ampere); three weeks say 5 h, four 6.7 h."""
    low, _, high = hours(job_mtbf(catalog.gpus["A100"], 10_000, catalog))
    assert low < weeks * 7 * 24 / 100 < high


def test_a_hundred_thousand_gpus_fail_every_eighteen_minutes_at_the_low_end(catalog):
    """arXiv:2602.00277 expects a failure every 18 minutes at 100,000 GPUs."""
    low, expected, _ = hours(job_mtbf(catalog.gpus["H100"], 100_000, catalog))
    assert low <= 18 / 60 <= expected


def test_a_gpu_without_a_published_rate_is_marked_assumed(catalog):
    assert failure_rate(catalog.gpus["MI300X"], 64, catalog).kind == "assumed"
    assert failure_rate(catalog.gpus["H100"], 64, catalog).kind == "measured"


def test_more_gpus_never_fail_less_often(catalog):
    sizes = [8, 64, 500, 1024, 2000, 4096, 9000, 16_384, 20_000, 100_000]
    for gpu in ("H100", "A100", "nvidia-gb200", "MI300X"):
        bands = [hours(job_mtbf(catalog.gpus[gpu], size, catalog)) for size in sizes]
        for before, after in pairwise(bands):
            assert all(a > b for a, b in zip(before, after, strict=True))
        assert all(low <= expected <= high for low, expected, high in bands)


def test_llama3_kept_more_than_ninety_percent(catalog):
    """arXiv:2407.21783: effective training time above 90 %; the formula of arXiv:2410.21680 gives 0.89 with 10 min and 15 min."""
    mtbf = 54 * DAY / 419
    assert effective_training_time_ratio(900, 20, 600, mtbf) == pytest.approx(0.886, abs=0.002)
    found = goodput_of(catalog.gpus["H100"], 16_384, catalog, 5.29e12)
    assert 0.89 <= found.expected <= 0.93
    assert found.low < 0.90 < found.high


def test_byterobust_lies_in_the_band(catalog):
    """ByteRobust (SOSP 2025): effective training time 0.97 on 9,600 GPUs, the best documented at that scale."""
    found = goodput_of(catalog.gpus["H100"], 9600, catalog, 2e12)
    assert found.low < 0.97 < found.high


def simulated_goodput(interval, pause, restart, mtbf, seed, work_intervals):
    """Walk through work, checkpoints, failures and restarts as events; return useful time over elapsed time."""
    random_numbers = random.Random(seed)
    clock, done, next_failure = 0.0, 0, random_numbers.expovariate(1 / mtbf)
    while done < work_intervals:
        end = clock + interval + pause
        if next_failure >= end:
            clock, done = end, done + 1
            continue
        clock = next_failure
        while True:
            next_failure = clock + random_numbers.expovariate(1 / mtbf)
            if next_failure >= clock + restart:
                clock += restart
                break
            clock = next_failure
    return done * interval / clock


@pytest.mark.parametrize("gpus", [1000, 16_384, 100_000])
def test_the_formula_agrees_with_a_simulation(catalog, gpus):
    mtbf = hours(job_mtbf(catalog.gpus["H100"], gpus, catalog))[1] * 3600
    interval, pause, restart = young_interval(20.0, mtbf), 20.0, 660.0
    simulated = simulated_goodput(interval, pause, restart, mtbf, seed=7, work_intervals=20_000)
    assert daly_goodput(interval, pause, restart, mtbf) == pytest.approx(simulated, abs=0.01)


@pytest.mark.parametrize(("pause", "mtbf"), [(40.0, 77 * 3600.0), (20.0, 11_136.0), (120.0, 1800.0)])
def test_the_interval_is_the_best_one(pause, mtbf):
    """Daly's interval loses next to nothing against the best of a fine search."""
    searched = max(daly_goodput(pause * factor / 10, pause, 300.0, mtbf) for factor in range(1, 5000))
    assert daly_goodput(daly_interval(pause, mtbf), pause, 300.0, mtbf) == pytest.approx(searched, rel=1e-4)
    assert daly_goodput(young_interval(pause, mtbf), pause, 300.0, mtbf) == pytest.approx(searched, rel=0.01)


def test_goodput_refuses_a_job_that_always_fails():
    with pytest.raises(ValueError, match="must be positive"):
        daly_goodput(600, 1, 60, 0.0)


def test_a_trillion_parameters_do_not_need_a_terabyte_per_second(catalog):
    """VAST, 85,000 checkpoints: 50 to 500 GB/s for a full state of 14 TB, written in the background."""
    for gpus in (4096, 16_384):
        mtbf = hours(job_mtbf(catalog.gpus["H100"], gpus, catalog))[1] * 3600
        plan = plan_checkpoints(14e12, gpus, mtbf, catalog)
        assert plan.mode == "asynchronous"
        assert 50e9 <= plan.needed <= 500e9


def test_bloom_would_have_stopped_for_less_than_a_hundredth(catalog):
    """BLOOM: 2.3 TB in 40 s every three hours, 0.37 % of the time; no more write rate than its 57.5 GB/s is asked for."""
    mtbf = hours(job_mtbf(catalog.gpus["A100"], 384, catalog))[1] * 3600
    plan = plan_checkpoints(2.3e12, 384, mtbf, catalog, usual_write=57.5e9, offered_write=57.5e9)
    assert plan.mode == "synchronous"
    assert plan.write == pytest.approx(40.0, rel=0.01)
    assert plan.interval <= 3 * 3600
    assert plan.stall_share <= 0.01
    assert plan.needed <= 57.5e9


def test_small_state_is_written_while_training_stops(catalog):
    plan = plan_checkpoints(1e9, 8, 1000 * 3600.0, catalog, usual_write=0.2e9)
    assert plan.mode == "synchronous"
    assert plan.stall_share <= 0.02
    assert plan.pause == pytest.approx(5.0, rel=0.01)


def test_spares_are_twice_what_is_out(catalog):
    """A cluster like Llama 3's has 7.76 failures a day; with a day of repair eight nodes are out and twice that suffice."""
    assert 15 <= spares_needed(419 / 54, 2048, repair_days=1.0) <= 19
    assert spares_needed(0.0, 2048) == 0


def test_more_spares_are_never_needed_for_quicker_repair(catalog):
    rate = failure_rate(catalog.gpus["H100"], 4096, catalog).expected * 4096
    counts = [spares_needed(rate, 512, days) for days in (0.1, 0.5, 1.0, 3.0, 10.0, 30.0)]
    assert counts == sorted(counts)


def test_the_normal_tail_meets_the_poisson_one():
    assert spares_needed(501.0, 20_000, 1.0) == pytest.approx(spares_needed(499.0, 20_000, 1.0), abs=8)


def test_two_servers_do_not_buy_a_third_as_a_spare(catalog):
    """A spare would add half the price to save two hundredths of the time."""
    rate = failure_rate(catalog.gpus["H100"], 16, catalog).expected * 16
    assert spares_needed(rate, 2) == 0


def test_bloom_kept_four_spare_nodes(catalog):
    """arXiv:2211.05100: 48 nodes and four spare ones."""
    rate = failure_rate(catalog.gpus["A100"], 384, catalog).expected * 384
    assert spares_needed(rate, 48) == pytest.approx(4, abs=1)


def test_days_with_failures(catalog):
    """Half the time lost doubles the days; the slow end takes the low goodput."""
    found = goodput_of(catalog.gpus["H100"], 16_384, catalog, 5.29e12)
    days = effective_days(Range(quantity(48, "day"), quantity(50, "day"), quantity(55, "day")), found)
    assert 53.5 <= days.expected.to("day").magnitude <= 56.5
    assert days.low < days.expected < days.high
    assert goodput_at(2048, catalog) == pytest.approx(found.expected, abs=0.01)


def test_times_in_words():
    assert [in_words(each) for each in (0.0139, 12.68, 445.4, 11_136, 950_400)] == ["13.9 ms", "12.7 s", "7.42 min", "3.09 h", "11 days"]


def test_rates_in_words():
    assert [rate_in_words(each) for each in (59_740.0, 11.79e6, 43.05e9, 1.2e12)] == ["59.7 kB/s", "11.8 MB/s", "43 GB/s", "1.2 TB/s"]


def test_a_missing_number_of_the_catalog_is_named(catalog):
    with pytest.raises(CatalogError, match="no fact 'no-such'"):
        fact_value(catalog.facts, "no-such", "rate")
    with pytest.raises(CatalogError, match="has no value 'rate'"):
        fact_value(catalog.facts, "meta-rsc", "rate")
    with pytest.raises(CatalogError, match="must have a number"):
        threshold_number(catalog.thresholds, "sto-local-first")
