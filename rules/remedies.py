"""Remedies: a finding says as data which answer to change; here the change is made, the design derived again, and both compared.

    mended = mend(answers, catalog)                            # every conflict, one after the other
    mended = mend(answers, catalog, "money.budget_exceeded")   # one finding
    mended.after.answers                                       # keep it;  mended.before.answers undoes it

A remedy is kept only where its finding is gone and nothing as bad has come instead; asked with `trade`, it is kept even then.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rules.advisor import advise
from rules.answers import AnswerError
from rules.comparison.compare import Comparison, compare_designs
from rules.findings import Kind, Strength
from rules.whatif import with_changes

if TYPE_CHECKING:
    from collections.abc import Iterable

    from catalogs import Catalog
    from rules.answers import Answers
    from rules.design import Design
    from rules.findings import Finding, Remedy

ORIGIN = "fix"
"""What provenance says of an answer that a remedy changed."""
MOST_ROUNDS = 4
"""How often one finding is followed: a larger budget may buy another candidate, which asks for a little more again."""
MOST_STEPS = 24
"""Remedies that are applied in all; a design has a handful of conflicts."""
MOST_DESIGNS = 96
"""Designs that are made in all; a handful of conflicts take about twenty."""
WHAT_IS_TRAINED = ("workload.", "model.")
"""Answers that say what is trained. No remedy changes them unless its finding is named: the design would be that of another wish."""
_WEIGHT = {Strength.HARD: 2, Strength.STRONG: 1, Strength.ADVICE: 0}


@dataclass(frozen=True)
class Applied:
    """A remedy that was kept: for which finding (a rule's id), which answer it changed, and what was gone and new then."""

    finding: str
    key: str
    before: str
    after: str
    text: str
    gone: tuple[str, ...]
    new: tuple[str, ...]


@dataclass(frozen=True)
class Left:
    """A finding that stands: why none of its remedies was kept, and those that are left to the person."""

    finding: str
    because: str
    why: str
    choices: tuple[Remedy, ...]


@dataclass(frozen=True)
class Mended:
    """A design before and after remedies. `after` is `before` where none was kept."""

    before: Design
    after: Design
    applied: tuple[Applied, ...]
    left: tuple[Left, ...]
    comparison: Comparison

    def document(self) -> dict[str, Any]:
        """Return the outcome as plain data."""
        return {
            "applied": [{**vars(each), "gone": list(each.gone), "new": list(each.new)} for each in self.applied],
            "left": [{**vars(each), "choices": [dict(vars(choice)) for choice in each.choices]} for each in self.left],
            "comparison": self.comparison.document(),
        }


class NoSuchFindingError(ValueError):
    """No finding of the design has that name; `known` are those that have remedies."""

    def __init__(self, name: str, known: tuple[str, ...]) -> None:
        told = f"those with a remedy are {', '.join(known)}" if known else "this design has no finding with a remedy"
        super().__init__(f"this design has no finding {name!r}; {told}")
        self.name, self.known = name, known


def mendable(design: Design) -> tuple[Finding, ...]:
    """Return the conflicts, then the warnings, that carry a remedy with a value."""
    found = (*design.conflicts, *design.of_kind(Kind.WARNING))
    return tuple(each for each in found if ready(each))


def ready(finding: Finding) -> tuple[Remedy, ...]:
    """Return the remedies that can be applied as they are; those without a value leave the choice to the person."""
    return tuple(each for each in finding.remedies if each.value)


def apply(answers: Answers, remedy: Remedy) -> Answers:
    """Return the answers with a remedy applied; raises AnswerError where its value is no valid answer."""
    return with_changes(answers, {remedy.key: remedy.value}, ORIGIN)


def mend(
    answers: Answers, catalog: Catalog, finding: str | None = None, *, warnings: bool = False, trade: bool = False, key: str = ""
) -> Mended:
    """Apply the remedies of one finding, or of every conflict, and return the design before and after.

    Parameters
    ----------
    answers, catalog
        As for `rules.advisor.advise`.
    finding
        The id of a rule whose finding shall go; None for every conflict.
    warnings
        Without `finding`: the warnings too.
    trade
        Keep a remedy even where it brings a conflict that is as bad.
    key
        Only remedies that change this answer, "" for any.

    Raises
    ------
    NoSuchFindingError
        Where the design has no such finding.
    """
    before = advise(answers, catalog)
    mender = _Mender(catalog, before, trade=trade, key=key)
    if finding is not None:
        if finding not in {each.rule for each in before.findings}:
            raise NoSuchFindingError(finding, tuple(each.rule for each in mendable(before)))
        mender.follow(next(each for each in before.findings if each.rule == finding))
    else:
        mender.all(warnings=warnings)
    after = mender.design
    return Mended(before, after, tuple(mender.applied), mender.left(), compare_designs(before.document(), after.document()))


@dataclass(frozen=True)
class AtOnce:
    """Remedies, each with the rule whose finding it is for, and the design after all of them, which has no conflict."""

    remedies: tuple[tuple[str, Remedy], ...]
    after: Design


def at_once(design: Design, catalog: Catalog) -> AtOnce | None:
    """Apply the first remedies of all conflicts at once, and those of what comes then; None where conflicts are left in the end."""
    changed: dict[str, tuple[str, Remedy]] = {}
    trial = design
    for _ in range(MOST_ROUNDS):
        offered = [(each.rule, [one for one in ready(each) if not one.key.startswith(WHAT_IS_TRAINED)]) for each in trial.conflicts]
        remedies = [(rule, ones[0]) for rule, ones in offered if ones]
        if len(remedies) < len(trial.conflicts) or not remedies:
            return None
        changed |= {remedy.key: (rule, remedy) for rule, remedy in remedies}
        try:
            trial = advise(with_changes(trial.answers, {remedy.key: remedy.value for _, remedy in remedies}, ORIGIN), catalog)
        except AnswerError:
            return None
        if trial.fits:
            return AtOnce(tuple(changed.values()), trial)
    return None


class _Mender:
    """The design as it stands while remedies are applied; every kept remedy makes it strictly better, so this ends."""

    def __init__(self, catalog: Catalog, design: Design, *, trade: bool, key: str) -> None:
        self.catalog, self.design, self.trade, self.key = catalog, design, trade, key
        self.applied: list[Applied] = []
        self.refused: dict[str, str] = {}
        self.made = 1

    @property
    def spent(self) -> bool:
        """Return whether another remedy, and all together at the end, might take more designs than may be made."""
        return self.made + 2 * MOST_ROUNDS + 1 > MOST_DESIGNS

    def all(self, *, warnings: bool) -> None:
        """Follow every conflict, the hardest first, then the warnings where asked; what comes up meanwhile is followed as well."""
        while len(self.applied) < MOST_STEPS and not self.spent:
            waiting = [each for each in self._standing(warnings=warnings) if each.rule not in self.refused]
            if not waiting:
                break
            if self.follow(waiting[0], asked=False):
                self.refused.clear()
        if self.design.conflicts:
            self._together()

    def _standing(self, *, warnings: bool) -> list[Finding]:
        conflicts = sorted(self.design.conflicts, key=lambda each: -_WEIGHT[each.strength])
        return [*conflicts, *(each for each in self.design.of_kind(Kind.WARNING) if warnings and ready(each))]

    def follow(self, finding: Finding, *, asked: bool = True) -> bool:
        """Apply the first remedy of a finding that can be kept; return whether there was one."""
        why = "which change is yours to choose" if finding.remedies else "it has no remedy"
        for remedy in ready(finding):
            if self.key not in ("", remedy.key):
                continue
            if self.spent:
                why = f"{MOST_DESIGNS} designs were made for others; name the finding to have it tried"
                break
            if not asked and remedy.key.startswith(WHAT_IS_TRAINED):
                why = f"{remedy.key} = {remedy.value} would, but trains something else; name the finding to have it so"
                continue
            try:
                trial, last = self._tried(finding.rule, remedy)
            except AnswerError as error:
                why = f"{remedy.key} = {remedy.value} is no valid answer: {error.message}"
                continue
            why = self._objection(finding, trial, last)
            if not why or (self.trade and finding.rule not in _rules(trial)):
                self._keep([(finding.rule, last)], trial)
                return True
        self.refused[finding.rule] = why
        return False

    def _tried(self, rule: str, remedy: Remedy) -> tuple[Design, Remedy]:
        """Apply a remedy, and again as long as the finding comes back with more of the same."""
        design = self._advised(apply(self.design.answers, remedy))
        for _ in range(MOST_ROUNDS):
            again = next((more for each in design.findings if each.rule == rule for more in ready(each) if more.key == remedy.key), None)
            if again is None or again.value == remedy.value:
                break
            remedy = again
            design = self._advised(apply(design.answers, remedy))
        return design, remedy

    def _advised(self, answers: Answers) -> Design:
        self.made += 1
        return advise(answers, self.catalog)

    def _objection(self, finding: Finding, trial: Design, remedy: Remedy) -> str:
        """Return why a trial is not kept, "" where it is."""
        change = f"{remedy.key} = {remedy.value}"
        if finding.rule in _rules(trial):
            return f"with {change} it stands all the same"
        new = [each for each in trial.conflicts if each.rule not in _rules(self.design)]
        limit = _WEIGHT[finding.strength] if finding.kind is Kind.REJECT else 0
        bad = [each for each in new if _WEIGHT[each.strength] >= limit]
        if bad or _standing(trial) > _standing(self.design):
            return f"with {change} comes {', '.join(each.rule for each in bad or new) or 'more than goes'} instead"
        if finding.kind is Kind.WARNING and len(trial.of_kind(Kind.WARNING)) >= len(self.design.of_kind(Kind.WARNING)):
            return f"with {change} come as many other warnings"
        return ""

    def _keep(self, remedies: Iterable[tuple[str, Remedy]], trial: Design) -> None:
        """Take over a design that remedies made, each with the rule whose finding it is for."""
        before, after = _rules(self.design), _rules(trial)
        gone = tuple(dict.fromkeys(each for each in before if each not in after))
        new = tuple(dict.fromkeys(each for each in after if each not in before))
        answers = self.design.answers
        self.applied += [
            Applied(rule, each.key, answers.text(each.key), trial.answers.text(each.key), each.text, gone, new) for rule, each in remedies
        ]
        self.design = trial

    def _together(self) -> None:
        """Apply the remedies of all conflicts at once, where one alone only leads to the next; kept where no conflict is left."""
        found = at_once(self.design, self.catalog)
        if found is not None:
            self._keep(found.remedies, found.after)
            self.refused.clear()

    def left(self) -> tuple[Left, ...]:
        """Return the findings that were followed in vain and the conflicts that stand."""
        rows = {each.rule: each for each in self.design.findings if each.rule in self.refused or each.kind is Kind.REJECT}
        return tuple(
            Left(rule, each.because, self.refused.get(rule, ""), tuple(one for one in each.remedies if not one.value))
            for rule, each in rows.items()
        )


def _rules(design: Design) -> list[str]:
    """Return the ids of the rules whose findings are bad news, conflicts first."""
    return [each.rule for each in (*design.conflicts, *design.of_kind(Kind.WARNING))]


def _standing(design: Design) -> tuple[int, int]:
    """Return how bad a design stands: its conflicts that are hard, and all of them."""
    return sum(each.strength is Strength.HARD for each in design.conflicts), len(design.conflicts)
