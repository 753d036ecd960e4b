"""Why not X: the first rule against it, by how much, and the smallest change that admits it."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from catalogs import load_catalog
from rules.advisor import consider, feasible
from rules.answers import AnswerError, Answers
from rules.choice import behind_by
from rules.guidance.declare import F
from rules.policies import parse_policies
from rules.whatif import with_changes
from rules.whynot.margins import margins_of
from rules.whynot.whynot import _between, why_not
from rules.whynot.wishes import NoSuchWishError, wish_of
from tests.rules.samples import rule

BASE = {"model.preset": "llama-3.1-8b", "scale.nodes": 2, "training.tokens": "20B"}


@pytest.fixture(scope="module")
def catalog():
    return load_catalog()


def weighed(catalog, **changes: object):
    return consider(Answers.of(BASE | {key.replace("__", "."): value for key, value in changes.items()}), catalog)


@pytest.fixture(scope="module")
def one(catalog):
    """Two DGX H100 in racks of 12 kW on a site of 40 kW, air alone."""
    return weighed(catalog, preferences__nodes=["nvidia-dgx-h100"], facility__rack_power="12 kW")


class TestMargins:
    def test_over_a_limit_and_under_one(self):
        sample = rule("vram.sample", F.power_kw > F.limit_kw * 2, F.headroom_percent < 10, F.kind == "x")
        over, under = margins_of(sample, {"power_kw": 30.0, "limit_kw": 12.0, "headroom_percent": 8.0, "kind": "x"})
        assert (over.value, over.limit, over.by) == ("30 kW", "24 kW", pytest.approx(0.25))
        assert over.text == "power 30 kW, 25 % above 24 kW"
        assert under.text == "headroom 8 %, 20 % below 10 %"

    def test_none_where_there_is_no_number_or_the_comparison_does_not_hold(self):
        sample = rule("vram.sample", F.power_kw > 40, F.kind != "x", F.missing > 1, F.zero > 0)
        assert margins_of(sample, {"power_kw": 30.0, "kind": "y", "zero": 5}) == ()


class TestWishes:
    @pytest.mark.parametrize(
        ("what", "kind", "name"),
        [
            ("H200", "GPU", "NVIDIA H200 SXM5 141 GB"),
            ("nvidia-dgx-b200", "server", "NVIDIA DGX B200"),
            ("RoCE", "fabric", "ethernet"),
            ("InfiniBand", "fabric", "infiniband"),
            ("amd", "vendor", "AMD"),
            ("Dell", "vendor", "Dell"),
            ("liquid cooling", "cooling", "liquid"),
            ("rear-door", "cooling", "rear_door"),
            ("TP8 PP2 ZeRO-1", "plan", "TP8 PP2 ZeRO-1"),
        ],
    )
    def test_what_a_word_means(self, one, what, kind, name):
        wish = wish_of(what, one)
        assert (wish.kind, wish.name) == (kind, name)

    def test_a_plan_is_asked_for_on_the_chosen_servers(self, one):
        assert wish_of("TP8 MB2 recompute full", one).changes == {
            "parallelism.tensor": 8,
            "parallelism.micro_batch": 2,
            "parallelism.recompute": "full",
            "parallelism.mode": "given",
            "preferences.nodes": ("nvidia-dgx-h100",),
            "scale.gpus": 16,
        }

    def test_a_word_that_means_nothing_names_what_is_near(self, one):
        with pytest.raises(NoSuchWishError, match="infiniband"):
            wish_of("infinibandd", one)


class TestWhyNot:
    def test_what_the_design_has(self, one):
        assert why_not(one, "H100").chosen

    def test_a_rule_by_how_much_and_the_smallest_change(self, one, catalog):
        """NVIDIA's guide: a DGX B200 draws up to 14.3 kW, 19.2 % more than a rack of 12 kW gives."""
        found = why_not(one, "nvidia-dgx-b200")
        assert not found.chosen
        assert [each.rule for each in found.obstacles] == ["preferences.nodes", "power.rack_power_exceeded"]
        (margin,) = found.obstacles[1].margins
        assert (margin.value, margin.limit, round(margin.by, 3)) == ("14.3 kW", "12 kW", 0.192)
        assert found.notes == ("it is weighed only where it is asked for; name it too: preferences.nodes = nvidia-dgx-b200",)
        change = next(each for each in found.changes if each.key == "facility.rack_power")
        assert 14.3 <= float(change.after.split()[0]) <= 14.3 * 1.03
        asked = with_changes(one.context.answers, {"preferences.nodes": ("nvidia-dgx-b200",)})
        assert feasible(with_changes(asked, change.changes), catalog)
        assert not feasible(with_changes(asked, {"facility.rack_power": "14.2 kW"}), catalog)

    def test_several_changes_where_none_alone_will_do(self, catalog):
        tight = weighed(catalog, preferences__nodes=["nvidia-dgx-h100"], facility__rack_power="12 kW", facility__total_power="34 kW")
        found = why_not(tight, "nvidia-dgx-b200")
        assert found.changes == ()
        assert {each.key for each in found.together} == {"facility.rack_power", "facility.total_power"}

    def test_an_answer_that_excludes_it(self, one):
        found = why_not(one, "nvidia-dgx-h200")
        assert [(each.kind, each.rule) for each in found.obstacles] == [("answers", "preferences.nodes")]
        assert [each.key for each in found.changes] == ["preferences.nodes"]

    def test_one_that_ranks_lower_says_by_how_much(self, catalog):
        free = weighed(catalog, preferences__gpus=["nvidia-h100-sxm-80gb", "nvidia-a100-sxm-80gb"])
        found = why_not(free, "A100" if "h100" in free.ranking.chosen.candidate.id else "H100")
        (obstacle,) = found.obstacles
        assert obstacle.kind == "ranking"
        (asked,) = found.changes
        assert asked.key == "preferences.gpus"
        assert asked.after in consider(with_changes(free.context.answers, asked.changes), catalog).ranking.chosen.candidate.gpu.id
        assert any(each.field == "time of the run" for each in obstacle.margins)

    def test_what_puts_it_behind_where_the_measure_does_not(self, catalog):
        """Level by what candidates are ranked by, or even before: then a price, a budget, warnings or memory decide, and are named."""
        base = weighed(catalog, preferences__nodes=["nvidia-dgx-h100"], budget__purchase="1M USD")
        first = base.ranking.good[0]
        assert behind_by(replace(first, worth=first.worth * 2), first, base.context) == ""
        assert behind_by(replace(first, worth=first.worth / 2, apart=True), first, base.context) == "its price is unknown"
        dear = replace(first, worth=first.worth / 2, figures=replace(first.figures, purchase_usd=1.1e6))
        assert behind_by(dear, first, base.context) == "its expected price exceeds the budget"
        full = replace(first, figures=replace(first.figures, memory_gib=first.figures.memory_gib + 1))
        assert behind_by(full, first, base.context) == "level in that, it leaves less of the memory free"

    def test_what_the_work_costs_is_shown_where_it_ranks(self, one):
        """A server may cost less to own and do the work for more: without the second figure its place looks wrong."""
        first = one.ranking.good[0]
        assert first.measure == "cost of the work"
        slow = replace(first.figures, usd_per_million_units=2 * first.figures.usd_per_million_units, ownership_usd=1e5)
        work, owning, *_ = _between(replace(first, figures=slow), first)
        assert (work.field, work.by) == ("cost of the work", 1.0)
        assert (owning.field, owning.by < 0) == ("cost of owning it", True)

    def test_a_plan_that_divides_nothing(self, one):
        found = why_not(one, "TP3")
        assert [each.rule for each in found.obstacles] == ["vram.no_plan_divides"]

    def test_a_plan_that_is_slower(self, one):
        """Tensor parallelism over eight GPUs adds communication to a model that fits on one: the step takes longer."""
        (obstacle,) = why_not(one, "TP8").obstacles
        assert next(each.by for each in obstacle.margins if each.field == "step time") > 0

    def test_a_plan_that_does_not_fit_says_what_it_would_hold(self, catalog):
        """70B by TP8, ZeRO-1 over 8: 8.8 billion parameters a GPU at 6 + 12/8 bytes are 62 GiB, activations of 8,192 tokens 20 more."""
        design = weighed(
            catalog, model__preset="llama-3.1-70b", scale__nodes=8, training__sequence_length=8192, training__global_batch=128,
            preferences__nodes=["nvidia-dgx-h100"],
        )  # fmt: skip
        (obstacle,) = why_not(design, "TP8 PP1 DP8 ZeRO-1 MB1", changes=False).obstacles
        assert obstacle.rule == "plans.memory"
        held = re.search(r"is expected not to fit: its fullest GPU would hold ([\d.]+) GiB .* of the 79.6 GiB", obstacle.because)
        assert 82 <= float(held[1]) <= 95

    def test_a_gpu_without_a_server(self, one, catalog):
        having = {node.gpu for node in catalog.nodes}
        alone = next(gpu for gpu in catalog.gpus if gpu.id not in having)
        assert "no server of the catalog has it" in why_not(one, alone.id).obstacles[0].because


class TestNothingIsLeftUnsaid:
    """Where no candidate is the wish, why-not says why, and what would admit it."""

    def test_one_server_has_no_fabric(self, catalog):
        one_server = consider(Answers.of(BASE | {"scale.nodes": 1, "preferences.nodes": ["nvidia-dgx-h100"]}), catalog)
        found = why_not(one_server, "ethernet")
        assert [each.because for each in found.obstacles] == ["a design of one server has no fabric between servers"]
        assert [(each.key, each.after) for each in found.changes] == [("scale.nodes", "2")]

    def test_nor_has_one_that_was_not_asked_for_as_one(self, catalog):
        adapters = Answers.of({"model.preset": "llama-3.1-70b", "workload.kind": "fine_tuning_lora", "budget.purchase": "100k USD"})
        base = consider(adapters, catalog)
        assert base.ranking.chosen.candidate.nodes == 1
        found = why_not(base, "infiniband", changes=False)
        assert [each.because for each in found.obstacles] == ["a design of one server has no fabric between servers"]

    def test_an_open_price_beside_a_budget_is_what_stands_against_it(self, catalog):
        """No vendor publishes what an XE9680L with B200 costs: a budget neither holds nor breaks."""
        hall = {"facility__cooling": ["air", "liquid"], "facility__rack_power": "60 kW"}
        base = weighed(catalog, preferences__nodes=["dell-poweredge-xe9680-h100"], budget__purchase="100M USD", **hall)
        found = why_not(base, "dell-poweredge-xe9680l-b200")
        rules = [each.rule for each in found.obstacles]
        assert "choice.budget_unproven" in rules
        assert found.obstacles[rules.index("choice.budget_unproven")].because.endswith("a quote under budget.own_prices would")
        assert any((each.key, each.after) == ("budget.purchase", "") for each in (*found.changes, *found.together))

    def test_a_server_of_ones_own_is_the_only_one(self, catalog):
        own = {"own_server.gpu": "nvidia-rtx-4090", "own_server.gpus": 4, "model.preset": "gpt2-xl", "scale.nodes": 1}
        base = consider(Answers.of(own), catalog)
        found = why_not(base, "nvidia-dgx-h100")
        assert [each.rule for each in found.obstacles] == ["own_server.gpu"]
        assert {each.key for each in found.together} == {"own_server.gpu", "own_server.gpus"}

    def test_a_plan_that_only_ranks_lower_can_be_asked_for(self, one, catalog):
        found = why_not(one, "TP8")
        asked = {each.key: each.after for each in found.together}
        assert asked == {"parallelism.tensor": "8", "parallelism.mode": "given"}
        chosen = consider(with_changes(one.context.answers, asked), catalog).ranking.chosen
        assert chosen.candidate.choice.plan.tensor == 8

    def test_a_tank_takes_servers_that_their_vendors_release(self, one, catalog):
        found = why_not(one, "immersion")
        assert [each.rule for each in found.obstacles] == ["facility.cooling", "facility.immersion_released"]
        assert "released by its vendor" in found.obstacles[1].because
        assert found.notes == ("beside that, ask for it: facility.cooling = air, immersion",)

    def test_a_vendor_of_server_and_gpu_is_named_once(self, catalog):
        base = weighed(catalog, preferences__vendors=["AMD"])
        (obstacle,) = why_not(base, "nvidia-dgx-h100", changes=False).obstacles
        assert obstacle.because == "NVIDIA DGX H100: NVIDIA is not among the vendors that were asked for"

    def test_a_server_whose_gpu_the_answers_exclude_in_racks_too_small_for_it(self, catalog):
        base = weighed(catalog, preferences__gpus=["nvidia-h100-sxm-80gb"], facility__rack_power="11 kW")
        found = why_not(base, "nvidia-dgx-b200")
        assert [each.rule for each in found.obstacles] == ["preferences.gpus"]
        assert found.changes == ()
        assert [each.key for each in found.together] == ["preferences.gpus", "facility.rack_power"]
        changes = {key: value for each in found.together for key, value in each.changes.items()}
        wish = wish_of("nvidia-dgx-b200", base)
        after = consider(with_changes(base.context.answers, {**wish.changes, **changes}), catalog)
        assert any(wish.met_by(each.candidate) for each in after.ranking.good)


class TestWhatElseAdmitsIt:
    def test_an_exception_from_a_policy(self, catalog):
        """A DGX B200 draws 14.3 kW [NVIDIA's guide], a DGX H100 10.2 kW [datasheet]: a policy of at most 12 kW keeps one of them out."""
        row = {"id": "light", "when": [{"field": "node_power_kw", "is": ">", "value": "12 kW"}], "severity": "reject", "message": "No."}
        policies = parse_policies([row])
        nodes = ["nvidia-dgx-h100", "nvidia-dgx-b200"]
        answers = Answers.of(BASE | {"preferences.nodes": nodes, "facility.rack_power": "40 kW"}).with_policies(policies)
        found = why_not(consider(answers, catalog), "nvidia-dgx-b200")
        assert ("policy.light", "") in {(each.key, each.after) for each in found.changes}
        tight = answers.with_value("facility.rack_power", "11 kW")
        both = why_not(consider(tight, catalog), "nvidia-dgx-b200")
        assert both.changes == ()
        assert {each.key for each in both.together} == {"policy.light", "facility.rack_power"}

    def test_a_size_that_a_rack_comes_in(self, catalog):
        """A GB200 NVL72 has 18 trays and is cooled by liquid [NVIDIA's product page]: one node asked for in a hall with air."""
        found = why_not(weighed(catalog, scale__nodes=1, facility__rack_power="140 kW"), "nvidia-gb200-nvl72")
        assert found.obstacles[0].rule == "proposals.size"
        changes = {each.key: each.after for each in found.together}
        assert changes["scale.nodes"] == "18"
        assert "liquid" in changes["facility.cooling"]

    def test_a_cooling_that_is_not_taken_beside_air_is_taken_alone(self, catalog):
        free = weighed(catalog, scale__nodes=1)
        assert free.ranking.chosen.candidate.node.cooling == "air"
        (change,) = why_not(free, "liquid").changes
        assert (change.key, change.after) in {("facility.cooling", "air, liquid"), ("facility.cooling", "liquid")}

    def test_a_plan_as_the_design_prints_it(self, one):
        """16 GPUs: TP8 leaves two data-parallel ranks, never four."""
        assert why_not(one, one.ranking.chosen.candidate.choice.plan.label).chosen
        found = why_not(one, "TP8 PP1 DP2 ZeRO-1")
        assert {each.key for each in found.together} >= {"parallelism.tensor", "parallelism.zero_stage"}
        assert not why_not(one, "TP8 PP1 DP4").together


@pytest.fixture(scope="module")
def tight(catalog):
    """Two servers in racks of 12 kW on a site of 34 kW; power, racks and air bind one or the other of what is asked about."""
    return weighed(catalog, facility__rack_power="12 kW", facility__total_power="34 kW", preferences__gpus=["nvidia-h100-sxm-80gb"])


@pytest.mark.parametrize(
    "what",
    ["nvidia-dgx-b200", "nvidia-dgx-h200", "GB200", "infiniband", "rear door", "immersion", "TP8 PP2", "fp8", "facility.rack_power = 8 kW"],
)
def test_whatever_is_said_to_admit_it_does(tight, catalog, what):
    """Asked for with the change, or with all that are named together, some candidate is it and meets every answer."""
    found, wish = why_not(tight, what), wish_of(what, tight)
    assert not found.chosen
    assert found.obstacles
    asked = with_changes(tight.context.answers, wish.changes)
    for changes in [*([each] for each in found.changes), *([found.together] if found.together else [])]:
        admitted = with_changes(asked, {key: value for each in changes for key, value in each.changes.items()})
        assert any(wish.met_by(each.candidate) for each in consider(admitted, catalog).ranking.good), changes
    assert found.changes or found.together


class TestPlans:
    def test_a_number_of_gpus_that_the_plan_divides(self, catalog):
        """Five stages of eight ranks are 40 GPUs, five servers of eight: of seven servers two must go or three come."""
        seven = weighed(catalog, preferences__nodes=["nvidia-dgx-h100"], scale__nodes=7, model__preset="llama-3.1-70b")
        found, wish = why_not(seven, "TP8 PP5"), wish_of("TP8 PP5", seven)
        sizes = [each for each in found.changes if each.key == "scale.gpus"]
        assert [each.after for each in sizes] == ["40", "80"]
        for each in sizes:
            good = consider(with_changes(with_changes(seven.context.answers, wish.changes), each.changes), catalog).ranking.good
            assert any(wish.met_by(one.candidate) for one in good)

    def test_data_parallel_ranks_follow_from_the_others(self, one, catalog):
        """Sixteen GPUs, two replicas: eight ranks of tensor parallelism leave two."""
        change = next(each for each in why_not(one, "DP2").changes if each.key == "parallelism.tensor")
        assert change.after == "8"

    def test_a_part_that_is_named_twice(self, one):
        with pytest.raises(NoSuchWishError, match="twice"):
            wish_of("TP8 TP4", one)

    def test_a_long_word_makes_a_short_message(self, one):
        with pytest.raises(NoSuchWishError) as caught:
            wish_of("x" * 3000, one)
        assert len(str(caught.value)) < 500


class TestAnswers:
    def test_words_that_mean_an_answer(self, one):
        named = {"fp8": "training.precision", "object storage": "preferences.storage", "JAX": "software.framework"}
        named |= {"asynchronous": "preferences.checkpoints", "colocation": "facility.hosting"}
        for what, key in named.items():
            wish = wish_of(what, one)
            assert (wish.kind, list(wish.changes)) == ("answer", [key])
        assert wish_of("scale.nodes=4", one).changes == {"scale.nodes": "4"}

    def test_what_the_design_has_and_what_the_answers_say_instead(self, one):
        assert why_not(one, "bf16").chosen
        assert why_not(one, "PyTorch").chosen
        found = why_not(one, "fp8")
        assert found.obstacles[0].because == "training.precision is bf16; it is assumed"
        assert [(each.key, each.after) for each in found.changes] == [("training.precision", "fp8")]

    def test_a_limit_that_something_exceeds(self, one):
        """A DGX H100 draws up to 10.2 kW (NVIDIA's datasheet), 27.5 % more than a rack of 8 kW gives."""
        found = why_not(one, "facility.rack_power = 8 kW")
        assert [each.rule for each in found.obstacles] == ["facility.rack_power", "power.rack_power_exceeded"]
        assert found.obstacles[0].because == "facility.rack_power is 12 kW; it is what you answered"
        assert round(found.obstacles[1].margins[0].by, 3) == 0.275

    def test_a_cooling_that_the_hall_has_not(self, one):
        assert why_not(one, "rear door").obstacles[0].because == "facility.cooling is air alone; it is assumed"

    def test_a_value_that_cannot_be(self, one):
        with pytest.raises(AnswerError, match="no such answer"):
            wish_of("no.such = 3", one)
        found = why_not(one, "model.preset = no-such-model")
        assert found.obstacles[-1].kind == "answers"
        assert "no-such-model" in found.obstacles[-1].because


class TestRenting:
    def test_by_how_much_owning_is_cheaper_and_when_it_turns(self, catalog):
        """Of a server for 300,000 USD an hour costs well below what clouds ask; used less than the crossing, renting is cheaper."""
        owned = weighed(catalog, preferences__nodes=["nvidia-dgx-h100"], budget__own_prices=["nvidia-dgx-h100 = 300k USD"])
        found = why_not(owned, "renting")
        crossing = next(each for each in found.obstacles if each.rule == "money.crossing")
        assert crossing.margins
        (change,) = found.changes
        assert change.key == "budget.utilisation"
        used = consider(with_changes(owned.context.answers, change.changes), catalog)
        assert "money.utilisation_low" in {each.rule.id for each in used.ranking.chosen.candidate.said}
        assert any("money.utilisation_low" in note for note in why_not(used, "the cloud").notes)
        assert why_not(used, "cloud").changes == ()
