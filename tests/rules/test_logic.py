"""Rules as a whole: none that can never fire, none that another makes superfluous, no two that contradict each other."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rules.cases import all_rules
from rules.findings import Kind, Stage
from rules.guidance.declare import F, Fix
from rules.guidance.logic import NEVER_TOGETHER, check_logic, implies, satisfiable, shadowed
from tests.rules.corpus import runs
from tests.rules.mutants import survivors
from tests.rules.samples import rule

LEAST_KILLED_BY_CASES_ALONE = 0.55


def test_the_declared_rules_are_sound():
    assert check_logic(all_rules().values()) == []
    assert shadowed(all_rules().values()) == []


class TestSatisfiable:
    @pytest.mark.parametrize(
        "comparisons",
        [
            (F.a > 3, F.a < 3),
            (F.a > 3, F.a <= 3),
            (F.a == 3, F.a > 3),
            (F.a == "x", F.a == "y"),
            (F.a == "x", F.a != "x"),
            (F.a >= 3, F.a <= 3, F.a != 3),
            (F.a > F.b, F.b > F.a),
            (F.a > F.b, F.b >= F.a),
            (F.a > F.b * 2, F.b >= F.a * 0.5),
            (F.a != True, F.a != False),  # noqa: E712 - comparisons are declared
        ],
    )
    def test_what_excludes_itself(self, comparisons):
        assert not satisfiable(comparisons)

    @pytest.mark.parametrize(
        "comparisons",
        [
            (),
            (F.a >= 3, F.a <= 3),
            (F.a > 3, F.a < 3.1),
            (F.a > F.b, F.b > F.c),
            (F.a == "x", F.b == "y"),
            (F.a >= F.b, F.b >= F.a),
            (F.a > F.b * 2, F.a < F.b * 3),
        ],
    )
    def test_what_may_hold(self, comparisons):
        assert satisfiable(comparisons)

    def test_implication(self):
        assert implies((F.a > 4,), (F.a > 3, F.a != 2))
        assert not implies((F.a > 3,), (F.a > 4,))


class TestFaultsAreFound:
    def test_a_rule_that_can_never_fire(self):
        assert "vram.never: can never fire" in check_logic([rule("vram.never", F.a > 3, F.a < 2)])[0]

    def test_nor_one_whose_premise_excludes_it(self):
        writer = rule("vram.writer", F.a > 3, writes=("large",))
        assert "vram.after: can never fire" in check_logic([writer, rule("vram.after", F.a < 2, premise="large")])[0]

    def test_two_decisions_on_one_thing(self):
        one = rule("vram.one", F.a > 3, kind=Kind.DECISION, decides=("size", "large"))
        other = rule("vram.other", F.a > 2, kind=Kind.DECISION, decides=("size", "small"))
        assert "both decide size" in check_logic([one, other])[0]
        assert check_logic([one, rule("vram.other", F.a <= 3, kind=Kind.DECISION, decides=("size", "small"))]) == []

    def test_the_same_said_twice(self):
        assert "says the same" in check_logic([rule("vram.one", F.a > 3), rule("vram.two", F.a > 3)])[0]

    def test_two_rejections_that_leave_nothing(self):
        low, high = rule("vram.low", F.a < 4, kind=Kind.REJECT), rule("vram.high", F.a >= 4, kind=Kind.REJECT)
        assert "nothing is left" in check_logic([low, high])[0]
        assert check_logic([low, rule("vram.high", F.a > 4, kind=Kind.REJECT)]) == []
        assert check_logic([low, rule("vram.high", F.a >= 4, F.b > 1, kind=Kind.REJECT)]) == []

    def test_two_remedies_at_odds(self):
        more = rule("vram.more", F.a > 5, fix=(Fix("parallelism.tensor", "take more", "8"),))
        less = rule("vram.less", F.a > 4, kind=Kind.WARNING, fix=(Fix("parallelism.tensor", "take fewer", "2"),))
        assert check_logic([more, less]) == ["rules vram.more and vram.less: fire together and want parallelism.tensor to be 8 and 2"]
        assert check_logic([more, replace(less, when=(F.a < 5,))]) == []
        assert check_logic([more, replace(less, when=(F.b > 4,))]) == []

    def test_a_shadowed_rule(self):
        assert "vram.one: is shadowed by vram.two" in shadowed([rule("vram.one", F.a > 3), rule("vram.two", F.a > 2)])[0]


@pytest.mark.slow
class TestOverTheCorpus:
    def test_a_case_of_each_rule_says_what_its_comparisons_mean(self):
        assert [run.case["name"] for run in runs() if run.fires(all_rules()[run.case["rule"]]) is not run.case["fires"]] == []

    def test_what_is_never_together_never_is(self):
        for run in runs():
            for seen in run.seen:
                for stage, never, why in NEVER_TOGETHER:
                    assert not all(each.holds(seen.facts.get(stage, {})) for each in never), (why, run.case["name"])

    def test_no_candidate_has_two_decisions_on_one_thing(self):
        for run in runs():
            for seen in run.seen:
                decided: dict[str, str] = {}
                for each in all_rules().values():
                    if each.decides and seen.fires(each):
                        assert decided.setdefault(each.decides[0], each.id) == each.id, (run.case["name"], each.id)

    def test_of_every_candidate_it_is_said_how_it_is_wired_whether_its_framework_runs_and_how_often_it_fails(self):
        """What a stage always has to settle, some rule settles, whatever the facts: no value of theirs falls between rules."""
        frameworks = [each for id_, each in all_rules().items() if id_.startswith("software.framework_")]
        topologies = [each for each in all_rules().values() if each.decides and each.decides[0] == "fabric.compute.topology"]
        technologies = [each for each in all_rules().values() if each.decides and each.decides[0] == "fabric.compute.technology"]
        rates = [each for id_, each in all_rules().items() if id_.startswith("reliability.rate")]
        assert min(len(frameworks), len(topologies), len(technologies), len(rates) + 1) >= 4
        wired = 0
        for run in runs():
            for seen in run.seen:
                if Stage.SOFTWARE in seen.facts:
                    assert sum(seen.fires(each) for each in frameworks) == 1, run.case["name"]
                if Stage.RELIABILITY in seen.facts:
                    assert sum(seen.fires(each) for each in rates) == 1, run.case["name"]
                if seen.facts.get(Stage.FABRIC, {}).get("layout", "none") != "none":
                    assert sum(seen.fires(each) for each in topologies) == 1, run.case["name"]
                    assert sum(seen.fires(each) for each in technologies) == 1, run.case["name"]
                    wired += 1
        assert wired > 300

    def test_cases_alone_kill_their_share_of_mutants(self):
        """The cases go through the whole pipeline and lie where people's answers lie; the edges beside them do the rest."""
        total, left = survivors(list(all_rules().values()), runs(), (), {})
        assert 1 - len(left) / total >= LEAST_KILLED_BY_CASES_ALONE


def test_stages_are_known():
    assert {stage for stage, _, _ in NEVER_TOGETHER} <= set(Stage)
