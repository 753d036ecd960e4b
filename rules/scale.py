"""What decides the size of the cluster: a deadline, a fixed number, or a budget."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rules.answers import Answers


def size_given(answers: Answers) -> bool:
    """Return whether the person gave the size as a number of nodes or of GPUs."""
    return answers.given("scale.nodes") or answers.given("scale.gpus")


def sized_by_deadline(answers: Answers) -> bool:
    """Return whether the deadline, given or assumed, decides the size; a given number of nodes or GPUs goes before it."""
    return answers.text("scale.mode") == "deadline" and not size_given(answers)


def deadline_counts(answers: Answers) -> bool:
    """Return whether a deadline must be met: one that was given, or the assumed one where the size follows from it."""
    return answers.given("scale.deadline") or sized_by_deadline(answers)
