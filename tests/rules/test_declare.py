"""Declared rules as data: comparisons, templates, findings, and the checks of all rules."""

from __future__ import annotations

import random

import pytest

from rules.engine import compile_rules, evaluate
from rules.facts import FactField, show, unit_of
from rules.findings import Finding, Kind, Remedy, Stage, Strength
from rules.guidance.checks import check_rules
from rules.guidance.declare import Ask, Comparison, F, Fix, Rule, RuleError, Scaled, limit, limit_field
from rules.render import Shown, parse_template, template_fields
from rules.render import finding as build_finding
from tests.rules.naive import judge
from tests.rules.samples import random_fact, random_rules, rule


class TestComparison:
    def test_fields_make_comparisons(self):
        assert (F.x > 1) == Comparison("x", ">", 1)
        assert (F.x <= F.y * 0.5 * 3) == Comparison("x", "<=", Scaled("y", 1.5))
        assert (F.name != "a") == Comparison("name", "!=", "a")
        assert (F.x >= limit("vram-margin", "low.bound")) == Comparison("x", ">=", Scaled("limit_vram_margin_low_bound"))
        with pytest.raises(ValueError, match="x: the factor belongs on the right side"):
            F.x * 2 > F.y  # noqa: B015 - the comparison is what raises

    def test_reads_name_both_sides_once(self):
        assert rule("vram.a", F.y > F.x, F.x > 1).reads == ("x", "y")

    def test_holds_means_what_the_naive_evaluator_says(self):
        source = random.Random(9)
        held = 0
        for _ in range(300):
            made, fact = random_rules(source, 5, 3), random_fact(source, 3)
            for one in (r for r in made if r.premise == "candidate"):
                expected = [name for name, _ in judge([one], fact)[0]] == [one.id]
                assert all(comparison.holds(fact) for comparison in one.when) is expected, (one.when, fact)
                held += expected
        assert held > 100

    def test_limit_field_has_no_dots_or_dashes(self):
        assert limit_field("vram-cuda-context", "h100.sxm") == "limit_vram_cuda_context_h100_sxm"
        assert limit_field("vram-margin") == "limit_vram_margin"


class TestShow:
    @pytest.mark.parametrize(
        ("name", "value", "text"),
        [
            ("rack_power_kw", 40.8, "40.8 kW"),
            ("memory_needed_low_gib", 62.1234, "62.12 GiB"),
            ("price_usd", 412_000_000, "412,000,000 USD"),
            ("nodes", 1984, "1984"),
            ("oversubscription_percent", 12.5, "12.5 %"),
            ("energy_usd_per_kwh", 0.08, "0.08 USD/kWh"),
            ("bandwidth_gb_per_s", 450, "450 GB/s"),
            ("rdma", True, "yes"),
            ("gpu", "NVIDIA H100", "NVIDIA H100"),
            ("latency_us", 1e-5, "0.00001 µs"),
        ],
    )
    def test_values_carry_their_unit(self, name, value, text):
        assert show(name, value) == text

    def test_a_unit_needs_a_name_before_it(self):
        assert unit_of("w") == ""
        assert unit_of("gpu_w") == "W"


REJECTION = rule(
    "vram.state_does_not_fit",
    F.memory_needed_gib > F.memory_usable_gib * 0.95,
    F.gpu != "",
    kind=Kind.REJECT,
    strength=Strength.HARD,
    guidance=("G1a.2", "G4.1"),
    thresholds=("vram-margin",),
    because="{plan} needs {memory_needed_gib} per GPU; {gpu} offers {memory_usable_gib} {{usable}}",
    fix=(Fix("cluster.budget", "raise the budget to {cost_usd}", "{cost_usd}"), Fix("preferences.gpu", "another GPU")),
    ask=Ask("vendor of {gpu}", "How much of {memory_total_gib} is free?", "at least {memory_needed_gib}"),
)
FACT = {
    "memory_needed_gib": 92.34567,
    "memory_usable_gib": 79.6,
    "memory_total_gib": 79.65,
    "gpu": "NVIDIA H100",
    "plan": "TP8 PP4",
    "cost_usd": 1234567.5,
    "unused": 1,
}


def finding(made: Rule, fact: dict) -> Finding:
    return build_finding(made, Shown(fact))


class TestFinding:
    def test_carries_the_rule_and_its_figures(self):
        assert finding(REJECTION, FACT) == Finding(
            rule="vram.state_does_not_fit",
            stage=Stage.VRAM,
            kind=Kind.REJECT,
            strength=Strength.HARD,
            because="TP8 PP4 needs 92.35 GiB per GPU; NVIDIA H100 offers 79.6 GiB {usable}",
            guidance=("G1a.2", "G4.1"),
            thresholds=("vram-margin",),
            numbers={"memory_needed_gib": "92.35 GiB", "memory_usable_gib": "79.6 GiB", "gpu": "NVIDIA H100", "plan": "TP8 PP4"},
            remedies=(
                Remedy("cluster.budget", "1235000 USD", "raise the budget to 1,234,568 USD"),
                Remedy("preferences.gpu", "", "another GPU"),
            ),
            ask="How much of 79.65 GiB is free?",
            to="vendor of NVIDIA H100",
            good_answer="at least 92.35 GiB",
        )

    def test_comes_out_of_the_engine(self):
        program = compile_rules([REJECTION]).stage(Stage.VRAM)
        assert evaluate(program, FACT, strict=True).findings == (finding(REJECTION, FACT),)
        assert evaluate(program, FACT | {"memory_usable_gib": 98.0}, strict=True).findings == ()

    def test_a_decision_names_what_is_decided(self):
        made = finding(
            rule("vram.d", F.nodes > 0, kind=Kind.DECISION, decides=("compute.nodes", "{nodes} × {gpu}")), {"nodes": 8, "gpu": "H100"}
        )
        assert (made.decision, made.value) == ("compute.nodes", "8 × H100")

    def test_a_remedy_writes_values_that_can_be_answered(self):
        wanted = rule("vram.d", F.nodes > 0, fix=(Fix("a", "", "{nodes}"), Fix("b", "", "{rdma}"), Fix("c", "", "{deadline_days}")))
        made = finding(wanted, {"nodes": 12_900, "rdma": True, "deadline_days": 53.456789})
        assert [remedy.value for remedy in made.remedies] == ["12900", "true", "53.46 days"]

    @pytest.mark.parametrize(
        ("number", "up", "down"),
        [
            (88.5912862853, "88.6 days", "88.59 days"),
            (314133.559514, "314200 days", "314100 days"),
            (30.0, "30 days", "30 days"),
            (14.3, "14.3 days", "14.3 days"),
            (3 * 14.3, "42.91 days", "42.9 days"),  # 42.900000000000006 in binary: 42.9 would be too little
            (0.00123456, "0.001235 days", "0.001234 days"),
        ],
    )
    def test_a_limit_to_raise_is_rounded_up_and_one_to_lower_down(self, number, up, down):
        fixes = (Fix("a", "", "{run_days}"), Fix("b", "", "{run_days}", lower=True))
        made = finding(rule("vram.d", F.run_days > 0, fix=fixes), {"run_days": number})
        assert [remedy.value for remedy in made.remedies] == [up, down]

    def test_a_remedy_that_cannot_help_is_not_offered(self):
        fixes = (Fix("a", "", when=(F.own == True,)), Fix("b", "", when=(F.own == False, F.nodes > 1)), Fix("c", ""))  # noqa: E712
        made = rule("vram.d", F.nodes > 0, fix=fixes)
        assert [remedy.key for remedy in finding(made, {"nodes": 2, "own": True}).remedies] == ["a", "c"]
        assert [remedy.key for remedy in finding(made, {"nodes": 2, "own": False}).remedies] == ["b", "c"]
        assert [remedy.key for remedy in finding(made, {"nodes": 1, "own": False}).remedies] == ["c"]

    def test_the_condition_of_a_remedy_reads_fields_of_its_stage(self):
        made = rule("vram.d", F.nodes > 0, fix=(Fix("a", "", when=(F.colour == "red",)),), kind=Kind.WARNING)
        assert check_rules([made], facts={Stage.VRAM: [FactField("nodes", "")]}) == [
            "rule vram.d: reads colour, which no FACTS of stage vram declare"
        ]

    def test_a_field_that_is_not_stated_is_an_error_with_rule_and_field(self):
        with pytest.raises(
            RuleError, match=r"rule vram.state_does_not_fit: its text prints the field 'plan', which stage vram does not state"
        ):
            finding(REJECTION, {name: value for name, value in FACT.items() if name != "plan"})


class TestTemplates:
    def test_template_fields_are_those_of_all_texts(self):
        assert template_fields(REJECTION) == ("cost_usd", "gpu", "memory_needed_gib", "memory_total_gib", "memory_usable_gib", "plan")

    def test_parts(self):
        assert parse_template("a {x_gib} b {{c}}") == (("a ", "x_gib"), (" b {", None), ("c}", None))

    @pytest.mark.parametrize("template", ["{}", "{0}", "{x:.2f}", "{x!r}", "{x.y}", "{x[0]}", "{x", "x}", "{x y}"])
    def test_anything_else_is_refused_with_the_rules_id(self, template):
        with pytest.raises(RuleError, match=r"^rule vram\.a: "):
            template_fields(rule("vram.a", F.x > 1, because=template))


def question(name: str, **changes: object) -> Rule:
    return rule(name, F.x > 1, **{"kind": Kind.QUESTION, "ask": Ask("vendor", "how much?", "much")} | changes)


FACTS = {Stage.VRAM: (FactField("x", "a number"), FactField("y", "a number")), Stage.POWER: (FactField("x", "a number"),)}


def problems(*rules: Rule, **known: object) -> list[str]:
    return check_rules(rules, **{"guidance": {"G1a.1"}, "facts": FACTS, "thresholds": {"vram-margin"}} | known)


class TestCheckRules:
    def test_sound_rules_have_no_problems(self):
        sound = (
            rule("vram.a", F.x > limit("vram-margin"), thresholds=("vram-margin",), writes=("tight",), because="{x} {limit_vram_margin}"),
            rule("vram.b", premise="tight", writes=("very_tight",)),
            rule("vram.c", F.y > 0, premise="very_tight", kind=Kind.WARNING, fix=(Fix("a.b", "change {y}"),)),
            question("vram.d"),
            rule("vram.e", F.x > 0, kind=Kind.DECISION, decides=("a.b", "{x}")),
            rule("power.a", F.tight == True, F.x > 1, stage=Stage.POWER),  # noqa: E712
        )
        assert problems(*sound, modules={"vram": sound[:5]}) == []

    @pytest.mark.parametrize(
        ("made", "expected"),
        [
            (rule("power.a", F.x > 1), "rule power.a: its id must begin with its stage, as in vram.power.a"),
            (rule("vram.", F.x > 1), "rule vram.: its id must begin with its stage, as in vram.vram."),
            (rule("vram.a", F.x > 1, guidance=("G9",)), "rule vram.a: applies the unknown guidance G9"),
            (rule("vram.a", F.x > 1, thresholds=("t",)), "rule vram.a: applies the unknown threshold t"),
            (rule("vram.a", F.z > 1), "rule vram.a: reads z, which no FACTS of stage vram declare"),
            (rule("vram.a", F.x > F.z * 2), "rule vram.a: reads z, which no FACTS of stage vram declare"),
            (rule("vram.a", F.x > 1, because="{z}"), "rule vram.a: reads z, which no FACTS of stage vram declare"),
            (
                rule("vram.a", F.x > limit("vram-margin")),
                "rule vram.a: reads limit_vram_margin, but names no threshold of that id in `thresholds`",
            ),
            (rule("vram.a", F.x > 1, because=" "), "rule vram.a: has an empty `because`"),
            (
                rule("vram.a", F.x > 1, because="{x:.1f}"),
                "rule vram.a: the template '{x:.1f}' must name a field between braces, as in {memory_needed_gib}; found {x}",
            ),
            (
                rule("vram.a", F.x > 1, kind=Kind.DECISION),
                "rule vram.a: is of kind decision; `decides` belongs to decisions, and to every one of them",
            ),
            (
                rule("vram.a", F.x > 1, decides=("a", "b")),
                "rule vram.a: is of kind assumption; `decides` belongs to decisions, and to every one of them",
            ),
            (question("vram.a", ask=None), "rule vram.a: is a question without `ask`"),
            (
                rule("vram.a", F.x > 1, kind=Kind.REJECT),
                "rule vram.a: is a reject that says neither what to change (`fix`) nor what to check (`ask`)",
            ),
            (
                rule("vram.a"),
                "rule vram.a: has no conditions; give `when` at least one comparison, or build on a flag with `premise`",
            ),
            (rule("vram.a", F.x > 1, premise="f"), "rule vram.a: builds on the flag f, but no rule writes it"),
            (
                rule("vram.a", F.x > 1, writes=("candidate",)),
                "rule vram.a: writes the flag 'candidate', the name of the fact that starts every stage; choose another",
            ),
        ],
    )
    def test_one_wrong_rule(self, made, expected):
        assert problems(made) == [expected]

    def test_ids(self):
        twins = (rule("vram.b", F.x > 1), rule("vram.b", F.x > 2))
        assert problems(*twins)[0] == "rule vram.b: 2 rules have this id; rename all but one"
        unsorted = (rule("vram.b", F.x > 1), rule("vram.a", F.x > 2))
        assert problems(*unsorted) == []
        assert problems(*unsorted, modules={"rules.guidance.vram": unsorted}) == [
            "rule vram.a: stands after vram.b in rules.guidance.vram; keep the rules of a module sorted by id"
        ]

    def test_flags_belong_to_one_stage(self):
        writer = rule("vram.a", F.x > 1, writes=("f",))
        assert problems(writer, rule("power.a", F.x > 1, stage=Stage.POWER, writes=("f",))) == [
            "rule power.a: writes the flag f, which stage vram owns (rule vram.a)"
        ]
        assert problems(writer, rule("power.a", F.x > 1, stage=Stage.POWER, premise="f")) == [
            "rule power.a: builds on the flag f, but stage vram writes it: read it as a field"
        ]
        assert problems(writer, rule("vram.b", F.f == True)) == [  # noqa: E712
            'rule vram.b: reads the flag f of its own stage as a field; build on it with premise="f"'
        ]
        later = rule("power.a", F.x > 1, stage=Stage.POWER, writes=("g",))
        assert problems(later, rule("vram.b", F.g == True)) == ["rule vram.b: reads g, which no FACTS of stage vram declare"]  # noqa: E712

    def test_premises_are_reached_and_lead_nowhere_back(self):
        island = (rule("vram.a", premise="f", writes=("g",)), rule("vram.b", premise="g", writes=("f",)))
        assert problems(*island) == [
            "rule vram.a: builds on the flag f, which no chain of rules from the candidate reaches",
            "rule vram.b: builds on the flag g, which no chain of rules from the candidate reaches",
        ]
        assert problems(rule("vram.0", F.x > 1, writes=("f",)), *island) == [
            "rule vram.a: builds on the flag f and leads back to it",
            "rule vram.b: builds on the flag g and leads back to it",
        ]

    def test_at_most_forty_rules_that_build_on_each_other(self):
        many = [rule("vram.a", F.x > 1, writes=("f",)), *(rule(f"vram.r{number:02}", premise="f") for number in range(40))]
        assert problems(*many) == ["rule vram.r39: stage vram has 41 rules that build on each other's flags; at most 40 fit in one ruleset"]

    def test_rules_that_contradict_each_other_about_a_field(self):
        assert problems(rule("vram.a", F.x > 1), rule("vram.b", F.x == "one")) == [
            "rule vram.b: compares x as text, but rule vram.a compares it as a number; one of them is wrong"
        ]

    def test_what_is_not_given_is_not_checked(self):
        assert check_rules([rule("vram.a", F.z > 1, guidance=("G9",), thresholds=("t",))]) == []
