"""A report as Markdown."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from wizard.report.blocks import Block, Heading, Items, Paragraph, PictureBlock, Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_SPECIAL = re.compile(r"([\\`*_<>#|\[\]])")


def markdown(blocks: Sequence[Block]) -> str:
    """Return the report as Markdown; pictures are text in fences."""
    return "\n".join(line for block in blocks for line in (*_lines(block), "")).rstrip("\n") + "\n"


def _lines(block: Block) -> Iterable[str]:
    if isinstance(block, Heading):
        return [f"{'#' * block.level} {_plain(block.text)}"]
    if isinstance(block, Paragraph):
        return [f"**{_plain(block.text)}**" if block.strong else _plain(block.text)]
    if isinstance(block, Items):
        return [f"- {_plain(row)}" for row in block.rows]
    if isinstance(block, PictureBlock):
        return [f"**{_plain(block.title)}**", "", "```text", *block.lines, "```"]
    return _table(block)


def _table(table: Table) -> list[str]:
    marks = ["---:" if number in table.right else "---" for number in range(len(table.head))]
    return [_row(table.head), f"| {' | '.join(marks)} |", *(_row(row) for row in table.rows)]


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(_plain(cell) for cell in cells)} |"


def _plain(text: str) -> str:
    """Return text that Markdown shows as it is."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))
