"""TOML in and out: answers and designs, read with bounds and clear messages, written atomically."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import secrets
import sys
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TextIO

from rules.answers import MOST_SHOWN, AnswerError, Answers, field_of, flatten, parse_answer, sections, shortened
from rules.design import SCHEMA_VERSION

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rules.design import Design

LARGEST_FILE_BYTES = 4_000_000
"""A design of a hundred thousand GPUs is under half a megabyte; anything above this is not one of ours."""
DEEPEST_NESTING = 12
LONGEST_META = 2000
STANDARD_INPUT = "standard input"
STANDARD_OUTPUTS = ("-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")
"""Names of standard output, which is written to as it is: it may be a pipe, or a file that others write to as well."""
_DESIGN_TABLES = (
    "schema", "meta", "answers", "provenance", "policy", "design", "bom", "justification", "assumption", "warning", "conflict",
    "conflict_set", "alternative", "rejected", "reentry", "dissent", "question", "basis", "history",
)  # fmt: skip
_ROW_TABLES = (
    "bom", "justification", "assumption", "warning", "conflict", "conflict_set", "alternative", "rejected", "reentry", "dissent",
    "question", "history",
)  # fmt: skip
_ANSWERS_TABLES = {"answers", "meta", "provenance", "policy"}
_QUESTION_TEXTS = ("to", "ask", "good_answer", "why")
_LARGEST_INTEGER = 2**63
"""TOML's integers have 64 bits; Python reads longer ones, and then refuses to print them."""
_META_KEYS = ("name", "created", "tool_version", "catalog_hash", "rules_hash", "policies_hash", "catalog_folders", "notes")


class FileError(Exception):
    """A file that cannot be used: the message names the file, the key, what was expected and the next step."""

    def __init__(self, path: Path | str, message: str) -> None:
        super().__init__(f"{shortened(str(path), 200)}: {message}")
        self.path, self.message = str(path), message

    def __reduce__(self) -> tuple[type[FileError], tuple[str, str]]:
        """Return how to make the error again in another process."""
        return type(self), (self.path, self.message)


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
    return parse_toml(data, path)


def read_standard_input() -> dict[str, Any]:
    """Return the tables of the TOML text on standard input; raises FileError as `read_toml` does."""
    if sys.stdin is None or sys.stdin.closed:
        raise FileError(STANDARD_INPUT, "is closed; give the name of a file")
    return parse_toml(sys.stdin.buffer.read(LARGEST_FILE_BYTES + 1), STANDARD_INPUT)


def parse_toml(data: bytes, path: Path | str) -> dict[str, Any]:
    """Return the tables in `data`; raises FileError with the line where the text is not TOML."""
    if len(data) > LARGEST_FILE_BYTES:
        raise FileError(path, f"is larger than {LARGEST_FILE_BYTES // 1_000_000} MB, which no answers or design file is")
    try:
        # Editors on Windows begin UTF-8 text with a byte order mark; utf-8-sig leaves it out.
        document = tomllib.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise FileError(path, f"is not UTF-8 text (byte {error.start}); save it as UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise FileError(path, f"is not valid TOML: {error}") from None
    except RecursionError:
        raise FileError(path, f"nests lists or tables more than {DEEPEST_NESTING} deep, which no answers or design file does") from None
    except ValueError:  # the only other one that Python's reader lets through
        raise FileError(path, "holds a number of thousands of digits; write a shorter one") from None
    _check_sane(document, path, "", 0)
    return document


def _check_sane(value: object, path: Path | str, key: str, level: int) -> None:
    """Raise FileError where values nest too deeply or a whole number is longer than TOML allows."""
    if level > DEEPEST_NESTING:
        raise FileError(path, f"nests lists or tables more than {DEEPEST_NESTING} deep, which no answers or design file does")
    if isinstance(value, dict):
        for name, inner in value.items():
            _check_sane(inner, path, f"{key}.{name}" if key else name, level + 1)
    elif isinstance(value, list):
        for inner in value:
            _check_sane(inner, path, key, level + 1)
    elif isinstance(value, int) and not -_LARGEST_INTEGER <= value < _LARGEST_INTEGER:
        raise FileError(path, f"{shortened(key)}: the whole number has more than 64 bits, which TOML does not allow; write a smaller one")


def load(path: Path | str) -> Loaded:
    """Read an answers file or a design file; raises FileError."""
    path = Path(path)
    return interpret(read_toml(path), path)


def interpret(document: Mapping[str, Any], path: Path | str) -> Loaded:
    """Return what a document says: a design where it has a schema, else answers; raises FileError."""
    if "schema" not in document:
        inner = document.get("answers", document)
        if "answers" in document and set(document) - _ANSWERS_TABLES:
            odd = sorted(set(document) - _ANSWERS_TABLES)[0]
            raise FileError(path, f"{shortened(odd)}: stands beside [answers]; an answers file has either sections or [answers]")
        answers = _with_policies(_answers(inner, document.get("provenance", {}), path), document, path)
        return Loaded(Path(path), answers, _meta(document.get("meta", {}), path))
    version = document["schema"]
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        expected = "the number 1" if SCHEMA_VERSION == 1 else f"a whole number from 1 to {SCHEMA_VERSION}"
        raise FileError(path, f"schema: expected {expected}, got {shortened(repr(version))}")
    if version > SCHEMA_VERSION:
        raise FileError(
            path,
            f"schema: written by a newer version ({shortened(str(version))}; this one reads up to {SCHEMA_VERSION}); update cluster-wizard",
        )
    for key in document:
        if key not in _DESIGN_TABLES:
            raise FileError(path, f"{shortened(key)}: no such table in a design file{_nearest(key, _DESIGN_TABLES)}")
    _check_rows(document, path)
    answers = _with_policies(_answers(document.get("answers", {}), document.get("provenance", {}), path), document, path)
    return Loaded(Path(path), answers, _meta(document.get("meta", {}), path), document)


def _with_policies(answers: Answers, document: Mapping[str, Any], path: Path | str) -> Answers:
    """Return the answers with the policies that stand beside them; raises FileError."""
    if "policy" not in document or "answers" not in document:
        return answers
    from rules.policies import PolicyError, parse_policies

    try:
        return answers.with_policies(parse_policies(document["policy"]))
    except PolicyError as error:
        raise FileError(path, str(error)) from None


def _check_rows(document: Mapping[str, Any], path: Path | str) -> None:
    """Check the form of a design's tables as far as something here reads them; raises FileError."""
    if not isinstance(document.get("basis", {}), dict):
        raise FileError(path, "basis: expected a table [basis]")
    if not isinstance(document.get("design", {}), dict):
        raise FileError(path, "design: expected a table [design]")
    for name in _ROW_TABLES:
        rows = document.get(name, [])
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise FileError(path, f"{name}: expected [[{name}]] tables")
    for number, row in enumerate(document.get("question", []), start=1):
        for key in _QUESTION_TEXTS:
            if not isinstance(row.get(key), str):
                raise FileError(path, f"question {number}: {key}: expected a text; write it, or remove this [[question]]")
        if not _are_texts(row.get("guidance", [])):
            raise FileError(path, f"question {number}: guidance: expected a list of texts")


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def _answers(raw: object, provenance: object, path: Path | str) -> Answers:
    if not isinstance(raw, dict):
        raise FileError(path, f"answers: expected a table, got {type(raw).__name__}")
    origins = _origins(provenance, path)
    for key, value in raw.items():
        if key not in sections() and "." not in key:
            kind = "section" if isinstance(value, dict) else "answer"
            raise FileError(path, f"{shortened(key)}: no such {kind}{_nearest(key, sections())}; the sections are {', '.join(sections())}")
        if key in sections() and not isinstance(value, dict):
            raise FileError(path, f"{key}: expected a table [{key}], got {shortened(repr(value))}")
    values, came = {}, {}
    try:
        for key, value in flatten(raw).items():
            field_of(key)
            values[key] = parse_answer(key, value)
            came[key] = origins.get(key, "you")
    except AnswerError as error:
        raise FileError(path, str(error)) from None
    return Answers(values, came)


def _origins(raw: object, path: Path | str) -> dict[str, str]:
    """Return where the answers came from, by key; raises FileError."""
    if not isinstance(raw, dict):
        raise FileError(path, f"provenance: expected a table, got {type(raw).__name__}")
    try:
        origins = flatten(raw)
        for key, origin in origins.items():
            field_of(key)
            if not isinstance(origin, str) or not origin.isprintable() or len(origin) > MOST_SHOWN:
                raise AnswerError(key, f"expected a short text such as 'you', got {shortened(repr(origin))}")
    except AnswerError as error:
        raise FileError(path, f"provenance: {error}") from None
    return {key: str(origin) for key, origin in origins.items()}


def _meta(raw: object, path: Path | str) -> dict[str, Any]:
    if not isinstance(raw, dict):
        raise FileError(path, "meta: expected a table")
    for key, value in raw.items():
        if key not in _META_KEYS:
            raise FileError(path, f"meta.{shortened(key)}: no such key{_nearest(key, _META_KEYS)}")
        good = _are_texts(value) if key == "catalog_folders" else isinstance(value, str)
        if not good or len(str(value)) > LONGEST_META:
            raise FileError(path, f"meta.{key}: expected a text in quotes, got {shortened(str(value))}")
    return dict(raw)


def _nearest(key: str, names: tuple[str, ...]) -> str:
    import difflib

    near = difflib.get_close_matches(key, names, n=1, cutoff=0.5)
    return f"; did you mean {near[0]!r}?" if near else ""


def design_text(design: Design, meta: Mapping[str, Any]) -> str:
    """Return a design as the text of its TOML file; the same design and meta give the same bytes."""
    import tomli_w

    return tomli_w.dumps(design_tables(design, meta))


def design_tables(design: Design, meta: Mapping[str, Any]) -> dict[str, Any]:
    """Return a design as the tables of its file, in the order in which they are written."""
    return {"schema": SCHEMA_VERSION, "meta": _meta_with_policies(design.answers, meta), **design.document()}


def _meta_with_policies(answers: Answers, meta: Mapping[str, Any]) -> dict[str, Any]:
    """Return a meta table that names the policies by their hash, or none where there are none."""
    kept = {key: value for key, value in meta.items() if key != "policies_hash"}
    if not answers.policies:
        return kept
    from rules.policies import policies_hash

    return kept | {"policies_hash": policies_hash(answers.policies)}


def answers_text(answers: Answers, meta: Mapping[str, Any] | None = None) -> str:
    """Return answers as the text of an answers file."""
    import tomli_w

    origins = {key: origin for key, origin in sorted(answers.provenance.items()) if origin != "you"}
    tables: dict[str, Any] = {"meta": dict(meta)} if meta else {}
    tables["answers"] = answers.nested()
    if origins:
        tables["provenance"] = origins
    if answers.policies:
        tables["policy"] = [dict(policy.row) for policy in answers.policies]
    return tomli_w.dumps(tables)


def is_standard_output(path: Path | str) -> bool:
    """Return whether a name is that of the standard output: "-", or its device."""
    return str(path) in STANDARD_OUTPUTS


def write_atomically(path: Path | str, text: str) -> None:
    """Write `text` to a temporary file in the same folder, flush it to disk, and put it in place; raises FileError.

    A link keeps pointing where it does, a file keeps its mode, and a device or pipe is written to, never replaced.
    """
    with open_atomically(path) as stream:
        stream.write(text)


@contextlib.contextmanager
def open_atomically(path: Path | str) -> Iterator[TextIO]:
    """Open a stream whose text takes the place of the file when all of it is written; as `write_atomically`, for what is long."""
    if is_standard_output(path):
        yield sys.stdout
        return
    with _said_of(path, OSError, ValueError, RuntimeError):
        special = Path(path).exists() and not Path(path).is_file() and not Path(path).is_dir()
        target = Path(path) if special else _target_of(path)  # as it is named: what a device of the process leads to may have no path
    with _said_of(path, OSError), Path(path).open("wb") if special else _replacing(target) as raw:
        text = io.TextIOWrapper(raw, encoding="utf-8", errors="replace", newline="", write_through=False)
        yield text
        text.flush()
        text.detach()


@contextlib.contextmanager
def _said_of(path: Path | str, *kinds: type[Exception]) -> Iterator[None]:
    try:
        yield
    except kinds as error:
        raise FileError(path, f"cannot be written ({getattr(error, 'strerror', None) or error}); choose another place") from None


def _target_of(path: Path | str) -> Path:
    target = Path(path).resolve()
    if target.is_symlink():
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    return target


@contextlib.contextmanager
def _replacing(target: Path) -> Iterator[BinaryIO]:
    mode = target.stat().st_mode & 0o777 if target.exists() else None
    temporary = target.parent / f".cluster-wizard-{os.getpid()}-{secrets.token_hex(4)}.tmp"
    try:
        with temporary.open("xb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        if mode is not None:
            temporary.chmod(mode)
        temporary.replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise
