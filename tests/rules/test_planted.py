"""A bad rule among the real ones fails the build: uncovered, unreachable, shadowed, contradicting another. Each is planted and found."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from rules.cases import all_rules
from rules.findings import Kind, Stage
from rules.guidance.declare import CANDIDATE, Comparison, F, Rule, Scaled
from rules.guidance.logic import check_logic, shadowed
from rules.stages import stage_module
from tests.edges import test_edges
from tests.rules import test_cases, test_guidance, test_logic
from tests.rules.samples import rule

RULES = tuple(all_rules().values())
FIRST = tuple(each for each in RULES if each.premise == CANDIDATE)
NEGATED = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}
PLANTED = "power.planted"


@pytest.fixture
def plant(monkeypatch):
    """Return what adds a rule to those of its stage until the test ends."""

    def add(*rules: Rule) -> None:
        for each in rules:
            module = stage_module(each.stage)
            monkeypatch.setattr(module, "RULES", (*module.RULES, each))

    return add


def planted(**changes: object) -> Rule:
    """A sound rule of the stage on power, but for what is changed."""
    settings: dict[str, object] = {"stage": Stage.POWER, "guidance": ("G4.6",), "because": "planted"} | changes
    when = settings.pop("when", (F.pue > 1.0,))
    return rule(PLANTED, *when, **settings)  # type: ignore[misc]


def fails(test, *arguments: object, told: str = PLANTED) -> None:
    """The test of the build fails and names what is wrong."""
    with pytest.raises(AssertionError, match=re.escape(told)):
        test(*arguments)


class TestTheBuildFails:
    """The very tests of the build are run over the real rules with one more."""

    def test_none_fails_before(self):
        test_cases.test_every_rule_fires_in_one_case_and_stays_silent_in_another()
        test_logic.test_the_declared_rules_are_sound()

    def test_a_rule_that_no_case_exercises(self, plant):
        plant(planted())
        fails(test_cases.test_every_rule_fires_in_one_case_and_stays_silent_in_another)

    def test_a_rule_whose_only_case_makes_it_fire(self, plant, monkeypatch):
        plant(planted())
        case = {"rule": PLANTED, "name": "it fires", "source": "none", "answers": {}, "fires": True}
        monkeypatch.setattr(test_cases, "CASES", [*test_cases.CASES, ("power", case)])
        fails(test_cases.test_every_rule_fires_in_one_case_and_stays_silent_in_another, told=f"'{PLANTED}': (True, False)")
        silent = case | {"facts": {"pue": 1.0}, "fires": False}
        del silent["answers"]
        monkeypatch.setattr(test_cases, "CASES", [*test_cases.CASES, ("power", silent)])
        fails(test_cases.test_every_rule_fires_in_one_case_and_stays_silent_in_another, told=f"'{PLANTED}': (True, False)")

    def test_a_rule_without_edges(self, plant, monkeypatch):
        monkeypatch.setattr(test_edges, "RULES", [*RULES, planted()])
        fails(test_edges.test_every_rule_has_edges_of_both_kinds_that_are_evidence)

    def test_a_rule_that_can_never_fire(self, plant):
        plant(planted(when=(F.pue > 2.0, F.pue < 1.5)))
        fails(test_logic.test_the_declared_rules_are_sound, told=f"{PLANTED}: can never fire")

    def test_a_rule_on_a_flag_that_nobody_writes(self, plant):
        plant(planted(premise="never_concluded"))
        fails(test_guidance.test_declared_rules_are_well_formed, test_guidance.load_catalog(), told="but no rule writes it")

    def test_a_rule_on_a_field_that_nobody_states(self, plant):
        plant(planted(when=(F.colour == "red",)))
        fails(test_guidance.test_declared_rules_are_well_formed, test_guidance.load_catalog(), told="reads colour, which no FACTS")

    def test_a_rule_that_another_shadows(self, plant):
        """It says what `power.total_unknown` says, on fewer occasions."""
        other = all_rules()["power.total_unknown"]
        plant(replace(other, id=PLANTED, when=(*other.when, F.pue > 1.2)))
        fails(test_logic.test_the_declared_rules_are_sound, told=f"{PLANTED}: is shadowed by power.total_unknown")

    def test_a_rule_that_says_what_another_says(self, plant):
        plant(replace(all_rules()["power.total_unknown"], id=PLANTED))
        fails(test_logic.test_the_declared_rules_are_sound, told="says the same")

    def test_a_decision_that_contradicts_another(self, plant):
        """`software.bf16_supported` decides BF16 on GPUs that have it; this one decides against it on all of them."""
        other = all_rules()["software.bf16_supported"]
        plant(replace(other, id="software.planted", when=(F.precision_in_gpu == True,), decides=(other.decides[0], "FP16")))  # noqa: E712
        fails(test_logic.test_the_declared_rules_are_sound, told="both decide software.precision, can fire together and say different")

    def test_rejections_that_leave_nothing(self, plant):
        """`power.rack_power_exceeded` rejects what draws more; nothing is left where another rejects what does not."""
        other = all_rules()["power.rack_power_exceeded"]
        high, low = (replace(other, id=f"{PLANTED}_{name}", when=(each,)) for name, each in (("high", F.pue > 1.3), ("low", F.pue <= 1.3)))
        plant(high, low)
        fails(test_logic.test_the_declared_rules_are_sound, told="nothing is left")


class TestEveryRealRule:
    """No detector works on hand-picked rules alone: each real rule is spoilt in turn, and each is found."""

    def test_made_unreachable_by_each_of_its_comparisons(self):
        missed = [
            (each.id, comparison)
            for each in FIRST
            for comparison in each.when
            if not _says("can never fire", check_logic([replace(each, when=(*each.when, _negated(comparison)))]))
        ]
        assert missed == []

    def test_its_narrower_copy_is_shadowed(self):
        missed = [each.id for each in RULES if not _says(f"is shadowed by {each.id}", shadowed([each, _narrower(each)]))]
        assert missed == []

    def test_narrowed_by_its_own_threshold_it_is_shadowed(self):
        """`a > 5` says the same as `a > 4`, less often; the other way round it is the shadow."""
        tried = 0
        for each in RULES:
            for number, comparison in enumerate(each.when):
                if (closer := _closer(comparison)) is not None:
                    copy = replace(each, id=f"{each.id}_copy", when=(*each.when[:number], closer, *each.when[number + 1 :]))
                    assert shadowed([each, copy]) == [
                        f"rule {copy.id}: is shadowed by {each.id}, which fires whenever it does and says the same"
                    ]
                    tried += 1
        assert tried > 40

    def test_another_word_on_the_same_thing_contradicts_it(self):
        decisions = [each for each in FIRST if each.kind is Kind.DECISION]
        assert len(decisions) > 80
        missed = [each.id for each in decisions if not _says("say different things", check_logic([each, _contrary(each)]))]
        assert missed == []

    def test_on_other_occasions_it_contradicts_nothing(self):
        """What speaks only where the rule is silent is no contradiction: the detector does not cry at every pair."""
        for each in FIRST:
            if each.kind is Kind.DECISION and len(each.when) == 1:
                assert check_logic([each, replace(_contrary(each), when=(_negated(each.when[0]),))]) == []


def _says(words: str, problems: list[str]) -> bool:
    return any(words in each for each in problems)


def _negated(each: Comparison) -> Comparison:
    return Comparison(each.left, NEGATED[each.operator], each.right)


def _narrower(each: Rule) -> Rule:
    return replace(each, id=f"{each.id}_copy", when=(*each.when, F.planted == True))  # noqa: E712


def _contrary(each: Rule) -> Rule:
    assert each.decides is not None
    return replace(each, id=f"{each.id}_copy", decides=(each.decides[0], "the contrary"), because="the contrary")


def _closer(each: Comparison) -> Comparison | None:
    """Return the comparison with a constant that holds less often; None for any other."""
    if isinstance(each.right, (Scaled, bool, str)) or each.operator in ("==", "!="):
        return None
    return Comparison(each.left, each.operator, each.right + (1 if each.operator in (">", ">=") else -1))
