"""What a fact, a result or a key of the design rests on in the end: answers, catalog values, formulas, over all steps between."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from rules.explanation.results import RESULTS
from rules.guidance.declare import CANDIDATE
from rules.origins import InputKind, kind_of, origins_of, section_origin, stage_of
from rules.stages import all_stages

if TYPE_CHECKING:
    from rules.findings import Stage
    from rules.guidance.declare import Rule


@dataclass(frozen=True)
class Roots:
    """Where the chains below something end: keys of answers, names of catalog values as origins write them, dotted formulas."""

    answers: frozenset[str] = frozenset()
    catalog: frozenset[str] = frozenset()
    formulas: frozenset[str] = frozenset()

    def __or__(self, other: Roots) -> Roots:
        return Roots(self.answers | other.answers, self.catalog | other.catalog, self.formulas | other.formulas)


@lru_cache(maxsize=4096)
def fact_roots(stage: Stage, name: str) -> Roots:
    """Return what the fact `name` of a stage rests on; nothing for a name that is no fact."""
    return _roots(stage, (name,))


@lru_cache(maxsize=1024)
def section_roots(stage: Stage, key: str) -> Roots:
    """Return what a key of the design's sections rests on ("memory.expected")."""
    found = section_origin(stage, key)
    if found is None:
        return Roots()
    origin = found[1]
    if isinstance(origin, str):
        return fact_roots(stage, origin)
    return Roots(formulas=frozenset({origin.formula} - {""})) | _roots(stage, origin.inputs)


def rule_roots(rule: Rule) -> Roots:
    """Return what the conditions of a rule rest on, those of the rules whose flags it builds on or reads among them."""
    return _rule_roots(rule.id)


@lru_cache(maxsize=1024)
def _rule_roots(id_: str) -> Roots:
    rule = _rules()[id_]
    found = _roots(rule.stage, rule.reads)
    for other in _rules().values():
        flags = {rule.premise, *rule.reads} - {CANDIDATE}
        if other.id != id_ and flags & set(other.writes):
            found |= _rule_roots(other.id)
    return found | Roots(catalog=frozenset(f"threshold.{id_}" for id_ in rule.thresholds))


@lru_cache(maxsize=1)
def _rules() -> dict[str, Rule]:
    return {rule.id: rule for module in all_stages() for rule in module.RULES}


def _roots(stage: Stage, names: tuple[str, ...]) -> Roots:
    """Walk from names to where they end; a name that was met before is not walked again."""
    answers, catalog, formulas = set[str](), set[str](), set[str]()
    waiting, met = [(stage, name) for name in names], set[tuple[str, str]]()
    while waiting:
        at, name = waiting.pop()
        kind = InputKind.FACT if name.startswith("limit_") else kind_of(name)
        if kind is InputKind.ANSWER:
            answers.add(name)
            continue
        if kind is InputKind.CATALOG:
            catalog.add(name)
            continue
        where, plain = stage_of(name, at) if kind is InputKind.FACT else (at, name)
        key = (where.value, plain) if kind is InputKind.FACT else ("", plain)
        if key in met:
            continue
        met.add(key)
        origin = origins_of(where).facts.get(plain) if kind is InputKind.FACT else RESULTS[plain].origin if plain in RESULTS else None
        if origin is not None:
            formulas |= {origin.formula} - {""}
            waiting += [(where, each) for each in origin.inputs]
    return Roots(frozenset(answers), frozenset(catalog), frozenset(formulas))
