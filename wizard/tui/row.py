"""A line of a page of the design."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.content import Content

if TYPE_CHECKING:
    from rules.findings import Remedy


@dataclass(frozen=True)
class Row:
    """A line of a page. `behind` is what Enter shows; a heading has nothing behind it and cannot be chosen.

    `action` is what Enter does instead. `product` is the product that the line is about. `subject` names what `rules.explain` can
    explain; "" where there is nothing below what the line says.
    """

    text: Content
    title: str = ""
    behind: tuple[Content, ...] = ()
    remedies: tuple[Remedy, ...] = ()
    rule: str = ""
    guidance: tuple[str, ...] = ()
    subject: str = ""
    product: str = ""
    action: str = ""

    @property
    def is_heading(self) -> bool:
        """Return whether the row only structures the page."""
        return not self.title


def heading(text: str, note: str = "") -> Row:
    """Return a heading."""
    return Row(Content.assemble((text, "bold $text-accent"), (f"  {note}" if note else "", "$foreground-muted")))
