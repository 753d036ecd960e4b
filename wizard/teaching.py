"""What a question teaches: the term, why it is asked, typical values, where to find the answer, and what rests on it. No screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wizard.shown import assumed_text, assumption_of, choice_label

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rules.answer_fields import AnswerField
    from rules.design import Design
    from wizard.interview import Question

LEAVE_EMPTY = "leave it empty, or answer ?; "
MOST_NAMED = 6
"""Rules and values of the design that are named; the rest is counted."""


def lessons(question: Question, design: Design | None, *, warm: bool = True) -> list[tuple[str, str]]:
    """Return what is to be known about a question as (label, text). `warm`: the rules are loaded, so what rests on it can be told."""
    declared = question.field
    rows = [("The term", question.term)] if question.term else []
    rows += [("Why it is asked", question.why), ("Typical", question.typical), ("Where to find it", question.find)]
    rows += [("What can be given", allowed(declared)), ("If unknown", if_unknown(question, design))]
    if warm:
        rows += list(_resting(question.key))
    return [*rows, ("Name in files", question.key)]


def if_unknown(question: Question, design: Design | None) -> str:
    """Return what stands in for a missing answer, and why."""
    stand_in = assumed_text(question.key, design)
    if not stand_in:
        return f"{LEAVE_EMPTY}the design says what it does without it"
    found = assumption_of(question.key, design)
    return f"{stand_in} is assumed: {found.because if found is not None else question.field.reason}"


def _resting(key: str) -> Iterable[tuple[str, str]]:
    """Yield what rests on an answer: rules and values of the design; then the rules that may ask to change it."""
    from wizard.reach import reach_of

    reach = reach_of(key)
    if reach.rules:
        yield "Rules that rest on it", _counted(reach.rules)
    if reach.sections:
        yield "Values that rest on it", _counted(reach.sections)
    changing = rules_that_change(key)
    if changing:
        yield "May ask to change it", ", ".join(changing)


def _counted(names: tuple[str, ...]) -> str:
    more = len(names) - MOST_NAMED
    return f"{len(names)}: " + ", ".join(names[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def allowed(declared: AnswerField) -> str:
    """Return in words what an answer can be."""
    if declared.choices:
        joint = "any of " if declared.kind == "names" else "one of "
        return joint + ", ".join(choice_label(choice) for choice in declared.choices)
    unit = f" {declared.unit}" if declared.unit else ""
    ends = (
        f" from {declared.minimum:,g} to {declared.maximum:,g}{unit}"
        if declared.minimum is not None and declared.maximum is not None
        else ""
    )
    word = {"quantity": "a quantity with its unit", "number": "a number", "count": "a whole number", "name": "a name"}.get(
        declared.kind, "names"
    )
    return f"{word}{ends}, such as {declared.example}"


def rules_that_change(key: str) -> list[str]:
    """Return the rules whose remedies change this answer."""
    from rules.cases import all_rules

    return sorted(rule.id for rule in all_rules().values() if any(fix.key == key for fix in rule.fix))
