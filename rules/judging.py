"""Judge one candidate: run the stages in order, let the rules speak, and take the bounded feedback edges."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from rules import remembered
from rules.engine import compile_rules, evaluate
from rules.feedback import still_taken, take_edge
from rules.findings import Stage
from rules.guidance.declare import limit_field
from rules.kept import Kept
from rules.stages import all_stages

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from catalogs import Catalog
    from rules.candidate import Candidate, Context, StageModule
    from rules.compile import StageProgram
    from rules.design import Reentry
    from rules.engine import Evaluation
    from rules.findings import Scalar
    from rules.guidance.declare import Rule

_PLACE = {stage: place for place, stage in enumerate(Stage)}
_PREPARED: dict[Stage, tuple[tuple[Rule, ...], Catalog, StageProgram, Mapping[str, Scalar]]] = {}
_HEARD: Kept[tuple[StageProgram, Mapping[str, Scalar], Evaluation]] = Kept(1024)
_remembered = lru_cache(maxsize=2 * len(Stage))(remembered.remembered)
FIRST = (Stage.VRAM, Stage.INTERCONNECT)
"""The stages that come before every feedback edge: what is sent back to them is another candidate."""


@dataclass
class Judged:
    """A candidate with the feedback edges that it took and the rules that failed on it."""

    candidate: Candidate
    reentries: list[Reentry] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)


def judge(candidate: Candidate, context: Context, *, strict: bool = False, until_refused: bool = False) -> Judged:
    """Size a candidate through all stages, then let the rules speak; a feedback edge sizes it again, at most MOST_REENTRIES times.

    `until_refused`: the stages after the first that refuses it are not heard, where only that it is refused matters.
    """
    judged = Judged(candidate)
    while (taken := size_stages(judged.candidate, context, judged, strict=strict)) is not None:
        judged.candidate, reentry = taken
        judged.reentries = still_taken(judged.reentries, reentry)
        judged.failures = judged.failures if judged.candidate.facts else []
    for module in all_stages():
        if until_refused and judged.candidate.conflicts:
            break
        if module.STAGE not in FIRST:
            judged.failures += apply_rules(module, judged.candidate, context, strict=strict)
    judged.candidate.said.sort(key=lambda each: _PLACE[each.stage])
    return judged


def size_stages(candidate: Candidate, context: Context, judged: Judged, *, strict: bool) -> tuple[Candidate, Reentry] | None:
    """Size the stages in order; return what a feedback edge sends back as soon as one is taken, None where all are settled.

    A stage whose fact the candidate has already is not touched by the edge that was taken; it is not sized again. The rules of the FIRST
    stages speak at once, since what they say decides on the sizing of later ones; all others when no edge can change what they read.
    """
    later: dict[Stage, Callable[[], dict[str, Scalar]]] = {}
    for module in all_stages():
        if module.STAGE not in candidate.facts:
            size_first = getattr(module, "size_first", None)
            if size_first is None:
                candidate.facts[module.STAGE] = _remembered(module.assess)(candidate, context)
            else:
                candidate.facts[module.STAGE], later[module.STAGE] = {}, size_first(candidate, context)
            candidate.bom.extend(module.bill(candidate, context))
            if module.STAGE in FIRST:
                judged.failures += apply_rules(module, candidate, context, strict=strict)
        taken = take_edge(candidate, context, judged.reentries, module.STAGE)
        if taken is not None:
            return taken
    candidate.facts.update({stage: state() for stage, state in later.items()})
    return None


def apply_rules(module: StageModule, candidate: Candidate, context: Context, *, strict: bool) -> list[str]:
    """Run a stage's rules over its fact, then the policies of the site; findings and flags are kept on the candidate, failures returned."""
    program, known = _prepared(module, context.catalog)
    wide = {**candidate.facts[module.STAGE], **known, **flags_of_earlier_stages(module.STAGE, candidate)}
    candidate.facts[module.STAGE] = wide
    result = evaluate(program, wide, strict=True) if strict else _heard(program, wide, candidate)
    candidate.said.extend(result.said)
    candidate.flags |= result.flags
    failures = [*result.failures]
    own = tuple(policy.rule for policy in context.answers.policies if policy.stage is module.STAGE)
    if own:
        policies = evaluate(compile_rules(own).stage(module.STAGE), wide, strict=strict)
        candidate.said.extend(policies.said)
        failures += policies.failures
    return [f"rule {failure.rule_id} failed: {failure.message}" for failure in failures]


def _heard(program: StageProgram, fact: Mapping[str, Scalar], candidate: Candidate) -> Evaluation:
    """Return what the rules of a stage say of a candidate's fact; of the same fact they say the same as the last time."""
    key = id(program), candidate.node.id, candidate.units
    last = _HEARD.get(key)
    if last is not None and last[0] is program and last[1] == fact and [*map(type, last[1].values())] == [*map(type, fact.values())]:
        return last[2]
    return _HEARD.put(key, (program, fact, evaluate(program, fact)))[2]


def forget() -> None:
    """Forget what was worked out of candidates before, and what rules said of them."""
    _HEARD.clear()
    remembered.forget()


def _prepared(module: StageModule, catalog: Catalog) -> tuple[StageProgram, Mapping[str, Scalar]]:
    """Return the program of a stage and the limits that its rules read; kept until a stage has other rules, or the catalog is another."""
    rules = tuple(module.RULES)
    kept = _PREPARED.get(module.STAGE)
    if kept is None or kept[0] is not rules or kept[1] is not catalog:
        kept = _PREPARED[module.STAGE] = (rules, catalog, compile_rules(rules).stage(module.STAGE), limits(rules, catalog))
    return kept[2], kept[3]


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
