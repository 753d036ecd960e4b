"""The questions as data: read once from `interview.toml`, tied to the answer fields that they fill."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from rules.answers import RATES, field_of, foreign_currency

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from rules.answer_fields import AnswerField
    from rules.answers import Answers

ANY = "*"
_KEY = re.compile(r"\b[a-z_]+\.[a-z_]+\b")


@dataclass(frozen=True)
class Step:
    """A page of the interview."""

    id: str
    title: str
    intro: str


@dataclass(frozen=True)
class Question:
    """One question: what a person reads about one answer field. `first`: it is among the ten that a first design needs."""

    key: str
    step: str
    label: str
    ask: str
    why: str
    typical: str
    find: str
    when: Mapping[str, tuple[str, ...]]
    term: str = ""
    first: bool = False

    @property
    def field(self) -> AnswerField:
        """Return the declaration of the answer: kind, unit, bounds, choices, assumption."""
        return field_of(self.key)

    def asked(self, answers: Answers) -> bool:
        """Return whether the question has a meaning beside the other answers; what was answered is always there to be seen and changed."""
        return answers.given(self.key) or all(_holds(answers, key, values) for key, values in self.when.items())


def _holds(answers: Answers, key: str, values: tuple[str, ...]) -> bool:
    text = answers.text(key)
    if ANY in values:
        return bool(text)
    said = answers.values.get(key)
    return any(name in values for name in said) if isinstance(said, tuple) else text in values


@dataclass(frozen=True)
class Interview:
    """All steps and questions in order."""

    steps: tuple[Step, ...]
    questions: tuple[Question, ...]

    def of_step(self, step: str, answers: Answers, *, first_only: bool = False, sought: Collection[str] = ()) -> tuple[Question, ...]:
        """Return the questions of a step that are asked beside these answers; `first_only`: only those that a first design needs.

        `sought` are keys that the person went to by name: a remedy may be an answer that is not asked beside the others.
        """
        of_step = (each for each in self.questions if each.step == step)
        return tuple(each for each in of_step if each.key in sought or (each.asked(answers) and (each.first or not first_only)))

    def question(self, key: str) -> Question | None:
        """Return the question that fills `key`, or None where an answer can only be set in a file or by --set."""
        return next((each for each in self.questions if each.key == key), None)


def with_labels(text: str) -> str:
    """Return a text in which the key of a question reads as its label, in quotes: who fills in pages knows no keys."""

    def label(found: re.Match[str]) -> str:
        question = load_interview().question(found[0])
        return found[0] if question is None else f'"{question.label.strip()}"'

    return _KEY.sub(label, text)


def needed_beside(answers: Answers) -> set[str]:
    """Return the questions without whose answer others cannot be counted: amounts in another currency need its rate."""
    foreign = any(foreign_currency(field_of(key), str(value)) for key, value in answers.values.items())
    return {RATES} if foreign else set()


@lru_cache(maxsize=1)
def load_interview() -> Interview:
    """Return the interview, read once per process."""
    document = tomllib.loads((Path(__file__).parent / "interview.toml").read_text(encoding="utf-8"))
    questions = tuple(
        Question(**{**row, "when": {key: tuple(values) for key, values in row.get("when", {}).items()}}) for row in document["question"]
    )
    return Interview(tuple(Step(**row) for row in document["step"]), questions)
