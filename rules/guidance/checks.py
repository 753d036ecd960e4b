"""Checks of the declared rules as data: run over all of them by the tests and by `cluster-wizard rules`, never while a design is made."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING

from rules.compile import compile_stage
from rules.findings import Kind, Stage
from rules.guidance.declare import CANDIDATE, Rule, RuleError, limit_field
from rules.render import template_fields

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from rules.facts import FactField

_ORDER = tuple(Stage)


def check_rules(
    rules: Iterable[Rule],
    *,
    guidance: Collection[str] | None = None,
    facts: Mapping[Stage, Iterable[FactField]] | None = None,
    thresholds: Collection[str] | None = None,
    modules: Mapping[str, Sequence[Rule]] | None = None,
) -> list[str]:
    """Return what is wrong with `rules`, one sentence each; empty when nothing is.

    `guidance` and `thresholds` are the known ids, `facts` the `FACTS` table of each stage, `modules` the rules of each module in the
    order in which they stand there. A check whose reference is not given is left out.
    """
    declared = tuple(rules)
    problems = _check_ids(declared, modules or {})
    for rule in declared:
        problems += _check_kind(rule)
        problems += _check_known(rule, guidance, thresholds)
        if facts is not None:
            problems += _check_reads(rule, declared, {field.name for field in facts.get(rule.stage, ())})
    for stage in _ORDER:
        of_stage = [rule for rule in declared if rule.stage is stage]
        problems += _check_stage(stage, of_stage)
        problems += _check_flags(stage, of_stage, declared)
    return problems


def _check_ids(rules: Sequence[Rule], modules: Mapping[str, Sequence[Rule]]) -> list[str]:
    problems = [
        f"rule {name}: {times} rules have this id; rename all but one" for name, times in Counter(r.id for r in rules).items() if times > 1
    ]
    problems += [
        f"rule {rule.id}: its id must begin with its stage, as in {rule.stage}.{rule.id}" for rule in rules if not _has_prefix(rule)
    ]
    for module, in_module in modules.items():
        ids = [rule.id for rule in in_module]
        for before, after in pairwise(ids):
            if after < before:
                problems.append(f"rule {after}: stands after {before} in {module}; keep the rules of a module sorted by id")
    return problems


def _has_prefix(rule: Rule) -> bool:
    return rule.id.startswith(f"{rule.stage}.") and len(rule.id) > len(rule.stage) + 1


def _check_kind(rule: Rule) -> list[str]:
    """What a kind of finding must carry: a decision what it decides, a question the question, bad news a way out."""
    problems = []
    if (rule.kind is Kind.DECISION) != (rule.decides is not None):
        problems.append(f"rule {rule.id}: is of kind {rule.kind}; `decides` belongs to decisions, and to every one of them")
    if rule.kind is Kind.QUESTION and rule.ask is None:
        problems.append(f"rule {rule.id}: is a question without `ask`")
    if rule.kind in (Kind.WARNING, Kind.REJECT) and not rule.fix and rule.ask is None:
        problems.append(f"rule {rule.id}: is a {rule.kind} that says neither what to change (`fix`) nor what to check (`ask`)")
    if not rule.because.strip():
        problems.append(f"rule {rule.id}: has an empty `because`")
    return problems


def _check_known(rule: Rule, guidance: Collection[str] | None, thresholds: Collection[str] | None) -> list[str]:
    problems = [
        f"rule {rule.id}: applies the unknown guidance {name}" for name in rule.guidance if guidance is not None and name not in guidance
    ]
    problems += [
        f"rule {rule.id}: applies the unknown threshold {name}"
        for name in rule.thresholds
        if thresholds is not None and name not in thresholds
    ]
    return problems


def _is_limit_of(name: str, rule: Rule) -> bool:
    fields = [limit_field(threshold) for threshold in rule.thresholds]
    return any(name == field or name.startswith(field + "_") for field in fields)


def _check_reads(rule: Rule, rules: Sequence[Rule], stated: Collection[str]) -> list[str]:
    """Every field that a rule compares or prints is stated by its stage, a limit that it names, or a flag of an earlier stage."""
    earlier = {flag for other in rules if _ORDER.index(other.stage) < _ORDER.index(rule.stage) for flag in other.writes}
    own = {flag for other in rules if other.stage is rule.stage for flag in other.writes}
    try:
        printed: tuple[str, ...] = template_fields(rule)
    except RuleError:
        printed = ()  # reported with the stage
    problems = []
    offered = [name for fix in rule.fix for comparison in fix.when for name in comparison.reads]
    for name in dict.fromkeys([*rule.reads, *printed, *offered]):
        if name in stated or name in earlier or _is_limit_of(name, rule):
            continue
        if name.startswith("limit_"):
            problems.append(f"rule {rule.id}: reads {name}, but names no threshold of that id in `thresholds`")
        elif name in own:
            problems.append(f'rule {rule.id}: reads the flag {name} of its own stage as a field; build on it with premise="{name}"')
        else:
            problems.append(f"rule {rule.id}: reads {name}, which no FACTS of stage {rule.stage} declare")
    return problems


def _check_stage(stage: Stage, rules: Sequence[Rule]) -> list[str]:
    """Each rule can be compiled and rendered, and all of them together fit into rulesets."""
    problems = []
    broken = set()
    for rule in rules:
        try:
            template_fields(rule)
        except RuleError as error:
            problems.append(str(error))
        try:
            compile_stage(stage, [rule])
        except RuleError as error:
            broken.add(rule.id)
            problems.append(str(error))
    sound = {rule.id: rule for rule in rules if rule.id not in broken}
    try:
        compile_stage(stage, sound.values())
    except RuleError as error:
        problems.append(str(error))
    return problems


def _check_flags(stage: Stage, rules: Sequence[Rule], everything: Sequence[Rule]) -> list[str]:
    """Flags belong to one stage, every premise is written in its stage and can be reached, and no flag leads back to itself."""
    problems = []
    written = {flag for rule in rules for flag in rule.writes}
    owners = {flag: other for other in everything if other.stage is not stage for flag in other.writes}
    for rule in rules:
        problems += [
            f"rule {rule.id}: writes the flag {flag}, which stage {owners[flag].stage} owns (rule {owners[flag].id})"
            for flag in rule.writes
            if flag in owners and _ORDER.index(owners[flag].stage) < _ORDER.index(stage)
        ]
    reached = {CANDIDATE}
    found = set(reached)
    while found:
        found = {flag for rule in rules if rule.premise in reached for flag in rule.writes} - reached
        reached |= found
    for rule in rules:
        if rule.premise != CANDIDATE and rule.premise not in written:
            where = f"stage {owners[rule.premise].stage} writes it: read it as a field" if rule.premise in owners else "no rule writes it"
            problems.append(f"rule {rule.id}: builds on the flag {rule.premise}, but {where}")
        elif rule.premise not in reached:
            problems.append(f"rule {rule.id}: builds on the flag {rule.premise}, which no chain of rules from the candidate reaches")
        elif rule.premise != CANDIDATE and rule.premise in _downstream(rule, rules):
            problems.append(f"rule {rule.id}: builds on the flag {rule.premise} and leads back to it")
    return problems


def _downstream(rule: Rule, rules: Sequence[Rule]) -> set[str]:
    """Return the flags that follow from those that `rule` writes, directly or over other rules."""
    flags, found = set(rule.writes), set(rule.writes)
    while found:
        found = {flag for other in rules if other.premise in found for flag in other.writes} - flags
        flags |= found
    return flags
