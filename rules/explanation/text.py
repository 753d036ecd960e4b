"""An explanation as an indented tree of text lines.

Results of sizing (the plan, the size, the workload, the machine) stand under many facts: they are named where they are used and taken
apart once, in a part of their own at the end, so that the tree stays as deep as a person can follow.
"""

from __future__ import annotations

import textwrap
from dataclasses import replace
from typing import TYPE_CHECKING

from rules.explanation.steps import Explanation, Step, StepKind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

WIDTH = 100
DEEPEST = 14
"""Levels that are indented; what is deeper stands at this depth, so that lines keep room for text."""
FOLDED = (StepKind.CATALOG, StepKind.ANSWER, StepKind.RESULT, StepKind.NOTE)
"""Kinds that join the line above where they are all that it rests on."""
ONCE = (StepKind.FACT, StepKind.RESULT, StepKind.CATALOG, StepKind.ANSWER, StepKind.FLAG, StepKind.THRESHOLD)
"""Kinds that are written once; after that they are only named."""
Key = tuple[StepKind, str, str]
_HIDDEN = ("record", "written", "holds", "kind", "strength", "stage", "fired", "from", "because", "source", "date")
"""Details that stand in the line itself or are for machines."""


def lines_of(explanation: Explanation, width: int = WIDTH) -> list[str]:
    """Return the lines of an explanation, none wider than `width` columns as far as words allow."""
    return list(_Writer(width).lines(explanation))


class _Writer:
    """Writes one explanation; a formula says what it computes where it is first named."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.told: set[str] = set()
        self.written: set[Key] = set()
        self.whole: dict[Key, Step] = {}
        self.waiting: dict[Key, Step] = {}
        self.stage = ""

    def lines(self, explanation: Explanation) -> Iterator[str]:
        for step in (each for chain in explanation.chains for each in _all(chain)):
            if not step.repeated:
                self.whole.setdefault(_key(step), step)
        for note in explanation.notes:
            yield from self.wrapped(f"note: {note}", 0)
        for number, chain in enumerate(explanation.chains):
            yield from ("",) if number or explanation.notes else ()
            yield from self.block(chain, 0)
        if self.waiting:
            yield from ("", "What these rest on")
        while self.waiting:
            yield from self.block(self.waiting.pop(next(iter(self.waiting))), 1)

    def block(self, step: Step, depth: int) -> Iterator[str]:
        """Yield a chain, or a step that waited; facts of its own stage are taken apart inside it."""
        self.stage = _stage_of(step)
        yield from self.step(step, depth, whole=True)

    def step(self, step: Step, depth: int, *, whole: bool = False) -> Iterator[str]:
        """Yield a step and what it rests on; results, and facts of other stages, wait for the end."""
        if self.waits(step) and not whole:
            yield from self.wrapped(self.reference(step), depth)
            return
        step, again = self.resolved(step)
        head = f"{self.stage}.{self.head(step)}" if step.kind is StepKind.FACT and whole else self.head(step)
        if again:
            yield from self.wrapped(f"{head} (see above)" if step.steps or step.details else head, depth)
            return
        below = step.steps[0] if len(step.steps) == 1 else None
        if below is not None and (self.waits(below) or (below.kind in FOLDED and not below.steps)):
            tail = self.reference(below) if self.waits(below) else self.once(below)
            yield from self.wrapped(f"{head} ← {tail}", depth)
            return
        yield from self.wrapped(head, depth)
        for each in step.steps:
            yield from self.step(each, depth + 1)

    def resolved(self, step: Step) -> tuple[Step, bool]:
        """Return a step as it was first explained in the tree, and whether it is written already; the order of writing is another."""
        if step.kind not in ONCE:
            return step, False
        key = _key(step)
        again = key in self.written
        self.written.add(key)
        full = self.whole.get(key, step)
        return (replace(full, text="", details={**_record(full)}, steps=full.steps) if again else full), again

    def once(self, step: Step) -> str:
        """Return the line of a step that joins the one above."""
        found, again = self.resolved(step)
        return f"{self.head(found)} (see above)" if again else self.head(found)

    def waits(self, step: Step) -> bool:
        """Return whether a step is taken apart at the end."""
        return step.kind is StepKind.RESULT or (step.kind is StepKind.FACT and _stage_of(step) != self.stage)

    def reference(self, step: Step) -> str:
        """Return a step as it is named where it is used; it is taken apart at the end."""
        key = _key(step)
        if key not in self.written:
            self.waiting.setdefault(key, self.whole.get(key, step))
        return f"{step.name.replace(':', '.')} = {step.value}"

    def head(self, step: Step) -> str:
        """Return the line of a step itself."""
        text = _HEADS.get(step.kind, _plain)(step)
        if step.kind is StepKind.FORMULA:
            text = self.formula(step)
        more = "; ".join(f"{name}: {value}" for name, value in step.details.items() if name not in _HIDDEN)
        return f"{text}; {more}" if more else text

    def formula(self, step: Step) -> str:
        """Return a formula: its numbers, its name, and what it computes where it is new."""
        parts = [f"= {step.value}"] if step.value else []
        if step.name != "arithmetic":
            new = step.name not in self.told
            self.told.add(step.name)
            parts.append(f"by {step.name}" + (f": {step.text}" if new and step.text else ""))
            if new and "source" in step.details:
                parts.append(f"source: {step.details['source']}")
        return "; ".join(parts)

    def wrapped(self, text: str, depth: int) -> Iterator[str]:
        indent = "  " * min(depth, DEEPEST)
        yield from textwrap.wrap(
            text, self.width, initial_indent=indent, subsequent_indent=f"{indent}    ", break_long_words=False, break_on_hyphens=False
        ) or [""]


def _all(step: Step) -> Iterator[Step]:
    yield step
    for each in step.steps:
        yield from _all(each)


def _key(step: Step) -> Key:
    """Return what makes a step the same one: its kind and name, and of catalog values the record."""
    return step.kind, step.name, step.details.get("record", "")


def _record(step: Step) -> dict[str, str]:
    return {name: value for name, value in step.details.items() if name == "record"}


def _stage_of(step: Step) -> str:
    """Return the stage of a chain: of a fact, or of the first rule or fact inside it."""
    if step.kind is StepKind.FACT:
        return step.name.partition(":")[0]
    if "stage" in step.details:
        return step.details["stage"]
    if step.kind in (StepKind.FINDING, StepKind.DESIGN, StepKind.FLAG):
        return next((found for each in step.steps if (found := _stage_of(each))), "")
    return ""


def _plain(step: Step) -> str:
    value = f" = {step.value}" if step.value else ""
    return f"{step.name}{value}" + (f": {step.text}" if step.text else "")


def _finding(step: Step) -> str:
    value = f" = {step.value}" if step.value else ""
    rank = f" [{step.details['kind']}, {step.details['strength']}]" if "kind" in step.details else ""
    return f"{step.name}{value}{rank}: {step.text}"


def _rule(step: Step) -> str:
    fired = step.details.get("fired", "")
    when = "did not fire" if fired == "no" else f"fired as {fired} of its stage" if fired else ""
    inside = "; ".join(part for part in (step.details.get("stage", ""), when) if part)
    return f"rule {step.name} ({inside})" + (f": {step.text}" if step.text else "")


def _flag(step: Step) -> str:
    return f"flag {step.name} is {step.value}" + (f": {step.text}" if step.text else "")


def _condition(step: Step) -> str:
    return f"if {step.text}" + ("" if step.details.get("holds") == "yes" else " (does not hold)")


def _fact(step: Step) -> str:
    return f"{step.name.partition(':')[2]} = {step.value}" + (f" ({step.text})" if step.text else "")


def _catalog(step: Step) -> str:
    record, path = step.details.get("record", ""), step.name.partition(".")[2]
    name = f"{record} {path.removeprefix(record).lstrip('.')}".strip() if record and path else step.name
    return f"catalog {name} = {step.value}{_tail(step)}"


def _threshold(step: Step) -> str:
    return f"{step.name.replace('.', ' ', 1)} = {step.value or 'no number'}{_tail(step)}"


def _tail(step: Step) -> str:
    """Return the sentence, and kind, source and date, of a catalog value; the record itself is named already."""
    told = [step.details[name] for name in ("kind", "strength", "source", "date") if name in step.details]
    origin = ", ".join(part for part in told if not part.startswith("the catalog's record"))
    return (f": {step.text}" if step.text else "") + (f" [{origin}]" if origin else "")


def _answer(step: Step) -> str:
    origin = step.details.get("from", "")
    if not origin:
        return f"answer {step.name} = {step.value}"
    if origin == "assumption":
        return f"answer {step.name} = {step.value} [assumed: {step.text}]"
    return f"answer {step.name} = {step.value}" + (f" [{step.text}]" if step.text else f" [{origin}]")


_HEADS: dict[StepKind, Callable[[Step], str]] = {
    StepKind.FINDING: _finding,
    StepKind.RULE: _rule,
    StepKind.GUIDANCE: lambda step: f"guidance {step.name}: {step.text}",
    StepKind.THRESHOLD: _threshold,
    StepKind.FLAG: _flag,
    StepKind.CONDITION: _condition,
    StepKind.FACT: _fact,
    StepKind.RESULT: lambda step: f"{step.name} = {step.value} ({step.text})",
    StepKind.CATALOG: _catalog,
    StepKind.ANSWER: _answer,
    StepKind.REMEDY: lambda step: f"would remove it: {step.text}" + (f" ({step.name} = {step.value})" if step.value else f" ({step.name})"),
    StepKind.NOTE: lambda step: step.text,
}
