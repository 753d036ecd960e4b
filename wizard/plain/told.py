"""What plain mode says: questions, answers and designs as lines that read well aloud. States are words, never signs or colours."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rules.counting import counted
from rules.findings import Kind
from wizard.interview import load_interview
from wizard.preferences import own_note
from wizard.shown import answered, assumed_text, choice_label, origin_of, value_text
from wizard.summary import AT_LEAST, addressee, figure_texts, headline

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rules.design import Design
    from rules.findings import Finding
    from wizard.interview import Question
    from wizard.work import Work

MOST_LISTED = 40


def question_lines(question: Question, work: Work, number: int, count: int) -> Iterable[str]:
    """Yield a question as it is asked: where we are, the question, its choices, what stands now and what is assumed."""
    step = next(each for each in load_interview().steps if each.id == question.step)
    yield ""
    yield f"{step.title}, question {number} of {count}: {question.ask}"
    declared = question.field
    if declared.choices:
        several = ", any of them, with commas" if declared.kind == "names" else ""
        named = ", ".join(f"{place} {choice_label(choice)}" for place, choice in enumerate(declared.choices, start=1))
        yield f"  Choices{several}: {named}."
    else:
        yield f"  Typical: {question.typical}."
    if work.answers.values.get(question.key) is not None:
        origin = origin_of(work.answers, question.key)[0].lstrip("? ")
        yield f"  Now: {value_text(question.key, work.answers.values[question.key])}, from {origin}. Enter keeps it."
    else:
        stand_in = assumed_text(question.key, work.design)
        yield f"  Enter leaves it open{f'; {stand_in} is assumed then' if stand_in else ''}."


def labelled(question: Question, text: str) -> str:
    """Return a message with the choices of a question named as they were offered: "full fine-tuning" for fine_tuning_full."""
    codes = "|".join(re.escape(choice) for choice in question.field.choices)
    return re.sub(rf"\b(?:{codes})\b", lambda found: choice_label(found[0]), text) if codes else text


def choice_of(question: Question, text: str) -> str:
    """Return what a typed answer to a choice means: a number or a label stands for its choice; other text stays."""
    choices = question.field.choices
    if not choices:
        return text
    parts = [part.strip() for part in text.split(",")] if question.field.kind == "names" else [text.strip()]
    return ", ".join(_one_choice(choices, part) for part in parts if part)


def _one_choice(choices: tuple[str, ...], part: str) -> str:
    if part.isdigit() and 1 <= int(part) <= len(choices):
        return choices[int(part) - 1]
    return next((choice for choice in choices if choice_label(choice).lower() == part.lower()), part)


def answer_lines(work: Work, *, first_only: bool = False) -> Iterable[str]:
    """Yield every question with its answer, step by step."""
    interview = load_interview()
    for step in interview.steps:
        yield f"{step.title}, {answered(interview, work.session, step.id)}"
        for question in interview.of_step(step.id, work.answers, first_only=first_only):
            value = work.answers.values.get(question.key)
            stand_in = assumed_text(question.key, work.design) if value is None else ""
            told = value_text(question.key, value) + (f", {stand_in} is assumed" if stand_in else "")
            yield f"  {question.label.strip()}: {told}. ({question.key})"


def design_lines(design: Design) -> Iterable[str]:
    """Yield a design: what was chosen, its figures, conflicts with their remedies, warnings, and how much is assumed and open."""
    yield from _head_lines(design)
    yield from (f"Note: {notice}." for notice in (*design.notices, own_note()) if notice)
    yield from conflict_lines(design)
    warnings, questions = design.of_kind(Kind.WARNING), design.of_kind(Kind.QUESTION)
    yield from (f"Warning: {each.because}" for each in warnings)
    counts = ((len(warnings), "warning"), (len(design.assumptions), "assumption"), (len(questions), "vendor question"))
    yield ", ".join(counted(number, noun) for number, noun in counts) + "."
    yield from (f"A rule failed: {failure}" for failure in design.failures)


def _head_lines(design: Design) -> Iterable[str]:
    """Yield what was chosen in words, as one says it: no signs, and what each figure is."""
    figures = design.figures
    if not design.chosen or figures is None:
        yield from (line.strip() for line in headline(design))
        return
    yield ("" if design.fits else "Nearest, with conflicts: ") + design.name + "."
    yield f"Plan: {design.plan}."
    texts = [text.replace(AT_LEAST, "at least") for text in figure_texts(figures)]
    yield ("Memory per GPU: " if figures.memory_gib and figures.memory_capacity_gib else "") + ", ".join(texts) + "."


def conflict_lines(design: Design) -> Iterable[str]:
    """Yield the conflicts and how to go on from them."""
    yield from (f"Conflict: {conflict.because}" for conflict in design.conflicts)
    if design.conflicts:
        yield "conflicts says which answers cannot hold together and what would help; fix changes one."


def reason_lines(design: Design) -> Iterable[str]:
    """Yield every decision with its reason."""
    for found in design.of_kind(Kind.DECISION):
        yield f"{_decided(found)}: {found.because} (how {found.rule})"


def _decided(found: Finding) -> str:
    name = found.decision.replace("_", " ").replace(".", ", ")
    return f"{name}, {found.value}" if found.value else name


def rejected_lines(design: Design) -> Iterable[str]:
    """Yield the candidates that will not do, each with its reason."""
    yield from (f"{each.name}: {each.because}" for each in design.rejected[:MOST_LISTED])
    if len(design.rejected) > MOST_LISTED:
        yield f"and {len(design.rejected) - MOST_LISTED} more"


def assumption_lines(design: Design) -> Iterable[str]:
    """Yield what is assumed, and why."""
    interview = load_interview()
    for each in design.assumptions:
        question = interview.question(each.key)
        label = question.label.strip() if question is not None else each.key
        yield f"{label}: {f'{each.value}, ' if each.value else ''}{each.because} ({each.key})"


def question_to_vendor_lines(design: Design) -> Iterable[str]:
    """Yield the questions for vendors."""
    for each in design.of_kind(Kind.QUESTION):
        yield f"To {addressee(each.to)}: {each.ask} A good answer: {each.good_answer}. Why: {each.because}"


def part_lines(design: Design) -> Iterable[str]:
    """Yield the bill of materials."""
    for line in design.bom:
        price = "price unknown" if line.unit_low is None else f"{line.unit_low:,.0f} USD each or more"
        yield f"{line.quantity:,} of {line.name}: {price}"


def number_lines(design: Design) -> Iterable[str]:
    """Yield every value of the design's sections by its key, which `how` explains."""
    for name, section in design.sections.items():
        yield from _values(name, section)


def _values(prefix: str, section: Mapping[str, object]) -> Iterable[str]:
    for name, value in section.items():
        key = f"{prefix}.{name}"
        if isinstance(value, dict):
            yield from _values(key, value)
        else:
            yield f"{key}: {value}"
