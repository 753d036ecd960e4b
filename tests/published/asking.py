"""What the tests of public cases share: the catalog, a design asked for in one call, and the mark that names a case."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from catalogs import load_catalog
from catalogs.quantities import magnitude
from rules.advisor import Considered, consider
from rules.answers import Answers
from rules.findings import Kind, Strength

if TYPE_CHECKING:
    from collections.abc import Callable

    from catalogs import Catalog
    from rules.candidate import Candidate
    from rules.findings import Finding

OWN_CATALOG = Path(__file__).parent / "catalog"
"""Records that only these tests need; they are read as a person's own catalog folder is."""

SHARDED: dict[str, object] = {
    "parallelism.tensor": 1,
    "parallelism.pipeline": 1,
    "parallelism.context": 1,
    "parallelism.zero_stage": 3,
}
"""The plan of FSDP and ZeRO-3 runs: no tensor, pipeline or context parallelism, everything sharded."""


def case(id_: str, source: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Mark a test as (part of) the public case `id_`, which was published at `source`."""
    assert source.startswith("https://"), f"{id_}: a case names where it was published"

    def mark(test: Callable[..., None]) -> Callable[..., None]:
        return test

    return mark


@lru_cache(maxsize=1)
def catalog() -> Catalog:
    """Return the shipped catalog with the tests' own records."""
    return load_catalog([OWN_CATALOG])


@dataclass(frozen=True)
class Asked:
    """The judged outcome of some answers; `candidate` is the design, or the nearest one where nothing fits."""

    considered: Considered

    @cached_property
    def candidate(self) -> Candidate:
        chosen = self.considered.ranking.chosen
        assert chosen is not None, f"no candidate at all: {self.considered.rejected[:3]}"
        return chosen.candidate

    @property
    def accepted(self) -> bool:
        """Return whether the design meets every answer: it fits, or is at risk and names a remedy."""
        if not self.considered.ranking.good:
            return False
        risk = self.finding("vram.at_risk")
        return risk is None or bool(risk.remedies)

    @property
    def rejections(self) -> set[str]:
        """Return the rules that reject the design, of any strength."""
        return {found.rule for found in self.candidate.findings if found.kind is Kind.REJECT}

    @property
    def hard_rejections(self) -> set[str]:
        """Return the rules that rule the design out."""
        return {found.rule for found in self.candidate.findings if found.kind is Kind.REJECT and found.strength is Strength.HARD}

    @property
    def questions(self) -> list[Finding]:
        """Return the questions to vendors and to the datacenter."""
        return [found for found in self.candidate.findings if found.ask]

    def finding(self, rule: str) -> Finding | None:
        """Return what a rule found on the design, None where it stayed silent."""
        return next((found for found in self.candidate.findings if found.rule == rule), None)

    def fact(self, name: str) -> Any:
        """Return a fact of the design by its name, of the stage that states it."""
        return next(facts[name] for facts in self.candidate.facts.values() if name in facts)

    def days(self) -> float:
        """Return the expected days of the run, failures counted in."""
        return float(self.fact("run_days"))


def asked(answers: dict[str, object], **more: object) -> Asked:
    """Return the design for answers by dotted key; `more` takes keys with "__" for the dot."""
    merged = {**answers, **{key.replace("__", "."): value for key, value in more.items()}}
    return Asked(consider(Answers.of(merged), catalog(), strict=True))


def asks_for(design: Asked, *words: str) -> bool:
    """Return whether one question, with the answer that it hopes for, holds all the words."""
    texts = [f"{found.ask} {found.good_answer} {found.because}".lower() for found in design.questions]
    return any(all(word.lower() in text for word in words) for text in texts)


def number(text: str, unit: str) -> float:
    """Return a figure of a design section or finding as a plain number in `unit`."""
    return magnitude(text.replace(",", ""), unit)
