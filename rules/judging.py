"""Judge one candidate: run the stages in order, let the rules speak, and take the bounded feedback edges."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from rules.engine import compile_rules, evaluate
from rules.feedback import take_edge
from rules.findings import Stage
from rules.guidance.declare import limit_field
from rules.stages import all_stages

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalogs import Catalog
    from rules.candidate import Candidate, Context, StageModule
    from rules.design import Reentry
    from rules.findings import Scalar
    from rules.guidance.declare import Rule

_PLACE = {stage: place for place, stage in enumerate(Stage)}
MOST_REENTRIES = 3
"""How often a candidate may be sent back to an earlier stage; after that the conflict is reported as it stands."""


@dataclass
class Judged:
    """A candidate with the feedback edges that it took and the rules that failed on it."""

    candidate: Candidate
    reentries: list[Reentry] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)


def judge(candidate: Candidate, context: Context, *, strict: bool = False) -> Judged:
    """Size and judge one candidate through all stages; a feedback edge starts it again, at most MOST_REENTRIES times."""
    judged = Judged(candidate)
    while True:
        judged.failures += run_stages(judged.candidate, context, strict=strict)
        taken = take_edge(judged.candidate, context, judged.reentries) if len(judged.reentries) < MOST_REENTRIES else None
        if taken is None:
            return judged
        judged.candidate, reentry = taken
        judged.reentries.append(reentry)
        judged.failures = []


def run_stages(candidate: Candidate, context: Context, *, strict: bool) -> list[str]:
    """Run the stages on a candidate and return what failed (empty when all is well).

    A stage whose fact the candidate has already is not touched by the feedback edge that was taken; it is not run again.
    """
    failures: list[str] = []
    for module in all_stages():
        if module.STAGE in candidate.facts:
            continue
        fact = module.assess(candidate, context)
        candidate.bom.extend(module.bill(candidate, context))
        failures += apply_rules(module, candidate, fact, context, strict=strict)
    candidate.findings.sort(key=lambda found: _PLACE[found.stage])
    return failures


def apply_rules(module: StageModule, candidate: Candidate, fact: Mapping[str, Scalar], context: Context, *, strict: bool) -> list[str]:
    """Run a stage's rules over its fact, then the policies of the site; findings and flags are kept on the candidate."""
    rules = tuple(module.RULES)
    wide = {**fact, **limits(rules, context.catalog), **flags_of_earlier_stages(module.STAGE, candidate)}
    candidate.facts[module.STAGE] = wide
    result = evaluate(compile_rules(rules).stage(module.STAGE), wide, strict=strict)
    candidate.findings.extend(result.findings)
    candidate.flags |= result.flags
    failures = [*result.failures]
    own = tuple(policy.rule for policy in context.answers.policies if policy.stage is module.STAGE)
    if own:
        said = evaluate(compile_rules(own).stage(module.STAGE), wide, strict=strict)
        candidate.findings.extend(said.findings)
        failures += said.failures
    return [f"rule {failure.rule_id} failed: {failure.message}" for failure in failures]


def flags_of_earlier_stages(stage: Stage, candidate: Candidate) -> dict[str, Scalar]:
    """Return every flag that a rule of an earlier stage may write, as a boolean field."""
    return {flag: flag in candidate.flags for flag in _flags_before(stage)}


@lru_cache(maxsize=len(Stage))
def _flags_before(stage: Stage) -> tuple[str, ...]:
    order = list(Stage)
    earlier = [module for module in all_stages() if order.index(module.STAGE) < order.index(stage)]
    return tuple(dict.fromkeys(flag for module in earlier for rule in module.RULES for flag in rule.writes))


@lru_cache(maxsize=64)
def limits(rules: tuple[Rule, ...], catalog: Catalog) -> Mapping[str, Scalar]:
    """Return the numbers of all thresholds that the rules name, as the fields that `limit(...)` reads."""
    fields: dict[str, Scalar] = {}
    for rule in rules:
        for id_ in rule.thresholds:
            threshold = catalog.thresholds[id_]
            if threshold.value is not None:
                fields[limit_field(id_)] = threshold.value
            fields |= {limit_field(id_, name): value for name, value in threshold.values.items()}
    return fields
