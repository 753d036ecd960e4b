"""Situations in plain words to start from: each fills in a few answers, which can all be changed."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Situation:
    """One situation: what a person says, what it means, and the answers that follow."""

    id: str
    title: str
    text: str
    answers: Mapping[str, str]


@lru_cache(maxsize=1)
def load_situations() -> tuple[Situation, ...]:
    """Return the situations, read once per process."""
    document = tomllib.loads((Path(__file__).parent / "situations.toml").read_text(encoding="utf-8"))
    return tuple(Situation(**row) for row in document["situation"])
