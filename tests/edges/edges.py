"""The edges of rules: read from the files beside this one, judged by the plain meaning of their comparisons and the catalog's limits."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rules.findings import Scalar

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Edge:
    """Facts at or beside an edge of a rule, and whether it speaks there. Limits of the catalog are not among the facts."""

    rule: str
    facts: Mapping[str, Scalar]
    speaks: bool


def edges() -> Iterator[Edge]:
    """Yield every edge of the files, the ones where a rule is silent after the one where it speaks."""
    for path in sorted(FOLDER.glob("*.toml")):
        for row in tomllib.loads(path.read_text("utf-8"))["edge"]:
            yield Edge(row["rule"], row["speaks"], True)
            for changed in row["silent"]:
                yield Edge(row["rule"], {**row["speaks"], **changed}, False)
