"""What is unknown and could change the choice: tried for real, the weightiest first."""

from __future__ import annotations

import pytest

from catalogs import load_catalog
from rules.advisor import consider
from rules.answers import Answers
from rules.uncertainty import doubts
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
def found(considered):
    return doubts(considered)


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
