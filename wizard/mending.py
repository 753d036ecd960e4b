"""What remedies did, in lines: what was changed for which finding, what is left and why, then findings and figures before and after."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rules.remedies import Mended


def mended_lines(mended: Mended, width: int) -> list[str]:
    """Return the outcome of remedies in lines of at most `width`."""
    from rules.comparison.text import comparison_lines

    lines: list[str] = []
    for each in mended.applied:
        lines += _wrapped([f"fixed {each.finding}: {each.key} = {each.before or 'not answered'} → {each.after}"], width, "")
        lines += _wrapped([each.text], width)
    for left in mended.left:
        lines += _wrapped([f"left {left.finding}: {left.why or 'not tried'}"], width, "")
        lines += _wrapped([left.because, *(f"yours to choose: {choice.key}: {choice.text}" for choice in left.choices)], width)
    return [*lines, "", *comparison_lines(mended.comparison, width=width)] if mended.applied else lines


def _wrapped(texts: Iterable[str], width: int, indent: str = "    ") -> list[str]:
    return [
        line
        for text in texts
        for line in textwrap.wrap(text, width, initial_indent=indent, subsequent_indent="    ", break_long_words=False)
    ]
