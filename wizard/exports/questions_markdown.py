"""The questions for vendors as Markdown, a section for each kind of vendor."""

from __future__ import annotations

from typing import TYPE_CHECKING, TextIO

from rules.findings import Kind
from wizard.exports.parts import design_of
from wizard.summary import addressee, headline

if TYPE_CHECKING:
    from rules.advisor import Considered


def write(considered: Considered, stream: TextIO) -> None:
    """Write the questions, numbered from 1 in each section."""
    design = design_of(considered)
    stream.write("# Questions for vendors\n\n")
    stream.writelines(f"{line.strip()}  \n" for line in headline(design))
    found = design.of_kind(Kind.QUESTION)
    for vendor in dict.fromkeys(each.to for each in found):
        stream.write(f"\n## To {addressee(vendor)}\n\n")
        for number, each in enumerate((one for one in found if one.to == vendor), start=1):
            stream.write(f"{number}. {each.ask}\n")
            stream.write(f"   - A good answer: {each.good_answer}\n")
            stream.write(f"   - Why: {each.because} ({', '.join(each.guidance)})\n")
