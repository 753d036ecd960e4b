"""Where sources disagree about a rule of thumb that a design rests on: both are shown, with which was taken and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rules.design import Dissent

if TYPE_CHECKING:
    from collections.abc import Iterable

    from catalogs import Catalog
    from catalogs.schema import Threshold
    from rules.findings import Finding

_WEIGHT = {"hard": "a limit or physics", "strong": "strong evidence", "advice": "advice"}


def dissents_of(findings: Iterable[Finding], catalog: Catalog) -> tuple[Dissent, ...]:
    """Return a row for every pair of disagreeing thresholds of which a finding's rule applies one, in firing order, each pair once."""
    rows: dict[tuple[str, str], Dissent] = {}
    for found in findings:
        for id_ in found.thresholds:
            taken = catalog.thresholds[id_]
            for other in _against(taken, catalog):
                pair = (min(id_, other.id), max(id_, other.id))
                rows.setdefault(pair, _row(found.rule, taken, other))
    return tuple(rows.values())


def _against(taken: Threshold, catalog: Catalog) -> list[Threshold]:
    """Return the thresholds that disagree with one, whichever of the two says so."""
    named = [catalog.thresholds[id_] for id_ in taken.dissents_from if id_ in catalog.thresholds]
    return [*named, *(each for each in catalog.thresholds if taken.id in each.dissents_from)]


def _row(rule: str, taken: Threshold, other: Threshold) -> Dissent:
    mine, theirs = _WEIGHT[taken.strength], _WEIGHT[other.strength]
    because = f"{rule} applies it; both are {mine}" if mine == theirs else f"{rule} applies it: it is {mine}, the other {theirs}"
    return Dissent(rule, _says(taken), taken.source, because, _says(other), other.source)


def _says(threshold: Threshold) -> str:
    """Return what a threshold says, with its number."""
    value = threshold.value
    number = f" ({value:g} {threshold.unit})" if isinstance(value, float | int) else ""
    return f"{threshold.condition}: {threshold.conclusion}{number}".replace(" )", ")")
