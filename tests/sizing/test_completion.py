"""The time that an interrupted run takes: the formulas against a simulation of events, and against published runs."""

from __future__ import annotations

import math
import statistics

import pytest

from catalogs import load_catalog
from rules.sizing.checkpoint import daly_goodput
from rules.sizing.completion import (
    Interrupted,
    chance_of_finishing,
    completion,
    gamma_below,
    simulated_chance,
    simulated_times,
)
from rules.sizing.reliability import failure_rate, goodput_of

DAY, HOUR = 86_400.0, 3600.0


def a_run(gpus, days=54.0):
    """A run on H100 with a checkpoint of 14 bytes for each of 405 billion parameters, as the reliability stage plans it."""
    catalog = load_catalog()
    gpu = catalog.gpus["H100"]
    found = goodput_of(gpu, gpus, catalog, 5.67e12)
    plan = found.checkpoints
    background = plan.lost - plan.interval / 2.0
    return Interrupted(days * DAY, plan.interval, plan.pause, found.restart + background, found.mtbf)


@pytest.mark.parametrize(("gpus", "runs"), [(1000, 3000), (16_384, 800), (100_000, 200)])
def test_formula_and_simulation_agree(gpus, runs):
    """Mean within 1 %, spread within 12 %, and the chance of several deadlines within 6 points (the simulation's own error is 2 to 3)."""
    run = a_run(gpus)
    found, times = completion(run), simulated_times(run, runs, seed=20261201)
    assert statistics.fmean(times) == pytest.approx(found.mean, rel=0.01)
    assert statistics.stdev(times) == pytest.approx(found.deviation, rel=0.12)
    for place in (-1.0, -0.3, 0.0, 0.5, 1.5):
        deadline = found.mean + place * found.deviation
        seen = sum(each <= deadline for each in times) / runs
        assert chance_of_finishing(run, deadline) == pytest.approx(seen, abs=0.06 if runs < 1000 else 0.03)


def test_the_mean_is_that_of_daly():
    """Daly 2006, eq. 20, is the mean; a run of whole intervals takes work / goodput."""
    run = Interrupted(1000 * HOUR, HOUR, 60.0, 600.0, 20 * HOUR)
    assert run.work / completion(run).mean == pytest.approx(daly_goodput(HOUR, 60.0, 600.0, 20 * HOUR), rel=1e-9)


def test_few_failures_leave_a_chance_that_none_comes():
    """A day on one server of which a failure comes every hundred days: exp(-0.01) that nothing happens at all."""
    run = Interrupted(DAY, DAY, 0.0, 600.0, 100 * DAY)
    assert chance_of_finishing(run, DAY) == pytest.approx(math.exp(-0.01), abs=1e-6)
    assert chance_of_finishing(run, DAY - 1.0) == 0.0
    assert simulated_chance(run, DAY, 4000, seed=1) == pytest.approx(math.exp(-0.01), abs=0.006)


def test_a_run_that_cannot_end_has_no_chance():
    assert chance_of_finishing(Interrupted(600 * HOUR, 600 * HOUR, 0.0, 600.0, HOUR), 1e12) == 0.0


@pytest.mark.parametrize(
    ("shape", "value", "expected"),
    [(1.0, 1.0, 1 - math.exp(-1)), (2.0, 3.0, 1 - 4 * math.exp(-3)), (0.5, 0.5, math.erf(math.sqrt(0.5))), (10.0, 10.0, 0.5420703)],
)
def test_the_gamma_function_against_its_closed_forms(shape, value, expected):
    """Abramowitz and Stegun 6.5: exponential, Erlang, error function; P(10, 10) is chi-square of 20 with 20 degrees."""
    assert gamma_below(shape, value) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(("degrees", "value"), [(60, 79.08), (100, 124.34), (200, 233.99)])
def test_large_shapes_against_the_table_of_chi_square(degrees, value):
    """Ninety-five per cent points of chi-square: 79.08 with 60 degrees, 124.34 with 100, 233.99 with 200; the shape is half of them."""
    assert gamma_below(degrees / 2, value / 2) == pytest.approx(0.95, abs=1e-3)


def test_a_seed_gives_the_same_runs_again():
    run = a_run(16_384)
    assert simulated_times(run, 3, seed=7) == simulated_times(run, 3, seed=7)
    assert simulated_times(run, 3, seed=7) != simulated_times(run, 3, seed=8)


def test_llama_3_saw_as_many_failures_as_a_run_of_its_size():
    """arXiv:2407.21783: 419 unexpected interruptions in 54 days; a Poisson count of that mean spreads by 20."""
    rate = failure_rate(load_catalog().gpus["H100"], 16_384, load_catalog())
    assert rate.expected * 16_384 * 54 == pytest.approx(419, abs=20)


def test_opt_restarted_as_often_as_published():
    """Ninety restarts in 33 days on 1,024 A100 lie in the band: metaseq chronicles as told by the compendium of failures."""
    catalog = load_catalog()
    rate = failure_rate(catalog.gpus["A100"], 1024, catalog)
    gpu_days = 1024 * 33
    assert rate.few * gpu_days < 90 < rate.many * gpu_days


def test_bloom_lost_little_of_its_time():
    """arXiv:2211.05100 and BigScience's log: 1 to 2 failures a week on 384 A100, a checkpoint of 40 s every three hours: 1.5 h lost each.

    Two failures a week with an hour and a half of work and ten minutes of restart each are 2 % of the time; pauses are 0.37 %.
    """
    week = 7 * DAY
    run = Interrupted(118 * DAY, 3 * HOUR, 40.0, 600.0, week / 1.5)
    lost = 1.0 - run.work / completion(run).mean
    assert 0.0037 + 0.01 <= lost <= 0.0037 + 0.02


@pytest.mark.parametrize(("shape", "value"), [(5, 200.0), (3, 5000.0), (20, 90.0), (200, 40.0), (2, 1e-9), (5, 3.0)])
def test_far_tails_are_what_the_poisson_distribution_says(shape, value):
    """Of whole shapes a gamma variable is below x where a Poisson variable of mean x reaches the shape (Abramowitz and Stegun 6.5.13)."""
    below = sum(math.exp(-value + count * math.log(value) - math.lgamma(count + 1)) for count in range(shape))
    assert gamma_below(shape, value) == pytest.approx(1.0 - below, abs=1e-3)
