"""Where every number comes from, as data: which formula, and which facts, results, catalog values and answers go into it.

Each stage has a table of origins for its facts and its design sections (`rules/stages/origins_<stage>.py`), loaded only when something
is explained. An input is named by how it is written:

- `memory_capacity_gib` is a fact of the same stage, `fabric:offered_gbps` one of another stage;
- `plan.label` is a result of sizing that no fact carries (`rules.explanation.results.RESULTS`);
- `gpu.memory.capacity` or `fact.heat-capture.nvl72` is a value of the catalog: kind of record and path;
- `training.precision` is an answer.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from importlib import import_module
from typing import TYPE_CHECKING, cast

from rules.answer_fields import FIELDS
from rules.findings import Stage

if TYPE_CHECKING:
    from collections.abc import Mapping

RESULT_ROOTS = ("size", "work", "machine", "plan", "step", "peak", "bill", "choice")
"""First words of the results of sizing."""
CATALOG_ROOTS: dict[str, str] = {
    "gpu": "Gpu",
    "node": "Node",
    "cpu": "Cpu",
    "nic": "Nic",
    "switch": "Switch",
    "compute_switch": "Switch",
    "front_switch": "Switch",
    "cable": "Cable",
    "storage": "Storage",
    "pdu": "Pdu",
    "rack": "Rack",
    "cooling": "Cooling",
    "support": "SoftwareSupport",
    "preset": "ModelPreset",
    "price": "Price",
    "server_price": "Price",
    "rental": "Price",
    "fact": "Fact",
    "failures": "Fact",
    "carbon": "Fact",
    "electricity": "Fact",
    "threshold": "Threshold",
}
"""First words of catalog values: those that the candidate uses of each kind, and the class of the record."""
BY_ID = ("fact", "threshold")
"""Kinds whose second word is the id of a record; of the others it is a field."""
_ANSWERS = frozenset(each.key for each in FIELDS)
NAME = re.compile(r"(?<![\w.\]])[a-z_][\w:.\-]*\w(?:\[[^\]]+\])?")
"""A name in a piece of arithmetic, with the unit in brackets where it is a catalog value: `gpu.memory.capacity[GB]`."""
FUNCTIONS = ("max", "min", "ceil", "floor", "sum")
"""Functions that arithmetic may use."""


class InputKind(StrEnum):
    """What an input is."""

    FACT = "fact"
    RESULT = "result"
    CATALOG = "catalog"
    ANSWER = "answer"


class OriginError(ValueError):
    """A table of origins that names something that does not exist."""


@dataclass(frozen=True)
class Origin:
    """Where one number comes from.

    `formula` is the dotted name of the function that computes it, "" where it is taken over as it is. `arithmetic` is the formula
    itself where it is short: names of inputs with + - * / and FUNCTIONS. `note` says what neither shows.
    """

    inputs: tuple[str, ...] = ()
    formula: str = ""
    arithmetic: str = ""
    note: str = ""


@dataclass(frozen=True)
class StageOrigins:
    """The origins of one stage: of every fact, and of every key of its design sections (a fact's name, or an origin)."""

    facts: Mapping[str, Origin]
    sections: Mapping[str, str | Origin]


def taken(*names: str, note: str = "") -> Origin:
    """Return the origin of a value that is one of the inputs, taken over as it is or named after it."""
    return Origin(names, note=note)


def computed(formula: str, *names: str, note: str = "") -> Origin:
    """Return the origin of a value that the function with the dotted name `formula` computes from inputs."""
    return Origin(names, f"rules.{formula}", note=note)


def arithmetic(text: str, *names: str, formula: str = "", note: str = "") -> Origin:
    """Return the origin of a value by a short formula; `names` are inputs that it does not write out."""
    written = (name.partition("[")[0] for name in NAME.findall(text) if name not in FUNCTIONS)
    return Origin(tuple(dict.fromkeys((*written, *names))), f"rules.{formula}" if formula else "", text, note)


def for_each(names: str, origin: Origin) -> dict[str, Origin]:
    """Return the same origin for several facts, named with blanks between them."""
    return dict.fromkeys(names.split(), origin)


def kind_of(name: str) -> InputKind:
    """Return what an input is, by how it is written; raises OriginError where it is nothing that exists."""
    root, dot, _ = name.partition(".")
    if ":" in name:
        stage = name.partition(":")[0]
        if stage not in set(Stage):
            raise OriginError(f"{name}: there is no stage {stage!r}")
        return InputKind.FACT
    if not dot:
        return InputKind.FACT
    if root in RESULT_ROOTS:
        return InputKind.RESULT
    if root in CATALOG_ROOTS:
        return InputKind.CATALOG
    if name in _ANSWERS:
        return InputKind.ANSWER
    raise OriginError(f"{name}: is no fact, result, catalog value or answer")


def stage_of(name: str, stage: Stage) -> tuple[Stage, str]:
    """Return the stage and the plain name of a fact that is named from `stage`."""
    other, colon, plain = name.partition(":")
    return (Stage(other), plain) if colon else (stage, name)


def origins_of(stage: Stage) -> StageOrigins:
    """Return the table of a stage, imported when first needed."""
    module = import_module(f"rules.stages.origins_{stage.value}")
    return StageOrigins(cast("Mapping[str, Origin]", module.ORIGINS), cast("Mapping[str, str | Origin]", module.SECTIONS))


def section_origin(stage: Stage, key: str) -> tuple[str, str | Origin] | None:
    """Return the entry for a key of a design section, and the key that it was found under: the key's own or that of its table."""
    table = origins_of(stage).sections
    parts = key.split(".")
    for length in range(len(parts), 0, -1):
        found = table.get(".".join(parts[:length]))
        if found is not None:
            return ".".join(parts[:length]), found
    return None
