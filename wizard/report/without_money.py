"""A report without money: every amount, price, budget and term of a contract is taken out of its blocks."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from wizard.exports.design_without_prices import AMOUNT, CURRENCIES, SECRET, sentences_without_money
from wizard.report.blocks import Heading, Items, Paragraph, PictureBlock, Table
from wizard.report.money import COSTS_TITLE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from wizard.report.blocks import Block

MONEY_HEADS = re.compile(r"\bprices?\b|\bcosts?\b|\bconfidence\b|\bown", re.IGNORECASE)
"""Columns that hold amounts, or what is known of them."""
MONEY_RULES = re.compile(r"\[[^\]]*\bmoney\.\w+")
"""A sentence that a rule on money wrote names the rule behind it."""
MONEY_TITLE = "Money"
"""What the stage is called in headings, and before what it assumes."""
CURRENCY = re.compile(rf"\b(?:{CURRENCIES})\b")


def without_money(blocks: Sequence[Block]) -> list[Block]:
    """Return the blocks of a report without anything on money; headings that nothing stands under go too."""
    kept = [found for block in _outside_costs(blocks) if (found := _cleaned(block)) is not None]
    return [block for place, block in enumerate(kept) if not (isinstance(block, Heading) and _is_empty(kept, place))]


def _outside_costs(blocks: Sequence[Block]) -> Iterable[Block]:
    """Yield the blocks that do not stand under the heading of costs."""
    inside = False
    for block in blocks:
        if isinstance(block, Heading) and block.level <= 2:
            inside = block.text == COSTS_TITLE
        if not inside:
            yield block


def _is_empty(blocks: Sequence[Block], place: int) -> bool:
    """Return whether nothing follows a heading before the next one of its level or above."""
    here, after = blocks[place], blocks[place + 1 : place + 2]
    if not isinstance(here, Heading) or here.level == 1:
        return False
    return not after or (isinstance(after[0], Heading) and after[0].level <= here.level)


def _cleaned(block: Block) -> Block | None:
    if isinstance(block, Heading):
        return None if block.text == MONEY_TITLE else block
    if isinstance(block, PictureBlock):
        return None if _tells(block.title, *block.lines) else block
    if isinstance(block, Paragraph):
        text = sentences_without_money(block.text)
        return replace(block, text=text) if text else None
    if isinstance(block, Items):
        rows = tuple(_rows(block.rows))
        return replace(block, rows=rows) if rows else None
    return _table(block)


def _rows(rows: Iterable[str]) -> Iterable[str]:
    for row in rows:
        text = "" if MONEY_RULES.search(row) or row.startswith(MONEY_TITLE) else sentences_without_money(row)
        if text and not CURRENCY.search(text):
            yield text


def _table(table: Table) -> Table | None:
    columns = [place for place, head in enumerate(table.head) if not MONEY_HEADS.search(head)]
    rows = tuple(tuple(row[place] for place in columns) for row in table.rows if not set(SECRET) & set(row))
    right = tuple(columns.index(place) for place in table.right if place in columns)
    head = tuple(table.head[place] for place in columns)
    left = tuple(row for row in rows if not _tells(*row))
    return Table(head, left, right) if left and head else None


def _tells(*texts: str) -> bool:
    return any(AMOUNT.search(text) or CURRENCY.search(text) for text in texts)
