"""Every example design replays with no difference, validates, and covers a situation that people are in."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from catalogs import load_catalog
from wizard.files import load
from wizard.replay import replay
from wizard.schemas import validator

FOLDER = Path(__file__).parent.parent.parent / "designs"
DESIGNS = sorted(FOLDER.glob("*.toml"))


@pytest.fixture(scope="module")
def catalog():
    return load_catalog()


@pytest.mark.parametrize("path", DESIGNS, ids=lambda path: path.stem)
def test_replays_without_difference(path, catalog):
    result = replay(path, catalog)
    assert [f"{change.where}: {change.before} → {change.after}" for change in result.changes] == []


@pytest.mark.parametrize("path", DESIGNS, ids=lambda path: path.stem)
def test_meets_the_schema(path):
    assert [error.message for error in validator("design").iter_errors(tomllib.loads(path.read_text(encoding="utf-8")))] == []


@pytest.mark.parametrize("path", DESIGNS, ids=lambda path: path.stem)
def test_says_for_whom_it_is(path):
    meta = load(path).meta
    assert meta["name"]
    assert len(meta["notes"]) > 40


@pytest.mark.parametrize("path", DESIGNS, ids=lambda path: path.stem)
def test_asks_the_seven_questions(path):
    """What to ask vendors is always on the list, with the design's own numbers and a threshold."""
    questions = tomllib.loads(path.read_text(encoding="utf-8"))["question"]
    asked = {id_ for question in questions for id_ in question["guidance"] if id_.startswith("G5.")}
    assert asked == {f"G5.{number}" for number in range(1, 8)}
    assert all(question["good_answer"] and question["to"] for question in questions)


@pytest.mark.parametrize("path", DESIGNS, ids=lambda path: path.stem)
def test_sums_of_the_bill(path):
    """The purchase is the sum of the priced lines; lines without a price are named as left out."""
    document = tomllib.loads(path.read_text(encoding="utf-8"))
    low = sum(line["quantity"] * line["unit_low"] for line in document["bom"] if "unit_low" in line)
    high = sum(line["quantity"] * line["unit_high"] for line in document["bom"] if "unit_high" in line)
    cost = document["design"].get("cost", {})
    if isinstance(cost.get("purchase"), dict):
        assert float(cost["purchase"]["low"].split()[0]) == pytest.approx(low, rel=1e-4)
        assert float(cost["purchase"]["high"].split()[0]) == pytest.approx(high, rel=1e-4)
    unknown = [line for line in document["bom"] if "unit_low" not in line]
    assert len(unknown) == len(cost.get("missing", []))
    assert all(line["price"] == "unknown" for line in unknown)


def test_one_of_them_does_not_fit():
    fits = {path.stem: tomllib.loads(path.read_text(encoding="utf-8"))["design"]["summary"]["fits"] for path in DESIGNS}
    assert [name for name, good in fits.items() if not good] == ["nothing-fits"]
    assert len(fits) >= 12


def test_a_changed_conclusion_is_found(tmp_path, catalog):
    """The check can fail: a figure edited by hand differs, and the replay says that the file was edited."""
    text = DESIGNS[0].read_text(encoding="utf-8")
    changed = tmp_path / "changed.toml"
    changed.write_text(text.replace("fits = true", "fits = false", 1), encoding="utf-8")
    result = replay(changed, catalog)
    assert "design.summary.fits" in [change.where for change in result.changes]
