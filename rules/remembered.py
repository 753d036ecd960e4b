"""What was worked out before, kept with everything that it was worked out from.

A design is worked out from scratch after every answer, and most of it comes out as before: a limit of power changes no switch. A function
of a candidate and its context that is `remembered` is watched: which answers and which fields of the candidate it reads, and which fields
it writes. Where all that it read is the same again, what it wrote and returned is taken over, which cannot differ. What a remembered
function reads inside another one counts as read by both.

It must read nothing but its arguments and the catalog, and return nothing that reads them later.
"""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, NamedTuple, ParamSpec, TypeVar, cast

from catalogs.schema import Gpu, Node
from rules.answers import Answers
from rules.candidate import Context
from rules.kept import Kept

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rules.answers import Value
    from rules.candidate import Candidate
    from rules.policies import Policy
    from rules.sizing.results import Workload

    Rest = ParamSpec("Rest")
    Result = TypeVar("Result")
    Remembered = Callable[Concatenate[Candidate, Context, Rest], Result]

MOST_CANDIDATES = 128
"""Candidates, by server and number, for which a function's results are kept; a design judges 24."""
MOST_RESULTS = 4
"""Results that are kept of each: before and after racks are planned, and those of a change that is tried and taken back."""
ALL_VALUES, POLICIES, PROVENANCE = "*", "* policies", "* provenance"
"""Names under which it is noted that all answers were read as a whole, and the site's own rules; no key of an answer is called so."""
COMPARED = (str, int, float, tuple, list, dict, set, frozenset, Node, Gpu)
"""What is compared by its contents."""
ABSENT = object()
_WORKLOADS: Kept[Workload] = Kept(64)
_TABLES: list[Kept[tuple[_Entry, ...]]] = []


class _Entry(NamedTuple):
    """One call: what it read, what it wrote and what it returned."""

    context: Context
    answers: Mapping[str, object]
    fields: Mapping[str, object]
    rest: tuple[object, ...]
    written: Mapping[str, object]
    result: object

    def holds(self, candidate: Candidate, context: Context, rest: tuple[object, ...]) -> bool:
        """Return whether a call would read the same."""
        return (
            self.context.catalog is context.catalog
            and self.context.workload is context.workload
            and all(map(_same, self.rest, rest))
            and all(_same(value, _stored(context.answers, key)) for key, value in self.answers.items())
            and all(_same(value, getattr(candidate, name)) for name, value in self.fields.items())
        )


class _WatchedAnswers(Answers):
    """Answers that note which of them are read."""

    plain: Answers
    _of: Answers
    _read: dict[str, object]

    def __init__(self, of: Answers, read: dict[str, object]) -> None:
        for name, value in (("_of", of), ("_read", read), ("plain", of.plain if isinstance(of, _WatchedAnswers) else of)):
            object.__setattr__(self, name, value)

    def note(self, key: str) -> None:
        """Note that the answer `key` is read, here and where these answers were handed on from."""
        if key not in self._read:
            self._read[key] = _of_plain(self.plain, key)
            if isinstance(self._of, _WatchedAnswers):
                self._of.note(key)

    def value(self, key: str) -> Value | None:
        if key not in self._read:
            self.note(key)
        return self.plain.value(key)

    def given(self, key: str) -> bool:
        if key not in self._read:
            self.note(key)
        return self.plain.given(key)

    def _whole(self, what: str) -> Answers:
        self.note(what)
        return self.plain

    @property
    def values(self) -> Mapping[str, Value]:
        return self._whole(ALL_VALUES).values

    @property
    def provenance(self) -> Mapping[str, str]:
        return self._whole(PROVENANCE).provenance

    @property
    def policies(self) -> tuple[Policy, ...]:
        return self._whole(POLICIES).policies

    def with_value(self, key: str, raw: object, origin: str = "you") -> Answers:
        return self._plainly().with_value(key, raw, origin)

    def without(self, key: str) -> Answers:
        return self._plainly().without(key)

    def with_policies(self, policies: Any) -> Answers:
        return self._plainly().with_policies(policies)

    def __eq__(self, other: object) -> bool:
        return self._plainly() == (other._plainly() if isinstance(other, _WatchedAnswers) else other)

    __hash__ = None  # type: ignore[assignment]

    def _plainly(self) -> Answers:
        """Return the answers themselves, to be changed or compared, all of them read."""
        self.note(POLICIES)
        self.note(PROVENANCE)
        return self._whole(ALL_VALUES)


def _of_plain(answers: Answers, key: str) -> object:
    if key == ALL_VALUES:
        return answers.values
    if key == POLICIES:
        return answers.policies
    if key == PROVENANCE:
        return answers.provenance
    return answers.values.get(key, ABSENT)


def _stored(answers: Answers, key: str) -> object:
    """Return what stands under a key, noting that it was read where these answers are watched themselves."""
    if isinstance(answers, _WatchedAnswers):
        answers.note(key)
        answers = answers.plain
    return _of_plain(answers, key)


class _WatchedCandidate:
    """A candidate that notes which of its fields are read before they are written, and which are written."""

    __slots__ = ("_of", "_plain", "_read", "_written")
    _of: Any
    _plain: Any
    _read: dict[str, object]
    _written: dict[str, object]

    def __init__(self, of: Any, read: dict[str, object], written: dict[str, object]) -> None:
        plain = of._plain if isinstance(of, _WatchedCandidate) else of
        for name, value in (("_of", of), ("_plain", plain), ("_read", read), ("_written", written)):
            object.__setattr__(self, name, value)

    def __getattr__(self, name: str) -> Any:
        if name in self._read or name in self._written:
            return getattr(self._plain, name)  # whom this one was handed on from has noted it too
        value = getattr(self._of, name)
        self._read[name] = _copied(value)
        return value

    def __setattr__(self, name: str, value: object) -> None:
        self._written[name] = value
        setattr(self._of, name, value)

    def varied(self, **changes: object) -> _Varied:
        """Return the candidate with other fields, as `Candidate.varied` does; what else is read of it counts as read here."""
        return _Varied(self, changes)


class _Varied:
    """A watched candidate with some fields changed."""

    __slots__ = ("_changes", "_of")
    _of: Any
    _changes: dict[str, object]

    def __init__(self, of: object, changes: dict[str, object]) -> None:
        object.__setattr__(self, "_of", of)
        object.__setattr__(self, "_changes", changes)

    def __getattr__(self, name: str) -> Any:
        return self._changes[name] if name in self._changes else getattr(self._of, name)

    def __setattr__(self, name: str, value: object) -> None:
        self._changes[name] = value

    def varied(self, **changes: object) -> _Varied:
        """Return the candidate with more fields changed."""
        return _Varied(self._of, {**self._changes, **changes})


def remembered(function: Remembered[Rest, Result]) -> Remembered[Rest, Result]:
    """Return a function of (candidate, context, …) that takes over what it found before from the same; see the module's docstring."""
    table: Kept[tuple[_Entry, ...]] = Kept(MOST_CANDIDATES)
    _TABLES.append(table)

    @wraps(function)
    def found(candidate: Candidate, context: Context, *rest: Any) -> Any:
        key = (candidate.node.id, candidate.units)
        entries = table.get(key) or ()
        for entry in entries:
            if entry.holds(candidate, context, rest):
                for name, value in entry.written.items():
                    setattr(candidate, name, value)
                return entry.result
        answers: dict[str, object] = {}
        fields: dict[str, object] = {}
        written: dict[str, object] = {}
        watched = Context(_WatchedAnswers(context.answers, answers), context.catalog, context.workload)
        result = cast("Any", function)(_WatchedCandidate(candidate, fields, written), watched, *rest)
        plain = Context(_PLAIN, context.catalog, context.workload)
        table.put(key, (_Entry(plain, answers, fields, rest, written, result), *entries[: MOST_RESULTS - 1]))
        return result

    return cast("Remembered[Rest, Result]", found)


_PLAIN = Answers()
"""Stands for the answers in what is kept, which has those that were read."""


def same_workload(workload: Workload) -> Workload:
    """Return the workload of an earlier design where it equals this one, so that it need not be compared again and again."""
    key = workload.kind, workload.units_total, workload.global_batch, workload.sequence_length, workload.precision, workload.data_kind
    earlier = _WORKLOADS.get(key)
    return earlier if earlier is not None and earlier == workload else _WORKLOADS.put(key, workload)


def forget() -> None:
    """Forget all that was worked out before."""
    _WORKLOADS.clear()
    for table in _TABLES:
        table.clear()


def _copied(value: object) -> object:
    """Return a value as it is now, where it may change in place."""
    return value.copy() if isinstance(value, (dict, list, set)) else value


def _same(first: object, second: object) -> bool:
    """Return whether two values are the same: one and the same object, or plain values and records of the catalog that are equal.

    What was worked out is compared by identity alone: taken over, it is the same object, and to compare all of it takes long.
    """
    if first is second:
        return True
    return type(first) is type(second) and isinstance(first, COMPARED) and first == second
