"""A report as one HTML page that stands alone, reads on a screen and prints on paper."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING

from wizard.report.blocks import Block, Heading, Items, Paragraph, PictureBlock, Table

if TYPE_CHECKING:
    from collections.abc import Sequence

_STYLE = """
body { font: 15px/1.5 "DejaVu Sans", Verdana, sans-serif; color: #222; background: #fff; margin: 2em auto; padding: 0 1em; }
body { max-width: 62em; }
h1, h2, h3 { line-height: 1.2; break-after: avoid; }
h2 { margin-top: 2em; border-bottom: 1px solid #999; }
table { border-collapse: collapse; width: 100%; font-size: 13px; }
th, td { text-align: left; vertical-align: top; padding: .25em .6em; border-bottom: 1px solid #ddd; }
td.right, th.right { text-align: right; white-space: nowrap; }
thead { display: table-header-group; }
tr, figure, li { break-inside: avoid; }
figure { margin: 1em 0; }
figure svg { max-width: 100%; height: auto; }
.strong { font-weight: bold; }
@media print { body { max-width: none; margin: 0; font-size: 10pt; } table { font-size: 8.5pt; } h2 { break-before: auto; } }
"""
_PROLOGUE = re.compile(r"<\?xml.*?\?>|<!DOCTYPE.*?>", re.DOTALL)


def page(blocks: Sequence[Block]) -> str:
    """Return the report as a page; pictures are SVG inside it, with their text for those who cannot see them."""
    title = next((block.text for block in blocks if isinstance(block, Heading)), "Report")
    body = "\n".join(_part(block, number) for number, block in enumerate(blocks))
    head = f'<meta charset="utf-8">\n<title>{escape(title)}</title>\n<style>{_STYLE}</style>'
    return f'<!DOCTYPE html>\n<html lang="en">\n<head>\n{head}\n</head>\n<body>\n{body}\n</body>\n</html>\n'


def _part(block: Block, number: int) -> str:
    if isinstance(block, Heading):
        return f"<h{block.level}>{escape(block.text)}</h{block.level}>"
    if isinstance(block, Paragraph):
        return f'<p class="strong">{escape(block.text)}</p>' if block.strong else f"<p>{escape(block.text)}</p>"
    if isinstance(block, Items):
        return "<ul>\n" + "\n".join(f"<li>{escape(row)}</li>" for row in block.rows) + "\n</ul>"
    if isinstance(block, PictureBlock):
        return _figure(block, number)
    return _table(block)


def _figure(block: PictureBlock, number: int) -> str:
    """Return a picture; ids inside it are made its own, for all pictures stand in one document."""
    svg = _PROLOGUE.sub("", block.svg).strip()
    svg = re.sub(r'\bid="([^"]+)"', rf'id="p{number}-\1"', svg)
    svg = re.sub(r"url\(#([^)]+)\)", rf"url(#p{number}-\1)", svg)
    svg = re.sub(r'href="#([^"]+)"', rf'href="#p{number}-\1"', svg)
    words = escape("\n".join(block.lines))
    caption = f"<figcaption>{escape(block.title)}</figcaption>\n<details><summary>As text</summary><pre>{words}</pre></details>"
    return f'<figure role="img" aria-label="{escape(block.title)}">\n{svg}\n{caption}\n</figure>'


def _table(table: Table) -> str:
    def row(cells: Sequence[str], tag: str) -> str:
        right = [' class="right"' if number in table.right else "" for number in range(len(cells))]
        made = [f"<{tag}{style}>{escape(cell)}</{tag}>" for style, cell in zip(right, cells, strict=True)]
        return f"<tr>{''.join(made)}</tr>"

    body = "\n".join(row(cells, "td") for cells in table.rows)
    return f"<table>\n<thead>{row(table.head, 'th')}</thead>\n<tbody>\n{body}\n</tbody>\n</table>"
