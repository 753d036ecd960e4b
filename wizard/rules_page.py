"""The reference page of all rules, in Markdown: what each compares, says, applies, rests on, and who disagrees."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rules.facts import unit_of
from rules.guidance.declare import CANDIDATE, Comparison, Scaled, limit_field
from rules.guidance.statements import STATEMENTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from catalogs import Catalog
    from catalogs.schema import Threshold
    from rules.guidance.declare import Rule

HEAD = """# The rules

Every judgement of cluster-wizard, as it is declared. A rule speaks when all of its conditions hold over the facts of its stage; what it
says is a decision, a reason to reject, a warning, an assumption or a question. Its strength says how binding it is: *hard* is physics or a
limit, *strong* is strong evidence, *advice* is advice. Thresholds come from the catalog, each with its source; where another source
disagrees, it is named. A number that no source prints is marked as the project's own judgement.
`cluster-wizard rules list --markdown` writes this page.
"""
_SIGNS = {"<=": "≤", ">=": "≥", "==": "=", "!=": "≠"}
_TITLES = {
    "vram": "GPU memory and rates",
    "interconnect": "Links among the GPUs of a node",
    "fabric": "The network between nodes",
    "software": "Software",
    "storage_cpu": "Storage and processors",
    "power": "Power, cooling and racks",
    "reliability": "Failures",
    "money": "Money and purchase",
}


def rules_page(rules: Iterable[Rule], catalog: Catalog) -> str:
    """Return the page; the same rules and catalog give the same text."""
    listed = list(rules)
    parts = [HEAD]
    for stage in dict.fromkeys(rule.stage for rule in listed):
        of_stage = [rule for rule in listed if rule.stage is stage]
        parts.append(f"## {_TITLES[stage.value]}\n\n`{stage.value}`, {len(of_stage)} rules.\n")
        parts += ["\n".join(_rule(rule, catalog)) + "\n" for rule in of_stage]
    return "\n".join(parts)


def _rule(rule: Rule, catalog: Catalog) -> Iterator[str]:
    yield f"### `{rule.id}`"
    yield ""
    yield f"{rule.kind.value.capitalize()}, {rule.strength.value}. {_escaped(rule.because)}"
    yield ""
    after = f" after `{rule.premise}` was concluded," if rule.premise != CANDIDATE else ""
    limits = _limits(rule, catalog)
    yield f"- when{after} " + (" and ".join(_condition(each, limits) for each in rule.when) or "always")
    if rule.decides:
        yield f"- decides {rule.decides[0].replace('_', ' ')}: {_escaped(rule.decides[1])}"
    if rule.writes:
        yield f"- concludes {', '.join(f'`{flag}`' for flag in rule.writes)}"
    for fix in rule.fix:
        yield f"- remedy: `{fix.key}`{f' = {_escaped(fix.value)}' if fix.value else ''}: {_escaped(fix.text)}"
    if rule.ask:
        yield f"- asks the {rule.ask.to}: {_escaped(rule.ask.ask)} A good answer: {_escaped(rule.ask.good_answer)}"
    for id_ in rule.guidance:
        yield f"- guidance {id_}: {STATEMENTS[id_]}"
    for id_ in rule.thresholds:
        yield from _threshold(catalog.thresholds[id_], catalog)
    for source in rule.sources:
        yield f"- source: {_source(source, catalog)}"
    if rule.judgement:
        yield f"- own judgement: {_escaped(rule.judgement)}"


def _limits(rule: Rule, catalog: Catalog) -> Mapping[str, Any]:
    """Return the numbers of a rule's thresholds by the fields that conditions name them by."""
    found: dict[str, Any] = {}
    for id_ in rule.thresholds:
        record = catalog.thresholds[id_]
        found |= {limit_field(id_, name): value for name, value in record.values.items()}
        if record.value is not None:
            found[limit_field(id_)] = record.value
    return found


def _condition(each: Comparison, limits: Mapping[str, Any]) -> str:
    """Return a comparison with the number of its threshold: "`rack_air_kw` > 30 kW"."""
    left, sign, right = f"`{each.left}`", _SIGNS.get(each.operator, each.operator), each.right
    if isinstance(right, bool):
        return f"{'' if right is (each.operator == '==') else 'not '}{left}"
    if isinstance(right, Scaled):
        limit = limits.get(right.field)
        if isinstance(limit, (int, float)) and not isinstance(limit, bool):
            return f"{left} {sign} {_number(limit * right.factor, each.left)}"
        return f"{left} {sign} `{right.field}`" + (f" × {right.factor:g}" if right.factor != 1.0 else "")
    return f"{left} {sign} {right if isinstance(right, str) else _number(right, each.left)}"


def _number(value: float, name: str) -> str:
    unit = unit_of(name)
    return f"{value:g} {unit}" if unit else f"{value:g}"


def _threshold(record: Threshold, catalog: Catalog) -> Iterator[str]:
    value = f" ({record.value:g} {record.unit})".replace(" )", ")") if isinstance(record.value, (int, float)) else ""
    yield f"- threshold {record.id}: {_escaped(record.condition)}: {_escaped(record.conclusion)}{value}; {_source(record.source, catalog)}"
    others = [*record.dissents_from, *(each.id for each in catalog.thresholds if record.id in each.dissents_from)]
    for id_ in dict.fromkeys(others):
        other = catalog.thresholds.get(id_)
        if other is not None:
            yield f"  - dissent, {other.id}: {_escaped(other.condition)}: {_escaped(other.conclusion)}; {_source(other.source, catalog)}"


def _source(id_: str, catalog: Catalog) -> str:
    source = catalog.sources.get(id_)
    if source is None:
        return id_
    dated = f", {source.date}" if source.date else ""
    return f"[{_escaped(source.title)}]({source.url}){dated}" if getattr(source, "url", "") else f"{_escaped(source.title)}{dated}"


def _escaped(text: str) -> str:
    """Return text in which Markdown sees no marks: fields in braces stay readable, stars and bars are plain."""
    return text.replace("|", "\\|").replace("*", "\\*").replace("<", "&lt;")
