"""The questions as data: complete, askable in order, and short enough for a narrow screen."""

from __future__ import annotations

import pytest

from rules.answer_fields import FIELDS
from rules.answers import Answers, parse_answer, sections
from wizard.interview import load_interview
from wizard.teaching import lessons

INTERVIEW = load_interview()
QUESTIONS = pytest.mark.parametrize("question", INTERVIEW.questions, ids=lambda question: question.key)
LONGEST_LABEL = 20
LONGEST_TITLE = 20
LONGEST_ASK = 74
"""A question in full stands on one line of an 80-column screen, with a margin and a mark before it."""
ONLY_IN_FILES = {
    "model.ffn_size", "model.attention_heads", "model.key_value_heads", "model.vocabulary_size", "model.experts", "model.experts_per_token",
    "model.expert_ffn_size", "model.gmacs_per_sample", "parallelism.context", "preferences.unverified_products",
    "preferences.announced_products", "own_server.scale_up_domain", "own_server.height",
    "measured.message_size", "measured.ranks_per_node",
}  # fmt: skip
"""Answers for which no question is asked: a preset or a typical shape gives them; a file or --set sets them."""


def test_every_answer_has_one_question_or_is_set_in_files_only():
    keys = [question.key for question in INTERVIEW.questions]
    assert len(keys) == len(set(keys))
    assert set(keys) | ONLY_IN_FILES == {field.key for field in FIELDS}
    assert not set(keys) & ONLY_IN_FILES


def test_a_question_is_found_by_its_key():
    assert INTERVIEW.question("scale.nodes").label == "Nodes"
    assert INTERVIEW.question("preferences.announced_products") is None


@QUESTIONS
def test_question_has_a_field_and_a_step(question):
    assert question.field.key == question.key
    assert question.step in {step.id for step in INTERVIEW.steps}


FEWEST_WORDS = 5
"""Fewer words name a thing ("lscpu") without saying where or with whom it is."""


@QUESTIONS
def test_question_has_every_text_and_they_fit(question):
    assert 0 < len(question.label) <= LONGEST_LABEL
    assert question.ask.endswith("?")
    assert len(question.ask) <= LONGEST_ASK
    assert question.why.endswith(".")
    assert question.term.endswith(".")
    assert question.typical
    assert len(question.find.split()) >= FEWEST_WORDS, "says who or what in one's own organisation knows it"
    assert len(question.why.split()) >= FEWEST_WORDS
    for text in (question.label, question.ask, question.term, question.why, question.typical, question.find):
        assert text == " ".join(text.split())
        assert text.isprintable()


@QUESTIONS
def test_question_is_asked_after_those_that_it_depends_on(question):
    order = [each.key for each in INTERVIEW.questions]
    for key, values in question.when.items():
        assert order.index(key) < order.index(question.key)
        for value in values:
            if value not in ("", "*"):
                assert parse_answer(key, value) in (value, (value,))  # one of several names counts


@QUESTIONS
def test_question_is_asked_in_some_interview_and_its_condition_can_hold(question):
    answers = Answers()
    for key, values in question.when.items():
        wanted = values[0]
        if wanted == "*":
            wanted = INTERVIEW.question(key).field.example
        if wanted:
            answers = answers.with_value(key, wanted)
    assert question.asked(answers)
    assert question in INTERVIEW.of_step(question.step, answers)


@pytest.mark.parametrize("step", INTERVIEW.steps, ids=lambda step: step.id)
def test_step_has_questions_and_texts_that_fit(step):
    assert INTERVIEW.of_step(step.id, Answers())
    assert 0 < len(step.title) <= LONGEST_TITLE
    assert step.intro.endswith(".")


def test_steps_and_questions_stand_in_the_same_order():
    steps = [step.id for step in INTERVIEW.steps]
    places = [steps.index(question.step) for question in INTERVIEW.questions]
    assert places == sorted(places)


def test_what_is_asked_follows_the_answers():
    def asked(**values):
        answers = Answers.of({key.replace("__", "."): value for key, value in values.items()})
        return {question.key for step in INTERVIEW.steps for question in INTERVIEW.of_step(step.id, answers)}

    assert "model.parameters" in asked()
    assert "model.parameters" not in asked(model__preset="llama-3.1-70b")
    assert "model.parameters" in asked(model__preset="unknown")
    assert "training.lora_rank" not in asked(workload__kind="pretraining")
    assert "training.lora_rank" in asked(workload__kind="fine_tuning_qlora")
    assert {"training.samples"} <= asked(workload__kind="vision") - {"training.tokens"}
    assert "scale.deadline" in asked()
    assert "scale.nodes" in asked(scale__mode="fixed")
    assert "scale.gpus" not in asked(scale__mode="fixed", scale__nodes=8)
    assert "parallelism.tensor" in asked(parallelism__mode="given")
    assert "own_server.gpus" in asked(own_server__gpu="nvidia-rtx-4090")
    assert "own_server.gpus" not in asked()


@pytest.mark.parametrize("field", FIELDS, ids=lambda field: field.key)
def test_field_declares_an_example_and_a_reason_for_what_it_assumes(field):
    assert parse_answer(field.key, field.example) != "unknown"
    assert field.key.count(".") == 1
    assert field.key.partition(".")[0] in sections()
    if field.assumed is None:
        assert field.reason == ""
    else:
        assert field.reason
        parse_answer(field.key, field.assumed)


@pytest.mark.parametrize(
    "answers",
    [
        {},
        {"model.preset": "llama-3.1-70b"},
        {"scale.mode": "fixed"},
        {"scale.mode": "budget", "workload.kind": "vision"},
        {"workload.kind": "recommendation"},
        {"workload.kind": "fine_tuning_lora", "scale.mode": "fixed", "scale.nodes": 1},
    ],
)
def test_ten_questions_give_a_first_design(answers):
    given = Answers.of(answers)
    asked = [question.key for step in INTERVIEW.steps for question in INTERVIEW.of_step(step.id, given, first_only=True)]
    assert len(asked) <= 10
    assert {"workload.kind", "model.preset", "scale.mode", "facility.total_power"} <= set(asked)


@QUESTIONS
def test_help_on_a_question_teaches_term_reason_typical_values_and_where_to_find_the_answer(question):
    told = dict(lessons(question, None))
    assert {"The term", "Why it is asked", "Typical", "Where to find it", "What can be given", "If unknown"} <= set(told)
    assert all(told.values())


def test_help_names_rules_and_values_that_rest_on_an_answer():
    told = dict(lessons(INTERVIEW.question("facility.rack_power"), None))
    assert "power." in told["Rules that rest on it"]
    assert "fabric.compute.longest_run" in told["Values that rest on it"]  # fewer nodes in a rack, longer cables


def test_one_of_several_names_brings_a_question():
    """Tanks among air and tanks are tanks."""
    question = next(each for each in INTERVIEW.questions if each.key == "facility.immersion_released")
    assert question.asked(Answers.of({"facility.cooling": "air, immersion"}))
    assert not question.asked(Answers.of({"facility.cooling": "air, liquid"}))
