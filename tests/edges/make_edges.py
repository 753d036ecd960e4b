"""Write the edges of new rules: facts at which each rule just speaks, and for each of its comparisons facts at which it just does not.

    python tests/edges/make_edges.py        adds the rules that no edge is written for, keeps what is there, drops rules that are gone

What is written is read and checked before it is kept: an edge is right when the sources of the rule say so, not when the rule does.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tomli_w

from catalogs import load_catalog
from rules.cases import all_rules
from rules.facts import unit_of
from rules.findings import Stage
from rules.guidance.declare import Comparison, Rule, Scaled
from rules.judging import limits

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalogs import Catalog
    from rules.findings import Scalar

FOLDER = Path(__file__).parent
NEAR = 0.05
"""How far from an edge facts lie, as a share: nearer than any threshold is moved by the mutants."""
ROUNDS = 40
SMALL_COUNT = 64
PLAIN = 100.0
LARGEST_EXACT = 2**53
OTHER_TEXT = "another"
_FAILING = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}


def just(operator: str, limit: float, *, whole: bool) -> float:
    """Return the number nearest to `limit` for which `number operator limit` holds: the limit itself where it is part of it."""
    if operator in ("<=", ">=", "=="):
        return limit
    step = 1.0 if whole else max(abs(limit) * NEAR, 1e-9) if limit else NEAR
    return limit + step if operator in (">", "!=") else limit - step


def edge_of(rule: Rule, catalog: Catalog) -> dict[str, Any] | None:
    """Return the edge of a rule, None where no facts were found that make it speak."""
    known = dict(limits((rule,), catalog))
    facts = solve(rule.when, known, {})
    if facts is None:
        return None
    silent = []
    for number, each in enumerate(rule.when):
        broken = Comparison(each.left, _FAILING[each.operator], each.right)
        others = (*rule.when[:number], *rule.when[number + 1 :])
        found = solve((*others, broken), known, facts)
        if found is not None:
            silent.append({name: value for name, value in found.items() if facts.get(name) != value})
    return {"rule": rule.id, "speaks": _tidy(facts), "silent": [_tidy(each) for each in silent if each]}


def solve(when: tuple[Comparison, ...], known: Mapping[str, Scalar], start: Mapping[str, Scalar]) -> dict[str, Scalar] | None:
    """Return facts, few of them other than `start`, under which all comparisons hold as narrowly as can be; None where none is found."""
    facts: dict[str, Scalar] = dict(start)
    for each in when:
        for name in each.reads:
            if name not in known and name not in facts:
                facts[name] = _first(name, when, known)
    for _ in range(ROUNDS):
        broken = [each for each in when if not each.holds({**known, **facts})]
        if not broken:
            return facts
        for each in broken:
            _repair(each, facts, known)
    return None


def _first(name: str, when: tuple[Comparison, ...], known: Mapping[str, Scalar]) -> Scalar:
    """Return a value to begin with: at the edge of the first comparison with a constant or a limit."""
    for each in when:
        if each.left == name and isinstance(each.right, Scaled) and isinstance(known.get(each.right.field), (int, float)):
            return just(each.operator, float(known[each.right.field]) * each.right.factor, whole=False)
        if each.left == name and not isinstance(each.right, Scaled):
            if each.operator == "==" or isinstance(each.right, bool):
                return each.right if each.operator == "==" else not each.right
            return OTHER_TEXT if isinstance(each.right, str) else just(each.operator, float(each.right), whole=_whole(name, each.right))
    return PLAIN


def _whole(name: str, value: Scalar) -> bool:
    return isinstance(value, int) and not unit_of(name) and abs(value) <= SMALL_COUNT


def _repair(each: Comparison, facts: dict[str, Scalar], known: Mapping[str, Scalar]) -> None:
    """Set the left side so that the comparison narrowly holds; the right side where the left is a limit of the catalog."""
    right = each.right
    if isinstance(right, Scaled):
        other = {**known, **facts}[right.field]
        if isinstance(other, (str, bool)):
            facts[each.left] = other if each.operator == "==" else (not other if isinstance(other, bool) else OTHER_TEXT)
        elif each.left in known:
            turned = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}.get(each.operator, each.operator)
            facts[right.field] = just(turned, float(known[each.left]) / right.factor, whole=False)
        else:
            facts[each.left] = just(each.operator, float(other) * right.factor, whole=False)
    elif isinstance(right, bool):
        facts[each.left] = right is (each.operator == "==")
    elif isinstance(right, str):
        facts[each.left] = right if each.operator == "==" else OTHER_TEXT
    else:
        facts[each.left] = just(each.operator, float(right), whole=_whole(each.left, right))


def _tidy(facts: Mapping[str, Scalar]) -> dict[str, Scalar]:
    """Return facts as they are written: whole numbers without a point."""
    whole = {name for name, value in facts.items() if isinstance(value, float) and value.is_integer() and abs(value) < LARGEST_EXACT}
    return {name: int(value) if name in whole else value for name, value in sorted(facts.items())}


def main() -> None:
    """Write the edges of every stage."""
    catalog = load_catalog()
    for stage in Stage:
        path = FOLDER / f"{stage.value}.toml"
        have = {row["rule"]: row for row in tomllib.loads(path.read_text("utf-8"))["edge"]} if path.exists() else {}
        rows = []
        for rule in all_rules().values():
            if rule.stage is stage:
                row = have.get(rule.id) or edge_of(rule, catalog)
                rows += [row] if row is not None else []
        path.write_text(tomli_w.dumps({"edge": sorted(rows, key=lambda row: row["rule"])}), "utf-8")


if __name__ == "__main__":
    main()
