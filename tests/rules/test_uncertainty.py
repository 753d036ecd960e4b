"""What is unknown and could change the choice: tried for real, the weightiest first."""

from __future__ import annotations

import re
from types import SimpleNamespace

import pytest

from catalogs import load_catalog
from rules.advisor import consider
from rules.answers import Answers
from rules.doubts import Trial, sentence_of, totals_of
from rules.rates import failure_trials
from rules.sizing.reliability import failure_rate, restart_seconds
from rules.uncertain_rates import price_doubts, rate_doubts
from rules.uncertainty import _values, doubts, most_designs
from rules.watching import watched
from rules.whatif import with_changes

GIVEN = {
    "model.preset": "llama-3.1-8b",
    "scale.nodes": 2,
    "training.tokens": "20B",
    "training.global_batch": 512,
    "training.sequence_length": 8192,
    "preferences.gpus": ["nvidia-h100-sxm-80gb", "nvidia-b200-sxm-180gb"],
}


@pytest.fixture(scope="module")
def catalog():
    return load_catalog()


@pytest.fixture(scope="module")
def considered(catalog):
    return consider(Answers.of(GIVEN), catalog)


@pytest.fixture(scope="module")
def begun():
    """Designs that were begun to find the doubts."""
    return []


@pytest.fixture(scope="module")
def found(considered, begun):
    with watched(lambda number: begun.append(number) or True):
        return doubts(considered)


def test_no_more_designs_are_made_than_are_foretold(found, begun, considered):
    assert found
    assert 0 < len(begun) <= most_designs(considered)


def test_every_trial_is_what_the_advisor_says(found, considered, catalog):
    tried = [(each.key, trial) for each in found if each.kind == "answer" for trial in each.trials]
    assert tried
    for key, trial in tried:
        ranking = consider(with_changes(considered.context.answers, {key: trial.value}), catalog).ranking
        assert trial.fits is bool(ranking.good)
        assert trial.chosen == f"{ranking.chosen.candidate.units:,} × {ranking.chosen.candidate.node.name}"


def test_what_leaves_nothing_weighs_most_and_the_order_says_so(found):
    assert [each.weight for each in found] == sorted((each.weight for each in found), reverse=True)
    assert all(each.weight == 5 for each in found if any(not trial.fits for trial in each.trials))


def test_a_given_answer_is_no_doubt(considered, catalog, found):
    keys = {each.key for each in found}
    assert "facility.total_power" in keys
    answered = with_changes(considered.context.answers, {"facility.total_power": "10 MW"})
    assert "facility.total_power" not in {each.key for each in doubts(consider(answered, catalog))}


@pytest.mark.parametrize(("price", "doubted"), [(521_000, True), (2_000_000, False)])
def test_prices_are_a_doubt_where_they_change_what_comes_first(catalog, price, doubted):
    """Eight DGX H100 at 250,000 USD do the work in 17.4 days for 2.7 million USD, eight DGX B200 at 521,000 in 9.6 for 5.0 million.

    By cost × time that is 47.3 to 47.8; the parts without a quote may move either by 0.16 million, so by 2.8 and 1.5: it could turn.
    The purchase of B200 alone is never the smaller one. At 2,000,000 USD apiece no part turns it.
    """
    given = {"model.preset": "llama-3.1-8b", "scale.nodes": 8, "training.tokens": "1T"}
    given |= {"preferences.nodes": ["nvidia-dgx-h100", "nvidia-dgx-b200"]}
    given |= {"budget.own_prices": ["nvidia-dgx-h100 = 250k USD", f"nvidia-dgx-b200 = {price} USD"]}
    considered = consider(Answers.of(given), catalog)
    assert considered.ranking.chosen.candidate.node.id == "nvidia-dgx-h100"
    assert ("nvidia-dgx-b200" in {each.key for each in doubts(considered) if each.kind == "price"}) is doubted


def test_a_price_of_electricity_that_changes_the_choice_is_a_doubt(catalog):
    """A B200 system does the work with less energy: at 512,500 USD apiece it comes first, and DGX H100 where power is cheap."""
    given = {"model.preset": "llama-3.1-8b", "scale.nodes": 8, "training.tokens": "1T"}
    given |= {"preferences.nodes": ["nvidia-dgx-h100", "nvidia-dgx-b200"]}
    given |= {"budget.own_prices": ["nvidia-dgx-h100 = 250k USD", "nvidia-dgx-b200 = 512500 USD"]}
    found = {each.key: each for each in doubts(consider(Answers.of(given), catalog))}
    (trial,) = found["budget.electricity_price"].trials
    assert "H100" in trial.chosen
    assert trial.fits


def test_where_nothing_can_be_proposed_nothing_is_in_doubt(catalog):
    answers = Answers.of({"model.preset": "llama-3.1-8b", "preferences.nodes": ["nvidia-dgx-h100"], "preferences.vendors": ["AMD"]})
    assert doubts(consider(answers, catalog)) == ()


def test_where_only_the_network_would_be_another_the_sentence_names_it():
    """Llama 3.1 70B in ten days on B200: with half of the batch the step depends on the network, so InfiniBand replaces RoCE."""
    given = {"workload.kind": "fine_tuning_full", "model.preset": "llama-3.1-70b", "training.tokens": "50B", "scale.mode": "deadline"}
    given |= {"scale.deadline": "10 days", "facility.rack_power": "20 kW", "preferences.nodes": ["nvidia-dgx-b200"]}
    trials = [trial for each in doubts(consider(Answers.of(given), load_catalog())) for trial in each.trials]
    alone = [each for each in trials if each.changed == ("fabric",)]
    assert alone
    assert all(" on InfiniBand" in each.chosen or " on RoCEv2" in each.chosen for each in alone)


H100 = {"model.preset": "llama-3.1-8b", "training.tokens": "1T", "preferences.nodes": ["nvidia-dgx-h100"]}


def test_numbers_of_which_twice_means_nothing_are_tried_at_published_ends(considered):
    """Air at 54 °C is no hall: ASHRAE recommends 18 to 27 °C and allows 35 °C in class A2; Google reaches 1.09, small rooms 1.9."""
    chosen = considered.ranking.chosen
    assert list(_values("facility.inlet_temperature", considered, chosen)) == ["18 °C", "35 °C"]
    assert list(_values("facility.pue", considered, chosen)) == ["1.09", "1.9"]


def test_failures_are_tried_at_the_ends_of_what_was_published(catalog):
    """2.3 interruptions per 1,000 servers of eight and day are 0.0002875 per GPU: one in 20.4 h on 4,096; OLMo restarted in 222 s."""
    gpu, other = catalog.gpus["nvidia-h100-sxm-80gb"], catalog.gpus["nvidia-a100-sxm-80gb"]
    seldom, often = failure_trials(SimpleNamespace(gpu=gpu, gpus=4096), catalog)
    assert seldom.words == "a failure of the job every 20.4 h and restarts of 3.7 min"
    assert failure_rate(gpu, 4096, seldom.catalog).expected == pytest.approx(2.3 / 1000 / 8)
    assert restart_seconds(seldom.catalog)[1] == 222
    before = failure_rate(gpu, 4096, catalog)
    assert failure_rate(gpu, 4096, often.catalog).expected == pytest.approx(before.many)
    assert before.expected == pytest.approx(419 / (16_384 * 54))  # Llama 3, and the catalog itself stays as it is
    assert failure_rate(other, 4096, often.catalog) == failure_rate(other, 4096, catalog)
    assert (often.catalog.version, often.catalog == catalog) == (catalog.version, False)


def test_a_failure_rate_that_leaves_nothing_is_a_doubt_and_that_of_two_servers_is_none(catalog, found):
    """131,072 H100 fail every 23 minutes by Llama 3's rate; by that of a research cluster every 7, with restarts of 15."""
    given = {**H100, "scale.nodes": 16_384, "training.global_batch": 1_048_576}
    (doubt,) = [each for each in rate_doubts(*_chosen(consider(Answers.of(given), catalog))) if each.key == "failure_rate"]
    assert [each.fits for each in doubt.trials] == [False]
    assert "restarts of 15 min nothing fits" in doubt.text
    assert doubt.weight == 5
    assert "failure_rate" not in {each.key for each in found}


def test_a_budget_that_only_expected_prices_keep_to_is_a_doubt(catalog):
    given = {**H100, "scale.nodes": 8, "budget.own_prices": ["nvidia-dgx-h100 = 250k USD"]}
    figures = consider(Answers.of(given), catalog).ranking.chosen.figures
    between = (figures.purchase_usd + figures.purchase_high_usd) / 2
    doubted = price_doubts(*_chosen(consider(Answers.of(given | {"budget.purchase": f"{between:.0f} USD"}), catalog)))
    assert [(each.kind, each.trials[0].fits) for each in doubted] == [("price", False)]
    above = figures.purchase_high_usd * 1.01
    assert not list(price_doubts(*_chosen(consider(Answers.of(given | {"budget.purchase": f"{above:.0f} USD"}), catalog))))


def test_totals_carry_their_ranges(considered):
    chosen = considered.ranking.chosen
    totals = {each.name: each for each in totals_of(chosen)}
    assert list(totals) == ["a step", "the run", "time that makes progress", "purchase", "owning it"]
    assert all(each.low < each.expected < each.high for name, each in totals.items() if name != "time that makes progress")
    purchase = totals["purchase"]
    assert (purchase.low, purchase.high) == (chosen.figures.purchase_low_usd, chosen.figures.purchase_high_usd)
    assert chosen.figures.purchase_open  # some parts have no price
    assert purchase.text.startswith("purchase at least ")
    assert not totals["a step"].at_least
    run, step = totals["the run"], totals["a step"]  # two servers hardly ever fail: the run is as uncertain as a step
    assert run.high / run.expected == pytest.approx(step.high / step.expected, rel=0.01)


def _chosen(considered):
    return considered, considered.ranking.chosen


def test_what_has_no_price_is_one_doubt_and_what_would_meet_every_answer_says_so(catalog):
    given = {"model.preset": "llama-3.1-8b", "training.tokens": "1T", "scale.mode": "deadline", "facility.cooling": ["air", "liquid"]}
    unknown = [each for each in price_doubts(*_chosen(consider(Answers.of(given), catalog))) if each.assumed == "unknown"]
    assert len(unknown) == 1
    assert re.search(r"nobody has named a price of .*, .* and \d+ more: below [\d,]+ USD", unknown[0].text)
    assert sentence_of([Trial("9 kW", "2 × X", True, ("fits",))]) == "with 9 kW every answer is met, by 2 × X"
    assert sentence_of([Trial("9 kW", "2 × X", True, ("GPU",))]) == "with 9 kW it is 2 × X"
