"""From a fact down: the formula with its numbers, then its inputs, until answers and catalog values are reached."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from catalogs.quantities import format_number, format_quantity
from rules.counting import counted
from rules.explanation.formulas import Numbers, formula_step
from rules.explanation.leaves import PRICES, answer_step, catalog_steps, has_value, mapping_numbers, number_at
from rules.explanation.results import RESULTS, SIZE, Result, sizing_inputs
from rules.explanation.steps import Step, StepKind
from rules.facts import UNITS
from rules.findings import Stage
from rules.origins import FUNCTIONS, NAME, InputKind, Origin, kind_of, origins_of, section_origin, stage_of
from rules.sizing.results import Range

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rules.candidate import Candidate
    from rules.explanation.ground import Ground


LARGE = 10_000
"""Numbers from here on are shown whole, with separators of thousands."""


class Chain:
    """Builds steps; what was explained once is only named when it comes again."""

    def __init__(self, ground: Ground) -> None:
        self.ground, self.context = ground, ground.context
        self._seen: set[tuple[StepKind, str]] = set()
        self._same: dict[tuple[Stage, Origin], str] = {}

    @property
    def candidate(self) -> Candidate:
        """Return the candidate; facts and results exist only where there is one."""
        assert self.ground.candidate is not None, "without a candidate there are no facts to explain"
        return self.ground.candidate

    def first_time(self, kind: StepKind, name: str) -> bool:
        """Return whether a step is new, and remember it."""
        key = (kind, name)
        known = key in self._seen
        self._seen.add(key)
        return not known

    # ------------------------------------------------------------------------------------------------------------- facts

    def fact(self, stage: Stage, name: str) -> Step:
        """Return a fact with everything that it rests on."""
        full, text = f"{stage.value}:{name}", self.ground.meanings.get((stage, name), "")
        value = self.ground.shown(stage, name)
        if not self.first_time(StepKind.FACT, full):
            return Step(StepKind.FACT, full, text, value, repeated=True)
        origin = origins_of(stage).facts[name]
        first = self._same.setdefault((stage, origin), name)
        if first != name and origin.formula and not origin.arithmetic:
            note = Step(StepKind.NOTE, "note", f"comes out of the same formula and inputs as {first}")
            return Step(StepKind.FACT, full, text, value, steps=(note,))
        raw = self.ground.facts(stage).get(name)
        number = float(raw) if isinstance(raw, (int, float)) and not isinstance(raw, bool) else None
        return Step(StepKind.FACT, full, text, value, steps=tuple(self.origin(origin, stage, number, name)))

    def result(self, name: str) -> Step:
        """Return a result of sizing with everything that it rests on."""
        found = RESULTS[name]
        value = self.shown_result(found)
        if not self.first_time(StepKind.RESULT, name):
            return Step(StepKind.RESULT, name, found.meaning, value, repeated=True)
        number = _number(found.read(self.candidate, self.context))
        origin = found.origin if name != SIZE else replace(found.origin, inputs=sizing_inputs(self.context.answers))
        return Step(StepKind.RESULT, name, found.meaning, value, steps=tuple(self.origin(origin, None, number)))

    def section(self, key: str) -> Step:
        """Return a key of the design's sections: the fact that it shows, or the origin of its own."""
        stage, value = self.ground.sections[key]
        entry = section_origin(stage, key)
        shown = _as_text(value)
        if entry is None:
            return Step(StepKind.DESIGN, key, value=shown)
        _, origin = entry
        steps = [self.fact(stage, origin)] if isinstance(origin, str) else list(self.origin(origin, stage, None))
        return Step(StepKind.DESIGN, key, value=shown, steps=tuple(steps))

    def section_text(self, key: str) -> str:
        """Return the value of a key of the design's sections on one line."""
        return _as_text(self.ground.sections[key][1])

    # ------------------------------------------------------------------------------------------------------------- inputs

    def origin(self, origin: Origin, stage: Stage | None, value: float | None, name: str = "") -> Iterable[Step]:
        """Yield the formula of an origin, then its inputs; what says nothing here is left out, unless nothing else is left."""
        if origin.formula or origin.arithmetic:
            shown, numbers = self._written(origin, stage) if origin.arithmetic else ({}, {})
            yield formula_step(origin, shown, numbers, value, rounded=name.endswith("_percent"))
        elif origin.note:
            yield Step(StepKind.NOTE, "note", origin.note)
        steps = [step for each in origin.inputs for step in self.input(each, stage)]
        yield from steps or [step for each in origin.inputs for step in self.input(each, stage, silent=False)]

    def input(self, name: str, stage: Stage | None, *, silent: bool = True) -> Iterable[Step]:
        """Yield the steps of one input: one, or one for each record of the catalog that it means.

        With `silent`, answers that nobody gave and records that the candidate does not have yield nothing.
        """
        kind = kind_of(name)
        if kind is InputKind.ANSWER:
            if not silent or self._says_something(name):
                step = answer_step(name, self.context)
                yield step if self.first_time(StepKind.ANSWER, name) else replace(step, repeated=True)
        elif kind is InputKind.CATALOG:
            yield from self._catalog(name, silent=silent)
        elif kind is InputKind.RESULT:
            yield self.result(name)
        else:
            yield self.fact(*_place(name, stage))

    def _catalog(self, name: str, *, silent: bool) -> Iterable[Step]:
        root = name.partition(".")[0]
        prices = root in PRICES
        new = self.first_time(StepKind.CATALOG, root if prices else name)
        steps = catalog_steps(name, self.candidate, self.context)
        if prices and not new:
            yield Step(StepKind.CATALOG, root, value=f"{counted(len(steps), 'line')} of the bill", repeated=True)
            return
        for step in steps:
            yield step if new else replace(step, repeated=True)
        if not steps and not silent:
            yield Step(StepKind.CATALOG, name, "this design uses no such record, or the catalog has none", "none")

    def _says_something(self, key: str) -> bool:
        """Return whether an answer has a value, given or assumed."""
        return has_value(key, self.context.answers) or key in self.context.workload.assumed

    # ------------------------------------------------------------------------------------------------------------ numbers

    def _written(self, origin: Origin, stage: Stage | None) -> tuple[dict[str, str], Numbers]:
        """Return what each written input of a piece of arithmetic shows and is worth."""
        shown: dict[str, str] = {}
        numbers: Numbers = {}
        for written in NAME.findall(origin.arithmetic):
            if written in FUNCTIONS:
                continue
            name, _, unit = written.partition("[")
            text, number = self._worth(name, unit.rstrip("]"), stage)
            shown[written] = text
            if number is not None:
                numbers[written] = number
        return shown, numbers

    def _worth(self, name: str, unit: str, stage: Stage | None) -> tuple[str, float | list[float] | None]:
        """Return an input as shown, and as a number (or several, where a result is a table)."""
        kind = kind_of(name)
        if kind is InputKind.FACT:
            where, plain = _place(name, stage)
            raw = self.ground.facts(where).get(plain)
            return self.ground.shown(where, plain), float(raw) if isinstance(raw, (int, float)) else None
        if kind is InputKind.RESULT:
            found = RESULTS[name]
            value = found.read(self.candidate, self.context)
            if isinstance(value, dict):
                return " + ".join(_as_text(each) for each in value.values()), mapping_numbers(value)
            return self.shown_result(found), _number(value)
        if kind is InputKind.CATALOG:
            number = number_at(name, unit, self.candidate, self.context)
            return "unknown" if number is None else f"{format_number(number)} {unit}".strip(), number
        return self.context.answers.text(name) or "unknown", self.context.answers.number(name)

    def shown_result(self, found: Result) -> str:
        """Return a result as text with its unit, "unknown" where it does not exist."""
        value = found.read(self.candidate, self.context)
        if value is None:
            return "unknown"
        text = _as_text(value)
        return f"{text} {found.unit}" if found.unit else text


def _place(name: str, stage: Stage | None) -> tuple[Stage, str]:
    """Return the stage and plain name of a fact; results, which belong to no stage, always name it."""
    assert stage is not None or ":" in name, f"{name} needs the stage that states it"
    return stage_of(name, stage or Stage.VRAM)


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or value is None or isinstance(value, (str, dict, Range)):
        return None
    return float(getattr(value, "magnitude", value))


def _as_text(value: Any) -> str:
    """Return a value of a design or a result as text on one line."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Range):
        return f"{_as_text(value.expected)} ({_as_text(value.low)} to {_as_text(value.high)})"
    if isinstance(value, (int, float)):
        return f"{value:,.0f}" if value == int(value) or abs(value) >= LARGE else format_number(value, 6)
    if isinstance(value, dict):
        return ", ".join(f"{name.replace('_', ' ')} {_as_text(each)}" for name, each in value.items()) or "none"
    if isinstance(value, (list, tuple)):
        return "; ".join(_as_text(each) for each in value) or "none"
    return format_quantity(value) if hasattr(value, "magnitude") else str(value)


def words(name: str) -> str:
    """Return a fact's name as words, without its unit: "memory needed low" for memory_needed_low_gib."""
    parts = name.split("_")
    for length in (3, 2, 1):
        if len(parts) > length and "_".join(parts[-length:]) in UNITS:
            parts = parts[:-length]
            break
    return " ".join(parts)
