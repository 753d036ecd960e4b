"""Where every chain ends: catalog values with their sources, thresholds, and answers with their provenance."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any

from catalogs.quantities import format_number
from catalogs.schema import Fact, Kind, Price, Sourced, Threshold
from rules.explanation.records import records_of
from rules.explanation.steps import Step, StepKind
from rules.own_server import OWN_SERVER_ID
from rules.sizing.hardware import PEAK_NAMES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from catalogs import Catalog
    from rules.answers import Answers
    from rules.candidate import Candidate, Context
    from rules.sizing.results import BomLine

NOT_STATED = "not stated"
PRICES = ("price", "server_price")
"""First words of prices, which are read off the candidate's bill: of all lines, of the servers alone."""
RATES = ("peak_dense", "sustained")
"""Tables of rates by precision, of which only those that the training precision may use are shown."""
MOST_PARTS = 12
"""So many values of a table are shown on one line."""


# ----------------------------------------------------------------------------------------------------------------- answers


def answer_step(key: str, context: Context) -> Step:
    """Return an answer with its provenance: given by the person (or a preset, an import), or assumed with the reason."""
    answers = context.answers
    if answers.given(key):
        return Step(StepKind.ANSWER, key, value=answers.text(key), details={"from": answers.provenance.get(key, "you")})
    said = "you do not know it" if key in answers.values else "not answered"
    if key in context.workload.assumed:
        value, reason = _split(context.workload.assumed[key])
        return Step(StepKind.ANSWER, key, reason, value or "assumed", {"from": "assumption", "because": said})
    if answers.value(key) is not None:
        return Step(StepKind.ANSWER, key, answers.assumptions()[key], answers.text(key), {"from": "assumption", "because": said})
    return Step(StepKind.ANSWER, key, "nothing stands in for it", said, {"from": "nobody"})


def _split(reason: str) -> tuple[str, str]:
    value, separator, because = reason.partition(": ")
    return (value, because) if separator else ("", reason)


def has_value(key: str, answers: Answers) -> bool:
    """Return whether an answer has a value at all, given or assumed."""
    return answers.value(key) is not None


# ----------------------------------------------------------------------------------------------------------------- catalog


def catalog_steps(name: str, candidate: Candidate, context: Context) -> list[Step]:
    """Return the catalog value `name` once for every record that the candidate uses of that kind."""
    root = name.partition(".")[0]
    if root in PRICES:
        return price_steps(candidate, context, servers_only=root != PRICES[0])
    records, path = records_of(name, candidate, context)
    return [_record_step(root, path, record, context) for record in records]


def _record_step(root: str, path: str, record: Any, context: Context) -> Step:
    catalog = context.catalog
    if isinstance(record, Price):
        return _rental_step(record, catalog)
    if isinstance(record, Threshold):
        return threshold_step(record, catalog, path)
    found = value_at(record, path)
    if found is None and isinstance(record, Fact):
        path, found = "values", record.values
    if path in RATES and isinstance(found, dict):
        found = {key: rate for key, rate in found.items() if key in PEAK_NAMES[context.workload.precision]}
    label = f"fact.{record.id}" if isinstance(record, Fact) else root
    name = f"{label}.{path.removeprefix('values').lstrip('.')}".rstrip(".")
    value, details = shown(found), {"record": str(record.id)}
    details |= _details(_sourced(found), catalog) or _record_details(record, catalog)
    text = str(getattr(record, "applies_to", "")) if isinstance(record, Fact) else ""
    return Step(StepKind.CATALOG, name, text, value, details)


def price_steps(candidate: Candidate, context: Context, *, servers_only: bool = False) -> list[Step]:
    """Return the lines of the bill with the price that each was given, or that none is known."""
    lines = candidate.cost.bom if candidate.cost else candidate.bom
    return [_line_step(line, context.catalog) for line in lines if not servers_only or line.item == candidate.node.id]


def _line_step(line: BomLine, catalog: Catalog) -> Step:
    if line.unit_low is None:
        return Step(StepKind.CATALOG, f"{PRICES[0]}.{line.item}", line.note, f"{line.quantity:,} × {line.name}, price unknown: in no total")
    ends = (line.unit_low, line.unit_high if line.unit_high is not None else line.unit_low)
    each, total = (" to ".join(dict.fromkeys(f"{end * number:,.0f}" for end in ends)) for number in (1, line.quantity))
    ids = tuple(part.strip() for part in line.source.split(","))
    details = {"source": sources_of(ids, catalog), "date": line.date, "confidence": line.confidence, "note": line.note}
    value = f"{line.quantity:,} × {each} USD = {total} USD"
    return Step(StepKind.CATALOG, f"{PRICES[0]}.{line.item}", line.name, value, {key: text for key, text in details.items() if text})


def _rental_step(row: Price, catalog: Catalog) -> Step:
    value = f"{format_number(row.low or 0.0)} to {format_number(row.high or 0.0)} {row.unit}"
    details = {"record": row.id, "source": sources_of(_ids(row.source), catalog), "date": row.date, "confidence": row.confidence}
    return Step(StepKind.CATALOG, f"rental.{row.item}", row.what, value, details)


def threshold_step(record: Threshold, catalog: Catalog, path: str = "") -> Step:
    """Return a threshold: what it says, its number or the one at `path`, its source, and where others disagree."""
    found = value_at(record, path) if path else record.value
    value = shown(found if found is not None else record.values)
    alone = not path and record.value is not None
    unit = record.unit if alone and not any(letter.isalpha() for letter in value) else ""
    details = {"source": sources_of((record.source,), catalog), "strength": record.strength}
    if record.unit and not alone:
        details["unit"] = f"{record.unit}, unless the name says another"
    dissent = [*record.dissents_from, *(each.id for each in catalog.thresholds if record.id in each.dissents_from)]
    if dissent:
        details["others say"] = "; ".join(f"{id_}: {catalog.thresholds[id_].conclusion}" for id_ in dissent if id_ in catalog.thresholds)
    if not record.verified:
        details["verified"] = "no"
    name = f"threshold.{record.id}{path.removeprefix('values') if path.startswith('values.') else ''}"
    return Step(StepKind.THRESHOLD, name, f"{record.condition}: {record.conclusion}", f"{value} {unit}".strip(), details)


def value_at(record: Any, path: str) -> Any:
    """Return the value at a dotted path of a record or table, None where it is not stated."""
    for part in path.split(".") if path else ():
        record = record.get(part) if isinstance(record, dict) else getattr(record, part, None)
        if record is None:
            return None
    return record


def shown(value: Any) -> str:
    """Return a catalog value as text; a table as its entries."""
    if value is None or value == () or value == {}:
        return NOT_STATED
    if isinstance(value, Sourced):
        return f"{value.value}" if value.range is None else f"{value.value} ({value.range[0]} to {value.range[1]})"
    if isinstance(value, dict):
        parts = [f"{name} {shown(each)}" for name, each in value.items() if each not in (None, "", 0, False)]
        return ", ".join(parts[:MOST_PARTS]) + (f" and {len(parts) - MOST_PARTS} more" if len(parts) > MOST_PARTS else "")
    if isinstance(value, (tuple, list)):
        return ", ".join(shown(each) for each in value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Enum):
        return str(value.value)
    if hasattr(value, "id") and hasattr(value, "count"):
        return f"{value.count} × {value.id}"
    return format_number(float(value), 6) if isinstance(value, float) else str(value)


def _sourced(value: Any) -> list[Sourced]:
    """Return the sourced values in a value or table."""
    if isinstance(value, Sourced):
        return [value]
    return [each for each in value.values() if isinstance(each, Sourced)] if isinstance(value, dict) else []


def _details(values: list[Sourced], catalog: Catalog) -> dict[str, str]:
    """Return kind, sources, date, note and conflicts of sourced values."""
    if not values:
        return {}
    details = {
        "kind": ", ".join(dict.fromkeys(each.kind.value for each in values)),
        "source": sources_of((id_ for each in values for id_ in each.sources), catalog),
    }
    dates = dict.fromkeys(each.date for each in values if each.date)
    if dates:
        details["date"] = ", ".join(str(date) for date in dates)
    if len(values) == 1:
        value = values[0]
        others = "; ".join(f"{each.value} ({sources_of((each.source,), catalog)})" for each in value.conflicts)
        details |= {key: text for key, text in (("note", value.note), ("others say", others)) if text}
    return details | ({} if all(each.verified for each in values) else {"verified": "no"})


def _record_details(record: Any, catalog: Catalog) -> dict[str, str]:
    """Return what stands for a plain field's source: the record's own sources, or the person's description."""
    if record.id == OWN_SERVER_ID:
        return {"kind": Kind.YOU.value, "source": "your description of your own server"}
    source = getattr(record, "source", None)
    details = {"source": sources_of(_ids(source), catalog)} if source else {"source": f"the catalog's record {record.id}"}
    return details | ({} if getattr(record, "verified", True) else {"verified": "no"})


def _ids(source: str | tuple[str, ...]) -> tuple[str, ...]:
    return (source,) if isinstance(source, str) else source


def sources_of(ids: Iterable[str], catalog: Catalog) -> str:
    """Return sources by title and date: "NVIDIA H100 datasheet (2023-03)"; an id that the catalog does not list stays an id."""
    texts = []
    for id_ in dict.fromkeys(ids):
        source = catalog.sources.get(id_)
        texts.append(id_ if source is None else f"{source.title} ({source.date})" if source.date else source.title)
    return "; ".join(texts)


def number_at(name: str, unit: str, candidate: Candidate, context: Context) -> float | None:
    """Return a catalog value as a plain number in `unit`, None where it is not one or not stated."""
    records, path = records_of(name, candidate, context)
    found: Any = value_at(records[0], path) if records else None
    if isinstance(found, Sourced):
        return found.to(unit)
    return float(found) if isinstance(found, (int, float)) and not isinstance(found, bool) else None


def mapping_numbers(value: Mapping[str, Any]) -> list[float]:
    """Return the numbers of a table of quantities or numbers."""
    return [float(getattr(each, "magnitude", each)) for each in value.values()]
