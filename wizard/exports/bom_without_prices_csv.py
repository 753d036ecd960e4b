"""The bill of materials as CSV without prices: what a vendor fills in."""

from __future__ import annotations

from typing import TYPE_CHECKING, TextIO

from wizard.exports.design_without_prices import AMOUNT
from wizard.exports.parts import design_of, write_rows

if TYPE_CHECKING:
    from rules.advisor import Considered

HEAD = ("category", "item", "name", "quantity", "note", "unit price", "currency", "delivery")


def write(considered: Considered, stream: TextIO) -> None:
    """Write one row per line of the bill; the last three columns are empty."""
    rows = ((each.category, each.item, each.name, each.quantity, _note(each.note), None, None, None) for each in design_of(considered).bom)
    write_rows(stream, HEAD, rows)


def _note(note: str) -> str | None:
    return None if not note or AMOUNT.search(note) else note
