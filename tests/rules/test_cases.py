"""The corpus of regression cases: every case passes, and every rule fires in one and stays silent in another."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from catalogs import load_catalog
from rules.cases import all_rules, check_case, coverage, run_case

FOLDER = Path(__file__).parent
CASES = [(path.stem, case) for path in sorted(FOLDER.glob("*.toml")) for case in tomllib.loads(path.read_text(encoding="utf-8"))["case"]]


@pytest.fixture(scope="module")
def catalog():
    return load_catalog([FOLDER / "catalog"])


@pytest.mark.parametrize(("stage", "case"), CASES, ids=[f"{case['rule']}-{number}" for number, (_, case) in enumerate(CASES)])
def test_case(stage, case, catalog):
    check_case(case)
    result = run_case(case, catalog)
    assert result.passed, f"{stage}: {case['name']}: {result.message}"


def test_every_rule_fires_in_one_case_and_stays_silent_in_another():
    """Only cases that go through the whole pipeline count."""
    seen = coverage(case for _, case in CASES if "answers" in case)
    assert {rule: both for rule, both in seen.items() if both != (True, True)} == {}


def test_cases_name_their_source():
    assert [case["name"] for _, case in CASES if not case.get("source")] == []


def test_a_case_for_an_unknown_rule_is_refused(catalog):
    with pytest.raises(ValueError, match="no such rule"):
        run_case({"rule": "vram.no_such", "fires": True, "answers": {}}, catalog)


def test_a_wrong_expectation_fails(catalog):
    """The runner can fail: turning a case round must turn its verdict."""
    _, case = next((stage, case) for stage, case in CASES if "answers" in case)
    assert not run_case({**case, "fires": not case["fires"], "values": {}}, catalog).passed


def test_rules_are_many_enough_to_matter():
    assert len(all_rules()) >= 80
