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


def test_prices_that_overlap_are_a_doubt(found, considered):
    chosen = considered.ranking.chosen
    for each in found:
        if each.kind == "price" and each.trials:
            other = next(one for one in considered.ranking.good if one.candidate.node.id == each.key)
            assert other.figures.purchase_low_usd < chosen.figures.purchase_high_usd


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
