"""What if: some answers changed, the design as it is beside the design as it would be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rules.advisor import advise
from rules.answer_checks import overruled
from rules.comparison.compare import Comparison, compare_designs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalogs import Catalog
    from rules.answers import Answers
    from rules.design import Design


@dataclass(frozen=True)
class WhatIf:
    """The base and the variant with their comparison; to keep the variant, take `variant.answers`."""

    base: Design
    variant: Design
    comparison: Comparison

    def document(self) -> dict[str, Any]:
        """Return the comparison as plain data."""
        return self.comparison.document()


def what_if(answers: Answers, catalog: Catalog, changes: Mapping[str, object], *, base: Design | None = None) -> WhatIf:
    """Return the design beside that of changed answers.

    Parameters
    ----------
    answers, catalog
        As for `rules.advisor.advise`.
    changes
        New values by key; None takes an answer away, "unknown" answers "I don't know".
    base
        The design of `answers`, where it is at hand; else it is made.

    Raises
    ------
    AnswerError
        Where a change is no valid answer, or the answers contradict each other then.
    """
    changed = with_changes(answers, changes)
    before = base if base is not None else advise(answers, catalog)
    after = before if changed == answers else advise(changed, catalog)
    return WhatIf(before, after, compare_designs(before.document(), after.document()))


def with_changes(answers: Answers, changes: Mapping[str, object], origin: str = "you") -> Answers:
    """Return answers with some changed; of two answers of which only one can hold, the other is taken away. Raises AnswerError."""
    for key, value in changes.items():
        if value is None:
            answers = answers.without(key)
            continue
        answers = answers.with_value(key, value, origin)
        for other in overruled(answers, key):
            if other not in changes:
                answers = answers.without(other)
    return answers
