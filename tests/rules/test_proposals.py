"""Which sizes are proposed: the model must be expected to fit, desktop systems make no clusters, racks come whole."""

from __future__ import annotations

import pytest

from catalogs import load_catalog
from rules.advisor import advise, consider
from rules.answers import Answers
from rules.own_server import own_server
from rules.proposals import ladder


@pytest.fixture(scope="module")
def catalog():
    return load_catalog()


def considered(catalog, **answers):
    return consider(Answers.of({key.replace("__", "."): value for key, value in answers.items()}), catalog, strict=True)


def test_a_size_by_deadline_is_expected_to_fit(catalog):
    """Full tuning of 405B needs about 18 bytes per parameter; a size whose expected peak exceeds the card is no size."""
    found = considered(
        catalog, model__preset="llama-3.1-405b", workload__kind="fine_tuning_full", training__tokens="1B", training__global_batch=128,
        training__sequence_length=8192, scale__deadline="14 days",
    )  # fmt: skip
    peaks = [(each.candidate.id, each.candidate.choice.memory) for each in found.judged]
    assert peaks
    assert [id_ for id_, memory in peaks if memory.expected > memory.capacity] == []


def test_desktop_systems_are_no_cluster_unasked(catalog):
    found = considered(catalog, model__preset="llama-3.1-405b", scale__mode="fixed", scale__gpus=1024)
    assert not any(each.candidate.node.desktop for each in found.judged)
    reasons = {each.candidate: each.because for each in found.rejected}
    assert "desktop" in reasons["nvidia-dgx-spark"]


def test_a_named_desktop_system_is_taken(catalog):
    found = considered(
        catalog, model__preset="llama-3.1-8b", workload__kind="fine_tuning_lora", scale__mode="fixed", scale__nodes=2,
        preferences__nodes=["nvidia-dgx-spark"],
    )  # fmt: skip
    assert [each.candidate.node.id for each in found.judged] == ["nvidia-dgx-spark"]


def test_racks_come_whole(catalog):
    """An NVL72 rack has 18 trays: it is no answer to "one node", and 64 nodes are four racks."""
    one = considered(catalog, model__preset="llama-3.1-8b", scale__mode="fixed", scale__nodes=1, facility__cooling=["air", "liquid"])
    assert not any(each.candidate.node.is_rack for each in one.judged)
    many = considered(
        catalog, model__preset="llama-3.1-70b", scale__mode="fixed", scale__nodes=64, facility__cooling=["air", "liquid"],
        preferences__nodes=["nvidia-gb200-nvl72"],
    )  # fmt: skip
    assert [(each.candidate.units, each.candidate.nodes, each.candidate.gpus) for each in many.judged] == [(4, 72, 288)]


@pytest.mark.parametrize(("asked", "units"), [({"scale__gpus": 144}, 4), ({"scale__nodes": 36}, 4), ({"scale__gpus": 136}, 4)])
def test_racks_that_cross_cables_join_come_in_pairs(catalog, asked, units):
    """Two NVL36 racks make one NVLink domain of 72 GPUs: 144 GPUs are two domains of two racks."""
    answers = {"model__preset": "llama-3.1-8b", "facility__cooling": ["liquid"], "preferences__nodes": ["nvidia-gb200-nvl36x2"]}
    found = considered(catalog, **answers, **asked)
    assert [each.candidate.units for each in found.judged] == [units]


def test_half_a_domain_of_joined_racks_is_refused(catalog):
    """108 GPUs would be one domain and a half of NVL36x2."""
    answers = {"model__preset": "llama-3.1-8b", "facility__cooling": ["liquid"], "preferences__nodes": ["nvidia-gb200-nvl36x2"]}
    found = considered(catalog, **answers, scale__gpus=108)
    assert found.judged == []
    refused = next(each for each in found.rejected if each.candidate == "nvidia-gb200-nvl36x2")
    assert "2 racks of 36 GPUs" in refused.because
    by_deadline = considered(catalog, **answers, training__tokens="100B", scale__deadline="30 days")
    assert [each.candidate.units for each in by_deadline.judged] == [2]


def test_unknown_prices_are_ranked_apart_and_never_dropped(catalog):
    found = considered(catalog, model__preset="llama-3.1-70b", scale__mode="fixed", scale__nodes=16)
    apart = [each.apart for each in found.ranking.good]
    assert apart == sorted(apart)
    assert any(apart)
    assert not apart[0]


def test_a_higher_budget_never_makes_a_good_design_bad(catalog):
    """Monotone: what fits for four million fits for eight."""
    common = {"model__preset": "llama-3.1-70b", "scale__mode": "fixed", "scale__nodes": 8}
    less = {each.candidate.id for each in considered(catalog, budget__purchase="4M USD", **common).ranking.good}
    more = {each.candidate.id for each in considered(catalog, budget__purchase="8M USD", **common).ranking.good}
    assert less
    assert less <= more


def test_the_ladder_holds_smooth_counts():
    assert ladder(20) == (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 18, 20)


@pytest.mark.parametrize(("gpu", "count"), [("nvidia-h800-sxm-80gb", 8), ("nvidia-a100-pcie-80gb", 1), ("amd-mi300x", 8)])
def test_an_own_server_has_as_many_gpus_as_their_board(catalog, gpu, count):
    """HGX and OAM boards carry eight modules; cards come one by one."""
    assert own_server(Answers.of({"own_server.gpu": gpu}), catalog).gpu_count == count


def test_a_gpu_that_no_server_carries_is_named_with_the_way_out(catalog):
    """H800: made for China, its servers stand in no catalog."""
    (conflict,) = advise(Answers.of({"model.preset": "llama-3.1-8b", "preferences.gpus": ["H800"]}), catalog).conflicts
    assert conflict.because == "no server of the catalog carries NVIDIA H800 SXM5 80 GB, which preferences.gpus asks for"
    assert conflict.remedies[0].key == "own_server.gpu"


def test_an_own_server_without_adapters_is_rated_and_wired_alike(catalog):
    """Step time and fabric count with the same adapter: one of 100 Gb/s per server, shared by its eight GPUs."""
    found = considered(
        catalog, model__preset="llama-3.1-8b", training__tokens="1B", scale__mode="fixed", scale__nodes=4,
        own_server__gpu="nvidia-l40s", own_server__gpus=8,
    )  # fmt: skip
    facts = found.ranking.chosen.candidate.facts
    assert facts["interconnect"]["network_per_gpu_gbps"] == pytest.approx(12.5)
    assert facts["fabric"]["offered_gbps"] == pytest.approx(12.5, rel=0.25)


def test_what_is_expected_to_exceed_the_budget_comes_after_what_is_not(catalog):
    """A DGX H100 is quoted at 200,000 to 500,000 USD: twelve may fit four million, but are not expected to."""
    found = considered(
        catalog, model__preset="llama-3.1-70b", scale__mode="fixed", scale__nodes=12, budget__purchase="4M USD",
        budget__objective="fastest", preferences__gpus=["nvidia-h100-sxm-80gb", "nvidia-l40s"],
    )  # fmt: skip
    over = [each.figures.purchase_usd > 4e6 for each in found.ranking.good if each.figures.purchase_usd is not None]
    assert set(over) == {False, True}
    assert over == sorted(over)


BASE = {
    "model__preset": "llama-3.1-70b", "training__tokens": "1T", "training__global_batch": 1024, "training__sequence_length": 8192,
    "scale__deadline": "60 days",
}  # fmt: skip


def test_fastest_takes_what_the_budget_allows(catalog):
    """Fastest within 20M USD is no rounding of the deadline: it is much faster than the cheapest design."""
    cheapest = considered(catalog, **BASE).ranking.chosen.figures
    fastest = considered(catalog, **BASE, budget__objective="fastest", budget__purchase="20M USD").ranking.chosen.figures
    assert fastest.days < 0.6 * cheapest.days
    assert cheapest.purchase_usd < fastest.purchase_usd <= 20e6


def test_fastest_without_a_limit_is_ranked_by_cost_and_says_so(catalog):
    answers = Answers.of({key.replace("__", "."): value for key, value in {**BASE, "budget__objective": "fastest"}.items()})
    design = advise(answers, catalog, strict=True)
    assert any("nothing bounds how fast" in notice for notice in design.notices)
    assert design.figures.gpus == considered(catalog, **BASE).ranking.chosen.figures.gpus


def test_an_unknown_price_proves_no_budget(catalog):
    """No GPU server costs five hundred dollars; one without a known price does not meet that budget."""
    answers = Answers.of({key.replace("__", "."): value for key, value in {**BASE, "budget__purchase": "500 USD"}.items()})
    design = advise(answers, catalog, strict=True)
    assert not design.fits
    assert design.conflicts


def test_a_fixed_size_is_ranked_by_the_cost_of_the_work(catalog):
    """A thousand cheap cards that take a year are not the cheapest way to train."""
    ranking = considered(catalog, model__preset="llama-3.1-70b", training__tokens="1T", scale__gpus=1024).ranking
    costs = [each.figures.usd_per_million_units for each in ranking.good if not each.apart]
    assert len(costs) > 3
    assert costs[0] == min(costs)


@pytest.mark.parametrize("objective", ["fastest", "cheapest"])
def test_more_money_is_never_worse(catalog, objective):
    """With eight nodes and 3 to 6 million dollars, a larger budget never gives a slower design."""
    common = {
        "model__preset": "llama-3.1-8b", "training__tokens": "100B", "scale__mode": "fixed", "scale__nodes": 8,
        "budget__objective": objective,
    }  # fmt: skip
    days = []
    for budget in ("3M USD", "3.2M USD", "3.5M USD", "4M USD", "6M USD"):
        best = considered(catalog, **common, budget__purchase=budget).ranking.good
        days.append(best[0].figures.days if objective == "fastest" else best[0].figures.usd_per_million_units)
    assert days == sorted(days, reverse=True)


@pytest.mark.parametrize(
    ("budget", "reserve", "units"),
    [
        # from five servers on a parallel file system takes the place of a file server: the smallest, 484 TB at 365 to 980 USD, is 325,000
        ("3.3M USD", None, 5),  # five with it are 2,900,000 USD of the 3,135,000 that 5 % leave, before the network; six are 3,415,000
        ("3M USD", None, 4),  # four are 2,060,000 of 2,850,000, and five would be 2,900,000
        ("2.1M USD", 0, 3),  # four are 2,060,000; a switch of 70,000 is more than the 40,000 left
        ("1.2M USD", None, 2),  # 1,140,000 are free, and two are 1,030,000 with a switch of 70,000
    ],
)
def test_the_bill_decides_how_many_the_budget_buys(catalog, budget, reserve, units):
    """NVIDIA GTC 2026, session S81563: a DGX B200 at 515,000 USD; an SN5600 is planned at 70,000; WEKApod Nitro: eight nodes, 484 TB."""
    kept = {} if reserve is None else {"budget__reserve": reserve}
    found = considered(
        catalog, model__preset="llama-3.1-8b", scale__mode="budget", budget__purchase=budget, preferences__nodes=["nvidia-dgx-b200"], **kept
    )
    assert [each.candidate.units for each in found.judged] == [units]
    said = " ".join(each.because for each in found.judged[0].candidate.findings)
    assert ("kept for what has none" in said) == (reserve != 0)


@pytest.mark.parametrize("mode", [{"scale__mode": "budget"}, {"budget__objective": "fastest", "training__tokens": "100B"}])
def test_servers_at_no_price_are_no_division_by_zero(catalog, mode):
    """Servers that are there already cost nothing more: a budget cannot say how many they are."""
    found = considered(
        catalog, model__preset="llama-3.1-8b", budget__purchase="1M USD", preferences__nodes=["nvidia-dgx-b200"],
        budget__own_prices=["nvidia-dgx-b200 = 0 USD"], **mode,
    )  # fmt: skip
    assert found.ranking.chosen.candidate.node.id == "nvidia-dgx-b200"
    assert found.ranking.chosen.candidate.choice is not None


def test_a_budget_that_more_servers_would_not_help_says_so(catalog):
    """512 sequences a step keep 128 servers of eight GPUs busy by twos; another forty million dollars buy no faster run."""
    found = considered(
        catalog, model__preset="llama-3.1-8b", training__global_batch=512, training__tokens="100B", scale__mode="budget",
        budget__purchase="120M USD", preferences__nodes=["nvidia-dgx-b200"],
    )  # fmt: skip
    best = found.ranking.chosen
    assert best.figures.purchase_usd < 80e6
    assert "would make the run no faster" in " ".join(each.because for each in best.candidate.findings)


def test_a_budget_says_what_the_next_server_would_cost(catalog):
    """A DGX H100 is 200,000 to 500,000 USD, 350,000 in the middle: two are 700,000 at the least."""
    answers = {
        "model__preset": "llama-3.1-8b",
        "training__tokens": "100B",
        "scale__mode": "budget",
        "preferences__nodes": ["nvidia-dgx-h100"],
    }
    found = considered(catalog, budget__purchase="500k USD", **answers)
    said = " ".join(each.because for each in found.ranking.chosen.candidate.findings)
    assert "25,000 USD of it are kept for what has none (assumed); 2 would come to 700,000 USD or more" in said
    scarce = considered(catalog, budget__purchase="360k USD", **answers)
    said = " ".join(each.because for each in scarce.ranking.chosen.candidate.findings)
    assert "only 10,000 USD of it are left for what has none, 18,000 should be (assumed)" in said


def test_a_budget_that_a_desktop_leaves_over_is_told_why(catalog):
    """LoRA of 8B on 60,000 USD: a DGX Spark is 3,999 USD, and nobody builds a cluster of fifteen unasked."""
    answers = {"model__preset": "llama-3.1-8b", "workload__kind": "fine_tuning_lora", "scale__mode": "budget"}
    best = considered(catalog, **answers, budget__purchase="60k USD").ranking.chosen
    assert (best.candidate.node.id, best.candidate.units) == ("nvidia-dgx-spark", 1)
    told = "a desktop system is bought once; name it under preferences.nodes to build a cluster of it"
    assert told in " ".join(each.because for each in best.candidate.findings)


def test_beyond_a_budget_the_nearest_is_the_one_that_exceeds_it_least(catalog):
    """Of 60,000 USD nothing can be had: the quote of 85,271 USD for a server with eight L40S is nearest, not a DGX for 515,000."""
    found = considered(catalog, model__preset="llama-3.1-8b", training__tokens="100B", scale__mode="budget", budget__purchase="60k USD")
    nearest = found.ranking.chosen
    assert not found.ranking.good
    assert nearest.figures.purchase_usd == pytest.approx(85_271, abs=1)


def test_where_no_budget_is_given_the_nearest_misses_the_limit_least_whatever_its_price(catalog):
    """One office circuit of 230 V and 16 A carries 2.9 kW at 80 %: a workstation of 4 kW is nearer than a DGX of 14.3 kW."""
    found = considered(
        catalog, model__preset="llama-3.1-70b", workload__kind="fine_tuning_lora", training__tokens="5M", scale__nodes=1,
        facility__feed="230v_single_phase", facility__circuit_current="16 A", facility__circuits_per_rack=1,
    )  # fmt: skip
    assert not found.ranking.good
    nearest = found.ranking.chosen
    assert nearest.candidate.node.id == "workstation-4x-rtx-pro-6000"
    assert nearest.figures.purchase_usd is None
    draws = [each.figures.it_power_kw for each in found.ranking.bad if len(each.candidate.conflicts) == 1]
    assert nearest.figures.it_power_kw == min(draws) == 4.0


def test_a_budget_buys_nothing_that_does_not_fit(catalog):
    found = considered(
        catalog, model__preset="llama-3.1-70b", workload__kind="fine_tuning_full", training__tokens="500M", training__global_batch=64,
        training__sequence_length=4096, scale__mode="budget", budget__purchase="520k USD",
    )  # fmt: skip
    peaks = [each.candidate.choice.memory for each in found.judged]
    assert all(memory.expected <= memory.capacity for memory in peaks)
    assert "nvidia-dgx-b200" in [each.candidate.node.id for each in found.judged]


def test_what_the_budget_buys_is_placed_in_the_racks_that_are_there(catalog):
    found = considered(
        catalog, model__preset="llama-3.1-70b", workload__kind="fine_tuning_lora", training__tokens="500M", scale__mode="budget",
        budget__purchase="500k USD", facility__racks=2, facility__rack_power="6 kW",
    )  # fmt: skip
    best = found.ranking.chosen
    assert found.ranking.good
    assert best.figures.racks <= 2


@pytest.mark.parametrize(
    ("answers", "rule"),
    [
        ({"parallelism.tensor": 3}, "vram.no_plan_divides"),
        ({"scale.mode": "budget", "budget.purchase": "1 USD"}, "money.budget_exceeded"),
        ({"scale.deadline": "0.001 day"}, "reliability.deadline_missed"),
        ({"training.tokens": "1e18"}, "reliability.deadline_missed"),
        ({"training.sequence_length": 100_000_000}, "vram.state_does_not_fit"),
    ],
)
def test_nothing_fits_is_an_answer_with_a_nearest_design(answers, rule, catalog):
    """A dead end names the limit that binds, a nearest design and what to change."""
    design = advise(Answers.of(answers), catalog, strict=True)
    assert not design.fits
    assert design.figures is not None
    stopped = {found.rule: found for found in design.conflicts}
    assert rule in stopped
    assert stopped[rule].remedies


def test_asking_for_an_automatic_plan_frees_it(catalog):
    """The remedy of a plan that divides nothing is to let the search choose; then a tensor-parallel size of three binds no more."""
    given = Answers.of(
        {"parallelism.tensor": 3, "scale.nodes": 1, "preferences.nodes": ["nvidia-dgx-h100"], "model.preset": "llama-3.1-8b"}
    )
    bound = advise(given, catalog, strict=True)
    remedy = next(each for found in bound.conflicts for each in found.remedies if each.key == "parallelism.mode")
    freed = advise(given.with_value(remedy.key, remedy.value), catalog, strict=True)
    assert not bound.fits
    assert freed.fits
    assert "TP3" not in freed.plan
    assert any("not used: parallelism.tensor" in notice for notice in freed.notices)


LORA = {"model__preset": "llama-3.1-8b", "workload__kind": "fine_tuning_lora", "training__tokens": "50M", "scale__mode": "budget"}


def test_a_budget_of_a_workstation_buys_one_desktop_system(catalog):
    """A DGX Spark is listed at 3,999 USD: 20,000 USD would buy five, but clusters are built of servers unless desktops are asked for."""
    found = considered(catalog, **LORA, budget__purchase="20000 USD")
    assert found.ranking.good
    best = found.ranking.chosen.candidate
    assert (best.node.id, best.units) == ("nvidia-dgx-spark", 1)


def test_a_budget_without_any_price_is_held_against_the_smallest_size(catalog):
    """Nobody publishes a price of an MI300X: one server of eight holds 8 billion parameters, more are not nearer to 20,000 USD."""
    found = considered(catalog, **LORA, budget__purchase="20000 USD", preferences__gpus=["amd-mi300x"])
    assert not found.ranking.good
    assert {each.candidate.units for each in found.judged} == {1}
