"""What an explanation stands on: the candidate, its facts and findings, the answers and the catalog, at the time of asking."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from rules.facts import show
from rules.findings import Stage
from rules.stages import all_stages, stage_module

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rules.candidate import Candidate, Context
    from rules.choice import Ranking
    from rules.design import Design
    from rules.findings import Finding, Scalar
    from rules.guidance.declare import Rule


@dataclass(frozen=True)
class Ground:
    """The chosen candidate (None where the answers allow none) with the design that was made of it."""

    context: Context
    design: Design
    ranking: Ranking
    candidate: Candidate | None

    @cached_property
    def rules(self) -> Mapping[str, Rule]:
        """Return every rule by id, the policies of the site among them."""
        declared = [rule for module in all_stages() for rule in module.RULES]
        return {rule.id: rule for rule in (*declared, *(policy.rule for policy in self.context.answers.policies))}

    @cached_property
    def meanings(self) -> Mapping[tuple[Stage, str], str]:
        """Return what each fact of each stage means."""
        return {(module.STAGE, each.name): each.meaning for module in all_stages() for each in module.FACTS}

    @cached_property
    def sections(self) -> Mapping[str, tuple[Stage, object]]:
        """Return every key of the design's sections, down to the last table, with the stage that wrote it and its value."""
        found: dict[str, tuple[Stage, object]] = {}
        design = self.design.document()["design"]
        if "summary" in design:
            found |= _flat("summary", design["summary"], Stage.MONEY)
        if self.candidate is not None:
            for module in all_stages():
                for name, values in module.describe(self.candidate, self.context).items():
                    found |= _flat(name, values, module.STAGE)
        return found

    @cached_property
    def listed(self) -> tuple[str, ...]:
        """Return the keys that the sections write themselves, without those inside their tables."""
        design = self.design.document()["design"]
        keys = [f"summary.{key}" for key in design.get("summary", {})]
        if self.candidate is not None:
            for module in all_stages():
                sections = module.describe(self.candidate, self.context)
                keys += [f"{name}.{key}" for name, values in sections.items() for key in values]
        return tuple(keys)

    def facts(self, stage: Stage) -> Mapping[str, Scalar]:
        """Return the fact of a stage, with thresholds and flags; empty where the stage did not run."""
        return {} if self.candidate is None else self.candidate.facts.get(stage, {})

    def shown(self, stage: Stage, name: str) -> str:
        """Return a fact as text with its unit, "unknown" where it was not stated."""
        fact = self.facts(stage)
        return show(name, fact[name]) if name in fact else "unknown"

    def findings(self, stage: Stage | None = None) -> list[Finding]:
        """Return the findings in firing order, of one stage or of all; those that no stage made come first."""
        return [found for found in self.design.findings if stage is None or (found.stage is stage and found.rule in self.rules)]

    def fired(self, rule: str) -> Finding | None:
        """Return the finding of a rule that fired, else None."""
        return next((found for found in self.design.findings if found.rule == rule), None)

    def writers(self, flag: str) -> list[Rule]:
        """Return the rules that may write a flag, in the order of the stages."""
        return [rule for rule in self.rules.values() if flag in rule.writes]

    def is_flag(self, stage: Stage, name: str) -> bool:
        """Return whether a field of a stage's fact is a flag that rules write."""
        return (stage, name) not in self.meanings and bool(self.writers(name))


def _flat(prefix: str, value: object, stage: Stage) -> dict[str, tuple[Stage, object]]:
    """Return a table with its keys and those of its inner tables, dotted."""
    if not isinstance(value, dict):
        return {prefix: (stage, value)}
    found: dict[str, tuple[Stage, object]] = {prefix: (stage, value)} if prefix.count(".") > 0 else {}
    for key, inner in value.items():
        found |= _flat(f"{prefix}.{key}", inner, stage)
    return found


def facts_of(stage: Stage) -> tuple[str, ...]:
    """Return the names of a stage's declared facts."""
    return tuple(each.name for each in stage_module(stage).FACTS)
