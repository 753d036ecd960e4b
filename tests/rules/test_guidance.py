"""Every statement of the guidance and every threshold is applied; every declared rule is well formed."""

from __future__ import annotations

import importlib
import pkgutil

import pytest

import rules.sizing
from catalogs import load_catalog
from rules.advisor import advise
from rules.answers import Answers
from rules.cases import all_rules
from rules.findings import Kind, Stage
from rules.guidance.checks import check_rules
from rules.guidance.statements import STATEMENTS
from rules.stages import all_stages


@pytest.fixture(scope="module")
def catalog():
    return load_catalog()


def thresholds_in_formulas() -> dict[str, str]:
    """Collect the registries of the sizing modules: threshold id → the function that applies it."""
    found: dict[str, str] = {}
    for module in pkgutil.walk_packages(rules.sizing.__path__, "rules.sizing."):
        found |= getattr(importlib.import_module(module.name), "THRESHOLDS_IN_FORMULAS", {})
    return found


def test_every_statement_is_applied_by_a_rule():
    applied = {id_ for rule in all_rules().values() for id_ in rule.guidance}
    assert set(STATEMENTS) - applied == set()


def test_no_rule_names_an_unknown_statement():
    assert {id_ for rule in all_rules().values() for id_ in rule.guidance} - set(STATEMENTS) == set()


def test_declared_rules_are_well_formed(catalog):
    problems = check_rules(
        list(all_rules().values()),
        guidance=set(STATEMENTS),
        facts={module.STAGE: module.FACTS for module in all_stages()},
        thresholds={threshold.id for threshold in catalog.thresholds},
    )
    assert problems == []


def test_every_threshold_is_used(catalog):
    """The catalog's rules of thumb are applied by a rule, or by a formula that says so."""
    by_rules = {id_ for rule in all_rules().values() for id_ in rule.thresholds}
    unused = {threshold.id for threshold in catalog.thresholds} - by_rules - set(thresholds_in_formulas())
    assert sorted(unused) == []


def test_registries_name_functions_that_exist():
    for id_, place in thresholds_in_formulas().items():
        module, _, name = place.rpartition(".")
        assert hasattr(importlib.import_module(module), name), f"{id_}: {place}"


def test_every_stage_has_rules():
    assert [module.STAGE for module in all_stages()] == list(Stage)
    assert all(len(module.RULES) >= 5 for module in all_stages())


SITUATIONS = {
    "nothing said": {},
    "one GPU": {"own_server.gpu": "nvidia-rtx-4090", "own_server.gpus": 1, "scale.nodes": 1},
    "nothing fits": {"model.preset": "llama-3.1-405b", "own_server.gpu": "nvidia-rtx-4090", "own_server.gpus": 1, "scale.nodes": 1},
    "two nodes": {"model.preset": "llama-3.1-8b", "scale.nodes": 2, "preferences.nodes": ["nvidia-dgx-h100"]},
    "a rack": {
        "model.preset": "deepseek-v3",
        "scale.gpus": 72,
        "preferences.gpus": ["nvidia-gb200"],
        "facility.cooling": ["liquid", "air"],
    },
    "vision": {"workload.kind": "vision", "scale.nodes": 4},
    "recommendation": {"workload.kind": "recommendation", "model.embedding_parameters": "500B"},
    "ten thousand GPUs": {"model.preset": "llama-3.1-405b", "scale.gpus": 10240, "training.global_batch": 2560},
    "AMD": {"model.preset": "llama-3.1-70b", "preferences.vendors": ["AMD"], "scale.nodes": 16},
    "a desktop": {"workload.kind": "fine_tuning_lora", "preferences.nodes": ["nvidia-dgx-spark"], "scale.nodes": 1},
}


@pytest.mark.parametrize("situation", SITUATIONS)
def test_the_seven_questions_are_always_asked(situation, catalog):
    """G5: with a threshold that a good answer meets, and to somebody."""
    questions = advise(Answers.of(SITUATIONS[situation]), catalog, strict=True).of_kind(Kind.QUESTION)
    asked = {id_ for question in questions for id_ in question.guidance if id_.startswith("G5.")}
    assert asked == {f"G5.{number}" for number in range(1, 8)}
    assert all(question.to and question.ask and question.good_answer for question in questions)
