"""The table of features: 42 rows, each held by tests that are there."""

from __future__ import annotations

import ast
import tomllib
from functools import lru_cache
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent
ROWS = tomllib.loads((FOLDER / "feature_table.toml").read_text(encoding="utf-8"))["row"]


@lru_cache(maxsize=64)
def functions_of(path: Path) -> frozenset[str]:
    """Return the names of the functions in a file, those in classes among them."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return frozenset(each.name for each in ast.walk(tree) if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef)))


def test_there_are_42_features_of_different_names():
    assert len({row["feature"] for row in ROWS}) == len(ROWS) == 42


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["feature"])
def test_every_feature_is_held_by_tests_that_are_there(row):
    assert row["tests"]
    for each in row["tests"]:
        file, _, name = each.partition("::")
        path = (FOLDER.parent / file).resolve()
        assert path.is_file(), each
        assert name in functions_of(path), each
