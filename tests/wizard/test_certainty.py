"""What open answers cost in certainty, with an engine whose figures are known: twice the batch, twice the days."""

from __future__ import annotations

from rules.answers import Answers
from rules.design import Assumption, Design, Figures
from wizard.certainty import effects, most_designs, open_answers


def made(answers: Answers) -> Design:
    """Return a design of 100 days at a batch of 512, in proportion to it; JAX costs nothing more, and 8 years break it."""
    batch = answers.count("training.global_batch") or 512
    years = answers.number("budget.years") or 3
    figures = Figures(16, 2, 2, days=100 * batch / 512, ownership_usd=1e6, total_power_kw=20.0)
    name = "2 × Other, 16 GPUs" if answers.text("training.optimizer") == "sgd" else "2 × Server, 16 GPUs"
    assumed = (("training.global_batch", "512"), ("budget.years", "3 years"), ("software.framework", "pytorch"), ("data.place", ""))
    rows = tuple(Assumption(key, value, "usual") for key, value in assumed if not answers.given(key))
    return Design(answers, "x", "a", name, "TP1", years < 5, figures, {}, (), (), rows, (), ())


def test_only_answers_that_are_assumed_and_can_be_otherwise_are_tried():
    design = made(Answers.of({"budget.years": "4 years"}))
    assert open_answers(design) == ["training.global_batch", "software.framework"]
    assert most_designs(design) == 4


def test_each_effect_is_the_spread_over_half_double_and_other_choices():
    found = {each.key: each for each in effects(made(Answers()), made)}
    batch = found["training.global_batch"]
    assert batch.tried == ("256", "1024")
    assert batch.days == (50.0, 200.0)
    assert batch.cost == (1e6, 1e6)
    assert batch.weight == 3.0
    assert batch.sentence == "50 days to 200 days"
    assert found["software.framework"].sentence == "hardly matters"
    years = found["budget.years"]
    assert years.breaks == ("6 years",)
    assert years.tried == ("1.5 years",)
    assert "nothing fits with 6 years" in years.sentence


def test_numbers_of_which_twice_means_nothing_are_tried_at_published_ends():
    """Half and twice of 512 are 256 and 1,024; where somebody published the ends, those are tried instead, but not what is assumed."""
    ends = {"training.global_batch": ("512", "640")}
    found = {each.key: each for each in effects(made(Answers()), made, lambda key: ends.get(key, ()))}
    assert found["training.global_batch"].tried == ("640",)
    assert found["training.global_batch"].days == (100.0, 125.0)
    assert most_designs(made(Answers()), lambda key: ends.get(key, ())) == most_designs(made(Answers())) - 1
