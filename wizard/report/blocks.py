"""What a report is made of, whatever it is written as."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Heading:
    """A heading; level 1 is the title."""

    level: int
    text: str


@dataclass(frozen=True)
class Paragraph:
    """A paragraph; `strong` where it must not be overlooked."""

    text: str
    strong: bool = False


@dataclass(frozen=True)
class Items:
    """A list of sentences."""

    rows: tuple[str, ...]


@dataclass(frozen=True)
class Table:
    """A table; `right` are the columns whose numbers stand at the right."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    right: tuple[int, ...] = ()


@dataclass(frozen=True)
class PictureBlock:
    """A picture in both forms: as lines of text, and as SVG."""

    title: str
    lines: tuple[str, ...]
    svg: str


Block = Heading | Paragraph | Items | Table | PictureBlock
