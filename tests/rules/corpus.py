"""The corpus of cases run once, with the facts of every judged candidate: what checks of rules as data look at."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from catalogs import load_catalog
from rules.advisor import consider
from rules.answers import Answers
from rules.cases import all_rules

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rules.findings import Scalar, Stage
    from rules.guidance.declare import Rule

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Seen:
    """One judged candidate of a case: its facts by stage, and the flags that the rules wrote."""

    facts: Mapping[Stage, Mapping[str, Scalar]]
    flags: frozenset[str]

    def fires(self, rule: Rule) -> bool:
        """Return whether a rule fires on this candidate by the plain meaning of its comparisons, given the flags that are there."""
        if rule.stage not in self.facts or rule.premise not in ("candidate", *self.flags):
            return False
        return all(each.holds(self.facts[rule.stage]) for each in rule.when)


@dataclass(frozen=True)
class Run:
    """A case with everything that its rule was asked about: candidates, or the facts of the case itself."""

    case: Mapping[str, Any]
    seen: tuple[Seen, ...]

    def fires(self, rule: Rule) -> bool:
        """Return whether a rule fires in this case."""
        if "facts" in self.case:
            return all(each.holds(self.case["facts"]) for each in rule.when)
        return any(one.fires(rule) for one in self.seen)


def cases() -> list[dict[str, Any]]:
    """Return every case of the corpus."""
    return [case for path in sorted(FOLDER.glob("*.toml")) for case in tomllib.loads(path.read_text("utf-8"))["case"]]


@lru_cache(maxsize=1)
def runs() -> tuple[Run, ...]:
    """Run every case through the pipeline."""
    catalog = load_catalog([FOLDER / "catalog"])
    return tuple(_run(case, catalog) for case in cases() if case["rule"] in all_rules())


def _run(case: dict[str, Any], catalog: Any) -> Run:
    if "facts" in case:
        return Run(case, ())
    considered = consider(Answers.of(case["answers"]), catalog)
    judged = [each.candidate for each in considered.judged]
    if case.get("candidate") == "chosen":
        judged = [considered.ranking.chosen.candidate] if considered.ranking.chosen else []
    return Run(case, tuple(Seen(dict(each.facts), frozenset(each.flags)) for each in judged))
