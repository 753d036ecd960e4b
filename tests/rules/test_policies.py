"""A site's own rules run on the engine, reject and warn, appear in explanations, and bind like answers."""

from __future__ import annotations

import pytest

from catalogs import load_catalog
from rules.advisor import advise, consider
from rules.answers import Answers
from rules.conflicts import find_conflicts
from rules.explain import explain
from rules.explanation.text import lines_of
from rules.findings import Kind, Stage, Strength
from rules.guidance.declare import Comparison, Scaled
from rules.policies import MOST_POLICIES, PolicyError, merged, parse_policies, parse_policy, policies_hash

TWO = {"model.preset": "llama-3.1-8b", "scale.nodes": 2, "preferences.nodes": ["nvidia-dgx-h100"], "training.tokens": "20B"}
HEAVY = {
    "id": "light-servers",
    "when": [{"field": "node_power_kw", "is": ">", "value": "8000 W"}],
    "severity": "reject",
    "message": "No server above 8 kW here; {node} draws {node_power_kw}.",
    "fix": [{"key": "preferences.nodes", "text": "look at other servers"}],
}
HEADROOM = {
    "id": "headroom",
    "when": [
        {"field": "has_total_limit", "value": True},
        {"field": "total_power_kw", "is": ">", "value": {"field": "total_power_limit_kw", "times": 0.85}},
    ],
    "severity": "warning",
    "message": "15 % of the site's power stay free; {total_power_kw} of {total_power_limit_kw} are drawn.",
}
NO_ETHERNET = {
    "id": "no-ethernet",
    "stage": "fabric",
    "when": [{"field": "technology", "value": "ethernet"}],
    "severity": "reject",
    "message": "No {technology_name} between nodes here.",
}


@pytest.fixture(scope="module")
def catalog():
    return load_catalog()


def under(*rows: dict, **changes: object) -> Answers:
    answers = Answers.of(TWO | {key.replace("__", "."): value for key, value in changes.items()})
    return answers.with_policies(parse_policies(list(rows)))


class TestForm:
    def test_a_quantity_is_taken_in_the_unit_of_its_field(self):
        assert parse_policy(HEAVY).rule.when == (Comparison("node_power_kw", ">", 8.0),)

    def test_a_field_times_a_factor(self):
        assert parse_policy(HEADROOM).rule.when[1] == Comparison("total_power_kw", ">", Scaled("total_power_limit_kw", 0.85))

    def test_the_stage_is_the_one_that_states_the_field(self):
        policy = parse_policy(HEADROOM)
        assert (policy.stage, policy.rule.id) == (Stage.POWER, "power.policy.headroom")
        assert (policy.rule.kind, policy.rule.strength) == (Kind.WARNING, Strength.STRONG)

    @pytest.mark.parametrize(
        ("changes", "said"),
        [
            ({"id": "No RoCE"}, "id: expected a short name"),
            ({"severity": "error"}, "severity: expected one of reject, warning, advice"),
            ({"stage": "network"}, "stage: expected one of"),
            ({"stage": "vram"}, "stage vram states no field 'node_power_kw'"),
            ({"when": []}, "when: expected at least one comparison"),
            ({"when": [{"field": "node_powr_kw", "value": 1}]}, "did you mean 'node_power_kw'"),
            ({"when": [{"field": "node_power_kw"}]}, "a value is missing"),
            ({"when": [{"field": "node_power_kw", "is": "=", "value": 1}]}, "is: expected one of"),
            ({"when": [{"field": "node_power_kw", "is": ">", "value": "8 GB"}]}, "expected a quantity in kW"),
            ({"when": [{"field": "node_power_kw", "is": ">", "value": True}]}, "expected a number"),
            ({"when": [{"field": "node_power_kw", "value": {"field": "node", "by": 2}}]}, "no such key"),
            ({"when": [{"field": "node_power_kw", "value": {"field": "rack_power_kw", "times": "2"}}]}, "times: expected a number"),
            ({"when": "node_power_kw > 8"}, "when: expected a list"),
            ({"when": [{"field": "node_power_kw", "is": sign, "value": 8} for sign in "<>"]}, "its comparisons exclude each other"),
            ({"message": ""}, "message: expected one line"),
            ({"message": "{nodes_power}"}, "states no field 'nodes_power'"),
            ({"message": "{node.__class__}"}, "must name a field"),
            ({"fix": [{"key": "facility.rackpower", "text": "x"}]}, "no such answer"),
            ({"fix": [{"key": "facility.racks", "value": "many", "text": "x"}]}, "fix: facility.racks"),
            ({"run": "rm"}, "run: no such key"),
        ],
    )
    def test_what_is_wrong_is_named(self, changes, said):
        with pytest.raises(PolicyError) as caught:
            parse_policy(HEAVY | changes)
        assert said in str(caught.value)

    def test_ids_are_unique_and_numbers_bounded(self):
        with pytest.raises(PolicyError, match="two policies"):
            parse_policies([HEAVY, HEAVY])
        with pytest.raises(PolicyError, match="at most"):
            parse_policies([HEAVY | {"id": f"p{number}"} for number in range(MOST_POLICIES + 1)])
        with pytest.raises(PolicyError, match="expected"):
            parse_policies("no")

    def test_a_field_of_several_stages_needs_its_stage(self):
        row = {**HEAVY, "when": [{"field": "node", "value": "x"}], "message": "no"}
        with pytest.raises(PolicyError, match="several state node"):
            parse_policy(row)


class TestEffect:
    def test_a_server_is_rejected_and_the_rest_is_not(self, catalog):
        """NVIDIA's datasheet: a DGX H100 draws up to 10.2 kW, which is above 8 kW."""
        design = advise(under(HEAVY), catalog)
        (found,) = [each for each in design.conflicts if each.rule == "power.policy.light-servers"]
        assert found.because == "No server above 8 kW here; NVIDIA DGX H100 draws 10.2 kW."
        assert not design.fits
        assert advise(under(), catalog).fits

    def test_every_comparison_on_the_engine(self, catalog):
        """A DGX H100 draws 10.2 kW [NVIDIA datasheet]: each operator below, at and above it."""
        holds = {"<": "..+", "<=": ".++", ">": "+..", ">=": "++.", "==": ".+.", "!=": "+.+"}
        named = {name: f"p{number}" for number, name in enumerate(holds)}
        rows = [
            HEAVY | {"id": f"{named[sign]}-{value}", "when": [{"field": "node_power_kw", "is": sign, "value": f"{value} W"}]}
            for sign in holds
            for value in (10_100, 10_200, 10_300)
        ]
        said = {each.rule.rpartition(".")[2] for each in advise(under(*rows), catalog).conflicts}
        for sign, marks in holds.items():
            found = "".join("+" if f"{named[sign]}-{value}" in said else "." for value in (10_100, 10_200, 10_300))
            assert (sign, found) == (sign, marks)

    def test_another_candidate_is_chosen(self, catalog):
        free = under(preferences__nodes=["nvidia-dgx-h100", "dell-poweredge-xe7740-l40s"])
        policed = free.with_policies(parse_policies([HEAVY]))
        chosen = advise(policed, catalog)
        assert chosen.fits
        assert "XE7740" in chosen.name
        rejected = next(each for each in chosen.rejected if "dgx-h100" in each.candidate)
        assert rejected.rule == "power.policy.light-servers"

    @pytest.mark.parametrize(("share", "warns"), [(0.99, True), (0.86, True), (0.84, False), (0.3, False)])
    def test_headroom(self, catalog, share, warns):
        """A site of which the design draws 86 % has less than 15 % left, one of which it draws 84 % has more."""
        drawn = advise(under(), catalog).figures.total_power_kw
        design = advise(under(HEADROOM, facility__total_power=f"{drawn / share} kW"), catalog)
        assert design.fits
        assert ("power.policy.headroom" in {each.rule for each in design.of_kind(Kind.WARNING)}) is warns

    def test_a_vendor_is_excluded(self, catalog):
        row = {"id": "no-amd", "when": [{"field": "gpu_vendor", "value": "AMD"}], "severity": "reject", "message": "No {gpu_vendor}."}
        considered = consider(under(row, preferences__nodes=["nvidia-dgx-h100", "dell-poweredge-xe9680-mi300x"]), catalog)
        said = {each.candidate.gpu.vendor: {found.rule for found in each.candidate.rejections} for each in considered.judged}
        assert "vram.policy.no-amd" in said["AMD"]
        assert "vram.policy.no-amd" not in said["NVIDIA"]

    def test_it_is_explained_like_a_rule(self, catalog):
        text = "\n".join(lines_of(explain(consider(under(HEAVY), catalog), "power.policy.light-servers")))
        assert "rule power.policy.light-servers" in text
        assert "node power 10.2 kW > 8 kW" in text
        assert "NVIDIA DGX H100/H200 user guide" in text

    def test_changes_of_answers_keep_it(self):
        answers = under(HEAVY)
        assert answers.with_value("scale.nodes", 3).policies == answers.policies == answers.without("scale.nodes").policies

    def test_it_may_be_what_stands_in_the_way(self, catalog):
        found = find_conflicts(under(HEAVY), catalog)
        assert {each.keys for each in found.sets} == {("preferences.nodes", "policy.light-servers")}
        assert [each.key for each in found.sets[0].changes] == ["preferences.nodes", "policy.light-servers"]

    def test_a_field_that_a_policy_reads_wrongly_is_reported_and_the_others_go_on(self, catalog):
        wrong = {**HEAVY, "id": "wrong", "when": [{"field": "pue", "value": "much"}], "message": "x"}
        design = advise(under(wrong, HEAVY), catalog)
        assert any("power.policy.wrong failed" in each for each in design.failures)
        assert any(each.rule == "power.policy.light-servers" for each in design.conflicts)


class TestHash:
    def test_what_they_say_counts_and_not_their_order(self):
        one, two = parse_policies([HEAVY, HEADROOM]), parse_policies([HEADROOM, HEAVY])
        assert policies_hash(one) == policies_hash(two)
        assert policies_hash(one) != policies_hash(parse_policies([HEAVY, {**HEADROOM, "severity": "reject"}]))

    def test_the_later_one_of_two_holds(self):
        other = parse_policies([{**HEAVY, "severity": "advice"}])
        assert [each.row["severity"] for each in merged(parse_policies([HEAVY, HEADROOM]), other)] == ["advice", "warning"]


def test_where_a_policy_refuses_one_technology_the_other_is_built(catalog):
    """The adapters of a DGX H100 are ConnectX-7, which do InfiniBand and Ethernet: without RoCE there is InfiniBand, and the reverse."""
    free = consider(under(), catalog).ranking.chosen.candidate.facts[Stage.FABRIC]["technology"]
    assert free == "ethernet"
    design = advise(under(NO_ETHERNET), catalog)
    assert design.fits
    (found,) = [each for each in design.findings if each.decision == "fabric.compute.technology"]
    assert (found.value or "").startswith("InfiniBand NDR")
    assert found.because.startswith("A policy of the site (no-ethernet) refuses RoCEv2 over 400 GbE.")
    both = [NO_ETHERNET, NO_ETHERNET | {"id": "no-ib", "when": [{"field": "technology_name", "value": "InfiniBand NDR"}]}]
    assert not advise(under(*both), catalog).fits
    assert not advise(under(NO_ETHERNET, preferences__fabric="ethernet"), catalog).fits


def test_a_field_compared_with_itself_is_refused():
    row = {**HEAVY, "when": [{"field": "node_power_kw", "is": ">", "value": {"field": "node_power_kw", "times": 0.9}}]}
    with pytest.raises(PolicyError, match="is compared with itself"):
        parse_policy(row)
