"""A design and its parts: what was chosen, why, what else there is, what was rejected, what to ask.

A `Design` is plain data. `document()` returns it as the tables of a design file; `wizard.files` adds the meta table and writes it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rules.findings import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rules.answers import Answers
    from rules.conflicts import ConflictSet
    from rules.findings import Finding
    from rules.sizing.results import BomLine

SCHEMA_VERSION = 1


@dataclass(frozen=True)
class Assumption:
    """A value that stands in for an answer that was not given, or a premise that a rule states."""

    key: str
    value: str
    because: str
    rule: str = ""


@dataclass(frozen=True)
class Figures:
    """The key figures of a candidate, None where unknown: what alternatives are ranked and compared by.

    `purchase_open`: parts without a known price are left out of the purchase, so it is a lower bound. `racks`
    are all places that racks and tanks take, `tanks` those of them that are tanks.
    """

    gpus: int
    nodes: int
    units: int
    days: float | None = None
    step_s: float | None = None
    mfu: float | None = None
    memory_gib: float | None = None
    memory_capacity_gib: float | None = None
    purchase_usd: float | None = None
    purchase_low_usd: float | None = None
    purchase_high_usd: float | None = None
    purchase_open: bool = False
    ownership_usd: float | None = None
    usd_per_million_units: float | None = None
    it_power_kw: float | None = None
    total_power_kw: float | None = None
    racks: int | None = None
    tanks: int | None = None
    cable_m: float | None = None

    def shown(self) -> dict[str, object]:
        """Return the known figures, rounded to four significant digits, for files and tables."""
        rows: dict[str, object] = {}
        for name, value in vars(self).items():
            if value is not None and value is not False:
                rows[name] = value if isinstance(value, int) else float(f"{value:.4g}")
        return rows


@dataclass(frozen=True)
class Alternative:
    """A candidate that would do, in rank order; `apart` marks those that cannot be ranked by price."""

    rank: int
    candidate: str
    name: str
    plan: str
    figures: Figures
    because: str
    apart: bool = False


@dataclass(frozen=True)
class Rejected:
    """A candidate that will not do, with the first rule that rejected it; `kind` is rule, search, answers or dominated."""

    candidate: str
    name: str
    kind: str
    rule: str
    because: str
    numbers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Dissent:
    """Two sources that disagree where the design rests on one of them: what was taken and why, and what the other says."""

    rule: str
    taken: str
    taken_source: str
    because: str
    other: str
    other_source: str


@dataclass(frozen=True)
class Reentry:
    """A feedback edge that was taken: which stage sent the candidate back, what changed and why."""

    edge: str
    because: str


@dataclass(frozen=True)
class Design:
    """The whole answer. `chosen` is the candidate id ("" where there is none at all); `fits` says whether it meets every answer."""

    answers: Answers
    catalog_version: str
    chosen: str
    name: str
    plan: str
    fits: bool
    figures: Figures | None
    sections: Mapping[str, Mapping[str, object]]
    bom: tuple[BomLine, ...]
    findings: tuple[Finding, ...]
    assumptions: tuple[Assumption, ...]
    alternatives: tuple[Alternative, ...]
    rejected: tuple[Rejected, ...]
    reentries: tuple[Reentry, ...] = ()
    dissents: tuple[Dissent, ...] = ()
    conflict_sets: tuple[ConflictSet, ...] = ()
    notices: tuple[str, ...] = ()
    failures: tuple[str, ...] = ()

    def of_kind(self, kind: Kind) -> tuple[Finding, ...]:
        """Return the findings of one kind in firing order."""
        return tuple(found for found in self.findings if found.kind is kind)

    @property
    def conflicts(self) -> tuple[Finding, ...]:
        """Return what cannot hold together: the rejections of the nearest candidate, empty where the design fits."""
        return self.of_kind(Kind.REJECT)

    def document(self) -> dict[str, Any]:
        """Return the tables of a design file, without the meta table, in the order in which they are written."""
        tables: dict[str, Any] = {
            "answers": self.answers.nested(),
            "provenance": dict(sorted(self.answers.provenance.items())),
            "policy": [dict(policy.row) for policy in self.answers.policies],
            "design": self._sections(),
        }
        if self.notices:
            tables["design"]["notices"] = list(self.notices)
        tables |= {
            "bom": [_bom_row(line) for line in self.bom],
            "justification": [_finding_row(found) for found in self.of_kind(Kind.DECISION)],
            "assumption": [_without_empty(vars(each)) for each in self.assumptions],
            "warning": [_finding_row(found) for found in self.of_kind(Kind.WARNING)],
            "conflict": [_finding_row(found) for found in self.conflicts],
            "conflict_set": [each.document() for each in self.conflict_sets],
            "alternative": [_alternative_row(each) for each in self.alternatives],
            "rejected": [_without_empty(vars(each)) for each in self.rejected],
            "reentry": [dict(vars(each)) for each in self.reentries],
            "dissent": [dict(vars(each)) for each in self.dissents],
            "question": [_question_row(found) for found in self.of_kind(Kind.QUESTION)],
        }
        return {name: rows for name, rows in tables.items() if rows or name in ("answers", "design")}

    def _sections(self) -> dict[str, Any]:
        """Return the design sections nested by their dotted names, with the summary first."""
        summary: dict[str, Any] = {"fits": self.fits, "chosen": self.chosen, "name": self.name, "plan": self.plan}
        nested: dict[str, Any] = {"summary": _without_empty(summary) | {"fits": self.fits}}
        if self.figures is not None:
            nested["summary"] |= self.figures.shown()
        for name, values in self.sections.items():
            place = nested
            *outer, last = name.split(".")
            for part in outer:
                place = place.setdefault(part, {})
            place.setdefault(last, {}).update(values)
        return nested


def _without_empty(row: Mapping[str, Any]) -> dict[str, Any]:
    return {key: _plain(value) for key, value in row.items() if value not in (None, "", (), {}, [])}


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    return value


def _finding_row(found: Finding) -> dict[str, Any]:
    return _without_empty(
        {
            "decision": found.decision,
            "value": found.value,
            "because": found.because,
            "rule": found.rule,
            "stage": found.stage.value,
            "strength": found.strength.value,
            "guidance": list(found.guidance),
            "thresholds": list(found.thresholds),
            "numbers": dict(found.numbers),
            "fix": [dict(vars(remedy)) for remedy in found.remedies],
            "ask": found.ask if found.kind is not Kind.QUESTION else "",
            "to": found.to if found.kind is not Kind.QUESTION else "",
        }
    )


def _question_row(found: Finding) -> dict[str, Any]:
    return _without_empty(
        {
            "to": found.to,
            "ask": found.ask,
            "good_answer": found.good_answer,
            "why": found.because,
            "guidance": list(found.guidance),
            "rule": found.rule,
            "numbers": dict(found.numbers),
        }
    )


def _alternative_row(each: Alternative) -> dict[str, Any]:
    head = {
        "rank": each.rank,
        "candidate": each.candidate,
        "name": each.name,
        "plan": each.plan,
        "because": each.because,
        "apart": each.apart,
    }
    return _without_empty(head) | {"figures": each.figures.shown()}


def _bom_row(line: BomLine) -> dict[str, Any]:
    row = _without_empty(vars(line))
    if line.unit_low is None:
        row["price"] = "unknown"
    return row
