"""What an explanation is made of: steps that lead from a conclusion down to answers and catalog values."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


class StepKind(StrEnum):
    """What a step is."""

    FINDING = "finding"
    RULE = "rule"
    GUIDANCE = "guidance"
    THRESHOLD = "threshold"
    FLAG = "flag"
    CONDITION = "condition"
    DESIGN = "design"
    FACT = "fact"
    RESULT = "result"
    FORMULA = "formula"
    CATALOG = "catalog"
    ANSWER = "answer"
    CANDIDATE = "candidate"
    REMEDY = "remedy"
    NOTE = "note"


@dataclass(frozen=True)
class Step:
    """One step. `name` is an id (of a rule, a fact, a function, an answer), `value` is shown text with its unit, `text` a sentence.

    `details` has what belongs to the kind: source, date and kind of a catalog value, strength of a rule, provenance of an answer.
    `steps` are what it rests on. `repeated`: it was explained further up, so its own steps are left out.
    """

    kind: StepKind
    name: str
    text: str = ""
    value: str = ""
    details: Mapping[str, str] = field(default_factory=dict)
    steps: tuple[Step, ...] = ()
    repeated: bool = False

    def document(self) -> dict[str, Any]:
        """Return the step as plain data, without what is empty."""
        row: dict[str, Any] = {"kind": self.kind.value, "name": self.name}
        row |= {key: value for key, value in (("value", self.value), ("text", self.text)) if value}
        if self.details:
            row["details"] = dict(self.details)
        if self.repeated:
            row["repeated"] = True
        if self.steps:
            row["steps"] = [each.document() for each in self.steps]
        return row


@dataclass(frozen=True)
class Explanation:
    """How something was concluded about a candidate: one chain or several, and what must be known to read them."""

    what: str
    candidate: str
    chains: tuple[Step, ...]
    notes: tuple[str, ...] = ()

    def document(self) -> dict[str, Any]:
        """Return the explanation as plain data."""
        return {
            "what": self.what,
            "candidate": self.candidate,
            "notes": list(self.notes),
            "chains": [each.document() for each in self.chains],
        }


@dataclass(frozen=True)
class Subject:
    """Something that can be explained: its kind (decision, warning, conflict, …), the stage it belongs to, and its value or sentence."""

    kind: str
    stage: str
    what: str
    value: str


class NothingToExplainError(ValueError):
    """A name that nothing in the design has; `nearest` is spelled most like it, "" where nothing is near."""

    def __init__(self, what: str, nearest: str) -> None:
        hint = f"; did you mean {nearest!r}?" if nearest else ""
        super().__init__(f"nothing in this design is called {what!r}{hint}")
        self.what, self.nearest = what, nearest
