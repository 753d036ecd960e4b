"""TOML in and out: answers and designs, read with bounds and clear messages, written atomically."""

from __future__ import annotations

import contextlib
import os
import tempfile
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rules.answers import AnswerError, Answers, field_of, flatten, parse_answer, sections
from rules.design import SCHEMA_VERSION

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rules.design import Design

LARGEST_FILE_BYTES = 4_000_000
"""A design of a hundred thousand GPUs is under half a megabyte; anything above this is not one of ours."""
DEEPEST_NESTING = 12
_DESIGN_TABLES = (
    "schema", "meta", "answers", "provenance", "design", "bom", "justification", "assumption", "warning", "conflict", "alternative",
    "rejected", "reentry", "question", "history",
)  # fmt: skip
_META_KEYS = ("name", "created", "tool_version", "catalog_hash", "rules_hash", "catalog_folders", "notes")


class FileError(Exception):
    """A file that cannot be used: the message names the file, the key, what was expected and the next step."""

    def __init__(self, path: Path | str, message: str) -> None:
        super().__init__(f"{path}: {message}")
        self.path, self.message = str(path), message


@dataclass(frozen=True)
class Loaded:
    """What was read: the answers, the meta table, and for a design the whole document."""

    path: Path | None
    answers: Answers
    meta: Mapping[str, Any] = field(default_factory=dict)
    document: Mapping[str, Any] | None = None

    @property
    def is_design(self) -> bool:
        """Return whether the file holds a design and not answers alone."""
        return self.document is not None


def read_toml(path: Path | str) -> dict[str, Any]:
    """Return the tables of a TOML file; raises FileError for anything that is not a readable TOML file of sane size and depth."""
    path = Path(path)
    try:
        if path.is_dir():
            raise FileError(path, "is a folder; give the name of a TOML file")
        with path.open("rb") as stream:
            data = stream.read(LARGEST_FILE_BYTES + 1)
    except FileError:
        raise
    except FileNotFoundError:
        raise FileError(path, "no such file; check the name, or run 'cluster-wizard' to make one") from None
    except PermissionError:
        raise FileError(path, "may not be read; check the permissions of the file") from None
    except (OSError, ValueError) as error:
        raise FileError(path, f"cannot be read ({error})") from None
    if len(data) > LARGEST_FILE_BYTES:
        raise FileError(path, f"is larger than {LARGEST_FILE_BYTES // 1_000_000} MB, which no answers or design file is")
    return parse_toml(data, path)


def parse_toml(data: bytes, path: Path | str) -> dict[str, Any]:
    """Return the tables in `data`; raises FileError with the line where the text is not TOML."""
    try:
        document = tomllib.loads(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise FileError(path, f"is not UTF-8 text (byte {error.start}); save it as UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise FileError(path, f"is not valid TOML: {error}") from None
    except (RecursionError, ValueError) as error:
        raise FileError(path, f"is not a sane TOML file: {'nested too deeply' if isinstance(error, RecursionError) else error}") from None
    if _depth(document) > DEEPEST_NESTING:
        raise FileError(path, f"nests tables more than {DEEPEST_NESTING} deep, which no answers or design file does")
    return document


def _depth(value: object, level: int = 0) -> int:
    if level > DEEPEST_NESTING:
        return level
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return max((_depth(each, level + 1) for each in inner), default=level)


def load(path: Path | str) -> Loaded:
    """Read an answers file or a design file; raises FileError."""
    path = Path(path)
    return interpret(read_toml(path), path)


def interpret(document: Mapping[str, Any], path: Path | str) -> Loaded:
    """Return what a document says: a design where it has a schema, else answers; raises FileError."""
    if "schema" not in document:
        inner = document.get("answers", document)
        if "answers" in document and set(document) - {"answers", "meta", "provenance"}:
            odd = sorted(set(document) - {"answers", "meta", "provenance"})[0]
            raise FileError(path, f"{odd}: stands beside [answers]; an answers file has either sections or [answers]")
        return Loaded(Path(path), _answers(inner, document.get("provenance", {}), path), _meta(document.get("meta", {}), path))
    version = document["schema"]
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise FileError(path, f"schema: expected a whole number from 1 to {SCHEMA_VERSION}, got {version!r}")
    if version > SCHEMA_VERSION:
        raise FileError(
            path, f"schema: written by a newer version ({version}; this one reads up to {SCHEMA_VERSION}); update cluster-wizard"
        )
    for key in document:
        if key not in _DESIGN_TABLES:
            raise FileError(path, f"{key}: no such table in a design file{_nearest(key, _DESIGN_TABLES)}")
    answers = _answers(document.get("answers", {}), document.get("provenance", {}), path)
    return Loaded(Path(path), answers, _meta(document.get("meta", {}), path), document)


def _answers(raw: object, provenance: object, path: Path | str) -> Answers:
    if not isinstance(raw, dict):
        raise FileError(path, f"answers: expected a table, got {type(raw).__name__}")
    origins = flatten(provenance) if isinstance(provenance, dict) else {}
    for key, value in raw.items():
        if key not in sections() and "." not in key:
            kind = "section" if isinstance(value, dict) else "answer"
            raise FileError(path, f"{key}: no such {kind}{_nearest(key, sections())}; the sections are {', '.join(sections())}")
        if key in sections() and not isinstance(value, dict):
            raise FileError(path, f"{key}: expected a table [{key}], got {value!r}")
    values, came = {}, {}
    try:
        for key, value in flatten(raw).items():
            field_of(key)
            values[key] = parse_answer(key, value)
            came[key] = str(origins.get(key, "you"))[:60]
    except AnswerError as error:
        raise FileError(path, str(error)) from None
    return Answers(values, came)


def _meta(raw: object, path: Path | str) -> dict[str, Any]:
    if not isinstance(raw, dict):
        raise FileError(path, "meta: expected a table")
    for key, value in raw.items():
        if key not in _META_KEYS:
            raise FileError(path, f"meta.{key}: no such key{_nearest(key, _META_KEYS)}")
        if not isinstance(value, (str, list)) or len(str(value)) > 2000:
            raise FileError(path, f"meta.{key}: expected a text, got {str(value)[:40]!r}")
    return dict(raw)


def _nearest(key: str, names: tuple[str, ...]) -> str:
    import difflib

    near = difflib.get_close_matches(key, names, n=1, cutoff=0.5)
    return f"; did you mean {near[0]!r}?" if near else ""


def design_text(design: Design, meta: Mapping[str, Any]) -> str:
    """Return a design as the text of its TOML file; the same design and meta give the same bytes."""
    import tomli_w

    return tomli_w.dumps({"schema": SCHEMA_VERSION, "meta": dict(meta), **design.document()})


def answers_text(answers: Answers, meta: Mapping[str, Any] | None = None) -> str:
    """Return answers as the text of an answers file."""
    import tomli_w

    origins = {key: origin for key, origin in sorted(answers.provenance.items()) if origin != "you"}
    tables: dict[str, Any] = {"meta": dict(meta)} if meta else {}
    tables["answers"] = answers.nested()
    if origins:
        tables["provenance"] = origins
    return tomli_w.dumps(tables)


def write_atomically(path: Path | str, text: str) -> None:
    """Write `text` to a temporary file in the same folder, flush it to disk, and put it in place; raises FileError."""
    path = Path(path)
    temporary = ""
    try:
        descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent if str(path.parent) else ".")
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        mode = path.stat().st_mode & 0o777 if path.exists() else 0o644
        Path(temporary).chmod(mode)
        Path(temporary).replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            Path(temporary).unlink(missing_ok=True)
        raise FileError(path, f"cannot be written ({error.strerror or error}); choose another place with -o") from None
