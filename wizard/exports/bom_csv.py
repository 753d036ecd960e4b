"""The bill of materials as CSV; an unknown price is an empty cell, never zero."""

from __future__ import annotations

from typing import TYPE_CHECKING, TextIO

from wizard.exports.parts import design_of, write_rows

if TYPE_CHECKING:
    from rules.advisor import Considered

HEAD = (
    "category", "item", "name", "quantity", "unit price low (USD)", "unit price high (USD)", "line low (USD)", "line high (USD)",
    "price date", "price source", "confidence", "note",
)  # fmt: skip


def write(considered: Considered, stream: TextIO) -> None:
    """Write one row per line of the bill."""
    lines = design_of(considered).bom
    write_rows(
        stream,
        HEAD,
        (
            (
                each.category, each.item, each.name, each.quantity, each.unit_low, each.unit_high, _times(each.unit_low, each.quantity),
                _times(each.unit_high, each.quantity), each.date, each.source, each.confidence, each.note,
            )
            for each in lines
        ),
    )  # fmt: skip


def _times(price: float | None, quantity: int) -> float | None:
    return None if price is None else price * quantity
