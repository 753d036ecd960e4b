"""Stages, kinds and strengths of findings, and a finding: what one rule said about one candidate."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

Scalar = str | int | float | bool


class Stage(StrEnum):
    """The stages in the order in which guidance is applied (G4), then reliability and money."""

    VRAM = "vram"
    INTERCONNECT = "interconnect"
    FABRIC = "fabric"
    SOFTWARE = "software"
    STORAGE_CPU = "storage_cpu"
    POWER = "power"
    RELIABILITY = "reliability"
    MONEY = "money"


class Kind(StrEnum):
    """What a finding does."""

    DECISION = "decision"
    REJECT = "reject"
    WARNING = "warning"
    ASSUMPTION = "assumption"
    QUESTION = "question"


class Strength(StrEnum):
    """How binding a finding is: physics or a limit, strong evidence, or advice."""

    HARD = "hard"
    STRONG = "strong"
    ADVICE = "advice"


@dataclass(frozen=True)
class Remedy:
    """A change of one answer that would remove a finding: set `key` to `value` ("" where the person must choose)."""

    key: str
    value: str
    text: str


@dataclass(frozen=True)
class Finding:
    """What a rule said: its sentence with the numbers filled in, and the figures it compared.

    `numbers` maps fact names to shown text ("62.1 GiB"); `decision`, `value` name what was decided for decisions;
    `ask`, `to`, `good_answer` are filled for questions.
    """

    rule: str
    stage: Stage
    kind: Kind
    strength: Strength
    because: str
    guidance: tuple[str, ...]
    thresholds: tuple[str, ...] = ()
    numbers: Mapping[str, str] = field(default_factory=dict)
    decision: str = ""
    value: str = ""
    remedies: tuple[Remedy, ...] = ()
    ask: str = ""
    to: str = ""
    good_answer: str = ""
