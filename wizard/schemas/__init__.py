"""The JSON Schemas (draft 2020-12) of every file and of every `--json` output, one file each.

Those of the answers and of the catalog follow from the declared fields and records and are written by `python -m wizard.schemas`;
the others are written by hand, before the code that produces what they describe.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator

FOLDER = Path(__file__).parent
ENDING = ".schema.json"
DIALECT = "https://json-schema.org/draft/2020-12/schema"


def names() -> tuple[str, ...]:
    """Return the names of all schemas, such as "design", sorted."""
    return tuple(sorted(path.name.removesuffix(ENDING) for path in FOLDER.glob(f"*{ENDING}")))


def schema(name: str) -> dict[str, Any]:
    """Return the schema called `name`; raises FileNotFoundError where there is none."""
    found: dict[str, Any] = json.loads((FOLDER / f"{name}{ENDING}").read_text(encoding="utf-8"))
    return found


def validator(name: str) -> Draft202012Validator:
    """Return a validator for the schema called `name`, which finds the others that it refers to by their file names."""
    from jsonschema import Draft202012Validator
    from referencing import Registry, Resource

    resources = [(f"{each}{ENDING}", Resource.from_contents(schema(each))) for each in names()]
    return Draft202012Validator(schema(name), registry=Registry().with_resources(resources))
