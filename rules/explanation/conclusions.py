"""From a finding down: the rule that made it, its guidance and thresholds, the flags it builds on, its conditions with the numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalogs.quantities import format_number
from rules.counting import counted
from rules.explanation.leaves import answer_step, threshold_step
from rules.explanation.numbers import Chain, words
from rules.explanation.steps import Step, StepKind
from rules.facts import show
from rules.findings import Finding, Kind, Scalar
from rules.guidance.declare import CANDIDATE, Comparison, Rule, Scaled, limit_field
from rules.guidance.statements import STATEMENTS
from rules.render import template_fields

if TYPE_CHECKING:
    from collections.abc import Iterator

    from catalogs.schema import Threshold
    from rules.explanation.ground import Ground
    from rules.findings import Stage

_SIGNS = {"<=": "≤", ">=": "≥", "==": "=", "!=": "≠"}
LIMIT = "limit_"


class Conclusions(Chain):
    """A chain that starts at findings and rules."""

    def __init__(self, ground: Ground) -> None:
        super().__init__(ground)
        self._limits = {limit_field(id_, key): (id_, key) for id_, key in _numbers_of(ground)}

    def finding(self, found: Finding) -> Step:
        """Return a finding with the rule that made it and what would remove it."""
        name = found.decision or found.rule
        details = {"kind": found.kind.value, "strength": found.strength.value}
        details |= {"ask": found.ask, "to": found.to, "good answer": found.good_answer} if found.ask else {}
        if not self.first_time(StepKind.FINDING, f"{found.rule} {name}"):
            return Step(StepKind.FINDING, name, found.because, found.value, repeated=True)
        remedies = [Step(StepKind.REMEDY, each.key, each.text, each.value) for each in found.remedies]
        rule = self.ground.rules.get(found.rule)
        steps = [self.rule(rule, found)] if rule is not None else []
        return Step(StepKind.FINDING, name, found.because, found.value, details, (*steps, *remedies))

    def rule(self, rule: Rule, found: Finding | None) -> Step:
        """Return a rule with everything that it applies and compares; without a finding, why it did not fire."""
        order = self._order(rule)
        details = {"kind": rule.kind.value, "strength": rule.strength.value, "stage": rule.stage.value}
        details["fired"] = order if found is not None else "no"
        if not self.first_time(StepKind.RULE, rule.id):
            return Step(StepKind.RULE, rule.id, details=details, repeated=True)
        steps = [
            *(Step(StepKind.GUIDANCE, id_, STATEMENTS[id_]) for id_ in rule.guidance),
            *self._thresholds(rule),
            *self._premise(rule),
            *(self.condition(each, rule) for each in rule.when),
        ]
        if found is not None:
            steps += self._printed(rule)
        return Step(StepKind.RULE, rule.id, details=details, steps=tuple(steps))

    def _order(self, rule: Rule) -> str:
        """Return when the rule fired within its stage, as "3 of 12"."""
        fired = [each.rule for each in self.ground.findings(rule.stage)]
        return f"{fired.index(rule.id) + 1} of {len(fired)}" if rule.id in fired else ""

    def _thresholds(self, rule: Rule) -> Iterator[Step]:
        """Yield the thresholds that the rule applies but no condition compares; those come with their condition."""
        compared = {self._limits[name][0] for name in rule.reads if name in self._limits}
        for id_ in rule.thresholds:
            record: Threshold | None = self.context.catalog.thresholds.get(id_)
            if record is not None and id_ not in compared:
                yield threshold_step(record, self.context.catalog)

    def _premise(self, rule: Rule) -> Iterator[Step]:
        if rule.premise != CANDIDATE:
            yield self.flag(rule.premise, rule.stage)

    def flag(self, name: str, stage: Stage | None = None) -> Step:
        """Return a flag with the rule that set it, explained in its turn; where none did, the rules that would have.

        `stage` limits the rules to those of one stage, for a premise, which is a flag of the same stage.
        """
        writers = [rule for rule in self.ground.writers(name) if stage is None or rule.stage is stage]
        fired = [(rule, found) for rule in writers if (found := self.ground.fired(rule.id)) is not None]
        if not self.first_time(StepKind.FLAG, name):
            return Step(StepKind.FLAG, name, value="set" if fired else "not set", repeated=True)
        if fired:
            return Step(
                StepKind.FLAG, name, "set by a rule that fired before", "set", steps=tuple(self.finding(found) for _, found in fired)
            )
        steps = [Step(StepKind.RULE, rule.id, self._missing(rule), details={"fired": "no"}) for rule in writers]
        return Step(StepKind.FLAG, name, "no rule set it", "not set", steps=tuple(steps))

    def _missing(self, rule: Rule) -> str:
        """Return the first condition of a rule that did not fire which does not hold."""
        fact = self.ground.facts(rule.stage)
        failed = next((each for each in rule.when if not each.holds(fact)), None)
        if failed is not None:
            return f"would set it, but {self.sentence(failed, rule)} does not hold"
        return f"would set it, but builds on {rule.premise}, which is not set" if rule.premise != CANDIDATE else "would set it"

    # -------------------------------------------------------------------------------------------------------- conditions

    def condition(self, comparison: Comparison, rule: Rule) -> Step:
        """Return a comparison with the numbers filled in, and the facts that it compares."""
        holds = comparison.holds(self.ground.facts(rule.stage))
        steps = [self._compared(name, rule.stage) for name in comparison.reads]
        right = comparison.right
        written = f"{comparison.left} {comparison.operator} " + (
            (right.field if right.factor == 1.0 else f"{right.field} * {right.factor:g}")
            if isinstance(right, Scaled)
            else str(right).lower()
        )
        details = {"holds": "yes" if holds else "no"}
        return Step(StepKind.CONDITION, written, self.sentence(comparison, rule), details=details, steps=tuple(steps))

    def sentence(self, comparison: Comparison, rule: Rule) -> str:
        """Return a comparison in words: "memory needed low 88 GiB > memory capacity 79.65 GiB"."""
        stage, right = rule.stage, comparison.right
        left = self._said(comparison.left, stage)
        sign = _SIGNS.get(comparison.operator, comparison.operator)
        if isinstance(right, bool):
            wanted = right is (comparison.operator == "==")
            return f"{left}" + ("" if self._raw(comparison.left, stage) is wanted else f", {'yes' if wanted else 'no'} is needed")
        if isinstance(right, Scaled):
            other = self._said(right.field, stage, like=comparison.left)
            if right.factor == 1.0:
                return f"{left} {sign} {other}"
            raw = self._raw(right.field, stage)
            product = "" if not isinstance(raw, (int, float)) else f" = {show(comparison.left, float(raw) * right.factor)}"
            return f"{left} {sign} {format_number(right.factor)} × {other}{product}"
        shown = show(comparison.left, right) if not isinstance(right, str) else repr(right)
        return f"{left} {sign} {shown}"

    def _raw(self, name: str, stage: Stage) -> Scalar | None:
        return self.ground.facts(stage).get(name)

    def _said(self, name: str, stage: Stage, like: str = "") -> str:
        """Return a field as words with its value; a threshold's is in the unit of `like`, the field that it is compared with."""
        raw = self._raw(name, stage)
        value = "unknown" if raw is None else show(like if like and name in self._limits else name, raw)
        if name in self._limits:
            id_, key = self._limits[name]
            return f"{value} ({'.'.join(part for part in (id_, key) if part)})"
        if isinstance(raw, str):
            value = repr(raw)
        return f"{words(name)} {value}" if not isinstance(raw, bool) else f"{words(name)}: {value}"

    def _compared(self, name: str, stage: Stage) -> Step:
        """Return what a field of the wide fact is: a threshold, a flag of an earlier stage, or a fact."""
        if name in self._limits:
            id_, key = self._limits[name]
            return threshold_step(self.context.catalog.thresholds[id_], self.context.catalog, f"values.{key}" if key else "")
        if self.ground.is_flag(stage, name):
            return self.flag(name)
        return self.fact(stage, name)

    def _printed(self, rule: Rule) -> list[Step]:
        """Return the facts that the rule's sentences print and its conditions do not compare."""
        names = [name for name in template_fields(rule) if name not in rule.reads]
        return [self._compared(name, rule.stage) for name in names]

    # ----------------------------------------------------------------------------------------------- the choice, no rule's

    def choice(self, found: Finding) -> Step:
        """Return why the chosen candidate is the first: the objective, and the figures of the first ones in rank order."""
        ranking = self.ground.ranking
        ranked = ranking.good or ranking.bad
        steps = [answer_step("budget.objective", self.context), self.result("choice.name")]
        for number, each in enumerate(ranked[:SHOWN_CANDIDATES], start=1):
            figures = ", ".join(
                f"{words(name)} {show(name, value)}" for name, value in each.figures.shown().items() if isinstance(value, (int, float))
            )
            text = "its price is unknown; ranked apart" if each.apart else ""
            conflicts = len(each.candidate.conflicts)
            text = counted(conflicts, "conflict") if conflicts else text
            shown = f"{each.candidate.units:,} × {each.candidate.node.name}"
            steps.append(Step(StepKind.CANDIDATE, f"{number}. {shown}", text, figures))
        details = {"kind": found.kind.value, "strength": found.strength.value}
        guidance = [Step(StepKind.GUIDANCE, id_, STATEMENTS[id_]) for id_ in found.guidance]
        return Step(StepKind.FINDING, found.decision or found.rule, found.because, found.value, details, (*guidance, *steps))

    def nothing_allowed(self, found: Finding) -> Step:
        """Return why the answers allow no node type at all: what each was rejected for, by answer."""
        steps = [Step(StepKind.GUIDANCE, id_, STATEMENTS[id_]) for id_ in found.guidance]
        by_reason: dict[tuple[str, str], list[str]] = {}
        for row in self.ground.design.rejected:
            by_reason.setdefault((row.rule, row.because), []).append(row.name)
        for (rule, because), names in list(by_reason.items())[:SHOWN_REASONS]:
            below = (answer_step(rule, self.context),) if row_is_answer(rule) else ()
            more = f" and {len(names) - 3} more" if len(names) > 3 else ""
            steps.append(Step(StepKind.CANDIDATE, ", ".join(names[:3]) + more, because, steps=below))
        return Step(
            StepKind.FINDING,
            found.rule,
            found.because,
            details={"kind": Kind.REJECT.value, "strength": found.strength.value},
            steps=tuple(steps),
        )


SHOWN_CANDIDATES = 4
SHOWN_REASONS = 12


def row_is_answer(rule: str) -> bool:
    """Return whether the reason of a rejection is an answer's key and not a rule's id."""
    from rules.answer_fields import FIELDS

    return any(each.key == rule for each in FIELDS)


def _numbers_of(ground: Ground) -> list[tuple[str, str]]:
    """Return (threshold, named value or "") for every number of the thresholds that rules apply."""
    ids = dict.fromkeys(id_ for rule in ground.rules.values() for id_ in rule.thresholds)
    records = [(id_, record) for id_ in ids if (record := ground.context.catalog.thresholds.get(id_)) is not None]
    return [(id_, key) for id_, record in records for key in ("", *record.values)]
