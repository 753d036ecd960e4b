"""The reliability stage: what it states, keeps, writes and bills."""

from __future__ import annotations

import pytest

from catalogs import load_catalog
from rules.answers import Answers
from rules.candidate import Context
from rules.proposals import candidate_of
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
