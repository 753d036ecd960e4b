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
body { max-width: 62em; overflow-wrap: break-word; }
a { color: #1a5fb4; }
nav ol { columns: 2; }
h1, h2, h3 { line-height: 1.2; break-after: avoid; }
h2 { margin-top: 2em; border-bottom: 1px solid #999; }
.wide, pre { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 13px; }
th, td { text-align: left; vertical-align: top; padding: .25em .6em; border-bottom: 1px solid #ddd; }
td.right, th.right { text-align: right; white-space: nowrap; }
thead { display: table-header-group; }
tr, figure, li { break-inside: avoid; }
figure { margin: 1em 0; }
figure svg { max-width: 100%; height: auto; }
.strong { font-weight: bold; }
@media screen and (prefers-color-scheme: dark) {
  body { color: #ddd; background: #1b1b1b; }
  a { color: #8ab4f8; }
  th, td { border-color: #444; }
  figure svg { background: #fff; border-radius: 4px; }
}
@media print {
  body { max-width: none; margin: 0; font-size: 10pt; }
  table { font-size: 8.5pt; }
  nav, details { display: none; }
  .wide { overflow: visible; }
}
"""
CHAPTER = 2
"""The level of the headings that the contents list."""
_PROLOGUE = re.compile(r"<\?xml.*?\?>|<!DOCTYPE.*?>", re.DOTALL)


def page(blocks: Sequence[Block]) -> str:
    """Return the report as a page; pictures are SVG inside it, with their text for those who cannot see them."""
    title = next((block.text for block in blocks if isinstance(block, Heading)), "Report")
    first = next((number for number, block in enumerate(blocks) if isinstance(block, Heading) and block.level > 1), len(blocks))
    parts = [_part(block, number) for number, block in enumerate(blocks)]
    body = "\n".join([*parts[:first], _contents(blocks), *parts[first:]])
    view = '<meta name="viewport" content="width=device-width, initial-scale=1">\n<meta name="color-scheme" content="light dark">'
    head = f'<meta charset="utf-8">\n{view}\n<title>{escape(title)}</title>\n<style>{_STYLE}</style>'
    return f'<!DOCTYPE html>\n<html lang="en">\n<head>\n{head}\n</head>\n<body>\n{body}\n</body>\n</html>\n'


def _contents(blocks: Sequence[Block]) -> str:
    """Return links to the chapters, "" where there are too few to look for one."""
    chapters = [(number, block.text) for number, block in enumerate(blocks) if isinstance(block, Heading) and block.level == CHAPTER]
    rows = "\n".join(f'<li><a href="#part-{number}">{escape(text)}</a></li>' for number, text in chapters)
    return f'<nav aria-label="Contents">\n<ol>\n{rows}\n</ol>\n</nav>' if len(chapters) > 1 else ""


def _part(block: Block, number: int) -> str:
    if isinstance(block, Heading):
        return f'<h{block.level} id="part-{number}">{escape(block.text)}</h{block.level}>'
    if isinstance(block, Paragraph):
        return f'<p class="strong">{escape(block.text)}</p>' if block.strong else f"<p>{escape(block.text)}</p>"
    if isinstance(block, Items):
        return "<ul>\n" + "\n".join(f"<li>{escape(row)}</li>" for row in block.rows) + "\n</ul>"
    if isinstance(block, PictureBlock):
        return _figure(block, number)
    return _table(block)


def _figure(block: PictureBlock, number: int) -> str:
    """Return a picture; ids inside it are made its own, for all pictures stand in one document.

    To a screen reader the drawing is one image with a name; its text stands below it, for all who would rather read.
    """
    svg = _PROLOGUE.sub("", block.svg).strip()
    svg = re.sub(r'\bid="([^"]+)"', rf'id="p{number}-\1"', svg)
    svg = re.sub(r"url\(#([^)]+)\)", rf"url(#p{number}-\1)", svg)
    svg = re.sub(r'href="#([^"]+)"', rf'href="#p{number}-\1"', svg)
    svg = re.sub(r"<svg\b", f'<svg role="img" aria-label="{escape(block.title)}"', svg, count=1)
    words = escape("\n".join(block.lines))
    caption = f"<figcaption>{escape(block.title)}</figcaption>\n<details><summary>As text</summary><pre>{words}</pre></details>"
    return f"<figure>\n{svg}\n{caption}\n</figure>"


def _table(table: Table) -> str:
    def row(cells: Sequence[str], tag: str) -> str:
        right = [' class="right"' if number in table.right else "" for number in range(len(cells))]
        scope = ' scope="col"' if tag == "th" else ""
        made = [f"<{tag}{scope}{style}>{escape(cell)}</{tag}>" for style, cell in zip(right, cells, strict=True)]
        return f"<tr>{''.join(made)}</tr>"

    body = "\n".join(row(cells, "td") for cells in table.rows)
    return f'<div class="wide"><table>\n<thead>{row(table.head, "th")}</thead>\n<tbody>\n{body}\n</tbody>\n</table></div>'
