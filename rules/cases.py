"""Regression cases of rules: given answers or facts, a rule fires or stays silent. The cases are data; this runs them.

A case has `rule`, `name`, `source`, `fires`, and either `answers` (through the whole pipeline) or `facts` (the rule alone).
`values` sets bounds on the numbers of the finding: `{ memory_needed_low_gib = ">= 141 GB" }`. `candidate = "chosen"` looks at
the chosen candidate only; by default any judged candidate counts.
"""

from __future__ import annotations

import operator
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from catalogs.quantities import magnitude
from rules.advisor import consider
from rules.answers import Answers
from rules.facts import show, unit_of
from rules.stages import all_stages

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from catalogs import Catalog
    from rules.advisor import Considered
    from rules.findings import Finding
    from rules.guidance.declare import Rule

_KEYS = {"rule", "name", "source", "answers", "facts", "fires", "values", "candidate"}
_BOUND = re.compile(r"^\s*(>=|<=|≥|≤|>|<|=)?\s*(.+)$")
_COMPARE = {">=": operator.ge, "≥": operator.ge, "<=": operator.le, "≤": operator.le, ">": operator.gt, "<": operator.lt}
EQUAL_WITHIN = 0.005
"""Two figures count as equal when they differ by less than half a percent: figures are shown with three to four digits."""


class CaseError(ValueError):
    """A case that cannot be run: which one and why."""


@dataclass(frozen=True)
class CaseResult:
    """The outcome of one case."""

    rule: str
    name: str
    passed: bool
    message: str


def all_rules() -> dict[str, Rule]:
    """Return every declared rule by id, in stage order."""
    return {rule.id: rule for module in all_stages() for rule in module.RULES}


def check_case(case: Any) -> Mapping[str, Any]:
    """Return the case where it is well formed; raises CaseError."""
    if not isinstance(case, dict) or not isinstance(case.get("rule"), str):
        raise CaseError("a case is a [[case]] table with at least rule, name, fires and answers or facts")
    label = f"case {case.get('name', '?')!r} of {case['rule']}"
    odd = sorted(set(case) - _KEYS)
    if odd:
        raise CaseError(f"{label}: unknown key {odd[0]!r}; known are {', '.join(sorted(_KEYS))}")
    if case["rule"] not in all_rules():
        raise CaseError(f"{label}: no such rule; 'cluster-wizard rules list' prints all")
    if not isinstance(case.get("fires"), bool) or ("answers" in case) == ("facts" in case):
        raise CaseError(f"{label}: needs fires = true or false, and either answers or facts")
    for key in ("answers", "facts", "values"):
        if not isinstance(case.get(key, {}), dict):
            raise CaseError(f"{label}: {key}: expected a table, got {str(case[key])[:40]!r}")
    return case


def run_case(case: Mapping[str, Any], catalog: Catalog) -> CaseResult:
    """Run one case; raises CaseError or AnswerError where it cannot be run."""
    check_case(case)
    rule = all_rules()[case["rule"]]
    if "facts" in case:
        return _verdict(case, _alone(rule, case["facts"]), 1)
    considered = consider(Answers.of(case["answers"]), catalog, strict=True)
    found = _findings(considered, rule.id, chosen_only=case.get("candidate") == "chosen")
    return _verdict(case, [each.numbers for each in found], len(considered.judged))


def _verdict(case: Mapping[str, Any], found: Sequence[Mapping[str, str]], judged: int) -> CaseResult:
    rule, name = case["rule"], str(case.get("name", ""))
    if judged == 0:
        return CaseResult(rule, name, False, "no candidate was judged, so the rule was never asked")
    if case["fires"] != bool(found):
        return CaseResult(rule, name, False, "fired, but should stay silent" if found else "stayed silent, but should fire")
    for key, bound in case.get("values", {}).items():
        shown = [numbers.get(key) for numbers in found]
        if not any(text is not None and _within(key, text, str(bound)) for text in shown):
            return CaseResult(rule, name, False, f"{key} is {', '.join(str(text) for text in shown)}, expected {bound}")
    return CaseResult(rule, name, True, "")


def _findings(considered: Considered, rule: str, *, chosen_only: bool) -> list[Finding]:
    chosen = considered.ranking.chosen
    looked_at = [each.candidate for each in considered.judged]
    if chosen_only:
        looked_at = [chosen.candidate] if chosen else []
    return [said.finding for candidate in looked_at for said in candidate.said if said.rule.id == rule]


def _alone(rule: Rule, facts: Mapping[str, Any]) -> list[Mapping[str, str]]:
    """Evaluate the rule's own conditions over given facts."""
    missing = [name for name in rule.reads if name not in facts]
    if missing:
        raise CaseError(f"{rule.id}: the facts lack {', '.join(missing)}")
    odd = [name for name, value in facts.items() if not isinstance(value, (str, int, float))]
    if odd:
        raise CaseError(f"{rule.id}: facts: {odd[0]}: expected a text, a number, true or false")
    try:
        holds = all(each.holds(facts) for each in rule.when)
    except (TypeError, ValueError):
        raise CaseError(f"{rule.id}: facts: a number is compared with a text; rules show {rule.id} prints the comparisons") from None
    return [{name: show(name, value) for name, value in facts.items()}] if holds else []


def _within(key: str, text: str, bound: str) -> bool:
    """Return whether a shown figure ("62.1 GiB") meets a bound (">= 60 GiB", "tree")."""
    found = _BOUND.match(bound)
    assert found is not None
    sign, wanted = found.groups()
    unit = unit_of(key)
    try:
        have, want = magnitude(text.replace(",", ""), unit), magnitude(wanted, unit)
    except ValueError:
        return text == wanted
    if sign in _COMPARE:
        return bool(_COMPARE[sign](have, want))
    return abs(have - want) <= EQUAL_WITHIN * max(abs(have), abs(want))


def coverage(cases: Iterable[Mapping[str, Any]]) -> dict[str, tuple[bool, bool]]:
    """Return, by rule id, whether a case makes it fire and whether a case keeps it silent."""
    seen = dict.fromkeys(all_rules(), (False, False))
    for case in cases:
        fires, silent = seen.get(case["rule"], (False, False))
        seen[case["rule"]] = (fires or case["fires"], silent or not case["fires"])
    return seen
