"""When nothing fits: the smallest sets of answers that cannot hold together, and for each answer the smallest change that helps.

A set is minimal when it cannot hold and would as soon as any one of its answers were given up. All minimal sets are found by taking the
largest set of answers not yet decided: where it holds, so do its parts; where it does not, it is thinned out to a minimal set, and all
larger ones are decided. (Liffiton, Previti, Malik and Marques-Silva: Fast, flexible MUS enumeration, Constraints 21, 2016.) The number
of designs made on the way is bounded, so the same answers give the same sets on every machine.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

from rules.advisor import advise, consider
from rules.answers import AnswerError
from rules.constraints import LIMITS, ORIGIN, OWN_SERVER, POLICY, Constraint, Oracle, constraints, keeping, relaxed, sizes_open
from rules.remedies import at_once, mend, ready
from rules.smallest import OTHER_COST, SmallestChange, cost_between, exception_to, left_open, smallest_change
from rules.whatif import with_changes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from catalogs import Catalog
    from rules.advisor import Considered
    from rules.answers import Answers
    from rules.design import Design

MOST_DESIGNS = 64
"""Designs that are made to find the sets; seven answers take about thirty. Designs of many large candidates count as several."""
MOST_CHANGES = 64
"""Designs that are made to find the smallest changes; four sets take about thirty."""
MOST_WHILE_WRITING = 36
"""The same for each, when a design file is written without being asked about its conflicts."""
MOST_ANSWERS = 14
"""So many answers are told apart; of more, the last ones are always kept, so sets may be larger than need be."""
NEEDS = ("training.tokens", "training.samples", "training.global_batch", "training.sequence_length", "workload.kind")
"""Answers that say what is trained: no part of a set, but a change of one may help."""


@dataclass(frozen=True)
class ConflictSet:
    """Answers that cannot hold together beside what is trained; without any one of them, the others can.

    `changes`: for each answer the smallest change that makes this set hold, the cheapest first; then those of what is trained. Where it
    is the only set, every other answer holds with each of them too. An empty set of answers means that what is trained cannot be had at
    all.
    """

    answers: tuple[Constraint, ...]
    changes: tuple[SmallestChange, ...] = ()

    @property
    def keys(self) -> tuple[str, ...]:
        """Return the keys of the answers."""
        return tuple(each.key for each in self.answers)

    @property
    def sentence(self) -> str:
        """Return the set as a sentence."""
        if not self.answers:
            return "what is trained fits no candidate, even without every answer that limits it"
        shown = [_shown(each) for each in self.answers]
        if len(shown) == 1:
            return f"{shown[0]} cannot hold with what is trained"
        return f"{', '.join(shown[:-1])} and {shown[-1]} cannot hold together"

    def document(self) -> dict[str, Any]:
        """Return the set as the row of a design file."""
        return {
            "answers": list(self.keys),
            "values": [each.value for each in self.answers],
            "assumed": [each.key for each in self.answers if each.assumed],
            "because": self.sentence,
            "change": [each.document() for each in self.changes],
        }


def _shown(each: Constraint) -> str:
    if each.key.startswith(POLICY):
        return f"{each.key} ({each.value})"
    return f"{each.key} = {each.value}" + (" (assumed)" if each.assumed else "")


@dataclass(frozen=True)
class Conflicts:
    """The minimal sets. `complete`: all of them were found. `together`: changes after which every answer holds, one per set."""

    sets: tuple[ConflictSet, ...]
    complete: bool
    together: tuple[SmallestChange, ...] = ()

    def document(self) -> dict[str, Any]:
        """Return the sets as plain data."""
        return {
            "sets": [each.document() for each in self.sets],
            "complete": self.complete,
            "together": [each.document() for each in self.together],
        }


def find_conflicts(
    answers: Answers,
    catalog: Catalog,
    *,
    considered: Considered | None = None,
    changes: bool = True,
    needs: bool = True,
    told: Callable[[Conflicts], None] = lambda _: None,
) -> Conflicts:
    """Return the minimal sets of answers that cannot hold together; none where a design fits. Raises AnswerError.

    `considered` is what was weighed for the answers, where it is at hand. `changes`: look for the smallest changes too, which takes most
    of the time; `needs`: also of what is trained, and for changes after which everything holds. `told` hears what is known so far: the
    sets, and again whenever one has its changes.
    """
    considered = considered if considered is not None else consider(answers, catalog)
    if considered.ranking.good:
        return Conflicts((), True)
    oracle = Oracle(catalog, MOST_DESIGNS if needs else MOST_WHILE_WRITING)
    oracle.knows(answers, False)
    all_ = constraints(answers)
    named = {each.key: each for each in all_}
    free = [each.key for each in all_][:MOST_ANSWERS]
    fixed = [each.key for each in all_][MOST_ANSWERS:]

    held: list[frozenset[str]] = []

    def holds(keys: frozenset[str]) -> bool:
        left = keeping(answers, all_, [*keys, *fixed])
        if oracle.fits(left) or any(oracle.fits(each) for each in sizes_open(answers, left)):
            held.append(keys)
            return True
        return False

    found, complete = minimal_sets(free, holds, lambda: oracle.spent)
    sets = [ConflictSet(tuple(named[key] for key in free if key in each)) for each in found]
    if not changes:
        return Conflicts(tuple(sets), complete and not fixed)
    oracle.allow(MOST_CHANGES if needs else MOST_WHILE_WRITING)
    hints = _hints(considered)
    for number, each in enumerate(sets):
        told(Conflicts(tuple(sets), complete and not fixed))
        whole = [key.key for key in all_] if complete and len(sets) == 1 else [*each.keys, *fixed]
        beside = {key: _beside(key, each, held, fixed) for key in each.keys}
        sets[number] = replace(each, changes=_changes(each, answers, all_, (whole, beside), oracle, hints, needs=needs))
    return Conflicts(tuple(sets), complete and not fixed, _together(sets, answers, oracle) if needs else ())


def minimal_sets(
    keys: Iterable[str], holds: Callable[[frozenset[str]], bool], spent: Callable[[], bool] = lambda: False
) -> tuple[list[frozenset[str]], bool]:
    """Return every minimal set of `keys` that does not hold, smallest first, and whether all were found before `spent`.

    `holds` says whether a set can hold; every part of a set that holds is taken to hold as well.
    """
    names = tuple(keys)
    good: list[frozenset[str]] = []
    bad: list[frozenset[str]] = []

    def asked(each: frozenset[str]) -> bool:
        """Return whether a set holds; what follows from the sets that are known is not asked again."""
        if any(each <= other for other in good):
            return True
        if any(other <= each for other in bad) or not holds(each):
            return False
        good.append(each)
        return True

    while (seed := _undecided(names, good, bad)) is not None:
        if spent():
            return _sorted(bad, names), False
        if not asked(seed):
            bad.append(_thinned(seed, names, asked))
    return _sorted(bad, names), True


def _undecided(names: tuple[str, ...], good: list[frozenset[str]], bad: list[frozenset[str]]) -> frozenset[str] | None:
    """Return the largest set that is no part of one that holds and has no part that does not, None where all are decided."""
    for size in range(len(names), -1, -1):
        for chosen in combinations(names, size):
            each = frozenset(chosen)
            if not any(each <= other for other in good) and not any(other <= each for other in bad):
                return each
    return None


def _thinned(seed: frozenset[str], names: tuple[str, ...], holds: Callable[[frozenset[str]], bool]) -> frozenset[str]:
    """Leave out one answer after the other as long as the rest does not hold."""
    rest = seed
    for name in names:
        if name in rest and not holds(rest - {name}):
            rest = rest - {name}
    return rest


def _sorted(sets: list[frozenset[str]], names: tuple[str, ...]) -> list[frozenset[str]]:
    return sorted(sets, key=lambda each: (len(each), [names.index(name) for name in names if name in each]))


def _changes(
    found: ConflictSet,
    answers: Answers,
    all_: tuple[Constraint, ...],
    kept: tuple[list[str], Mapping[str, list[str]]],
    oracle: Oracle,
    hints: Mapping[str, float],
    *,
    needs: bool,
) -> tuple[SmallestChange, ...]:
    """Return for each answer of the set, and for what is trained, the smallest change that makes the set hold.

    `kept` are the answers that stand beside the change; then by answer those of a larger set, which is asked about where no change
    was found: the servers that make it hold without the answer may come up only there. A limit of which none is found either, or once no
    more may be asked, may be left open: the set holds without it, since it is minimal; so it does with an exception from a policy.
    """
    whole, beside = kept
    alone = keeping(answers, all_, whole)
    rows = []
    for key in (*found.keys, *(key for key in NEEDS if needs and answers.given(key))):
        change = exception_to(key) if key.startswith(POLICY) else _smallest(alone, key, oracle, hints.get(key))
        if change is None and beside.get(key):
            change = _smallest(keeping(answers, all_, beside[key]), key, oracle, hints.get(key))
        if change is None and key in (*LIMITS, *OWN_SERVER) and answers.given(key):
            change = left_open(answers, key)
        if change is not None:
            rows.append(change)
    return tuple(sorted(rows, key=lambda each: (each.key in NEEDS, each.cost, each.key)))


def _beside(key: str, found: ConflictSet, held: Sequence[frozenset[str]], fixed: list[str]) -> list[str]:
    """Return an answer of a set and the largest set seen to hold that has all others of the set, empty where none has more than those."""
    rest = frozenset(found.keys) - {key}
    larger = max((each for each in held if rest < each and key not in each), key=len, default=None)
    return [] if larger is None else [key, *sorted(larger), *fixed]


def _smallest(answers: Answers, key: str, oracle: Oracle, hint: float | None) -> SmallestChange | None:
    if oracle.spent:
        return None
    guess = oracle.least_needed(answers, key)
    return smallest_change(answers, key, oracle.fits, guess=guess, hint=hint, spent=lambda: oracle.spent)


def _hints(considered: Considered) -> dict[str, float]:
    """Return by answer the number that the remedies of the rejected candidates ask for, the nearest where they differ."""
    answers = considered.context.answers
    found: dict[str, float] = {}
    for remedy in (remedy for each in considered.judged for said in each.candidate.conflicts for remedy in ready(said.finding)):
        start = answers.number(remedy.key) if answers.given(remedy.key) else None
        if not start:
            continue
        try:
            wanted = with_changes(answers, {remedy.key: remedy.value}, ORIGIN).number(remedy.key)
        except AnswerError:
            continue
        if wanted and (remedy.key not in found or abs(wanted - start) < abs(found[remedy.key] - start)):
            found[remedy.key] = wanted
    return found


def _together(sets: list[ConflictSet], answers: Answers, oracle: Oracle) -> tuple[SmallestChange, ...]:
    """Return changes after which every answer holds: of each set the cheapest and what remedies add, or remedies alone.

    None of them can be left away.
    """
    if any(not each.changes for each in sets):
        return ()
    chosen: dict[str, SmallestChange] = {}
    for change in (each.changes[0] for each in sets):
        if change.key not in chosen or change.cost > chosen[change.key].cost:
            chosen[change.key] = change
    for start in (tuple(chosen.values()), ()):
        try:
            rows = start if oracle.fits(_changed(answers, start)) else _completed(start, answers, oracle.catalog)
            if rows:
                return _needed(rows, answers, oracle)
        except AnswerError:
            continue
    return ()


def _changed(answers: Answers, rows: Sequence[SmallestChange]) -> Answers:
    """Return answers after changes; a policy among them is set aside."""
    set_aside = [each.key for each in rows if each.key.startswith(POLICY)]
    values = {key: value for each in rows if each.key not in set_aside for key, value in each.changes.items()}
    return with_changes(relaxed(answers, set_aside), values, ORIGIN)


def _completed(rows: Sequence[SmallestChange], answers: Answers, catalog: Catalog) -> tuple[SmallestChange, ...]:
    """Return changes and the remedies of the conflicts that are left with them, together; empty where conflicts are left even so."""
    before = advise(_changed(answers, rows), catalog)
    found = at_once(before, catalog)
    if found is None:
        mended = mend(before.answers, catalog)
        if not mended.after.fits:
            return ()
        remedies, after = [(each.key, each.text) for each in mended.applied], mended.after
    else:
        remedies, after = [(each.key, each.text) for _, each in found.remedies], found.after
    added = {key: _from_start(key, after.answers.text(key), text, answers) for key, text in remedies}
    return tuple(({each.key: each for each in rows} | added).values())


def _from_start(key: str, value: str, text: str, answers: Answers) -> SmallestChange:
    """Return a remedy as a change of the answers as they were given."""
    change = SmallestChange(key, answers.text(key), value, OTHER_COST, text)
    return replace(change, cost=cost_between(answers, key, change))


def _needed(rows: tuple[SmallestChange, ...], answers: Answers, oracle: Oracle) -> tuple[SmallestChange, ...]:
    """Leave away the changes without which every answer holds as well, the costliest first."""
    for each in sorted(rows, key=lambda row: -row.cost):
        rest = tuple(row for row in rows if row is not each)
        if oracle.fits(_changed(answers, rest)):
            rows = rest
    return rows


def with_conflict_sets(design: Design, catalog: Catalog) -> Design:
    """Return the design with its conflict sets, the same design where it fits; made when a design is written, not while one types."""
    if design.fits:
        return design
    return replace(design, conflict_sets=find_conflicts(design.answers, catalog, needs=False).sets)
