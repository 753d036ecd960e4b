"""Minimal sets of answers that cannot hold together: checked against every subset, on made-up oracles and on the advisor itself."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import combinations

import pytest

from catalogs import load_catalog
from rules.advisor import advise, consider, feasible
from rules.answers import Answers
from rules.conflicts import ConflictSet, _changes, find_conflicts, minimal_sets, with_conflict_sets
from rules.constraints import Oracle, constraints, keeping, relaxed
from rules.smallest import MOST_ASKED, smallest_change
from rules.whatif import with_changes

TWO = {"model.preset": "llama-3.1-8b", "scale.nodes": 2, "preferences.nodes": ["nvidia-dgx-h100"], "training.tokens": "20B"}


@pytest.fixture(scope="module")
def catalog():
    return load_catalog()


def answers(**changes: object) -> Answers:
    return Answers.of(TWO | {key.replace("__", "."): value for key, value in changes.items()})


def brute_force(names: tuple[str, ...], holds) -> set[frozenset[str]]:
    """Every subset that does not hold although each of its parts does, by asking about all subsets."""
    subsets = [frozenset(chosen) for size in range(len(names) + 1) for chosen in combinations(names, size)]
    bad = {each for each in subsets if not holds(each)}
    return {each for each in bad if not any(other < each for other in bad)}


class TestMinimalSets:
    @pytest.mark.parametrize("seed", range(60))
    def test_agree_with_all_subsets(self, seed):
        """Any family of forbidden sets makes an oracle; the minimal ones of the family are the answer."""
        source = random.Random(seed)
        names = tuple("abcdefg"[: source.randrange(1, 8)])
        count = source.randrange(5)
        forbidden = [frozenset(source.sample(names, source.randrange(1, len(names) + 1))) for _ in range(count)]

        def holds(keys: frozenset[str]) -> bool:
            return not any(each <= keys for each in forbidden)

        found, complete = minimal_sets(names, holds)
        assert complete
        assert set(found) == brute_force(names, holds)
        assert found == sorted(found, key=lambda each: (len(each), sorted(each)))

    def test_what_cannot_be_had_at_all_is_the_empty_set(self):
        assert minimal_sets("ab", lambda _: False) == ([frozenset()], True)

    def test_ends_where_it_may_ask_no_more(self):
        asked = []

        def holds(keys: frozenset[str]) -> bool:
            asked.append(keys)
            return len(keys) < 2

        found, complete = minimal_sets("abcdef", holds, lambda: len(asked) > 6)
        assert not complete
        assert all(len(each) == 2 for each in found)

    def test_what_follows_is_not_asked_again(self):
        """Of four that only fail together with "a": all, each left out in turn, and the rest without "a"; the parts of a set hold too."""
        asked = []

        def holds(keys: frozenset[str]) -> bool:
            asked.append(keys)
            return "a" not in keys

        assert minimal_sets("abcd", holds) == ([frozenset("a")], True)
        assert len(asked) == len(set(asked)) <= 6

    @pytest.mark.parametrize(
        "changes",
        [
            {"facility__total_power": "10 kW", "facility__rack_power": "8 kW"},
            {"facility__racks": 1, "facility__rack_power": "11 kW"},
            {"budget__purchase": "100k USD"},
            {"facility__cooling": ["immersion"]},
            {"scale__deadline": "1 day"},
        ],
    )
    def test_of_the_advisor_agree_with_all_subsets(self, catalog, changes):
        given = answers(**changes)
        all_ = constraints(given)
        assert 3 <= len(all_) <= 6

        def holds(keys: frozenset[str]) -> bool:
            return feasible(keeping(given, all_, keys), catalog)

        found = find_conflicts(given, catalog, changes=False)
        assert found.complete
        assert {frozenset(each.keys) for each in found.sets} == brute_force(tuple(each.key for each in all_), holds)


class TestConstraints:
    def test_what_binds(self):
        given = answers(facility__rack_power="8 kW", preferences__fabric="any", facility__total_power="unknown")
        assert [(each.key, each.assumed) for each in constraints(given)] == [
            ("scale.nodes", False),
            ("facility.rack_power", False),
            ("facility.cooling", True),
            ("preferences.nodes", False),
        ]

    def test_an_assumed_deadline_binds_where_it_sets_the_size(self):
        assert constraints(Answers())[0].key == "scale.deadline"
        assert constraints(Answers())[0].assumed

    def test_a_size_that_is_relaxed_takes_its_mode_along(self):
        given = answers(scale__mode="fixed")
        assert relaxed(given, ["scale.nodes"]).text("scale.mode") == "deadline"
        by_budget = Answers.of({"scale.mode": "budget", "budget.purchase": "1M USD"})
        assert relaxed(by_budget, ["budget.purchase"]).text("scale.mode") == "deadline"

    def test_an_assumed_deadline_binds_no_more_once_the_size_is_left_open(self):
        """Seven servers by answer: nobody asked for a deadline, so giving up the seven must not bring one in."""
        given = answers(scale__mode="fixed", scale__nodes=7)
        assert not any(each.key == "scale.deadline" for each in constraints(given))
        assert relaxed(given, ["scale.nodes"]).number("scale.deadline") == 36_500
        assert relaxed(answers(scale__mode="fixed", scale__deadline="30 days"), ["scale.nodes"]).number("scale.deadline") == 30

    def test_what_an_own_server_has_too_little_of_binds(self, catalog):
        """Four loading processes for each of 8 GPUs are 32, as the DeiT report has it: 16 cores are refused, 32 are tolerated."""
        few = {"workload.kind": "vision", "model.preset": "resnet50", "training.samples": "10M", "scale.nodes": 1, "own_server.gpus": 8}
        own = {"own_server.gpu": "nvidia-h100-sxm-80gb", "own_server.cpu_cores": 16, "own_server.memory": "2 TB"}
        assert "own_server.cpu_cores" not in [each.key for each in constraints(Answers.of({**few, "own_server.cpu_cores": 16}))]
        (only,) = find_conflicts(Answers.of(few | own), catalog).sets
        assert only.keys == ("own_server.cpu_cores",)
        assert [(each.key, each.after) for each in only.changes[:1]] == [("own_server.cpu_cores", "32")]

    def test_nothing_is_changed_that_is_kept(self):
        given = answers(facility__rack_power="8 kW")
        assert keeping(given, constraints(given), [each.key for each in constraints(given)]) == given


class TestChanges:
    def test_a_rack_must_give_what_one_server_draws(self, catalog):
        """NVIDIA's datasheet: a DGX H100 draws up to 10.2 kW."""
        found = find_conflicts(answers(facility__rack_power="8 kW"), catalog)
        (only,) = found.sets
        assert only.keys == ("facility.rack_power", "preferences.nodes")
        change = only.changes[0]
        assert change.key == "facility.rack_power"
        assert change.after == "10.2 kW"
        assert change.cost == pytest.approx(10.2 / 8 - 1, abs=0.03)
        assert [each.key for each in found.together] == ["facility.rack_power"]
        assert feasible(with_changes(answers(facility__rack_power="8 kW"), found.together[0].changes), catalog)

    def test_the_cheapest_comes_first_and_needs_last(self, catalog):
        found = find_conflicts(answers(scale__deadline="1 day"), catalog)
        (only,) = found.sets
        costs = [each.cost for each in only.changes if not each.key.startswith("training.")]
        assert costs == sorted(costs)
        assert only.changes[-1].key.startswith("training.")

    def test_a_fixed_size_beside_a_limit_of_power(self, catalog):
        """Seven DGX H100 draw up to 7 × 10.2 kW (datasheet), at a PUE of 1.4 alone 100 kW; six draw 86 kW, whatever the run takes.

        Seven smaller servers would do, so the server that was asked for is part of the set; an assumed deadline is not.
        """
        given = answers(scale__mode="fixed", scale__nodes=7, facility__total_power="100 kW", training__tokens="15T")
        found = find_conflicts(given, catalog)
        assert [each.keys for each in found.sets] == [("scale.nodes", "facility.total_power", "preferences.nodes")]
        changes = {each.key: each for each in found.sets[0].changes}
        assert int(changes["scale.nodes"].after) < 7
        power = float(changes["facility.total_power"].after.split()[0])
        remedy = next(each for each in advise(given, catalog).conflicts[0].remedies if each.key == "facility.total_power")
        assert power == float(remedy.value.split()[0])  # what the remedy asks for is not rounded up a second time
        assert 100 < power < 1.2 * 100
        for change in found.sets[0].changes:
            assert feasible(with_changes(given, change.changes), catalog)
        assert not feasible(with_changes(given, {"facility.total_power": f"{power / 1.03:.1f} kW"}), catalog)
        assert not feasible(with_changes(given, {"scale.nodes": int(changes["scale.nodes"].after) + 1}), catalog)

    def test_counts_are_exact(self):
        change = smallest_change(answers(), "scale.nodes", lambda given: (given.count("scale.nodes") or 0) >= 23)
        assert (change.after, change.cost) == ("23", 10.5)

    def test_large_counts_are_found_to_two_percent(self):
        given = answers(scale__nodes=40_000)
        change = smallest_change(given, "scale.nodes", lambda each: (each.count("scale.nodes") or 0) <= 7_777)
        assert 7_777 / 1.02 <= int(change.after) <= 7_777

    def test_a_number_may_help_by_being_smaller(self):
        change = smallest_change(answers(scale__nodes=40), "scale.nodes", lambda given: given.count("scale.nodes") == 10)
        assert change.after == "10"

    def test_a_quantity_is_found_to_two_percent_and_holds(self):
        given = answers(facility__total_power="1 MW")
        change = smallest_change(given, "facility.total_power", lambda each: each.number("facility.total_power") >= 1777.7)
        assert 1777.7 <= float(change.after.split()[0]) <= 1777.7 * 1.03
        assert change.text == f"raise it to {change.after}"

    def test_ends_with_what_was_found_once_no_more_may_be_asked(self):
        """1 MW doubled is 2 MW: that holds, and closing in on 1,777.7 kW takes further questions that are not there."""
        asked = []

        def holds(each: Answers) -> bool:
            asked.append(each)
            return each.number("facility.total_power") >= 1777.7

        given = answers(facility__total_power="1 MW")
        change = smallest_change(given, "facility.total_power", holds, spent=lambda: len(asked) >= 1)
        assert (change.after, len(asked)) == ("2000 kW", 1)
        assert change.text == "raise it to 2000 kW; less of a change may do: the search ended here"
        assert smallest_change(given, "facility.total_power", holds, spent=lambda: True) is None
        assert len(asked) == 1

    def test_a_hint_is_taken_where_just_short_of_it_nothing_holds(self):
        asked = []

        def holds(each: Answers) -> bool:
            asked.append(each)
            return each.number("facility.total_power") >= 1777.7

        given = answers(facility__total_power="1 MW")
        assert smallest_change(given, "facility.total_power", holds, hint=1778.0).after == "1778 kW"
        assert len(asked) == 2
        assert 1777.7 <= float(smallest_change(given, "facility.total_power", holds, hint=9000.0).after.split()[0]) <= 1777.7 * 1.03
        assert 1777.7 <= float(smallest_change(given, "facility.total_power", holds, hint=1200.0).after.split()[0]) <= 1777.7 * 1.03

    def test_asks_about_a_bounded_number_of_answers(self):
        asked = []
        assert smallest_change(answers(scale__nodes=3), "scale.nodes", lambda each: asked.append(each)) is None
        assert len(asked) <= MOST_ASKED

    def test_what_is_trained_changes_at_most_eightfold_and_one_question_shows_that_nothing_helps(self):
        asked = []
        assert smallest_change(answers(training__tokens="80B"), "training.tokens", lambda each: asked.append(each)) is None
        assert [each.number("training.tokens") for each in asked] == [10e9]
        few = smallest_change(answers(training__tokens="80B"), "training.tokens", lambda each: each.number("training.tokens") <= 30e9)
        assert 30e9 / 1.03 <= float(few.after) <= 30e9

    def test_what_is_judged_is_counted_and_large_candidates_as_more(self, catalog):
        """A million GPUs fail too often in any kind of server, so none is judged; that is one question all the same."""
        small, large = Oracle(catalog, 8), Oracle(catalog, 8)
        assert small.fits(answers())
        assert small.fits(answers())
        assert small.asked == 1
        given = {"model.preset": "llama-3.1-8b", "scale.gpus": 1_000_000}
        assert not large.fits(Answers.of(given))
        assert large.asked == 1
        counted = large._counted()
        candidate = consider(answers(), catalog).ranking.good[0].candidate
        for _ in range(24):
            counted(replace(candidate, gpus=3 * 32_768))
        assert large.asked == 1 + 4  # 24 candidates that take 1 + 3 times the work of a small one
        assert not large.spent
        large.allow(0)
        assert large.spent

    def test_none_where_nothing_helps(self):
        assert smallest_change(answers(facility__racks=1), "facility.racks", lambda _: False) is None
        assert smallest_change(answers(), "preferences.nodes", lambda _: False) is None

    def test_servers_that_come_up_beside_other_answers_only_give_the_set_its_change(self, catalog):
        """Within 3 racks and 60 kW the deadline and the budget fail; without one of the two they hold, but only beside the racks' power."""
        given = Answers.of(
            {"workload.kind": "pretraining", "model.preset": "llama-3.1-8b", "training.tokens": "200B", "training.global_batch": 256}
            | {"scale.mode": "deadline", "scale.deadline": "10 days", "budget.purchase": "900k USD", "facility.region": "Germany"}
            | {"facility.rack_power": "15 kW", "facility.total_power": "60 kW", "facility.racks": 3, "facility.floor_load": "900 kg/m^2"}
        )
        first = find_conflicts(given, catalog, needs=False).sets[0]
        assert first.keys == ("scale.deadline", "budget.purchase", "facility.total_power")
        change = next(each for each in first.changes if each.key == "facility.total_power")
        larger = keeping(given, constraints(given), [each.key for each in constraints(given) if each.key != "facility.racks"])
        assert not feasible(larger, catalog)
        assert feasible(with_changes(larger, change.changes), catalog)
        power = float(change.after.split()[0])
        assert not feasible(with_changes(larger, {"facility.total_power": f"{power * 0.98} kW"}), catalog)

    def test_a_limit_of_which_no_change_was_found_may_be_left_open(self, catalog):
        """A minimal set holds without any one of its answers: that is known without asking, also once no more may be asked."""
        oracle = Oracle(catalog, 0)
        given = answers(facility__rack_power="8 kW")
        found = ConflictSet(tuple(each for each in constraints(given) if each.key in ("facility.rack_power", "preferences.nodes")))
        changes = _changes(found, given, constraints(given), (list(found.keys), {}), oracle, {}, needs=False)
        assert [(each.key, each.after) for each in changes] == [("facility.rack_power", "")]
        assert changes[0].text == "leave it open; no smaller change was found"
        assert changes[0].cost == 63  # as far as 64 times as much, where the search for a number ends
        assert feasible(with_changes(given, changes[0].changes), catalog)
        assert oracle.asked == 0


class TestInADesign:
    def test_a_design_that_fits_has_none(self, catalog):
        design = advise(answers(), catalog)
        assert with_conflict_sets(design, catalog) is design
        assert find_conflicts(answers(), catalog).sets == ()

    def test_the_rows_of_the_file(self, catalog):
        design = with_conflict_sets(advise(answers(facility__rack_power="8 kW"), catalog), catalog)
        (row,) = design.document()["conflict_set"]
        assert row["answers"] == ["facility.rack_power", "preferences.nodes"]
        assert row["because"] == "facility.rack_power = 8 kW and preferences.nodes = nvidia-dgx-h100 cannot hold together"
        assert row["change"][0]["before"] == "8 kW"


def test_changes_that_are_needed_together(catalog):
    """Two DGX H100 draw more than 20.4 kW: with racks of 8 kW and a site of 10 kW both limits must move."""
    given = answers(facility__rack_power="8 kW", facility__total_power="10 kW")
    found = find_conflicts(given, catalog)
    assert {each.key for each in found.together} == {"facility.rack_power", "facility.total_power"}
    changed = given
    for each in found.together:
        changed = with_changes(changed, each.changes)
        assert each.before == given.text(each.key)
    assert feasible(changed, catalog)
    assert changed.number("facility.total_power") > 20.4


def test_a_size_that_no_plan_divides_and_failures_forbid_has_a_smallest_change(catalog):
    """As a job of a million GPUs restarts for 11 minutes and fails every 3, the size must come down: it is found with few designs."""
    given = Answers.of({"model.preset": "llama-3.1-8b", "scale.gpus": 1_000_000, "preferences.nodes": ["nvidia-dgx-h100"]})
    found = find_conflicts(given, catalog, needs=False)
    (change,) = [each for one in found.sets for each in one.changes if each.key == "scale.gpus"]
    assert int(change.after) < 1_000_000
    assert feasible(with_changes(given, change.changes), catalog)


def test_of_the_changes_that_are_needed_together_none_can_be_left_away(catalog):
    """Two servers of 10.2 kW in racks of 8 kW for 10 kW in all and half of what they cost: three limits, each of which must move."""
    given = answers(facility__rack_power="8 kW", facility__total_power="10 kW", budget__purchase="250k USD")
    together = find_conflicts(given, catalog).together
    assert {each.key for each in together} == {"facility.rack_power", "facility.total_power", "budget.purchase"}
    for left in together:
        rest = {key: value for each in together if each is not left for key, value in each.changes.items()}
        assert not feasible(with_changes(given, rest), catalog)
    assert feasible(with_changes(given, {key: value for each in together for key, value in each.changes.items()}), catalog)


def test_an_answer_that_is_no_number_beside_a_remedy_for_it(catalog):
    """A 70B model trained in full on one server in racks of 8 kW: a remedy of some candidate is another kind of training."""
    given = Answers.of({"workload.kind": "fine_tuning_full", "model.preset": "llama-3.1-70b", "scale.mode": "fixed", "scale.nodes": 1})
    assert given.number("workload.kind") is None
    found = find_conflicts(given.with_value("facility.rack_power", "8 kW"), catalog, needs=False)
    assert {each.keys for each in found.sets} == {("scale.nodes", "facility.rack_power")}
