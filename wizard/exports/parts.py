"""What several formats share: the design behind a considered set of answers, and rows of CSV."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING, TextIO

from rules.assembly import assemble
from wizard.exports import NothingToExport

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rules.advisor import Considered
    from rules.candidate import Candidate
    from rules.design import Design

FORMULA = ("=", "+", "-", "@", "\t")
"""What a cell of a spreadsheet that is a formula begins with."""


def design_of(considered: Considered) -> Design:
    """Return the design; raises NothingToExport where nothing could be sized at all."""
    chosen_of(considered)
    return assemble(considered.context, considered.judged, considered.ranking, considered.rejected)


def chosen_of(considered: Considered) -> Candidate:
    """Return the chosen candidate, or the nearest one where nothing fits; raises NothingToExport without any."""
    chosen = considered.ranking.chosen
    if chosen is None:
        raise NothingToExport("there is no design: nothing that the answers allow can be sized")
    return chosen.candidate


def write_rows(stream: TextIO, head: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write rows as CSV with a head; None is an empty cell, and no text is taken for a formula when a spreadsheet opens it."""
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(head)
    for row in rows:
        writer.writerow([_cell(each) for each in row])


def _cell(value: object) -> object:
    if value is None:
        return ""
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) else value
