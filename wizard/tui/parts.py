"""The bill of materials as a page: what each part costs, how sure that is, and what the totals leave out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content

from catalogs.sums import plain_sum
from rules.counting import counted
from wizard.glyphs import sign
from wizard.preferences import currency, from_dollars, written
from wizard.summary import bounded, short_money
from wizard.tui.row import Row, heading

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rules.design import Design
    from rules.sizing.results import BomLine

COUNT, PRICE, DATE, CONFIDENCE = 8, 17, 10, 10
"""Columns for quantity, price of the line, date of the price and confidence in it; the name takes the rest."""
LEAST_NAME = 20
UNKNOWN_PRICE = "price unknown"


def parts(design: Design, width: int = 78) -> list[Row]:
    """Return the bill of materials by category with subtotals, the total first; a line is at most `width` columns wide."""
    if not design.bom:
        return [heading("Nothing to buy yet")]
    name = max(LEAST_NAME, width - COUNT - PRICE - DATE - CONFIDENCE - 4)
    rows = [heading(f"Total  {_sum(design.bom, sure=design.figures is None or not design.figures.purchase_open)}", _unpriced(design.bom))]
    head = f"{'':>{COUNT}}   {'part':<{name}}{'price':>{PRICE}} {'date':<{DATE}}{'confidence':<{CONFIDENCE}}"
    rows.append(Row(Content.styled(head, "$foreground-muted")))
    for category in dict.fromkeys(line.category for line in design.bom):
        lines = [line for line in design.bom if line.category == category]
        rows.append(heading(f"{category.replace('_', ' ').capitalize()}  {_sum(lines)}", _unpriced(lines)))
        rows += [_row(line, name) for line in lines]
    return rows


def _sum(lines: Sequence[BomLine], *, sure: bool = True) -> str:
    """Return what lines cost together, from lowest to highest price; a lower bound where a price is unknown."""
    priced = [ends for line in lines if (ends := _ends(line)) is not None]
    if not priced:
        return UNKNOWN_PRICE
    is_open = len(priced) < len(lines) or not sure
    total = _range(plain_sum(low for low, _ in priced), plain_sum(high for _, high in priced))
    return bounded(total, is_open=is_open, at_least=sign("at_least"))


def _unpriced(lines: Sequence[BomLine]) -> str:
    missing = sum(line.unit_low is None for line in lines)
    return f"{missing} of {counted(len(lines), 'line')} without a price" if missing else ""


def _ends(line: BomLine) -> tuple[float, float] | None:
    if line.unit_low is None:
        return None
    return line.unit_low * line.quantity, (line.unit_high if line.unit_high is not None else line.unit_low) * line.quantity


def _range(low: float, high: float) -> str:
    low_text, high_text = short_money(low), short_money(high)
    return low_text if low_text == high_text else f"{low_text.removesuffix(f' {currency()}')}–{high_text}"


def _exact(dollars: float) -> str:
    return f"{written(f'{from_dollars(dollars):,.0f}')} {currency()}"


def _row(line: BomLine, width: int) -> Row:
    ends = _ends(line)
    price = UNKNOWN_PRICE if ends is None else _range(*ends)
    name = line.name if len(line.name) <= width else f"{line.name[: width - 1]}…"
    confidence = "" if ends is None else line.confidence
    text = Content.assemble(
        (f"{line.quantity:>{COUNT},} {sign('times')} ", "bold"),
        f"{name:<{width}}",
        (f"{price:>{PRICE}}", "" if ends else "$text-warning"),
        (f" {line.date:<{DATE}}{confidence:<{CONFIDENCE}}".rstrip(), "$foreground-muted"),
    )
    behind = [Content.assemble((f"{label:<22} ", "$foreground-muted"), value) for label, value in _facts(line) if value]
    return Row(text, line.name, tuple(behind))


def _facts(line: BomLine) -> Iterable[tuple[str, str]]:
    ends = _ends(line)
    yield "Quantity", f"{line.quantity:,}"
    if line.unit_low is None or ends is None:
        yield "Price", "unknown; the totals leave it out, and the page Questions says whom to ask"
    else:
        high = line.unit_high if line.unit_high is not None else line.unit_low
        yield "Price of one, lowest", _exact(line.unit_low)
        yield "Price of one, highest", _exact(high)
        yield "Price of all", _range(*ends)
        yield "Date of the price", line.date
        yield "Confidence", line.confidence
        yield "Source of the price", line.source
    yield "Note", "" if line.note == line.category else line.note
    yield "Name in the catalog", line.item
