"""Every statement of the guidance and every threshold is applied; every declared rule is well formed."""

from __future__ import annotations

import importlib
import pkgutil

import pytest

import rules.sizing
from catalogs import load_catalog
from rules.cases import all_rules
from rules.findings import Stage
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
