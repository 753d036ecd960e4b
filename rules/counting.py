"""Numbers with the word that they count: the one place that knows singular from plural."""

from __future__ import annotations


def counted(number: int, one: str, many: str = "") -> str:
    """Return a number with its word: "1 rack", "1,024 racks"; `many` where more is needed than an s: "2 boxes", "3 nodes are spare"."""
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"
