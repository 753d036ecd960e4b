"""How far an answer reaches: which facts, rules and values of the design rest on it. Read from the tables of origins; no design is made."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rules.findings import Stage


@dataclass(frozen=True)
class Reach:
    """What rests on an answer: rules that read a fact made of it, and values of the design that show one, the nearest first."""

    rules: tuple[str, ...]
    sections: tuple[str, ...]


@lru_cache(maxsize=512)
def reach_of(key: str) -> Reach:
    """Return how far an answer reaches."""
    from rules.findings import Stage
    from rules.origins import origins_of, stage_of
    from rules.stages import all_stages

    far = _distances(key)
    rules: dict[str, int] = {}
    sections: dict[str, int] = {}
    for module in all_stages():
        for rule in module.RULES:
            steps = [far[name] for field in rule.reads if (name := f"{module.STAGE.value}:{field}") in far]
            if steps:
                rules[rule.id] = min(steps)
    for stage in Stage:
        for section, entry in origins_of(stage).sections.items():
            inputs = [entry] if isinstance(entry, str) else entry.inputs
            steps = [far[full] for name in inputs if (full := _full(name, stage, stage_of)) in far]
            if steps:
                sections[section] = min(steps)
    return Reach(_nearest(rules), _nearest(sections))


def _nearest(steps: Mapping[str, int]) -> tuple[str, ...]:
    return tuple(sorted(steps, key=lambda name: (steps[name], name)))


def _distances(key: str) -> Mapping[str, int]:
    """Return the answer and everything that is made of it, with how many steps away it is."""
    readers = _readers()
    far, waiting = {key: 0}, [key]
    for name in waiting:
        for made in readers.get(name, ()):
            if made not in far:
                far[made] = far[name] + 1
                waiting.append(made)
    return far


@lru_cache(maxsize=1)
def _readers() -> Mapping[str, tuple[str, ...]]:
    """Return, by name of an input, what is made of it."""
    from rules.explanation.results import RESULTS
    from rules.findings import Stage
    from rules.origins import origins_of, stage_of

    found: dict[str, list[str]] = {}

    def add(made: str, inputs: Iterable[str]) -> None:
        for name in inputs:
            found.setdefault(name, []).append(made)

    for stage in Stage:
        for fact, origin in origins_of(stage).facts.items():
            add(f"{stage.value}:{fact}", (_full(name, stage, stage_of) for name in origin.inputs))
    for name, result in RESULTS.items():
        add(name, result.origin.inputs)
    return {name: tuple(made) for name, made in found.items()}


def _full(name: str, stage: Stage, stage_of: object) -> str:
    """Return a fact with its stage, any other name as it is."""
    if "." in name and ":" not in name:
        return name
    other, plain = stage_of(name, stage)  # type: ignore[operator]
    return f"{other.value}:{plain}"
