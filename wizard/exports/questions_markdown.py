"""The questions for vendors as Markdown, a section for each kind of vendor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TextIO

from wizard.exports.parts import design_of
from wizard.summary import addressee, headline

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rules.advisor import Considered


def write(considered: Considered, stream: TextIO) -> None:
    """Write the questions of a design under its headline."""
    design = design_of(considered)
    write_questions(headline(design), design.document().get("question", []), stream)


def write_questions(head: Iterable[str], rows: Sequence[Mapping[str, Any]], stream: TextIO) -> None:
    """Write the rows of the questions, numbered from 1 in the section of each vendor."""
    stream.write("# Questions for vendors\n\n")
    stream.writelines(f"{line.strip()}  \n" for line in head)
    for vendor in dict.fromkeys(row["to"] for row in rows):
        stream.write(f"\n## To {addressee(vendor)}\n\n")
        for number, row in enumerate((one for one in rows if one["to"] == vendor), start=1):
            stream.write(f"{number}. {row['ask']}\n")
            stream.write(f"   - A good answer: {row['good_answer']}\n")
            stream.write(f"   - Why: {row['why']} ({', '.join(row.get('guidance', []))})\n")
