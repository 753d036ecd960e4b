"""Forward chaining on durable-rules: a fact goes in, the findings of the rules that fire come out. The only importer of durable.

    compiled = compile_rules(rules)                             # once per process
    evaluation = evaluate(compiled.stage(Stage.VRAM), fact)     # once per candidate and stage

durable matches the conditions and keeps the agenda; a rule that writes a flag asserts a derived fact, on which further rules match.
Its Python host is left aside, on purpose: the host runs two timer threads that race with the caller, swallows what an action raises,
gives up on a chain after ten seconds and sends the whole state back and forth at every firing. Here the agenda is worked off in
place under one lock, which is also eight times as fast. `rules.compile` hides the rest of durable's peculiarities.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from typing import TYPE_CHECKING, Any

from rules.compile import CANARY, CHECK, END, NOTHING, FactError, FieldClass, Ruleset, StageProgram, class_of, compile_stage, encode
from rules.findings import Stage
from rules.guidance.declare import CANDIDATE, Rule, RuleError
from rules.render import Said, Shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from rules.findings import Finding, Scalar

__all__ = [
    "CompiledRules",
    "EngineError",
    "EngineUnavailable",
    "Evaluation",
    "FactError",
    "RuleError",
    "RuleFailure",
    "TraceStep",
    "check_fact",
    "compile_rules",
    "evaluate",
]

_OBSERVED = 2
"""durable's answer to a fact that it already holds; 0 is "matched", 1 "no rule is interested"."""
_WRITTEN = frozenset((str, int, float, bool))
"""Types of fields that every text can print."""
_KEPT_COMPILATIONS = 64
"""How many sets of rules are kept compiled; a process normally has one, tests and site policies a few more."""

_LOCK = threading.Lock()
_HANDLES: dict[str, int] = {}
_COMPILED: OrderedDict[tuple[int, ...], CompiledRules] = OrderedDict()
_SESSIONS = count(1)


class EngineUnavailable(RuntimeError):  # noqa: N818 - a state of the machine, not a mistake of the caller
    """durable-rules cannot be loaded on this machine."""


class EngineError(RuntimeError):
    """durable-rules refused a ruleset or a fact, or did not work off its agenda."""


@dataclass(frozen=True)
class RuleFailure:
    """A rule that could not be judged, with the reason; the other rules of the stage went on."""

    rule_id: str
    message: str


@dataclass(frozen=True)
class TraceStep:
    """A rule that fired, and what it built on: "candidate" or the flag that another rule wrote."""

    rule_id: str
    premise: str


@dataclass(frozen=True)
class Evaluation:
    """What the rules of a stage said about one candidate, in the order of firing."""

    said: tuple[Said, ...] = ()
    flags: frozenset[str] = frozenset()
    failures: tuple[RuleFailure, ...] = ()
    trace: tuple[TraceStep, ...] = ()

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """Return what they said in words."""
        return tuple(each.finding for each in self.said)


@dataclass(frozen=True)
class CompiledRules:
    """Rules, translated once: one program per stage that has rules."""

    rules: tuple[Rule, ...]
    programs: Mapping[Stage, StageProgram]

    def stage(self, stage: Stage) -> StageProgram:
        """Return the program of `stage`; a stage without rules has an empty one."""
        return self.programs.get(stage) or compile_stage(stage, ())


def compile_rules(rules: Iterable[Rule]) -> CompiledRules:
    """Translate `rules`, one program per stage; the same rules are translated once per process.

    Does not load durable. Raises RuleError, with the rule's id, for a rule that cannot be run: more than 40 that build on each
    other, no conditions, a field compared as text here and as a number there.
    """
    given = tuple(rules)
    key = tuple(id(rule) for rule in given)
    with _LOCK:
        found = _COMPILED.get(key)
    if found is None:
        stages = {rule.stage for rule in given}
        programs = {stage: compile_stage(stage, [rule for rule in given if rule.stage is stage]) for stage in Stage if stage in stages}
        found = CompiledRules(given, programs)
    with _LOCK:
        _COMPILED[key] = found
        _COMPILED.move_to_end(key)
        while len(_COMPILED) > _KEPT_COMPILATIONS:
            _COMPILED.popitem(last=False)
    return found


def check_fact(rules: Iterable[Rule], fact: Mapping[str, Scalar]) -> list[str]:
    """Return one message for every field that a rule compares and `fact` does not state."""
    return [
        f"rule {rule.id} reads field {name} that stage {rule.stage} does not state"
        for rule in rules
        for name in rule.reads
        if name not in fact
    ]


def evaluate(program: StageProgram, fact: Mapping[str, Scalar], *, strict: bool = False) -> Evaluation:
    """Let the rules of one stage judge `fact` and return what they say.

    A rule whose fields are not all in `fact` stays silent (`check_fact` names them). With `strict`, the first rule that fails
    raises RuleError; otherwise it becomes a failure of the evaluation, and the other rules go on. A rule fails when a field
    that it compares is NaN, infinite, too long or of another class than its rules expect, or when a text prints a field that is
    not stated; a rule that fails writes no flag. Raises EngineUnavailable and EngineError.
    """
    held: dict[str, FieldClass] = {}
    runs = []
    shown = Shown(fact)
    for chapter in program.chapters:
        values, problems = _encode_fact(chapter, fact, held)
        if strict and problems:
            raise RuleError(problems[0].rule_id, problems[0].message)
        run = _Run(chapter, shown, values, strict)
        run.failures.extend(problems)
        run.chain()
        runs.append(run)
    return Evaluation(
        tuple(said for run in runs for said in run.said),
        frozenset(flag for run in runs for flag in run.flags),
        tuple(failure for run in runs for failure in run.failures),
        tuple(step for run in runs for step in run.trace),
    )


def _encode_fact(program: Ruleset, fact: Mapping[str, Scalar], held: dict[str, FieldClass]) -> tuple[dict[str, str], list[RuleFailure]]:
    """Return the fields that the rules read as durable reads them, and a failure per rule and field that cannot be compared."""
    values: dict[str, str] = {}
    problems: list[RuleFailure] = []
    for name, expected in program.classes.items():
        values[name] = NOTHING
        if name not in fact:
            continue
        value, actual = fact[name], class_of(fact[name])
        wanted = expected or (actual and held.setdefault(program.groups[name], actual))
        try:
            if actual is None or actual is not wanted:
                raise FactError(f"is {value!r}; the rules compare it as {wanted.value if wanted else 'text, a number or yes and no'}")
            values[name] = encode(value)
        except FactError as error:
            problems += [RuleFailure(rule, f"the field {name} {error}") for rule in program.readers[name]]
    return values, problems


class _Run:
    """One evaluation of a ruleset: a session in durable that lives from the candidate's fact to the last rule."""

    def __init__(self, program: Ruleset, shown: Shown, values: Mapping[str, str], strict: bool) -> None:
        self.program, self.shown, self.values, self.strict = program, shown, values, strict
        self.said: list[Said] = []
        self.flags: set[str] = set()
        self.failures: list[RuleFailure] = []
        self.trace: list[TraceStep] = []
        self.session = str(next(_SESSIONS))

    def message(self, premise: str) -> str:
        """Return the fact for the rules that build on `premise`: the candidate's fields that they read, and the premise's name."""
        fields = "".join(f',"{key}":{self.values[name]}' for name, key in self.program.fields[premise])
        # An id of our own: durable's is a 64-bit hash over the fields, and is then looked up by 32 bits of it.
        name = self.program.premises[premise]
        canary = f",{CANARY}" if premise == CANDIDATE else ""
        return f'{{"sid":"{self.session}","id":"{name}","p":"{name}"{canary}{fields}}}'

    def chain(self) -> None:
        """Assert the candidate's fact and fire rules until none is left."""
        with _LOCK:
            durable = _load_durable()
            handle = _handle(durable, self.program)
            started = False
            try:
                fired: list[str] = []
                offset = self._assert(durable, handle, CANDIDATE)
                for name in _agenda(durable, handle, offset):
                    started = True
                    fired.append(name)
                    if name not in (CHECK, END):
                        self._fire(durable, handle, self.program.rules[int(name)])
                if CHECK not in fired or END not in fired:
                    raise EngineError(
                        f"stage {self.program.stage}: the rules engine misread a number or stopped early. "
                        "If the program runs under a locale with a decimal comma, set LC_NUMERIC=C and start again"
                    )
            except durable.error as error:
                raise EngineError(f"stage {self.program.stage}: durable-rules refused a fact ({error})") from error
            finally:
                # A session in which no rule fired yet holds uninitialised pointers, and deleting it would free them.
                if started:
                    durable.delete_state(handle, self.session)

    def _assert(self, durable: Any, handle: int, premise: str) -> int:
        result, offset = durable.assert_fact(handle, self.message(premise))
        if result == _OBSERVED:
            raise EngineError(f"stage {self.program.stage}: durable-rules says that the fact {premise!r} was asserted before")
        return int(offset)

    def _fire(self, durable: Any, handle: int, rule: Rule) -> None:
        self.trace.append(TraceStep(rule.id, rule.premise))
        said = Said(rule, self.shown)
        try:
            if self.strict or not self._can_be_written(rule):
                _ = said.finding  # its texts are written now, to learn whether they can be
        except Exception as error:
            # Whatever a text does wrong belongs to its rule: the others have their say.
            failure = error if isinstance(error, RuleError) else RuleError(rule.id, f"{type(error).__name__}: {error}")
            if self.strict:
                raise failure from error
            self.failures.append(RuleFailure(rule.id, failure.message))
            return
        self.said.append(said)
        for flag in rule.writes:
            if flag not in self.flags:
                self.flags.add(flag)
                if flag in self.program.premises:
                    self._assert(durable, handle, flag)

    def _can_be_written(self, rule: Rule) -> bool:
        """Return whether the texts of a rule can surely be written later: they print stated texts, numbers and yes and no alone."""
        printed, fact = self.program.printed.get(rule.id), self.shown.fact
        return printed is not None and all(type(fact.get(name)) in _WRITTEN for name in printed)


def _agenda(durable: Any, handle: int, offset: int) -> Iterator[str]:
    """Yield the name of each rule that fires, in durable's order; facts asserted meanwhile extend the agenda."""
    started = durable.start_action_for_state(handle, offset)
    message: str | None = started[1] if started else None
    while message:
        # {"12":{"m":{…}}}: only the name is needed, so the rest is not parsed.
        yield message[2 : message.index('"', 2)]
        message = durable.complete_and_start_action(handle, offset)


def _handle(durable: Any, program: Ruleset) -> int:
    """Return durable's ruleset for `program`, built at its first use and kept: durable never gives rulesets back."""
    handle = _HANDLES.get(program.definition)
    if handle is None:
        try:
            handle = int(durable.create_ruleset(str(program.stage), program.definition))
        except durable.error as error:
            raise EngineError(f"stage {program.stage}: durable-rules refused the rules ({error})") from error
        _HANDLES[program.definition] = handle
    return handle


def _load_durable() -> Any:
    """Return durable's C extension; raises EngineUnavailable, saying what to do, where it is missing or broken."""
    try:
        from durable.engine import durable_rules_engine
    except ImportError as error:
        raise EngineUnavailable(
            f"The rules engine, durable-rules, cannot be loaded: {error}. It is a C extension: install a C compiler and Python's headers "
            "(Debian, Ubuntu: build-essential and python3-dev). Python 3.13 and newer also need it built with "
            "CPPFLAGS=-DPyEval_CallObject=PyObject_CallObject in the environment. Then rebuild: make clean-venv && make run"
        ) from error
    return durable_rules_engine
