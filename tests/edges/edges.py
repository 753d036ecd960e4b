"""The edges of rules: read from the files beside this one, judged by the plain meaning of their comparisons and the catalog's limits."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rules.findings import Scalar

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Edge:
    """Facts at or beside an edge of a rule, and whether it speaks there. Limits of the catalog are not among the facts.

    `chosen`: neither the rule's words nor a source tell; it is what the rule does.
    """

    rule: str
    facts: Mapping[str, Scalar]
    speaks: bool
    chosen: bool = False


def rows() -> Iterator[dict[str, Any]]:
    """Yield every row of the files."""
    for path in sorted(FOLDER.glob("*.toml")):
        yield from tomllib.loads(path.read_text("utf-8"))["edge"]


def edges() -> Iterator[Edge]:
    """Yield every edge of the files, the ones where a rule is silent after those where it speaks."""
    for row in rows():
        start, *further = row["speaks"]
        yield Edge(row["rule"], start, True)
        for changed in further:
            yield Edge(row["rule"], {**start, **changed}, True)
        for changed in row["silent"]:
            yield Edge(row["rule"], {**start, **changed}, False)
        for choice in row.get("chosen", ()):
            yield Edge(row["rule"], {**start, **choice["at"]}, choice["speaks"], chosen=True)


def evidence() -> list[Edge]:
    """Return the edges that were written from the rules' words and sources."""
    return [each for each in edges() if not each.chosen]
