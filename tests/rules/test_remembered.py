"""What a candidate was sized as before is taken over only where everything that it was worked out from is the same."""

from __future__ import annotations

import gc
import tomllib
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from catalogs import load_catalog
from rules import judging, remembered
from rules.advisor import advise
from rules.answers import Answers
from rules.candidate import Context

CATALOG = load_catalog()
DESIGNS = Path(__file__).parents[2] / "designs"
CHANGES = (
    ("facility.total_power", "3 MW"), ("preferences.fabric", "ethernet"), ("facility.rack_power", "20 kW"), ("budget.years", 3),
    ("facility.total_power", "2 MW"), ("preferences.storage", "object_store"), ("facility.rack_units", 48), ("preferences.fabric", "any"),
)  # fmt: skip


@dataclass
class Made:
    """A candidate as far as these functions read one."""

    units: int = 4
    floor: int = 0
    fabric: int | None = None
    node: SimpleNamespace = field(default_factory=lambda: SimpleNamespace(id="node"))

    def varied(self, **changes):
        return replace(self, **changes)


def context(**answers) -> Context:
    return Context(Answers.of({name.replace("__", "."): value for name, value in answers.items()}), CATALOG, None)


def counted(function):
    """Return the function, remembered, and the list that has an entry for each time that it was worked out."""
    calls = []

    def counting(candidate, given, *rest):
        calls.append(rest)
        return function(candidate, given, *rest)

    return remembered.remembered(counting), calls


def test_an_answer_that_was_not_read_changes_nothing() -> None:
    found, calls = counted(lambda made, given: given.answers.count("facility.rack_units"))
    assert found(Made(), context(facility__rack_units=42)) == 42
    assert found(Made(), context(facility__rack_units=42, budget__years=3)) == 42
    assert len(calls) == 1
    assert found(Made(), context(facility__rack_units=48, budget__years=3)) == 48
    assert found(Made(), context()) == Answers().count("facility.rack_units"), "unanswered is another answer"
    assert len(calls) == 3
    assert found(Made(), context(facility__rack_units=42)) == 42
    assert len(calls) == 3, "the first result is still known"


@pytest.mark.parametrize(
    "read",
    [
        lambda answers: answers.given("budget.years"),
        lambda answers: answers.text("budget.years"),
        lambda answers: answers.names("budget.years"),
        lambda answers: answers.number("budget.years"),
        lambda answers: answers.quantity("budget.years"),
        lambda answers: dict(answers.values),
        lambda answers: answers.nested(),
        lambda answers: answers.provenance,
        lambda answers: answers.assumptions(),
        lambda answers: answers.without("facility.rack_units").values,
        lambda answers: answers.with_value("facility.rack_units", 1).values,
        lambda answers: answers == Answers.of({"budget.years": 3}),
    ],
)
def test_every_way_of_reading_an_answer_is_noted(read) -> None:
    found, _ = counted(lambda made, given: repr(read(given.answers)))
    for years in (3, 5):
        assert found(Made(), context(budget__years=years)) == repr(read(context(budget__years=years).answers))
    assert found(Made(), context()) == repr(read(context().answers))


def test_what_a_function_reads_and_writes_of_a_candidate_is_noted() -> None:
    def size(made, given):
        made.fabric = made.floor + 1
        return made.fabric

    found, calls = counted(size)
    first, second, third = Made(floor=1), Made(floor=1, fabric=99), Made(floor=2)
    assert (found(first, context()), found(second, context()), found(third, context())) == (2, 2, 3)
    assert (first.fabric, second.fabric, third.fabric) == (2, 2, 3), "what is written is written each time"
    assert len(calls) == 2, "a field that is written before it is read does not count as read"


def test_what_a_function_inside_reads_counts_for_the_outer_one_too() -> None:
    inner, inside = counted(lambda made, given, more: made.floor + more + (given.answers.count("facility.rack_units") or 0))
    outer, outside = counted(lambda made, given: inner(made.varied(floor=10), given, 1) + made.units)
    assert outer(Made(), context(facility__rack_units=42)) == 57
    assert inner(Made(floor=10), context(facility__rack_units=42), 1) == 53
    assert len(inside) == 1, "the inner one is known by what it read, through whichever function it came"
    judging.forget()
    assert inner(Made(floor=10), context(facility__rack_units=42), 1) == 53
    assert outer(Made(floor=7), context(facility__rack_units=42)) == 57
    assert len(inside) == 2
    assert outer(Made(floor=7), context(facility__rack_units=48)) == 63, "read by the inner one alone, and that was known already"
    assert len(outside) == 3


def test_other_arguments_and_another_catalog_are_others() -> None:
    found, calls = counted(lambda made, given, more: more)
    assert (found(Made(), context(), 1), found(Made(), context(), 2), found(Made(), context(), True)) == (1, 2, True)
    assert found(Made(), context(), True) is True
    assert found(Made(), Context(Answers(), load_catalog(), None), 1) == 1
    assert len(calls) == 4


def test_a_failure_is_not_remembered() -> None:
    found, calls = counted(lambda made, given: 1 // made.floor)
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            found(Made(floor=0), context())
    assert len(calls) == 2


@pytest.mark.parametrize("name", ["deepseek-v3-on-nvl72", "sixteen-nodes-70b-jax"])
def test_designs_in_a_row_come_out_as_each_alone(name) -> None:
    """The designs of eight changes in a row, each with all that those before left behind, against each worked out with nothing known."""
    answers = Answers.of(tomllib.loads((DESIGNS / f"{name}.toml").read_text("utf-8"))["answers"])
    row = [answers := answers.with_value(key, value) for key, value in CHANGES]
    together = [advise(each, CATALOG).document() for each in row]
    for each, found in zip(row[1::3], together[1::3], strict=True):
        judging.forget()
        assert advise(each, CATALOG).document() == found


def test_nothing_that_is_kept_reads_answers_later() -> None:
    """A result that held on to the answers that it was worked out from would tell of those, not of the answers of the day."""
    judging.forget()
    advise(Answers.of({"model.preset": "llama-3.1-8b"}), CATALOG)
    seen, waiting = set(), [table for table in remembered._TABLES if table._values]
    assert len(waiting) > 5
    watched, names = 0, set()
    while waiting:
        each = waiting.pop()
        if id(each) in seen or each is CATALOG or callable(each) or isinstance(each, (str, int, float)):
            continue
        seen.add(id(each))
        names.add(type(each).__name__)
        watched += isinstance(each, (remembered._WatchedAnswers, remembered._WatchedCandidate, remembered._Varied))
        waiting += gc.get_referents(each)
    assert {"FabricDesign", "Assessed", "FrontEnd", "Floor"} <= names, "the walk reaches what was kept"
    assert watched == 0
