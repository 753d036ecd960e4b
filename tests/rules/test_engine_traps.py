"""The traps of durable-rules that the engine hides, and the limits that keep it away from them."""

from __future__ import annotations

import gc
import json
import random
import resource
import subprocess
import sys
import threading

import pytest

from rules import engine
from rules.compile import MAXIMUM_FIELDS, MAXIMUM_TEXT, compile_stage
from rules.engine import EngineUnavailable, RuleError, compile_rules, evaluate
from rules.findings import Stage
from rules.guidance.declare import Comparison, F, Rule
from tests.rules.samples import fired, fires, random_fact, random_rules, rule, run


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
        program = compile_rules(reading(250)).stage(Stage.VRAM)
        assert [len(chapter.rules) for chapter in program.chapters] == [9, 1]
        with pytest.raises(RuleError, match="read 250 fields; at most 240"):
            compile_rules([rule("vram.a", *(Comparison(f"x{n}", ">", 0) for n in range(250)))])


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


class TestSizes:
    def test_forty_rules_may_fire_at_once(self):
        rules = [rule(f"vram.r{n:02}", Comparison("x", ">", n)) for n in range(40)]
        assert len(fired(*rules, x=100)) == 40
        assert len(fired(*(rule(f"vram.r{n:02}", F.x > 0) for n in range(40)), x=100)) == 40

    @pytest.mark.parametrize("number", [41, 65, 600])
    def test_more_become_chapters_before_durable_sees_them(self, number):
        rules = [rule(f"vram.r{n:03}", F.x > 0) for n in range(number)]
        program = compile_rules(rules).stage(Stage.VRAM)
        assert [len(chapter.rules) for chapter in program.chapters] == [40] * (number // 40) + [number % 40] * (number % 40 > 0)
        assert [found.rule for found in run(rules, {"x": 1}).findings] == [each.id for each in rules]

    @pytest.mark.parametrize("number", [41, 65, 600])
    def test_more_that_build_on_each_other_are_refused(self, number):
        rules = [rule("vram.first", F.x > 0, writes=("f",)), *(rule(f"vram.r{n:03}", premise="f") for n in range(number - 1))]
        with pytest.raises(RuleError, match=f"stage vram has {number} rules that build on each other's flags; at most 40 fit"):
            compile_rules(rules)

    def test_rules_that_build_on_each_other_share_a_chapter(self):
        plain = [rule(f"vram.r{n:02}", F.x > 0) for n in range(39)]
        chain = [rule("vram.s", F.x > 0, writes=("f",)), rule("vram.t", premise="f", writes=("g",)), rule("vram.u", premise="g")]
        found = run([*plain, *chain], {"x": 1})
        assert len(found.findings) == 42
        assert found.flags == {"f", "g"}

    def test_two_chains_that_a_later_rule_joins_share_a_chapter(self):
        plain = [rule(f"vram.r{n:02}", F.x > 0) for n in range(38)]
        chain = [rule("vram.s", F.x > 0, writes=("f",)), rule("vram.t", F.x > 0, writes=("g",)), rule("vram.u", premise="f", writes=("g",))]
        program = compile_stage(Stage.VRAM, [*plain, *chain])
        assert [len(chapter.rules) for chapter in program.chapters] == [38, 3]

    def test_a_field_holds_the_same_in_every_chapter(self):
        rules = [rule(f"vram.r{n:02}", F.x > 0) for n in range(40)]
        with pytest.raises(RuleError, match=r"rule vram.z: compares x as text, but rule vram.r00 compares it as a number"):
            compile_rules([*rules, rule("vram.z", F.x == "one")])

    def test_each_stage_has_its_own_forty(self):
        rules = [rule(f"{stage}.r{n:02}", Comparison("x", ">", n), stage=stage) for stage in Stage for n in range(40)]
        compiled = compile_rules(rules)
        for stage in Stage:
            result = evaluate(compiled.stage(stage), {"x": 20.5}, strict=True)
            assert [step.rule_id for step in result.trace] == [f"{stage}.r{n:02}" for n in range(21)]


class TestDefinition:
    def test_has_one_pattern_per_rule_and_no_negation_or_alternative(self):
        rules = random_rules(random.Random(3), 40, 6)
        definition = json.loads(compile_stage(Stage.VRAM, rules).chapters[0].definition)
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
