"""The schemas that follow from declarations: answers from the answer fields, catalog files from the records."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from catalogs import schema as records
from rules.answer_fields import FIELDS
from rules.answers import UNKNOWN, sections
from wizard.interview import load_interview
from wizard.schemas import DIALECT, ENDING

if TYPE_CHECKING:
    from rules.answer_fields import AnswerField

Schema = dict[str, Any]

NUMBER_PATTERN = r"^\s*(US)?\$?\s*[+-]?(\d|\.\d)"
"""How a text that holds a number begins; the unit after it is checked when the file is read."""
LONGEST_NAME = 200
MOST_NAMES = 100

KINDS: dict[str, tuple[str, str]] = {
    "gpus": ("Gpu", ""),
    "nodes": ("Node", ""),
    "cpus": ("Cpu", ""),
    "nics": ("Nic", ""),
    "switches": ("Switch", ""),
    "cables": ("Cable", ""),
    "storage": ("Storage", ""),
    "racks": ("Rack", ""),
    "pdus": ("Pdu", ""),
    "cooling": ("Cooling", ""),
    "software": ("SoftwareSupport", "support"),
    "models": ("ModelPreset", ""),
    "prices": ("Price", "price"),
    "facts": ("Fact", "fact"),
    "collectives": ("Collective", "collective"),
    "measurements": ("Measurement", "run"),
    "measured_models": ("MeasuredModel", "model"),
    "recipes": ("Recipe", "recipe"),
    "validation": ("ValidatedRegime", "regime"),
    "thresholds": ("Threshold", "threshold"),
    "sources": ("Source", "source"),
}
"""By kind of record: its class, and the name of the array of tables where a file holds several ("" where it holds one)."""


def generated_schemas() -> dict[str, Schema]:
    """Return every generated schema by name."""
    made = {"answers": answers_schema(), "catalog-show": show_schema()}
    made |= {f"catalog-{kind}": catalog_schema(kind) for kind in KINDS}
    return made


def text_of(made: Schema) -> str:
    """Return a schema as the text of its file."""
    return json.dumps(made, indent=2, ensure_ascii=False) + "\n"


def _head(name: str, title: str, description: str) -> Schema:
    return {"$schema": DIALECT, "$id": f"{name}{ENDING}", "title": title, "description": description}


def answers_schema() -> Schema:
    """Return the schema of an answers file; its `tables` are also those of the answers in a design file."""
    tables: Schema = {section: _section(section) for section in sections()}
    tables |= {each.key: {"$ref": f"#/$defs/fields/{each.key}"} for each in FIELDS}
    wrapped = {
        "answers": {"$ref": "#/$defs/tables"},
        "meta": {"$ref": "#/$defs/meta"},
        "provenance": {"$ref": "#/$defs/provenance"},
        "policy": {
            "type": "array",
            "items": {"$ref": f"policies{ENDING}#/$defs/policy"},
            "description": "The site's own rules, beside [answers].",
        },
    }
    head = _head(
        "answers",
        "Answers",
        "Any subset of the answers, none at all included: the sections stand at the top level or under [answers]. "
        'A key may also be written with its section, as in "facility.racks" = 40. "unknown" answers any question with "I do not know".',
    )
    return head | {
        "type": "object",
        "if": {"required": ["answers"]},
        "then": {"properties": wrapped, "additionalProperties": False},
        "else": {"$ref": "#/$defs/tables"},
        "$defs": {
            "unknown": {"const": UNKNOWN, "description": "The person does not know; it becomes an assumption or a question for a vendor."},
            "fields": {each.key: _field(each) for each in FIELDS},
            "tables": {"type": "object", "properties": tables, "additionalProperties": False},
            "meta": _meta(),
            "provenance": _provenance(),
        },
    }


def _section(section: str) -> Schema:
    keys = [each.key for each in FIELDS if each.key.startswith(f"{section}.")]
    properties = {key.partition(".")[2]: {"$ref": f"#/$defs/fields/{key}"} for key in keys}
    return {"type": "object", "properties": properties, "additionalProperties": False}


def _field(field: AnswerField) -> Schema:
    """Return the schema of one answer: what it means, an example, and every form in which it may be written."""
    question = load_interview().question(field.key)
    said = [question.ask] if question else []
    said += [f"In {field.unit}; a bare number is read in this unit."] if field.kind == "quantity" else []
    said += [f"Such as {field.example!r}."]
    said += [f"Assumed where not given: {_shown(field.assumed)} ({field.reason})."] if field.assumed is not None else []
    return {"description": " ".join(said), "anyOf": [*_forms(field), {"$ref": "#/$defs/unknown"}]}


def _shown(assumed: object) -> str:
    return ", ".join(assumed) if isinstance(assumed, tuple) else str(assumed)


def _forms(field: AnswerField) -> list[Schema]:
    name: Schema = {"type": "string", "minLength": 1, "maxLength": LONGEST_NAME}
    if field.kind == "choice":
        return [{"enum": list(field.choices)}]
    if field.kind == "name":
        return [name]
    if field.kind == "names":
        item = {"enum": list(field.choices)} if field.choices else name
        return [{"type": "array", "items": item, "minItems": 1, "maxItems": MOST_NAMES}, name]
    number: Schema = {"type": "integer" if field.kind == "count" else "number"}
    number |= {} if field.minimum is None else {"minimum": field.minimum}
    number |= {} if field.maximum is None else {"maximum": field.maximum}
    if "%" in field.units_ignored:  # a bare number above 0 and up to 1 can be a share or a percentage
        number = {"anyOf": [number | {"exclusiveMinimum": 1}, {"const": 0}]}
    return [number, {"type": "string", "pattern": NUMBER_PATTERN, "maxLength": LONGEST_NAME}]


def _meta() -> Schema:
    text: Schema = {"type": "string", "maxLength": 2000}
    words = {
        "name": "What the person calls the design.",
        "created": "Set once, when the design was first made, and kept since.",
        "tool_version": "The version of cluster-wizard that wrote the file.",
        "catalog_hash": "A hash of the content of the catalog.",
        "rules_hash": "A hash of the rules and formulas.",
        "policies_hash": "A hash of the policies of the site, where there are any.",
        "notes": "The person's own words.",
    }
    properties: Schema = {key: text | {"description": description} for key, description in words.items()}
    properties["catalog_folders"] = {"type": "array", "items": text, "description": "Further catalog folders that were used."}
    return {"type": "object", "properties": properties, "additionalProperties": False}


def _provenance() -> Schema:
    origin = {"type": "string", "maxLength": 60}
    inner: Schema = {"type": "object", "additionalProperties": origin}
    properties: Schema = {each.key: origin for each in FIELDS} | dict.fromkeys(sections(), inner)
    return {
        "type": "object",
        "description": "Where an answer came from, by key: you, preset, imported.",
        "properties": properties,
        "additionalProperties": False,
    }


def catalog_schema(kind: str) -> Schema:
    """Return the schema of a file in the catalog folder of `kind`; the record alone is in its `$defs`."""
    record, table = KINDS[kind]
    made: Schema = getattr(records, record).model_json_schema()
    definitions: Schema = made.pop("$defs", {})
    definitions[record] = made
    head = _head(f"catalog-{kind}", f"Catalog: {kind}", str(made.get("description", "")))
    if not table:
        return head | {"$ref": f"#/$defs/{record}", "$defs": definitions}
    rows = {"type": "array", "items": {"$ref": f"#/$defs/{record}"}}
    return head | {"type": "object", "properties": {table: rows}, "additionalProperties": False, "$defs": definitions}


def show_schema() -> Schema:
    """Return the schema of `catalog show --json`: a kind and a record of that kind."""
    return _head("catalog-show", "catalog show --json", "One record of the catalog; what its sources do not say is absent.") | {
        "type": "object",
        "properties": {"kind": {"enum": list(KINDS)}, "record": {"type": "object"}},
        "required": ["kind", "record"],
        "additionalProperties": False,
        "allOf": [
            {
                "if": {"properties": {"kind": {"const": kind}}},
                "then": {"properties": {"record": {"$ref": f"catalog-{kind}{ENDING}#/$defs/{record}"}}},
            }
            for kind, (record, _) in KINDS.items()
        ],
    }
