"""Outside programs that the tests of exports need, and designs to export."""

from __future__ import annotations

import io
import json
import os
import shutil
from decimal import Decimal
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from jsonschema import Draft202012Validator

from catalogs import load_catalog
from rules.advisor import Considered, consider
from rules.answers import Answers
from wizard.exports import write

if TYPE_CHECKING:
    from collections.abc import Iterable

PACKAGES = {"slurmctld": "slurmctld", "scontrol": "slurm-client", "ibsim": "ibsim-utils", "opensm": "opensm", "dot": "graphviz"}
"""The Debian package of each program; `.ci/run` installs them all."""
SCHEMAS = Path(__file__).parent / "schemas"


def installed(program: str) -> str | None:
    """Return the path of a program, if it is there."""
    return shutil.which(program, path=f"{os.environ.get('PATH', os.defpath)}:/usr/sbin")


def need(*programs: str) -> list[str]:
    """Return the paths of programs; fail where CI lacks one, skip by its name elsewhere."""
    paths = []
    for program in programs:
        path = installed(program)
        if path is None:
            if os.environ.get("CI") == "true":
                pytest.fail(f"{program} is not installed; the tests of exports need it (apt-get install {PACKAGES[program]})")
            pytest.skip(f"needs {program}: apt-get install {PACKAGES[program]}")
        paths.append(path)
    return paths


@lru_cache
def considered(node: str, units: int, fabric: str = "any", preset: str = "llama-3.1-70b") -> Considered:
    """Return a design of so many servers or racks."""
    answers = {
        "model.preset": preset,
        "scale.mode": "fixed",
        "scale.nodes": units,
        "preferences.nodes": [node],
        "preferences.fabric": fabric,
    }
    return consider(Answers.of(answers), load_catalog())


@lru_cache
def exported(name: str, node: str, units: int, fabric: str = "any", preset: str = "llama-3.1-70b") -> str:
    """Return a design in the format called `name`."""
    stream = io.StringIO()
    write(name, considered(node, units, fabric, preset), stream)
    return stream.getvalue()


def expanded(text: str) -> list[str]:
    """Return the names of a Slurm host list of the form "node-[0001-0032,0040],other"."""
    names: list[str] = []
    for part in _parts(text):
        prefix, bracket, inside = part.partition("[")
        if not bracket:
            names.append(part)
            continue
        for piece in inside.rstrip("]").split(","):
            first, _, last = piece.partition("-")
            names += [f"{prefix}{number:0{len(first)}d}" for number in range(int(first), int(last or first) + 1)]
    return names


def _parts(text: str) -> Iterable[str]:
    depth, part = 0, ""
    for letter in text:
        depth += (letter == "[") - (letter == "]")
        if letter == "," and depth == 0:
            yield part
            part = ""
        else:
            part += letter
    yield part


def problems(schema: str, value: Any) -> list[str]:
    """Return what a value violates of a schema in `schemas/`; decimal fractions are compared as decimals, as the libraries do."""
    checker = Draft202012Validator(json.loads((SCHEMAS / f"{schema}.schema.json").read_text("utf-8"), parse_float=Decimal))
    return [f"{each.json_path}: {each.message[:200]}" for each in checker.iter_errors(json.loads(json.dumps(value), parse_float=Decimal))]
