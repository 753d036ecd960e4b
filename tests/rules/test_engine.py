"""The engine: right by comparison with a naive evaluator; comparisons, chains, order, and rules that fail."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from rules import render
from rules.engine import RuleError, check_fact, compile_rules, evaluate
from rules.findings import Stage
from rules.guidance.declare import Comparison, F, Rule, Scaled
from tests.rules.naive import judge
from tests.rules.samples import fired, fires, random_fact, random_rules, rule, run


def hammer(evaluations: int, seed: int) -> None:
    """Compare the engine with the naive evaluator on random facts; a new ruleset every 250 facts."""
    source = random.Random(seed)
    fields, fired_rules, chained = 6, 0, 0
    for number in range(evaluations):
        if number % 250 == 0:
            rules = random_rules(source, source.randrange(1, 41), fields)
            program = compile_rules(rules).stage(Stage.VRAM)
        fact = random_fact(source, fields)
        result = evaluate(program, fact, strict=True)
        trace, flags = judge(rules, fact)
        assert [(step.rule_id, step.premise) for step in result.trace] == trace, (rules, fact)
        assert result.flags == flags, (rules, fact)
        assert [finding.rule for finding in result.findings] == [name for name, _ in trace]
        fired_rules += len(trace)
        chained += sum(premise != "candidate" for _, premise in trace)
    assert fired_rules > 3 * evaluations
    assert chained > evaluations / 2


class TestAgreesWithTheNaiveEvaluator:
    def test_on_random_rules_and_facts(self):
        hammer(20_000, seed=20)

    @pytest.mark.slow
    def test_on_many_more(self):
        hammer(200_000, seed=4)

    def test_from_four_threads_at_once(self):
        source = random.Random(7)
        rules = random_rules(source, 30, 6)
        program = compile_rules(rules).stage(Stage.VRAM)
        facts = [random_fact(source, 6) for _ in range(400)]
        with ThreadPoolExecutor(4) as pool:
            results = list(pool.map(lambda fact: evaluate(program, fact, strict=True), facts * 5))
        for fact, result in zip(facts * 5, results, strict=True):
            trace, flags = judge(rules, fact)
            assert [(step.rule_id, step.premise) for step in result.trace] == trace
            assert result.flags == flags

    def test_one_at_a_time(self, monkeypatch):
        inside, most = [0], [0]

        def slow(found: Rule, shown: object) -> str:
            inside[0] += 1
            most[0] = max(most[0], inside[0])
            time.sleep(0.002)
            inside[0] -= 1
            return found.id

        monkeypatch.setattr(render, "finding", slow)
        with ThreadPoolExecutor(4) as pool:
            results = list(pool.map(lambda x: run([rule("vram.a", F.x > 0), rule("vram.b", F.x > 5)], {"x": x}).findings, range(10)))
        assert results == [()] + [("vram.a",)] * 5 + [("vram.a", "vram.b")] * 4
        assert most == [1]


class TestComparisons:
    @pytest.mark.parametrize(
        ("sign", "below", "equal", "above"),
        [("<", 1, 0, 0), ("<=", 1, 1, 0), (">", 0, 0, 1), (">=", 0, 1, 1), ("==", 0, 1, 0), ("!=", 1, 0, 1)],
    )
    @pytest.mark.parametrize("limit", [8, 8.0])
    def test_numbers(self, sign, below, equal, above, limit):
        comparison = Comparison("x", sign, limit)
        assert [fires(comparison, x=value) for value in (7, 8, 9)] == [below, equal, above]
        assert [fires(comparison, x=value) for value in (7.999, 8.0, 8.001)] == [below, equal, above]
        other = Comparison("x", sign, Scaled("y"))
        assert [fires(other, x=value, y=limit) for value in (7, 8, 9)] == [below, equal, above]

    def test_field_times_factor(self):
        assert not fires(F.needed_gib > F.usable_gib * 0.9, needed_gib=72, usable_gib=80)
        assert fires(F.needed_gib > F.usable_gib * 0.9, needed_gib=72.1, usable_gib=80)
        assert fires(F.needed_gib <= F.usable_gib * 1e-6, needed_gib=0.00007, usable_gib=80)

    @pytest.mark.parametrize(
        "value", ["infiniband", "", 'a "quoted" one', "O'Neil", "back\\", "naïve µs", "two\nlines", "null", "true", "1.0"]
    )
    def test_texts(self, value):
        assert fires(F.name == value, name=value)
        assert not fires(F.name != value, name=value)
        for other in (value + "x", value[:-1] if value else "y", value.upper() + "."):
            assert not fires(F.name == value, name=other)
            assert not fires(F.name == F.other, name=value, other=other)
            assert not fires(F.name == F.other, name=other, other=value)
            assert fires(F.name != value, name=other)
        assert fires(F.name == F.other, name=value, other=value)

    def test_booleans(self):
        assert fires(F.rdma == True, rdma=True)  # noqa: E712
        assert not fires(F.rdma == True, rdma=False)  # noqa: E712
        assert fires(F.rdma == False, rdma=False)  # noqa: E712
        assert fires(F.rdma != F.wanted, rdma=False, wanted=True)
        assert not fires(F.rdma == F.wanted, rdma=False, wanted=True)

    def test_all_comparisons_must_hold(self):
        both = rule("vram.both", F.x > 1, F.x < 3, F.name == "a")
        assert fired(both, x=2, name="a") == ["vram.both"]
        assert fired(both, x=4, name="a") == fired(both, x=2, name="b") == fired(both, x=0, name="a") == []

    def test_twenty_comparisons_in_one_rule(self):
        many = rule("vram.many", *(Comparison(f"x{number}", ">", Scaled(f"y{number}", 0.5)) for number in range(20)))
        fact = {f"{letter}{number}": 1 for letter in "xy" for number in range(20)}
        assert fired(many, **fact) == ["vram.many"]
        assert fired(many, **fact | {"x19": 0.5}) == []


class TestMissingFields:
    @pytest.mark.parametrize("sign", ["<", "<=", ">", ">=", "==", "!="])
    def test_a_rule_without_its_fields_stays_silent(self, sign):
        # durable leaves the result of a comparison with an absent right side to what the stack held before.
        others = [rule(f"vram.b{n}", F.x > -n) for n in range(5)]
        for comparison in (Comparison("x", sign, Scaled("y")), Comparison("x", sign, Scaled("y", 0.5))):
            for fact in ({"x": 1}, {"y": 1}, {}):
                assert "vram.a" not in fired(rule("vram.a", comparison), *others, **fact)
        for comparison in (Comparison("x", sign, 1), Comparison("x", sign, "one"), Comparison("x", sign, True)):
            if type(comparison.right) is int or sign in ("==", "!="):
                assert "vram.a" not in fired(rule("vram.a", comparison), y=1)

    def test_check_fact_names_them(self):
        rules = [rule("vram.a", F.x > F.y), rule("vram.b", F.x > 0, stage=Stage.POWER)]
        assert check_fact(rules, {"x": 1}) == ["rule vram.a reads field y that stage vram does not state"]
        assert check_fact(rules, {"y": 1}) == [
            "rule vram.a reads field x that stage vram does not state",
            "rule vram.b reads field x that stage power does not state",
        ]
        assert check_fact(rules, {"x": 1, "y": 2}) == []


class TestChaining:
    def test_a_flag_makes_further_rules_match_which_compare_fields_too(self):
        rules = [
            rule("vram.a", F.x > 1, writes=("tight",)),
            rule("vram.b", F.y > 1, premise="tight", writes=("very_tight",)),
            rule("vram.c", premise="very_tight"),
        ]
        assert fired(*rules, x=2, y=2) == ["vram.a", "vram.b", "vram.c"]
        assert fired(*rules, x=2, y=0) == ["vram.a"]
        assert fired(*rules, x=0, y=2) == []
        result = run(rules, {"x": 2, "y": 2})
        assert result.flags == {"tight", "very_tight"}
        assert [step.premise for step in result.trace] == ["candidate", "tight", "very_tight"]

    def test_a_chain_of_forty(self):
        rules = [rule("vram.r00", F.x > 0, writes=("f0",))]
        rules += [rule(f"vram.r{n:02}", premise=f"f{n - 1}", writes=(f"f{n}",)) for n in range(1, 40)]
        assert fired(*reversed(rules), x=1) == [f"vram.r{n:02}" for n in range(40)]

    def test_a_flag_written_twice_is_asserted_once(self):
        rules = [rule("vram.a", F.x > 0, writes=("f",)), rule("vram.b", F.x > 0, writes=("f", "f")), rule("vram.c", premise="f")]
        assert fired(*rules, x=1) == ["vram.a", "vram.b", "vram.c"]

    def test_flags_that_lead_back_to_each_other_end(self):
        rules = [
            rule("vram.a", F.x > 0, writes=("f",)),
            rule("vram.b", premise="f", writes=("g",)),
            rule("vram.c", premise="g", writes=("f",)),
        ]
        assert fired(*rules, x=1) == ["vram.a", "vram.b", "vram.c"]

    def test_a_flag_that_no_rule_builds_on_is_reported_all_the_same(self):
        assert run([rule("vram.a", F.x > 0, writes=("noted",))], {"x": 1}).flags == {"noted"}

    def test_rules_of_a_flag_whose_fields_do_not_match_are_no_error(self):
        rules = [rule("vram.a", F.x > 0, writes=("f",)), rule("vram.b", F.x > 10, premise="f")]
        assert fired(*rules, x=1) == ["vram.a"]


class TestOrder:
    def test_priority_then_id(self):
        rules = [
            rule("vram.z", F.x > 0, priority=1),
            rule("vram.b", F.x > 0),
            rule("vram.a", F.x > 0),
            rule("vram.y", F.x > 0, priority=70_000),
        ]
        assert fired(*rules, x=1) == ["vram.z", "vram.a", "vram.b", "vram.y"]

    def test_an_activated_rule_of_lower_priority_goes_before_those_that_wait(self):
        rules = [rule("vram.a", F.x > 0, writes=("f",)), rule("vram.b", F.x > 0), rule("vram.c", premise="f", priority=1)]
        assert fired(*rules, x=1) == ["vram.a", "vram.c", "vram.b"]

    def test_the_trace_is_the_same_in_every_process_and_for_every_order_of_declaration(self):
        program = """
import random
from rules.engine import compile_rules, evaluate
from rules.findings import Stage
from tests.rules.samples import random_fact, random_rules
source = random.Random(11)
rules = random_rules(source, 40, 5)
facts = [random_fact(source, 5) for _ in range(50)]
random.Random().shuffle(rules)
compiled = compile_rules(rules).stage(Stage.VRAM)
print([step.rule_id for fact in facts for step in evaluate(compiled, fact).trace])
"""
        runs = {subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout for _ in range(3)}
        assert len(runs) == 1
        assert runs.pop().count("vram.r") > 100


class TestFailingRules:
    RULES = (
        rule("vram.a", F.x > 0, because="{x} and {unstated_gib}", writes=("f",)),
        rule("vram.b", F.x > 0),
        rule("vram.c", premise="f"),
    )

    def test_strict_raises_with_the_rules_id(self):
        with pytest.raises(
            RuleError, match=r"rule vram.a: its text prints the field 'unstated_gib', which stage vram does not state"
        ) as raised:
            run(list(self.RULES), {"x": 1})
        assert raised.value.rule == "vram.a"

    def test_lenient_reports_it_and_the_others_go_on_without_its_flag(self):
        result = run(list(self.RULES), {"x": 1}, strict=False)
        assert [finding.rule for finding in result.findings] == ["vram.b"]
        assert [(failure.rule_id, "unstated_gib" in failure.message) for failure in result.failures] == [("vram.a", True)]
        assert result.flags == frozenset()

    def test_any_exception_belongs_to_its_rule(self):
        rules = [rule("vram.a", F.x > 0), rule("vram.b", F.x > 0, because="about {odd}"), rule("vram.c", F.x > 0)]
        fact = {"x": 1, "odd": ["neither text nor number"]}
        result = run(rules, fact, strict=False)
        assert [found.rule for found in result.findings] == ["vram.a", "vram.c"]
        assert [(failure.rule_id, failure.message.split(":")[0]) for failure in result.failures] == [("vram.b", "TypeError")]
        with pytest.raises(RuleError, match=r"rule vram.b: TypeError: "):
            run(rules, fact)

    def test_an_interrupt_passes_through_and_the_engine_works_afterwards(self, monkeypatch):
        def interrupt(found: Rule, shown: object) -> str:
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(render, "finding", interrupt)
            with pytest.raises(KeyboardInterrupt):
                run([rule("vram.a", F.x > 0)], {"x": 1})
        assert fires(F.x > 0, x=1)
