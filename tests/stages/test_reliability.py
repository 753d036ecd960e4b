"""The reliability stage: what it states, keeps, writes and bills."""

from __future__ import annotations

import pytest

from catalogs import load_catalog
from catalogs.quantities import parse_quantity
from rules.answers import Answers
from rules.candidate import Context
from rules.findings import Stage
from rules.proposals import candidate_of
from rules.sizing.failures import stock_for
from rules.sizing.workload import describe_workload
from rules.stages import reliability, storage_cpu


@pytest.fixture(scope="module")
def catalog():
    return load_catalog()


def assess(catalog, units, answers, node="nvidia-dgx-h100"):
    given = Answers.of(answers)
    context = Context(given, catalog, describe_workload(given, catalog))
    record = catalog.nodes[node]
    candidate = candidate_of(record, catalog.gpus[record.gpu], units, context, "test")
    storage_cpu.assess(candidate, context)
    return candidate, context, reliability.assess(candidate, context)


LLAMA = {"model.preset": "llama-3.1-405b", "training.tokens": "15.6T", "scale.deadline": "54 days"}


def test_llama3(catalog):
    """arXiv:2407.21783: 419 unexpected interruptions in 54 days, more than 90 % effective, on 16,384 H100."""
    candidate, _, fact = assess(catalog, 2048, LLAMA)
    assert fact["mtbf_h"] == pytest.approx(3.09, rel=0.01)
    assert 89.0 <= fact["goodput_percent"] <= 93.0
    assert fact["interruptions"] / fact["run_days"] == pytest.approx(419 / 54, rel=0.01)
    assert fact["run_low_days"] < fact["run_days"] < fact["run_high_days"]
    assert candidate.reliability.run_time.expected.to("day").magnitude == fact["run_days"]


def test_a_run_that_waits_for_data_takes_longer(catalog):
    """Storage that reads two thirds of what the GPUs need makes every step, and the run, half as long again."""
    candidate, context, fact = assess(catalog, 2048, LLAMA)
    candidate.facts[Stage.STORAGE_CPU] = {"dataset_read_gb_per_s": 300.0, "read_offered_gb_per_s": 200.0}
    slow = reliability.assess(candidate, context)
    assert (fact["data_wait_percent"], slow["data_wait_percent"]) == (0.0, pytest.approx(50.0))
    assert slow["run_days"] == pytest.approx(1.5 * fact["run_days"])
    assert slow["chance_failures_percent"] < fact["chance_failures_percent"] or fact["chance_failures_percent"] == 0.0
    candidate.facts[Stage.RELIABILITY] = slow
    assert reliability.describe(candidate, context)["reliability"]["data_wait"].startswith("50 % longer steps")


def test_neutral_facts_without_a_plan(catalog):
    candidate, context, fact = assess(catalog, 1, {"model.preset": "llama-3.1-405b", "scale.nodes": 1})
    assert candidate.choice is None
    assert (fact["has_plan"], fact["run_known"], fact["run_days"], fact["interruptions"]) == (False, False, 0.0, 0.0)
    assert set(fact) == {each.name for each in reliability.FACTS}
    assert "run_time" not in reliability.describe(candidate, context)["reliability"]


def test_spares_are_billed_as_whole_servers(catalog):
    candidate, context, fact = assess(catalog, 64, LLAMA)
    (line,) = reliability.bill(candidate, context)
    assert (line.item, line.category, line.quantity) == ("nvidia-dgx-h100", "spares", fact["spare_nodes"])
    assert 1 <= line.quantity <= 6


def test_spares_of_a_rack_are_trays(catalog):
    candidate, context, _ = assess(catalog, 4, LLAMA, node="nvidia-gb200-nvl72")
    (line,) = reliability.bill(candidate, context)
    assert line.item == "nvidia-gb200-nvl72-tray"
    assert line.quantity < 18


def test_a_single_node_keeps_no_spare(catalog):
    candidate, context, _ = assess(catalog, 1, {"model.preset": "llama-3.1-8b"})
    assert candidate.reliability.spare_nodes == 0
    assert reliability.bill(candidate, context) == []


def test_faster_storage_never_lowers_goodput(catalog):
    """With the chosen system's write rate checkpoints are taken at least as often as without it."""
    given = Answers.of(LLAMA)
    context = Context(given, catalog, describe_workload(given, catalog))
    node = catalog.nodes["nvidia-dgx-h100"]
    for units in (8, 128, 1024):
        candidate = candidate_of(node, catalog.gpus[node.gpu], units, context, "test")
        without = reliability.assess(candidate, context)["goodput_percent"]
        storage_cpu.assess(candidate, context)
        assert reliability.assess(candidate, context)["goodput_percent"] >= without - 1e-9


def test_section_has_range_and_kind(catalog):
    candidate, context, _ = assess(catalog, 64, LLAMA)
    section = reliability.describe(candidate, context)["reliability"]
    assert section["job_mtbf_kind"] == "measured"
    low, high = section["goodput_range"]
    assert low <= section["goodput"] <= high <= 1.0


def test_a_run_of_minutes_is_told_in_minutes(catalog):
    _, _, fact = assess(catalog, 1, {"model.preset": "llama-3.1-8b", "workload.kind": "fine_tuning_lora", "training.tokens": "20M"})
    assert fact["run_days"] < 0.05
    assert fact["run_time"].endswith((" min", " s"))


def test_the_chance_of_the_deadline_by_formula_and_by_simulation(catalog):
    """Where the deadline is the mean of the run, about half of all runs make it; the simulation counts every failure on its own."""
    candidate, context, fact = assess(catalog, 2048, LLAMA)
    days = candidate.reliability.run_time.expected.to("day").magnitude
    candidate, context, fact = assess(catalog, 2048, {**LLAMA, "scale.deadline": f"{days:.4f} days"})
    section = reliability.describe(candidate, context)["reliability.deadline"]
    assert 0.35 <= section["chance_failures_alone"] <= 0.65
    assert section["chance_simulated"] == pytest.approx(section["chance_failures_alone"], abs=0.25)
    assert parse_quantity(section["simulated_mean"]).to("day").magnitude == pytest.approx(days, rel=0.02)
    assert 0.2 <= section["chance"] <= 0.8
    assert fact["chance_known"] is True


def test_a_run_of_a_million_years_is_left_to_the_formula(catalog):
    """Its failures cannot be counted one by one within a redesign, and none is made up."""
    answers = {**LLAMA, "training.tokens": "1e18", "scale.deadline": "54 days"}
    candidate, context, _ = assess(catalog, 64, answers)
    section = reliability.describe(candidate, context)["reliability.deadline"]
    assert section["simulated_runs"] == 0
    assert "chance_simulated" not in section
    assert section["chance"] == 0.0


def test_more_time_never_lowers_the_chance(catalog):
    chances = [assess(catalog, 2048, {**LLAMA, "scale.deadline": f"{days} days"})[2]["chance_percent"] for days in (40, 60, 80, 100, 200)]
    assert chances == sorted(chances)
    assert chances[0] < 5 < 95 < chances[-1]


def test_without_a_deadline_no_chance_is_claimed(catalog):
    candidate, context, fact = assess(catalog, 16, {"model.preset": "llama-3.1-8b", "scale.nodes": 16})
    assert fact["chance_known"] is False
    assert "reliability.deadline" not in reliability.describe(candidate, context)


def test_what_one_failure_costs_on_the_cluster_of_llama_3(catalog):
    """2,048 nodes: a node 2,832 times a year (419 in 54 days), each with the job of 16,384 GPUs back to its checkpoint."""
    candidate, context, _ = assess(catalog, 2048, LLAMA)
    rows = {row["part"]: row for row in reliability.describe(candidate, context)["reliability"]["single_failure"]}
    node = rows["node with its GPUs and links"]
    assert node["per_year"] == pytest.approx(419 * 365 / 54, rel=0.01)
    assert node["stops_gpus"] == 16_384
    assert node["gpu_hours"] == pytest.approx(16_384 * (660 + 225 + 40) / 3600, rel=0.35)
    assert node["meaning"] == "interrupts the job"


@pytest.mark.parametrize(("mean", "stock"), [(0.05, 0), (0.06, 1), (1.0, 3), (5.0, 9), (100.0, 117)])
def test_the_shelf_suffices_nineteen_times_of_twenty(mean, stock):
    """Tables of the Poisson distribution: P(X <= 3) is 0.981 for a mean of 1, P(X <= 9) 0.968 for 5, P(X <= 117) 0.957 for 100."""
    assert stock_for(mean) == stock
