"""The questions for vendors as CSV, one row per question, with an empty column for the answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, TextIO

from rules.findings import Kind
from wizard.exports.parts import design_of, write_rows

if TYPE_CHECKING:
    from rules.advisor import Considered

HEAD = ("to", "question", "a good answer", "why", "guidance", "rule", "answer")


def write(considered: Considered, stream: TextIO) -> None:
    """Write one row per question."""
    found = design_of(considered).of_kind(Kind.QUESTION)
    write_rows(
        stream,
        HEAD,
        ((each.to, each.ask, each.good_answer, each.because, ", ".join(each.guidance), each.rule, "") for each in found),
    )
