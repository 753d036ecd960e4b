"""The engine: right by comparison with a naive evaluator, and one test for each trap of durable-rules that it hides."""

from __future__ import annotations

import gc
import json
import random
import resource
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from rules import engine
from rules.compile import MAXIMUM_FIELDS, MAXIMUM_TEXT, compile_stage
from rules.engine import EngineUnavailable, RuleError, check_fact, compile_rules, evaluate
from rules.findings import Stage
from rules.guidance.declare import Comparison, F, Rule, Scaled
from tests.rules.naive import judge
from tests.rules.samples import random_fact, random_rules, rule


def run(rules: list[Rule], fact: dict, *, strict: bool = True) -> engine.Evaluation:
    return evaluate(compile_rules(rules).stage(Stage.VRAM), fact, strict=strict)


def fired(*rules: Rule, **fact: object) -> list[str]:
    return [step.rule_id for step in run(list(rules), fact).trace]


def fires(comparison: Comparison, **fact: object) -> bool:
    return fired(rule("vram.only", comparison), **fact) == ["vram.only"]


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


class TestNumbersThatDurableRejects:
    @pytest.mark.parametrize("value", [1e-05, 1e20, 1e16, 5e-324, 1.7976931348623157e308, -1e-05, 10**25, -3, 0, -0.0])
    def test_exponents_are_written_out_and_compare_exactly(self, value):
        assert fires(F.x == value, x=value)
        assert fires(F.x == F.y, x=value, y=float(value))
        assert not fires(F.x != value, x=value)
        assert not fires(F.x < value, x=value)

    def test_neighbouring_doubles_differ(self):
        assert fires(F.x > 0.3, x=0.1 + 0.2)
        assert not fires(F.x == 0.3, x=0.1 + 0.2)
        assert fires(F.x < 1e-05, x=9.999999999999999e-06)

    def test_whole_numbers_compare_as_doubles_without_overflow(self):
        assert fires(F.bytes > F.other * 1000, bytes=10**22, other=9 * 10**18)
        assert fires(F.x == F.y, x=2**53, y=2**53 + 1)

    @pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf"), 10**400])
    def test_nan_and_infinity_are_refused_by_name(self, value):
        with pytest.raises(RuleError, match=r"rule vram.a: the field x is (nan|inf|-inf), which cannot be compared"):
            run([rule("vram.a", F.x > 1)], {"x": value})
        with pytest.raises(RuleError, match="the right side of its comparison of x is"):
            compile_rules([rule("vram.a", F.x > value)])

    def test_a_bad_field_silences_only_the_rules_that_read_it(self):
        rules = [rule("vram.a", F.x > 1), rule("vram.b", F.y > 1), rule("vram.c", F.x < 1), rule("vram.d", F.y > F.x)]
        result = run(rules, {"x": float("nan"), "y": 2}, strict=False)
        assert [finding.rule for finding in result.findings] == ["vram.b"]
        assert [failure.rule_id for failure in result.failures] == ["vram.a", "vram.c", "vram.d"]

    def test_a_decimal_comma_locale_is_noticed(self, monkeypatch):
        # Under such a locale C's atof reads 0.5 as 0; the same number read so is what the canary then carries.
        monkeypatch.setattr(engine, "CANARY", '"n":0.0')
        with pytest.raises(engine.EngineError, match="LC_NUMERIC=C"):
            run([rule("vram.a", F.x > 1)], {"x": 2})


class TestTextsAndNames:
    def test_the_longest_text_matches_and_a_longer_one_is_refused(self):
        longest = "µ" * MAXIMUM_TEXT
        assert fires(F.name == longest, name=longest)
        assert not fires(F.name == longest, name=longest[:-1] + "x")
        with pytest.raises(RuleError, match=r"rule vram.a: the field name is a text of 1001 characters; at most 1000"):
            run([rule("vram.a", F.name == "short")], {"name": longest + "x"})
        with pytest.raises(RuleError, match="at most 1000"):
            compile_rules([rule("vram.a", F.name == longest + "x")])

    def test_a_long_text_that_no_rule_compares_is_no_matter(self):
        assert fired(rule("vram.a", F.x > 1), x=2, plan="x" * 100_000) == ["vram.a"]

    def test_names_with_the_same_32_bit_hash_are_told_apart(self):
        # "costarring" and "liquid" collide under FNV-1a, by which durable tells fields apart.
        fact = {"costarring": 1, "liquid": 5}
        assert fired(rule("vram.a", F.costarring > 3), rule("vram.b", F.liquid > 3), **fact) == ["vram.b"]
        assert fires(F.liquid > F.costarring, **fact)

    @pytest.mark.parametrize("name", ["id", "sid", "m", "p", "n", "k0", "$s", "a.b", "check", "end"])
    def test_names_that_mean_something_to_durable_are_plain_fields(self, name):
        for value in (5, "five"):
            matching = rule("vram.a", Comparison(name, "==", value), Comparison("x", ">", 0))
            assert fired(matching, **{name: value, "x": 1}) == ["vram.a"]
            assert fired(matching, **{name: value * 2, "x": 1}) == []

    def test_the_keys_of_all_fields_have_different_hashes(self):
        def fnv_1a(text: str) -> int:
            code = 2166136261
            for byte in text.encode():
                code = (code ^ byte) * 16777619 % 2**32
            return code

        assert fnv_1a("costarring") == fnv_1a("liquid")
        names = [f"{letter}{number}" for letter in "kp" for number in range(MAXIMUM_FIELDS)]
        assert len({fnv_1a(name) for name in [*names, "n", "p", "id", "sid", "$s"]}) == len(names) + 5

    def test_240_fields_fit_and_more_are_refused(self):
        def reading(fields: int) -> list[Rule]:
            return [rule(f"vram.r{n}", *(Comparison(f"x{n}_{i}", ">", 0) for i in range(fields // 10))) for n in range(10)]

        fact = {f"x{n}_{i}": 1 for n in range(10) for i in range(24)}
        assert len(fired(*reading(240), **fact)) == 10
        with pytest.raises(RuleError, match="read 250 fields; at most 240"):
            compile_rules(reading(250))


class TestClassesOfFields:
    def test_text_is_never_compared_with_a_number(self):
        with pytest.raises(RuleError, match=r"rule vram.b: compares x as text, but rule vram.a compares it as a number"):
            compile_rules([rule("vram.a", F.x > 1), rule("vram.b", F.x == "one")])
        with pytest.raises(RuleError, match="the field x is '3'; the rules compare it as a number"):
            run([rule("vram.a", F.x > 1)], {"x": "3"})
        with pytest.raises(RuleError, match="the field x is True; the rules compare it as a number"):
            run([rule("vram.a", F.x == 1)], {"x": True})
        with pytest.raises(RuleError, match="the field x is None"):
            run([rule("vram.a", F.x == 1)], {"x": None})

    def test_fields_compared_with_each_other_hold_the_same(self):
        with pytest.raises(RuleError, match=r"rule vram.c: compares"):
            compile_rules([rule("vram.a", F.x == F.y), rule("vram.b", F.y == "one"), rule("vram.c", F.x > 1)])
        with pytest.raises(RuleError, match="the field y is 1; the rules compare it as text"):
            run([rule("vram.a", F.x == F.y)], {"x": "1", "y": 1})

    def test_only_numbers_have_an_order(self):
        with pytest.raises(RuleError, match="only numbers have an order"):
            compile_rules([rule("vram.a", F.name > "abc")])
        with pytest.raises(RuleError, match="compare with a number, a text, True, False or a field"):
            compile_rules([rule("vram.a", Comparison("name", "==", None))])


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

    def test_any_exception_belongs_to_its_rule(self, monkeypatch):
        def break_one(found: Rule, fact: dict) -> str:
            if found.id == "vram.b":
                raise ZeroDivisionError("by zero")
            return found.id

        monkeypatch.setattr(engine, "build_finding", break_one)
        rules = [rule("vram.a", F.x > 0), rule("vram.b", F.x > 0), rule("vram.c", F.x > 0)]
        result = run(rules, {"x": 1}, strict=False)
        assert result.findings == ("vram.a", "vram.c")
        assert result.failures == (engine.RuleFailure("vram.b", "ZeroDivisionError: by zero"),)
        with pytest.raises(RuleError, match=r"rule vram.b: ZeroDivisionError: by zero"):
            run(rules, {"x": 1})

    def test_an_interrupt_passes_through_and_the_engine_works_afterwards(self, monkeypatch):
        def interrupt(found: Rule, fact: dict) -> str:
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(engine, "build_finding", interrupt)
            with pytest.raises(KeyboardInterrupt):
                run([rule("vram.a", F.x > 0)], {"x": 1})
        assert fires(F.x > 0, x=1)


class TestSizes:
    def test_forty_rules_may_fire_at_once(self):
        rules = [rule(f"vram.r{n:02}", Comparison("x", ">", n)) for n in range(40)]
        assert len(fired(*rules, x=100)) == 40
        assert len(fired(*(rule(f"vram.r{n:02}", F.x > 0) for n in range(40)), x=100)) == 40

    @pytest.mark.parametrize("number", [41, 65, 600])
    def test_more_are_refused_before_durable_sees_them(self, number):
        with pytest.raises(RuleError, match=f"stage vram has {number} rules; at most 40 fit in one ruleset"):
            compile_rules([rule(f"vram.r{n:03}", F.x > 0) for n in range(number)])

    def test_each_stage_has_its_own_forty(self):
        rules = [rule(f"{stage}.r{n:02}", Comparison("x", ">", n), stage=stage) for stage in Stage for n in range(40)]
        compiled = compile_rules(rules)
        for stage in Stage:
            result = evaluate(compiled.stage(stage), {"x": 20.5}, strict=True)
            assert [step.rule_id for step in result.trace] == [f"{stage}.r{n:02}" for n in range(21)]


class TestDefinition:
    def test_has_one_pattern_per_rule_and_no_negation_or_alternative(self):
        rules = random_rules(random.Random(3), 40, 6)
        definition = json.loads(compile_stage(Stage.VRAM, rules).definition)
        assert len(definition) == 42
        assert [entry["pri"] for entry in definition.values()] == list(range(1, 43))
        for entry in definition.values():
            assert set(entry) == {"all", "pri"}
            [pattern] = entry["all"]
            assert list(pattern) == ["m"]
            assert list(pattern["m"]) == ["$and"]
            assert list(pattern["m"]["$and"][0]) == ["p"]
            assert not {"$or", "$nex", "$ex", "$not", "$s"} & set(json.dumps(pattern).split('"'))

    def test_is_refused_without_conditions(self):
        with pytest.raises(RuleError, match=r"rule vram.a: has no conditions"):
            compile_rules([rule("vram.a")])
        with pytest.raises(RuleError, match=r"uses the operator '=>'"):
            compile_rules([rule("vram.a", Comparison("x", "=>", 1))])
        with pytest.raises(RuleError, match="two rules of this id"):
            compile_rules([rule("vram.a", F.x > 1), rule("vram.a", F.x > 2)])


class TestSessions:
    def test_no_timer_threads_are_started(self):
        before = threading.active_count()
        for _ in range(100):
            assert fires(F.x > 0, x=1)
        assert threading.active_count() == before

    def test_the_same_fact_may_be_judged_again_and_again(self):
        assert [fires(F.x > 0, x=1) for _ in range(50)] == [True] * 50

    def test_facts_that_interest_no_rule_are_no_error(self):
        for _ in range(2_000):
            assert fired(rule("vram.a", F.x > 5), x=1) == []
            assert fired(rule("vram.a", F.x > 5), y=1) == []
            assert fired(rule("vram.a", F.x > 5)) == []

    def test_no_rules_say_nothing(self):
        assert evaluate(compile_rules([]).stage(Stage.POWER), {"x": 1}) == engine.Evaluation()

    def test_rules_are_compiled_and_built_once(self):
        rules = [rule("vram.once", F.x > 123.456)]
        compiled = compile_rules(rules)
        assert compile_rules(list(rules)) is compiled
        evaluate(compiled.stage(Stage.VRAM), {"x": 1})
        built = len(engine._HANDLES)
        for n in range(20):
            # Texts and ids are no part of what durable is given, so rules that compare the same share a ruleset.
            run([rule(f"vram.other{n}", F.x > 123.456, because=f"{n}")], {"x": 1})
        assert len(engine._HANDLES) == built

    def test_memory_stays_bounded(self):
        source = random.Random(5)
        program = compile_rules(random_rules(source, 30, 6)).stage(Stage.VRAM)
        facts = [random_fact(source, 6) for _ in range(100)]

        def spend(times: int) -> int:
            for n in range(times):
                evaluate(program, facts[n % 100])
            gc.collect()
            return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

        unit = 1024 if sys.platform == "darwin" else 1
        after_warming_up = spend(1_000)
        assert (spend(6_000) - after_warming_up) / unit < 8 * 1024, "the peak grew by 8 MiB or more over 6,000 evaluations"


class TestLoading:
    def test_importing_the_engine_does_not_load_durable(self):
        program = "import sys, rules.engine; print([name for name in sys.modules if 'durable' in name])"
        assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.strip() == "[]"

    @pytest.mark.parametrize("missing", ["durable", "durable_rules_engine"])
    def test_a_missing_extension_says_what_to_do(self, monkeypatch, missing):
        for name in ("durable", "durable.engine", "durable_rules_engine"):
            monkeypatch.delitem(sys.modules, name, raising=False)
        monkeypatch.setitem(sys.modules, missing, None)
        with pytest.raises(EngineUnavailable) as raised:
            run([rule("vram.a", F.x > 0)], {"x": 1})
        for hint in ("C compiler", "headers", "CPPFLAGS=-DPyEval_CallObject=PyObject_CallObject", "make clean-venv && make run"):
            assert hint in str(raised.value)
