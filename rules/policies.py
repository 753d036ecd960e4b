"""Policies: a site's own rules, as data in the form of the declared rules, run on the same engine.

    [[policy]]
    id = "no-roce"
    stage = "fabric"
    when = [{ field = "technology", is = "==", value = "ethernet" }]
    severity = "reject"
    message = "This site runs no RoCE; the fabric would be {technology_name}."
    fix = [{ key = "preferences.fabric", value = "infiniband", text = "ask for InfiniBand" }]

All comparisons of `when` hold for a policy to speak. A value is text, a number, true or false, a quantity with its unit ("40 kW"), or
another field, times a factor: `{ field = "total_power_limit_kw", times = 0.85 }`. No code is ever read from a policy.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from catalogs.quantities import QuantityError, magnitude
from rules.facts import unit_of
from rules.findings import Kind, Stage, Strength
from rules.guidance.declare import OPERATORS, Comparison, Fix, Rule, RuleError, Scaled

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rules.findings import Scalar

PREFIX = "policy."
"""What stands between the stage and the id of a policy in the id of its rule: fabric.policy.no-roce."""
MOST_POLICIES = 40
"""Policies of one design: a ruleset of the engine holds as many rules."""
MOST_COMPARISONS = 12
EXACT_DIGITS = 12
"""Significant digits of a number in the unit of its field: 10,200 W are 10.2 kW, not a rounding error more."""
LONGEST = 500
SEVERITIES: dict[str, tuple[Kind, Strength]] = {
    "reject": (Kind.REJECT, Strength.HARD),
    "warning": (Kind.WARNING, Strength.STRONG),
    "advice": (Kind.WARNING, Strength.ADVICE),
}
"""What a policy does where it holds: candidates are rejected, or the design carries a warning."""
PRIORITY = 900
"""Policies speak after the rules of their stage."""
SOURCE = "policy of the site"
_KEYS = ("id", "stage", "when", "severity", "message", "fix")
_WHEN_KEYS = ("field", "is", "value")
_VALUE_KEYS = ("field", "times")
_FIX_KEYS = ("key", "value", "text")
_ID = re.compile(r"[a-z0-9][a-z0-9_-]{0,59}")
_UNITS = {"°C": "degC"}


class PolicyError(ValueError):
    """A policy that cannot be used: which one, which key, what was expected."""

    def __init__(self, policy: str, message: str) -> None:
        super().__init__(f"policy {policy}: {message}")
        self.policy, self.message = policy, message


@dataclass(frozen=True)
class Policy:
    """One policy: the row as it was written, and the rule that it is."""

    id: str
    row: Mapping[str, Any]
    rule: Rule

    @property
    def stage(self) -> Stage:
        """Return the stage whose fact it reads."""
        return self.rule.stage


def parse_policies(rows: object) -> tuple[Policy, ...]:
    """Return the policies of `[[policy]]` rows; raises PolicyError for the first that is wrong."""
    if not isinstance(rows, (list, tuple)) or not all(isinstance(row, dict) for row in rows):
        raise PolicyError("?", "expected [[policy]] tables")
    if len(rows) > MOST_POLICIES:
        raise PolicyError("?", f"{len(rows)} policies; at most {MOST_POLICIES} can be used")
    made: dict[str, Policy] = {}
    for row in rows:
        policy = parse_policy(row)
        if policy.id in made:
            raise PolicyError(policy.id, "two policies have this id; rename one")
        made[policy.id] = policy
    return tuple(made.values())


def parse_policy(row: Mapping[str, Any]) -> Policy:
    """Return one policy; raises PolicyError."""
    name = row.get("id")
    if not isinstance(name, str) or not _ID.fullmatch(name):
        raise PolicyError(str(name)[:60], "id: expected a short name in lower case with digits and dashes, such as no-roce")
    _only(row, _KEYS, name, "")
    severity = row.get("severity")
    if severity not in SEVERITIES:
        raise PolicyError(name, f"severity: expected one of {', '.join(SEVERITIES)}, got {severity!r}")
    kind, strength = SEVERITIES[severity]
    stage = _stage(row, name)
    when = tuple(_comparison(each, name, stage) for each in _rows(row, "when", name))
    if not when or len(when) > MOST_COMPARISONS:
        raise PolicyError(name, f"when: expected from 1 to {MOST_COMPARISONS} comparisons")
    _check_can_hold(when, name)
    rule = Rule(
        id=f"{stage.value}.{PREFIX}{name}",
        stage=stage,
        kind=kind,
        strength=strength,
        when=when,
        guidance=(),
        because=_text(row, "message", name),
        fix=tuple(_fix(each, name) for each in _rows(row, "fix", name)),
        priority=PRIORITY,
        sources=(SOURCE,),
    )
    _check_templates(rule, name)
    return Policy(name, dict(row), rule)


def _only(row: Mapping[str, Any], keys: Sequence[str], policy: str, where: str) -> None:
    for key in row:
        if key not in keys:
            raise PolicyError(policy, f"{where}{str(key)[:60]}: no such key{_nearest(str(key), keys)}; known are {', '.join(keys)}")


def _nearest(name: str, names: Iterable[str]) -> str:
    near = difflib.get_close_matches(name, list(names), n=1, cutoff=0.5)
    return f"; did you mean {near[0]!r}?" if near else ""


def _rows(row: Mapping[str, Any], key: str, policy: str) -> list[Mapping[str, Any]]:
    rows = row.get(key, [])
    if not isinstance(rows, list) or not all(isinstance(each, dict) for each in rows):
        raise PolicyError(policy, f"{key}: expected a list of tables in braces")
    return rows


def _text(row: Mapping[str, Any], key: str, policy: str, where: str = "") -> str:
    text = row.get(key)
    if not isinstance(text, str) or not text.strip() or len(text) > LONGEST or not text.isprintable():
        raise PolicyError(policy, f"{where}{key}: expected one line of text of up to {LONGEST} characters")
    return text


def _stage(row: Mapping[str, Any], policy: str) -> Stage:
    """Return the stage that is named, or the only one that states the fields that the policy compares."""
    named = row.get("stage")
    if named is not None:
        if named not in set(Stage):
            raise PolicyError(policy, f"stage: expected one of {', '.join(Stage)}, got {named!r}{_nearest(str(named), Stage)}")
        return Stage(named)
    fields = [str(each.get("field")) for each in _rows(row, "when", policy)]
    if not fields:
        raise PolicyError(policy, "when: expected at least one comparison, such as { field = 'node_power_kw', is = '>', value = '8 kW' }")
    stages = [stage for stage in Stage if fields and all(name in _fields(stage) for name in fields)]
    if len(stages) == 1:
        return stages[0]
    if stages:
        raise PolicyError(policy, f"stage: several state {', '.join(fields)}; name one of {', '.join(stages)}")
    everything = {name for stage in Stage for name in _fields(stage)}
    unknown = next((name for name in fields if name not in everything), "")
    if unknown:
        raise PolicyError(policy, f"when: no stage states a field {unknown!r}{_nearest(unknown, everything)}")
    raise PolicyError(policy, f"when: no one stage states all of {', '.join(fields)}; split it into several policies")


def _fields(stage: Stage) -> dict[str, str]:
    """Return the fields that a stage states, with their meaning."""
    from rules.stages import stage_module

    return {each.name: each.meaning for each in stage_module(stage).FACTS}


def _field(name: object, policy: str, stage: Stage) -> str:
    known = _fields(stage)
    if not isinstance(name, str) or name not in known:
        raise PolicyError(policy, f"when: stage {stage} states no field {str(name)[:60]!r}{_nearest(str(name), known)}")
    return name


def _comparison(row: Mapping[str, Any], policy: str, stage: Stage) -> Comparison:
    _only(row, _WHEN_KEYS, policy, "when: ")
    field, sign = _field(row.get("field"), policy, stage), row.get("is", "==")
    if sign not in OPERATORS:
        raise PolicyError(policy, f"when: is: expected one of {' '.join(OPERATORS)}, got {str(sign)[:20]!r}")
    if "value" not in row:
        raise PolicyError(policy, f"when: {field}: a value is missing")
    value = row["value"]
    if isinstance(value, dict):
        _only(value, _VALUE_KEYS, policy, "when: value: ")
        times = value.get("times", 1.0)
        if isinstance(times, bool) or not isinstance(times, (int, float)) or not 0 < abs(times) < 1e12:
            raise PolicyError(policy, f"when: {field}: times: expected a number, got {str(times)[:20]!r}")
        if value.get("field") == field:
            raise PolicyError(policy, f"when: {field}: is compared with itself; name another field, or a number")
        return Comparison(field, sign, Scaled(_field(value.get("field"), policy, stage), float(times)))
    constant = _constant(value, field, policy)
    if sign not in ("==", "!=") and isinstance(constant, (str, bool)):
        raise PolicyError(policy, f"when: {field} {sign}: expected a number, got {str(value)[:40]!r}")
    return Comparison(field, sign, constant)


def _constant(value: object, field: str, policy: str) -> Scalar:
    """Return a constant in the unit of its field: "40 kW" for rack_power_w is 40000."""
    unit = unit_of(field)
    if isinstance(value, bool) or (isinstance(value, str) and not unit):
        if isinstance(value, str) and (not value or len(value) > LONGEST):
            raise PolicyError(policy, f"when: {field}: expected a text of up to {LONGEST} characters")
        return value
    if isinstance(value, str):
        try:
            number = float(value.rstrip("% ")) if unit == "%" else magnitude(value, _UNITS.get(unit, unit))
            return float(f"{number:.{EXACT_DIGITS}g}")
        except (QuantityError, ValueError) as error:
            raise PolicyError(policy, f"when: {field}: expected a quantity in {unit}, got {value[:40]!r} ({error})") from None
    if isinstance(value, (int, float)) and abs(value) < 1e15:
        return value
    raise PolicyError(policy, f"when: {field}: expected a text, a number, true or false, got {str(value)[:40]!r}")


def _fix(row: Mapping[str, Any], policy: str) -> Fix:
    from rules.answers import AnswerError, field_of, parse_answer

    _only(row, _FIX_KEYS, policy, "fix: ")
    key, value = _text(row, "key", policy, "fix: "), row.get("value", "")
    try:
        field_of(key)
        if not isinstance(value, str):
            raise AnswerError(key, f"expected a value in quotes, got {str(value)[:40]!r}")
        if value and "{" not in value:
            parse_answer(key, value)
    except AnswerError as error:
        raise PolicyError(policy, f"fix: {error}") from None
    return Fix(key, _text(row, "text", policy, "fix: "), value)


def _check_can_hold(when: tuple[Comparison, ...], policy: str) -> None:
    """Raise PolicyError where comparisons exclude each other, so that the policy would never speak."""
    from rules.guidance.logic import satisfiable

    if not satisfiable(when):
        raise PolicyError(policy, "when: its comparisons exclude each other, so it would never speak; change one, or make two policies")


def _check_templates(rule: Rule, policy: str) -> None:
    """Raise PolicyError where a text names a field in braces that the stage does not state."""
    from rules.render import template_fields

    try:
        printed = template_fields(rule)
    except RuleError as error:
        raise PolicyError(policy, error.message) from None
    known = _fields(rule.stage)
    for name in printed:
        if name not in known:
            raise PolicyError(policy, f"message: stage {rule.stage} states no field {name!r}{_nearest(name, known)}")


def merged(*sets: Iterable[Policy]) -> tuple[Policy, ...]:
    """Return all policies; of two with the same id the one that comes later."""
    return tuple({policy.id: policy for some in sets for policy in some}.values())


def policies_hash(policies: Iterable[Policy]) -> str:
    """Return a hash of what the policies say, whatever their order."""
    rows = sorted(json.dumps(policy.row, sort_keys=True, ensure_ascii=True) for policy in policies)
    return hashlib.sha256("\n".join(rows).encode()).hexdigest()[:16]
